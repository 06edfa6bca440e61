"""What stands before a name: whether `a.b.name` can mean a symbol, by its class, its module or its receiver.

Pure string work on keys: it looks nothing up.
"""

from collections.abc import Iterable

from mnemolens.core.identifiers import split_identifier
from mnemolens.core.symbols import SymbolKey
from mnemolens.linking.paths import module_parts
from mnemolens.linking.vocabulary import FOREIGN


def ends_with(key: SymbolKey, parts: tuple[str, ...]) -> bool:
    """Whether the parts are the last ones of the qualified name: `Class.method`."""
    wanted = ".".join(parts)
    return key.qualname == wanted or key.qualname.endswith("." + wanted)


def module_qualifies(key: SymbolKey, parts: tuple[str, ...]) -> bool:
    """Whether leading parts are the file's module and the rest the symbol: `src.utils.join`, `utils.join`."""
    return any(
        key.qualname == ".".join(parts[cut:]) and is_module(key.file, parts[:cut])
        for cut in range(len(parts) - 1, 0, -1)
    )


def is_module(file: str, wanted: tuple[str, ...]) -> bool:
    """Whether a dotted module name means this file, or the package it lies in (which may re-export).

    The project's own top package may have another name on disk (`shop.cli` in `src/cli`), so the first part
    is optional unless it leads out of the project.
    """
    module = module_parts(file)
    shorter = wanted[1:] if wanted and wanted[0] not in FOREIGN else ()
    return any(
        own[-len(dotted) :] == dotted
        for dotted in (wanted, shorter)
        if dotted
        for own in (module, module[:-1])
    )


def class_qualifies(key: SymbolKey, parts: tuple[str, ...]) -> bool:
    """Whether the receiver is called like the method's class: `user.validate()`, `db_client.connect()`."""
    owner = key.qualname.split(".")[-2:-1]
    return bool(owner) and _folded(owner) == _folded(parts[-2:-1])


def words_shared(key: SymbolKey, parts: tuple[str, ...]) -> int:
    """How many last words receiver and class share, if it is all words of one of them or two at least.

    `request.node` may be of a `FixtureRequest`, `tmp_path_factory.mktemp` of a `TempPathFactory`.
    """
    owner = key.qualname.split(".")[-2:-1]
    words = split_identifier(owner[0]) if owner else ()
    said = split_identifier(parts[-2])
    shared = 0
    while shared < min(len(words), len(said)) and words[-1 - shared] == said[-1 - shared]:
        shared += 1
    return shared if shared >= min(len(words), len(said), 2) else 0


def module_suggests(key: SymbolKey, parts: tuple[str, ...]) -> bool:
    """Whether the receiver is called like the module of the method's class: `recwarn.pop` in `recwarn.py`."""
    return module_parts(key.file)[-1] == parts[-2]


def abbreviates(key: SymbolKey, parts: tuple[str, ...]) -> bool:
    """Whether the receiver is short for the method's class: `srv` for `Server`; one letter will do in Go."""
    owner = key.qualname.split(".")[-2:-1]
    said, name = parts[-2].lower(), _folded(owner)
    if not name.startswith(said[:1]) or not (1 if key.file.endswith(".go") else 2) <= len(said) <= 4:
        return False
    left = iter(name)
    return all(letter in left for letter in said)


def _folded(names: Iterable[str]) -> str:
    return "".join(names).replace("_", "").lower()

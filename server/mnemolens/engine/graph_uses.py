"""Which files' calls, imports and base classes may resolve otherwise when another file changes.

A resolution notes every file that it looks at. When one of these changes, the resolution is done again,
unless nothing that others can see of it changed, or only names that can't have been asked. Owns those notes
only.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages.go import GO
from mnemolens.codegraph.languages.gomod import GO_MOD
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols
from mnemolens.engine.graph_rows import Resolution

_WORD = re.compile(r"[\w$#]+")


class Uses:
    """Who looked at what."""

    def __init__(self) -> None:
        self._of: dict[str, Resolution] = {}
        self._by_file: dict[str, set[str]] = defaultdict(set)
        self._by_tail: dict[str, set[str]] = defaultdict(set)
        self._by_folder: dict[str, set[str]] = defaultdict(set)
        self._named: Counter[str] = Counter()
        self._words: dict[str, tuple[FileSymbols, frozenset[str], frozenset[str]]] = {}

    def put(self, file: str, found: Resolution | None) -> None:
        """Notes what a file's resolution looked at, in place of what it did before; None forgets the file."""
        old = self._of.pop(file, None)
        if old is not None:
            for table, keys in self._tables(old):
                for key in keys:
                    table[key].discard(file)
                    if not table[key]:
                        del table[key]
        if found is None:
            self._words.pop(file, None)
            return
        # The relations are kept elsewhere.
        self._of[file] = found._replace(rels=())
        for table, keys in self._tables(found):
            for key in keys:
                table[key].add(file)

    def _tables(self, found: Resolution) -> Iterable[tuple[dict[str, set[str]], frozenset[str]]]:
        return (
            (self._by_file, found.files),
            (self._by_tail, found.tails),
            (self._by_folder, found.folders),
        )

    def affected(
        self, index: CodeIndex, file: str, before: FileSymbols | None, after: FileSymbols | None
    ) -> Generator[None, None, set[str]]:
        """The files, `file` itself included, to resolve again now that its symbols changed.

        To be told of every change once, in the order of the changes. Yields between its steps, each of which
        takes some 20 ms for a file with 20,000 definitions.
        """
        affected = {file} | (yield from self._by_name(index, before, after))
        yield
        users = self._by_file.get(file, set())
        if before is None or after is None:
            folder, _, tail = file.rpartition("/")
            affected |= users | self._by_tail.get(tail, set()) | self._by_folder.get(folder, set())
            return affected
        names = yield from _visible_changes(before, after)
        if names is None:
            affected |= users
        elif names:
            affected |= {user for user in users if user not in affected and self._may_ask(index, user, names)}
        return affected

    def _by_name(
        self, index: CodeIndex, before: FileSymbols | None, after: FileSymbols | None
    ) -> Generator[None, None, set[str]]:
        """The files that call something whose name becomes the only one of the project, or was it."""
        affected: set[str] = set()
        old = _keys_by_name(before)
        yield
        new = _keys_by_name(after)
        yield
        for name in old.keys() | new.keys():
            gone, come = old.get(name, []), new.get(name, [])
            if gone != come:
                count = self._named[name]
                self._named[name] = count + len(come) - len(gone)
                if count <= 1 or self._named[name] <= 1:
                    affected.update(index.users_of(name))
                if not self._named[name]:
                    del self._named[name]
        return affected

    def _may_ask(self, index: CodeIndex, user: str, names: frozenset[str]) -> bool:
        """Whether a resolution from this file can have asked for one of these names."""
        if self._words_of(index, user)[0] & names:
            return True
        return any(self._words_of(index, file)[1] & names for file in self._of[user].files)

    def _words_of(self, index: CodeIndex, file: str) -> tuple[frozenset[str], frozenset[str]]:
        """(all names that a file's text asks for, those that its imports and base classes pass on)."""
        symbols = index.get(file)
        if symbols is None:
            return frozenset(), frozenset()
        known = self._words.get(file)
        if known is None or known[0] is not symbols:
            passed = _passed_on(symbols)
            known = self._words[file] = (symbols, passed | _called(symbols), passed)
        return known[1:]


def _visible_changes(before: FileSymbols, after: FileSymbols) -> Generator[None, None, frozenset[str] | None]:
    """Names whose meaning in a file may have changed as others see it; None where that may be any name."""
    if any(told(before) != told(after) for told in (_language, _package, _bases, _stars)):
        return None
    yield
    old = _seen(before)
    yield
    names = {item[0] for item in old ^ _seen(after)}
    for item in set(before.imports) ^ set(after.imports):
        names.add(item.alias)
    names |= before.module_names ^ after.module_names
    for name in names.copy():
        names.update(_WORD.findall(name))  # also of what is told of a name's type
    return frozenset(names - {"self"})


def _keys_by_name(symbols: FileSymbols | None) -> dict[str, list[tuple[str, int, str]]]:
    """Of what kind it is counts too: a class and a function are other nodes."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    for symbol in symbols.symbols if symbols is not None else ():
        found.setdefault(symbol.name, []).append((symbol.qualname, symbol.ordinal, symbol.kind))
    return found


def _language(symbols: FileSymbols) -> str:
    return symbols.language


def _package(symbols: FileSymbols) -> list[str]:
    """What a Go file's package clause says, or the module's name of a `go.mod`."""
    if symbols.language not in {GO.name, GO_MOD.name}:
        return []
    return [item.alias for item in symbols.imports if item.exported and not item.module]


def _bases(symbols: FileSymbols) -> dict[tuple[str, int], tuple[str, ...]]:
    return {(s.qualname, s.ordinal): s.bases for s in symbols.symbols if s.bases}


def _stars(symbols: FileSymbols) -> list[tuple[str, bool, int]]:
    return [
        (i.module, i.exported, i.scope) for i in symbols.imports if i.name == "*" and i.alias in {"*", ""}
    ]


def _seen(symbols: FileSymbols) -> set[tuple[str, ...]]:
    """(name, …) of all that resolutions from other files may depend on."""
    found: set[tuple[str, ...]] = set()
    scopes = {s.parent for s in symbols.symbols if s.kind in CLASS_KINDS}
    twins = {s.qualname for s in symbols.symbols if s.ordinal}
    for number, symbol in enumerate(symbols.symbols):
        own = symbol.qualname, str(symbol.ordinal)
        above = str(symbols.symbols[symbol.parent].ordinal) if symbol.parent >= 0 else ""
        # Of several of one name the first whose body is no stub is meant, so there bodies count.
        body = symbol.body_hash if symbol.qualname in twins else ""
        found.add((symbol.name, *own, symbol.kind, above, body))
        found.update((symbol.name, *own, said) for said in symbols.locals[number] if said.startswith("() "))
        if symbol.kind in CLASS_KINDS or number in scopes:
            found.update((name, *own) for name in symbols.locals[number])
    return found


def _parts(names: Iterable[str | None]) -> set[str]:
    found: set[str] = set()
    for name in names:
        if name:
            found.update(part.removesuffix("()") for part in name.split("."))
    return found


def _passed_on(symbols: FileSymbols) -> frozenset[str]:
    names: list[str | None] = []
    for item in symbols.imports:
        names += (item.name, item.alias, item.module)
    for symbol in symbols.symbols:
        names += symbol.bases
    told = (name for bound in (symbols.module_names, *symbols.locals) for name in bound if " " in name)
    return frozenset(_parts(names)).union(*map(_WORD.findall, told))


def _called(symbols: FileSymbols) -> frozenset[str]:
    names: list[str | None] = []
    for call in symbols.calls:
        names += (call.name, call.receiver)
    return frozenset(_parts(names))

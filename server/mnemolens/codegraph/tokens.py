"""Tokens, hashes and fingerprints of definitions, and the birth record made of them.

A definition's tokens are the leaves of its tree without comments and layout: strings included, Python
docstrings not. Hashes tell them apart to the letter. Fingerprints are of what formatters leave as it is:
which quotes a string has, semicolons, and commas before a closing bracket don't count. A change of any of
this raises `ALGO`; `birth_look` then computes anew what older records hold.

Places and verdicts are not decided here.
"""

import base64
import re
import struct
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from mnemolens.codegraph.extract import Walk, parseable
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.languages.base import Language, is_partial
from mnemolens.codegraph.layout import assemble
from mnemolens.codegraph.units import Unit
from mnemolens.core.memories import Birth, CodeState, Origin
from mnemolens.core.symbols import FileSymbols, SymbolKey, SymbolKind
from mnemolens.core.text import Text

ALGO = 2

MAX_SNIPPET = 16_384
"""Bytes of a definition's text that a birth record keeps."""

FINGERPRINT_SIZE = 512

_WHOLE = 4 * -(-4 * FINGERPRINT_SIZE // 3)
"""Letters of a fingerprint that is a choice: a shorter one holds all 3-grams."""

_FRAMED_QUOTES = re.compile(rb"\x00[A-Za-z]{0,2}(?:'{1,3}|\"{1,3})\x01")
_FRAMED_LAYOUT = re.compile(rb"\x00(?:;|,(?=\x01\x00[)\]}]\x01))\x01")

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class SnippetState(NamedTuple):
    """What a definition's text alone says about it."""

    full_hash: str
    body_hash: str
    fingerprint: str
    token_count: int


EMPTY_STATE = SnippetState("", "", "", 0)


def fingerprint_of_tokens(tokens: list[bytes]) -> str:
    """The 512 smallest 32-bit hashes of the distinct 3-grams of `tokens`, sorted, base64.

    Fewer than three tokens are one shorter gram; no tokens are "".
    """
    hashes = _smallest(tokens)
    return base64.b64encode(struct.pack(f">{len(hashes)}I", *hashes)).decode("ascii")


def _smallest(tokens: list[bytes]) -> list[int]:
    """The hashes of a fingerprint."""
    if not tokens:
        return []
    width = min(3, len(tokens))
    framed = [b"\0" + token for token in tokens]
    grams = {b"".join(framed[i : i + width]) for i in range(len(framed) - width + 1)}
    return sorted({crc32(gram) for gram in grams})[:FINGERPRINT_SIZE]


def _hashes(fingerprint: str) -> frozenset[int]:
    raw = base64.b64decode(fingerprint)
    whole = raw[: len(raw) // 4 * 4]
    return frozenset(struct.unpack(f">{len(whole) // 4}I", whole))


def grams_of(fingerprint: str) -> frozenset[int]:
    """The 3-gram hashes of a fingerprint; none of one that is damaged."""
    try:
        return _hashes(fingerprint)
    except ValueError:
        return frozenset()


class Definitions(NamedTuple):
    """A file's symbols with the tokens of each.

    Attributes:
        tokens: parallel to `symbols.symbols`; opaque, `grams_at` reads it.
    """

    symbols: FileSymbols
    tokens: tuple[bytes, ...]

    def grams_at(self, index: int) -> frozenset[int]:
        """The 3-gram hashes of a symbol, as in its fingerprint."""
        return frozenset(_smallest(_tokens(self.tokens[index])))


def definitions_of(source: bytes, language: Language) -> Definitions:
    """The symbols of a text (UTF-8 without byte order mark), with their tokens, in one parse."""
    source = parseable(source)
    tree = language.parse(source)
    root = Walk(language, source).module(tree.root_node)
    symbols = assemble(root, language, partial=is_partial(tree, source))
    blobs = []
    stack = root.edges[::-1]
    while stack:  # in the order in which `assemble` lays them out
        unit = stack.pop().unit
        blobs.append(unit.blob)
        stack += unit.edges[::-1]
    return Definitions(symbols, tuple(blobs))


def dice(first: frozenset[int], second: frozenset[int]) -> float:
    """Dice coefficient of two sets, 0..1; 1.0 when both are empty."""
    size = len(first) + len(second)
    return 2 * len(first & second) / size if size else 1.0


def likeness(first: str, second: str) -> float:
    """Dice coefficient of two fingerprints, 0..1; 1.0 when both are empty."""
    if first == second:
        return 1.0
    try:
        return dice(_hashes(first), _hashes(second))
    except ValueError:
        return 0.0


def same_but_for_layout(first: str, second: str) -> bool:
    """Whether two fingerprints are of the same tokens, as far as formatters leave them as they are.

    Of long definitions, whose fingerprint is a choice, that can't be told.
    """
    return bool(first) and first == second and len(first) < _WHOLE


def _tokens(blob: bytes) -> list[bytes]:
    """The tokens of a framed blob (`extract`), those of formatters left out, quotes all alike."""
    blob = _FRAMED_LAYOUT.sub(b"", _FRAMED_QUOTES.sub(_with_double_quotes, blob))
    return blob[1:-1].split(b"\1\0") if blob else []


def _with_double_quotes(framed: re.Match[bytes]) -> bytes:
    return framed[0].replace(b"'", b'"').replace(b"\0u", b"\0").replace(b"\0U", b"\0")


def _first_unit(source: bytes, language: Language, kind: SymbolKind) -> Unit | None:
    """The outermost definition of a snippet, put into what it needs around it to parse."""
    fallback: Unit | None = None
    for before, after in language.frames(kind):
        framed = parseable(before.encode() + source + after.encode())
        root = language.parse(framed).root_node
        unit = Walk(language, framed).module(root)
        edges = unit.edges
        while edges and edges[0].start_byte < len(before.encode()):
            edges = edges[0].unit.edges  # the frame's own
        if edges:
            if not root.has_error:
                return edges[0].unit
            fallback = fallback or edges[0].unit
    return fallback


def state_from_snippet(
    snippet: str | bytes, language: Language, kind: SymbolKind = "function"
) -> SnippetState | None:
    """Hashes and fingerprint of a definition from its text alone; None when no definition is found in it.

    A snippet that was cut at `MAX_SNIPPET` bytes gives the hashes of the piece.
    """
    source = snippet.encode("utf-8", "replace") if isinstance(snippet, str) else snippet
    unit = _first_unit(source, language, kind)
    if unit is None:
        return None
    return SnippetState(
        unit.full_hash, unit.body_hash, fingerprint_of_tokens(_tokens(unit.blob)), unit.token_count
    )


@lru_cache(maxsize=4096)
def birth_look(birth: Birth) -> str:
    """The fingerprint of a birth record; of an older `ALGO`'s record it is made anew from the snippet."""
    language = None if birth.algo == ALGO else language_of(birth.state.key.file)
    state = state_from_snippet(birth.snippet, language, birth.kind) if language and birth.snippet else None
    return state.fingerprint if state is not None else birth.state.fingerprint


def snippet_of(text: Text, symbols: FileSymbols, index: int) -> bytes:
    """The whole text of a definition."""
    definition = symbols.ranges[index].definition
    return text.data[text.offset(definition.start) : text.offset(definition.end)]


def fingerprint_of(text: Text, language: Language, symbols: FileSymbols, index: int) -> str:
    """The fingerprint of a definition as it stands in `text`; "" where it can't be parsed alone."""
    state = state_from_snippet(snippet_of(text, symbols, index), language, symbols.symbols[index].kind)
    return state.fingerprint if state else ""


def state_of(
    text: Text,
    language: Language | None,
    symbols: FileSymbols | None,
    key: SymbolKey,
    index: int,
    commit: str | None = None,
) -> CodeState:
    """What the code at a place looks like now; `index` -1 is the file, which has no hashes."""
    if index < 0 or symbols is None or language is None:
        return CodeState(key, "", "", "", commit)
    symbol = symbols.symbols[index]
    return CodeState(
        key, symbol.full_hash, symbol.body_hash, fingerprint_of(text, language, symbols, index), commit
    )


def birth_of(
    text: Text,
    language: Language | None,
    symbols: FileSymbols | None,
    file: str,
    index: int,
    origin: Origin = Origin(),  # noqa: B008  (a frozen value)
) -> Birth:
    """The birth record of an anchor on `symbols.symbols[index]` of `file`; -1 anchors the file itself.

    A file's record has no hashes, fingerprint and snippet: a file anchor does not drift with its content.
    """
    if index < 0 or symbols is None or language is None:
        key = SymbolKey(file, "")
        state = CodeState(key, "", "", "", origin.commit)
        return Birth(state, "file", "", 0, ("", ""), "", origin.branch, ALGO)
    symbol = symbols.symbols[index]
    key = SymbolKey(file, symbol.qualname, symbol.ordinal)
    state = state_of(text, language, symbols, key, index, origin.commit)
    snippet = snippet_of(text, symbols, index)[:MAX_SNIPPET].decode("utf-8", "ignore")
    return Birth(
        state=state,
        kind=symbol.kind,
        signature=symbol.signature,
        token_count=symbol.token_count,
        neighbours=neighbours_of(symbols, index),
        snippet=snippet,
        branch=origin.branch,
        algo=ALGO,
    )


def neighbours_of(symbols: FileSymbols, index: int) -> tuple[str, str]:
    """Qualnames of the symbols of the same parent right before and after; "" at an end."""
    parent = symbols.symbols[index].parent
    before = next((s.qualname for s in reversed(symbols.symbols[:index]) if s.parent == parent), "")
    after = next((s.qualname for s in symbols.symbols[index + 1 :] if s.parent == parent), "")
    return before, after


def identifiers_of(snippet: str, language: Language | None = None) -> frozenset[str]:
    """The identifiers that a text names, comments left out where the language is known.

    Those inside strings count: format strings name variables.
    """
    if language is None:
        return frozenset(_IDENTIFIER.findall(snippet))
    source = parseable(snippet.encode("utf-8", "replace"))
    root = language.parse(source).root_node
    blob = Walk(language, source).module(root, with_tokens=True).blob
    text = blob.replace(b"\1\0", b"\n").decode("utf-8", "replace")
    return frozenset(_IDENTIFIER.findall(text))

"""The code of a folder as the rest of the engine asks about it: the index, and the text behind it.

Text comes from the open document, else from the disk. Looks of symbols (likeness, identifiers) are computed
when asked for and remembered by body hash, since only the few anchored symbols are ever asked about.
"""

import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.languages.base import Language
from mnemolens.codegraph.outline import Outline, outline
from mnemolens.codegraph.resolve import resolve
from mnemolens.codegraph.tokens import (
    birth_look,
    birth_of,
    definitions_of,
    fingerprint_of,
    grams_of,
    identifiers_of,
    likeness,
    neighbours_of,
    same_but_for_layout,
    snippet_of,
)
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Anchor, Birth, Origin
from mnemolens.core.symbols import FileSymbols, Position, Range, Reference, Symbol, SymbolKey, SymbolKind
from mnemolens.core.text import BinarySource, Text, decode_source
from mnemolens.engine.documents import OpenDocuments
from mnemolens.engine.loading import content_hash
from mnemolens.store.git import read_head
from mnemolens.store.layout import Layout
from mnemolens.store.spelling import is_spelt_otherwise

_FILE_START = Range(Position(0, 0), Position(0, 0))
_MAX_REMEMBERED = 10_000
_MAX_GRAMS = 10_000
"""Symbols whose 3-grams are kept during one search: about 7 kB each."""
_NO_GRAMS: frozenset[int] = frozenset()
_MAX_READ_NOW = 200_000
"""Bytes of a file that is read and parsed at once, on the event loop: about 30 ms."""
_MAX_TEXT_BYTES = 20_000_000
"""Of a closed file; reading more would hold up everybody else."""
_MAX_TEXTS = 16
"""Closed files whose line tables are kept: finding the lines costs more than reading the bytes again."""


class Code:
    """All that is asked about code: `placing.Code` and `linking.SymbolLookup` in one.

    Attributes:
        index: all symbols; of the open text where a document is open.
        origin: HEAD now, for birth records.
        unchanged: files whose text is as it was when this worktree was last indexed, in an earlier session.
        complete: every file has been indexed once; before, what is not found may merely not be read yet.
    """

    def __init__(self, layout: Layout, documents: OpenDocuments) -> None:
        self.index = CodeIndex()
        self.origin = Origin()
        self.unchanged: frozenset[str] = frozenset()
        self.complete = False
        self._layout = layout
        self._documents = documents
        self._texts: dict[str, Text] = {}
        self._looks: dict[tuple[SymbolKey, str], str] = {}
        self._grams: dict[tuple[SymbolKey, str], frozenset[int]] = {}

    def look_at_head(self) -> None:
        """Reads HEAD, which memories are born at."""
        self.origin = read_head(self._layout)

    # Symbols ----------------------------------------------------------------------------------------------

    def symbol(self, key: SymbolKey) -> Symbol | None:
        """The symbol of that identity."""
        return self.index.symbol(key)

    def kind(self, key: SymbolKey) -> SymbolKind | None:
        """The symbol's kind; "file" for a file that is there; None for what is not."""
        if not key.qualname:
            return "file" if self.has_file(key.file) else None
        symbol = self.index.symbol(key)
        return symbol.kind if symbol else None

    def kind_of(self, key: SymbolKey) -> SymbolKind | None:
        """`kind`, by the name that linking knows it by."""
        return self.kind(key)

    def keys_named(self, name: str) -> Collection[SymbolKey]:
        """All symbols whose last name part is `name`."""
        return self.index.keys_named(name)

    def keys_with_full(self, full_hash: str) -> Iterable[SymbolKey]:
        """All symbols of that hash."""
        return self.index.keys_with_full(full_hash)

    def keys_with_body(self, body_hash: str) -> Iterable[SymbolKey]:
        """All symbols of that hash."""
        return self.index.keys_with_body(body_hash)

    def files_ending(self, suffix: str) -> Collection[str]:
        """Files whose path ends with these whole segments; also one without code that is named in full."""
        return self.index.files_ending(suffix) or ((suffix,) if self._on_disk(suffix) else ())

    def has_file(self, file: str) -> bool:
        """Whether the file is there: indexed, open, or on disk."""
        return self.index.get(file) is not None or file in self._documents or self._on_disk(file)

    def meaning(self, file: str, name: str, receiver: str) -> SymbolKey | None:
        """What a name means at the top level of a file, imports followed."""
        found = resolve(self.index, file, Reference(_FILE_START, name, receiver, -1))
        return found.key if found is not None else None

    def in_scope(self, file: str) -> bool:
        """Whether the file lies in the folder that is indexed."""
        prefix = self._layout.prefix
        return not prefix or file.startswith(f"{prefix}/")

    def unread(self, file: str) -> bool:
        """Whether the file is there but not indexed: ignored, too big, of an unknown kind, not read yet."""
        if file in self.index or file in self._documents:
            return False
        return not self.complete or self._on_disk(file)

    def neighbours(self, key: SymbolKey) -> tuple[str, str]:
        """Qualnames of the symbols of the same parent right before and after, "" at an end."""
        symbols, index = self.index.get(key.file), self.index.position_of(key)
        return neighbours_of(symbols, index) if symbols is not None and index is not None else ("", "")

    def whole_hash(self, file: str) -> str:
        """A hash of the file's content on disk; "" of one that is empty, long, or can't be read."""
        try:
            path = self._layout.top / file
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= _MAX_READ_NOW:
                return ""
            return content_hash(path.read_bytes())
        except (OSError, ValueError):
            return ""

    def read(self, file: str, indexed: str | None) -> FileSymbols | None:
        """The symbols of a closed file as it is on disk; None for one that is open, unreadable or long.

        Args:
            file: which.
            indexed: hash of the content that the index has; None too where that is what is on disk.
        """
        if file in self._documents:
            return None
        raw = self._bytes(file)
        if raw is None or (file in self.index and indexed == content_hash(raw)):
            return None
        language, text = self._language(file), self._text(file)
        if language is None or text is None or len(text) > _MAX_READ_NOW:
            return None
        return extract(text.data, language)

    def settled(self, file: str) -> bool:
        """Whether verdicts may be judged on the file's text: it is quiet, and has no syntax error."""
        if file in self._documents:
            return self._documents.is_settled(file)
        symbols = self.index.get(file)
        return symbols is None or not symbols.partial

    def range_of(self, key: SymbolKey) -> Range | None:
        """Where the whole definition stands; a file's is its very start."""
        if not key.qualname:
            return _FILE_START if self.has_file(key.file) else None
        found = self.index.range_of(key)
        return found.definition if found else None

    def name_range(self, key: SymbolKey) -> Range | None:
        """Where the symbol's name stands; a file's is its very start."""
        if not key.qualname:
            return _FILE_START
        found = self.index.range_of(key)
        return found.name if found else None

    def target(self, file: str, position: Position | None) -> SymbolKey:
        """The innermost symbol that holds the position; the file itself outside all of them.

        Raises:
            InvalidArgument: there is no such file.
        """
        if not self.has_file(file):
            raise InvalidArgument("uri", f"no file {file}")
        symbols = self.index.get(file)
        if position is None or symbols is None:
            return SymbolKey(file, "")
        best = -1
        for at, range_ in enumerate(symbols.ranges):
            if range_.definition.contains(position) and (
                best < 0 or range_.definition.start >= symbols.ranges[best].definition.start
            ):
                best = at
        if best < 0:
            return SymbolKey(file, "")
        return SymbolKey(file, symbols.symbols[best].qualname, symbols.symbols[best].ordinal)

    def symbols(self) -> Iterator[SymbolKey]:
        """Every indexed symbol below the opened folder, file by file in the order of the text."""
        for file in sorted(self.index.files()):
            found = self.index.get(file)
            for symbol in found.symbols if found is not None and self._layout.contains(file) else ():
                yield SymbolKey(file, symbol.qualname, symbol.ordinal)

    # Text -------------------------------------------------------------------------------------------------

    def line(self, file: str, number: int) -> bytes:
        """One line without its end; empty where there is none."""
        text = self._text(file)
        return text.line(number) if text is not None else b""

    def text_in(self, file: str, span: Range) -> bytes:
        """The text of a range, clamped to what there is."""
        return self.reader(file)(span)

    def reader(self, file: str) -> Callable[[Range], bytes]:
        """`text_in` of one file, which is read only now."""
        text = self._text(file)

        def read(span: Range) -> bytes:
            return b"" if text is None else text.data[text.offset(span.start) : text.offset(span.end)]

        return read

    def birth(self, key: SymbolKey) -> Birth | None:
        """A new anchor's birth record; None where the symbol or its text is gone."""
        if not key.qualname:
            return (
                birth_of(Text(b""), None, None, key.file, -1, self.origin)
                if self.has_file(key.file)
                else None
            )
        found = self._definition(key)
        if found is None:
            return None
        text, language, symbols, index = found
        return birth_of(text, language, symbols, key.file, index, self.origin)

    def outline(self, key: SymbolKey) -> Outline:
        """What the symbol calls, raises and branches on; nothing where its text is gone."""
        found = self._definition(key)
        if found is None:
            return Outline()
        text, language, symbols, index = found
        return outline(snippet_of(text, symbols, index), language, symbols.symbols[index].kind)

    def likeness(self, key: SymbolKey, fingerprints: Iterable[str]) -> float:
        """How alike the symbol's text now is to the nearest of the fingerprints, 0..1."""
        mine = self._look(key)
        return max((likeness(mine, other) for other in fingerprints if other), default=0.0)

    def is_only_laid_out_anew(self, key: SymbolKey, fingerprints: Iterable[str]) -> bool:
        """Whether a formatter may have made the symbol's text now of one with such a fingerprint."""
        mine = self._look(key)
        return any(same_but_for_layout(mine, other) for other in fingerprints)

    def birth_look(self, anchor: Anchor) -> str:
        """The fingerprint of the anchor's code at its birth."""
        return birth_look(anchor.birth)

    def identifiers(self, key: SymbolKey) -> frozenset[str]:
        """The identifiers in the symbol's text now."""
        found = self._definition(key)
        if found is None:
            return frozenset()
        text, _, symbols, index = found
        return _identifiers(snippet_of(text, symbols, index).decode("utf-8", "replace"), key.file)

    def fingerprint(self, key: SymbolKey) -> str:
        """The fingerprint of the symbol's text now; "" where it can't be read."""
        return self._look(key)

    def grams(self, key: SymbolKey) -> frozenset[int]:
        """The token 3-grams of the symbol's text now."""
        return self.read_before(key) or grams_of(self._look(key))

    def read_before(self, key: SymbolKey) -> frozenset[int]:
        """The token 3-grams of the symbol as `read_grams` found them; none where it did not.

        Safe to call from any thread.
        """
        symbol = self.index.symbol(key)
        return self._grams.get((key, symbol.body_hash), _NO_GRAMS) if symbol is not None else _NO_GRAMS

    def read_grams(self, file: str) -> None:
        """Makes the 3-grams of all symbols of a file known in one parse, for a search through what is new."""
        symbols, text, language = self.index.get(file), self._text(file), self._language(file)
        if symbols is None or text is None or language is None or len(text) > _MAX_READ_NOW:
            return
        found = definitions_of(text.data, language)
        for at, symbol in enumerate(found.symbols.symbols):
            if len(self._grams) < _MAX_GRAMS:
                key = SymbolKey(file, symbol.qualname, symbol.ordinal)
                self._grams[key, symbol.body_hash] = found.grams_at(at)

    def forget_grams(self) -> None:
        """The search is over."""
        self._grams.clear()

    def snippet_identifiers(self, anchor: Anchor) -> frozenset[str]:
        """The identifiers in the anchor's snippet."""
        return _identifiers(anchor.birth.snippet, anchor.birth.state.key.file)

    def _look(self, key: SymbolKey) -> str:
        """The fingerprint of the symbol's text now; "" where it can't be read."""
        symbol = self.index.symbol(key)
        if symbol is None:
            return ""
        known = self._looks.get((key, symbol.body_hash))
        if known is not None:
            return known
        found = self._definition(key)
        if found is None:
            return ""
        if len(self._looks) >= _MAX_REMEMBERED:
            self._looks.clear()
        look = self._looks[key, symbol.body_hash] = fingerprint_of(*found)
        return look

    def _definition(self, key: SymbolKey) -> tuple[Text, Language, FileSymbols, int] | None:
        """A symbol with the text it stands in, and its index among the file's symbols."""
        symbols, text, language = self.index.get(key.file), self._text(key.file), self._language(key.file)
        if symbols is None or text is None or language is None:
            return None
        index = _index_of(symbols, key)
        if index >= 0 and key.file not in self._documents and not _stands(text, symbols, index):
            # The file changed on disk since it was indexed: its ranges are those of the old text.
            symbols = extract(text.data, language)
            index = _index_of(symbols, key)
        return (text, language, symbols, index) if index >= 0 else None

    def _language(self, file: str) -> Language | None:
        document = self._documents.get(file)
        return document.language if document is not None else language_of(file)

    def _bytes(self, file: str) -> bytes | None:
        """A closed file's content; None where it can't be read, or is too long to be read at once."""
        try:
            path = self._layout.top / file
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_TEXT_BYTES:
                return None  # a pipe would never end
            return path.read_bytes()
        except (OSError, ValueError):
            return None

    def _text(self, file: str) -> Text | None:
        document = self._documents.get(file)
        if document is not None:
            return document.text
        raw = self._bytes(file)
        if raw is None:
            return None
        try:
            data = decode_source(raw).data
        except BinarySource:
            return None
        known = self._texts.pop(file, None)
        text = known if known is not None and known.data == data else Text(data)
        self._texts[file] = text
        if len(self._texts) > _MAX_TEXTS:
            del self._texts[next(iter(self._texts))]
        return text

    def _on_disk(self, file: str) -> bool:
        """Whether a relative path names a file below the top level."""
        if not file or file.startswith("/") or {"..", ".git"} & set(file.split("/")):
            return False
        try:
            return (self._layout.top / file).is_file() and not is_spelt_otherwise(self._layout.top, file)
        except (OSError, ValueError):
            return False


def _index_of(symbols: FileSymbols, key: SymbolKey) -> int:
    wanted = (key.qualname, key.ordinal)
    return next((at for at, s in enumerate(symbols.symbols) if (s.qualname, s.ordinal) == wanted), -1)


def _stands(text: Text, symbols: FileSymbols, index: int) -> bool:
    """Whether the symbol's name stands in the text where its range says."""
    name = symbols.ranges[index].name
    found = text.data[text.offset(name.start) : text.offset(name.end)].decode("utf-8", "replace")
    return found.endswith(symbols.symbols[index].name) or symbols.symbols[index].name == "default"


@lru_cache(maxsize=4096)
def _identifiers(snippet: str, file: str) -> frozenset[str]:
    return identifiers_of(snippet, language_of(file))

"""Half-typed code: random edits of an open document, and what must hold after each of them."""

from typing import NamedTuple

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.core.symbols import Position
from mnemolens.core.text import BinarySource, Text, TextChange, decode_source

PIECES = (
    "(", ")", "[", "]", "{", "}", "<", ">", '"', "'", '"""', "'''", "`", "${", "/*", "*/", "//", "#", "=",
    ":", ";", ",", ".", "@", "\\", "\n", "\n\n", " ", "    ", "\t", "x", "1", "🛒", "größe", "=>", "def ",
    "def f(",
    "class ", "class A {", "function ", "function f() {", "return ", "if ", "else:", "import ", "export ",
    "from . import a\n", "async ", "lambda x: x\n", "func ", "func f() {}\n", "end\n", "end", "fn f() {}\n",
    "#if X\n", "namespace N {",
)  # fmt: skip
ENCODINGS = ("utf-8", "utf-16", "utf-32")


class Tracked(NamedTuple):
    """A symbol as it was when the text was last whole, moved along with the text since.

    Attributes:
        key: (qualname, ordinal).
        start: byte offset of the definition.
        text: the definition's text.
        name: the name's first and last byte, relative to `start`.
    """

    key: tuple[str, int]
    start: int
    text: bytes
    name: tuple[int, int]


def check_form(symbols, text):
    """What holds for the symbols of any text, however broken."""
    seen = {}
    assert len(symbols.symbols) == len(symbols.ranges) == len(symbols.locals)
    last = Position(0, 0)
    for at, (symbol, (definition, name)) in enumerate(zip(symbols.symbols, symbols.ranges, strict=True)):
        assert symbol.ordinal == seen.get(symbol.qualname, 0)
        seen[symbol.qualname] = symbol.ordinal + 1
        assert -1 <= symbol.parent < at
        assert symbol.qualname == symbol.name or symbol.qualname.endswith("." + symbol.name)
        order = (last, definition.start, name.start, name.end, definition.end, text.end)
        assert list(order) == sorted(order), (symbol.qualname, order)
        if symbol.parent >= 0:
            assert symbols.ranges[symbol.parent].definition.start <= definition.start
        last = definition.start
    for call in symbols.calls:
        assert -1 <= call.caller < len(symbols.symbols)
        assert call.count > 0


def damaged(source, other, random):
    """The bytes with some changed, cut out, doubled or taken from others."""
    raw = bytearray(source)
    for _ in range(random.randint(1, 8)):
        at = random.randint(0, len(raw))
        kind = random.randrange(4)
        if kind == 0:
            raw[at : at + 1] = bytes([random.randrange(256)])
        elif kind == 1:
            del raw[at : at + random.choice((1, 10, 1000, len(raw)))]
        elif kind == 2:
            raw[at:at] = raw[: random.randint(0, 400)]
        else:
            first = random.randint(0, len(other))
            raw[at:at] = other[first : first + 500]
    return bytes(raw)


def check_damaged(raw, language):
    """Whatever the bytes are, reading them as a file of that language gives well-formed symbols."""
    try:
        data = decode_source(raw).data
    except BinarySource:
        return
    check_form(extract(data, language), Text(data))


class Typing:
    """Someone typing in a document; `edit` fails where the document says something wrong."""

    def __init__(self, text, language, random, *, sliced=False):
        self.language, self.random, self.sliced = language, random, sliced
        self.document = Document(text, language)
        self._settle()
        self.whole = self.document.text.data
        self.begins_whole = self.was_whole = not self.document.symbols.partial
        self.tracked = self._symbols()

    def edit(self):
        """One batch of one to three random changes, and a look at what they left."""
        text, changes = self.document.text, []
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            start, end, new = self._change(text)
            changes.append(self._as_sent(text, start, end, new))
            text, _ = text.edit(start, end, new.encode())
            self._move(start, end, len(new.encode()))
        self.document._slow = self.sliced
        self.document.apply(changes)
        assert self.document.text == text
        if self.document.pending:
            self._check_untouched()
        self._settle()
        self.check()

    def make_whole(self):
        """All that was typed is undone."""
        text = self.document.text
        self.document.apply([self._as_sent(text, 0, len(text), self.whole.decode())])
        self.tracked = []  # all of it was typed over
        self._settle()
        assert not self.begins_whole or not self.document.symbols.partial
        self.check()

    def check(self):
        """Of a whole text what a full reading says, of a broken one what stood there before."""
        full = extract(self.document.text.data, self.language)
        symbols = self.document.symbols
        assert symbols.partial == full.partial
        check_form(full, self.document.text)
        check_form(symbols, self.document.text)
        if not full.partial:
            assert symbols == full
            assert symbols.ranges == full.ranges
            self.was_whole = True
            self.tracked = self._symbols()
        elif self.was_whole:
            self._check_untouched()

    def _check_untouched(self):
        """A symbol in whose text nobody typed is itself: its identity, its name and its text."""
        if not self.was_whole:
            return
        now = {(s.qualname, s.ordinal): at for at, s in enumerate(self.document.symbols.symbols)}
        text = self.document.text
        for key, start, content, (first, last) in self.tracked:
            at = now[key]
            definition, name = self.document.symbols.ranges[at]
            assert text.data[text.offset(definition.start) : text.offset(definition.end)] == content, key
            assert (text.offset(name.start), text.offset(name.end)) == (start + first, start + last), key
            if first != last:
                found = self.document.name_at(name.start)
                assert found is not None
                assert self.document.symbols.ranges[found].name == name
                assert found == at or self.document.symbols.ranges[at].name == name

    def _symbols(self):
        text, tracked = self.document.text, []
        for symbol, (definition, name) in zip(
            self.document.symbols.symbols, self.document.symbols.ranges, strict=True
        ):
            start, end = text.offset(definition.start), text.offset(definition.end)
            tracked.append(
                Tracked(
                    (symbol.qualname, symbol.ordinal),
                    start,
                    text.data[start:end],
                    (text.offset(name.start) - start, text.offset(name.end) - start),
                )
            )
        return tracked

    def _move(self, start, end, length):
        kept = []
        for item in self.tracked:
            last = item.start + len(item.text)
            if end <= item.start:
                kept.append(item._replace(start=item.start + length - (end - start)))
            elif start > last:
                kept.append(item)
        self.tracked = kept

    def _change(self, text):
        """(start, end, new text) in bytes."""
        random = self.random
        line = random.randrange(text.line_count)
        first = text.line_starts[line]
        if random.random() < 0.15:  # a line is deleted
            last = text.line_starts[line + 1] if line + 1 < text.line_count else len(text)
            return first, last, ""
        start = self._boundary(text, first + random.randint(0, len(text.line(line))))
        end = start
        if random.random() < 0.3:
            end = self._boundary(text, start + random.choice((1, 2, 5, 40)))
        return start, max(start, end), random.choice((*PIECES, ""))

    def _boundary(self, text, offset):
        """An offset that an editor can name: at no half of a character or line end."""
        offset = min(offset, len(text))
        while offset < len(text) and text.data[offset] & 0xC0 == 0x80:
            offset += 1
        return offset - 1 if text.data[offset - 1 : offset + 1] == b"\r\n" else offset

    def _as_sent(self, text, start, end, new):
        encoding = self.random.choice(ENCODINGS)

        def units(offset):
            position = text.position(offset)
            return position.line, text.to_units(Position(*position), encoding)

        return TextChange(new, units(start), units(end), encoding)

    def _settle(self):
        while self.document.pending:
            self.document.parse_slice(0.01 if self.sliced else 5)

r"""Text as UTF-8 bytes with a line table of its own: offsets, positions, column units, content changes.

A line ends with ``\n``, ``\r\n`` or ``\r`` and with nothing else: form feed, vertical tab and U+2028 are
ordinary characters, as in the language server protocol. Columns are UTF-8 bytes (`Position`) inside; the
other encodings exist only in the two conversions. Every function clamps what lies outside and never raises
for it.

Knows no protocol types, reads no files.
"""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Literal, NamedTuple

from mnemolens.core.symbols import Position

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class BinarySource(ValueError):
    """The bytes are no text: they hold NUL."""


class Source(NamedTuple):
    """Decoded source text.

    Attributes:
        data: valid UTF-8 without a byte order mark.
        notes: what had to be done to get there, in words for a user; empty for plain UTF-8.
    """

    data: bytes
    notes: tuple[str, ...] = ()


class TextChange(NamedTuple):
    """One content change as an editor sends it.

    Attributes:
        text: the new text; lone surrogates are replaced.
        start: (line, character) in code units of `encoding`; None replaces the whole text.
        end: as `start`, exclusive.
    """

    text: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None
    encoding: Encoding = "utf-16"


class ByteEdit(NamedTuple):
    """One replacement, in byte offsets and positions: `start`..`old_end` became `start`..`new_end`."""

    start: int
    old_end: int
    new_end: int
    start_position: Position
    old_end_position: Position
    new_end_position: Position


def decode_source(raw: bytes) -> Source:
    """Bring a file's bytes to valid UTF-8 without a byte order mark.

    Raises:
        BinarySource: the bytes hold NUL (binary files, and UTF-16 text).
    """
    notes: list[str] = []
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        notes.append("byte order mark removed")
    if b"\0" in raw:
        raise BinarySource("binary file (it holds NUL bytes)")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        raw = raw.decode("latin-1").encode("utf-8")
        notes.append("not valid UTF-8: read as Latin-1")
    return Source(raw, tuple(notes))


def to_bytes(text: str | bytes) -> bytes:
    """UTF-8 of `text`; a lone surrogate becomes `?`, which is as wide in UTF-16."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def _line_starts(data: bytes) -> list[int]:
    # bytes, unlike str, know no line ends but these three; three times as fast as a regular expression
    starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    if len(starts) > 1 and not data.endswith((b"\n", b"\r")):
        starts.pop()
    return starts


class Text:
    """An immutable text: its UTF-8 bytes and where its lines start.

    `edit` gives the next text and shares the work: only the lines that the edit touches are split again.
    """

    __slots__ = ("_starts", "data")

    def __init__(self, text: str | bytes, starts: list[int] | None = None) -> None:
        self.data = to_bytes(text)
        self._starts = _line_starts(self.data) if starts is None else starts

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __str__(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def line_count(self) -> int:
        """Number of lines; a text that ends with a line end has an empty last line."""
        return len(self._starts)

    @property
    def line_starts(self) -> tuple[int, ...]:
        """Byte offset of each line's start."""
        return tuple(self._starts)

    @property
    def end(self) -> Position:
        """The position behind the last byte."""
        return Position(len(self._starts) - 1, len(self.data) - self._starts[-1])

    def line(self, number: int) -> bytes:
        """The bytes of line `number` (0-based) without its line end; empty outside the text."""
        if not 0 <= number < len(self._starts):
            return b""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.data)
        return self.data[self._starts[number] : end].rstrip(b"\r\n")

    def offset(self, position: Position) -> int:
        """Byte offset of `position`, clamped to its line and to the text."""
        line, column = position
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.data)
        return self._starts[line] + min(max(column, 0), len(self.line(line)))

    def position(self, offset: int) -> Position:
        """Position of a byte offset, clamped to the text."""
        offset = min(max(offset, 0), len(self.data))
        line = bisect_right(self._starts, offset) - 1
        return Position(line, offset - self._starts[line])

    def from_units(self, line: int, character: int, encoding: Encoding) -> Position:
        """Position of the column `character`, counted in code units of `encoding`.

        Clamped to the text; a column inside a character means that character's start.
        """
        if line < 0:
            return Position(0, 0)
        if line >= len(self._starts):
            return self.end
        return Position(line, column_from_units(self.line(line), character, encoding))

    def to_units(self, position: Position, encoding: Encoding) -> int:
        """Column of `position` in code units of `encoding`, clamped to the line."""
        return column_to_units(self.line(position.line), position.column, encoding)

    def edit(self, start: int, old_end: int, replacement: bytes) -> tuple["Text", ByteEdit]:
        """Replace the bytes `start`..`old_end` (clamped, swapped if reversed) by `replacement`."""
        size = len(self.data)
        start, old_end = sorted((min(max(start, 0), size), min(max(old_end, 0), size)))
        data = b"".join((self.data[:start], replacement, self.data[old_end:]))
        delta = len(replacement) - (old_end - start)
        starts = self._starts
        first = bisect_right(starts, start) - 1
        # A line end may be joined with, or parted from, a "\r" right before the edit.
        if first and start == starts[first]:
            first -= 1
        last = bisect_right(starts, old_end)  # the first line that starts behind the edit
        stop = starts[last] + delta if last < len(starts) else len(data)
        middle = [m.end() for m in _LINE_END.finditer(data, starts[first], stop)]
        if last < len(starts) and middle and middle[-1] == stop:
            middle.pop()  # that line's start stands in the tail
        tail = starts[last:] if not delta else [s + delta for s in starts[last:]]
        text = Text(data, starts[: first + 1] + middle + tail)
        new_end = start + len(replacement)
        return text, ByteEdit(
            start, old_end, new_end, self.position(start), self.position(old_end), text.position(new_end)
        )

    def apply(self, change: TextChange) -> tuple["Text", ByteEdit]:
        """Apply one content change."""
        if change.start is None:
            return self.edit(0, len(self.data), to_bytes(change.text))
        first = self.offset(self.from_units(*change.start, change.encoding))
        last = self.offset(self.from_units(*(change.end or change.start), change.encoding))
        return self.edit(first, last, to_bytes(change.text))


def column_from_units(line: bytes, character: int, encoding: Encoding) -> int:
    """UTF-8 column of the code unit `character` of `line`; never inside a character."""
    if character <= 0:
        return 0
    if line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        column = min(character, len(line))
        while column < len(line) and line[column] & 0xC0 == 0x80:
            column -= 1
        return column
    text = line.decode("utf-8", "replace")
    if encoding == "utf-32":
        return len(text[:character].encode("utf-8"))
    # Half a pair at the end is left out. A loop over the characters would be felt in a minified file.
    return len(text.encode("utf-16-le")[: 2 * character].decode("utf-16-le", "ignore").encode("utf-8"))


def column_to_units(line: bytes, column: int, encoding: Encoding) -> int:
    """Code units of `encoding` that stand before the UTF-8 column `column` of `line`."""
    column = min(max(column, 0), len(line))
    if encoding == "utf-8" or line.isascii():
        return column
    text = line[:column].decode("utf-8", "ignore")
    return len(text) if encoding == "utf-32" else len(text.encode("utf-16-le")) // 2

"""Protocol positions to the engine's and back, by the text of the line and the client's encoding.

The column arithmetic is `core/text.py`'s; here are only the protocol's types. Knows no documents: who asks
brings a function that gives a line's text.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lsprotocol import types

from mnemolens.core.symbols import Position, Range
from mnemolens.core.text import Encoding, TextChange, column_from_units, column_to_units, to_bytes

LineText = Callable[[int], str | bytes]
"""Gives a line's text (0-based) with or without its end; empty beyond the last line."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Converts positions of one client."""

    encoding: Encoding = "utf-16"

    @classmethod
    def of(cls, encoding: str | None) -> "Positions":
        """For the encoding that `initialize` settled on; anything unknown is the protocol's utf-16."""
        if encoding == types.PositionEncodingKind.Utf8:
            return cls("utf-8")
        return cls("utf-32" if encoding == types.PositionEncodingKind.Utf32 else "utf-16")

    def from_client(self, position: types.Position, line_text: LineText) -> Position:
        """The engine's position; beyond the line's end is its end, inside a character that one's start."""
        line = _line(line_text, position.line)
        return Position(position.line, column_from_units(line, position.character, self.encoding))

    def to_client(self, position: Position, line_text: LineText) -> types.Position:
        """The client's position."""
        line = _line(line_text, position.line)
        return types.Position(position.line, column_to_units(line, position.column, self.encoding))

    def change_from_client(self, change: types.TextDocumentContentChangeEvent) -> TextChange:
        """A content change; its places stay in the client's units: they mean the text it meets."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return TextChange(change.text)
        start, end = change.range.start, change.range.end
        places = (start.line, start.character), (end.line, end.character)
        return TextChange(change.text, *places, encoding=self.encoding)

    def range_from_client(self, span: types.Range, line_text: LineText) -> Range:
        """The engine's range."""
        return Range(self.from_client(span.start, line_text), self.from_client(span.end, line_text))

    def range_to_client(self, span: Range, line_text: LineText) -> types.Range:
        """The client's range."""
        return types.Range(self.to_client(span.start, line_text), self.to_client(span.end, line_text))


def whole_text(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8.

    Clients cut strings in the middle of a pair, and JSON carries that faithfully.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _line(line_text: LineText, number: int) -> bytes:
    return to_bytes(line_text(number)).rstrip(b"\r\n")

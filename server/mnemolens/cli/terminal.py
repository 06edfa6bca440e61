"""What people see: lines and tables on stdout, in colour on a terminal that takes it, as wide as it is.

Memory text is data: what a terminal would act on is left out of it. Where stdout is no terminal lines are not
wrapped and tables not cut. rich is imported for terminals and tables only.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mnemolens.core import markdown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_UNBOUND = 10_000
_GAP = 2
"""Spaces between two columns."""

VERDICT_STYLES = {
    "fresh": "green",
    "moved": "yellow",
    "drifted": "yellow",
    "ambiguous": "yellow",
    "lost": "red",
    "unanchored": "dim",
}


class Span(NamedTuple):
    """Some words and how they look; `style` is rich's."""

    text: str
    style: str = ""


Cell: TypeAlias = Span | str | Sequence[Span | str]
"""What stands in a field of a table."""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        least: where the terminal is narrower than this, the column is left out.
        flexible: it is cut where the table would be too wide; the others are not.
        from_left: what is cut away is its beginning: of a place the end says most.
    """

    title: str
    style: str = ""
    least: int = 0
    flexible: bool = False
    from_left: bool = False


def plain(text: str) -> str:
    """A memory's text without what a terminal would act on."""
    return markdown.visible(text)


def one_line(text: str) -> str:
    """The same in one line."""
    return " ".join(plain(text).split())


def marked(text: str, marks: Iterable[tuple[int, int]]) -> list[Span | str]:
    """A text in one line, what is marked in bold; offsets are code points, in order.

    Nothing is where the text holds what a terminal would act on: then its offsets are none of what is shown.
    """
    if one_line(text) != text:
        return [one_line(text)]
    parts: list[Span | str] = []
    at = 0
    for start, end in marks:
        parts += [text[at:start], Span(text[start:end], "bold")]
        at = end
    return [*parts, text[at:]]


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`; `many` where the plural is no mere s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def put_json(value: Any) -> None:
    """One JSON value on a line of its own; escaped where the output's encoding would lose something of it."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """A remark for people, on stderr."""
    print(f"mnemolens: {text}", file=sys.stderr)


class Screen:
    """stdout, as people see it."""

    def __init__(self) -> None:
        self._console: Console | None = None
        self.is_terminal = sys.stdout.isatty()

    def line(self, *spans: Span | str, indent: int = 0, hang: int = 0) -> None:
        """Some words in one line, wrapped where the terminal ends, below their beginning.

        Args:
            spans: the words.
            indent: of all lines, in cells.
            hang: how much further lines are indented more, as wide as what the line begins with.
        """
        parts = [Span(one) if isinstance(one, str) else one for one in spans]
        if not self.is_terminal:
            print(" " * indent + "".join(part.text for part in parts))
            return
        from rich.padding import Padding
        from rich.text import Text

        text = Text.assemble(*((part.text, part.style) for part in parts))
        if hang:
            room = max(1, self.console.width - indent - hang)
            text = text[:hang] + Text("\n" + " " * hang).join(text[hang:].wrap(self.console, room))
        self.console.print(Padding(text, (0, 0, 0, indent), expand=False))

    def block(self, text: str, indent: int = 0, most: int = 0) -> None:
        """Text of several lines; `most` lines at most, the rest is said to be left out."""
        lines = plain(text).strip("\n").split("\n")
        shown = lines[:most] if most else lines
        for line in shown:
            self.line(line.rstrip(), indent=indent)
        if len(shown) < len(lines):
            self.line(Span("…", "dim"), indent=indent)

    def gap(self) -> None:
        """An empty line."""
        print(flush=self.is_terminal)

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
        """A table; on a narrow terminal without the columns that need more room."""
        from rich.table import Table

        kept = [at for at, column in enumerate(columns) if column.least <= self.console.width]
        texts = [[_text(row[at]) for at in kept] for row in rows]
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
        natural = [
            max(len(columns[at].title), *(row[number].cell_len for row in texts))
            for number, at in enumerate(kept)
        ]
        widths = _fitted(natural, [columns[at].flexible for at in kept], self.console.width)
        for at, width in zip(kept, widths, strict=True):
            column = columns[at]
            table.add_column(column.title, style=column.style, no_wrap=True, overflow="ellipsis", width=width)
        for row in texts:
            table.add_row(
                *(
                    _end_of(cell, width) if columns[at].from_left else cell
                    for at, cell, width in zip(kept, row, widths, strict=True)
                )
            )
        self.console.print(table)

    @property
    def console(self) -> "Console":
        """Rich's console on stdout."""
        if self._console is None:
            self._console = _console(is_terminal=self.is_terminal)
        return self._console


def _fitted(natural: list[int], flexible: list[bool], room: int) -> list[int]:
    """Widths of columns, two apart: where there is no room, those that may be cut share what is left."""
    widths = list(natural)
    left = (
        room - _GAP * (len(natural) - 1) - sum(w for w, cut in zip(natural, flexible, strict=True) if not cut)
    )
    cut = sorted((width, at) for at, width in enumerate(natural) if flexible[at])
    for number, (width, at) in enumerate(cut):  # the narrowest first: what they don't need is the others'
        widths[at] = max(1, min(width, left // (len(cut) - number)))
        left -= widths[at]
    return widths


def _end_of(text: "Text", width: int) -> "Text":
    if text.cell_len <= width:
        return text
    kept = text.copy()
    while kept and kept.cell_len >= width:
        kept = kept[1:]
    kept.plain = f"…{kept.plain}"
    return kept


def _text(cell: Cell) -> "Text":
    from rich.text import Text

    parts = [cell] if isinstance(cell, Span | str) else cell
    return Text.assemble(*(one if isinstance(one, str) else (one.text, one.style) for one in parts))


def _console(*, is_terminal: bool) -> "Console":
    from rich.console import Console

    class QuietConsole(Console):
        """Leaves a pipe that nobody reads any more to the program's own handling."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if is_terminal else _UNBOUND
    return QuietConsole(highlight=False, markup=False, emoji=False, soft_wrap=False, width=width)

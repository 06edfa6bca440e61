"""The text as the parser gets it: of long runs of line comments only the first few lines.

The scanners of some grammars look past all comments that follow a statement, at each of these comments:
20,000 lines of them behind a function took 18 s to parse, in one call that nothing interrupts. Comments carry
no tokens, so the parser gets spaces in their place: every byte keeps its offset, and no symbol changes.

Which lines these are depends on nothing but the run they stand in (and, for braces, on whether the text has
format strings of several lines at all), so that an edit changes little. No line is taken that could be more
than a comment, or more than plain content where a string is around it; see `LineComments`.

Reads no syntax tree: it comes before there is one.
"""

import re
from typing import NamedTuple

from tree_sitter import Point

from mnemolens.core.text import ByteEdit, Text

LONG_RUN = 64
"""Comment lines from which a run is shortened; shorter ones cost less than looking at them would."""

_KEPT = 1
_BRACES = (b"{", b"}")
_FAR = 4 * LONG_RUN

_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


class LineComments(NamedTuple):
    r"""What a language's line comments look like.

    Attributes:
        mark: what they begin with.
        unsafe: what a shortened line must not hold: a line that seems a comment may stand in a string of
            several lines, where it is plain content unless it holds one of these.
        braces_in: where this is nowhere in the text, `{` and `}` are safe too.
    """

    mark: bytes
    unsafe: tuple[bytes, ...]
    braces_in: re.Pattern[bytes] | None = None

    @property
    def run(self) -> re.Pattern[bytes]:
        """Comments with nothing but white space between them, from the first one's line end before it."""
        mark = re.escape(self.mark)
        # Possessive: linear in the text, whatever it holds.
        return re.compile(rb"\n[ \t\f\r]*+%b[^\n]*+(?:\s*+%b[^\n]*+)*+" % (mark, mark))

    def has_unsafe_brace(self, text: bytes, source: bytes) -> bool:
        """Whether braces in `text`, a part of `source`, may be code of a string around it."""
        if not any(brace in text for brace in _BRACES):
            return False
        return self.braces_in is None or self.braces_in.search(source) is not None

    def first(self, count: int) -> re.Pattern[bytes]:
        """So many comments at a run's start."""
        return re.compile(rb"(?:\s*+%b[^\n]*+){%d}" % (re.escape(self.mark), count))


class Reading:
    """Bytes as the parser reads them; what nodes say of their text is read from the source itself.

    Attributes:
        source: the text; the parser gets `parsed` until `done`.
        stuck: the parser will come to no end.
    """

    __slots__ = ("_end", "_furthest", "_now", "_size", "_waits", "source", "stuck")

    FIRST_CHUNK, CHUNK = 128, 4096
    """Bytes that are given at once: of a node's text, mostly a name, all that is given too much is looked
    through (3 us a name, with the small first piece 0.8); who reads on gets ever more."""

    PATIENCE = 200
    """How often the parser may ask for leave at one place: at most 15 times in what it comes through."""

    def __init__(self, source: bytes, parsed: bytes) -> None:
        self.source = source
        self.stuck = False
        self._now = parsed
        self._end, self._size = 0, self.FIRST_CHUNK
        self._furthest = 0
        self._waits = 0

    def __call__(self, offset: int, _point: Point) -> bytes:
        """Some bytes from `offset` on."""
        self._size = size = min(2 * self._size, self.CHUNK) if offset == self._end else self.FIRST_CHUNK
        self._end = end = offset + size
        return self._now[offset:end]

    def is_stuck(self, offset: int) -> bool:
        """Whether the parser, which asks for leave at `offset`, will come to no end; to be asked each time.

        A grammar's error recovery may try ever more ways through one place: 250 MB of them in two seconds.
        """
        if offset > self._furthest:
            self._furthest, self._waits = offset, 0
        self._waits += 1
        size = len(self._now)
        # At the end of a sound text the tree is balanced: that takes a fiftieth of a wait a byte.
        self.stuck = self._waits > self.PATIENCE + (size // 10 if offset >= size - 64 else 0)
        return self.stuck

    def done(self) -> None:
        """The parse is over."""
        self._now = self.source


def shortened(source: bytes, comments: LineComments | None) -> bytes:
    """`source`, as long as before, with the later lines of long comment runs blank; itself where none is."""
    if comments is None or source.count(comments.mark) < LONG_RUN:
        return source
    pieces: list[bytes] = []
    at = 0
    unsafe = comments.unsafe
    for run in comments.run.finditer(source):
        first, last = run.span()
        if last - first < 2 * LONG_RUN:
            continue
        text = run.group()
        if comments.first(LONG_RUN).match(text) is None:
            continue
        if len(unsafe) == len(comments.unsafe) and comments.has_unsafe_brace(text, source):
            unsafe += _BRACES
        head = comments.first(_KEPT).match(text)
        assert head is not None
        kept = first + head.end()
        pieces += (source[at:kept], _blank(text[head.end() :], unsafe, continued=_continues(head.group())))
        at = last
    if not pieces:
        return source
    pieces.append(source[at:])
    return b"".join(pieces)


def _continues(line: bytes) -> bool:
    r"""Whether a line ends in a backslash: in a string, the next one belongs to it."""
    return line.endswith((b"\\", b"\\\r"))


def _blank(text: bytes, unsafe: tuple[bytes, ...], *, continued: bool) -> bytes:
    if (
        not continued
        and not any(piece in text for piece in (*unsafe, b"\\\n", b"\\\r\n"))
        and text[-1:] != b"\\"
    ):
        return text.translate(_BLANK)
    lines = []
    for line in text.split(b"\n"):
        continues = _continues(line)
        safe = not (continued or continues or any(piece in line for piece in unsafe))
        lines.append(line.translate(_BLANK) if safe else line)
        continued = continues
    return b"\n".join(lines)


def may_be_long(text: Text, edit: ByteEdit, comments: LineComments | None) -> bool:
    """Whether an edit may have made a long run: with no long run before, there is none if this says so."""
    if comments is None:
        return False
    first, last = edit.start_position.line, edit.new_end_position.line
    if last - first > _FAR:
        return True
    count = last - first + 1
    for step, line in ((-1, first - 1), (1, last + 1)):
        looked = 0
        while 0 <= line < text.line_count:
            content = text.line(line).lstrip()
            if content.startswith(comments.mark):
                count += 1
            elif content:
                break
            looked += 1
            line += step  # noqa: PLW2901
            if count >= LONG_RUN or looked > _FAR:
                return True
    return count >= LONG_RUN


def difference(first: bytes, second: bytes) -> tuple[int, int] | None:
    """The first byte in which two texts of one length differ, and behind the last; None if in none."""
    if first == second:
        return None
    return _common(first, second, from_end=False), len(first) - _common(first, second, from_end=True)


def _common(first: bytes, second: bytes, *, from_end: bool) -> int:
    """How many bytes at one end are equal, by halving: each look compares memory, no byte by itself."""
    size = len(first)
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        if from_end:
            same = first[size - middle : size - low] == second[size - middle : size - low]
        else:
            same = first[low:middle] == second[low:middle]
        if same:
            low = middle
        else:
            high = middle - 1
    return low

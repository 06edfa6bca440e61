"""Reading all of a long text takes too long for the event loop: it is done in a thread, and remembered.

Owns the mark from which a text is long, and how what was read of the last few is remembered. What is read is
for others to say: `remembered` wraps their functions of one text.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Final, TypeVar

T = TypeVar("T")

LONG: Final = 20_000
"""Characters; all that is read of such a text takes about 5 ms."""
PIECE: Final = 32_000
_REMEMBERED: Final = 4


def remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """`read`, but what it says of a long text it says again without reading it, if it was asked just now."""
    known = lru_cache(maxsize=_REMEMBERED)(read)

    @wraps(read)
    def asked(text: str) -> T:
        return known(text) if len(text) > LONG else read(text)

    return asked


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of about `PIECE` characters, each but the last with whole lines.

    One call of the regex engine holds the interpreter lock, whatever thread it is in: over a piece 2 ms.
    A piece never begins with a line end, so that what stands before one is in the piece.
    """
    start = 0
    while len(text) - start > PIECE:
        end = text.find("\n", start + PIECE) + 1
        while 0 < end < len(text) and text[end] == "\n":
            end += 1
        if not end:
            break
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]

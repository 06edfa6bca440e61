"""What goes between us and the graph's process: a 4-byte big-endian length, then `pickle` of plain values.

Owns what either side may have to say of a query that was stopped, too.
"""

import pickle
from typing import IO, Any, Final

from mnemolens.store import frames

STOPPED: Final = 3
"""The process's exit code after a query that took too long or too much, and heeded no interrupt."""


TOO_MUCH: Final = "needs too much memory: narrow it or add a LIMIT"


def too_long(seconds: float) -> str:
    """What is said of a query that took longer."""
    return f"was stopped after {seconds:g} seconds: narrow it or add a LIMIT"


class _Pieces:
    """Takes what the pickler makes, 64 kB at a time.

    Each call lets others have the interpreter lock, which `pickle.dumps` keeps until all is done:
    60 ms for what a checkout changes.
    """

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.written.append(bytes(data))
        return len(data)


def write_frame(stream: IO[bytes], value: Any) -> None:
    """Writes one value, and flushes.

    Raises:
        OSError: the other side is gone.
    """
    pieces = _Pieces()
    pickle.Pickler(pieces, pickle.HIGHEST_PROTOCOL).dump(value)
    frames.write(stream, b"".join(pieces.written))


def read_frame(stream: IO[bytes]) -> Any:
    """Reads one value.

    Raises:
        EOFError: the other side is gone, perhaps in the middle of a frame.
    """
    return pickle.loads(frames.read(stream))  # noqa: S301 - from a process of our own, over a pipe

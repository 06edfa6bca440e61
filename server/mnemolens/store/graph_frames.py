"""What goes between us and the graph's process: a 4-byte big-endian length, then `pickle` of plain values."""

import pickle
from typing import IO, Any

from mnemolens.store import frames


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

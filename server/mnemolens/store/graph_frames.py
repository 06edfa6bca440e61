"""What goes between us and the graph's process: a 4-byte big-endian length, then `pickle` of plain values."""

import pickle
from typing import IO, Any


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
    body = b"".join(pieces.written)
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Any:
    """Reads one value.

    Raises:
        EOFError: the other side is gone, perhaps in the middle of a frame.
    """
    head = stream.read(4)
    if len(head) < 4:
        raise EOFError("the other side is gone")
    length = int.from_bytes(head, "big")
    body = stream.read(length)
    if len(body) < length:
        raise EOFError("the other side is gone")
    return pickle.loads(body)  # noqa: S301 - from a process of our own, over a pipe

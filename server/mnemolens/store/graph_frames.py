"""What goes between us and the graph's process: a 4-byte big-endian length, then `pickle` of plain values."""

import pickle
from typing import IO, Any


def write_frame(stream: IO[bytes], value: Any) -> None:
    """Writes one value, and flushes.

    Raises:
        OSError: the other side is gone.
    """
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
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

"""What goes through a pipe between two of our processes: a 4-byte big-endian length, then as many bytes."""

from typing import IO


def write(stream: IO[bytes], body: bytes) -> None:
    """Writes one frame, and flushes.

    Raises:
        OSError: the other side is gone.
    """
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def read(stream: IO[bytes]) -> bytes:
    """Reads one frame.

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
    return body

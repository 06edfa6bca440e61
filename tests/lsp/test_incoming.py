import asyncio
import io
import os
import sys

import pytest

from mnemolens.lsp.incoming import read_messages


def read(*chunks: bytes) -> list[object]:
    """What is handed on of a stream that brings these pieces, and ends."""
    source, sink = os.pipe()
    taken: list[object] = []

    async def write() -> None:
        for chunk in chunks:
            os.write(sink, chunk)
            await asyncio.sleep(0.01)
        os.close(sink)

    async def both() -> None:
        with os.fdopen(source, "rb") as stream:
            await asyncio.gather(read_messages(stream, taken.append), write())

    asyncio.run(both())
    return taken


def framed(body: bytes, header: bytes = b"Content-Length: %d\r\n") -> bytes:
    return header % len(body) + b"\r\n" + body


def test_messages_come_whole_and_in_order():
    stream = b"".join(framed(b'{"id": %d, "text": "\xc3\xa9"}' % number) for number in range(5))
    expected = [{"id": number, "text": "é"} for number in range(5)]
    assert read(stream) == expected
    assert read(*(stream[at : at + 7] for at in range(0, len(stream), 7))) == expected


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:%d\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n",
        b"Content-Length: %d\r\nX-Anything: 3\r\n",
        b"\r\nContent-Length: %d\r\n",
    ],
)
def test_headers(header):
    assert read(framed(b"[1]", header), framed(b"[2]")) == [[1], [2]]


def test_what_is_no_message_is_passed_over():
    assert read(framed(b"{nonsense"), framed(b"\xff\xfe"), b"nonsense\r\n\r\n", framed(b"[1]")) == [[1]]


@pytest.mark.parametrize("length", [b"-5", b"five", b"0", b"9" * 30, b"9" * 5000])
def test_a_length_that_is_none_costs_no_other_message(length):
    assert read(framed(b"[1]"), b"Content-Length: " + length + b"\r\n\r\n", framed(b"[2]")) == [[1], [2]]


def test_a_message_that_is_longer_than_it_says_costs_no_other():
    told = b'Content-Length: 2\r\n\r\n["\xc3\xa9"]'
    assert read(told, framed(b"[2]"), b"\0", framed(b"[3]")) == [[2], [3]]


def test_other_headers_tell_no_length():
    assert read(framed(b"[1]", b"X-Content-Length: 1\r\nContent-Length: %d\r\n")) == [[1]]


def test_more_than_fits_into_memory_is_the_end(caplog):
    class Full(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise MemoryError(size)

    taken: list[object] = []
    asyncio.run(asyncio.wait_for(read_messages(Full(framed(b"[1]")), taken.append), 60))
    assert taken == []
    assert "too long" in caplog.text


def test_a_message_that_is_cut_off_is_not_taken():
    assert read(framed(b"[1]"), b"Content-Length: 10\r\n\r\n[2]") == [[1]]


def test_one_that_fails_costs_no_other(caplog):
    source, sink = os.pipe()
    taken: list[object] = []

    def handle(message: object) -> None:
        taken.append(message)
        if message == [1]:
            raise ValueError("bad")

    with os.fdopen(sink, "wb") as stream:
        stream.write(framed(b"[1]") + framed(b"[2]"))
    with os.fdopen(source, "rb") as stream:
        asyncio.run(read_messages(stream, handle))
    assert taken == [[1], [2]]
    assert "bad" in caplog.text


def test_the_process_ends_while_the_client_keeps_its_end_open():
    code = """
import asyncio, sys
from mnemolens.lsp.incoming import read_messages

def handle(message):
    sys.exit(message)

asyncio.run(read_messages(open(sys.stdin.fileno(), "rb", closefd=False), handle))
"""

    async def run() -> int | None:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        assert child.stdin is not None
        child.stdin.write(framed(b"7"))
        await child.stdin.drain()
        await asyncio.wait_for(child.wait(), 60)
        child.stdin.close()
        return child.returncode

    assert asyncio.run(run()) == 7

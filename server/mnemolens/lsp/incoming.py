"""Reads the client's messages in a thread and gives each to the event loop, whole and in order.

pygls asks a pool of threads for each line and for the body: three turns of the loop a message, in each of
which background work may come first. Here it is one.
"""

import asyncio
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

logger = logging.getLogger(__name__)

READ_AHEAD = 1
"""Messages that wait for the loop: a next one is there when one was handled, and no turn takes two."""

_LENGTH = re.compile(rb"(?<![\w-])content-length:\s*(\d{1,9})\s*\Z", re.IGNORECASE)
"""Also behind the rest of a message that was longer than it said: only that one is lost."""


async def read_messages(stream: BinaryIO, handle: Callable[[Any], None]) -> None:
    """Hands on what each message holds; returns at the end of the stream. What is no JSON is logged.

    Args:
        stream: blocks while the client is silent; read by no one else. Nobody waits for the thread that does.
        handle: takes a message, on the event loop.
    """
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    room = threading.Semaphore(READ_AHEAD)

    def take(body: bytes) -> None:
        room.release()
        try:
            handle(json.loads(body))
        except Exception:
            logger.exception("Unable to handle a message")

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    def read() -> None:
        with suppress(RuntimeError):  # the loop is closed: the server ends
            try:
                for body in _bodies(stream):
                    room.acquire()
                    loop.call_soon_threadsafe(take, body)
            except MemoryError:
                logger.exception("A message is too long for this machine")
            except (OSError, ValueError):
                pass  # the stream is closed
            loop.call_soon_threadsafe(end)

    threading.Thread(target=read, name="client", daemon=True).start()
    await ended


def _bodies(stream: BinaryIO) -> Iterator[bytes]:
    """What stands behind each head that tells a length; ends where the stream ends, in a message too."""
    length = 0
    while header := stream.readline():
        if not header.strip():
            if length:
                body = stream.read(length)
                if len(body) < length:
                    return
                yield body
            length = 0
        elif found := _LENGTH.search(header):
            length = int(found[1])

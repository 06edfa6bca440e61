"""Answers what comes in that is no message, as whoever sent it may wait for an answer.

The `mcp` package passes such lines over. Owns what is said of them, and to which request; messages go by as
they are.
"""

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Protocol, Self

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


class Reading(Protocol):
    """Where messages come from; the exception in the place of each line that is none."""

    async def __anext__(self) -> SessionMessage | Exception: ...

    async def aclose(self) -> None:
        """No more is read."""


class Writing(Protocol):
    """Where messages go."""

    async def send(self, item: SessionMessage, /) -> None:
        """Sends one."""


class Incoming:
    """The messages of a stream, without what is none.

    Args:
        reading: the stream.
        writing: takes the answers to what is no message.
    """

    def __init__(self, reading: Reading, writing: Writing) -> None:
        self._reading = reading
        self._writing = writing
        self.aclose = reading.aclose

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while isinstance(item := await anext(self._reading), ValidationError):
            answer = answer_to(item)
            if answer is not None:
                await self._writing.send(SessionMessage(answer))
        return item

    receive = __anext__

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def answer_to(error: ValidationError) -> JSONRPCError | None:
    """What is answered to a line that is no message; None where nobody waits for that.

    Args:
        error: what was found wrong in it, and the line itself or what it means as JSON.
    """
    errors = error.errors(include_url=False)
    first = errors[0]
    # What is missing is missed in the whole: a request lacks a result, an answer lacks a method.
    given = next((one["input"] for one in errors if one["type"] == "missing"), first["input"])
    if first["type"] == "json_invalid":
        if not given.strip():
            return None
        try:
            given = json.loads(given)  # which takes half a character, as the package does not
        except (ValueError, RecursionError):
            return _answer(None, PARSE_ERROR, f"the line is no JSON: {first['ctx']['error']}")
    if not isinstance(given, dict):
        return _answer(None, INVALID_REQUEST, "the line is no JSON-RPC 2.0 message")
    asked = given.get("id")
    if asked is None or "result" in given or "error" in given:
        return None
    halves = next(_halves(given), None)
    if halves is not None:
        wrong = f"{halves}: holds half a character (a lone surrogate)"
    else:
        wrong = ".".join(str(part) for part in first["loc"][1:]) + f": {first['msg']}"
    known = isinstance(asked, int | str) and not isinstance(asked, bool) and halves != "id"
    return _answer(asked if known else None, INVALID_REQUEST, wrong)


def _halves(value: Any) -> Iterator[str]:
    """Where a text, or a name in an object, holds half a character: "params.arguments.content"."""
    waiting = [("", value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += ((f"{path}.{key}" if path else key, one) for key, one in reversed(value.items()))
            waiting += ((path, key) for key in value)
        elif isinstance(value, list):
            waiting += ((f"{path}.{place}", one) for place, one in enumerate(value))
        elif isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                yield path


def _answer(asked: int | str | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=asked, error=ErrorData(code=code, message=message))

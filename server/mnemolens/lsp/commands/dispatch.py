"""Registers the table's commands: parse, run, answer; errors become JSON-RPC errors in the user's words."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from mnemolens.core.errors import InvalidArgument, MnemolensError, StoreError
from mnemolens.core.views import Json
from mnemolens.engine.secrets import SecretFound
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.commands.table import COMMANDS, Command
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.params import parse

logger = logging.getLogger(__name__)

MOST_WORDS = 1_000
"""Characters of an error: editors show it in a corner of the screen."""


def register(server: MnemolensServer) -> None:
    """Register every command of the table."""
    for command in COMMANDS:
        _register(server, command)


def _register(server: MnemolensServer, command: Command) -> None:
    if command.patient:
        server.patient.add(command.id)
    if command.reads:
        server.protocol.reading.add(command.id)
    # Two forms, because pygls runs a plain function before it reads the next message.
    if asyncio.iscoroutinefunction(command.run):

        async def run_async(ls: MnemolensServer, params: types.ExecuteCommandParams) -> Json:
            with _errors():
                arguments = parse(command.id, command.arguments, params.arguments)
                answer: Any = command.run(Call(ls, params.work_done_token), arguments)
                result: Json = await answer
            ls.lenses_may_have_changed()
            return result

        server.command(command.id)(run_async)
    else:

        def run(ls: MnemolensServer, params: types.ExecuteCommandParams) -> Json:
            with _errors():
                arguments = parse(command.id, command.arguments, params.arguments)
                result: Any = command.run(Call(ls, params.work_done_token), arguments)
            return dict(result)

        server.command(command.id)(run)


@contextmanager
def _errors() -> Iterator[None]:
    """Our errors as the protocol's: wrong arguments, or a request that failed for another reason."""
    try:
        yield
    except (StoreError, OSError) as error:
        logger.warning("A command failed: %s", error)
        raise JsonRpcException(_words(error), types.LSPErrorCodes.RequestFailed) from None
    except MnemolensError as error:
        raise JsonRpcInvalidParams(message=_words(error), data=_data(error)) from None


def _words(error: Exception) -> str:
    """What is wrong, without the middle of an argument that it quotes at length."""
    words = str(error)
    return words if len(words) <= MOST_WORDS else f"{words[: MOST_WORDS // 2]} … {words[-MOST_WORDS // 2 :]}"


def _data(error: MnemolensError) -> Json | None:
    """What a program wants to know of an error without reading its words."""
    if not isinstance(error, InvalidArgument):
        return None
    data: Json = {"field": error.field}
    if isinstance(error, SecretFound):
        data |= {"reason": "secret", "secrets": [secret._asdict() for secret in error.secrets]}
    return data

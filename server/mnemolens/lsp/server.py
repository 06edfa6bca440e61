"""Builds the server and runs it, over stdio or TCP, until its client is gone; then flushes."""

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from pygls.io_ import StdoutWriter, run_async

from mnemolens.core.clock import Clock, SystemClock
from mnemolens.lsp.commands import dispatch
from mnemolens.lsp.features import (
    code_action,
    code_lens,
    configuration,
    documents,
    hover,
    lifecycle,
    watched_files,
    workspace_folders,
)
from mnemolens.lsp.incoming import read_messages
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.logs import log_to_stderr

logger = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""How long a thread at work may keep the interpreter lock from the event loop, which wants it after each read
and write; the interpreter's own 5 ms, several times in each round, would make hovers wait."""

COLLECT_AFTER = 5_000, 10, 200
"""Thresholds of the garbage collector. A look at all that lives takes 60 ms and more and finds next to
nothing that the quick looks at what is young did not: it comes a hundred times as rarely as by default."""


def create_server(clock: Clock | None = None) -> MnemolensServer:
    """A server with every method and command registered, not yet running."""
    server = MnemolensServer(clock or SystemClock())
    for feature in (
        lifecycle,
        configuration,
        workspace_folders,
        documents,
        watched_files,
        hover,
        code_lens,
        code_action,
        dispatch,
    ):
        feature.register(server)
    return server


def _tune() -> None:
    """Make the interpreter fit a process whose event loop must never be held for long."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECT_AFTER)


def serve_stdio() -> int:
    """Serve one client over stdin and stdout; returns the exit code."""
    # A reader of our own: at the end of the process nobody can close the one that a thread waits in.
    stdin, stdout = os.fdopen(sys.stdin.fileno(), "rb", closefd=False), sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints must not speak into the protocol
    # Until there is something to flush, an interrupt ends the process: the thread that reads stdin would not.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    log_to_stderr()
    _tune()
    server = create_server()
    try:
        server.protocol.set_writer(StdoutWriter(stdout))
        asyncio.run(_converse(server, stdin))
    except BrokenPipeError:
        logger.warning("The client is gone")
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        server.close()
    return server.exit_code


async def _converse(server: MnemolensServer, stdin: BinaryIO) -> None:
    """All that the client says until it hangs up."""
    await read_messages(stdin, server.protocol.handle_message)
    await server.protocol.handled()


def serve_tcp(host: str, port: int) -> int:
    """Serve one client on a TCP port, until it is gone; returns the exit code."""
    log_to_stderr()
    _tune()
    server = create_server()
    logger.info("Waiting for a client on %s:%d", host, port)
    try:
        asyncio.run(_listen(server, host, port))
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        server.close()
    return server.exit_code


async def _listen(server: MnemolensServer, host: str, port: int) -> None:
    """All that the first client says; others are turned away."""
    gone = asyncio.Event()
    taken = False

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        if taken:
            writer.close()
            return
        taken = True
        server.protocol.set_writer(writer)
        # pygls's own `start_tcp` goes on for ever after a client that hangs up without a word.
        try:
            with suppress(ConnectionError, EOFError, ValueError):  # it hangs up, in a message too
                await run_async(
                    threading.Event(), reader, server.protocol, logger, server.report_server_error
                )
            await server.protocol.handled()
        finally:
            writer.close()
            gone.set()

    async with await asyncio.start_server(converse, host, port):
        await gone.wait()

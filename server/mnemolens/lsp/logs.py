"""Where log records go: to stderr, and to the client's log by level.

pygls's own records never go to the client: it logs every message that it sends, and sending a log message
would log the next.
"""

import asyncio
import logging
import sys
import threading

from lsprotocol import types

from mnemolens.lsp.language_server import MnemolensServer

OURS = "mnemolens"


class ClientLog(logging.Handler):
    """Sends our records as `window/logMessage`, from whichever thread they come."""

    def __init__(self, server: MnemolensServer, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.INFO)
        self._server = server
        self._loop = loop
        self._thread = threading.get_ident()  # the loop's

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record, or hand it to the event loop, which alone writes to the client."""
        if self._server.closing or self._loop.is_closed():
            return
        try:
            text = self.format(record)
            if threading.get_ident() == self._thread:  # at once: before the answer to what it is about
                self._send(_kind(record.levelno), text)
            else:
                self._loop.call_soon_threadsafe(self._send, _kind(record.levelno), text)
        except Exception:  # noqa: BLE001  logging must never break what it reports on
            self.handleError(record)

    def _send(self, kind: types.MessageType, text: str) -> None:
        if not self._server.closing:
            self._server.window_log_message(types.LogMessageParams(kind, text))


def log_to_stderr(level: int = logging.INFO) -> None:
    """Set logging up for a server process: stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(OURS).setLevel(level)
    # What pygls has to say arrives through `report_server_error`; the rest is a traceback for every refusal.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


def log_to_client(server: MnemolensServer) -> None:
    """Send our records to the client too, from now on."""
    logging.getLogger(OURS).addHandler(ClientLog(server, asyncio.get_running_loop()))


def _kind(level: int) -> types.MessageType:
    if level >= logging.ERROR:
        return types.MessageType.Error
    if level >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info if level >= logging.INFO else types.MessageType.Log

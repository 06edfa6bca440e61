"""The protocol object: pygls's, with malformed messages answered and without a second copy of every text.

What differs from pygls, and why:
- a request whose parameters don't fit the protocol is answered with InvalidParams (pygls is silent), and an
  object inside the parameters that merely looks like a message stays data;
- pygls's own text documents are left out: the engine keeps the text, and pygls splits lines at form feeds;
- a command's function gets the whole `ExecuteCommandParams`, whose progress token pygls drops, and it is the
  request itself that runs: cancelling one reaches it, and one that was cancelled within is answered;
- what was handled is forgotten: pygls keeps the future of every notification for good;
- `shutdown` lets running requests end, and later requests are answered (pygls stumbles over the former and is
  silent about the latter);
- the position encoding and the exit code are ours to see.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from cattrs.errors import ClassValidationError
from lsprotocol import types
from pydantic.alias_generators import to_camel
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

logger = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """See the module's docstring."""

    exited = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before_request: Callable[[Any], None] = lambda _params: None
        self._asked: set[str | int] = set()  # the client's requests that are not answered yet

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for `shutdown`."""
        return bool(self._shutdown)

    def structure_message(self, data: dict[str, Any]) -> dict[str, Any]:
        """Leave every object as it is: pygls calls this for nested ones too."""
        return data

    def handle_message(self, message: Any) -> None:
        """Give the message its type and hand it on; answer a request that has none, or comes too late."""
        if self._shutdown and isinstance(message, dict) and "id" in message and "method" in message:
            late = JsonRpcInvalidRequest(message=f"{message['method']}: the server is shutting down")
            self._send_response(message["id"], error=late.to_response_error())
            return
        try:
            structured = super().structure_message(message)
        except JsonRpcException as error:
            self._refuse(message, error)
            return
        if isinstance(structured, dict):
            logger.warning("Ignored a message that is not JSON-RPC 2.0")
            return
        super().handle_message(structured)

    def _refuse(self, message: dict[str, Any], error: JsonRpcException) -> None:
        method = message.get("method")
        reason = _reason(error.__cause__)
        logger.warning("Refused a malformed %s: %s", method or "response", reason)
        if "id" in message and method is not None:
            refusal = JsonRpcInvalidParams(message=f"{method}: {reason}").to_response_error()
            self._send_response(message["id"], error=refusal)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls, but says that commands can report progress."""
        result = yield from super().lsp_initialize(params)
        if result.capabilities.execute_command_provider is not None:
            result.capabilities.execute_command_provider.work_done_progress = True
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """As pygls, and remembers that the client asked."""
        self.exited = True
        yield from super().lsp_exit(*args)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Our handler alone."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Our handler alone."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Our handler alone."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(  # type: ignore[override]  # no generator, as nothing else is to run
        self, params: types.ExecuteCommandParams
    ) -> None:
        """Reached by unknown commands alone; see `_handle_request`."""
        raise JsonRpcInvalidParams(message=f"command: {params.command!r} is not a command of Mnemolens")

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Our handler alone; whatever comes of it, the client has asked for the end."""
        self._shutdown = True
        yield self.fm.features[types.SHUTDOWN], args, None

    async def finish_requests(self, seconds: float) -> None:
        """Give the client's running requests that long to end, then cancel what still runs; all are answered.

        To be called by the handler of `shutdown`, which is not waited for.
        """
        asked = {id_ for id_ in self._asked if id_ != self.msg_id}
        running = [future for id_, future in self._request_futures.items() if id_ in asked]
        if running:
            await asyncio.wait([asyncio.wrap_future(future) for future in running], timeout=seconds)
        for future in running:
            future.cancel()
        await asyncio.sleep(0)  # their answers are sent now

    def _handle_request(self, msg_id: str | int, method_name: str, params: Any) -> None:
        self._asked.add(msg_id)
        self.before_request(params)
        run = self.fm.commands.get(params.command) if method_name == types.WORKSPACE_EXECUTE_COMMAND else None
        if run is None:
            super()._handle_request(msg_id, method_name, params)
            return
        self._ctx_msg_id.set(msg_id)
        self._execute_handler(msg_id, run, partial(self._send_handler_result, msg_id=msg_id), (params,))

    def _send_response(
        self, msg_id: str | int, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        self._asked.discard(msg_id)
        super()._send_response(msg_id, result, error)

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def done(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)


def _reason(cause: BaseException | None) -> str:
    """The first reason why a message doesn't fit, as a path and a few words."""
    inner = cause
    path: list[str] = []
    while isinstance(inner, ClassValidationError) and inner.exceptions:
        found = inner.exceptions[0]
        notes = [note for note in getattr(found, "__notes__", ()) if getattr(note, "name", None)]
        path += [str(note.name) for note in notes]
        inner = found
    names = [to_camel(name) for name in path if name != "params"]
    where = ".".join(names)
    if isinstance(inner, KeyError):
        missing = str(inner.args[0])
        return f"{where if names[-1:] == [missing] else '.'.join([*names, missing])} is missing"
    words = str(inner) if isinstance(inner, TypeError | ValueError) else "does not fit the protocol"
    return f"{where}: {words}" if where else words

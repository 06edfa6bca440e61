"""Holds back what the client says while a folder's memories are read beside the requests.

`initialize` is answered at once, and the event loop stays free for answers and other folders' work. What
comes meanwhile waits and is handled in its order: nobody meets a folder that is half there, no capture is
planned on memories that are not read yet, no document's changes overtake its opening. `shutdown` alone
overtakes what waits, unless that is to be stored: editors wait for its answer for a second or two.
"""

import asyncio
import logging
from collections import deque
from typing import Any

from lsprotocol import types

from mnemolens.lsp.protocol import Protocol

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0
"""So long memories may be read for a client that has hung up: what it said counts, but a disk may hang."""

_STORING = frozenset(
    {
        types.WORKSPACE_EXECUTE_COMMAND,
        types.TEXT_DOCUMENT_DID_SAVE,  # of a memory that is open as a document
        types.WORKSPACE_DID_RENAME_FILES,
    }
)


class HoldingProtocol(Protocol):
    """The protocol, with a door that can be shut.

    Attributes:
        reading: the commands that store nothing.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reading: set[str] = set()
        self._holders = 0
        self._held: deque[Any] = deque()

    def hold(self) -> None:
        """Handle no more requests and notifications until `let_go` was called as often as this."""
        self._holders += 1

    def let_go(self) -> None:
        """What is held is handled from the next turn of the loop on, a message in each."""
        self._holders -= 1
        asyncio.get_running_loop().call_soon(self._handle_next)

    def handle_message(self, message: Any) -> None:
        """Handle or hold it; never hold an answer to what we asked, as others may wait for who asked."""
        is_answer = isinstance(message, dict) and "method" not in message
        if self._is_end(message) and not any(map(self._stores, self._held)):
            # Requests that are held are answered that they come too late.
            self._held = deque(one for one in self._held if isinstance(one, dict) and "id" in one)
            super().handle_message(message)
        elif (self._holders or self._held) and not is_answer:
            self._held.append(message)
        else:
            super().handle_message(message)

    async def handled(self) -> None:
        """Returns once nothing is held, or when what holds it takes too long."""
        latest = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while (self._holders or self._held) and asyncio.get_running_loop().time() < latest:  # noqa: ASYNC110 - asked once, when the client has hung up
            await asyncio.sleep(0.01)

    @staticmethod
    def _is_end(message: Any) -> bool:
        return isinstance(message, dict) and message.get("method") == types.SHUTDOWN and "id" in message

    def _stores(self, message: Any) -> bool:
        if not isinstance(message, dict) or message.get("method") not in _STORING:
            return False
        params = message.get("params")
        return not isinstance(params, dict) or params.get("command") not in self.reading

    def _handle_next(self) -> None:
        if self._holders or not self._held:
            return
        asyncio.get_running_loop().call_soon(self._handle_next)
        try:
            super().handle_message(self._held.popleft())
        except Exception:
            logger.exception("Unable to handle a message")

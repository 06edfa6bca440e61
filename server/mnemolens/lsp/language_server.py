"""The server's state: what one client can do, which folders are open, the tasks that run beside requests.

Handlers get this object. It holds no domain logic and registers no handler (`server.py` does).
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Collection, Coroutine
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from mnemolens import __version__
from mnemolens.core.clock import Clock
from mnemolens.core.views import MemoryView
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.caps import ClientCaps, ClientOptions
from mnemolens.lsp.folders import Folders
from mnemolens.lsp.holding import HoldingProtocol
from mnemolens.lsp.open_texts import OpenTexts
from mnemolens.lsp.parent import ParentWatch
from mnemolens.lsp.positions import Positions
from mnemolens.lsp.recalls import RecentAccesses
from mnemolens.store.copies import Copy

if TYPE_CHECKING:  # they need the server's type, and it keeps theirs
    from mnemolens.lsp.features.diagnostics import Diagnostics
    from mnemolens.lsp.folder_settings import FolderSettings
    from mnemolens.lsp.watching import FileEvents

logger = logging.getLogger(__name__)

LENS_QUIET_SECONDS = 0.2


class MnemolensServer(LanguageServer):
    """pygls's server with Mnemolens's state.

    Attributes:
        protocol: see `protocol.py` and `holding.py`.
        caps: what the client can do; empty before `initialize`.
        options: what the client asked for.
        positions: converts positions of this client's encoding.
        folders: the open folders and their workspaces.
        opening: held while folders are opened, one after the other.
        accesses: which memories were counted as accessed within the last minute.
        editor_settings: the client's settings for each folder's URI ("" for all), as they came.
        folder_settings: where the settings of each folder stand, by its real path.
        texts: the text of every open document.
        patient: commands that wait themselves until what was typed is read.
        slicing: the task that reads what was typed in a workspace, while there is one.
        indexing: the running or last index task of each folder.
        whole: whether all code of a workspace was read, once an index run has ended: False where the user
            has stopped the first.
        attempted: tells for each workspace when its first index run has ended, whichever way.
        offers: the daily copy that a workspace without memories could take in.
        copied: the day on which a workspace's daily copy was last begun.
        diagnostics: the hints that the client has.
        watches: the file watching task of each folder.
        watch_stands: of each folder that we watch ourselves, set once what changes is told.
        parent: tells whether the client's process is gone.
        started: the client is initialized and its settings are known; folders are indexed from then on.
        closing: nothing is sent any more.
    """

    protocol: HoldingProtocol

    def __init__(self, clock: Clock) -> None:
        super().__init__("mnemolens", __version__, protocol_cls=HoldingProtocol)
        self.protocol.before_request = self.finish_parses
        self.clock = clock
        self.caps = ClientCaps()
        self.options = ClientOptions()
        self.positions = Positions()
        self.folders = Folders()
        self.opening = asyncio.Lock()
        self.accesses = RecentAccesses()
        self.editor_settings: dict[str, dict[str, Any]] = {}
        self.folder_settings: dict[Path, FolderSettings] = {}
        self.texts = OpenTexts()
        self.patient: set[str] = set()
        self.slicing: dict[Workspace, asyncio.Task[None]] = {}
        self.indexing: dict[Path, asyncio.Task[None]] = {}
        self.whole: dict[Workspace, bool] = {}
        self.attempted: dict[Workspace, asyncio.Event] = {}
        self.offers: dict[Workspace, Copy] = {}
        self.copied: dict[Workspace, date] = {}
        self.watches: dict[Path, asyncio.Task[None]] = {}
        self.watch_stands: dict[Path, asyncio.Event] = {}
        self.file_events: FileEvents
        self.diagnostics: Diagnostics
        self.parent = ParentWatch(None)
        self.started = False
        self.closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._noticed: set[str] = set()
        self._lens_generation = 0
        self._lens_timer: asyncio.TimerHandle | None = None

    def now(self) -> datetime:
        """The time, aware and UTC."""
        return self.clock.now()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` beside the requests; its failure is logged under `name`, never raised."""

        async def guarded() -> None:
            try:
                await work
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("%s failed", name)

        task = asyncio.get_running_loop().create_task(guarded(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def notice(self, text: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Tell the user something about their set-up, once for the same text."""
        if text not in self._noticed:
            self._noticed.add(text)
            self.show(kind, text)

    def show(self, kind: types.MessageType, text: str) -> None:
        """One message to the user."""
        self.window_show_message(types.ShowMessageParams(kind, text))

    async def count_accesses(
        self, workspace: Workspace, memory_ids: tuple[str, ...], together: Collection[str] | None = None
    ) -> tuple[MemoryView, ...]:
        """Count these memories as accessed; see `Journaling.access`.

        Raises:
            NotFound: one of them is not stored; none is counted then.
        """
        if not memory_ids:
            return ()
        now = self.now()
        counted = await workspace.journaling.access(memory_ids, now, together)
        self.accesses.count(str(workspace.layout.opened), memory_ids, now)
        return counted

    def finish_parses(self, params: object) -> None:
        """Before a request is answered: read what was typed, if only in the document that it is about."""
        if getattr(params, "command", None) in self.patient:
            return
        document = getattr(params, "text_document", None)
        place = None if document is None else self.folders.locate(document.uri)
        try:
            if place is not None:
                place.workspace.sources.finish_parses(place.file)
            elif document is None:
                for folder in self.folders:
                    folder.workspace.sources.finish_parses()
        except Exception:
            logger.exception("Reading what was typed failed")  # the request is to be answered all the same

    def lenses_may_have_changed(self) -> None:
        """Ask the client to fetch its lenses again, if they did, after a short quiet."""
        generation = sum(folder.workspace.refreshing.generation for folder in self.folders)
        if generation == self._lens_generation:
            return
        self._lens_generation = generation
        if not self.caps.lens_refresh or self.closing:
            return
        if self._lens_timer is not None:
            self._lens_timer.cancel()
        loop = asyncio.get_running_loop()
        self._lens_timer = loop.call_later(LENS_QUIET_SECONDS, self._refresh_lenses)

    def _refresh_lenses(self) -> None:
        self._lens_timer = None
        if not self.closing:
            self.spawn(self._ask_for_refresh(), "lens refresh")

    async def _ask_for_refresh(self) -> None:
        await self.workspace_code_lens_refresh_async(None)

    @property
    def exit_code(self) -> int:
        """0 after `shutdown`, and where the client just went away; 1 for `exit` without `shutdown`."""
        return 1 if self.protocol.exited and not self.protocol.was_shut_down else 0

    def stop_on_signals(self) -> None:
        """End in good order when asked to by a signal."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, AttributeError):  # Windows has no such signals
            for name in ("SIGTERM", "SIGINT", "SIGHUP"):
                loop.add_signal_handler(getattr(signal, name), self.leave, 0)

    def leave(self, code: int) -> NoReturn:
        """Flush and end the process, though a thread still waits for stdin."""
        self.close()
        os._exit(code)

    def close(self) -> None:
        """Flush and close every workspace; safe to call twice, and with or without a running loop."""
        if self.closing and not len(self.folders):
            return
        self.closing = True
        with contextlib.suppress(RuntimeError):  # the loop may be gone already, and its tasks with it
            for task in self._tasks:
                task.cancel()
        self.folders.close()

    def report_server_error(
        self, error: Exception, source: type[PyglsError] | type[JsonRpcException]
    ) -> None:
        """Log; pygls would pop a message up to the user."""
        if isinstance(error, JsonRpcException) and error.code != types.ErrorCodes.InternalError:
            logger.info("Answered with an error: %s", error)
            return
        data = getattr(error, "data", None)
        trace = "".join(data.get("traceback", ())) if isinstance(data, dict) else ""
        logger.error("%s: %s\n%s", source.__name__, error, trace)

"""Runs a folder's index, and linking by changed rules, with progress that the client can see and cancel.

The work itself is the engine's; here are only the protocol's progress messages.
"""

import asyncio
import concurrent.futures
import logging
import uuid
from typing import Any

from lsprotocol import types

from mnemolens.core.views import IndexReport
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer

logger = logging.getLogger(__name__)

REBUILD = "mnemolens.index.rebuild"
RESUME = "mnemolens.linking.resume"

SHOW_AFTER_SECONDS = 0.5
"""A run shorter than this shows no progress of its own: a flash of a bar tells nothing."""


async def index_folder(
    ls: MnemolensServer,
    workspace: Workspace,
    *,
    rebuild: bool = False,
    token: types.ProgressToken | None = None,
) -> IndexReport | None:
    """Index a folder.

    Args:
        ls: the server's state.
        workspace: the folder.
        rebuild: read every file anew, whatever the cache says.
        token: the client's own progress token; without one the server asks for one where the client can.

    Returns:
        What was found; None when the client cancelled.
    """
    progress = _Progress(ls, f"Mnemolens: {workspace.layout.opened.name}", token)
    if token is not None:
        await progress.open()
    run = asyncio.ensure_future(workspace.build_index(progress.report, rebuild=rebuild))
    progress.cancels(run)
    opening = None if token is not None else ls.spawn(progress.open(), "showing progress")
    outcome = "failed"
    begins_anew = False
    try:
        report = await run
        outcome = f"{report.files} files, {report.symbols} symbols"
    except asyncio.CancelledError:
        current = asyncio.current_task()
        begins_anew = current is not None and bool(current.cancelling())
        if begins_anew:
            run.cancel()
            raise
        outcome = f"stopped; {REBUILD} goes on"
        _tell_stopped(ls, workspace)
        return None
    finally:
        if opening is not None:
            opening.cancel()
        progress.end(outcome)
        if not begins_anew:
            waits_no_longer(ls, workspace)
        ls.lenses_may_have_changed()
    ls.whole[workspace] = True
    logger.info(
        "Indexed %s: %d files, %d symbols in %.2f s",
        workspace.layout.opened,
        report.files,
        report.symbols,
        report.seconds,
    )
    return report


async def code_read(ls: MnemolensServer, workspace: Workspace) -> None:
    """Return once the folder's code was read: at once but for the first time.

    Where that failed or was stopped, or the folder is closed, no more is known by waiting: it returns, too.
    """
    await ls.attempted.setdefault(workspace, asyncio.Event()).wait()


def unread(workspace: Workspace) -> bool:
    """Whether the folder's code was never read as a whole, and nobody is at it."""
    return not workspace.code.complete and workspace.sources.progress is None


def waits_no_longer(ls: MnemolensServer, workspace: Workspace) -> None:
    """Let those go on who wait in `code_read`."""
    ls.attempted.setdefault(workspace, asyncio.Event()).set()


def _tell_stopped(ls: MnemolensServer, workspace: Workspace) -> None:
    """Say what it means that the first run was cancelled, once: memories on unread code are shown nowhere.

    Of a folder that was read once all is known, whatever becomes of a later run.
    """
    if workspace in ls.whole:
        return
    ls.whole[workspace] = False
    ls.show(
        types.MessageType.Info,
        f"Mnemolens stopped reading the code of {workspace.layout.opened.name}: memories on code that was "
        f"not read are not shown there. Rebuild the index (command {REBUILD}) or restart the server.",
    )


async def show_relinking(
    ls: MnemolensServer, workspace: Workspace, token: types.ProgressToken | None = None
) -> None:
    """Show the folder's relinking until it ends; cancelled, it can go on later."""
    relinking, task = workspace.relinking, workspace.relinking.task
    if task is None:
        return
    if relinking.on_progress is not None:  # it has its bar
        await asyncio.wait({task})
        return
    progress = _Progress(ls, f"Mnemolens: {workspace.layout.opened.name}", token, "linking", "memories")
    if token is not None:
        await progress.open()
    progress.cancels(task)
    opening = None if token is not None else ls.spawn(progress.open(), "showing progress")
    relinking.on_progress = progress.report
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        relinking.on_progress = None
        if opening is not None:
            opening.cancel()
        progress.end(f"stopped; {RESUME} goes on" if relinking.left else "all memories are linked")
        ls.lenses_may_have_changed()
    if task.cancelled() and relinking.left and not ls.closing:
        ls.show(
            types.MessageType.Info,
            f"Mnemolens stopped linking: {relinking.left} memories of {workspace.layout.opened.name} keep "
            f"the links of earlier rules. Command {RESUME}, or a restart of the server, links them.",
        )


class _Progress:
    """One progress bar; everything after its end is ignored."""

    def __init__(
        self,
        ls: MnemolensServer,
        title: str,
        token: types.ProgressToken | None,
        work: str = "indexing",
        things: str = "files",
    ) -> None:
        self._ls = ls
        self._title = title
        self._token = token
        self._work = work
        self._things = things
        self._run: asyncio.Future[Any] | None = None
        self._began = False
        self._ended = False
        self._percentage = -1

    def cancels(self, run: "asyncio.Future[Any]") -> None:
        self._run = run

    async def open(self) -> None:
        """Show the bar: at once under the client's token, else after a while under one of ours."""
        token = self._token
        if token is None:
            if not self._ls.caps.work_done_progress:
                return
            await asyncio.sleep(SHOW_AFTER_SECONDS)
            token = f"mnemolens-index-{uuid.uuid4()}"
            # When the work ends meanwhile, the request goes on: a cancelled one pygls reports as an error.
            asked = asyncio.ensure_future(self._ls.work_done_progress.create_async(token))
            asked.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.shield(asked)
        if self._ended or self._ls.closing:
            return
        self._token = token
        self._began = True
        begin = types.WorkDoneProgressBegin(self._title, cancellable=True, message=self._work, percentage=0)
        self._ls.work_done_progress.begin(token, begin)
        self._ls.work_done_progress.tokens[token].add_done_callback(self._on_done)

    def _on_done(self, token: "concurrent.futures.Future[Any]") -> None:
        if token.cancelled() and self._run is not None:
            self._run.cancel()

    def report(self, done: int, total: int) -> None:
        percentage = 100 * done // total if total else 100
        if not self._began or self._ended or percentage == self._percentage or self._token is None:
            return
        self._percentage = percentage
        value = types.WorkDoneProgressReport(
            message=f"{done} of {total} {self._things}", percentage=percentage
        )
        self._ls.work_done_progress.report(self._token, value)

    def end(self, message: str) -> None:
        if self._ended:
            return
        self._ended = True
        if self._began and self._token is not None and not self._ls.closing:
            self._ls.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._ls.work_done_progress.tokens.pop(self._token, None)

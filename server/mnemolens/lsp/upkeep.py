"""What is done for a folder beside the requests, once its code is read: the graph, the daily copy, offers.

A clone that has no memories is offered the last daily copy of its repository: the status says so, and
`mnemolens.store.restore` takes it in. It is never taken in by itself.
"""

import asyncio
import logging
from datetime import UTC

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mnemolens.core.errors import StoreError
from mnemolens.core.views import Json
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer

logger = logging.getLogger(__name__)

FORGET = "Forget"
GRAPH_AFTER_SECONDS = 5.0
"""For django the graph's process takes 172 MB beside the server's 128, and a core for 2 s to be built."""


async def after_index(ls: MnemolensServer, folder: Folder) -> None:
    """Look for a copy to offer; start the graph when the first requests are answered."""
    workspace = folder.workspace
    workspace.embedding.start()
    if not workspace.state.holds_memories:
        copy = await workspace.exchange.offer()
        if copy is not None:
            ls.offers[workspace] = copy
            logger.info("%s has no memories; the daily copy of %s can be restored", folder.given, copy.day)
    await asyncio.sleep(GRAPH_AFTER_SECONDS)
    if not ls.closing and ls.folders.at(folder.given) is folder:
        workspace.graph.keep()


def copy_if_due(ls: MnemolensServer, workspace: Workspace) -> None:
    """Begin the daily copy, at the first sight of a memory on that day, once the code was read."""
    attempted = ls.attempted.get(workspace)
    if attempted is None or not attempted.is_set():
        return
    today = ls.now().astimezone(UTC).date()
    if ls.copied.get(workspace) != today and workspace.state.holds_memories:
        ls.copied[workspace] = today
        ls.spawn(_copy(ls, workspace), "the daily copy")


def offer_what_faded(ls: MnemolensServer, folder: Folder) -> None:
    """Ask whether memories that have faded shall be forgotten; each is asked about once."""
    faded = folder.workspace.background.take_offer()
    if faded:
        ls.spawn(_offer(ls, folder.workspace, faded), "offering to forget what has faded")


def forget(ls: MnemolensServer, workspace: Workspace) -> None:
    """The folder is closed."""
    ls.offers.pop(workspace, None)
    ls.copied.pop(workspace, None)


def offered(ls: MnemolensServer, workspace: Workspace) -> Json | None:
    """The copy that could be restored, for the status; None where memories are, or no copy is."""
    copy = ls.offers.get(workspace)
    if copy is None or workspace.state.holds_memories:
        return None
    return {"day": copy.day.isoformat(), "path": str(copy.path)}


async def _offer(ls: MnemolensServer, workspace: Workspace, faded: tuple[str, ...]) -> None:
    """Memory text is no part of the question: an editor may take it for more than words."""
    some = "1 memory has" if len(faded) == 1 else f"{len(faded)} memories have"
    least = workspace.settings.background_tasks.cleanup_threshold
    question = types.ShowMessageRequestParams(
        types.MessageType.Info,
        f"{some} faded: unused for long, below a weight of {least:g}. Forget what is no longer needed? "
        "What is forgotten can be restored.",
        [types.MessageActionItem(FORGET), types.MessageActionItem("Keep")],
    )
    try:
        answer = await ls.window_show_message_request_async(question)
    except JsonRpcException as error:
        logger.info("The client can't ask whether to forget what has faded: %s", error)
        return
    if answer is not None and answer.title == FORGET:
        for memory_id in workspace.background.faded(ls.now(), faded):  # used meanwhile: not faded any more
            await workspace.journaling.commit(workspace.writing.forget(memory_id, ls.now()))


async def _copy(ls: MnemolensServer, workspace: Workspace) -> None:
    try:
        copy = await workspace.exchange.daily_copy(ls.now())
    except StoreError as error:
        logger.warning("%s", error)
        return
    if copy is not None:
        logger.info("Copied the memories of %s to %s", workspace.layout.opened, copy.path)

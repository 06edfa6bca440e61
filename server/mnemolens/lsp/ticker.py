"""The one-second tick: other processes' events, settled documents, HEAD, settings file, the client's life."""

import asyncio
import logging

from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.starting import apply_settings
from mnemolens.lsp.store_notices import tell_what_is_unreadable
from mnemolens.lsp.upkeep import copy_if_due, offer_what_faded

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0


async def tick_forever(ls: MnemolensServer) -> None:
    """Tick until the server ends; a failure is logged once for the same words."""
    told: set[str] = set()
    while not ls.closing:
        await asyncio.sleep(TICK_SECONDS)
        if ls.parent.is_gone():
            logger.warning("The client's process is gone")
            ls.leave(0)
        ls.diagnostics.clear(ls)
        for folder in ls.folders:
            try:
                await _tick(ls, folder)
            except Exception as error:  # one folder's trouble must not stop the clock
                if str(error) not in told:
                    told.add(str(error))
                    logger.exception("Looking after %s failed", folder.given)
        ls.lenses_may_have_changed()


async def _tick(ls: MnemolensServer, folder: Folder) -> None:
    await folder.workspace.tick(ls.now())
    tell_what_is_unreadable(ls, folder)
    ls.diagnostics.publish(ls, folder)
    copy_if_due(ls, folder.workspace)
    offer_what_faded(ls, folder)
    settings = ls.folder_settings.get(folder.real)
    if settings is not None and settings.file_changed():
        apply_settings(ls, folder)

"""Opens and closes folders: workspace, settings, open documents, index, file watching, in that order.

The journal is read in a thread, and what the client says meanwhile waits (`holding.py`); the index runs
beside the requests.
"""

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from mnemolens.core.errors import MnemolensError
from mnemolens.engine.offload import in_thread
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.folder_settings import FolderSettings, resolved
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.indexing import index_folder, show_relinking, waits_no_longer
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.slices import parse_in_slices
from mnemolens.lsp.store_notices import tell_what_is_unreadable
from mnemolens.lsp.upkeep import after_index, forget
from mnemolens.lsp.uris import path_of_uri
from mnemolens.lsp.watching import unwatch_folder, watch_folder, watch_stands

logger = logging.getLogger(__name__)


def open_folders(ls: MnemolensServer, uris: Sequence[str], *, lazy: bool = False) -> asyncio.Task[None]:
    """Open the folders that are not open, beside the requests; a message tells of one that can't be opened.

    What the client says from now on is handled when they are open.
    """
    ls.protocol.hold()
    opening = ls.spawn(_open_folders(ls, uris, lazy=lazy), "opening folders")
    opening.add_done_callback(lambda _: ls.protocol.let_go())
    return opening


async def _open_folders(ls: MnemolensServer, uris: Sequence[str], *, lazy: bool) -> None:
    async with ls.opening:
        for uri in uris:
            try:
                await _open_folder(ls, uri, lazy=lazy)
            except Exception as error:
                logger.exception("Opening %s failed", uri)
                ls.notice(f"{uri} can't be opened: {error}")


async def _open_folder(ls: MnemolensServer, uri: str, *, lazy: bool) -> None:
    path = path_of_uri(uri)
    if path is None:
        logger.info("%s is no folder on this machine's disk: left alone", uri)
        return
    if ls.folders.at(path) is not None:
        return
    if not path.is_dir():
        ls.notice(f"The folder {path} does not exist.")
        return
    wanted = resolved(ls, uri)
    try:
        # Nobody knows of the workspace yet: until it is handed over it is that thread's.
        workspace = await in_thread(lambda _, __: Workspace.open(path, wanted, ls.clock), "mnemolens-open")
    except (MnemolensError, OSError) as error:
        logger.exception("Opening %s failed", path)
        ls.notice(f"The memories of {path} can't be read: {error}")
        return
    if resolved(ls, uri).store != wanted.store:  # the settings came to name another store meanwhile
        workspace.close()
        await _open_folder(ls, uri, lazy=lazy)
        return
    folder = Folder(uri, path, _real(path), workspace, lazy)
    ls.folders.add(folder)
    settings = FolderSettings(ls, folder)
    settings.apply()
    ls.folder_settings[folder.real] = settings
    _hand_over_documents(ls)
    parse_in_slices(ls, workspace)
    ls.lenses_may_have_changed()
    tell_what_is_unreadable(ls, folder)
    if ls.started:
        start_folder(ls, folder)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def start_folder(ls: MnemolensServer, folder: Folder) -> None:
    """Index a folder and watch its files; needs a client that is initialized."""
    watch_folder(ls, folder)
    index(ls, folder)


def index(ls: MnemolensServer, folder: Folder) -> None:
    """Index a folder beside the requests; a run under way starts over."""
    running = ls.indexing.get(folder.real)
    if running is not None:
        running.cancel()
    ls.indexing[folder.real] = ls.spawn(_index(ls, folder), f"indexing {folder.given}")


def close_folder(ls: MnemolensServer, uri: str) -> None:
    """Close the folder `uri`, if it is open."""
    path = path_of_uri(uri)
    folder = None if path is None else ls.folders.at(path)
    if folder is None:
        return
    running = ls.indexing.pop(folder.real, None)
    if running is not None:
        running.cancel()
    unwatch_folder(ls, folder)
    ls.folder_settings.pop(folder.real, None)
    ls.whole.pop(folder.workspace, None)
    waits_no_longer(ls, folder.workspace)
    ls.attempted.pop(folder.workspace, None)
    forget(ls, folder.workspace)
    ls.folders.remove(folder)
    _hand_over_documents(ls)
    ls.lenses_may_have_changed()


def apply_settings(ls: MnemolensServer, folder: Folder) -> None:
    """Use a folder's settings as they are now: reopen it where its store moved, index what they let in."""
    settings = ls.folder_settings.get(folder.real)
    if settings is None:
        return
    before = folder.workspace.settings.store
    needs_index = settings.apply()
    if folder.workspace.settings.store != before:
        close_folder(ls, folder.uri)
        open_folders(ls, [folder.uri], lazy=folder.lazy)
    elif needs_index and ls.started:
        index(ls, folder)
    elif folder.workspace.relinking.task is not None and ls.started:
        ls.spawn(show_relinking(ls, folder.workspace), "showing how linking goes")


def _hand_over_documents(ls: MnemolensServer) -> None:
    for place in ls.texts.hand_over(ls.folders):
        ls.spawn(place.workspace.sources.close_document(place.file), "closing a document")


async def _index(ls: MnemolensServer, folder: Folder) -> None:
    await watch_stands(ls, folder)
    try:
        report = await index_folder(ls, folder.workspace)
    except MnemolensError as error:
        ls.show(types.MessageType.Error, f"{folder.given} could not be indexed: {error}")
        return
    if report is not None:
        await after_index(ls, folder)

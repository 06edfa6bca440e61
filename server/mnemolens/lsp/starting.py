"""Opens and closes folders: workspace, settings, open documents, index, file watching, in that order.

Opening is quick (the journal is read); the index runs beside the requests.
"""

import logging
import os
from pathlib import Path

from lsprotocol import types

from mnemolens.core.errors import MnemolensError
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.folder_settings import FolderSettings, resolved
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.indexing import index_folder, show_relinking, waits_no_longer
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.store_notices import tell_what_is_unreadable
from mnemolens.lsp.upkeep import after_index, forget
from mnemolens.lsp.uris import path_of_uri
from mnemolens.lsp.watching import unwatch_folder, watch_folder

logger = logging.getLogger(__name__)


def open_folder(ls: MnemolensServer, uri: str, *, lazy: bool = False) -> Folder | None:
    """Open the folder `uri`, unless it is open; None (and one message) where it can't be opened."""
    path = path_of_uri(uri)
    if path is None:
        logger.info("%s is no folder on this machine's disk: left alone", uri)
        return None
    known = ls.folders.at(path)
    if known is not None:
        return known
    if not path.is_dir():
        ls.notice(f"The folder {path} does not exist.")
        return None
    real = Path(os.path.realpath(path))
    try:
        workspace = Workspace.open(path, resolved(ls, uri), ls.clock)
    except (MnemolensError, OSError) as error:
        logger.exception("Opening %s failed", path)
        ls.notice(f"The memories of {path} can't be read: {error}")
        return None
    folder = Folder(uri, path, real, workspace, lazy)
    ls.folders.add(folder)
    settings = FolderSettings(ls, folder)
    settings.apply()
    ls.folder_settings[real] = settings
    _hand_over_documents(ls)
    tell_what_is_unreadable(ls, folder)
    if ls.started:
        start_folder(ls, folder)
    return folder


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
        open_folder(ls, folder.uri, lazy=folder.lazy)
    elif needs_index and ls.started:
        index(ls, folder)
    elif folder.workspace.relinking.task is not None and ls.started:
        ls.spawn(show_relinking(ls, folder.workspace), "showing how linking goes")


def _hand_over_documents(ls: MnemolensServer) -> None:
    for place in ls.texts.hand_over(ls.folders):
        ls.spawn(place.workspace.sources.close_document(place.file), "closing a document")


async def _index(ls: MnemolensServer, folder: Folder) -> None:
    try:
        report = await index_folder(ls, folder.workspace)
    except MnemolensError as error:
        ls.show(types.MessageType.Error, f"{folder.given} could not be indexed: {error}")
        return
    if report is not None:
        await after_index(ls, folder)

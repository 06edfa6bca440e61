"""The text of open documents, code and memories alike: opened, changed, saved, closed.

Plain functions, because pygls runs them to their end before it reads the next message: no request sees half
an edit.
"""

from pathlib import Path

from lsprotocol import types

from mnemolens.core.errors import MnemolensError
from mnemolens.engine.opened_memories import reason
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.folders import Place
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.positions import whole_text
from mnemolens.lsp.single_files import open_lone_file
from mnemolens.lsp.slices import parse_in_slices
from mnemolens.lsp.uris import path_of_uri


def register(server: MnemolensServer) -> None:
    """Follow the client's documents."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))(did_save)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)


def did_open(ls: MnemolensServer, params: types.DidOpenTextDocumentParams) -> None:
    """A document was opened; the editor's text counts from now on."""
    document = params.text_document
    if path_of_uri(document.uri) is None:
        return
    memory = _memory(ls, document.uri)
    if memory is not None:
        workspace, path = memory
        workspace.opened.editor_opened(path, whole_text(document.text))
        ls.spawn(_read_back(ls, workspace, path), "reading a memory's document")
        return
    open_lone_file(ls, document.uri)
    place = ls.folders.locate(document.uri)
    ls.texts.open(document.uri, document.language_id, document.text, place)
    if place is not None:
        parse_in_slices(ls, place.workspace)
        ls.lenses_may_have_changed()


def did_change(ls: MnemolensServer, params: types.DidChangeTextDocumentParams) -> None:
    """A document's text changed."""
    changes = [ls.positions.change_from_client(change) for change in params.content_changes]
    memory = _memory(ls, params.text_document.uri)
    if memory is not None:
        workspace, path = memory
        workspace.opened.editor_changed(path, changes)
        return
    place = ls.texts.change(params.text_document.uri, changes, ls.now())
    if place is not None:
        parse_in_slices(ls, place.workspace)
        ls.lenses_may_have_changed()


def did_save(ls: MnemolensServer, params: types.DidSaveTextDocumentParams) -> None:
    """A document was saved: code is settled, a memory is stored."""
    memory = _memory(ls, params.text_document.uri)
    if memory is not None:
        workspace, path = memory
        text = workspace.opened.editor_saved(path)
        if params.text is not None:
            text = whole_text(params.text)
        ls.spawn(_save_memory(ls, workspace, path, text), "saving a memory")
        return
    ls.texts.save(params.text_document.uri)
    place = ls.folders.locate(params.text_document.uri)
    if place is not None:
        place.workspace.sources.save_document(place.file)
        ls.lenses_may_have_changed()


def did_close(ls: MnemolensServer, params: types.DidCloseTextDocumentParams) -> None:
    """A document was closed; the disk counts again."""
    memory = _memory(ls, params.text_document.uri)
    if memory is not None:
        workspace, path = memory
        ls.spawn(_close_memory(ls, workspace, path), "closing a memory")
        return
    closed = ls.texts.close(params.text_document.uri)
    if closed is not None:
        ls.spawn(_close(ls, closed), "closing a document")
        return
    place = ls.folders.locate(params.text_document.uri)
    if place is not None:  # the file may be open under another URI, whose text is shown from now on
        parse_in_slices(ls, place.workspace)
        ls.lenses_may_have_changed()


async def _close(ls: MnemolensServer, place: Place) -> None:
    await place.workspace.sources.close_document(place.file)
    ls.lenses_may_have_changed()


def _memory(ls: MnemolensServer, uri: str) -> tuple[Workspace, Path] | None:
    """The workspace whose memory this document is, and its path; None for every other document.

    Linked worktrees share one store: the one that opened the document comes first.
    """
    path = path_of_uri(uri)
    if path is None or path.suffix != ".md":
        return None
    found = [folder.workspace for folder in ls.folders if folder.workspace.opened.is_document(path)]
    if not found:
        return None
    return next((workspace for workspace in found if workspace.opened.is_open(path)), found[0]), path


async def _read_back(ls: MnemolensServer, workspace: Workspace, path: Path) -> None:
    trouble = await workspace.opened.read_back(path, ls.now())
    if trouble:
        ls.show(types.MessageType.Warning, f"{path.name} holds text that is not stored: {trouble}")
    ls.lenses_may_have_changed()


async def _save_memory(ls: MnemolensServer, workspace: Workspace, path: Path, text: str | None) -> None:
    try:
        saved = await workspace.opened.save(path, text, ls.now())
    except MnemolensError as error:
        ls.show(types.MessageType.Error, f"The memory was not saved: {reason(error)}")
        return
    for warning in saved.warnings:
        ls.show(types.MessageType.Warning, f"{saved.view.memory.title}: {warning}")
    ls.lenses_may_have_changed()


async def _close_memory(ls: MnemolensServer, workspace: Workspace, path: Path) -> None:
    trouble = await workspace.opened.close(path, ls.now())
    if trouble:
        ls.show(types.MessageType.Warning, f"{path} is kept, since its text is not stored: {trouble}")
    ls.lenses_may_have_changed()

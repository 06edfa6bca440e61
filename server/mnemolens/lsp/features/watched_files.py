"""`workspace/didChangeWatchedFiles` and `workspace/didRenameFiles`."""

from pathlib import Path

from lsprotocol import types

from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.uris import path_of_uri


def register(server: MnemolensServer) -> None:
    """Follow files on disk as the client reports them."""
    everything = types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change(ls: MnemolensServer, params: types.DidChangeWatchedFilesParams) -> None:
        found = (path_of_uri(event.uri) for event in params.changes)
        ls.file_events.add(path for path in found if path is not None)

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, types.FileOperationRegistrationOptions([everything]))
    def did_rename(ls: MnemolensServer, params: types.RenameFilesParams) -> None:
        found = [(path_of_uri(pair.old_uri), path_of_uri(pair.new_uri)) for pair in params.files]
        pairs = [(old, new) for old, new in found if old is not None and new is not None]
        for folder in ls.folders:
            ls.spawn(_follow(ls, folder.workspace, pairs), "following renamed files")


async def _follow(ls: MnemolensServer, workspace: Workspace, pairs: list[tuple[Path, Path]]) -> None:
    await workspace.files_renamed(pairs)
    ls.lenses_may_have_changed()

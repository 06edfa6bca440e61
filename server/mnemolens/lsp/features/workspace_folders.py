"""`workspace/didChangeWorkspaceFolders`."""

import asyncio

from lsprotocol import types

from mnemolens.lsp.features.configuration import pull
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.starting import close_folder, open_folders


def register(server: MnemolensServer) -> None:
    """Open and close folders as the client does."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change(ls: MnemolensServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            close_folder(ls, folder.uri)
        opening = open_folders(ls, [folder.uri for folder in params.event.added])
        ls.spawn(_pull_after(ls, opening), "reading the client's settings")


async def _pull_after(ls: MnemolensServer, opening: asyncio.Task[None]) -> None:
    await opening
    await pull(ls)

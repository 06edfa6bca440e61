"""`initialize`, `initialized`, `shutdown`.

Folders begin to open with the first, and every request finds them; what takes longer begins after the second.
"""

from pathlib import Path

from lsprotocol import types

from mnemolens.lsp.caps import ClientCaps, ClientOptions
from mnemolens.lsp.features.configuration import pull, subscribe, take_options
from mnemolens.lsp.features.diagnostics import Diagnostics
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.logs import log_to_client
from mnemolens.lsp.parent import ParentWatch
from mnemolens.lsp.positions import Positions
from mnemolens.lsp.starting import open_folders, start_folder
from mnemolens.lsp.ticker import tick_forever
from mnemolens.lsp.uris import uri_of_path
from mnemolens.lsp.watching import FileEvents

FINISH_SECONDS = 1.0
"""How long `shutdown` waits for running requests: VS Code waits two seconds for its answer."""


def register(server: MnemolensServer) -> None:
    """Begin and end."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: MnemolensServer, params: types.InitializeParams) -> None:
        ls.caps = ClientCaps.of(params.capabilities)
        ls.options = ClientOptions.of(params.initialization_options)
        ls.positions = Positions.of(ls.workspace.position_encoding)
        ls.parent = ParentWatch(params.process_id)
        ls.file_events = FileEvents(ls)
        ls.diagnostics = Diagnostics()
        ls.stop_on_signals()
        take_options(ls, params.initialization_options)
        open_folders(ls, _roots(params))

    @server.feature(types.INITIALIZED)
    def initialized(ls: MnemolensServer, _params: types.InitializedParams) -> None:
        log_to_client(ls)
        ls.spawn(_start(ls), "starting")
        ls.spawn(tick_forever(ls), "the tick")

    @server.feature(types.SHUTDOWN)
    async def shutdown(ls: MnemolensServer, _params: None) -> None:
        await ls.protocol.finish_requests(FINISH_SECONDS)
        ls.close()


async def _start(ls: MnemolensServer) -> None:
    ls.spawn(subscribe(ls), "asking to be told of settings")
    await pull(ls)
    ls.started = True
    for folder in ls.folders:
        start_folder(ls, folder)


def _roots(params: types.InitializeParams) -> list[str]:
    if params.workspace_folders is not None:
        return [folder.uri for folder in params.workspace_folders]
    if params.root_uri is not None:
        return [params.root_uri]
    return [uri_of_path(Path(params.root_path))] if params.root_path else []

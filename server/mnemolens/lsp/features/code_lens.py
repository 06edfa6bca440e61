"""`textDocument/codeLens` and `codeLens/resolve`: the list is cheap, a title is made when it is seen."""

from typing import Any

from lsprotocol import types

from mnemolens.core.errors import MnemolensError
from mnemolens.core.symbols import SymbolKey
from mnemolens.lsp.language_server import MnemolensServer


def register(server: MnemolensServer) -> None:
    """Answer lens requests."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    def lenses(ls: MnemolensServer, params: types.CodeLensParams) -> list[types.CodeLens]:
        place = ls.folders.locate(params.text_document.uri)
        if place is None:
            return []
        return [
            types.CodeLens(
                ls.positions.range_to_client(lens.range, place.line_text),
                data={"root": place.root, "symbol": [*lens.key]},
            )
            for lens in place.workspace.lenses.of(place.file, ls.now())
        ]

    @server.feature(types.CODE_LENS_RESOLVE)
    def resolve(ls: MnemolensServer, lens: types.CodeLens) -> types.CodeLens:
        lens.command = _command(ls, lens.data)
        return lens


def _command(ls: MnemolensServer, data: Any) -> types.Command:
    try:
        root, key = str(data["root"]), SymbolKey(*data["symbol"])
        title = ls.folders.chosen(root).lenses.title(key, ls.now())
    except (KeyError, TypeError, MnemolensError):
        title = None  # not a lens of ours, or its folder was closed
    if title is None:
        return types.Command(title="no memories any more", command="")
    argument = {"ids": list(title.memory_ids), "root": root}
    return types.Command(title=title.title, command="mnemolens.memory.open", arguments=[argument])

"""A bare pygls server with a constant hover: what the protocol alone costs on this machine, in this run."""

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("floor", "0")


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(_params: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "**A constant note** · fresh\n" * 4))


if __name__ == "__main__":
    server.start_io()

"""`textDocument/hover`."""

from lsprotocol import types

from mnemolens.lsp.hover_text import markdown_hover, plain_hover
from mnemolens.lsp.language_server import MnemolensServer


def register(server: MnemolensServer) -> None:
    """Answer hovers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: MnemolensServer, params: types.HoverParams) -> types.Hover | None:
        place = ls.folders.locate(params.text_document.uri)
        if place is None:
            return None
        position = ls.positions.from_client(params.position, place.line_text)
        now = ls.now()
        view = place.workspace.hovers.at(place.file, position, now)
        if view is None or not view.items:
            return None
        if ls.caps.hover_markdown:
            root = place.root if ls.options.command_links else None
            contents = types.MarkupContent(types.MarkupKind.Markdown, markdown_hover(view, root, now))
        else:
            contents = types.MarkupContent(types.MarkupKind.PlainText, plain_hover(view, now))
        return types.Hover(contents, ls.positions.range_to_client(view.range, place.line_text))

"""`mnemolens.memory.open`: memories as documents, shown where the client can show one."""

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from mnemolens.core.errors import NotFound
from mnemolens.core.views import Json
from mnemolens.engine.requests import ListRequest
from mnemolens.lsp.commands.call import At, Call
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.params import OpenArguments
from mnemolens.lsp.uris import uri_of_path

MAX_OPENED = 20
"""How many memories of one place are opened at once."""


async def open_(call: Call, arguments: OpenArguments) -> Json:
    """Write the memories as documents and ask the client to show them."""
    at, now = call.at(arguments), call.ls.now()
    memory_ids = tuple(dict.fromkeys(arguments.memory_ids)) or _at_place(call, at)
    root = str(at.workspace.layout.opened)
    used = call.ls.accesses.due(root, memory_ids, now)
    opened = await at.workspace.opened.open(memory_ids, now, used)
    call.ls.accesses.count(root, used, now)
    uris = [uri_of_path(Path(memory.path)) for memory in opened]
    if call.ls.caps.show_document:
        # Beside the answer: a client may handle one message at a time.
        call.ls.spawn(_show(call.ls, uris), "showing a memory")
    return {"uris": uris}


def _at_place(call: Call, at: At) -> tuple[str, ...]:
    page = at.workspace.listing.page(
        ListRequest(file=at.file, position=at.position, limit=MAX_OPENED), call.ls.now()
    )
    if not page.memories:
        raise NotFound("position: no memory is here" if at.position else "uri: no memory is on this file")
    return tuple(view.memory.id for view in page.memories)


async def _show(ls: MnemolensServer, uris: Sequence[str]) -> None:
    for uri in uris:
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri, take_focus=True))

"""`mnemolens.memory.link` and `.unlink`: to code, or to another memory."""

from mnemolens.core.views import Json, LinkChange
from mnemolens.engine.json_form import edges
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.commands.call import Call, require_file
from mnemolens.lsp.params import LinkArguments
from mnemolens.lsp.search_params import RefuseArguments


async def link(call: Call, arguments: LinkArguments) -> Json:
    """Make a link."""
    at = call.at(arguments)
    write = at.workspace.attaching.link(
        arguments.id,
        file=at.file,
        position=at.position,
        target_id=arguments.target_id,
        edge_type=arguments.edge_type,
        weight=arguments.weight,
        relevance=arguments.relevance,
        now=call.ls.now(),
    )
    return _answer(call, at.workspace, await at.workspace.journaling.commit(write))


async def unlink(call: Call, arguments: LinkArguments) -> Json:
    """Take a link away; a derived one stays away."""
    at = call.at(arguments)
    write = at.workspace.attaching.unlink(
        arguments.id,
        file=at.file,
        position=at.position,
        target_id=arguments.target_id,
        edge_type=arguments.edge_type,
    )
    return _answer(call, at.workspace, await at.workspace.journaling.commit(write))


def _answer(call: Call, workspace: Workspace, change: LinkChange) -> Json:
    return {"links": call.wire(workspace).links(change.links), "edges": edges(change.edges)}


async def refuse(call: Call, arguments: RefuseArguments) -> Json:
    """Never suggest this code for this memory again."""
    at = call.at(arguments)
    workspace, now = at.workspace, call.ls.now()
    workspace.show.detail(arguments.id, now)
    key = workspace.show.target(require_file(at), at.position).key
    await workspace.journaling.commit(workspace.suggestions.refuse(arguments.id, key))
    return {"refused": key.id}

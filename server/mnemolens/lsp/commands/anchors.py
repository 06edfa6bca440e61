"""`mnemolens.memory.confirm`, `.undoMove`, `.reanchor`: a memory is still true, or belongs elsewhere."""

from mnemolens.core.views import Json
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.params import ConfirmArguments, ReanchorArguments


async def confirm(call: Call, arguments: ConfirmArguments) -> Json:
    """The memory is still true of the code as it is now."""
    workspace, wire = call.workspace(arguments), call.wire(call.workspace(arguments))
    now = call.ls.now()
    write = workspace.attaching.confirm(arguments.id, arguments.anchor_id, now)
    used = call.ls.accesses.due(str(workspace.layout.opened), [arguments.id], now)
    await call.ls.count_accesses(workspace, used)
    change = await workspace.journaling.commit(write)
    return {"memory": wire.memory(change.view), "anchors": wire.anchors(change.anchors)}


async def undo_move(call: Call, arguments: ConfirmArguments) -> Json:
    """The code that the memory followed is not its code."""
    workspace, wire = call.workspace(arguments), call.wire(call.workspace(arguments))
    write = workspace.attaching.undo_move(arguments.id, arguments.anchor_id, call.ls.now())
    change = await workspace.journaling.commit(write)
    return {"memory": wire.memory(change.view), "anchors": wire.anchors(change.anchors)}


async def reanchor(call: Call, arguments: ReanchorArguments) -> Json:
    """The memory belongs there."""
    at = call.at(arguments)
    write = at.workspace.attaching.reanchor(
        arguments.id,
        arguments.anchor_id,
        file=at.file,
        position=at.position,
        candidate=arguments.candidate_key,
        now=call.ls.now(),
    )
    change, wire = await at.workspace.journaling.commit(write), call.wire(at.workspace)
    return {"memory": wire.memory(change.view), "links": wire.links(change.links)}

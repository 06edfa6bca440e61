"""`mnemolens.import.preview`, `.run` and `.undo`: the folder's own comments and agent files as memories."""

from mnemolens.core.views import Json
from mnemolens.engine.importers.shown import preview_json, refused_json
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.indexing import code_read
from mnemolens.lsp.params import SessionArguments
from mnemolens.lsp.store_params import NotesArguments, NotesRunArguments


async def preview(call: Call, arguments: NotesArguments) -> Json:
    """Say what an import would store; stores nothing."""
    at = call.at(arguments)
    await code_read(call.ls, at.workspace)
    return preview_json(await at.workspace.importing.preview(arguments.sources, at.file))


async def run(call: Call, arguments: NotesRunArguments) -> Json:
    """Store what is new, and follow what was edited."""
    at = call.at(arguments)
    await code_read(call.ls, at.workspace)
    write = await at.workspace.importing.run(call.ls.now(), arguments.sources, at.file, arguments.ids)
    done = await at.workspace.journaling.commit_slowly(write)
    return {
        "sessionId": done.session_id,
        "stored": done.stored,
        "updated": done.updated,
        "refused": refused_json(done.refused),
    }


async def undo(call: Call, arguments: SessionArguments) -> Json:
    """Take one import back, as one."""
    workspace = call.workspace(arguments)
    done = await workspace.journaling.commit_slowly(
        workspace.importing.undo(arguments.session_id, call.ls.now())
    )
    return {"forgotten": done.forgotten, "reverted": done.reverted}

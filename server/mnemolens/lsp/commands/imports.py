"""`mnemolens.import.preview`, `.run` and `.undo`: the folder's own comments and agent files as memories."""

from mnemolens.core.views import Json
from mnemolens.engine.importers import Change, Found, Plan, Refused
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.params import SessionArguments
from mnemolens.lsp.store_params import NotesArguments, NotesRunArguments

MAX_SHOWN = 1000
"""A preview names this many one by one; `counts` counts all."""


async def preview(call: Call, arguments: NotesArguments) -> Json:
    """Say what an import would store; stores nothing."""
    at = call.at(arguments)
    plan = await at.workspace.importing.preview(arguments.sources, at.file)
    return {
        "items": [_item(*shown) for shown in _shown(plan)[:MAX_SHOWN]],
        "counts": {
            "new": len(plan.new),
            "edited": len(plan.changed),
            "known": len(plan.known),
            "forgotten": len(plan.forgotten),
            "gone": len(plan.gone),
            "refused": len(plan.refused),
        },
        "gone": list(plan.gone[:MAX_SHOWN]),
        "refused": [_refused(one) for one in plan.refused[:MAX_SHOWN]],
    }


async def run(call: Call, arguments: NotesRunArguments) -> Json:
    """Store what is new, and follow what was edited."""
    at = call.at(arguments)
    write = await at.workspace.importing.run(call.ls.now(), arguments.sources, at.file, arguments.ids)
    done = await at.workspace.commit_slowly(write)
    return {
        "sessionId": done.session_id,
        "stored": done.stored,
        "updated": done.updated,
        "refused": [_refused(one) for one in done.refused[:MAX_SHOWN]],
    }


async def undo(call: Call, arguments: SessionArguments) -> Json:
    """Take one import back, as one."""
    workspace = call.workspace(arguments)
    done = await workspace.commit_slowly(workspace.importing.undo(arguments.session_id, call.ls.now()))
    return {"forgotten": done.forgotten, "reverted": done.reverted}


def _shown(plan: Plan) -> list[tuple[str, str, Found]]:
    """(memory's id, what would be done, what was found), file by file in the order of the text."""
    shown = [(new.memory_id, "new", new.found) for new in plan.new]
    shown += [(_id_of(change), "edited", change.found) for change in plan.changed]
    return sorted(shown, key=lambda one: (one[2].file, one[2].line, one[0]))


def _id_of(change: Change) -> str:
    return change.memory.id


def _item(memory_id: str, action: str, found: Found) -> Json:
    return {
        "id": memory_id,
        "action": action,
        "source": found.importer,
        "label": found.label,
        "type": found.type,
        "title": found.title,
        "content": found.content,
        "author": found.author,
        "file": found.file,
        "line": found.line + 1,
        "symbol": found.symbol.id,
    }


def _refused(refused: Refused) -> Json:
    secrets = [
        {"field": secret.field, "kind": secret.kind, "start": secret.start, "end": secret.end}
        for secret in refused.secrets
    ]
    return {"source": refused.importer, "file": refused.file, "line": refused.line + 1, "secrets": secrets}

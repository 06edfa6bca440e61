"""`mnemolens.memory.due`, `.snooze` and `.notNow`: which memories ask for attention, and when they should."""

from datetime import timedelta

from mnemolens.core.views import Json
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.params import Arguments, IdArguments, SnoozeArguments

SNOOZE = timedelta(days=1)


def due(call: Call, arguments: Arguments) -> Json:
    """The memories that are due, and why."""
    workspace, now = call.workspace(arguments), call.ls.now()
    wire = call.wire(workspace)
    found = []
    for one in workspace.reminders.due(now):
        view = workspace.show.view(one.memory.id, now)
        if view is not None:
            links = wire.links(workspace.show.links_of(one.memory.id))
            found.append({"memory": wire.memory(view), "why": one.why, "links": links})
    return {"due": found}


async def snooze(call: Call, arguments: SnoozeArguments) -> Json:
    """Due at another time, tomorrow where none is named."""
    workspace, now = call.workspace(arguments), call.ls.now()
    write = workspace.reminders.snooze(arguments.id, arguments.due_at or now + SNOOZE, now)
    return {"memory": call.wire(workspace).memory(await workspace.journaling.commit(write))}


def not_now(call: Call, arguments: IdArguments) -> Json:
    """Nothing is said of it until the next start."""
    workspace = call.workspace(arguments)
    return {"memory": call.wire(workspace).memory(workspace.reminders.not_now(arguments.id, call.ls.now()))}

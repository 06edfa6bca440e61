"""`mnemolens.sessions`, `.agents`, `.session.forget` and `.restore`: who remembered what, and when."""

from mnemolens.core.views import Json
from mnemolens.engine.json_form import agent, session
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.params import Arguments, SessionArguments


def sessions(call: Call, arguments: Arguments) -> Json:
    """All sessions, the one that was used last first."""
    found = call.workspace(arguments).sessions.sessions(call.ls.now())
    return {"sessions": [session(view) for view in found]}


def agents(call: Call, arguments: Arguments) -> Json:
    """All agents, the one that was active last first."""
    found = call.workspace(arguments).sessions.agents(call.ls.now())
    return {"agents": [agent(view) for view in found]}


async def forget(call: Call, arguments: SessionArguments) -> Json:
    """Hide all memories of a session."""
    workspace = call.workspace(arguments)
    return {
        "forgotten": await workspace.journaling.commit_slowly(
            workspace.sessions.forget_session(arguments.session_id)
        )
    }


async def restore(call: Call, arguments: SessionArguments) -> Json:
    """Bring the forgotten memories of a session back."""
    workspace = call.workspace(arguments)
    write = workspace.sessions.restore_session(arguments.session_id, call.ls.now())
    return {"restored": await workspace.journaling.commit_slowly(write)}

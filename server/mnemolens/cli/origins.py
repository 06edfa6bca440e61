"""`mnemolens sessions`, `agents`, `forget --session`, `restore --session`: where memories came from."""

from pathlib import Path
from typing import Literal

from mnemolens.cli.session import now, opened
from mnemolens.cli.terminal import Column, Screen, Span, counted, note, one_line, put_json
from mnemolens.core.clock import age
from mnemolens.core.views import AgentView, SessionView
from mnemolens.engine.json_form import agent, session


def sessions(root: Path | None, *, as_json: bool) -> int:
    """List sessions; returns the exit code."""
    with opened(root) as workspace:
        found = workspace.sessions.sessions(now())
    if as_json:
        put_json({"sessions": [session(view) for view in found]})
    else:
        _table("session", "agents", [(view, view.agents) for view in found])
    return 0


def agents(root: Path | None, *, as_json: bool) -> int:
    """List agents; returns the exit code."""
    with opened(root) as workspace:
        found = workspace.sessions.agents(now())
    if as_json:
        put_json({"agents": [agent(view) for view in found]})
    else:
        _table("agent", "sessions", [(view, view.sessions) for view in found])
    return 0


def change_session(root: Path | None, act: Literal["forget", "restore"], given: str, *, as_json: bool) -> int:
    """Hide all memories of a session, or bring them back; returns the exit code: 1 where there are none."""
    with opened(root) as workspace:
        workspace.author.ask()
        workspace.glance.look()
        if act == "forget":
            changed = workspace.journaling.commit_sync(workspace.sessions.forget_session(given))
        else:
            changed = workspace.journaling.commit_sync(workspace.sessions.restore_session(given, now()))
    word, other = ("forgotten", "restore") if act == "forget" else ("restored", "forget")
    if as_json:
        put_json({word: changed})
    elif changed:
        memories = counted(changed, "memory", "memories")
        hint = f"; `mnemolens {other} --session {one_line(given)}` takes that back"
        Screen().line(Span(word.capitalize(), "bold"), f": {memories}", Span(hint, "dim"))
    else:
        note(f"nothing to {act} in a session {given!r}; `mnemolens sessions` shows which there are")
    return int(not changed)


def _table(kind: str, other: str, rows: list[tuple[SessionView | AgentView, tuple[str, ...]]]) -> None:
    if not rows:
        note(f"no {kind}s yet; `mnemolens remember --{kind} ID` names one")
        return
    columns = (
        Column(kind, "cyan", flexible=True),
        Column("memories"),
        Column(other, least=60, flexible=True),
        Column("last", "dim"),
    )
    cells = [
        (one_line(view.id), str(view.memories), one_line(", ".join(names)), age(view.last, now()))
        for view, names in rows
    ]
    Screen().table(columns, cells)

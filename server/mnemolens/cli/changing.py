"""`mnemolens forget`, `restore`, `done`, `confirm`, `link`, `unlink`: changes to memories that are there."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from mnemolens.cli.session import memory_id, now, opened, short_id
from mnemolens.cli.showing import title_of
from mnemolens.cli.terminal import VERDICT_STYLES, Screen, Span, one_line, put_json
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.views import LinkChange, MemoryView
from mnemolens.engine.json_form import JsonForm, edges
from mnemolens.engine.places import place_at
from mnemolens.engine.workspace import Workspace
from mnemolens.engine.write import Write

_DONE = {"forget": "Forgotten", "restore": "Restored", "done": "Done"}


def set_status(root: Path | None, act: str, given: Sequence[str], *, as_json: bool) -> int:
    """Forget, restore or tick off memories: all that are named, or, where one is unknown, none.

    Args:
        root: as for `session.opened`.
        act: "forget", "restore" or "done".
        given: ids, as the user wrote them.
        as_json: write one JSON value a memory.

    Returns:
        The exit code.
    """
    with opened(root) as workspace:
        ids = [memory_id(workspace, one) for one in given]
        workspace.author.ask()
        workspace.glance.look(ids)
        plans: dict[str, Callable[[str, datetime], Write[MemoryView]]] = {
            "forget": workspace.writing.forget,
            "restore": workspace.writing.restore,
            "done": workspace.writing.done,
        }
        screen = Screen()
        for one in dict.fromkeys(ids):
            view = workspace.journaling.commit_sync(plans[act](one, now()))
            if as_json:
                put_json({"memory": JsonForm(workspace).memory(view)})
            else:
                hint = f"; `mnemolens restore {short_id(one)}` brings it back" if act == "forget" else ""
                screen.line(Span(_DONE[act], "bold"), f": {one_line(view.memory.title)}", Span(hint, "dim"))
    return 0


def confirm(root: Path | None, given: str, anchor: str | None, *, as_json: bool) -> int:
    """Record that a memory is still true of the code as it is now; returns the exit code."""
    with opened(root) as workspace:
        one = memory_id(workspace, given)
        workspace.author.ask()
        workspace.glance.look([one])
        write = workspace.attaching.confirm(one, anchor, now())
        workspace.journaling.access_sync([one], now())
        view = workspace.journaling.commit_sync(write)
        if as_json:
            form = JsonForm(workspace)
            put_json({"memory": form.memory(view.view), "anchors": form.anchors(view.anchors)})
            return 0
        verdict = view.view.verdict
        title = one_line(view.view.memory.title)
        screen = Screen()
        screen.line(Span("Still true", "bold"), f": {title} · ", Span(verdict, VERDICT_STYLES[verdict]))
    return 0


def link(
    root: Path | None,
    given: str,
    *,
    at: str | None,
    to: str | None,
    kind: str | None,
    weight: float | None,
    relevance: float | None,
    as_json: bool,
) -> int:
    """Link a memory to code or to another memory; returns the exit code."""

    def plan(workspace: Workspace, one: str, file: str | None, other: str | None) -> Write[LinkChange]:
        position = None if at is None else place_at(workspace, at).position
        return workspace.attaching.link(
            one,
            file=file,
            position=position,
            target_id=other,
            edge_type=kind,
            weight=weight,
            relevance=relevance,
            now=now(),
        )

    return _links(root, given, at, to, plan, as_json=as_json)


def unlink(
    root: Path | None, given: str, *, at: str | None, to: str | None, kind: str | None, as_json: bool
) -> int:
    """Take a link to code or to another memory away; returns the exit code."""

    def plan(workspace: Workspace, one: str, file: str | None, other: str | None) -> Write[LinkChange]:
        position = None if at is None else place_at(workspace, at).position
        return workspace.attaching.unlink(one, file=file, position=position, target_id=other, edge_type=kind)

    return _links(root, given, at, to, plan, as_json=as_json)


def _links(
    root: Path | None,
    given: str,
    at: str | None,
    to: str | None,
    plan: Callable[[Workspace, str, str | None, str | None], Write[LinkChange]],
    *,
    as_json: bool,
) -> int:
    if (at is None) == (to is None):
        raise InvalidArgument("at", "say what to link with: either --at PLACE or --to ID")
    with opened(root) as workspace:
        one = memory_id(workspace, given)
        other = None if to is None else memory_id(workspace, to)
        file = None if at is None else place_at(workspace, at).file
        workspace.author.ask()
        workspace.glance.look([one], near=[] if file is None else [file])
        change = workspace.journaling.commit_sync(plan(workspace, one, file, other))
        if as_json:
            put_json({"links": JsonForm(workspace).links(change.links), "edges": edges(change.edges)})
        else:
            _print(one, change, workspace)
    return 0


def _print(one: str, change: LinkChange, workspace: Workspace) -> None:
    screen = Screen()
    links = [link for link in change.links if not link.candidate]
    if not links and not change.edges:
        screen.line(f"{short_id(one)} is linked to nothing now")
        return
    screen.line(f"{short_id(one)} is linked to")
    for link in links:
        where = f"{link.target.label} in {link.target.file}" if link.target.qualname else link.target.file
        screen.line(where, Span(f" ({link.relevance:g})", "dim"), indent=2)
    for edge in change.edges:
        other = edge.target_id if edge.source_id == one else edge.source_id
        arrow = "→" if edge.source_id == one else "←"
        screen.line(
            Span(f"{edge.type} {arrow} ", "dim"),
            title_of(workspace, other),
            Span(f"  {short_id(other)} ({edge.weight:g})", "dim"),
            indent=2,
        )

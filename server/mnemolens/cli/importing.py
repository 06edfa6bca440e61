"""`mnemolens import --comments`, `--agents`, `--undo`: what a project already says of its code."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import copy_memories, now, opened
from mnemolens.cli.terminal import Column, Screen, Span, note, one_line, put_json
from mnemolens.core.errors import InvalidArgument
from mnemolens.engine.importers import Importer, Plan, Refused
from mnemolens.engine.importers.shown import planned, preview_json, refused_json
from mnemolens.engine.importing import ImportRun
from mnemolens.engine.workspace import Workspace

MAX_TOLD = 20
"""What was left out is told one by one up to this many."""


def run(
    root: Path | None,
    paths: Sequence[Path],
    *,
    comments: bool,
    agent_files: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Import what is new and follow what was edited.

    Args:
        root: as for `session.opened`.
        paths: only what stands in these files and folders; none for all.
        comments: of the code.
        agent_files: their sections.
        dry_run: only say what would be done.
        as_json: write what the language server's commands answer.

    Returns:
        The exit code: 1 where something was left out because it holds a secret.
    """
    wanted = {"todo": comments, "agents": agent_files}
    sources: list[Importer] = [name for name in ("todo", "agents") if wanted[name]]
    progress = Progress()
    with opened(root) as workspace:
        places = [_place(workspace, path) for path in paths]
        workspace.survey(progress.show)
        progress.clear()
        plan = asyncio.run(_plan(workspace, sources, places))
        if dry_run:
            _preview(plan, as_json=as_json)
            return int(bool(plan.refused))
        done = asyncio.run(_import(workspace, sources, [shown[0] for shown in planned(plan)]))
        workspace.journaling.write_found_sync()
        copy_memories(workspace)
    refused = tuple(one for one in done.refused if _is_in(one.file, places))
    if as_json:
        put_json(
            {
                "sessionId": done.session_id,
                "stored": done.stored,
                "updated": done.updated,
                "refused": refused_json(refused),
            }
        )
    else:
        _print(done, refused, len(plan.forgotten))
    return int(bool(refused))


def undo(root: Path | None, *, dry_run: bool, as_json: bool) -> int:
    """Take the last import back, as one; returns the exit code: 1 where there is none."""
    with opened(root) as workspace:
        workspace.author.ask()
        workspace.glance.look()
        session = workspace.importing.last()
        if session is None:
            note("there is no import of comments or agent files to take back")
            return 1
        write = workspace.importing.undo(session, now())
        done = write.finish() if dry_run else workspace.journaling.commit_sync(write)
    if as_json:
        put_json({"sessionId": session, "forgotten": done.forgotten, "reverted": done.reverted})
        return 0
    word = "Would be taken back" if dry_run else "Taken back"
    counts = f": {done.forgotten} forgotten, {done.reverted} as they were before"
    Screen().line(Span(word, "bold"), counts)
    return 0


async def _plan(workspace: Workspace, sources: Sequence[Importer], places: Sequence[str]) -> Plan:
    """What an import of these files and folders would do."""
    plan = await workspace.importing.preview(sources)
    return Plan(
        new=tuple(new for new in plan.new if _is_in(new.found.file, places)),
        changed=tuple(change for change in plan.changed if _is_in(change.found.file, places)),
        known=plan.known,
        forgotten=plan.forgotten,
        gone=plan.gone,
        refused=tuple(one for one in plan.refused if _is_in(one.file, places)),
    )


async def _import(workspace: Workspace, sources: Sequence[Importer], ids: Sequence[str]) -> ImportRun:
    return await workspace.journaling.commit_slowly(await workspace.importing.run(now(), sources, ids=ids))


def _place(workspace: Workspace, given: Path) -> str:
    """A file's or folder's name in the workspace's terms; "" for the whole of it."""
    path = given.absolute()
    if not path.exists():
        raise InvalidArgument("FILE", f"there is no file or folder {given}")
    if path.resolve() == workspace.layout.top.resolve():
        return ""
    place = workspace.layout.file_of(path)
    if place is None:
        raise InvalidArgument("FILE", f"{given} lies outside of {workspace.layout.top}")
    return place


def _is_in(file: str, places: Sequence[str]) -> bool:
    return not places or any(not place or file == place or file.startswith(f"{place}/") for place in places)


def _preview(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        put_json(preview_json(plan))
        return
    rows = [
        (
            one_line(found.label) + ("" if action == "new" else " (edited)"),
            one_line(found.title),
            f"{one_line(found.file)}:{found.line + 1}",
        )
        for _, action, found in planned(plan)
    ]
    if rows:
        columns = (Column("what", flexible=True), Column("title", flexible=True), Column("where", "dim"))
        Screen().table(columns, rows)
    counts = f": {len(plan.new)} new, {len(plan.changed)} edited since, {len(plan.known)} known already"
    Screen().line(Span("Would be imported", "bold"), counts + _left_out(len(plan.forgotten)))
    _tell(plan.refused)


def _left_out(forgotten: int) -> str:
    return f", {forgotten} left out since you forgot them (`mnemolens restore`)" if forgotten else ""


def _print(done: ImportRun, refused: Sequence[Refused], forgotten: int) -> None:
    hint = "; `mnemolens import --undo` takes it back" if done.session_id is not None else ""
    counts = f": {done.stored} new, {done.updated} edited since{_left_out(forgotten)}"
    Screen().line(Span("Imported", "bold"), counts, Span(hint, "dim"))
    _tell(refused)


def _tell(refused: Sequence[Refused]) -> None:
    for one in refused[:MAX_TOLD]:
        kinds = " and ".join(dict.fromkeys(secret.kind for secret in one.secrets))
        note(f"left out: {one_line(one.file)}:{one.line + 1} seems to hold a secret ({kinds})")
    if len(refused) > MAX_TOLD:
        note(f"left out: {len(refused) - MAX_TOLD} more with secrets")

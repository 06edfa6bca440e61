"""`mnemolens status`, `stats` and `doctor`: the folder in numbers and words."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemolens import __version__
from mnemolens.cli.progress import Progress
from mnemolens.cli.session import how_to_restore, now, opened
from mnemolens.cli.terminal import Screen, Span, counted, one_line, put_json
from mnemolens.core.clock import SystemClock
from mnemolens.core.errors import GraphUnavailable, MnemolensError
from mnemolens.core.views import MemoryView
from mnemolens.engine.doctor import Finding, examine, read_in_part
from mnemolens.engine.json_form import folder_status, journal_status
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.status import journal_status_of, status_of
from mnemolens.engine.workspace import Workspace

_PAGE = 1_000
_TOP_TAGS = 10
_LEVEL_STYLES = {"fine": "green", "repaired": "yellow", "note": "", "trouble": "red"}


def status(root: Path | None, *, as_json: bool) -> int:
    """Index the folder and say what each part is at; returns the exit code."""
    progress = Progress()
    with opened(root) as workspace:
        workspace.survey(progress.show)
        progress.clear()
        folder, journal = status_of(workspace), journal_status_of(workspace)
        copy = asyncio.run(workspace.exchange.offer())
        if as_json:
            put_json(
                {
                    "version": __version__,
                    "folders": [
                        {
                            **folder_status(folder),
                            "restore": copy and {"day": copy.day.isoformat(), "path": str(copy.path)},
                        }
                    ],
                    "journal": journal_status(journal),
                }
            )
            return 0
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(folder.verdicts.items()))
        skipped = f", {folder.skipped_total} left out" if folder.skipped_total else ""
        partial = (
            f", {folder.partial_total} read only in part (see `mnemolens doctor`)"
            if folder.partial_total
            else ""
        )
        unread = f", {journal.skipped} lines skipped (see `mnemolens doctor`)" if journal.skipped else ""
        reason = f": {folder.graph.reason}" if folder.graph.reason else ""
        rows = [
            ("version", __version__),
            ("folder", folder.root),
            (
                "code",
                f"{counted(folder.files, 'file')}, {counted(folder.symbols, 'symbol')}{skipped}{partial}",
            ),
            ("memories", f"{folder.memories}" + (f" ({verdicts})" if verdicts else "")),
            (
                "journal",
                f"{counted(journal.segments, 'segment')}, {counted(journal.events, 'event')}{unread}",
            ),
            ("store", str(workspace.layout.store)),
            ("graph", f"{folder.graph.state}{reason}"),
        ]
        if copy is not None:
            rows.append(("restore", how_to_restore(copy)))
        _rows(rows)
    return 0


def stats(root: Path | None, *, as_json: bool) -> int:
    """Count the memories; returns the exit code."""
    progress = Progress()
    with opened(root) as workspace:
        workspace.glance.look(tuple(workspace.state.memories()), on_progress=progress.show)
        progress.clear()
        views = _all(workspace)
        journal = journal_status_of(workspace)
    kept = [view for view in views if view.memory.status != "forgotten"]
    moment = now()
    alive = [view for view in kept if not is_expired(view.memory, moment)]
    figures: dict[str, Any] = {
        "memories": len(alive),
        "forgotten": len(views) - len(kept),
        "expired": len(kept) - len(alive),
        "tokens": sum(view.memory.token_count for view in alive),
        "types": _counts(view.memory.type for view in alive),
        "verdicts": _counts(view.verdict for view in alive),
        "layers": _counts(view.layer for view in alive),
        "tags": _counts(tag for view in alive for tag in view.memory.tags),
        "authors": _counts(view.memory.author for view in alive),
        "sessions": _counts(view.memory.session_id for view in alive),
        "agents": _counts(view.memory.agent_id for view in alive),
        "journal": journal_status(journal),
    }
    if as_json:
        put_json(figures)
        return 0
    left_out = "".join(f", {figures[name]} {name}" for name in ("forgotten", "expired") if figures[name])
    rows = [("memories", f"{len(alive)}{left_out}"), ("tokens", f"{figures['tokens']:,}")]
    groups = ("types", "verdicts", "layers", "tags", "authors", "sessions", "agents")
    rows += [(name, _listed(figures[name])) for name in groups if figures[name]]
    rows += [("journal", f"{counted(journal.segments, 'segment')}, {counted(journal.events, 'event')}")]
    _rows(rows)
    return 0


def doctor(root: Path | None, *, as_json: bool) -> int:
    """Look at what is on disk; returns the exit code: 1 where something is left for the user to do."""
    with opened(root) as workspace:
        memories = {view.memory.id: view.memory for view in _all(workspace)}
        findings = list(examine(workspace.layout, memories, SystemClock()))
        findings.append(_graph(workspace))
        findings += read_in_part(status_of(workspace))  # after the graph, for which all code was read
    troubled = any(finding.level == "trouble" for finding in findings)
    if as_json:
        rows = [{"part": one.part, "level": one.level, "text": one.text} for one in findings]
        put_json({"ok": not troubled, "findings": rows})
        return int(troubled)
    screen = Screen()
    for finding in findings:
        screen.line(
            Span(f"{finding.part:<10}", "bold"),
            Span(f"{finding.level:<9}", _LEVEL_STYLES[finding.level]),
            one_line(finding.text),
            hang=19,
        )
    return int(troubled)


def _graph(workspace: Workspace) -> Finding:
    """Builds the graph, as every process does that needs it, and compares it with the code.

    A file that was damaged, or is of another version, is never opened: there is nothing to repair.
    """
    progress = Progress()
    files = workspace.survey(progress.show).files
    progress.clear()
    try:
        [[held]] = asyncio.run(workspace.graph.query("MATCH (f:CodeFile) RETURN count(*)")).rows
    except GraphUnavailable as error:
        return Finding("graph", "note", f"{error}; everything but Cypher works without")
    except MnemolensError as error:
        return Finding("graph", "trouble", str(error))
    graph = status_of(workspace).graph
    if held != files:
        where = workspace.layout.cache_dir / "graphs" / workspace.layout.worktree_id
        return Finding(
            "graph", "trouble", f"it holds {held} files of {files}; remove {where}, it is made anew"
        )
    place = "in a temporary folder" if graph.slot is None else f"in slot {graph.slot}"
    if graph.reason:
        return Finding("graph", "note", f"{counted(files, 'file')}, {place}: {graph.reason}")
    return Finding("graph", "fine", f"{counted(files, 'file')}, built anew {place}")


def _all(workspace: Workspace) -> list[MemoryView]:
    views: list[MemoryView] = []
    while True:
        request = ListRequest(include_forgotten=True, limit=_PAGE, offset=len(views))
        page = workspace.listing.page(request, now())
        views += page.memories
        if not page.memories or len(views) >= page.total:
            return views


def _counts(values: Any) -> dict[str, int]:
    """How often each value occurs, most often first; None is left out."""
    counter = Counter(value for value in values if value is not None)
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _listed(counts: dict[str, int]) -> str:
    shown = [f"{one_line(name)} {count}" for name, count in list(counts.items())[:_TOP_TAGS]]
    more = f" and {len(counts) - _TOP_TAGS} more" if len(counts) > _TOP_TAGS else ""
    return " · ".join(shown) + more


def _rows(rows: Sequence[tuple[str, str]]) -> None:
    screen = Screen()
    for name, value in rows:
        screen.line(Span(f"{name:<10}", "bold"), value, hang=10)

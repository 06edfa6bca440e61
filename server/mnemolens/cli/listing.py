"""`mnemolens list`: memories in a table."""

from dataclasses import replace
from pathlib import Path

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import near_in_meaning, nothing_yet, now, opened, short_id
from mnemolens.cli.terminal import (
    VERDICT_STYLES,
    Cell,
    Column,
    Screen,
    Span,
    marked,
    note,
    one_line,
    put_json,
)
from mnemolens.core.clock import age
from mnemolens.core.views import MatchView, MemoryPage, MemoryView
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.places import place_at
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.workspace import Workspace

_MARKS = {"superseded by": "superseded", "contradicts": "contradicted"}
_COLUMNS = (
    Column("id", "cyan"),
    Column("title", flexible=True),
    Column("on", least=60, flexible=True),
    Column("verdict"),
    Column("type", least=100),
    Column("tags", least=120, flexible=True),
    Column("when", "dim", least=80),
)
_FOUND = Column("found", least=100, flexible=True)
_FIELDS = {
    "tags": "tagged",
    "names": "on",
    "docs": "documented as",
    "meaning": "close in meaning",
}


def run(root: Path | None, request: ListRequest, at: str | None, *, as_json: bool) -> int:
    """List memories.

    Args:
        root: as for `session.opened`.
        request: which; the place is still missing.
        at: the place, as the user wrote it.
        as_json: write JSON.

    Returns:
        The exit code.
    """
    progress = Progress()
    with opened(root) as workspace:
        place = place_at(workspace, at) if at is not None else None
        if place is not None:
            request = replace(request, file=place.file, position=place.position)
            workspace.glance.look(near=[place.file], on_progress=progress.show)
        else:
            workspace.glance.look(tuple(workspace.state.memories()), on_progress=progress.show)
        progress.clear()
        page = workspace.listing.page(request, now(), near_in_meaning(workspace, request.query))
        if as_json:
            put_json(JsonForm(workspace).page(page))
            return 0
        if page.memories:
            _print(workspace, page)
        left = page.total - len(page.memories) - request.offset
        if not page.total:
            note("no memories match" if tuple(workspace.state.memories()) else nothing_yet(workspace))
        elif left > 0:
            note(f"{left} more; --limit and --offset show them")
    return 0


def _print(workspace: Workspace, page: MemoryPage) -> None:
    matches = page.matches or (None,) * len(page.memories)
    rows = [_row(workspace, view, match) for view, match in zip(page.memories, matches, strict=True)]
    found = [[] if match is None else _found(match) for match in matches]
    if any(found):
        Screen().table((*_COLUMNS, _FOUND), [(*row, one) for row, one in zip(rows, found, strict=True)])
    else:
        Screen().table(_COLUMNS, rows)


def _row(workspace: Workspace, view: MemoryView, match: MatchView | None) -> tuple[Cell, ...]:
    memory = view.memory
    marks: list[str] = [] if memory.status == "active" else [memory.status]
    marks += dict.fromkeys(_MARKS[relation.kind] for relation in view.relations)
    gone = f" ({', '.join(marks)})" if marks else ""
    spans = [] if match is None else [span for field in match.fields for span in field.spans]
    return (
        short_id(memory.id),
        [*marked(memory.title, spans), gone],
        _on(workspace, view),
        Span(view.verdict, VERDICT_STYLES[view.verdict]),
        memory.type,
        one_line(", ".join(memory.tags)),
        age(memory.created_at, now()),
    )


def _found(match: MatchView) -> list[Span | str]:
    """Where a search found it, besides its title."""
    fields = {field.field: field.words for field in match.fields}
    if "content" in fields and "title" not in fields:
        return marked(match.snippet, match.spans)
    others = [name for name in fields if name not in {"title", "content"}]
    said = (f"{_FIELDS[name]} {one_line(', '.join(fields[name]))}".strip() for name in others)
    return [" · ".join(said)] if others else []


def _on(workspace: Workspace, view: MemoryView) -> str:
    links = [link for link in workspace.show.links_of(view.memory.id) if not link.candidate]
    if not links:
        return ""
    more = f" +{len(links) - 1}" if len(links) > 1 else ""
    return links[0].target.label + more

"""`mnemolens recall`: what is known of a place in the code, or of some words."""

from dataclasses import replace
from pathlib import Path

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import near_in_meaning, nothing_yet, now, opened, short_id
from mnemolens.cli.terminal import VERDICT_STYLES, Screen, Span, note, one_line, put_json
from mnemolens.core.clock import age
from mnemolens.core.errors import StoreError
from mnemolens.core.views import RankedMemory, RecallView
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.places import place_at
from mnemolens.engine.requests import RecallRequest
from mnemolens.engine.show import excerpt
from mnemolens.engine.workspace import Workspace
from mnemolens.search.query import read_query

MAX_LINES = 6


def run(
    root: Path | None,
    request: RecallRequest,
    at: str | None,
    *,
    explain: bool,
    record: bool,
    as_json: bool,
) -> int:
    """Recall, and count it as an access.

    Args:
        root: as for `session.opened`.
        request: what to recall; the place is still missing.
        at: the place, as the user wrote it.
        explain: say how each rank came about.
        record: count what was recalled as used.
        as_json: write JSON.

    Returns:
        The exit code: 1 where nothing is known.
    """
    progress = Progress()
    with opened(root) as workspace:
        place = place_at(workspace, at) if at is not None else None
        if place is not None:
            request = replace(request, file=place.file, position=place.position)
        query = read_query(request.query or "")
        everything = tuple(workspace.state.memories())
        whole = (place is None and not query.text) or bool(query.filters)  # which ask for verdicts and files
        workspace.glance.look(
            everything if whole else (),
            near=[place.file] if place is not None else [],
            words=query.text,
            on_progress=progress.show,
        )
        meaning = near_in_meaning(workspace, request.query)
        view = workspace.recall.recall(request, now(), meaning)
        if not view.memories and query.text and not whole:
            # What the code says of itself is searched, too, once it is known which code that is.
            workspace.glance.look(everything, on_progress=progress.show)
            view = workspace.recall.recall(request, now(), meaning)
        progress.clear()
        if as_json:
            put_json(JsonForm(workspace).recall(view))
        else:
            _print(workspace, view, request.token_budget, explain=explain)
        if record and view.memories:
            try:
                workspace.journaling.access_sync(view.ids, now(), view.on_their_own)
            except StoreError as error:  # it is an answer all the same
                note(f"that these were recalled is not counted: {error}")
    return 0 if view.memories else 1


def _print(workspace: Workspace, view: RecallView, budget: int | None, *, explain: bool) -> None:
    if not view.memories:
        note(_nothing(workspace, view, budget))
        return
    screen = Screen()
    for number, found in enumerate(view.memories):
        if number:
            screen.gap()
        _print_memory(screen, found, explain=explain)


def _nothing(workspace: Workspace, view: RecallView, budget: int | None) -> str:
    if not view.stats.total_memories:
        return f"{nothing_yet(workspace)}; `mnemolens remember` makes one"
    within = "" if budget is None else f" within {budget:,} tokens"
    return f"nothing recalled{within}; `mnemolens list` shows all {view.stats.total_memories}"


def _print_memory(screen: Screen, found: RankedMemory, *, explain: bool) -> None:
    memory, verdict = found.view.memory, found.view.verdict
    screen.line(
        Span(one_line(memory.title), "bold"),
        " · ",
        Span(verdict, VERDICT_STYLES[verdict]),
        Span(f"  {short_id(memory.id)}", "dim"),
    )
    body = excerpt(memory)
    if body:
        screen.block(body, indent=2, most=MAX_LINES)
    about = [one_line(why) for why in found.why]
    when = age(memory.created_at, now())
    about.append(f"by {one_line(memory.author)}, {when}" if memory.author else when)
    screen.line(Span(" · ".join(about), "dim"), indent=2)
    if explain:
        screen.line(Span(_explained(found), "dim"), indent=2)


def _explained(found: RankedMemory) -> str:
    """The rank in one line."""
    weight, layer = found.view.weight, found.view.layer.replace("_", "-")
    return (
        f"rank {found.score:.2f} = weight {weight:.2f} ({layer}) × relevance {found.activation:.2f}"
        f" × truth {found.truth:.2f} ({found.view.verdict}) · {found.view.memory.token_count} tokens"
    )

"""`mnemolens show`: all that is known of one memory."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from mnemolens.cli.session import memory_id, now, opened, short_id
from mnemolens.cli.terminal import VERDICT_STYLES, Screen, Span, one_line, put_json
from mnemolens.core.clock import age
from mnemolens.core.memories import HistoryEntry
from mnemolens.core.views import AnchorView, LinkView, MemoryDetail, PlaceView
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.workspace import Workspace

MAX_HISTORY = 10
_DERIVED = frozenset({"token_count", "content_hash"})
"""Fields that change with the text; nobody changes them by themselves."""
_EVENTS = {
    "memory.forget": "forgotten",
    "memory.restore": "restored",
    "memory.done": "done",
    "anchor.put": "put on code",
    "anchor.drop": "taken off code",
    "anchor.alias": "followed to where its code went",
    "anchor.unalias": "a move of its code refused",
    "anchor.confirm": "confirmed as still true",
    "link.drop": "a name in it said not to mean some code",
    "link.allow": "a name in it allowed again to mean some code",
    "edge.put": "related to another memory",
    "edge.drop": "a relation taken away",
    "suggestion.refuse": "a suggestion refused",
}


def run(root: Path | None, given: str, *, as_json: bool) -> int:
    """Show a memory; returns the exit code."""
    with opened(root) as workspace:
        one = memory_id(workspace, given)
        workspace.glance.look([one])
        detail = workspace.show.detail(one, now())
        if as_json:
            put_json(JsonForm(workspace).detail(detail))
        else:
            _print(Screen(), detail, now(), lambda other: title_of(workspace, other))
    return 0


def title_of(workspace: Workspace, one: str) -> str:
    """A memory's title, in one line."""
    view = workspace.show.view(one, now())
    return one_line(view.memory.title) if view is not None else "(no memory)"


def _print(screen: Screen, detail: MemoryDetail, at: datetime, title: Callable[[str], str]) -> None:
    memory, view = detail.view.memory, detail.view
    screen.line(Span(one_line(memory.title), "bold"), " · ", Span(view.verdict, VERDICT_STYLES[view.verdict]))
    screen.line(Span(memory.id, "dim"))
    for relation in view.relations:
        screen.line(one_line(relation.words), Span(f"  {short_id(relation.memory_id)}", "dim"))
    screen.gap()
    screen.block(memory.content, indent=2)
    screen.gap()
    facts = [memory.type, memory.status, f"importance {memory.importance:g}"]
    facts += ["pinned"] if memory.pinned else []
    facts += [f"weight {view.weight:.2f} ({view.layer.replace('_', '-')})", f"{memory.token_count} tokens"]
    screen.line(" · ".join(facts))
    if memory.tags:
        screen.line("tags ", Span(one_line(", ".join(memory.tags)), "cyan"))
    for name, value in _named(detail, at):
        screen.line(Span(f"{name} ", "dim"), one_line(value))
    for anchor in detail.anchors:
        _print_anchor(screen, anchor)
    anchored = {anchor.at.key for anchor in detail.anchors if anchor.at is not None}
    for link in detail.links:
        if link.target.key not in anchored:
            _print_link(screen, link)
    for edge in detail.edges:
        outward = edge.source_id == memory.id
        other = edge.target_id if outward else edge.source_id
        screen.line(
            Span(f"{edge.type} {'→' if outward else '←'} ", "dim"),
            title(other),
            Span(f"  {short_id(other)} ({edge.weight:g})", "dim"),
        )
    if len(detail.history) > 1:
        screen.gap()
        seen = len(detail.history) - MAX_HISTORY
        for number, entry in enumerate(detail.history[-MAX_HISTORY:], max(0, seen)):
            when = datetime.fromtimestamp(int(entry.clock[:13]) / 1000, tz=at.tzinfo)
            told = _happened(entry, first=number == 0)
            screen.line(Span(f"{age(when, at):>16}  ", "dim"), told, _by(entry.by), hang=18)


def _happened(entry: HistoryEntry, *, first: bool) -> str:
    if entry.op == "memory.put":
        fields = ", ".join(name for name in entry.fields if name not in _DERIVED)
        return "captured" if first else f"changed: {fields}".removesuffix(": ")
    return _EVENTS.get(entry.op, entry.op)


def _named(detail: MemoryDetail, at: datetime) -> list[tuple[str, str]]:
    memory = detail.view.memory
    written = age(memory.created_at, at)
    found = [("written", f"{written} by {memory.author}" if memory.author else written)]
    if memory.access_count:
        times = "once" if memory.access_count == 1 else f"{memory.access_count} times"
        found.append(("recalled", f"{times}, last {age(memory.accessed_at, at)}"))
    found += [
        (name, value)
        for name, value in (
            ("branch", memory.born.branch),
            ("session", memory.session_id),
            ("agent", memory.agent_id),
            ("parent", memory.parent_id),
            ("expires", memory.expires_at and memory.expires_at.isoformat(" ", "minutes")),
            ("due", memory.due_at and memory.due_at.isoformat(" ", "minutes")),
            ("due on", memory.trigger and memory.trigger.get("on")),
        )
        if value
    ]
    found += [(f"{key}:", str(value)) for key, value in sorted(memory.metadata.items())]
    return found


def _print_anchor(screen: Screen, anchor: AnchorView) -> None:
    word = "on " if anchor.context == "captured_here" else "names "
    edited = ", edited since" if anchor.verdict == "fresh" and anchor.edited else ""
    if anchor.at is not None:
        screen.line(
            Span(word, "dim"),
            *_place(anchor.at),
            " ",
            Span(anchor.verdict, VERDICT_STYLES[anchor.verdict]),
            edited,
        )
        return
    born = anchor.birth.place
    screen.line(
        Span("was on " if word == "on " else "named ", "dim"),
        *_place(born),
        " ",
        Span(anchor.verdict, VERDICT_STYLES[anchor.verdict]),
    )
    for candidate in anchor.candidates:
        screen.line(Span("maybe ", "dim"), *_place(candidate.place), f" ({candidate.score:.2f})", indent=2)


def _print_link(screen: Screen, link: LinkView) -> None:
    word = "may name " if link.candidate else "names "
    screen.line(Span(word, "dim"), *_place(link.target), Span(f" ({link.relevance:g})", "dim"))


def _place(place: PlaceView) -> tuple[Span | str, ...]:
    line = f":{place.range.start.line + 1}" if place.range is not None and place.qualname else ""
    where = Span(f"{place.file}{line}", "dim")
    return (f"{place.label} ", where) if place.qualname else (place.file,)


def _by(who: str) -> Span:
    return Span(f" by {one_line(who)}" if who else "", "dim")

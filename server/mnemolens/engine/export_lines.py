"""Memories as the lines of an export: all that the journal says of them now, in the wire's camelCase.

One line holds one memory: its record, its anchors with their whole birth, its links, its edges, and its
history with event ids and clocks, from which an import makes the same events again. Texts that were edited
away are not in it; purged memories neither. Pure: takes events and views, gives objects. Reading lines back
is `import_lines.py`'s.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from mnemolens.core.events import (
    MEMORY_FIELDS,
    AnchorAlias,
    AnchorConfirm,
    AnchorDrop,
    AnchorPut,
    AnchorUnalias,
    EdgeDrop,
    EdgePut,
    Event,
    EventData,
    MemoryAccess,
    MemoryPurge,
    MemoryPut,
    MemoryTogether,
    NodeDrop,
    NodePut,
    SuggestionRefuse,
)
from mnemolens.core.memories import Anchor, CodeState, HistoryEntry, Memory
from mnemolens.core.pieces import in_order, taken
from mnemolens.core.views import AnchorView, Json, MemoryDetail, PlaceView
from mnemolens.engine.json_shapes import (
    camel,
    edge_json,
    entry_json,
    evidence_json,
    key_json,
    link_json,
    memory_json,
    moment,
    place_json,
    standing_json,
)
from mnemolens.store.merge import MergedState

Details = Callable[[str], MemoryDetail | None]
"""What is derived of a memory in this worktree; None where nobody has looked."""

_USER_KEYS: Final = frozenset({"meta"})
"""Fields of events whose keys are the user's own."""


def no_details(_memory_id: str) -> None:
    """For an export without the code: weights, verdicts and links are left out."""


def encode(line: Json) -> bytes:
    """An object as a line of the file, newline included."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


class Export:
    """The journal's events, sorted by the memory they are about.

    Attributes:
        state: what the events mean together.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        ordered = list(in_order(list(events), lambda event: (event.clock, event.id)))
        self.state = MergedState()
        self.state.apply(ordered)
        self._noted: defaultdict[str, dict[str, Event]] = defaultdict(dict)
        self._others: defaultdict[str, list[Event]] = defaultdict(list)
        self._accesses: defaultdict[str, dict[str, Event]] = defaultdict(dict)
        self._owners: dict[str, str] = {}
        for event in ordered:  # an anchor may be dropped by an event that an older clock says
            if isinstance(event.data, AnchorPut):
                self._owners.setdefault(event.data.anchor, event.data.memory)
        for event in taken(ordered):
            self._sort_in(event)
        memories = [memory for one in self.state.memories() if (memory := self.state.memory(one))]
        self.memories = sorted(memories, key=lambda memory: (memory.created_at, memory.id))

    def let_go(self) -> None:
        """Frees all of it piece by piece; it has no lines any more."""
        table: dict[str, Any]
        for table in (self._noted, self._others, self._accesses, self._owners):
            while table:
                table.popitem()
        while self.memories:
            self.memories.pop()
        self.state.let_go()

    def lines(self, details: Details = no_details) -> Iterator[Json]:
        """One object a memory, oldest first; then one a node of the memory graph that is no memory."""
        for memory in self.memories:
            yield self._memory_line(memory, details(memory.id))
        known = {memory.id for memory in self.memories}
        for node in sorted((self._noted.keys() | self._others.keys()) - known):
            history = [one for one in self._history(node) if one["op"].startswith("edge.")]
            events = self._events(node)
            if history or events:
                edges = [edge_json(edge) for edge in self.state.edges_of(node)]
                yield {"node": node, "edges": edges, "history": history, "events": events}

    def _memory_line(self, memory: Memory, detail: MemoryDetail | None) -> Json:
        views = {view.id: view for view in detail.anchors} if detail else {}
        line: Json = {
            "memory": memory_json(memory, detail.view if detail else None),
            "anchors": [
                _anchor_json(anchor, views.get(anchor.id)) for anchor in self.state.anchors_of(memory.id)
            ],
            "links": [link_json(link, _place_json(link.target)) for link in detail.links] if detail else [],
            "edges": [edge_json(edge) for edge in self.state.edges_of(memory.id)],
            "history": self._history(memory.id),
        }
        events = self._events(memory.id)
        return {**line, "events": events} if events else line

    def _sort_in(self, event: Event) -> None:
        data = event.data
        if isinstance(data, MemoryPurge):
            return
        if isinstance(data, MemoryAccess):
            for memory, count in data.counts.items():
                self._count(memory, count, event, data)
        elif isinstance(data, MemoryTogether):
            living = tuple(sorted({one for one in data.memories if not self.state.is_purged(one)}))
            if len(living) > 1:
                self._put_other(living[0], event._replace(data=data.model_copy(update={"memories": living})))
        elif isinstance(data, NodePut | NodeDrop):
            self._put_other(data.node, event)
        elif isinstance(data, SuggestionRefuse):
            self._put_other(data.memory, event)
        else:
            self._note(event, self._owners_of(data))

    def _owners_of(self, data: EventData) -> tuple[str, ...]:
        """The memories whose history the event is part of."""
        if isinstance(data, EdgePut | EdgeDrop):
            return data.source, data.target
        if isinstance(data, AnchorDrop | AnchorAlias | AnchorUnalias | AnchorConfirm):
            owner = self._owners.get(data.anchor)
            return () if owner is None else (owner,)
        return (getattr(data, "memory", ""),)

    def _note(self, event: Event, owners: tuple[str, ...]) -> None:
        if not any(self.state.is_purged(owner) for owner in owners):
            for owner in owners:
                self._noted[owner][event.id] = event

    def _put_other(self, owner: str, event: Event) -> None:
        if not self.state.is_purged(owner) and all(event.id != one.id for one in self._others[owner]):
            self._others[owner].append(event)

    def _count(self, memory: str, count: int, event: Event, data: MemoryAccess) -> None:
        """Keep what counts of the accesses: for each writer the highest count, and the latest time."""
        if self.state.is_purged(memory):
            return
        known = self._accesses[memory].get(event.writer)
        before = None if known is None else known.data
        at = data.at
        if known is not None and isinstance(before, MemoryAccess):
            at = max(at, before.at)
            if before.counts[memory] >= count:
                event, count = known, before.counts[memory]
        kept = MemoryAccess(counts={memory: count}, at=at)
        self._accesses[memory][event.writer] = event._replace(data=kept)

    def _history(self, owner: str) -> list[Json]:
        live = {anchor.id for anchor in self.state.anchors_of(owner)}
        found = []
        for entry, event in self._entries(owner):
            line = entry_json(entry)
            line["id"] = event.id
            data = _data_json(event, live)
            if data:
                line["data"] = data
            found.append(line)
        return found

    def _entries(self, owner: str) -> Iterator[tuple[HistoryEntry, Event]]:
        """The history as `memory.get` shows it, each entry with its event."""
        events = self._noted.get(owner, {})
        for event_id, entry in self.state.entries(owner):
            event = events.get(event_id)
            if event is not None:
                yield entry, event

    def _events(self, owner: str) -> list[Json]:
        """What is no part of the history: accesses, recalls together, refused suggestions, nodes."""
        found = [*self._accesses.get(owner, {}).values(), *self._others.get(owner, ())]
        found.sort(key=lambda event: (event.clock, event.id))
        return [
            {
                "clock": event.clock,
                "op": event.data.op,
                "by": event.data.by or "",
                "id": event.id,
                "data": _dump(event.data),
            }
            for event in found
        ]


def _anchor_json(anchor: Anchor, view: AnchorView | None) -> Json:
    birth, state = anchor.birth, anchor.birth.state
    line: Json = {
        "id": anchor.id,
        "context": anchor.context,
        "relevance": anchor.relevance,
        "evidence": None if anchor.evidence is None else evidence_json(anchor.evidence),
        "createdAt": moment(anchor.created_at),
        "birth": {
            "kind": birth.kind,
            **key_json(state.key),
            "signature": birth.signature,
            "fullHash": state.full_hash,
            "bodyHash": state.body_hash,
            "fingerprint": state.fingerprint,
            "tokenCount": birth.token_count,
            "neighbours": list(birth.neighbours),
            "snippet": birth.snippet,
            "commit": state.commit,
            "branch": birth.branch,
            "algo": birth.algo,
        },
        "aliases": [_state_json(alias) for alias in anchor.aliases],
        "refused": [key_json(key) for key in sorted(anchor.refused)],
        "confirmations": [_state_json(one) for one in anchor.confirmations],
    }
    if view is not None:
        line |= standing_json(view, _place_json)
    return line


def _place_json(place: PlaceView) -> Json:
    """A place without its range: that is of one client and one moment."""
    return place_json(place, None)


def _state_json(state: CodeState) -> Json:
    return {
        **key_json(state.key),
        "fullHash": state.full_hash,
        "bodyHash": state.body_hash,
        "fingerprint": state.fingerprint,
        "commit": state.commit,
    }


def _data_json(event: Event, live_anchors: set[str]) -> Json:
    """What an event said, less what stands elsewhere in the line and what no longer counts."""
    data = event.data
    if isinstance(data, MemoryPut):
        said: Json = {
            "metadata": list(data.meta),
            "tagsAdd": list(data.tags_add),
            "tagsRemove": list(data.tags_remove),
            "set": {name: value for name, value in data.set.items() if name not in MEMORY_FIELDS},
        }
        return {name: value for name, value in said.items() if value}
    if isinstance(data, AnchorPut) and data.anchor in live_anchors:
        return {"anchor": data.anchor} | ({"supersedes": data.supersedes} if data.supersedes else {})
    return _dump(data)


def _dump(data: BaseModel) -> Json:
    dumped = data.model_dump(mode="json", exclude_defaults=True, exclude={"by", "memory", "node"})
    return {
        camel(name): value if name in _USER_KEYS else _camel_keys(name, value)
        for name, value in dumped.items()
    }


def _camel_keys(field: str, value: Any) -> Any:
    if isinstance(value, Mapping) and field != "counts":
        return {camel(name): _camel_keys(name, inner) for name, inner in value.items()}
    return value

"""What the journal's events mean together: memories, anchors, edges, standing refusals.

Pure and in memory. Events may arrive in any order, any number of times and in any portions: the result is the
same (commutative, associative, idempotent), because each piece of state is a register where the newest stamp
wins, a set that only grows, or a maximum. A stamp is the event's clock reading and, for the case that two are
equal, its id. Does no I/O, and nothing that depends on the code as it is (`linking/`, `engine/`).

Not thread-safe: one thread owns it.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard, TypeVar, cast

from mnemolens.core.clock import reading_time
from mnemolens.core.events import (
    AnchorAlias,
    AnchorConfirm,
    AnchorDrop,
    AnchorPut,
    AnchorUnalias,
    EdgeDrop,
    EdgePut,
    Event,
    LinkAllow,
    LinkDrop,
    MemoryAccess,
    MemoryDone,
    MemoryForget,
    MemoryPurge,
    MemoryPut,
    MemoryRestore,
    MemoryTogether,
    NodeDrop,
    NodePut,
    SuggestionRefuse,
    read_context,
    read_origin,
    read_time,
)
from mnemolens.core.ids import content_hash
from mnemolens.core.memories import (
    MEMORY_KINDS,
    Anchor,
    CodeState,
    HistoryEntry,
    Memory,
    MemoryEdge,
    Status,
)
from mnemolens.core.pieces import taken
from mnemolens.core.symbols import SymbolKey
from mnemolens.store.edge_columns import NO_EDGE, EdgeColumns, Edges

CO_ACTIVATED: Final = "CO_ACTIVATED"
"""The undirected edge type that `memory.together` strengthens."""

_STATUS_OF: Final[Mapping[type, Status]] = {
    MemoryForget: "forgotten",
    MemoryRestore: "active",
    MemoryDone: "done",
}


_K = TypeVar("_K")


_Register: TypeAlias = tuple[str, int, Any]
"""Stamp, position within the event, and value. A plain tuple: there are hundreds of thousands, and of plain
tuples the garbage collector need not keep track."""

_STAMP: Final = 0
_PLACE: Final = 1
_VALUE: Final = 2


class _EdgeKey(NamedTuple):
    source: str
    target: str
    type: str


class Stamps(NamedTuple):
    """When each part of a memory was last written; a stamp is a clock reading and an event id.

    Attributes:
        fields: of `MEMORY_FIELDS`, by name.
        metadata: by key, removed keys too.
        tags: by tag, removed tags too.
        status: None while it was never set.
    """

    fields: Mapping[str, str]
    metadata: Mapping[str, str]
    tags: Mapping[str, str]
    status: str | None


class _MemoryState:
    """All that events said about one memory."""

    __slots__ = (
        "accesses",
        "anchors",
        "fields",
        "history",
        "last_access",
        "links",
        "meta",
        "refused",
        "status",
        "tags",
    )

    def __init__(self) -> None:
        self.fields: dict[str, _Register] = {}
        self.meta: dict[str, _Register] = {}
        self.tags: dict[str, _Register] = {}  # value: whether the tag is on
        self.status: _Register | None = None
        self.accesses: dict[str, int] = {}  # segment -> highest cumulative count
        self.last_access: datetime | None = None
        self.anchors: set[str] = set()
        self.links: dict[tuple[str, str], _Register] = {}  # (evidence, name) -> dropped?
        self.refused: set[SymbolKey] = set()
        self.history: dict[str, HistoryEntry] = {}  # event id -> entry


class _AnchorState:
    """All that events said about one anchor; without `puts` while only later events of it have arrived."""

    __slots__ = ("choices", "confirmations", "dropped", "history", "places", "puts")

    def __init__(self) -> None:
        self.puts: dict[str, _Register] = {}  # memory -> its earliest put, an `Anchor`
        self.dropped = False
        self.places: dict[SymbolKey, _Register] = {}  # value: CodeState
        self.choices: dict[SymbolKey, _Register] = {}  # value: whether a user refused it
        self.confirmations: dict[CodeState, str] = {}  # state -> its earliest stamp
        self.history: dict[str, HistoryEntry] = {}

    def birth(self) -> _Register | None:
        """The put that counts: the earliest. One memory an anchor is the rule, but nobody enforces it."""
        if len(self.puts) == 1:
            return next(iter(self.puts.values()))
        return min(self.puts.values(), default=None, key=lambda register: register[_STAMP])


_NEVER: Final[Mapping[str, float]] = MappingProxyType({})
"""Of most edges, which need no dict of their own."""


class _EdgeState:
    __slots__ = ("first", "row", "together", "written")

    def __init__(self, row: int) -> None:
        self.row = row  # in the columns
        self.first = ""  # the earliest stamp of all
        self.written: _Register | None = None  # value: weight and time given, or None when dropped
        self.together: Mapping[str, float] = _NEVER  # stamp -> rate

    def strengthen(self, stamp: str, rate: float) -> None:
        if not isinstance(self.together, dict):
            self.together = {}
        self.together[stamp] = rate

    def seen(self, stamp: str) -> None:
        if not self.first or stamp < self.first:
            self.first = stamp


class MergedState:
    """The merged journal."""

    def __init__(self) -> None:
        self._memories: defaultdict[str, _MemoryState] = defaultdict(_MemoryState)
        self._anchors: defaultdict[str, _AnchorState] = defaultdict(_AnchorState)
        self._edges: dict[_EdgeKey, _EdgeState] = {}
        self._columns: EdgeColumns[_EdgeKey] = EdgeColumns()
        self._edges_at: defaultdict[str, set[_EdgeKey]] = defaultdict(set)
        self._nodes: dict[str, _Register] = {}  # value: metadata, or None when dropped
        self._node_drops: dict[str, str] = {}  # node -> stamp of its last drop
        self._purged: set[str] = set()
        self._memory_cache: dict[str, Memory | None] = {}
        self._anchors_cache: dict[str, tuple[Anchor, ...]] = {}
        self._edges_cache: dict[str, tuple[MemoryEdge, ...]] = {}
        self._neighbours_cache: dict[str, tuple[tuple[str, float], ...]] = {}
        self._touched: set[str] = set()
        self._apply_op: Mapping[type, Callable[[Event, str, Any], None]] = {
            MemoryPut: self._memory_put,
            MemoryForget: self._memory_status,
            MemoryRestore: self._memory_status,
            MemoryDone: self._memory_status,
            MemoryPurge: self._memory_purge,
            MemoryAccess: self._memory_access,
            MemoryTogether: self._memory_together,
            AnchorPut: self._anchor_put,
            AnchorDrop: self._anchor_drop,
            AnchorAlias: self._anchor_place,
            AnchorUnalias: self._anchor_place,
            AnchorConfirm: self._anchor_confirm,
            LinkDrop: self._link_choice,
            LinkAllow: self._link_choice,
            EdgePut: self._edge_write,
            EdgeDrop: self._edge_write,
            NodePut: self._node_write,
            NodeDrop: self._node_write,
            SuggestionRefuse: self._suggestion_refuse,
        }

    # Writing ------------------------------------------------------------------------------------

    def apply(self, events: Iterable[Event]) -> frozenset[str]:
        """Merge `events`; again is harmless.

        Returns:
            Ids of the memories concerned: those whose record, anchors, edges or refusals may have changed.
        """
        touched: set[str] = set()
        self._touched = touched
        for event in events:
            self._apply_op[type(event.data)](event, event.clock + event.id, event.data)
        for memory_id in touched:
            self._memory_cache.pop(memory_id, None)
            self._anchors_cache.pop(memory_id, None)
            self._edges_cache.pop(memory_id, None)
        if self._neighbours_cache:
            for memory_id in touched:
                self._neighbours_cache.pop(memory_id, None)
                for key in self._edges_at.get(memory_id, ()):  # one that is forgotten is nobody's neighbour
                    self._neighbours_cache.pop(_other(key, memory_id), None)
        return frozenset(touched)

    def _memory_put(self, event: Event, stamp: str, data: MemoryPut) -> None:
        state = self._live(data.memory)
        if state is None:
            return
        for place, (name, value) in enumerate(data.set.items()):
            _write(state.fields, name, stamp, place, value)
        for place, (key, value) in enumerate(data.meta.items()):
            _write(state.meta, key, stamp, place, value)
        for place, tag in enumerate(data.tags_remove):
            if tag not in data.tags_add:
                _write(state.tags, tag, stamp, place, value=False)
        for place, tag in enumerate(data.tags_add):
            _write(state.tags, tag, stamp, place, value=True)
        names = [*data.set]
        if data.meta:
            names.append("metadata")
        if data.tags_add or data.tags_remove:
            names.append("tags")
        self._note(state.history, event, tuple(names))

    def _memory_status(
        self, event: Event, stamp: str, data: MemoryForget | MemoryRestore | MemoryDone
    ) -> None:
        state = self._live(data.memory)
        if state is None:
            return
        if state.status is None or stamp > state.status[_STAMP]:
            state.status = (stamp, 0, _STATUS_OF[type(data)])
        self._note(state.history, event, ("status",))

    def _memory_purge(self, _event: Event, _stamp: str, data: MemoryPurge) -> None:
        self._touched.add(data.memory)
        if data.memory in self._purged:
            return
        self._purged.add(data.memory)
        for anchor_id in self._memories[data.memory].anchors:
            self._anchors[anchor_id].puts.pop(data.memory, None)  # it holds a snippet
        del self._memories[data.memory]
        self._touch_edges_at(data.memory, doubt=True)

    def _memory_access(self, event: Event, _stamp: str, data: MemoryAccess) -> None:
        writer = event.writer
        for memory_id, count in data.counts.items():
            state = self._live(memory_id)
            if state is None:
                continue
            if count > state.accesses.get(writer, 0):
                state.accesses[writer] = count
            if state.last_access is None or data.at > state.last_access:
                state.last_access = data.at.astimezone(UTC)

    def _memory_together(self, _event: Event, stamp: str, data: MemoryTogether) -> None:
        for source, target in combinations(sorted(set(data.memories)), 2):
            key = _EdgeKey(source, target, CO_ACTIVATED)
            edge = self._edge(key)
            edge.seen(stamp)
            edge.strengthen(stamp, data.rate)
            self._columns.doubted[edge.row] = key
            self._touch_edge(key)

    def _anchor_put(self, event: Event, stamp: str, data: AnchorPut) -> None:
        if data.supersedes is not None:
            self._drop_anchor(event, data.supersedes)
        state = self._live(data.memory)
        if state is None:
            return
        state.anchors.add(data.anchor)
        anchor = self._anchors[data.anchor]
        earliest = anchor.puts.get(data.memory)
        if earliest is None or stamp < earliest[_STAMP]:
            # The model that pydantic made of it would take 4 kB more.
            anchor.puts[data.memory] = (stamp, 0, _born(data, stamp))
        self._note(state.history, event, ("anchors",))
        self._touched.update(anchor.puts)

    def _anchor_drop(self, event: Event, _stamp: str, data: AnchorDrop) -> None:
        self._drop_anchor(event, data.anchor)

    def _drop_anchor(self, event: Event, anchor_id: str) -> None:
        anchor = self._anchors[anchor_id]
        anchor.dropped = True
        if isinstance(event.data, AnchorDrop):
            self._note(anchor.history, event, ("anchors",))
        self._touched.update(anchor.puts)

    def _anchor_place(self, event: Event, stamp: str, data: AnchorAlias | AnchorUnalias) -> None:
        anchor = self._anchors[data.anchor]
        if isinstance(data, AnchorAlias):
            _write(anchor.places, data.place.key, stamp, 0, data.state())
        # Another window may find the code there before it hears of the refusal: only a user takes that back.
        if isinstance(data, AnchorUnalias) or data.chosen:
            _write(anchor.choices, data.place.key, stamp, 0, isinstance(data, AnchorUnalias))
        self._note(anchor.history, event, ("anchors",))
        self._touched.update(anchor.puts)

    def _anchor_confirm(self, event: Event, stamp: str, data: AnchorConfirm) -> None:
        anchor = self._anchors[data.anchor]
        state = data.state()
        anchor.confirmations[state] = min(stamp, anchor.confirmations.get(state, stamp))
        self._note(anchor.history, event, ())
        self._touched.update(anchor.puts)

    def _link_choice(self, event: Event, stamp: str, data: LinkDrop | LinkAllow) -> None:
        state = self._live(data.memory)
        if state is None:
            return
        _write(state.links, (data.evidence, data.name), stamp, 0, isinstance(data, LinkDrop))
        self._note(state.history, event, ("links",))

    def _edge_write(self, event: Event, stamp: str, data: EdgePut | EdgeDrop) -> None:
        key = _edge_key(data.source, data.target, data.type)
        edge = self._edge(key)
        edge.seen(stamp)
        put = data if type(data) is EdgePut else None  # a model's isinstance takes long, and there are many
        if edge.written is None or stamp > edge.written[_STAMP]:
            # The model that pydantic made of it would take as much again as all else.
            edge.written = (stamp, 0, None if put is None else (put.weight, put.created_at))
            if put is None or edge.together or not self._is_whole(key):
                self._columns.doubted[edge.row] = key
            else:  # as most are: what was written last is what it weighs
                self._columns.weigh(edge.row, put.weight)
        entry = HistoryEntry(event.clock, data.op, data.by or "", ("edges",))
        for node in {data.source, data.target}:
            state = self._live(node)
            if state is not None:
                state.history.setdefault(event.id, entry)
        self._touch_edge(key)

    def _node_write(self, _event: Event, stamp: str, data: NodePut | NodeDrop) -> None:
        _write(self._nodes, data.node, stamp, 0, data.meta if isinstance(data, NodePut) else None)
        if isinstance(data, NodeDrop) and stamp > self._node_drops.get(data.node, ""):
            self._node_drops[data.node] = stamp
        self._touched.add(data.node)
        self._touch_edges_at(data.node, doubt=isinstance(data, NodeDrop))

    def _suggestion_refuse(self, _event: Event, _stamp: str, data: SuggestionRefuse) -> None:
        state = self._live(data.memory)
        if state is not None:
            state.refused.add(data.place.key)

    def _live(self, memory_id: str) -> _MemoryState | None:
        """The state to write to, None for a purged memory."""
        self._touched.add(memory_id)
        return None if memory_id in self._purged else self._memories[memory_id]

    def _edge(self, key: _EdgeKey) -> _EdgeState:
        edge = self._edges.get(key)
        if edge is None:
            edge = self._edges[key] = _EdgeState(self._columns.add(key.source, key.target))
        return edge

    def _is_whole(self, key: _EdgeKey) -> bool:
        """Whether neither end was ever taken away."""
        gone, dropped = self._purged, self._node_drops
        return not (
            (gone and (key.source in gone or key.target in gone))
            or (dropped and (key.source in dropped or key.target in dropped))
        )

    def _touch_edges_at(self, node_id: str, *, doubt: bool) -> None:
        for key in self._edges_at.get(node_id, ()):
            if doubt:
                self._columns.doubted[self._edges[key].row] = key
            self._touched.update((key.source, key.target))

    def _touch_edge(self, key: _EdgeKey) -> None:
        self._edges_at[key.source].add(key)
        self._edges_at[key.target].add(key)
        self._touched.update((key.source, key.target))

    @staticmethod
    def _note(history: dict[str, HistoryEntry], event: Event, fields: tuple[str, ...]) -> None:
        if event.id not in history:
            by = event.data.by or _author(event.data) or ""
            history[event.id] = HistoryEntry(event.clock, event.data.op, by, fields)

    # Reading ------------------------------------------------------------------------------------

    def memory(self, memory_id: str) -> Memory | None:
        """The memory, forgotten ones too; None for unknown, purged and not yet wholly arrived ones."""
        if memory_id not in self._memory_cache:
            state = self._memories.get(memory_id)
            self._memory_cache[memory_id] = None if state is None else _build_memory(memory_id, state)
        return self._memory_cache[memory_id]

    def memories(self) -> Iterator[str]:
        """Ids of all readable memories, forgotten ones too."""
        return (memory_id for memory_id in list(self._memories) if self.memory(memory_id) is not None)

    @property
    def holds_memories(self) -> bool:
        """Whether there is any readable memory, a forgotten one, too."""
        return any(state.fields and self.memory(one) is not None for one, state in self._memories.items())

    def is_purged(self, memory_id: str) -> bool:
        """Whether the id belonged to a purged memory: it can never hold one again."""
        return memory_id in self._purged

    def anchors_of(self, memory_id: str) -> tuple[Anchor, ...]:
        """The memory's anchors that were not dropped, oldest first."""
        cached = self._anchors_cache.get(memory_id)
        if cached is not None:
            return cached
        state = self._memories.get(memory_id)
        found = []
        for anchor_id in state.anchors if state is not None else ():
            anchor = self._anchors[anchor_id]
            birth = anchor.birth()
            if birth is not None and not anchor.dropped and birth[_VALUE].memory_id == memory_id:
                found.append((birth[_STAMP], anchor_id))
        built = tuple(self._build_anchor(anchor_id) for _, anchor_id in sorted(found))
        self._anchors_cache[memory_id] = built
        return built

    def anchor(self, anchor_id: str) -> Anchor | None:
        """The anchor; None for unknown and dropped ones, and those of purged memories."""
        state = self._anchors.get(anchor_id)
        birth = state.birth() if state is not None and not state.dropped else None
        if birth is None:
            return None
        return next((one for one in self.anchors_of(birth[_VALUE].memory_id) if one.id == anchor_id), None)

    def is_anchor_dropped(self, anchor_id: str) -> bool:
        """Whether the anchor was taken away, which is for good: a derived one must not be made again."""
        state = self._anchors.get(anchor_id)
        return state is not None and state.dropped

    def edges_of(self, memory_id: str) -> tuple[MemoryEdge, ...]:
        """Edges from and to the memory, the first that was made first; none of purged memories."""
        cached = self._edges_cache.get(memory_id)
        if cached is None:
            keys = sorted(self._edges_at.get(memory_id, ()), key=lambda key: (self._edges[key].first, key))
            built = (self._build_edge(key) for key in keys)
            cached = self._edges_cache[memory_id] = tuple(edge for edge in built if edge is not None)
        return cached

    def weigh_doubted(self) -> Iterator[None]:
        """Finds the weights that are in doubt, one a step; who takes no pauses need not ask for it."""
        doubted = self._columns.doubted
        while doubted:
            self._settle(*next(iter(doubted.items())))
            yield

    def _settle(self, row: int, key: _EdgeKey) -> None:
        """Notes what the edge of a row weighs."""
        weighed = self._weigh(key)
        self._columns.weigh(row, NO_EDGE if weighed is None else weighed[0])

    def all_edges(self) -> Edges:
        """Ends and weight of every edge as they are now, for a look at all of them."""
        for _ in self.weigh_doubted():
            pass
        return self._columns.copy()

    def neighbours_of(self, node_id: str) -> tuple[tuple[str, float], ...]:
        """The other ends of a node's edges, as far as they are nodes, each with the edge's weight."""
        cached = self._neighbours_cache.get(node_id)
        if cached is None:
            edges, columns = self._edges, self._columns
            made = ((edges[key], key) for key in self._edges_at.get(node_id, ()))
            found = []
            for _, key, row in sorted([(edge.first, key, edge.row) for edge, key in made]):
                if row in columns.doubted:
                    self._settle(row, key)
                weight, other = columns.weight(row), _other(key, node_id)
                if weight != NO_EDGE and self.is_node(other):
                    found.append((other, weight))
            cached = self._neighbours_cache[node_id] = tuple(found)
        return cached

    def known_ids(self) -> Iterator[str]:
        """Every id of which something was said, each once: whatever may be a node.

        Events may be applied between two steps.
        """
        yield from taken(list(self._memories))
        yield from (one for one in taken(list(self._nodes)) if one not in self._memories)

    def let_go(self) -> None:
        """Frees all of it piece by piece, as far as it is large; nothing is asked of it afterwards."""
        caches = (self._memory_cache, self._anchors_cache, self._edges_cache, self._neighbours_cache)
        table: dict[Any, Any]
        for table in (*caches, self._memories, self._anchors, self._edges, self._edges_at, self._nodes):
            while table:
                table.popitem()

    def is_node(self, node_id: str) -> bool:
        """Whether the memory graph has the node: a memory that is not forgotten, or one with metadata.

        A memory that was taken out of the graph is in it again as soon as something is connected with it.
        """
        memory = self.memory(node_id)
        if memory is None:
            return self.node(node_id) is not None
        if memory.status == "forgotten":
            return False
        register = self._nodes.get(node_id)
        return register is None or register[_VALUE] is not None or bool(self.edges_of(node_id))

    def node(self, node_id: str) -> Mapping[str, Any] | None:
        """Metadata of a node of the memory graph; None for unknown and dropped ones."""
        register = self._nodes.get(node_id)
        if register is None or register[_VALUE] is None or node_id in self._purged:
            return None
        return MappingProxyType(register[_VALUE])

    def link_dropped(self, memory_id: str, evidence_text: str, name: str) -> bool:
        """Whether the user refused that this text of the memory means the symbol with the id `name`."""
        state = self._memories.get(memory_id)
        register = None if state is None else state.links.get((evidence_text, name))
        return register is not None and bool(register[_VALUE])

    def suggestion_refused(self, memory_id: str, place: SymbolKey) -> bool:
        """Whether the user refused this place as a suggestion for the memory."""
        state = self._memories.get(memory_id)
        return state is not None and place in state.refused

    def history(self, memory_id: str) -> tuple[HistoryEntry, ...]:
        """The memory's life, oldest first, without accesses and recalls. `by` is "" where nobody is named."""
        return tuple(entry for _, entry in self.entries(memory_id))

    def entries(self, memory_id: str) -> list[tuple[str, HistoryEntry]]:
        """The history with the id of each event."""
        state = self._memories.get(memory_id)
        if state is None:
            return []
        entries = dict(state.history)
        for anchor_id in state.anchors:
            entries.update(self._anchors[anchor_id].history)
        return sorted(entries.items(), key=lambda item: (item[1].clock, item[0]))

    def stamps(self, memory_id: str) -> Stamps:
        """When each part of the memory was last written; empty for unknown and purged ones."""
        state = self._memories.get(memory_id)
        if state is None:
            return Stamps({}, {}, {}, None)
        fields, metadata, tags = (
            {name: register[_STAMP] for name, register in registers.items()}
            for registers in (state.fields, state.meta, state.tags)
        )
        return Stamps(fields, metadata, tags, None if state.status is None else state.status[_STAMP])

    def has_edge_choice(self, source: str, target: str, edge_type: str) -> bool:
        """Whether the edge was ever put or dropped by an event of its own."""
        edge = self._edges.get(_edge_key(source, target, edge_type))
        return edge is not None and edge.written is not None

    def knows(self, event: Event) -> bool:
        """Whether merging the event would change nothing, since it was merged or its memory is purged."""
        data, stamp = event.data, event.clock + event.id
        if isinstance(data, MemoryTogether):
            return all(
                _edge_key(source, target, CO_ACTIVATED) in self._edges
                and stamp in self._edges[_edge_key(source, target, CO_ACTIVATED)].together
                for source, target in combinations(sorted(set(data.memories)), 2)
            )
        if isinstance(data, NodePut | NodeDrop):
            register = self._nodes.get(data.node)
            newest = "" if register is None else register[_STAMP]
            if isinstance(data, NodeDrop):
                newest = min(newest, self._node_drops.get(data.node, ""))
            return stamp <= newest
        if isinstance(data, EdgePut | EdgeDrop):
            owners = [data.source, data.target]
        elif isinstance(data, AnchorDrop | AnchorAlias | AnchorUnalias | AnchorConfirm):
            anchor = self._anchors.get(data.anchor)
            return anchor is not None and event.id in anchor.history
        elif isinstance(data, MemoryAccess):
            owners = list(data.counts)
        else:
            owners = [data.memory]
        return all(owner in self._purged or self._has(owner, event) for owner in owners)

    def _has(self, memory_id: str, event: Event) -> bool:
        state, data = self._memories.get(memory_id), event.data
        if state is None:
            return False
        if isinstance(data, MemoryAccess):
            is_seen = state.last_access is not None and data.at <= state.last_access
            return is_seen and data.counts[memory_id] <= state.accesses.get(event.writer, 0)
        if isinstance(data, SuggestionRefuse):
            return data.place.key in state.refused
        return event.id in state.history

    def _build_edge(self, key: _EdgeKey) -> MemoryEdge | None:
        weighed = self._weigh(key)
        if weighed is None:
            return None
        weight, put, later = weighed
        created = reading_time(min(later)) if put is None else put[_VALUE][1] or reading_time(put[_STAMP])
        return MemoryEdge(*key, weight=weight, created_at=created, together=len(later))

    def _weigh(self, key: _EdgeKey) -> tuple[float, _Register | None, dict[str, float]] | None:
        """An edge's weight, the put that counts, and the recalls after it; None where there is no edge."""
        if key.source in self._purged or key.target in self._purged:
            return None
        edge = self._edges[key]
        dead_until = max(self._node_drops.get(key.source, ""), self._node_drops.get(key.target, ""))
        put: _Register | None = None
        weights: list[float] = []
        if edge.written is not None:
            if edge.written[_STAMP] > dead_until and edge.written[_VALUE] is not None:
                put = edge.written
                weights.append(put[_VALUE][0])
            # A put says what the weight is at that moment, a drop that it is none: later recalls add to it.
            dead_until = max(dead_until, edge.written[_STAMP])
        later = {stamp: rate for stamp, rate in edge.together.items() if stamp > dead_until}
        weights.extend(later.values())
        if not weights:
            return None
        # fsum is exact, so the order of arrival can't show in the last digit.
        weight = math.fsum(weights)
        return min(1.0, weight) if later else weight, put, later

    def _build_anchor(self, anchor_id: str) -> Anchor:
        state = self._anchors[anchor_id]
        register = state.birth()
        assert register is not None
        refused = frozenset(key for key, register in state.choices.items() if register[_VALUE])
        places = sorted((said[_STAMP], key) for key, said in state.places.items() if key not in refused)
        confirmations = sorted(state.confirmations.items(), key=lambda item: (item[1], item[0].key))
        return replace(
            cast("Anchor", register[_VALUE]),
            aliases=tuple(state.places[key][_VALUE] for _, key in places),
            refused=refused,
            confirmations=tuple(state for state, _ in confirmations),
        )


def _born(put: AnchorPut, stamp: str) -> Anchor:
    """An anchor by its first event alone."""
    return Anchor(
        id=put.anchor,
        memory_id=put.memory,
        birth=put.birth.birth(),
        context=read_context(put.context),
        relevance=put.relevance,
        evidence=None if put.evidence is None else put.evidence.evidence(),
        created_at=reading_time(stamp),
    )


def _write(registers: dict[_K, _Register], key: _K, stamp: str, place: int, value: object) -> None:
    old = registers.get(key)
    if old is None or stamp > old[_STAMP]:
        registers[key] = (stamp, place, value)


def _edge_key(source: str, target: str, edge_type: str) -> _EdgeKey:
    if edge_type == CO_ACTIVATED and target < source:
        source, target = target, source
    return _EdgeKey(source, target, edge_type)


def _other(edge: _EdgeKey | MemoryEdge, node_id: str) -> str:
    """The end of an edge that is not this node."""
    source, target = (
        (edge.source, edge.target) if isinstance(edge, _EdgeKey) else (edge.source_id, edge.target_id)
    )
    return target if source == node_id else source


def _author(data: object) -> str | None:
    author = data.set.get("author") if type(data) is MemoryPut else None
    return author if isinstance(author, str) else None


def _in_order(registers: Mapping[str, _Register]) -> list[tuple[str, Any]]:
    """Keys and values as they were last written, so that tags and metadata keep the order the user gave."""
    ordered = sorted(registers.items(), key=lambda item: (item[1][_STAMP], item[1][_PLACE], item[0]))
    return [(key, register[_VALUE]) for key, register in ordered]


def _build_memory(memory_id: str, state: _MemoryState) -> Memory | None:
    """The memory, None while a field that every memory has is missing.

    A value of a wrong kind, which only a newer or broken writer can have put there, counts as not given.
    """
    if not state.fields:  # a node that a program added: there may be many
        return None
    values = {name: register[_VALUE] for name, register in state.fields.items()}

    def text(name: str) -> str | None:
        value = values.get(name)
        return value if isinstance(value, str) else None

    content, title, kind = text("content"), text("title"), text("type")
    created_at = read_time(values.get("created_at"))
    if content is None or title is None or kind is None or created_at is None:
        return None
    importance, token_count, trigger = (values.get(name) for name in ("importance", "token_count", "trigger"))
    return Memory(
        id=memory_id,
        type=kind if kind in MEMORY_KINDS else "episodic",
        title=title,
        content=content,
        created_at=created_at,
        accessed_at=created_at if state.last_access is None else max(created_at, state.last_access),
        tags=tuple(tag for tag, on in _in_order(state.tags) if on),
        metadata={key: value for key, value in _in_order(state.meta) if value is not None},
        importance=float(importance) if _is_number(importance) else 0.5,
        pinned=values.get("pinned") is True,
        status="active" if state.status is None else state.status[_VALUE],
        access_count=sum(state.accesses.values()),
        session_id=text("session_id"),
        agent_id=text("agent_id"),
        author=text("author"),
        parent_id=text("parent_id"),
        expires_at=read_time(values.get("expires_at")),
        due_at=read_time(values.get("due_at")),
        trigger=trigger if isinstance(trigger, dict) else None,
        born=read_origin(values.get("born")),
        token_count=int(token_count) if _is_number(token_count) else 0,
        content_hash=text("content_hash") or content_hash(content),
    )


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

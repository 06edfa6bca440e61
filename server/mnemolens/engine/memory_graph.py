"""The memory graph of one folder: memories, nodes that a program added, and the edges between them.

Every memory that is not forgotten is a node, unless a program took it out; an id that is no memory's is one
once a program has added it. Reads the merged journal, and plans what is written to it. Spreading and clusters
are computed in `ranking/`; what an edge means for a memory that is shown is `standing.py`'s.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final

from mnemolens.core.errors import NotFound
from mnemolens.core.events import EdgeDrop, EdgePut, EventData, MemoryTogether, NodeDrop, NodePut
from mnemolens.core.memories import Memory, MemoryEdge
from mnemolens.core.pieces import in_order
from mnemolens.engine.offload import Slices
from mnemolens.engine.write import Write
from mnemolens.ranking.activation import Spread, Spreading, spread
from mnemolens.ranking.clusters import Cluster, clusters
from mnemolens.store.edge_columns import NO_EDGE, Edges
from mnemolens.store.merge import MergedState

CONTRADICTS: Final = "CONTRADICTS"
TOGETHER_RATE: Final = 0.1
"""What one recall adds to the weight between two memories that came together in it."""

MOST_TOGETHER: Final = 12
"""Memories that count as used together at most."""


class EdgeGraph:
    """The memory graph.

    Args:
        state: the merged journal.
        author: who writes, for the history.
    """

    def __init__(self, state: MergedState, author: Callable[[], str | None] = lambda: None) -> None:
        self._state = state
        self._author = author

    # Reading ----------------------------------------------------------------------------------------------

    def has_node(self, node_id: str) -> bool:
        """Whether there is such a node."""
        return self._state.is_node(node_id)

    def nodes(self) -> list[str]:
        """All nodes, the oldest first."""
        return [node for _, node in sorted(filter(None, self._dated()))]

    def meta(self, node_id: str) -> Mapping[str, Any]:
        """A node's metadata: its own, or what its memory says.

        Raises:
            NotFound: there is no such node.
        """
        own, memory = self._state.node(node_id), self._state.memory(node_id)
        if own is None and memory is None:
            raise NotFound(f"id: no memory {node_id!r}")
        return {**(_meta_of(memory) if memory is not None else _NO_META), **(own or {})}

    def edges_of(self, node_id: str, kind: str | None = None) -> tuple[MemoryEdge, ...]:
        """The edges from and to a node, the one that was made first before the others."""
        if not self.has_node(node_id):
            return ()
        return tuple(
            edge
            for edge in self._state.edges_of(node_id)
            if (kind is None or edge.type == kind) and self.has_node(other_end(edge, node_id))
        )

    def edges(self) -> Iterator[MemoryEdge]:
        """Every edge, each once."""
        for node in self.nodes():
            yield from (edge for edge in self.edges_of(node) if edge.source_id == node)

    def conflicts(self, node_id: str | None = None) -> tuple[MemoryEdge, ...]:
        """The edges that say that two memories contradict each other: those of one memory, or all.

        Raises:
            NotFound: there is no such memory.
        """
        if node_id is None:
            return tuple(edge for edge in self.edges() if edge.type == CONTRADICTS)
        if not self.has_node(node_id):
            raise NotFound(f"id: no memory {node_id!r}")
        return self.edges_of(node_id, CONTRADICTS)

    def clusters(self, min_size: int = 2) -> list[Cluster]:
        """Memories that are connected with each other, in the order of their oldest."""
        return _clusters(self.nodes(), self._state.all_edges(), min_size)

    async def clusters_slowly(self, min_size: int = 2) -> list[Cluster]:
        """`clusters`, in slices and in a thread: many memories would hold the event loop."""
        slices = Slices()
        dated: list[tuple[float, str]] = []
        for one in self._dated():
            if one is not None:
                dated.append(one)
            await slices.pause()
        for _ in self._state.weigh_doubted():
            await slices.pause()
        await asyncio.sleep(0)  # to copy them takes some ms of its own
        edges = self._state.all_edges()

        def work() -> list[Cluster]:
            return _clusters([node for _, node in in_order(dated, itemgetter(0, 1))], edges, min_size)

        return await asyncio.to_thread(work)

    def neighbours(self, node_id: str) -> Sequence[tuple[str, float]]:
        """What is connected with a node, in either direction, each with the edge's weight."""
        return self._state.neighbours_of(node_id)

    def spread(self, seeds: Iterable[str], params: Spreading) -> Spread[str]:
        """Spreads activation from these nodes; those that are none are passed over."""
        return spread(list(filter(self.has_node, seeds)), self.neighbours, params)

    # Writing ----------------------------------------------------------------------------------------------

    def put_nodes(self, nodes: Mapping[str, Mapping[str, Any]]) -> Write[None]:
        """Adds nodes, or gives those that are there other metadata."""
        by = self._author()
        return _write([NodePut(node=node, meta=dict(meta), by=by) for node, meta in nodes.items()])

    def drop_nodes(self, node_ids: Iterable[str]) -> Write[int]:
        """Takes nodes and their edges out; answers how many. Memories stay memories."""
        by = self._author()
        drops = [NodeDrop(node=node, by=by) for node in node_ids if self.has_node(node)]
        return Write(tuple(drops), lambda: len(drops))

    def put_edges(self, edges: Sequence[MemoryEdge]) -> Write[None]:
        """Adds edges, or gives those that are there another weight.

        Raises:
            NotFound: an end is no node; nothing is planned.
        """
        by = self._author()
        self._check_nodes("source_id", [edge.source_id for edge in edges])
        self._check_nodes("target_id", [edge.target_id for edge in edges])
        return _write(
            [
                EdgePut(
                    source=edge.source_id,
                    target=edge.target_id,
                    type=edge.type,
                    weight=edge.weight,
                    created_at=edge.created_at,
                    by=by,
                )
                for edge in edges
            ]
        )

    def drop_edges(self, edges: Iterable[MemoryEdge]) -> Write[int]:
        """Takes edges away; answers how many."""
        by = self._author()
        drops = [
            EdgeDrop(source=edge.source_id, target=edge.target_id, type=edge.type, by=by) for edge in edges
        ]
        return Write(tuple(drops), lambda: len(drops))

    def together(self, node_ids: Iterable[str], rate: float = TOGETHER_RATE) -> Write[None]:
        """Strengthens the connection of every two of these nodes by `rate`; one event.

        Raises:
            NotFound: one is no node; nothing is planned.
        """
        ids = tuple(dict.fromkeys(node_ids))
        self._check_nodes("memory_ids", ids)
        several = len(ids) > 1 and rate > 0
        return _write([MemoryTogether(memories=ids, rate=rate, by=self._author())] if several else [])

    def used_together(self, memory_ids: Iterable[str]) -> MemoryTogether | None:
        """What is to be written where memories were used at once, the best first; None where there was one.

        Only the first `MOST_TOGETHER` are connected: the pairs among them grow with the square. What came for
        no other reason than this connection is not to be among them, or it would feed itself.
        """
        ids = [one for one in dict.fromkeys(memory_ids) if self.has_node(one)][:MOST_TOGETHER]
        if len(ids) < 2:
            return None
        return MemoryTogether(memories=tuple(ids), rate=TOGETHER_RATE, by=self._author())

    def _dated(self) -> Iterator[tuple[float, str] | None]:
        """Each node and when it was made, in milliseconds; None for what is none, so that steps are short."""
        for node in self._state.known_ids():
            yield (self._created_ms(node), node) if self.has_node(node) else None

    def _created_ms(self, node_id: str) -> float:
        """What `meta` says of that, without the rest."""
        own = self._state.node(node_id)
        if own is not None and "created_at" in own:
            made: float = own["created_at"]
            return made
        memory = self._state.memory(node_id)
        return 0 if memory is None else moment_ms(memory.created_at)

    def _check_nodes(self, name: str, node_ids: Iterable[str]) -> None:
        for node in node_ids:
            if not self.has_node(node):
                raise NotFound(f"{name}: no memory {node!r} in the graph")


def other_end(edge: MemoryEdge, node_id: str) -> str:
    """The end of an edge that is not this node."""
    return edge.target_id if edge.source_id == node_id else edge.source_id


def moment_ms(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def moment_of(milliseconds: float) -> datetime:
    """The time so many milliseconds after 1970."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


_NO_META: Final[Mapping[str, Any]] = {
    "type": "semantic",
    "scope": "project",
    "scope_id": "",
    "strength": 1.0,
    "created_at": 0,
}


def _meta_of(memory: Memory) -> Mapping[str, Any]:
    return {
        "type": memory.type,
        "scope": "project" if memory.session_id is None else "session",
        "scope_id": memory.session_id or "",
        "strength": memory.importance,
        "created_at": moment_ms(memory.created_at),
    }


def _clusters(nodes: Sequence[str], edges: Edges, min_size: int) -> list[Cluster]:
    """The clusters of these nodes; edges that end elsewhere are passed over."""
    numbers, room = {}, len(edges.numbers)
    for node in nodes:
        number = edges.numbers.get(node)
        if number is None:  # it has no edges
            number, room = room, room + 1
        numbers[node] = number
    wanted = bytearray(room)
    for number in numbers.values():
        wanted[number] = True
    columns = zip(edges.sources, edges.targets, edges.weights, strict=True)
    there = (row for row in columns if wanted[row[0]] and wanted[row[1]] and row[2] != NO_EDGE)
    return clusters(numbers, there, min_size)


def _write(events: Sequence[EventData]) -> Write[None]:
    return Write(tuple(events), lambda: None)

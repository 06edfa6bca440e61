"""A memory graph that no backend keeps: nodes, edges and, for each node, what is connected with it.

The rules are those of the stored graph (`engine/memory_graph.py`); what is handed in was checked before. Not
thread-safe: its owner holds a lock.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mnemolens.api.graph_values import MemoryEdge, MemoryEdgeType, MemoryGraphNodeMeta
from mnemolens.core.errors import NotFound
from mnemolens.ranking.activation import Spread, Spreading, spread
from mnemolens.ranking.clusters import Cluster, clusters

_TYPES: Final = tuple(MemoryEdgeType)
_NUMBER_OF: Final = {kind: number for number, kind in enumerate(_TYPES)}
_BITS_OF_TYPE: Final = 3
_BITS_OF_NODE: Final = 40


class _Node:
    """A node, and for each of its edges the other end's id and the weight."""

    __slots__ = ("at", "meta", "number")

    def __init__(self, number: int, meta: MemoryGraphNodeMeta) -> None:
        self.number = number
        self.meta = meta
        self.at: dict[int, tuple[str, float]] = {}


class InMemoryGraph:
    """The graph.

    Nodes have numbers, and an edge is one number made of its ends' and its type's; what else is known of it
    stands in columns. So half a million edges are a few arrays, which the garbage collector need not look
    through, and which are read from one end to the other without a miss of the processor's cache.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._numbers: dict[str, int] = {}  # of each node, in the order in which they were added
        self._names: list[str] = []  # by number
        self._free: list[int] = []  # numbers of nodes that were taken out
        self._rows: dict[int, int] = {}  # edge -> its place in each of the columns:
        self._sources, self._targets, self._weights = array("l"), array("l"), array("d")
        self._types = bytearray()
        self._made: list[float] = []

    def meta(self, node_id: str) -> MemoryGraphNodeMeta | None:
        """A node's metadata; None where there is no such node."""
        node = self._nodes.get(node_id)
        return None if node is None else node.meta

    def put_nodes(self, nodes: Mapping[str, MemoryGraphNodeMeta]) -> None:
        """Adds nodes, or gives those that are there other metadata."""
        for node_id, meta in nodes.items():
            known = self._nodes.get(node_id)
            if known is not None:
                known.meta = meta
                continue
            if self._free:
                number = self._free.pop()
                self._names[number] = node_id
            else:
                number = len(self._names)
                self._names.append(node_id)
            self._numbers[node_id] = number
            self._nodes[node_id] = _Node(number, meta)

    def drop_node(self, node_id: str) -> int:
        """Takes a node and its edges out; how many nodes that were."""
        node = self._nodes.pop(node_id, None)
        if node is None:
            return 0
        for edge, (other, _) in node.at.items():
            del self._nodes[other].at[edge]
            self._drop_row(edge)
        del self._numbers[node_id]
        self._free.append(node.number)
        return 1

    def put_edges(self, edges: Sequence[MemoryEdge]) -> None:
        """Adds edges, or gives those that are there another weight; none where an end is unknown."""
        sources = self._found("source_id", (edge.source_id for edge in edges))
        targets = self._found("target_id", (edge.target_id for edge in edges))
        rows = self._rows
        for one, source, target in zip(edges, sources, targets, strict=True):
            kind, weight = _NUMBER_OF[one.type], one.weight
            made: float = one.created_at  # type: ignore[assignment]  # a checked edge has one
            edge = _edge_number(source.number, target.number, kind)
            row = rows.get(edge)
            if row is None:
                rows[edge] = len(rows)
                self._sources.append(source.number)
                self._targets.append(target.number)
                self._weights.append(weight)
                self._types.append(kind)
                self._made.append(made)
            else:
                self._weights[row], self._made[row] = weight, made
            source.at[edge] = self._names[target.number], weight
            target.at[edge] = self._names[source.number], weight

    def drop_edges(self, edges: Iterable[MemoryEdge]) -> int:
        """Takes edges away; how many."""
        count = 0
        for one in edges:
            source, target = self._nodes[one.source_id], self._nodes[one.target_id]
            edge = _edge_number(source.number, target.number, _NUMBER_OF[one.type])
            del source.at[edge], target.at[edge]
            self._drop_row(edge)
            count += 1
        return count

    def edges_of(self, node_id: str) -> list[MemoryEdge]:
        """The edges from and to a node, in the order in which they were made."""
        node = self._nodes.get(node_id)
        return [] if node is None else [self._edge(self._rows[edge]) for edge in node.at]

    def together(self, node_ids: Sequence[str], rate: float, now_ms: float) -> None:
        """Strengthens the connection of every two of these nodes, up to 1; nothing where one is unknown."""
        self._found("memory_ids", node_ids)
        kind = MemoryEdgeType.CO_ACTIVATED
        for place, first in enumerate(node_ids):
            for second in node_ids[place + 1 :]:
                source, target = sorted((first, second))
                edge = _edge_number(self._numbers[source], self._numbers[target], _NUMBER_OF[kind])
                row = self._rows.get(edge)
                weight, made = (0.0, now_ms) if row is None else (self._weights[row], self._made[row])
                self.put_edges([MemoryEdge(source, target, kind, min(1.0, weight + rate), made)])

    def spread(self, seeds: Iterable[str], params: Spreading) -> Spread[str]:
        """Spreads activation from these nodes; those that are none are passed over."""
        nodes = self._nodes
        return spread([seed for seed in seeds if seed in nodes], lambda node: nodes[node].at.values(), params)

    def clusters(self, min_size: int) -> list[Cluster]:
        """Nodes that are connected with each other, in the order in which they were added."""
        edges = zip(self._sources, self._targets, self._weights, strict=True)
        return clusters(self._numbers, edges, min_size)

    def counts(self) -> tuple[int, int]:
        """How many nodes, and how many edges."""
        return len(self._nodes), len(self._rows)

    def clear(self) -> None:
        """Takes everything out."""
        self.__init__()  # type: ignore[misc]  # it is as new

    def _edge(self, row: int) -> MemoryEdge:
        return MemoryEdge(
            self._names[self._sources[row]],
            self._names[self._targets[row]],
            _TYPES[self._types[row]],
            self._weights[row],
            self._made[row],
        )

    def _drop_row(self, edge: int) -> None:
        """Takes an edge out of the columns; the last row goes where it stood."""
        row = self._rows.pop(edge)
        source, target, kind = self._sources.pop(), self._targets.pop(), self._types.pop()
        weight, made = self._weights.pop(), self._made.pop()
        if row < len(self._rows):
            self._sources[row], self._targets[row], self._types[row] = source, target, kind
            self._weights[row], self._made[row] = weight, made
            self._rows[_edge_number(source, target, kind)] = row

    def _found(self, name: str, node_ids: Iterable[str]) -> list[_Node]:
        """The nodes of these ids, all of which there must be."""
        try:
            return [self._nodes[node_id] for node_id in node_ids]
        except KeyError as error:
            node_id = error.args[0]
            raise NotFound(f"{name}: no memory {node_id!r} in the graph; add_node comes first") from None


def _edge_number(source: int, target: int, kind: int) -> int:
    return (source << _BITS_OF_NODE | target) << _BITS_OF_TYPE | kind

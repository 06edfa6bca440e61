"""A memory graph that no backend keeps: nodes, edges and, for each node, what is connected with it.

The rules are those of the stored graph (`engine/memory_graph.py`); what is handed in was checked before. Not
thread-safe: its owner holds a lock.
"""

from collections.abc import Iterable, Mapping, Sequence

from mnemolens.api.graph_values import MemoryEdge, MemoryEdgeType, MemoryGraphNodeMeta
from mnemolens.core.errors import NotFound
from mnemolens.ranking.activation import Spread, Spreading, spread
from mnemolens.ranking.clusters import Cluster, clusters

_Key = tuple[str, str, str]


class InMemoryGraph:
    """The graph."""

    def __init__(self) -> None:
        self._nodes: dict[str, MemoryGraphNodeMeta] = {}
        self._numbers: dict[str, int] = {}  # of each node, in the order in which they were added
        self._edges: dict[_Key, tuple[MemoryEdge, int, int]] = {}  # with the numbers of its ends
        self._at: dict[str, dict[_Key, tuple[str, float]]] = {}  # node -> edge -> (other end, weight)
        self._next = 0

    def meta(self, node_id: str) -> MemoryGraphNodeMeta | None:
        """A node's metadata; None where there is no such node."""
        return self._nodes.get(node_id)

    def put_nodes(self, nodes: Mapping[str, MemoryGraphNodeMeta]) -> None:
        """Adds nodes, or gives those that are there other metadata."""
        for node_id, meta in nodes.items():
            self._nodes[node_id] = meta
            if node_id not in self._at:
                self._at[node_id] = {}
                self._numbers[node_id] = self._next
                self._next += 1

    def drop_node(self, node_id: str) -> int:
        """Takes a node and its edges out; how many nodes that were."""
        if self._nodes.pop(node_id, None) is None:
            return 0
        del self._numbers[node_id]
        for key, (other, _) in self._at.pop(node_id).items():
            del self._edges[key], self._at[other][key]
        return 1

    def put_edges(self, edges: Sequence[MemoryEdge]) -> None:
        """Adds edges, or gives those that are there another weight; none where an end is unknown."""
        self._check_nodes("source_id", (edge.source_id for edge in edges))
        self._check_nodes("target_id", (edge.target_id for edge in edges))
        for edge in edges:
            source, target = edge.source_id, edge.target_id
            key = (source, target, edge.type)
            self._edges[key] = (edge, self._numbers[source], self._numbers[target])
            self._at[source][key] = (target, edge.weight)
            self._at[target][key] = (source, edge.weight)

    def drop_edges(self, edges: Iterable[MemoryEdge]) -> int:
        """Takes edges away; how many."""
        count = 0
        for edge in edges:
            key = (edge.source_id, edge.target_id, edge.type)
            del self._edges[key], self._at[edge.source_id][key], self._at[edge.target_id][key]
            count += 1
        return count

    def edges_of(self, node_id: str) -> list[MemoryEdge]:
        """The edges from and to a node, in the order in which they were made."""
        return [self._edges[key][0] for key in self._at.get(node_id, ())]

    def together(self, node_ids: Sequence[str], rate: float, now_ms: float) -> None:
        """Strengthens the connection of every two of these nodes, up to 1; nothing where one is unknown."""
        self._check_nodes("memory_ids", node_ids)
        kind = MemoryEdgeType.CO_ACTIVATED
        for place, first in enumerate(node_ids):
            for second in node_ids[place + 1 :]:
                source, target = sorted((first, second))
                known = self._edges.get((source, target, kind))
                weight, made = (0.0, now_ms) if known is None else (known[0].weight, known[0].created_at)
                self.put_edges([MemoryEdge(source, target, kind, min(1.0, weight + rate), made)])

    def spread(self, seeds: Iterable[str], params: Spreading) -> Spread[str]:
        """Spreads activation from these nodes; those that are none are passed over."""
        at = self._at
        return spread([seed for seed in seeds if seed in at], lambda node: at[node].values(), params)

    def clusters(self, min_size: int) -> list[Cluster]:
        """Nodes that are connected with each other, in the order in which they were added."""
        edges = ((source, target, edge.weight) for edge, source, target in self._edges.values())
        return clusters(self._numbers, edges, min_size)

    def counts(self) -> tuple[int, int]:
        """How many nodes, and how many edges."""
        return len(self._nodes), len(self._edges)

    def clear(self) -> None:
        """Takes everything out."""
        self.__init__()  # type: ignore[misc]  # it is as new

    def _check_nodes(self, name: str, node_ids: Iterable[str]) -> None:
        for node_id in node_ids:
            if node_id not in self._nodes:
                raise NotFound(f"{name}: no memory {node_id!r} in the graph; add_node comes first")

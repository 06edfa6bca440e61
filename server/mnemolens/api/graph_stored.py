"""A memory graph that a backend keeps: each call runs on the workspace's own thread.

Converts between the API's values and the engine's; the rules are `engine/memory_graph.py`'s.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TypeVar

from mnemolens.api.backend import KuzuBackend, written
from mnemolens.api.graph_values import MemoryEdge, MemoryEdgeType, MemoryGraphNodeMeta
from mnemolens.core import memories as core
from mnemolens.core.memories import EDGE_TYPES
from mnemolens.engine.memory_graph import EdgeGraph, moment_ms, moment_of
from mnemolens.engine.write import Write
from mnemolens.ranking.activation import Spread, Spreading
from mnemolens.ranking.clusters import Cluster

T = TypeVar("T")


class StoredGraph:
    """The graph of a backend's memories; see `InMemoryGraph` for what the methods do."""

    def __init__(self, backend: KuzuBackend) -> None:
        self._backend = backend

    def meta(self, node_id: str) -> MemoryGraphNodeMeta | None:
        """A node's metadata; of a memory to which nobody gave any, what the memory says."""
        return self._read(
            lambda graph: MemoryGraphNodeMeta(**graph.meta(node_id)) if graph.has_node(node_id) else None
        )

    def put_nodes(self, nodes: Mapping[str, MemoryGraphNodeMeta]) -> None:
        """Adds nodes, or gives those that are there other metadata."""
        self._write(lambda graph: graph.put_nodes({one: asdict(meta) for one, meta in nodes.items()}))

    def drop_node(self, node_id: str) -> int:
        """Takes a node and its edges out; a memory of that id stays a memory."""
        return self._write(lambda graph: graph.drop_nodes([node_id]))

    def put_edges(self, edges: Sequence[MemoryEdge]) -> None:
        """Adds edges, or gives those that are there another weight."""
        self._write(lambda graph: graph.put_edges([_stored(edge) for edge in edges]))

    def drop_edges(self, edges: Iterable[MemoryEdge]) -> int:
        """Takes edges away."""
        return self._write(lambda graph: graph.drop_edges(map(_stored, edges)))

    def edges_of(self, node_id: str) -> list[MemoryEdge]:
        """The edges from and to a node; those of types that this version doesn't know are not among them."""
        return self._read(
            lambda graph: [_edge(edge) for edge in graph.edges_of(node_id) if edge.type in EDGE_TYPES]
        )

    def together(self, node_ids: Sequence[str], rate: float, _now_ms: float) -> None:
        """Strengthens the connection of every two of these nodes."""
        self._write(lambda graph: graph.together(node_ids, rate))

    def spread(self, seeds: Iterable[str], params: Spreading) -> Spread[str]:
        """Spreads activation."""
        return self._read(lambda graph: graph.spread(seeds, params))

    def clusters(self, min_size: int) -> list[Cluster]:
        """Memories that are connected with each other, in the order of their oldest."""
        return self._read(lambda graph: graph.clusters(min_size))

    def counts(self) -> tuple[int, int]:
        """How many nodes, and how many edges."""
        return self._read(lambda graph: (len(graph.nodes()), sum(1 for _ in graph.edges())))

    def clear(self) -> None:
        """Takes all nodes and edges out; the memories stay."""
        self._write(lambda graph: graph.drop_nodes(graph.nodes()))

    def _read(self, ask: Callable[[EdgeGraph], T]) -> T:
        shared = self._backend._open()  # noqa: SLF001 - the classes are one surface

        async def work() -> T:
            shared.workspace.journaling.catch_up()
            return ask(shared.workspace.memory_graph)

        return shared.call(work)

    def _write(self, plan: Callable[[EdgeGraph], Write[T]]) -> T:
        shared = self._backend._open()  # noqa: SLF001 - the classes are one surface
        return shared.call(lambda: written(shared, lambda: plan(shared.workspace.memory_graph)))


def _stored(edge: MemoryEdge) -> core.MemoryEdge:
    created = moment_of(edge.created_at or 0)
    return core.MemoryEdge(edge.source_id, edge.target_id, edge.type.value, edge.weight, created)


def _edge(edge: core.MemoryEdge) -> MemoryEdge:
    kind = MemoryEdgeType(edge.type)
    return MemoryEdge(edge.source_id, edge.target_id, kind, edge.weight, moment_ms(edge.created_at))

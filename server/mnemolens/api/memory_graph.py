"""`MemoryGraph`: memories as nodes, the edges between them, spreading activation, clusters.

Owns the documented methods and their checks; the graph itself is held by `graph_in_memory.py`, or kept by a
backend (`graph_stored.py`).
"""

import threading
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from mnemolens.api.backend import KuzuBackend
from mnemolens.api.conversion import number, share
from mnemolens.api.graph_in_memory import InMemoryGraph
from mnemolens.api.graph_stored import StoredGraph
from mnemolens.api.graph_values import (
    ActivatedNode,
    MemoryCluster,
    MemoryEdge,
    MemoryEdgeType,
    MemoryGraphNodeMeta,
    SpreadingActivationConfig,
    config_of,
    edge_of,
    edge_type,
    meta_of,
    node_id,
)
from mnemolens.core.errors import InvalidArgument
from mnemolens.ranking.activation import Spread, Spreading
from mnemolens.ranking.clusters import Cluster

NodeMeta = MemoryGraphNodeMeta | Mapping[str, Any]
Edge = MemoryEdge | Mapping[str, Any]


class _Graph(Protocol):
    """What holds the nodes and edges."""

    def meta(self, node_id: str) -> MemoryGraphNodeMeta | None: ...
    def put_nodes(self, nodes: Mapping[str, MemoryGraphNodeMeta]) -> None: ...
    def drop_node(self, node_id: str) -> int: ...
    def put_edges(self, edges: list[MemoryEdge]) -> None: ...
    def drop_edges(self, edges: list[MemoryEdge]) -> int: ...
    def edges_of(self, node_id: str) -> list[MemoryEdge]: ...
    def together(self, node_ids: list[str], rate: float, now_ms: float) -> None: ...
    def spread(self, seeds: list[str], params: Spreading) -> Spread[str]: ...
    def clusters(self, min_size: int) -> list[Cluster]: ...
    def counts(self) -> tuple[int, int]: ...
    def clear(self) -> None: ...


class MemoryGraph:
    """A graph of memories. Synchronous; any number of threads may use one.

    With a backend it is the graph of that backend's memories: each memory is a node by itself, and what is
    added here is on disk when a method returns. Without one it is a graph in memory that ends with it.

    Args:
        backend: a `KuzuBackend` that keeps the graph; None for a graph in memory.
    """

    def __init__(self, backend: KuzuBackend | None = None) -> None:
        if backend is not None and not isinstance(backend, KuzuBackend):
            raise InvalidArgument("backend", f"must be a KuzuBackend or None, not {type(backend).__name__}")
        self._backend = backend
        self._graph: _Graph = InMemoryGraph() if backend is None else StoredGraph(backend)
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self.initialize()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    def initialize(self) -> None:
        """Reads what the backend keeps; again is harmless. Other methods do it, too."""
        if self._backend is not None:
            self._backend.initialize()

    def shutdown(self) -> None:
        """Nothing has to be done: what was added is on disk, and the backend is closed by its owner."""

    # Nodes ------------------------------------------------------------------------------------------------

    def add_node(self, memory_id: str, metadata: NodeMeta) -> None:
        """Adds a node; one of that id gets other metadata and keeps its edges.

        Args:
            memory_id: any text but an empty one.
            metadata: a `MemoryGraphNodeMeta` or a dict of its fields.

        Raises:
            InvalidArgument: id or metadata are wrong; names the field.
            StoreError: the backend can't write; nothing is added.
        """
        self.add_nodes({memory_id: metadata})

    def add_nodes(self, nodes: Mapping[str, NodeMeta]) -> None:
        """Adds many nodes at once: all, or, where one is wrong, none. See `add_node`."""
        now = _now_ms()
        checked = {node_id("memory_id", one): meta_of(meta, now) for one, meta in nodes.items()}
        with self._lock:
            self._graph.put_nodes(checked)

    def remove_node(self, memory_id: str) -> int:
        """Takes a node and all its edges out of the graph; a stored memory of that id stays stored.

        Returns:
            How many nodes that were: 1, or 0 where there was none of that id.
        """
        with self._lock:
            return self._graph.drop_node(node_id("memory_id", memory_id))

    def has_node(self, memory_id: str) -> bool:
        """Whether there is a node of that id."""
        return self.get_node(memory_id) is not None

    def get_node(self, memory_id: str) -> MemoryGraphNodeMeta | None:
        """A node's metadata; None where there is none of that id."""
        with self._lock:
            return self._graph.meta(node_id("memory_id", memory_id))

    # Edges ------------------------------------------------------------------------------------------------

    def add_edge(self, edge: Edge) -> None:
        """Adds an edge; one of the same source, target and type gets this weight.

        Args:
            edge: a `MemoryEdge` or a dict of its fields.

        Raises:
            InvalidArgument: something in it is wrong, or it leads to where it begins; names the field.
            NotFound: one of its ends is no node.
            StoreError: the backend can't write; nothing is added.
        """
        self.add_edges([edge])

    def add_edges(self, edges: Iterable[Edge]) -> None:
        """Adds many edges at once: all, or, where one is wrong, none. See `add_edge`."""
        now = _now_ms()
        checked = [edge_of(edge, now) for edge in edges]
        with self._lock:
            self._graph.put_edges(checked)

    def get_edges(self, memory_id: str, type: MemoryEdgeType | str | None = None) -> list[MemoryEdge]:  # noqa: A002 - as documented
        """The edges from and to a node, the oldest first.

        Args:
            memory_id: the node's id; one that is unknown has none.
            type: only edges of this type; None for all.
        """
        wanted = None if type is None else edge_type("type", type)
        with self._lock:
            edges = self._graph.edges_of(node_id("memory_id", memory_id))
        return [edge for edge in edges if wanted is None or edge.type is wanted]

    def remove_edge(self, source_id: str, target_id: str, type: MemoryEdgeType | str | None = None) -> int:  # noqa: A002 - as for `get_edges`
        """Takes the edges from one node to another away.

        Args:
            source_id: where they begin; CO_ACTIVATED has no direction.
            target_id: where they end.
            type: only the edge of this type; None for all.

        Returns:
            How many edges that were.
        """
        source, target = node_id("source_id", source_id), node_id("target_id", target_id)
        with self._lock:
            found = [
                edge
                for edge in self.get_edges(source, type)
                if edge.target_id == target
                or (edge.type is MemoryEdgeType.CO_ACTIVATED and edge.source_id == target)
            ]
            return self._graph.drop_edges(found)

    # What it is for ---------------------------------------------------------------------------------------

    def spreading_activation(
        self, seed_ids: Iterable[str], config: SpreadingActivationConfig | Mapping[str, Any] | None = None
    ) -> list[ActivatedNode]:
        """What some memories bring to mind, after Anderson's ACT-R.

        Each seed has activation 1. Over an edge, in either direction, passes the activation times
        (1 - decay_per_hop) times the edge's weight; of several paths the strongest counts.

        Args:
            seed_ids: where it begins; unknown ones are passed over. They are not among the results.
            config: a `SpreadingActivationConfig` or a dict of its fields; None for the default.

        Returns:
            The strongest first, ties in the order of discovery, at most `max_results`.

        Raises:
            InvalidArgument: ids or configuration are wrong; names the field.
        """
        checked = config_of(config)
        seeds = _ids("seed_ids", seed_ids)
        with self._lock:
            found = self._graph.spread(seeds, checked.spreading()).found
        return [
            ActivatedNode(one.node, one.activation, one.depth, list(one.seeds))
            for one in found[: checked.max_results]
        ]

    def record_co_activation(self, memory_ids: Iterable[str], learning_rate: float = 0.1) -> None:
        """Strengthens the CO_ACTIVATED edge between every two of these memories, up to a weight of 1.

        Args:
            memory_ids: nodes that were used together; one that is named twice counts once.
            learning_rate: what is added, 0 to 1.

        Raises:
            InvalidArgument: ids or rate are wrong; names the field.
            NotFound: one of them is no node; nothing is strengthened.
        """
        ids, rate = _ids("memory_ids", memory_ids), share("learning_rate", learning_rate)
        with self._lock:
            self._graph.together(ids, rate, _now_ms())

    def get_conflicts(self, memory_id: str) -> list[MemoryEdge]:
        """The CONTRADICTS edges from and to a node."""
        return self.get_edges(memory_id, MemoryEdgeType.CONTRADICTS)

    def detect_clusters(self, min_size: int = 2) -> list[MemoryCluster]:
        """Memories that are connected with each other, directly or over others.

        Args:
            min_size: how many a cluster must have, at least 1.

        Raises:
            InvalidArgument: `min_size` is no whole number from 1 on.
        """
        least = number("min_size", min_size, 1)
        with self._lock:
            found = self._graph.clusters(least)
        return [MemoryCluster(one.centroid, one.centroid, list(one.members), one.density) for one in found]

    def node_count(self) -> int:
        """How many nodes there are."""
        with self._lock:
            return self._graph.counts()[0]

    def edge_count(self) -> int:
        """How many edges there are."""
        with self._lock:
            return self._graph.counts()[1]

    def clear(self, *, confirm: bool = False) -> None:
        """Takes all nodes and edges out of the graph; stored memories stay stored.

        Args:
            confirm: must be True where a backend keeps the graph.

        Raises:
            InvalidArgument: it is not; nothing is taken out.
        """
        if self._backend is not None and confirm is not True:
            raise InvalidArgument("confirm", "must be True: this takes every edge out of the stored graph")
        with self._lock:
            self._graph.clear()


def _ids(name: str, values: object) -> list[str]:
    """Ids, each once, in their order."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(name, f"must be a list of ids, not {values!r}")
    return list(dict.fromkeys(node_id(name, value) for value in values))


def _now_ms() -> int:
    return round(time.time() * 1000)

"""A `MemoryGraph` that a backend keeps: on disk, in the Cypher graph, and for other processes."""

import json
from pathlib import Path

import pytest

from mnemolens import (
    InvalidArgument,
    KuzuBackend,
    MemoryCluster,
    MemoryEdge,
    MemoryEdgeType,
    MemoryEntry,
    MemoryGraph,
    MemoryGraphNodeMeta,
    NotFound,
    StoreError,
)

DATA = Path(__file__).parent.parent / "data/ranking"
NODE = MemoryGraphNodeMeta(created_at=1_790_000_000_000)


@pytest.fixture
def graph(backend):
    with MemoryGraph(backend) as graph:
        yield graph


def remember(backend, *ids):
    for one in ids:
        backend.store_memory(MemoryEntry(id=one, content=f"Memory {one}", session_id="s1", importance=0.7))


def test_memories_are_nodes(backend, graph):
    remember(backend, "a", "b")
    assert graph.node_count() == 2
    meta = graph.get_node("a")
    assert (meta.type, meta.scope, meta.scope_id, meta.strength) == ("semantic", "session", "s1", 0.7)
    assert meta.created_at == pytest.approx(
        backend.get_memory_by_id("a").created_at.timestamp() * 1000, abs=1
    )
    graph.add_node("a", MemoryGraphNodeMeta("episodic", "team", "t", 0.2, 5))
    assert graph.get_node("a") == MemoryGraphNodeMeta("episodic", "team", "t", 0.2, 5)
    assert graph.node_count() == 2
    assert backend.get_memory_by_id("a").memory_type == "semantic"


def test_a_deleted_memory_is_none_until_it_is_restored(backend, graph):
    remember(backend, "a", "b")
    graph.add_edge(MemoryEdge("a", "b"))
    backend.delete_memory("b")
    assert not graph.has_node("b")
    assert graph.get_edges("a") == graph.spreading_activation(["a"]) == []
    assert (graph.node_count(), graph.edge_count()) == (1, 0)
    backend.restore_memory("b")
    assert [one.memory_id for one in graph.spreading_activation(["a"])] == ["b"]


def test_the_graph_is_kept(make_backend):
    first = make_backend()
    graph = MemoryGraph(first)
    remember(first, "a", "b")
    graph.add_node("not a memory", NODE)
    edge = MemoryEdge("a", "not a memory", MemoryEdgeType.CAUSED_BY, 0.25, 1_790_000_000_500)
    graph.add_edges([edge, MemoryEdge("a", "b", MemoryEdgeType.SAME_TOPIC, 0.5)])
    for _ in range(3):
        graph.record_co_activation(["b", "a"])
    first.close()

    again = MemoryGraph(make_backend())
    assert again.get_node("not a memory") == NODE
    assert again.get_edges("not a memory") == [edge]
    (together,) = again.get_edges("a", "CO_ACTIVATED")
    assert together.weight == pytest.approx(0.3)
    assert [one.memory_id for one in again.spreading_activation(["a"])] == ["b", "not a memory"]
    assert again.remove_edge("a", "b") == 2  # one each way, of which CO_ACTIVATED knows none
    assert again.remove_node("not a memory") == 1
    assert again.edge_count() == 0


def test_another_backend_sees_it_at_once(make_backend):
    remember(make_backend(), "a", "b")
    MemoryGraph(make_backend()).add_edge(MemoryEdge("a", "b"))
    assert MemoryGraph(make_backend()).edge_count() == 1


def test_one_line_a_recall(backend, graph):
    remember(backend, *"abcd")
    journal = backend.path / "journal"
    before = sum(len(file.read_text().splitlines()) for file in journal.glob("*.jsonl"))
    graph.record_co_activation([*"abcd"])
    lines = [line for file in journal.glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len(lines) == before + 1
    assert graph.edge_count() == 6


def test_taking_a_node_out_leaves_the_memory(backend, graph):
    remember(backend, "a", "b", "c")
    graph.add_edges([MemoryEdge("a", "b"), MemoryEdge("b", "c")])
    assert graph.remove_node("b") == 1
    assert graph.remove_node("b") == 0
    assert (graph.node_count(), graph.edge_count()) == (2, 0)
    assert backend.get_memory_by_id("b") is not None
    with pytest.raises(NotFound, match="target_id: no memory 'b'"):
        graph.add_edge(MemoryEdge("a", "b"))
    graph.add_node("b", NODE)
    graph.add_edge(MemoryEdge("a", "b"))
    assert graph.edge_count() == 1


def test_clear_wants_to_be_confirmed(backend, graph):
    remember(backend, "a", "b")
    graph.add_edge(MemoryEdge("a", "b"))
    for given in ({}, {"confirm": 1}):
        with pytest.raises(InvalidArgument, match="confirm: must be True"):
            graph.clear(**given)
    assert graph.edge_count() == 1
    graph.clear(confirm=True)
    assert (graph.node_count(), graph.edge_count()) == (0, 0)
    assert backend.get_stats()["total_memories"] == 2
    remember(backend, "c")
    assert graph.node_count() == 1


def test_nothing_is_written_where_an_id_is_unknown(backend, graph):
    remember(backend, "a", "b")
    with pytest.raises(NotFound):
        graph.add_edges([MemoryEdge("a", "b"), MemoryEdge("a", "x")])
    with pytest.raises(NotFound):
        graph.record_co_activation(["a", "b", "x"])
    assert graph.edge_count() == 0


def test_clusters_of_stored_memories(backend, graph):
    remember(backend, *"abcde")
    graph.add_edges(
        [MemoryEdge("c", "d", weight=0.9), MemoryEdge("d", "e", weight=0.2), MemoryEdge("a", "b")]
    )
    assert graph.detect_clusters(3) == [MemoryCluster("d", "d", ["c", "d", "e"], 2 / 6)]
    assert [one.member_ids for one in graph.detect_clusters()] == [["a", "b"], ["c", "d", "e"]]


@pytest.mark.graph
def test_edges_are_in_the_cypher_graph(backend, graph):
    remember(backend, "a", "b")
    graph.add_edge(MemoryEdge("a", "b", MemoryEdgeType.CONTRADICTS, 0.5))
    graph.record_co_activation(["a", "b"])
    query = "MATCH (m)-[e:MEMORY_EDGE]->(n) RETURN m.memory_id, n.memory_id, e.type, e.weight ORDER BY e.type"
    rows = [tuple(row) for row in backend.connection.execute(query)]
    assert rows == [("a", "b", "CONTRADICTS", 0.5), ("a", "b", "CO_ACTIVATED", 0.1)]
    graph.remove_edge("a", "b", "CONTRADICTS")
    assert [row[2] for row in backend.connection.execute(query)] == ["CO_ACTIVATED"]
    graph.clear(confirm=True)
    assert list(backend.connection.execute(query)) == []


def test_the_golden_graph_comes_out_of_the_journal_as_it_went_in(make_backend):
    golden = json.loads((DATA / "graph_1000.json").read_text("utf-8"))
    first = make_backend()
    graph = MemoryGraph(first)
    graph.add_nodes({f"m{number}": NODE for number in range(golden["n"])})
    graph.add_edges(
        MemoryEdge(f"m{source}", f"m{target}", golden["types"][kind], weight, 1)
        for source, target, kind, weight in golden["edges"]
    )
    first.close()
    again = MemoryGraph(make_backend())
    for case in json.loads((DATA / "golden_activation_1000.json").read_text("utf-8")):
        found = again.spreading_activation(case["seeds"], case["config"])
        assert [(one.memory_id, one.activation, one.depth, one.activated_by) for one in found] == [
            (one["memoryId"], one["activation"], one["depth"], one["activatedBy"]) for one in case["result"]
        ]


def test_a_closed_backend_says_so(backend, graph):
    backend.close()
    with pytest.raises(StoreError, match="closed"):
        graph.node_count()


def test_it_takes_no_path():
    with pytest.raises(InvalidArgument, match="backend: must be a KuzuBackend"):
        MemoryGraph("store")
    assert KuzuBackend  # it is what the message names

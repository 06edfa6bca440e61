"""`MemoryGraph`: the documented example, the golden figures, the deviations, and bad input."""

import json
import threading
import time
from pathlib import Path

import pytest

from mnemolens import (
    ActivatedNode,
    InvalidArgument,
    MemoryCluster,
    MemoryEdge,
    MemoryEdgeType,
    MemoryGraph,
    MemoryGraphNodeMeta,
    NotFound,
    SpreadingActivationConfig,
)

DATA = Path(__file__).parent.parent / "data/ranking"
GRAPH = json.loads((DATA / "graph_1000.json").read_text("utf-8"))
ON_THE_GRAPH = json.loads((DATA / "golden_activation_1000.json").read_text("utf-8"))
SMALL = {case["name"]: case for case in json.loads((DATA / "golden_semantics.json").read_text("utf-8"))}
NODE = MemoryGraphNodeMeta(created_at=1)


def graph_of(nodes, edges=(), graph=None):
    graph = graph or MemoryGraph()
    graph.add_nodes(dict.fromkeys(nodes, NODE))
    graph.add_edges(
        {"sourceId": source, "targetId": target, "type": kind, "weight": weight, "createdAt": 1}
        for source, target, kind, weight in edges
    )
    return graph


def graph_of_a_thousand(graph=None):
    edges = [
        (f"m{source}", f"m{target}", GRAPH["types"][kind], weight)
        for source, target, kind, weight in GRAPH["edges"]
    ]
    return graph_of((f"m{number}" for number in range(GRAPH["n"])), edges, graph)


def as_in_the_file(found):
    return [
        {
            "memoryId": one.memory_id,
            "activation": one.activation,
            "depth": one.depth,
            "activatedBy": one.activated_by,
        }
        for one in found
    ]


@pytest.fixture(scope="module")
def thousand():
    return graph_of_a_thousand()


# What the seed documents ------------------------------------------------------------------------------------


def test_the_documented_example():
    brain = None  # a graph in memory
    graph = MemoryGraph(brain)
    graph.initialize()
    now = int(time.time() * 1000)

    graph.add_node(
        "mem-1",
        {"type": "episodic", "scope": "session", "scopeId": "s1", "strength": 1.0, "createdAt": now},
    )
    graph.add_node("mem-2", MemoryGraphNodeMeta("episodic", "session", "s1", 1.0, now))
    graph.add_edge(
        {"sourceId": "mem-1", "targetId": "mem-2", "type": "SAME_TOPIC", "weight": 0.8, "createdAt": now}
    )

    activated = graph.spreading_activation(["mem-1"])
    assert activated == [ActivatedNode("mem-2", 0.4, 1, ["mem-1"])]  # 1 * (1 - .5) * .8
    assert graph.get_node("mem-1") == MemoryGraphNodeMeta("episodic", "session", "s1", 1.0, now)
    assert graph.get_edges("mem-2") == [
        MemoryEdge("mem-1", "mem-2", MemoryEdgeType.SAME_TOPIC, weight=0.8, created_at=now)
    ]
    graph.shutdown()


@pytest.mark.parametrize("case", ON_THE_GRAPH, ids=lambda case: "-".join(case["seeds"]))
def test_the_golden_graph(thousand, case):
    assert thousand.node_count() == 1000
    assert thousand.edge_count() == 5000
    found = thousand.spreading_activation(case["seeds"], case["config"])
    assert as_in_the_file(found) == case["result"]


@pytest.mark.parametrize(
    "case",
    [case for name, case in SMALL.items() if "seeds" in case and "undefined" not in name],
    ids=lambda case: case["name"],
)
def test_the_golden_rules(case):
    edges = [(source, target, "SAME_TOPIC", weight) for source, target, weight in case["edges"]]
    graph = graph_of(case["nodes"], edges)
    assert as_in_the_file(graph.spreading_activation(case["seeds"], case["config"])) == case["result"]


def test_what_is_none_in_a_configuration_is_the_default():
    """JavaScript's `undefined`, which the seed takes for a value, and then finds nothing."""
    case = SMALL["explicit undefined overrides default (JS spread)"]
    graph = graph_of(case["nodes"], [("a", "b", "SAME_TOPIC", 1)])
    assert case["result"] == []
    assert graph.spreading_activation(["a"], {"maxDepth": None}) == [ActivatedNode("b", 0.5, 1, ["a"])]


def test_the_eight_types_of_edges():
    assert {kind.value for kind in MemoryEdgeType} == set(GRAPH["types"])
    assert len(MemoryEdgeType) == 8


def test_the_defaults():
    assert SpreadingActivationConfig() == SpreadingActivationConfig(
        max_depth=3, decay_per_hop=0.5, activation_threshold=0.1, max_results=20
    )


def test_nodes_are_replaced_and_keep_their_edges():
    graph = graph_of("ab", [("a", "b", "SAME_TOPIC", 0.5)])
    graph.add_node("a", {"type": "semantic", "strength": 0.2, "createdAt": 7})
    assert graph.edge_count() == SMALL["addNode upsert with incident edge"]["edgeCount"] == 1
    assert graph.get_node("a").strength == 0.2
    assert graph.get_node("a").created_at == 7
    graph.initialize()
    after = SMALL["...after re-initialize"]
    assert (graph.edge_count(), graph.node_count()) == (after["edgeCount"], after["nodeCount"])


def test_a_node_takes_its_edges_with_it():
    graph = graph_of("abc", [("a", "b", "SAME_TOPIC", 1), ("b", "c", "SAME_TOPIC", 1)])
    assert graph.remove_node("b") == 1
    assert graph.remove_node("b") == 0
    assert not graph.has_node("b")
    assert (graph.node_count(), graph.edge_count()) == (2, 0)
    assert graph.get_edges("a") == graph.get_edges("b") == []
    assert graph.spreading_activation(["a"]) == []


def test_edges_are_given_by_end_and_type():
    graph = graph_of("abc", [("a", "b", "CAUSED_BY", 0.5), ("c", "a", "SAME_TOPIC", 0.4)])
    assert [(edge.source_id, edge.target_id) for edge in graph.get_edges("a")] == [("a", "b"), ("c", "a")]
    assert [edge.source_id for edge in graph.get_edges("a", "SAME_TOPIC")] == ["c"]
    assert graph.get_edges("nobody") == []


def test_conflicts_are_the_edges_that_contradict():
    graph = graph_of("abc", [("a", "b", "CONTRADICTS", 1), ("a", "c", "SUPERSEDES", 1)])
    assert [edge.target_id for edge in graph.get_conflicts("a")] == ["b"]
    assert [edge.source_id for edge in graph.get_conflicts("b")] == ["a"]
    assert graph.get_conflicts("c") == []


def test_co_activation_makes_then_strengthens_an_edge_up_to_1():
    graph = graph_of("abc")
    graph.record_co_activation(["a", "b", "c"])
    assert [edge.weight for edge in graph.get_edges("a")] == [0.1, 0.1]
    graph.record_co_activation(["a", "b"], 0.25)
    assert graph.get_edges("a")[0].weight == pytest.approx(0.35)
    for _ in range(9):
        graph.record_co_activation(["a", "b"])
    assert graph.get_edges("a")[0].weight == 1.0
    assert graph.edge_count() == 3


def test_clusters():
    edges = [("a", "b", "SAME_TOPIC", 1), ("b", "a", "SAME_TOPIC", 1), ("c", "d", "SAME_TOPIC", 1)]
    graph = graph_of("abcde", edges)
    golden = SMALL["clusters"]
    for least, expected in ((2, golden["clusters"]), (1, golden["min1"])):
        assert graph.detect_clusters(least) == [
            MemoryCluster(one["clusterId"], one["clusterId"], one["memberIds"], one["density"])
            for one in expected
        ]
    assert graph.detect_clusters() == graph.detect_clusters(2)
    assert graph.detect_clusters(3) == []


def test_clear():
    graph = graph_of("ab", [("a", "b", "SAME_TOPIC", 1)])
    graph.clear()
    assert (graph.node_count(), graph.edge_count()) == (0, 0)
    graph.add_node("a", NODE)
    assert graph.get_edges("a") == []


# Where it deviates, and why ---------------------------------------------------------------------------------


def test_co_activation_leaves_other_edges_alone():
    assert SMALL["coactivation overwrites CONTRADICTS edge"]["conflicts"] == []  # the seed loses the conflict
    graph = graph_of("ab", [("a", "b", "CONTRADICTS", 1)])
    graph.record_co_activation(["a", "b"])
    assert [edge.type for edge in graph.get_edges("a")] == ["CONTRADICTS", "CO_ACTIVATED"]
    assert len(graph.get_conflicts("a")) == 1


def test_co_activation_has_no_direction():
    assert len(SMALL["coactivation order-dependent: 2 edges"]["edges"]) == 2  # the seed makes one each way
    graph = graph_of("ab")
    graph.record_co_activation(["a", "b"])
    graph.record_co_activation(["b", "a"])
    assert [(edge.source_id, edge.target_id, edge.weight) for edge in graph.get_edges("b")] == [
        ("a", "b", 0.2)
    ]
    graph.add_edge(MemoryEdge("b", "a", MemoryEdgeType.CO_ACTIVATED, 0.9, 1))
    assert [edge.weight for edge in graph.get_edges("a")] == [0.9]
    assert graph.remove_edge("b", "a", "CO_ACTIVATED") == 1
    assert graph.edge_count() == 0


def test_a_memory_named_twice_is_not_connected_with_itself():
    assert SMALL["coactivation duplicate id -> self edge"]["edges"][0]["targetId"] == "a"
    graph = graph_of("a")
    graph.record_co_activation(["a", "a"])
    assert graph.edge_count() == 0


def test_ids_may_contain_any_character():
    assert (
        SMALL["key collision with colon ids"]["edgeCount"] == 1
    )  # a -> b:c and a:b -> c are one to the seed
    ids = ["a", "b:c", "a:b", "c", "\0", "id with spaces", "记忆", "a->b"]
    graph = graph_of(ids, [("a", "b:c", "SAME_TOPIC", 0.5), ("a:b", "c", "SAME_TOPIC", 0.6)])
    assert graph.edge_count() == 2
    graph.record_co_activation(ids)
    assert graph.edge_count() == 2 + 28  # 8 * 7 / 2
    assert all(len(graph.get_edges(one)) >= 7 for one in ids)


def test_unknown_ids_raise_before_anything_is_written():
    assert SMALL["coactivation with missing node"]["edges"] == 0
    graph = graph_of("ab")
    with pytest.raises(NotFound, match="memory_ids: no memory 'x'"):
        graph.record_co_activation(["a", "b", "x"])
    with pytest.raises(NotFound, match="target_id: no memory 'x'"):
        graph.add_edges([MemoryEdge("a", "b"), MemoryEdge("a", "x")])
    with pytest.raises(NotFound, match="source_id: no memory 'x'"):
        graph.add_edge(MemoryEdge("x", "a"))
    assert graph.edge_count() == 0


def test_edges_of_several_types_connect_two_and_are_removed_one_by_one():
    graph = graph_of("ab", [("a", "b", "CONTRADICTS", 1), ("a", "b", "SAME_TOPIC", 1)])
    graph.add_edge(MemoryEdge("a", "b", MemoryEdgeType.SAME_TOPIC, 0.3, 2))
    assert [edge.weight for edge in graph.get_edges("a")] == [1, 0.3]
    assert graph.remove_edge("b", "a") == 0
    assert graph.remove_edge("a", "b", MemoryEdgeType.CONTRADICTS) == 1
    assert graph.remove_edge("a", "b") == 1
    assert graph.edge_count() == 0


# Bad input --------------------------------------------------------------------------------------------------

INFINITE = float("inf")
NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize("weight", [-0.1, 1.1, INFINITE, -INFINITE, NOT_A_NUMBER, "1", None, True])
def test_bad_weights(weight):
    graph = graph_of("ab")
    with pytest.raises(InvalidArgument, match=r"^weight: "):
        graph.add_edges([MemoryEdge("a", "b"), MemoryEdge("b", "a", weight=weight, created_at=1)])
    with pytest.raises(InvalidArgument, match=r"^learning_rate: "):
        graph.record_co_activation(["a", "b"], weight)
    with pytest.raises(InvalidArgument, match=r"^strength: "):
        graph.add_nodes({"c": NODE, "d": MemoryGraphNodeMeta(strength=weight)})
    assert (graph.node_count(), graph.edge_count()) == (2, 0)


@pytest.mark.parametrize(
    ("edge", "field"),
    [
        ({"sourceId": "a", "targetId": "a", "type": "SAME_TOPIC"}, "target_id"),
        ({"sourceId": "a", "targetId": "b", "type": "LIKES"}, "type"),
        ({"sourceId": "a", "targetId": "b", "type": 3}, "type"),
        ({"sourceId": "a"}, "edge.target_id"),
        ({"sourceId": "a", "targetId": "b", "wieght": 1}, "edge.wieght"),
        ({"sourceId": "", "targetId": "b"}, "source_id"),
        ({"sourceId": "a", "targetId": 7}, "target_id"),
        ({"sourceId": "a", "targetId": "\ud800"}, "target_id"),
        ({"sourceId": "a", "targetId": "b", "createdAt": -1}, "created_at"),
        ({"sourceId": "a", "targetId": "b", "createdAt": INFINITE}, "created_at"),
        ({"sourceId": "a", "targetId": "b", "createdAt": 1e18}, "created_at"),
        ({"sourceId": "a", "targetId": "b", "createdAt": "now"}, "created_at"),
        ("a->b", "edge"),
        (None, "edge"),
    ],
)
def test_bad_edges(edge, field):
    graph = graph_of("ab")
    with pytest.raises(InvalidArgument) as caught:
        graph.add_edge(edge)
    assert caught.value.field == field
    assert graph.edge_count() == 0


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"maxDepth": -1}, "max_depth"),
        ({"maxDepth": 1.5}, "max_depth"),
        ({"decayPerHop": -0.1}, "decay_per_hop"),
        ({"decayPerHop": 1.1}, "decay_per_hop"),
        ({"decayPerHop": NOT_A_NUMBER}, "decay_per_hop"),
        ({"activationThreshold": 2}, "activation_threshold"),
        ({"maxResults": -1}, "max_results"),
        ({"depth": 1}, "config.depth"),
        (SpreadingActivationConfig(max_results=None), "max_results"),
        ([3], "config"),
    ],
)
def test_bad_configurations(config, field):
    with pytest.raises(InvalidArgument) as caught:
        graph_of("ab").spreading_activation(["a"], config)
    assert caught.value.field == field


def test_other_bad_arguments():
    graph = graph_of("ab")
    for field, call in {
        "seed_ids": lambda: graph.spreading_activation("a"),
        "memory_ids": lambda: graph.record_co_activation(["a", 3]),
        "memory_id": lambda: graph.add_node("", NODE),
        "metadata": lambda: graph.add_node("c", "episodic"),
        "metadata.kind": lambda: graph.add_node("c", {"kind": "episodic"}),
        "scope_id": lambda: graph.add_node("c", {"scopeId": 3}),
        "type": lambda: graph.get_edges("a", "LIKES"),
        "min_size": lambda: graph.detect_clusters(0),
        "backend": lambda: MemoryGraph("store.db"),
    }.items():
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert caught.value.field == field
    assert graph.node_count() == 2


def test_what_is_left_when_some_was_taken_out_is_as_it_was():
    rows = [("a", "b", "CAUSED_BY", 0.1), ("c", "d", "SAME_TOPIC", 0.2), ("b", "c", "SUPERSEDES", 0.3)]
    graph = graph_of("abcd", [*rows, ("d", "a", "CONTRADICTS", 0.4)])
    assert graph.remove_edge("a", "b") == 1  # the first that was made
    assert graph.remove_node("c") == 1  # and with it the two in the middle
    graph.add_node("e", NODE)
    graph.add_edge(MemoryEdge("e", "b", MemoryEdgeType.SUPERSEDES, 0.5, 7))
    left = {(edge.source_id, edge.target_id): edge for one in "abde" for edge in graph.get_edges(one)}
    assert {ends: (edge.type.value, edge.weight) for ends, edge in left.items()} == {
        ("d", "a"): ("CONTRADICTS", 0.4),
        ("e", "b"): ("SUPERSEDES", 0.5),
    }
    assert left["e", "b"].created_at == 7
    assert (graph.node_count(), graph.edge_count()) == (4, 2)
    assert [one.member_ids for one in graph.detect_clusters()] == [["a", "d"], ["b", "e"]]
    assert graph.get_edges("c") == []


def test_threads_share_a_graph():
    graph = graph_of("ab")

    def work(name):
        for number in range(60):
            graph.add_node(f"{name}{number}", NODE)
            graph.add_edge(MemoryEdge("a", f"{name}{number}", MemoryEdgeType.SAME_TOPIC, 1.0, 1))
            graph.record_co_activation(["a", "b"], 0.001)
            graph.spreading_activation(["a"])
            graph.detect_clusters()

    threads = [threading.Thread(target=work, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert graph.node_count() == 2 + 3 * 60
    assert graph.edge_count() == 1 + 3 * 60
    assert graph.get_edges("b")[0].weight == pytest.approx(0.18)

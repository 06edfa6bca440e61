"""Spreading activation: the seed's own figures, and what must hold for any graph."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.ranking.activation import Spreading, spread

DATA = Path(__file__).parent.parent / "data/ranking"
GRAPH = json.loads((DATA / "graph_1000.json").read_text("utf-8"))
ON_THE_GRAPH = json.loads((DATA / "golden_activation_1000.json").read_text("utf-8"))
SMALL = [
    case
    for case in json.loads((DATA / "golden_semantics.json").read_text("utf-8"))
    # A value that is there and undefined is JavaScript's alone.
    if "seeds" in case and "undefined" not in case["name"]
]
NAMES = {"maxDepth": "max_depth", "decayPerHop": "decay_per_hop", "activationThreshold": "threshold"}


def both_ways(edges):
    around = defaultdict(list)
    for source, target, weight in edges:
        around[source].append((target, weight))
        around[target].append((source, weight))
    return lambda node: around.get(node, ())


def activated(case, neighbours):
    """As the golden files write it."""
    config = dict(case["config"])
    limit = config.pop("maxResults", 20)
    seeds = [seed for seed in case["seeds"] if seed in case.get("nodes", case["seeds"])]
    found = spread(seeds, neighbours, Spreading(**{NAMES[key]: value for key, value in config.items()})).found
    return [
        {"memoryId": one.node, "activation": one.activation, "depth": one.depth, "activatedBy": [*one.seeds]}
        for one in found[:limit]
    ]


@pytest.mark.parametrize("case", ON_THE_GRAPH, ids=lambda case: "-".join(case["seeds"]))
def test_the_seeds_figures_on_a_graph_of_a_thousand(case):
    edges = [(f"m{source}", f"m{target}", weight) for source, target, _, weight in GRAPH["edges"]]
    assert activated(case, both_ways(edges)) == case["result"]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_the_seeds_rules(case):
    assert activated(case, both_ways(case["edges"])) == case["result"]


def test_seeds_of_different_strength():
    found = spread({"s": 1.0, "t": 0.6}, both_ways([("s", "a", 0.8), ("t", "b", 0.8)])).found
    assert [(one.node, one.activation) for one in found] == [
        ("a", pytest.approx(0.4)),
        ("b", pytest.approx(0.24)),
    ]


def test_the_path_is_the_strongest():
    weak_but_short, strong = ("s", "c", 0.3), [("s", "a", 1.0), ("a", "b", 1.0), ("b", "c", 1.0)]
    got = spread(["s"], both_ways([weak_but_short, *strong]), Spreading(decay_per_hop=0.1))
    assert got.path("c") == ("s", "a", "b", "c")
    assert got.path("a") == ("s", "a")
    assert got.path("s") == ("s",)


def test_nodes_may_be_of_different_kinds():
    around = {("code", "charge"): [(("memory", "m1"), 1.0)], ("memory", "m1"): [(("memory", "m2"), 0.8)]}
    got = spread([("code", "charge")], lambda node: around.get(node, ()))
    assert got.path(("memory", "m2")) == (("code", "charge"), ("memory", "m1"), ("memory", "m2"))


def test_a_graph_that_never_ends_does():
    got = spread(
        [0], lambda node: [(node + 1, 1.0)], Spreading(max_depth=10**9, decay_per_hop=0, max_visits=50)
    )
    assert [one.node for one in got.found] == list(range(1, 51))


nodes = st.integers(0, 12)
edges = st.lists(st.tuples(nodes, nodes, st.floats(0, 1)), max_size=40)


@given(edges, st.lists(nodes, max_size=3), st.integers(0, 4), st.floats(0, 1), st.floats(0.01, 1))
@settings(max_examples=60, deadline=None)
def test_activation_is_what_the_best_path_within_reach_gives(links, seeds, max_depth, decay, threshold):
    """Against all paths, walked one by one: no seed inside, every node on the way above the threshold."""
    neighbours = both_ways(links)
    best: dict[int, float] = {}

    def walk(node, activation, depth):
        if depth == max_depth:
            return
        for other, share in neighbours(node):
            received = activation * (1 - decay) * share
            if received >= threshold and other not in seeds and received > best.get((other, depth), 0):
                best[other, depth] = received
                walk(other, received, depth + 1)

    for seed in seeds:
        walk(seed, 1.0, 0)
    expected: dict[int, float] = {}
    for (node, _), activation in best.items():
        expected[node] = max(activation, expected.get(node, 0))
    got = spread(seeds, neighbours, Spreading(max_depth, decay, threshold))
    assert {one.node: one.activation for one in got.found} == expected
    assert [one.activation for one in got.found] == sorted(expected.values(), reverse=True)

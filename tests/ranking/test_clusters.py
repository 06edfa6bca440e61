"""Clusters, by hand and against a search that walks the graph node by node."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.ranking.clusters import Cluster, clusters


def found_in(nodes, edges, min_size=2):
    numbers = {node: 700 * place for place, node in enumerate(nodes)}  # with gaps, and far apart
    numbered = [(numbers[source], numbers[target], weight) for source, target, weight in edges]
    return clusters(numbers, numbered, min_size)


def test_the_seeds_example():
    found = found_in("abcde", [("a", "b", 1), ("b", "a", 1), ("c", "d", 1)], min_size=1)
    assert found == [Cluster("a", ("a", "b"), 1.0), Cluster("c", ("c", "d"), 0.5), Cluster("e", ("e",), 0.0)]


def test_small_ones_are_left_out():
    assert found_in("abc", [("a", "b", 1)]) == [Cluster("a", ("a", "b"), 0.5)]
    assert found_in("abc", [("a", "b", 1)], min_size=3) == []
    assert found_in("", []) == []


def test_the_centroid_has_the_heaviest_edges_not_the_most():
    edges = [("a", "b", 0.1), ("a", "c", 0.1), ("a", "d", 0.1), ("d", "e", 0.9)]
    (found,) = found_in("abcde", edges)
    assert found.centroid == "d"  # .1 + .9, against a's .3


def test_edges_of_several_types_between_two_count_once_for_the_density():
    (found,) = found_in("ab", [("a", "b", 0.5), ("a", "b", 0.7), ("a", "b", 0.9)])
    assert found.density == 0.5


nodes = st.integers(0, 15)


@given(st.lists(st.tuples(nodes, nodes, st.floats(0, 1)), max_size=30))
@settings(max_examples=100, deadline=None)
def test_members_are_those_that_a_walk_reaches(edges):
    around = {node: {node} for node in range(16)}
    for source, target, _ in edges:
        around[source].add(target)
        around[target].add(source)

    def reached(node):
        seen, left = {node}, [node]
        while left:
            for other in around[left.pop()] - seen:
                seen.add(other)
                left.append(other)
        return tuple(sorted(seen))

    found = found_in(range(16), edges, min_size=1)
    assert [one.members for one in found] == sorted({reached(node) for node in range(16)})
    assert all(one.centroid in one.members for one in found)

"""Clusters: the connected parts of a graph, what stands in the middle of each, and how tightly it is knit.

One pass over the edges with union-find (path halving, union by size), one over the nodes. Edges name their
ends by number: with hundreds of thousands of them, looking texts up would take most of the time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connected part of a graph.

    Attributes:
        centroid: the member whose edges weigh most in sum; of several the first.
        members: in the order of the nodes.
        density: share of the ordered pairs of members that an edge connects, 0..1; 0 for a single member.
    """

    centroid: str
    members: tuple[str, ...]
    density: float


def clusters(
    nodes: Mapping[str, int], edges: Iterable[tuple[int, int, float]], min_size: int = 2
) -> list[Cluster]:
    """The connected parts, in the order of their first nodes.

    Args:
        nodes: each with a number of its own, from 0 on.
        edges: (number of the source, of the target, weight); several of one pair count once for the density.
        min_size: members that a part must have.
    """
    room = max(nodes.values(), default=-1) + 1
    parent = list(range(room))
    size = [1] * room
    strength = [0.0] * room
    pairs: list[int] = []  # as one number each: of these the garbage collector keeps no track
    for source, target, weight in edges:
        first, second = source, target
        strength[first] += weight
        strength[second] += weight
        pairs.append(first * room + second)
        while parent[first] != first:
            parent[first] = first = parent[parent[first]]
        while parent[second] != second:
            parent[second] = second = parent[parent[second]]
        if first != second:
            if size[first] < size[second]:
                first, second = second, first
            parent[second] = first
            size[first] += size[second]
    groups: dict[int, list[str]] = {}
    for node, number in nodes.items():
        root = number
        while parent[root] != root:
            root = parent[root]
        parent[number] = root
        groups.setdefault(root, []).append(node)
    pairs.sort()  # quicker than a set, whose places are all over the memory
    connected: Counter[int] = Counter(parent[pair // room] for pair, _ in groupby(pairs))
    return [
        Cluster(
            max(group, key=lambda node: strength[nodes[node]]),
            tuple(group),
            _density(len(group), connected[root]),
        )
        for root, group in groups.items()
        if len(group) >= min_size
    ]


def _density(size: int, connected: int) -> float:
    return connected / (size * (size - 1)) if size > 1 else 0.0

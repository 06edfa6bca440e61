"""Clusters: the connected parts of a graph, what stands in the middle of each, and how tightly it is knit.

One pass over the edges with union-find (path halving, union by size), one over the nodes.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Cluster(Generic[N]):
    """A connected part of a graph.

    Attributes:
        centroid: the member whose edges weigh most in sum; of several the first.
        members: in the order of the nodes.
        density: share of the ordered pairs of members that an edge connects, 0..1; 0 for a single member.
    """

    centroid: N
    members: tuple[N, ...]
    density: float


def clusters(nodes: Iterable[N], edges: Iterable[tuple[N, N, float]], min_size: int = 2) -> list[Cluster[N]]:
    """The connected parts, in the order of their first nodes.

    Args:
        nodes: each once.
        edges: (source, target, weight), between nodes; several of one pair count once for the density.
        min_size: members that a part must have.
    """
    parent: dict[N, N] = {node: node for node in nodes}
    strength: dict[N, float] = dict.fromkeys(parent, 0.0)
    size: dict[N, int] = dict.fromkeys(parent, 1)
    pairs: set[tuple[N, N]] = set()

    def root(node: N) -> N:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for source, target, weight in edges:
        strength[source] += weight
        strength[target] += weight
        pairs.add((source, target))
        first, second = root(source), root(target)
        if first != second:
            if size[first] < size[second]:
                first, second = second, first
            parent[second] = first
            size[first] += size[second]
    members: dict[N, list[N]] = {}
    for node in parent:
        members.setdefault(root(node), []).append(node)
    inside: dict[N, int] = dict.fromkeys(members, 0)
    for source, _ in pairs:
        inside[root(source)] += 1
    return [
        Cluster(max(group, key=strength.__getitem__), tuple(group), _density(len(group), inside[head]))
        for head, group in members.items()
        if len(group) >= min_size
    ]


def _density(size: int, connected: int) -> float:
    return connected / (size * (size - 1)) if size > 1 else 0.0

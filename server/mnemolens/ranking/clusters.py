"""Clusters: the connected parts of a graph, what stands in the middle of each, and how tightly it is knit.

One pass over the edges with union-find (path halving, union by size), one over the nodes. Edges name their
ends by number: with hundreds of thousands of them, looking texts up would take most of the time.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

_SOURCES_BITS: Final = 10
"""Pairs of so many sources, as a power of 2, are sorted together."""


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
    # Numbers in arrays lie side by side, not all over the memory: of many nodes, that is what takes the time.
    parent, size = array("l", range(room)), array("l", [1]) * room
    strength = array("d", [0.0]) * room
    pairs: list[list[int]] = [[] for _ in range((room >> _SOURCES_BITS) + 1)]  # as one number each
    for source, target, weight in edges:
        strength[source] += weight
        strength[target] += weight
        pairs[source >> _SOURCES_BITS].append(source * room + target)
        first, second = parent[source], parent[target]
        if first == second:
            continue
        while (above := parent[first]) != first:
            parent[first] = first = parent[above]
        while (above := parent[second]) != second:
            parent[second] = second = parent[above]
        if first != second:
            if size[first] < size[second]:
                first, second = second, first
            parent[second] = first
            size[first] += size[second]
        parent[source] = parent[target] = first
    groups: dict[int, list[int]] = {}
    for number in nodes.values():
        root = number
        while (above := parent[root]) != root:
            root = above
        parent[number] = root
        groups.setdefault(root, []).append(number)
    connected: Counter[int] = Counter()
    while pairs:  # not all at once, for which other threads would have to wait
        some = pairs.pop()
        some.sort()  # quicker than a set, whose places are all over the memory
        connected.update([parent[pair // room] for pair, _ in groupby(some)])
    # The last digits of a sum differ with the order of the edges, which is not to choose the middle.
    strengths = [round(one, 9) for one in strength]
    names = _by_number(nodes, room)
    return [
        Cluster(
            names[max(group, key=strengths.__getitem__)],
            tuple([names[number] for number in group]),
            _density(len(group), connected[root]),
        )
        for root, group in groups.items()
        if len(group) >= min_size
    ]


def _by_number(nodes: Mapping[str, int], room: int) -> list[str]:
    names = [""] * room
    for name, number in nodes.items():  # step by step, as other threads wait
        names[number] = name
    return names


def _density(size: int, connected: int) -> float:
    return connected / (size * (size - 1)) if size > 1 else 0.0

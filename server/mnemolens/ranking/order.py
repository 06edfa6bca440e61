"""How memories compare at one place in the code: rank, and one total order.

Owns the truth factors. Takes weight and relevance as given; knows no formula of decay and no spreading.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from mnemolens.core.memories import Verdict

TRUTH: dict[Verdict, float] = {
    "fresh": 1.0,
    "moved": 0.95,
    "drifted": 0.8,
    "ambiguous": 0.6,
    "unanchored": 0.6,
    "lost": 0.3,
}
"""How far each verdict is to be believed: an old note that is true beats a new one that is not."""

OTHER_BRANCH = 0.7
"""Of a memory that was written on a branch which is not part of the one checked out."""


SUPERSEDED = 0.5
"""Of a memory that another one supersedes."""

T = TypeVar("T")


class OrderKey(NamedTuple):
    """Sorts ascending into the order shown: own before neighbours', rank falling, id."""

    neighbour: bool
    negative_rank: float
    memory_id: str


def truth(verdict: Verdict, *, other_branch: bool = False, superseded: bool = False) -> float:
    """How far a memory is to be believed here, 0..1."""
    return TRUTH[verdict] * (OTHER_BRANCH if other_branch else 1.0) * (SUPERSEDED if superseded else 1.0)


def rank(weight: float, relevance: float, believed: float) -> float:
    """The product of weight, relevance and truth, each 0..1, so the result is too."""
    return weight * relevance * believed


def order_key(memory_id: str, score: float, *, own: bool) -> OrderKey:
    """The key to sort by; total, since ids are unique.

    Args:
        memory_id: the memory's id, which breaks ties.
        score: what `rank` gave.
        own: whether the memory is on the symbol itself, not on a neighbour of it.
    """
    return OrderKey(not own, -score, memory_id)


def after_successors(
    ordered: Iterable[T], id_of: Callable[[T], str], successors_of: Callable[[T], Collection[str]]
) -> list[T]:
    """The same order, but each memory behind those that supersede it, as far as they are among them.

    Memories that supersede each other in a ring, as two writers may have said, do not count as superseded by
    each other.

    Args:
        ordered: best first.
        id_of: a memory's id.
        successors_of: the ids of the memories that supersede it.
    """
    items = {id_of(item): item for item in ordered}
    said = {one: [other for other in successors_of(item) if other in items] for one, item in items.items()}
    if not any(said.values()):
        return list(items.values())
    newer = {one: {other for other in said[one] if not _leads(said, other, one)} for one in items}
    placed: dict[str, T] = {}
    deferred: list[str] = []
    for one in items:
        deferred.append(one)
        ready: str | None = one if newer[one] <= placed.keys() else None
        while ready is not None:  # it, then all that waited for it
            deferred.remove(ready)
            placed[ready] = items[ready]
            ready = next((other for other in deferred if newer[other] <= placed.keys()), None)
    return list(placed.values())


def _leads(newer: Mapping[str, Collection[str]], start: str, goal: str) -> bool:
    """Whether a way of successors leads from one memory to another, or they are the same."""
    seen, left = {start}, [start]
    while left and goal not in seen:
        more = set(newer[left.pop()]) - seen
        seen |= more
        left.extend(more)
    return goal in seen

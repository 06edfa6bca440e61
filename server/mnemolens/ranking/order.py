"""How memories compare at one place in the code: rank, and one total order.

Owns the truth factors. Takes weight and relevance as given; knows no formula of decay and no spreading.
"""

from typing import NamedTuple

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


class OrderKey(NamedTuple):
    """Sorts ascending into the order shown: own before neighbours', rank falling, id."""

    neighbour: bool
    negative_rank: float
    memory_id: str


def truth(verdict: Verdict, *, other_branch: bool = False) -> float:
    """How far a memory is to be believed here, 0..1."""
    return TRUTH[verdict] * (OTHER_BRANCH if other_branch else 1.0)


def rank(weight: float, relevance: float, verdict: Verdict, *, other_branch: bool = False) -> float:
    """The product of weight, relevance and truth, each 0..1, so the result is too."""
    return weight * relevance * truth(verdict, other_branch=other_branch)


def order_key(memory_id: str, score: float, *, own: bool) -> OrderKey:
    """The key to sort by; total, since ids are unique.

    Args:
        memory_id: the memory's id, which breaks ties.
        score: what `rank` gave.
        own: whether the memory is on the symbol itself, not on a neighbour of it.
    """
    return OrderKey(not own, -score, memory_id)

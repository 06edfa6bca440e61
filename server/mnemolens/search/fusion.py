"""Putting two rankings together, of words and of meaning: for recall, lists and offers alike.

Owns that arithmetic. Each ranking is divided by its best score, then both are added with weights. Words that
cover little of a question count for less: the best of bad ones is no find. Fusion of ranks with equal
weights, which is common, does worse with a weak model; see `server/ARCHITECTURE.md`.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

MEANING = 0.6
"""Weight of the vectors; the words have the rest."""
CLOSE = 0.35
"""Cosine from which a text answers a question by its meaning alone, where a list is asked for.

Of hand-written questions (`tests/bench/search.py`) 83 in 100 have their answer above it, with not one other
text on average.
"""
_COVERED = 0.35
"""Share of a question's words, the rare ones counting more, from which its best find counts in full."""


def fused(
    by_words: Mapping[K, float], by_meaning: Mapping[K, float], weight: float = MEANING, *, whole: float = 0.0
) -> dict[K, float]:
    """{key: 0..1} of all keys of both; what one ranking does not have is nothing to it.

    Args:
        by_words: {key: score above 0}.
        by_meaning: {key: cosine}; below 0 counts as 0.
        weight: of `by_meaning`.
        whole: what all words of the question are worth; 0 where that is not known.
    """
    words = max(*by_words.values(), _COVERED * whole, 0.0)
    meaning = max(*by_meaning.values(), 0.0, 0.0)
    return {
        key: (1 - weight) * (by_words.get(key, 0.0) / words if words > 0 else 0.0)
        + weight * (max(0.0, by_meaning.get(key, 0.0)) / meaning if meaning > 0 else 0.0)
        for key in {**by_words, **by_meaning}
    }

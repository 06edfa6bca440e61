"""Putting two rankings together: of words, and of meaning.

Owns that arithmetic. Each ranking is divided by its best score, then both are added with weights. Fusion of
ranks with equal weights, which is common, does worse with a weak model; see `server/ARCHITECTURE.md`.
"""

from collections.abc import Mapping

MEANING = 0.6
"""Weight of the vectors; the words have the rest."""


def fused(
    by_words: Mapping[str, float], by_meaning: Mapping[str, float], weight: float = MEANING
) -> dict[str, float]:
    """{key: 0..1} of all keys of both; what one ranking does not have is nothing to it.

    Args:
        by_words: {key: score above 0}.
        by_meaning: {key: cosine}; below 0 counts as 0.
        weight: of `by_meaning`.
    """
    words, meaning = (max(scores.values(), default=0.0) for scores in (by_words, by_meaning))
    return {
        key: (1 - weight) * (by_words.get(key, 0.0) / words if words > 0 else 0.0)
        + weight * (max(0.0, by_meaning.get(key, 0.0)) / meaning if meaning > 0 else 0.0)
        for key in {**by_words, **by_meaning}
    }

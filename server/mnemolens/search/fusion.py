"""Putting two rankings together: of words, and of meaning.

Owns that arithmetic. Each ranking is stretched to 0..1 (min-max), then both are added with weights. Fusion of
ranks with equal weights, which is common, does worse with a weak model; see `server/ARCHITECTURE.md`.
"""

from collections.abc import Mapping

MEANING = 0.6
"""Weight of the vectors; the words have the rest."""


def fused(
    by_words: Mapping[str, float], by_meaning: Mapping[str, float], weight: float = MEANING
) -> dict[str, float]:
    """{key: 0..1} of all keys of both; what one ranking does not have is its last.

    Args:
        by_words: {key: score above 0}; what is absent scored 0.
        by_meaning: {key: cosine}; what is absent scored as the least.
        weight: of `by_meaning`.
    """
    best = max(by_words.values(), default=0.0)
    high, low = max(by_meaning.values(), default=0.0), min(by_meaning.values(), default=0.0)
    spread = high - low
    return {
        key: (1 - weight) * (by_words.get(key, 0.0) / best if best else 0.0)
        + weight * ((by_meaning.get(key, low) - low) / spread if spread else 0.0)
        for key in {**by_words, **by_meaning}
    }

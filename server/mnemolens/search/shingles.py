"""How much two texts have in common, by runs of three words.

After A. Broder, "On the resemblance and containment of documents" (1997).
"""

import re
from typing import Final

from mnemolens.search.words import folded, is_unspaced

_WORD = re.compile(r"\w+")
_RUN: Final = 3


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of a text, case and signs aside; of a shorter text all of it as one.

    Of scripts without spaces each character is a word.
    """
    words: list[str] = _WORD.findall(folded(text))
    if not text.isascii():
        words = [part for word in words for part in (word if is_unspaced(word) else (word,))]
    if len(words) < _RUN:
        return frozenset({tuple(words)} if words else ())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def likeness(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """What both have of what either has, 0..1."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0

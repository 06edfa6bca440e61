"""The known words by how they begin.

Owns their order: words with the same first letters are sorted when one of them is asked for. All of them at
once would hold the event loop for 100 ms in a large project, each time that one word is new.
"""

from bisect import bisect_left
from typing import Final

_LETTERS: Final = 3
_LAST: Final = "\U0010ffff"


class Vocabulary:
    """Words."""

    def __init__(self) -> None:
        self._groups: dict[str, list[str]] = {}
        self._unsorted: set[str] = set()

    def add(self, word: str) -> None:
        """Adds a word that is not known yet."""
        start = word[:_LETTERS]
        self._groups.setdefault(start, []).append(word)
        self._unsorted.add(start)

    def beginning_with(self, letters: str) -> list[str]:
        """The words that begin so, in order."""
        if len(letters) >= _LETTERS:
            words = self._group(letters[:_LETTERS])
            first = bisect_left(words, letters)
            return words[first : bisect_left(words, letters + _LAST, first)]
        groups = sorted(start for start in self._groups if start.startswith(letters))
        return [word for start in groups for word in self._group(start)]

    def _group(self, start: str) -> list[str]:
        words = self._groups.get(start, [])
        if start in self._unsorted:
            self._unsorted.discard(start)
            words.sort()
        return words

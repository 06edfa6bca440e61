"""Which memories have the same content, as a person would call it (CONTRACT §4).

Owns the table from content to memories. A store may hold many megabytes, so a text is read as a whole only
once another begins and ends like it.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Set as AbstractSet

from mnemolens.engine.capture import normalised_hash

_WORDS = 4


class SameContent:
    """Memories by their content."""

    def __init__(self) -> None:
        self._contents: dict[str, str] = {}
        self._hashes: dict[str, str] = {}  # of those that were compared with another
        self._alike: dict[str, set[str]] = defaultdict(set)  # first and last words -> memories

    def note(self, memory_id: str, content: str | None) -> None:
        """The memory's content is this now; None takes it out."""
        old = self._contents.pop(memory_id, None)
        if old is not None:
            self._hashes.pop(memory_id, None)
            ends = _ends(old)
            self._alike[ends].discard(memory_id)
            if not self._alike[ends]:
                del self._alike[ends]
        if content is not None:
            self._contents[memory_id] = content
            self._alike[_ends(content)].add(memory_id)

    def same_as(self, content: str) -> AbstractSet[str]:
        """The memories with the same content, up to white space and the ways to write a character."""
        alike = self._alike.get(_ends(content))
        if not alike:
            return frozenset()
        wanted = normalised_hash(content)
        return {memory_id for memory_id in alike if self._hash_of(memory_id) == wanted}

    def _hash_of(self, memory_id: str) -> str:
        known = self._hashes.get(memory_id)
        if known is None:
            known = self._hashes[memory_id] = normalised_hash(self._contents[memory_id])
        return known


def _ends(content: str) -> str:
    """The first and the last words, equal for contents of equal `normalised_hash`."""
    words = (*content.split(None, _WORDS)[:_WORDS], *content.rsplit(None, _WORDS)[-_WORDS:])
    return unicodedata.normalize("NFC", " ".join(words))

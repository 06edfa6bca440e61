"""The order of all memories by age, kept in step as they come and change: sorting anew costs too much.

Owns that order and nothing else: forgotten and expired memories stand in it like all others.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from mnemolens.store.merge import MergedState

_Place = tuple[float, str]

_MANY = 1_000
"""Memories noted at once from which sorting all is quicker than putting each in its place."""


class Newest:
    """Ids of one folder's memories, the newest first, those of one moment by id."""

    def __init__(self, state: MergedState) -> None:
        self._state = state
        self._order: list[_Place] = []
        self._place_of: dict[str, _Place] = {}

    def __iter__(self) -> Iterator[str]:
        """As they are now; noting more while iterating is harmless."""
        return (memory_id for _, memory_id in tuple(self._order))

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        moved = []
        for memory_id in memory_ids:
            memory = self._state.memory(memory_id)
            after = None if memory is None else (-memory.created_at.timestamp(), memory_id)
            before = self._place_of.get(memory_id)
            if before != after:
                moved.append((memory_id, before, after))
        for memory_id, before, after in moved:
            if before is not None and len(moved) < _MANY:
                del self._order[bisect_left(self._order, before)]
            if after is None:
                del self._place_of[memory_id]
                continue
            self._place_of[memory_id] = after
            if len(moved) < _MANY:
                insort(self._order, after)
        if len(moved) >= _MANY:
            self._order = sorted(self._place_of.values())

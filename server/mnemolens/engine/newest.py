"""The order of all memories by age, kept in step as they come and change: sorting anew costs too much.

Owns that order, and which memories are forgotten or expire: those stand in it like all others.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from mnemolens.store.merge import MergedState

_Place = tuple[float, str]

_MANY = 1_000
"""Memories noted at once from which sorting all is quicker than putting each in its place."""
_SHARE = 10
"""Of so many times as many memories, a few are sorted more quickly than all are looked through."""


class Newest:
    """Ids of one folder's memories, the newest first, those of one moment by id."""

    def __init__(self, state: MergedState) -> None:
        self._state = state
        self._order: list[_Place] = []
        self._place_of: dict[str, _Place] = {}
        self._forgotten: set[str] = set()
        self._ends: dict[str, datetime] = {}  # of what expires and is not forgotten

    def __iter__(self) -> Iterator[str]:
        """As they are now; noting more while iterating is harmless."""
        return (memory_id for _, memory_id in tuple(self._order))

    def all(self) -> list[str]:
        """As they are now, at once."""
        return [memory_id for _, memory_id in self._order]

    def count(self, now: datetime) -> int:
        """How many are neither forgotten nor expired."""
        ended = sum(end <= now for end in self._ends.values())
        return len(self._order) - len(self._forgotten) - ended

    def absent(self, now: datetime, *, expired: bool = True) -> set[str]:
        """What is forgotten or, where that is asked for, expired."""
        ended = (one for one, end in self._ends.items() if end <= now) if expired else ()
        return self._forgotten.union(ended)

    def ordered(self, memory_ids: Collection[str]) -> list[str]:
        """These memories in order, each once; without those that are not there."""
        if _SHARE * len(memory_ids) < len(self._order):
            places = {self._place_of[one] for one in memory_ids if one in self._place_of}
            return [memory_id for _, memory_id in sorted(places)]
        wanted = set(memory_ids)
        return [memory_id for _, memory_id in self._order if memory_id in wanted]

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        moved = []
        for memory_id in memory_ids:
            memory = self._state.memory(memory_id)
            self._forgotten.discard(memory_id)
            self._ends.pop(memory_id, None)
            if memory is not None and memory.status == "forgotten":
                self._forgotten.add(memory_id)
            elif memory is not None and memory.expires_at is not None:
                self._ends[memory_id] = memory.expires_at
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

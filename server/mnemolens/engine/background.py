"""Work that is done now and then, and never beside a keystroke: stored weights, and a look at the archive.

A look at the archive only finds what has faded, to be offered for forgetting: it forgets nothing.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from mnemolens.core.memories import Memory
from mnemolens.core.settings import Settings
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.ranking.decay import weights
from mnemolens.store.merge import MergedState
from mnemolens.store.moments import Moment

SLICE: Final = 1_000
"""Memories looked at between two looks at whether somebody types: about 2 ms."""


class Keeps(Protocol):
    """What keeps weights: the graph database."""

    def memories_changed(self, memory_ids: Iterable[str]) -> None:
        """These are to be written again."""


class Background:
    """Does the work of one folder.

    Args:
        state: the merged journal.
        show: knows the parameters of weights.
        kept: what stored weights are kept in.
        looked: when the archive was last looked at, by any process.
        settings: as they are now: how often, and below which weight a memory has faded.
    """

    def __init__(
        self,
        state: MergedState,
        show: Show,
        kept: Keeps,
        looked: Moment,
        settings: Callable[[], Settings],
    ) -> None:
        self._settings = settings
        self._state = state
        self._show = show
        self._kept = kept
        self._looked = looked
        self._weighed: datetime | None = None
        self._last_look: datetime | None = None
        self._waiting: tuple[str, ...] = ()
        self._offered: set[str] = set()

    async def look(self, now: datetime, is_idle: Callable[[], bool]) -> None:
        """Does what is due, as long as nobody types; what is broken off is begun again at the next look."""
        if not is_idle():
            return
        if self._weighed is None:  # what is kept was written when this process began, or is not kept yet
            self._weighed = now
        if _is_due(self._weighed, self._settings().background_tasks.weight_update_interval, now):
            if not await self._each(is_idle, self._weigh):
                return
            self._weighed = now
        if self._last_look is None:
            self._last_look = await asyncio.to_thread(self._looked.last)
        if _is_due(self._last_look, self._settings().background_tasks.archival_check_interval, now):
            await self._look_at_archive(now, is_idle)

    def faded(self, now: datetime, memory_ids: Iterable[str]) -> tuple[str, ...]:
        """Those of these memories that weigh less than the threshold, and that nobody wants to keep."""
        found = (self._state.memory(memory_id) for memory_id in memory_ids)
        return self._faded(now, [memory for memory in found if memory is not None])

    def take_offer(self) -> tuple[str, ...]:
        """The memories whose forgetting is to be offered now; each is offered once a process."""
        waiting, self._waiting = self._waiting, ()
        self._offered.update(waiting)
        return waiting

    async def _look_at_archive(self, now: datetime, is_idle: Callable[[], bool]) -> None:
        found: list[str] = []
        if not await self._each(is_idle, lambda memories: found.extend(self._faded(now, memories))):
            return
        self._waiting = tuple(one for one in found if one not in self._offered)
        self._last_look = now
        await asyncio.to_thread(self._looked.note, now)

    def _faded(self, now: datetime, memories: Sequence[Memory]) -> tuple[str, ...]:
        threshold = self._settings().background_tasks.cleanup_threshold
        return tuple(
            memory.id
            for memory, weight in zip(memories, weights(memories, now, self._show.decay), strict=True)
            if weight < threshold and not memory.pinned and not is_expired(memory, now)
        )

    def _weigh(self, memories: Sequence[Memory]) -> None:
        self._kept.memories_changed(memory.id for memory in memories)

    async def _each(self, is_idle: Callable[[], bool], work: Callable[[Sequence[Memory]], None]) -> bool:
        """Does something with all memories that are not forgotten; False where it was broken off."""
        ids = list(self._state.memories())
        for start in range(0, len(ids), SLICE):
            if not is_idle():
                return False
            found = (self._state.memory(one) for one in ids[start : start + SLICE])
            work([memory for memory in found if memory is not None and memory.status != "forgotten"])
            await asyncio.sleep(0)
        return True


def _is_due(last: datetime | None, interval: float, now: datetime) -> bool:
    return last is None or now - last >= timedelta(seconds=interval)

"""What is stored, as the memories that are open as documents need it: read, used and changed."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from mnemolens.core.clock import Clock
from mnemolens.core.errors import StoreError
from mnemolens.core.memories import HistoryEntry, Memory
from mnemolens.core.views import MemoryChange
from mnemolens.engine.focus import Focus
from mnemolens.engine.journaling import Journaling
from mnemolens.engine.links import Links
from mnemolens.engine.show import Show
from mnemolens.engine.writing import Writing
from mnemolens.store.merge import MergedState


class Stored:
    """The memories behind one folder's documents."""

    def __init__(
        self,
        state: MergedState,
        links: Links,
        show: Show,
        focus: Focus,
        writing: Writing,
        journaling: Journaling,
        clock: Clock,
    ) -> None:
        self._state = state
        self._links = links
        self._show = show
        self._focus = focus
        self._writing = writing
        self._journaling = journaling
        self._clock = clock

    def known(self, memory_id: str) -> Memory:
        """The memory.

        Raises:
            NotFound: no memory has that id.
        """
        return self._show.known(memory_id)

    def memory(self, memory_id: str) -> Memory | None:
        """The memory, None where there is none of that id."""
        return self._state.memory(memory_id)

    def ids(self) -> Iterable[str]:
        """The ids of all memories."""
        return self._state.memories()

    def history(self, memory_id: str) -> Sequence[HistoryEntry]:
        """The memory's life, oldest first."""
        return self._state.history(memory_id)

    def notes(self, memory: Memory) -> tuple[str, ...]:
        """Comments for the head of the memory's document."""
        on = [
            f"{self._show.place(link.target).label} in {link.target.file}"
            for link in self._links.links_of(memory.id)
            if not link.candidate
        ]
        where = f"on {' · '.join(on) or 'no code'} ({self._links.verdict_of(memory.id)})"
        relations = self._show.standing.of(memory.id, self._clock.now())
        return (where, *(one.words for one in relations), "save this document to keep your changes")

    async def use(self, memory_ids: Sequence[str], now: datetime) -> None:
        """Counts an access of each, where that can be written."""
        with suppress(StoreError):
            await self._journaling.access(memory_ids, now)

    def visit(self, memory_id: str) -> None:
        """Somebody opened the memory: they are where it stands."""
        self._focus.visit_code_of(memory_id)

    async def catch_up(self) -> None:
        """Merges what other processes stored, so that it is not overwritten."""
        await self._journaling.catch_up_off_loop()

    async def update(self, memory_id: str, changes: Mapping[str, Any], now: datetime) -> MemoryChange:
        """Changes fields of the memory; the events are safe on disk when it returns."""
        return await self._journaling.commit(self._writing.update(memory_id, changes, now))

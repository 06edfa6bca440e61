"""Carries planned writes out, and takes in what other processes wrote.

Owns the order of the steps: what is planned is fsynced, then merged into the state, then derived, then
answered. Segments and fsyncs are the journal's.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import TypeVar

from mnemolens.core.errors import StoreError
from mnemolens.core.events import Event, MemoryPurge
from mnemolens.core.pieces import taken
from mnemolens.core.views import MemoryView
from mnemolens.engine.graph_kept import KeptGraph
from mnemolens.engine.links import Links
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.memory_graph import EdgeGraph
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.show import Show
from mnemolens.engine.write import Write
from mnemolens.store.git import git_busy
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout
from mnemolens.store.merge import MergedState

T = TypeVar("T")

WRITTEN_AT_ONCE = 50
"""Events of what was found out; to check and write these as JSON takes some 10 ms."""


class Journaling:
    """Writes and reads one folder's journal.

    Attributes:
        listeners: told which memories are new, may have changed or are gone, before they are derived anew.
    """

    def __init__(
        self,
        layout: Layout,
        journal: Journal,
        state: MergedState,
        links: Links,
        show: Show,
        memory_graph: EdgeGraph,
        graph: KeptGraph,
        refreshing: Refreshing,
    ) -> None:
        self.listeners: tuple[Callable[[frozenset[str]], None], ...] = ()
        self._layout = layout
        self._journal = journal
        self._state = state
        self._links = links
        self._show = show
        self._memory_graph = memory_graph
        self._graph = graph
        self._refreshing = refreshing
        self._write_lock = asyncio.Lock()

    # Writing ----------------------------------------------------------------------------------------------

    async def commit(self, write: Write[T]) -> T:
        """Carries a planned write out; when it returns, the events are safe on disk.

        Raises:
            StoreError: the journal can't be written; nothing of the plan was stored.
        """
        # A client that cancels its request must not part what is on disk from what is in memory.
        return await asyncio.shield(self._carry_out(write))

    async def commit_slowly(self, write: Write[T]) -> T:
        """`commit`, for many events: what they change is derived in slices that let other requests in."""
        return await asyncio.shield(self._carry_out(write, slowly=True))

    def commit_sync(self, write: Write[T]) -> T:
        """`commit`, for callers without an event loop."""
        try:
            if write.events:
                self._merge(self._journal.append(write.events).result())
        except BaseException:
            write.undo()
            raise
        return write.finish()

    async def access(
        self, memory_ids: Sequence[str], now: datetime, together: Collection[str] | None = None
    ) -> tuple[MemoryView, ...]:
        """Counts an opening, copying or recall of each memory, and that they came together; not fsynced.

        Args:
            memory_ids: what was used, the best first.
            now: the time.
            together: those of them that come closer to each other by it; None for all.
        """
        waits = self._used(memory_ids, now, together)
        self._merge([event for wait in waits for event in await asyncio.wrap_future(wait)])
        return tuple(self._show.memory(self._show.known(memory_id), now) for memory_id in memory_ids)

    def access_sync(
        self, memory_ids: Sequence[str], now: datetime, together: Collection[str] | None = None
    ) -> None:
        """`access`, for callers without an event loop."""
        self._merge([event for wait in self._used(memory_ids, now, together) for event in wait.result()])

    # What was found out -----------------------------------------------------------------------------------

    async def write_found(self) -> None:
        """Writes down what was found out: anchors for names seen for the first time, accepted moves."""
        found = self._links.deriving.take_wanted()
        for start in range(0, len(found), WRITTEN_AT_ONCE):
            some = found[start : start + WRITTEN_AT_ONCE]
            await self.commit_slowly(Write(tuple(some), lambda: None))

    def write_found_sync(self) -> None:
        """`write_found`, for callers without an event loop; nothing in the middle of a checkout."""
        found = () if git_busy(self._layout) else self._links.deriving.take_wanted()
        if found:
            self.commit_sync(Write(tuple(found), lambda: None))

    def write_found_last(self) -> None:
        """`write_found`, at the end; what can't be written is found out again at the next start."""
        found = () if git_busy(self._layout) else self._links.deriving.take_wanted()
        if found:
            with contextlib.suppress(StoreError):
                self._journal.append(found).result()

    # What others wrote ------------------------------------------------------------------------------------

    def load(self) -> frozenset[str]:
        """Reads the journal; derives nothing.

        Returns:
            The ids of all memories in it.
        """
        with bulk_load():
            loaded = self._state.apply(taken(self._journal.load()))
            self._tell(loaded)
            self._links.note_known_places(loaded)
        return loaded

    def catch_up(self) -> None:
        """Merges what other processes appended; looks at the disk."""
        events = self._journal.refresh()
        if events:
            self._merge(events)

    async def catch_up_off_loop(self) -> None:
        """`catch_up`, looking at the disk beside other requests."""
        events = await asyncio.to_thread(self._journal.refresh)
        if events:
            self._merge(events)

    async def merge_slowly(self, events: Sequence[Event]) -> None:
        """Takes in events that are in the journal, in slices that let other requests in between."""
        touched = self._apply(events)
        self._graph.memories_changed(touched)  # whoever asks it meanwhile is told of all that a list shows
        self._tell(touched)
        await self._refreshing.refresh_slowly(sorted(touched))

    # Inside -----------------------------------------------------------------------------------------------

    async def _carry_out(self, write: Write[T], *, slowly: bool = False) -> T:
        async with self._write_lock:
            try:
                if write.events:
                    events = await asyncio.wrap_future(self._journal.append(write.events))
                    if slowly:
                        await self.merge_slowly(events)
                    else:
                        self._merge(events)
            except BaseException:
                write.undo()
                raise
            return write.finish()

    def _used(
        self, memory_ids: Sequence[str], now: datetime, closer: Collection[str] | None
    ) -> tuple[Future[tuple[Event, ...]], ...]:
        """Writes down that these memories were used now, and together where they are several."""
        ids = [self._show.known(memory_id).id for memory_id in memory_ids]
        written = (self._journal.access(ids, now),)
        together = self._memory_graph.used_together(one for one in ids if closer is None or one in closer)
        return (*written, self._journal.append([together], durable=False)) if together else written

    def _merge(self, events: Sequence[Event]) -> None:
        touched = self._apply(events)
        self._tell(touched)
        self._refreshing.refresh(touched)

    def _apply(self, events: Sequence[Event]) -> frozenset[str]:
        if any(type(event.data) is MemoryPurge for event in events):  # a model's isinstance takes long
            self._graph.purged()
        with bulk_load():
            return self._state.apply(events)

    def _tell(self, memory_ids: frozenset[str]) -> None:
        for listener in self.listeners:
            listener(memory_ids)

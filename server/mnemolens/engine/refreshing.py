"""Deriving memories' links, places and verdicts anew, and telling whoever shows or keeps them.

Owns the order of these steps and the slices that let other requests in between. What is derived is
`links.py`'s, what the graph database holds `graph_sync.py`'s.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mnemolens.engine.graph_kept import KeptGraph
from mnemolens.engine.links import Links
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import PAUSE_SECONDS, Slices
from mnemolens.engine.searching import Searching

logger = logging.getLogger(__name__)

AT_ONCE_SECONDS = 0.003
"""Of processor time, for what is derived before the handler of a change returns: a dozen memories. An editor
that starts opens many documents at once, and each waits for the handlers of those before it."""

VALUES_OF_A_MEMORY = 20
"""What is derived for one, as the garbage collector counts."""


class Refreshing:
    """Derives memories anew.

    Attributes:
        generation: grows whenever a lens may have changed.
    """

    def __init__(self, links: Links, graph: KeptGraph, searching: Searching) -> None:
        self.generation = 0
        self._links = links
        self._graph = graph
        self._searching = searching
        self._due: dict[str, None] = {}
        self._batches = 0
        self._task: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether anything is derived beside requests."""
        return self._task is not None or bool(self._beside)

    def file_changed(self, file: str) -> None:
        """The index has other symbols of the file, or other ranges, than before."""
        self._graph.file_changed(file)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """While many files are put into the index, slice by slice.

        What moved from one of them to another is in neither for a while. So of all memories only new ones are
        derived meanwhile; the others wait until the index is whole again.
        """
        self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1

    def refresh(self, memory_ids: Iterable[str]) -> None:
        """Derives these memories now; for the few that one request touches."""
        ids = tuple(memory_ids)
        if self._batches:
            self._due.update((one, None) for one in ids if self._links.is_derived(one))
            ids = tuple(one for one in ids if one not in self._due)
        self._graph.memories_changed(ids)
        self._searching.note(ids)
        if self._links.refresh(ids):
            self.generation += 1

    def refresh_soon(self, memory_ids: Iterable[str]) -> None:
        """`refresh`, of a few; the others are derived beside requests.

        Where no event loop runs, nobody waits: all of them now.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.refresh(memory_ids)
            return
        self._due.update(dict.fromkeys(memory_ids))
        end = time.thread_time() + AT_ONCE_SECONDS
        while self._due and not self._batches and time.thread_time() < end:
            self._refresh_next()
        if self._due and self._task is None:
            self._task = loop.create_task(self._finish())

    def beside(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do the work beside requests; False, and it is not done, where no event loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            work.close()
            return False
        task = loop.create_task(_logged(work))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        task.add_done_callback(lambda _: work.close())  # it may be cancelled before it begins
        return True

    async def refresh_slowly(self, memory_ids: Iterable[str]) -> None:
        """`refresh`, in slices that let other requests in between; returns when nothing is due."""
        slices = Slices()
        for memory_id in memory_ids:
            self._due[memory_id] = None
            await slices.pause()
        with bulk_load(VALUES_OF_A_MEMORY * len(self._due)):
            while self._due:
                if self._batches:
                    await asyncio.sleep(PAUSE_SECONDS)
                else:
                    self._refresh_next()
                    if self._due:
                        await slices.pause()

    def close(self) -> None:
        """Stops what is derived beside requests."""
        for task in (self._task, *self._beside):
            if task is not None:
                task.cancel()
        self._task = None

    def _refresh_next(self) -> None:
        memory_id = next(iter(self._due))
        del self._due[memory_id]
        try:
            self.refresh((memory_id,))
        except Exception:
            logger.exception("A memory could not be derived anew")  # it would fail again; the others wait

    async def _finish(self) -> None:
        try:
            await _logged(self.refresh_slowly(()))
        finally:
            self._task = None


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        logger.exception("Deriving memories anew failed")

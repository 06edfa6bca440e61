"""A folder's graph database, which is there once somebody wants it.

Until then nothing is noted for it and none of its modules are imported: a process that answers one question
has no use for them. What it holds, and when that is written, is `graph_sync.py`'s.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnemolens.core.views import GraphState

if TYPE_CHECKING:
    from mnemolens.engine.graph_sync import GraphSync
    from mnemolens.store.graph_results import QueryResult


class KeptGraph:
    """One folder's graph. All methods belong to the event loop's thread.

    Args:
        make: gives what keeps it in step; not called before `keep`.
    """

    def __init__(self, make: "Callable[[], GraphSync]") -> None:
        self._make = make
        self._sync: GraphSync | None = None
        self._task: asyncio.Task[None] | None = None
        self._complete = False

    @property
    def state(self) -> GraphState:
        """The graph in words, for the status."""
        if self._sync is None:
            return self._off
        return self._sync.state

    @cached_property
    def _off(self) -> GraphState:
        """Found out once: it takes a look at a dozen folders, after each of which other threads may go on."""
        from mnemolens.store.graph import MISSING, is_installed

        return GraphState("off", None, "it is built when it is first asked" if is_installed() else MISSING)

    def keep(self) -> None:
        """Keeps it in step from now on, in the background; without kuzu it stays off. Again is harmless."""
        if self._task is None:
            self._sync = sync = self._make()
            sync.start()
            if self._complete:
                sync.index_complete()
            self._task = asyncio.get_running_loop().create_task(sync.run())

    async def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> "QueryResult":
        """Answers a read-only query; it sees everything that was noted before. See `GraphSync.query`."""
        self.keep()
        assert self._sync is not None
        if limit is None:
            return await self._sync.query(cypher, parameters)
        return await self._sync.query(cypher, parameters, limit)

    def index_complete(self) -> None:
        """Every file has been indexed once, and all links were derived: it can be built."""
        self._complete = True
        if self._sync is not None:
            self._sync.index_complete()

    def file_changed(self, file: str) -> None:
        """The index has other symbols of this file, or the same ones elsewhere, or none any more."""
        if self._sync is not None:
            self._sync.file_changed(file)

    def memories_changed(self, memory_ids: Iterable[str]) -> None:
        """The journal says something else of these, or their links were derived anew."""
        if self._sync is not None:
            self._sync.memories_changed(memory_ids)

    def all_changed(self) -> None:
        """Anything may have changed."""
        if self._sync is not None:
            self._sync.all_changed()

    def purged(self) -> None:
        """A memory was purged: nothing may be left of it."""
        if self._sync is not None:
            self._sync.purged()

    def close(self) -> None:
        """Lets go of it."""
        if self._task is not None:
            self._task.cancel()
        if self._sync is not None:
            self._sync.close()

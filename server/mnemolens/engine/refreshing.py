"""Deriving memories' links, places and verdicts anew, and telling whoever shows or keeps them.

Owns the order of these steps and the slices that let other requests in between. What is derived is
`links.py`'s, what the graph database holds `graph_sync.py`'s.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from mnemolens.engine.graph_sync import GraphSync
from mnemolens.engine.links import Links

SLICE: Final = 50
"""Memories derived anew between two looks at other requests: about 10 ms."""


class Refreshing:
    """Derives memories anew.

    Attributes:
        generation: grows whenever a lens may have changed.
    """

    def __init__(self, links: Links, graph: GraphSync) -> None:
        self.generation = 0
        self._links = links
        self._graph = graph

    def file_changed(self, file: str) -> None:
        """The index has other symbols of the file, or other ranges, than before."""
        self._graph.file_changed(file)

    def refresh(self, memory_ids: Iterable[str]) -> None:
        """Derives these memories now; for the few that one request or one saved file touches."""
        ids = tuple(memory_ids)
        self._graph.memories_changed(ids)
        if self._links.refresh(ids):
            self.generation += 1

    async def refresh_slowly(self, memory_ids: Sequence[str]) -> None:
        """`refresh`, in slices that let other requests in between."""
        for start in range(0, len(memory_ids), SLICE):
            self.refresh(memory_ids[start : start + SLICE])
            await asyncio.sleep(0)

"""What this worktree knew of its anchors when it was last read, in an earlier session.

Without that, code that moved while nobody looked would be followed only where it can't be anything else.
"""

import asyncio

from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.sources import Sources
from mnemolens.store.symbols import SymbolCache


class LastSession:
    """Where one worktree's anchors were, kept in the cache from session to session."""

    def __init__(
        self, cache: SymbolCache, worktree_id: str, code: Code, links: Links, sources: Sources
    ) -> None:
        self._cache = cache
        self._worktree_id = worktree_id
        self._code = code
        self._links = links
        self._sources = sources

    def take_over(self) -> None:
        """After files were read: which of them are as they were, and where anchors were."""
        self._code.unchanged = self._sources.indexer.unchanged
        self._links.note_last_session(self._cache.get_anchors(self._worktree_id))

    async def take_over_slowly(self) -> None:
        """`take_over`, in slices that let other requests in between."""
        last = await asyncio.to_thread(self._cache.get_anchors, self._worktree_id)
        self._code.unchanged = self._sources.indexer.unchanged
        await self._links.note_last_session_slowly(last)

    def keep(self) -> None:
        """Writes down where anchors are now, for the next session."""
        places = self._links.deriving.take_places()
        if places:
            self._cache.put_anchors(self._worktree_id, places)

    async def keep_off_loop(self) -> None:
        """`keep`, beside other requests."""
        places = self._links.deriving.take_places()
        if places:
            await asyncio.to_thread(self._cache.put_anchors, self._worktree_id, places)

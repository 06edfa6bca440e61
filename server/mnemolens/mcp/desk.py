"""One folder's workspace as an agent uses it: indexed when needed, and brought up to date before each call.

There is no editor that says what changed: files are looked at anew, at most once a while.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemolens.core.errors import StoreError
from mnemolens.core.ids import new_ulid
from mnemolens.engine.context import Context
from mnemolens.engine.places import Place, place_at
from mnemolens.engine.workspace import Workspace
from mnemolens.search.query import read_query

LOOK_SECONDS: Final = 2.0
"""For so long files are taken to be as they were."""


class Desk:
    """What the tools work on.

    Attributes:
        session: id of this run; memories captured in it belong together.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.session = new_ulid()
        self._workspace = workspace
        self._looked = float("-inf")
        self._looking = asyncio.Lock()
        self._listeners: list[Callable[[int, int], None]] = []

    @property
    def root(self) -> Path:
        """The folder."""
        return self._workspace.layout.opened

    @staticmethod
    def now() -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC)

    @contextlib.contextmanager
    def telling(self, listener: Callable[[int, int], None]) -> Iterator[None]:
        """Meanwhile tells a listener how many files were read, of how many, whoever has them read."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def prepare(self) -> None:
        """Reads the code before anybody asks; what goes wrong here does so again where it can be told."""
        self._workspace.embedding.start()
        with contextlib.suppress(Exception):
            await self.ready()

    async def meaning(self, query: str | None) -> dict[str, float]:
        """{memory id: cosine} of what is near to a query in meaning, where an embedder was chosen.

        All memories' words are known then, too.
        """
        if query:
            await self._workspace.searching.catch_up_slowly()
        return await self._workspace.embedding.similar(read_query(query or "").text)

    async def ready(self) -> Workspace:
        """The workspace, with the code and the journal as they are on disk now."""
        async with self._looking:
            if time.monotonic() - self._looked > LOOK_SECONDS:
                await self._workspace.build_index(self._tell)
                self._looked = time.monotonic()
            await self._workspace.tick(self.now())
        await self._workspace.searching.soon_ready()
        return self._workspace

    def _tell(self, done: int, total: int) -> None:
        for listener in self._listeners:
            listener(done, total)

    async def place(self, at: str) -> Place:
        """What `FILE`, `FILE:LINE` or `FILE::NAME` means; see `place_at`."""
        return place_at(await self.ready(), at)

    def budget(self, tokens: int | None) -> int:
        """A budget of tokens, or the setting's."""
        return self._workspace.settings.memory.budget.total if tokens is None else tokens

    async def keep_copy(self) -> None:
        """Makes the daily copy, after something was stored; that it can't be made is no failure."""
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(self._workspace.exchange.copy_of_today, self.now())

    async def used(self, found: Context) -> None:
        """Counts the memories that an answer holds as used; that it can't be written is no failure."""
        with contextlib.suppress(StoreError):
            await self._workspace.journaling.access(found.memories, self.now(), found.on_their_own)

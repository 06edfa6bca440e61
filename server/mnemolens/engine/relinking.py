"""Deriving all links anew after the rules of linking changed, beside requests.

Owns what is still due, and how that is stopped and goes on. Links are derived: a restart derives all of them,
so nothing of this is written down. What a cancel left keeps the links that it had until `resume`, another
change of the rules or a new index.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from mnemolens.engine.offload import Slices
from mnemolens.engine.refreshing import Refreshing

logger = logging.getLogger(__name__)


class Relinking:
    """One folder's relinking.

    Attributes:
        on_progress: told (memories done, memories in all).
        task: the run that is under way; cancel it to stop it.
    """

    def __init__(self, refreshing: Refreshing, memory_ids: Callable[[], Iterable[str]]) -> None:
        self.on_progress: Callable[[int, int], None] | None = None
        self.task: asyncio.Task[None] | None = None
        self._refreshing = refreshing
        self._memory_ids = memory_ids
        self._due: list[str] = []
        self._total = 0

    @property
    def left(self) -> int:
        """How many memories have the links of earlier rules."""
        return len(self._due)

    def begin(self) -> None:
        """All links are due: as many as a slice holds now, the others beside requests.

        A run under way starts over. Where no event loop runs, nobody waits: all of them now.
        """
        self._due = list(self._memory_ids())
        self._due.reverse()
        self._total = len(self._due)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            while self._due:
                self._next()
            return
        first = Slices()
        while self._due and not first.used_up:
            self._next()
        self.resume()

    def resume(self) -> None:
        """Goes on with what a cancel left."""
        # One that has just ended is known here until the loop's next turn.
        if self._due and (self.task is None or self.task.done() or self.task.cancelling()):
            self.task = asyncio.get_running_loop().create_task(self._run())
            self.task.add_done_callback(self._ended)

    def all_derived(self) -> None:
        """Everything was derived for another reason: what a cancel left is no longer due."""
        if self.task is None or self.task.done():
            self._due = []

    def close(self) -> None:
        """Stops what is under way."""
        if self.task is not None:
            self.task.cancel()

    async def _run(self) -> None:
        slices = Slices()
        try:
            while self._due:
                self._next()
                if self.on_progress is not None:
                    self.on_progress(self._total - len(self._due), self._total)
                await slices.pause()
        except Exception:
            logger.exception("Linking memories anew failed")

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self.task is task:
            self.task = None

    def _next(self) -> None:
        """Derives one; no longer due even if that fails, as it would fail again."""
        self._refreshing.refresh((self._due.pop(),))

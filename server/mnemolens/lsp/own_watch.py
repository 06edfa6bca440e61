"""Watches a folder's tree where the client can't: which paths changed, by the names they have in the tree.

On Linux a watch of a whole tree goes through symbolic links. What a link leads to inside the tree is then
told by either of its paths, `node_modules/shop/cart.ts` or `packages/shop/cart.ts`, and is told no more once
the link is gone. So there each folder is watched by itself, and all of them anew once there are others.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Final, TypedDict

from watchfiles import DefaultFilter, awatch

log = logging.getLogger(__name__)


class _Options(TypedDict):
    watch_filter: DefaultFilter
    debounce: int
    step: int
    ignore_permission_denied: bool


_FOLLOWS_LINKS = sys.platform.startswith("linux")
_OPTIONS: Final[_Options] = {
    "watch_filter": DefaultFilter(),
    "debounce": 200,
    "step": 50,
    "ignore_permission_denied": True,
}
_MOST_FOLDERS = 2_000
"""To begin to watch so many holds the loop for 40 ms, at each new folder; more are watched as a whole."""

_GATHERED_SECONDS = 0.3
"""Until a watch has surely told what it has gathered."""

_AGAIN_SECONDS = 0.2
"""Between two tries where a folder was gone before it could be watched."""

_REFUSED_SECONDS = 60.0
"""Between two tries where the system refuses a watch."""

_GONE_SECONDS = 1.0
"""Between two looks for a root that is gone."""


async def changes_below(root: Path) -> AsyncGenerator[list[Path]]:
    """The paths that changed, each time that some did; of new folders just the folder.

    The first is an empty list: what changes from then on is told, or, where no watch can be had, its folder
    once there is one.
    """
    watched = frozenset[Path]()
    untold = frozenset[Path]()  # made anew: what came into them before they were watched was not told
    watch: _Watch | None = None
    try:
        while True:
            below = await asyncio.to_thread(_folders_below, root)
            if not below:  # the root is gone, and may come back
                if watch is not None:
                    await watch.end()
                    watch = None
                await asyncio.sleep(_GONE_SECONDS)
                continue
            if below != watched or untold or watch is None:
                before, watch = watch, _Watch(root, below)
                late = await _handed_over(before)
                # What stood there already was not seen being made; all of it where none was watched.
                unseen = below if before is None else (below - watched) | (untold & below)
                yield [*late, *sorted(unseen)] if watched else []
                watched, untold = below, frozenset()
                continue
            try:
                while True:
                    paths = await watch.next()
                    yield paths
                    untold = watch.made_anew(paths)
                    if untold or (watch.is_by_folder and await asyncio.to_thread(_any_folder, paths)):
                        break
            except (OSError, RuntimeError, StopAsyncIteration) as error:
                await watch.end()
                watch = None
                await asyncio.sleep(_seconds_after(error, root))
    finally:
        if watch is not None:
            await watch.end()


class _Watch:
    """A watch of folders, each by itself, or of their root as a whole.

    It stands from the loop's next round on.

    Attributes:
        is_by_folder: whether new folders are none of its own.
    """

    def __init__(self, root: Path, below: frozenset[Path]) -> None:
        self.is_by_folder = _FOLLOWS_LINKS and len(below) <= _MOST_FOLDERS
        self._folders = below if self.is_by_folder else frozenset((root,))
        self._stop = asyncio.Event()
        self._changes = awatch(
            *self._folders, recursive=not self.is_by_folder, stop_event=self._stop, **_OPTIONS
        )
        self._coming = asyncio.ensure_future(anext(self._changes))

    async def next(self) -> list[Path]:
        """The paths that changed next."""
        found = await asyncio.shield(self._coming)
        self._coming = asyncio.ensure_future(anext(self._changes))
        return [Path(path) for _, path in found]

    def made_anew(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Which of its folders are among these paths: they are gone, or others of the same name by now."""
        return self._folders & frozenset(paths)

    async def last(self) -> list[Path]:
        """The paths that had changed when this was called; it is the end of the watch."""
        await asyncio.wait([self._coming], timeout=_GATHERED_SECONDS)
        done = self._coming.done() and not self._coming.cancelled() and self._coming.exception() is None
        found = self._coming.result() if done else ()
        await self.end()
        return [Path(path) for _, path in found]

    def stop(self) -> None:
        """Stop watching, soon."""
        self._stop.set()
        self._coming.add_done_callback(lambda coming: coming.cancelled() or coming.exception())

    async def end(self) -> None:
        """Stop watching."""
        self.stop()
        await asyncio.wait([self._coming])
        await self._changes.aclose()


def _seconds_after(error: Exception, root: Path) -> float:
    """How long to wait after a watch has ended so."""
    if isinstance(error, FileNotFoundError | StopAsyncIteration):  # one was gone before it could be watched
        return _AGAIN_SECONDS
    log.warning("%s can't be watched, which is tried again: %s", root, error)  # there may be too many watches
    return _REFUSED_SECONDS


async def _handed_over(before: _Watch | None) -> list[Path]:
    """What an earlier watch still tells once the next one stands; it is stopped, whatever comes."""
    try:
        await asyncio.sleep(0)
        return [] if before is None else await before.last()
    finally:
        if before is not None:
            before.stop()


def _any_folder(paths: Iterable[Path]) -> bool:
    return any(path.is_dir() for path in paths)


def _folders_below(root: Path) -> frozenset[Path]:
    """The folders to be watched, their root among them; none that only a link leads to."""
    found = []
    for at, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if name not in DefaultFilter.ignore_dirs]
        found.append(Path(at))
    return frozenset(found)

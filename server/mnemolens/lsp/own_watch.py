"""Watches a folder's tree where the client can't: which paths changed, by the names they have in the tree.

On Linux a watch of a whole tree goes through symbolic links. What a link leads to inside the tree is then
told by either of its paths, `node_modules/shop/cart.ts` or `packages/shop/cart.ts`, and is told no more once
the link is gone. So there each folder is watched by itself, and all of them anew once there are others.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Final, TypedDict

from watchfiles import DefaultFilter, awatch


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

_GONE_SECONDS = 1.0
"""Between two looks for a root that is gone."""


async def changes_below(root: Path) -> AsyncGenerator[list[Path]]:
    """The paths that changed, each time that some did; of new folders just the folder."""
    if _FOLLOWS_LINKS and len(await asyncio.to_thread(_folders_below, root)) <= _MOST_FOLDERS:
        changes = _folder_by_folder(root)
    else:
        changes = _as_a_whole(root)
    async with contextlib.aclosing(changes):
        async for paths in changes:
            yield paths


async def _as_a_whole(root: Path) -> AsyncGenerator[list[Path]]:
    async for found in awatch(root, **_OPTIONS):
        yield [Path(path) for _, path in found]


async def _folder_by_folder(root: Path) -> AsyncGenerator[list[Path]]:
    watched = frozenset[Path]()
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
            if below != watched or watch is None:
                before, watch = watch, _Watch(below)
                await asyncio.sleep(0)  # from here on these are watched, too
                late = await before.last() if before is not None else []
                if watched:
                    # What stood there already was not seen being made; all of it where none was watched.
                    yield [*late, *sorted(below if before is None else below - watched)]
                watched = below
                continue
            try:
                while True:
                    paths = await watch.next()
                    yield paths
                    if any(path in watched or path.is_dir() for path in paths):
                        break
            except (FileNotFoundError, StopAsyncIteration):  # one that was gone before it could be watched
                await watch.end()
                watch = None
                await asyncio.sleep(_AGAIN_SECONDS)
    finally:
        if watch is not None:
            await watch.end()


class _Watch:
    """A watch of folders, each by itself; it stands from the loop's next round on."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._stop = asyncio.Event()
        self._changes = awatch(*folders, recursive=False, stop_event=self._stop, **_OPTIONS)
        self._coming = asyncio.ensure_future(anext(self._changes))

    async def next(self) -> list[Path]:
        """The paths that changed next."""
        found = await asyncio.shield(self._coming)
        self._coming = asyncio.ensure_future(anext(self._changes))
        return [Path(path) for _, path in found]

    async def last(self) -> list[Path]:
        """The paths that had changed when this was called; it is the end of the watch."""
        await asyncio.wait([self._coming], timeout=_GATHERED_SECONDS)
        done = self._coming.done() and not self._coming.cancelled() and self._coming.exception() is None
        found = self._coming.result() if done else ()
        await self.end()
        return [Path(path) for _, path in found]

    async def end(self) -> None:
        """Stop watching."""
        self._stop.set()
        await asyncio.wait([self._coming])
        self._coming.cancelled() or self._coming.exception()
        await self._changes.aclose()


def _folders_below(root: Path) -> frozenset[Path]:
    """The folders to be watched, their root among them; none that only a link leads to."""
    found = []
    for at, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if name not in DefaultFilter.ignore_dirs]
        found.append(Path(at))
    return frozenset(found)

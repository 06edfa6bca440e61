"""Learns of files that change on disk: from the client where it can watch, else by watching itself.

Events are gathered until they pause, so that a checkout is one batch. What they mean is the engine's matter.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.own_watch import changes_below

logger = logging.getLogger(__name__)

QUIET_SECONDS = 0.1
PATIENCE_SECONDS = 1.0
_EVERYTHING = "**/*"


def watch_folder(ls: MnemolensServer, folder: Folder) -> None:
    """Begin to watch a folder's files."""
    if not ls.caps.watched_files:
        stands = ls.watch_stands[folder.real] = asyncio.Event()
        ls.watches[folder.real] = ls.spawn(_watch(ls, folder, stands), f"watching {folder.given}")
    elif ls.caps.watched_files_relative:
        pattern = types.RelativePattern(base_uri=folder.uri, pattern=_EVERYTHING)
        ls.spawn(_register(ls, _registration(folder), pattern), "registering file watching")
    elif not ls.watches:
        # One registration of everything serves all folders of such a client.
        ls.watches[folder.real] = ls.spawn(
            _register(ls, "mnemolens-files", _EVERYTHING), "registering file watching"
        )


def unwatch_folder(ls: MnemolensServer, folder: Folder) -> None:
    """Stop watching a folder's files."""
    if not ls.caps.watched_files:
        watch = ls.watches.pop(folder.real, None)
        ls.watch_stands.pop(folder.real, None)
        if watch is not None:
            watch.cancel()
    elif ls.caps.watched_files_relative and ls.started:
        ls.spawn(_unregister(ls, _registration(folder)), "unregistering file watching")


async def watch_stands(ls: MnemolensServer, folder: Folder) -> None:
    """Returns once our own watch of a folder stands, or can't for now: what is read then misses no change."""
    stands = ls.watch_stands.get(folder.real)
    if stands is not None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stands.wait(), PATIENCE_SECONDS)


class FileEvents:
    """Gathers paths and hands them to the folders once they have paused for a moment."""

    def __init__(self, ls: MnemolensServer) -> None:
        self._ls = ls
        self._paths: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._first = 0.0
        self._busy = asyncio.Lock()

    def add(self, paths: Iterable[Path]) -> None:
        """Take note of created, changed and deleted paths; there may be thousands at once."""
        known = len(self._paths)
        self._paths.update(paths)
        if len(self._paths) == known:
            return
        loop = asyncio.get_running_loop()
        if not known:
            self._first = loop.time()
        if self._timer is not None:
            self._timer.cancel()
        wait = max(0.0, min(QUIET_SECONDS, self._first + PATIENCE_SECONDS - loop.time()))
        self._timer = loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        paths, self._paths, self._timer = self._paths, set(), None
        if not self._ls.closing:
            self._ls.spawn(self._tell(paths), "following changed files")

    async def _tell(self, paths: Collection[Path]) -> None:
        async with self._busy:
            folders = tuple(self._ls.folders)
            for folder, within in await asyncio.to_thread(_sorted_out, paths, folders):
                if within:
                    await folder.workspace.files_changed(within)
        self._ls.lenses_may_have_changed()


async def _watch(ls: MnemolensServer, folder: Folder, stands: asyncio.Event) -> None:
    async with contextlib.aclosing(changes_below(folder.real)) as changes:
        async for paths in changes:
            stands.set()
            ls.file_events.add(paths)


def _sorted_out(paths: Collection[Path], folders: Sequence[Folder]) -> list[tuple[Folder, list[Path]]]:
    """Which of the paths lie in which folder; neither git's own files nor the memories'."""
    stores = [folder.workspace.layout.store for folder in folders]
    told = [path for path in paths if not _is_ours_or_gits(path, stores)]
    return [(folder, [path for path in told if folder.file_of(path) is not None]) for folder in folders]


def _is_ours_or_gits(path: Path, stores: Sequence[Path]) -> bool:
    return ".git" in path.parts or any(path.is_relative_to(store) for store in stores)


def _registration(folder: Folder) -> str:
    return f"mnemolens-files-{folder.uri}"


async def _register(ls: MnemolensServer, registration_id: str, pattern: str | types.RelativePattern) -> None:
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(pattern)])
    registration = types.Registration(
        registration_id, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
    )
    await ls.client_register_capability_async(types.RegistrationParams([registration]))


async def _unregister(ls: MnemolensServer, registration_id: str) -> None:
    gone = types.Unregistration(registration_id, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    await ls.client_unregister_capability_async(types.UnregistrationParams([gone]))

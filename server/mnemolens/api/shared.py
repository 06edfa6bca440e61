"""One workspace a folder and process, shared by all backends on it, on an event loop in a thread of its own.

Owns that thread, how calls get onto it from any other, and who still uses the workspace. What is asked of the
workspace is `backend.py`'s.
"""

import asyncio
import atexit
import contextlib
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from mnemolens.api.conversion import in_python
from mnemolens.core.errors import InvalidArgument, MnemolensError, StoreError
from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.core.views import IndexReport
from mnemolens.engine.opening import open_folder
from mnemolens.engine.workspace import Workspace
from mnemolens.store.layout import find_layout

log = logging.getLogger(__name__)

T = TypeVar("T")

CLOSED: Final = "the backend is closed; call initialize() to open it again"
_PATIENCE: Final = 10.0
"""Seconds that closing waits for calls in other threads."""


class Place(NamedTuple):
    """What tells one workspace from another: real paths.

    Attributes:
        root: the folder whose code counts.
        store: where memories are kept.
        chosen: whether that is another place than the one that belongs to the root.
    """

    root: Path
    store: Path
    chosen: bool


class SharedWorkspace:
    """A workspace on its own thread. Make and give back with `share` and `give_back`.

    Attributes:
        place: which.
        users: how many backends use it.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.users = 0
        self._process = os.getpid()
        self._gate = threading.Lock()  # between the last call let in and closing
        self._closed = False
        self._calls: set[asyncio.Task[object]] = set()
        self._index: asyncio.Task[IndexReport] | None = None
        self._indexing = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._copied: date | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="mnemolens-api", daemon=True)
        self._thread.start()
        try:
            self._workspace = self.call(self._open)
        except BaseException:
            self._stop()
            raise

    # From any thread --------------------------------------------------------------------------------------

    def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs `work` on the workspace's thread and waits for it.

        Raises:
            StoreError: the workspace is closed, or belongs to the process that this one was forked from.
            Exception: what `work` raises, with fields named as in Python.
        """
        if os.getpid() != self._process:
            raise StoreError("this backend was opened before the process was forked; open one of its own")
        if threading.current_thread() is self._thread:
            raise StoreError("a backend can't be called from within one of its own callbacks")
        with self._gate:
            if self._closed:
                raise StoreError(CLOSED)
            future = asyncio.run_coroutine_threadsafe(self._noted(work), self._loop)
        try:
            return future.result()
        except CancelledError:
            raise StoreError(CLOSED) from None
        except MnemolensError as error:
            raise in_python(error) from None

    def close(self) -> None:
        """Lets calls in other threads end, closes the workspace and ends the thread."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
        if os.getpid() != self._process:
            return
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        finally:
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    # On the workspace's thread ----------------------------------------------------------------------------

    @property
    def workspace(self) -> Workspace:
        """The workspace; only on its own thread, thus inside `call`."""
        return self._workspace

    @property
    def writing(self) -> asyncio.Lock:
        """Held from planning a write until it is done: what was planned on must still be so."""
        return self._writing

    async def index(self, on_progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """Reads all code as it is on disk now, links all memories, and writes down what that says of them."""
        async with self._indexing:
            with contextlib.suppress(Exception):
                await self.indexed()
            self._index = asyncio.ensure_future(self._workspace.build_index(on_progress))
            report = await asyncio.shield(self._index)
        async with self._writing:
            self._workspace.journaling.write_found_sync()
        return report

    def index_known_code(self) -> None:
        """Begins to read the code where somebody has indexed it before, unless that was done already."""
        if (self._index is None or _failed(self._index)) and self._workspace.was_indexed:
            self._index = asyncio.ensure_future(self._workspace.build_index())

    async def indexed(self) -> None:
        """Waits for an index that is being built."""
        if self._index is not None:
            await asyncio.shield(self._index)

    async def keep_copy(self) -> None:
        """Makes the daily copy, after something was stored; where it can't be made, that is only logged."""
        now = datetime.now(UTC)
        if self._copied != now.date():
            self._copied = now.date()
            try:
                await asyncio.to_thread(self._workspace.exchange.copy_of_today, now)
            except StoreError as error:
                log.warning("%s", error)

    async def graph_ready(self) -> None:
        """Starts the graph and waits for the code that belongs into it."""
        self._workspace.journaling.catch_up()
        self.index_known_code()
        await self.indexed()

    async def _open(self) -> Workspace:
        workspace = _opened(self.place)
        if not workspace.was_indexed:
            workspace.without_code()
        return workspace

    async def _noted(self, work: Callable[[], Awaitable[T]]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            return await work()
        finally:
            self._calls.discard(task)

    async def _close(self) -> None:
        if self._index is not None:
            self._index.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._index
        if self._calls:
            _, late = await asyncio.wait(set(self._calls), timeout=_PATIENCE)
            for task in late:
                task.cancel()
        self._workspace.close()


def _failed(task: asyncio.Task[IndexReport]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


_sharing = threading.Lock()  # guards _shared, and users of what is in it
_shared: dict[Place, SharedWorkspace] = {}


def share(place: Place) -> SharedWorkspace:
    """The process's one workspace for a place; give it back with `give_back`.

    Raises:
        InvalidArgument: root or path can't be used.
        StoreError: what is stored there can't be read.
    """
    with _sharing:
        found = _shared.get(place)
        if found is None:
            found = _shared[place] = SharedWorkspace(place)
        found.users += 1
        return found


def give_back(shared: SharedWorkspace) -> None:
    """The last to give it back closes it."""
    with _sharing:
        shared.users -= 1
        if shared.users > 0:
            return
        if _shared.get(shared.place) is shared:
            del _shared[shared.place]
        shared.close()


def _close_all() -> None:
    with _sharing:
        for shared in _shared.values():
            with contextlib.suppress(Exception):
                shared.close()
        _shared.clear()


def _forget_all() -> None:
    global _sharing  # noqa: PLW0603 - the parent's lock may have been held by a thread that is not here
    _sharing = threading.Lock()
    _shared.clear()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def place_of(path: object, root: object) -> Place:
    """The place that a backend's arguments mean.

    Raises:
        InvalidArgument: an argument is no path, or there is a file where a folder should be.
    """
    folder = find_layout(Path.cwd()).top if root is None else _folder("root", root)
    if not folder.is_dir():
        raise InvalidArgument("root", f"{folder} is no folder; name one that exists")
    settings, _ = resolve_settings(SettingsSources(environment=os.environ))
    usual = Path(os.path.realpath(find_layout(folder, settings.store.path).store))
    store = usual if path is None else _folder("path", path)
    return Place(folder, store, store != usual)


def _folder(name: str, value: object) -> Path:
    if not isinstance(value, str | os.PathLike):
        raise InvalidArgument(name, f"must be a path, not {type(value).__name__}")
    given = os.fspath(value)
    if not isinstance(given, str) or not given or "\0" in given:
        raise InvalidArgument(name, f"{given!r} is no path")
    folder = Path(os.path.realpath(Path(given).expanduser()))
    if folder.exists() and not folder.is_dir():
        raise InvalidArgument(name, f"{folder} is a file; name a folder")
    return folder


def _opened(place: Place) -> Workspace:
    """A workspace with its settings; what is wrong with these is logged."""
    own = {"store.path": str(place.store)} if place.chosen else {}
    try:
        found = open_folder(place.root, own)
    except OSError as error:
        raise StoreError(f"{error.filename or place.store} can't be read: {error.strerror}") from error
    for message in dict.fromkeys(notice.message for notice in found.notices):
        log.warning("%s", message)
    return found.workspace

"""`KuzuBackend`: storing and finding memories from Python programs.

Owns the documented methods and nothing else: each converts, asks the workspace on its own thread
(`shared.py`), and converts back.
"""

import os
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from mnemolens.api.connection import Connection
from mnemolens.api.conversion import (
    capture_request,
    entry_of,
    links_of,
    list_request,
    number,
    preview_of,
    session_of,
    text,
)
from mnemolens.api.models import CodeLink, MemoryEntry, MemoryPreview, MemoryQuery, MemoryType, SessionInfo
from mnemolens.api.shared import CLOSED, SharedWorkspace, give_back, place_of, share
from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.views import MemoryView
from mnemolens.engine.places import Place, place_at
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.status import status_of
from mnemolens.engine.write import Write

T = TypeVar("T")


class KuzuBackend:
    """Memories of one project, linked to its code. Synchronous; any number of threads may use one backend.

    Backends on the same store and root share one workspace within a process, and see each other's writes at
    once, as they see those of other processes. What is stored is on disk when a method returns; nothing is
    written before the first memory is stored. Use it in a `with` block, or call `close`.

    Args:
        path: the store's folder; None for the one that belongs to the project (the same that editors use).
        enable_auto_linking: whether what a memory stored through this backend says links it to code. Where
            not, it stays unlinked until it is stored with linking, or is read by another process or a later
            one: links are derived, not stored.
        root: the folder whose code counts; None for the top level of the repository (or project) that the
            current folder is in.

    Attributes:
        connection: answers read-only Cypher: `backend.connection.execute(cypher, parameters)`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        enable_auto_linking: bool = True,  # noqa: FBT001, FBT002 - as documented
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(enable_auto_linking, bool):
            raise InvalidArgument("enable_auto_linking", "must be True or False")
        self.connection = Connection(self._open)
        self._links = enable_auto_linking
        self._place = place_of(path, root)
        self._guard = threading.Lock()  # guards _shared, _closed
        self._shared: SharedWorkspace | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"KuzuBackend({str(self._place.store)!r}, root={str(self._place.root)!r})"

    def __enter__(self) -> Self:
        self.initialize()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._place.store

    # Opening and closing ----------------------------------------------------------------------------------

    def initialize(self) -> None:
        """Reads what is stored; again is harmless. Other methods do it, too, when they are called first.

        Raises:
            StoreError: what is stored can't be read.
        """
        with self._guard:
            self._closed = False
        self._open()

    def close(self) -> None:
        """Lets go of the store; again is harmless. `initialize` opens it again."""
        with self._guard:
            shared, self._shared = self._shared, None
            self._closed = True
        if shared is not None:
            give_back(shared)

    def _open(self) -> SharedWorkspace:
        with self._guard:
            if self._closed:
                raise StoreError(CLOSED)
            if self._shared is None:
                self._shared = share(self._place)
            return self._shared

    # Memories ---------------------------------------------------------------------------------------------

    def store_memory(self, memory: MemoryEntry, *, allow_secret: bool = False) -> bool:
        """Stores a memory, and links it to the code that it is about.

        An id that is there already is an update: the memory becomes what the entry says, a deleted one comes
        back. A failing link never fails the store.

        Args:
            memory: what to store; it is not changed.
            allow_secret: store it although it holds what looks like a password, key or token.

        Returns:
            True; what can't be stored raises.

        Raises:
            InvalidArgument: a field is wrong (names it), or the text holds a secret; nothing is stored.
            StoreError: the store can't be written, or the backend is closed; nothing is stored.
        """
        request = capture_request(memory, allow_secret=allow_secret)
        shared = self._open()

        async def work() -> None:
            if self._links:
                shared.index_known_code()
            workspace = shared.workspace
            await written(shared, lambda: workspace.writing.store(request, _now(), link=self._links))

        shared.call(work)
        return True

    def update_memory(self, memory: MemoryEntry, *, allow_secret: bool = False) -> bool:
        """Makes a memory that is stored what the entry says: fields that the entry does not set are cleared.

        Only `created_at` and `author`, where they are None, stay as they were.

        Returns:
            False where no memory has that id, or it was deleted; nothing is stored then.

        Raises:
            InvalidArgument: a field is wrong, or the text holds a secret.
            StoreError: the store can't be written, or the backend is closed.
        """
        request = capture_request(memory, allow_secret=allow_secret)
        shared = self._open()

        def plan() -> Write[bool]:
            known = shared.workspace.show.view(str(request.id), _now())
            if known is None or known.memory.status == "forgotten":
                return Write((), lambda: False)
            return _answering(shared.workspace.writing.overwrite(request, _now()), True)

        return shared.call(lambda: written(shared, plan))

    def preview_memory(self, memory: MemoryEntry) -> MemoryPreview:
        """What storing this memory would mean: its links, what is known already, the code it may be about.

        Stores nothing. Waits until the code is read, where anybody has indexed it (see `CodeGraph`).

        Raises:
            InvalidArgument: a field is wrong, or the text holds a secret.
            StoreError: the backend is closed.
        """
        request = capture_request(memory, allow_secret=False)
        shared = self._open()

        async def work() -> MemoryPreview:
            shared.workspace.journaling.catch_up()
            shared.index_known_code()
            await shared.indexed()
            view = await shared.workspace.capturing.preview(request, _now(), wait=True)
            return preview_of(view, memory.id)

        return shared.call(work)

    def link_memory(self, memory_id: str, at: str) -> list[CodeLink]:
        """Links a memory to code, as a suggestion or a candidate offers it, or anywhere.

        Args:
            memory_id: the memory's.
            at: `path::name`, `path:line` or a file's path, relative to the repository, as offers are, else to
                the current folder.

        Returns:
            All of the memory's links.

        Raises:
            InvalidArgument: there is no such file, line or symbol.
            NotFound: no memory has that id.
            StoreError: the store can't be written, or the backend is closed.
        """
        text("memory_id", memory_id)
        text("at", at)
        shared = self._open()

        async def work() -> list[CodeLink]:
            place = await self._placed(shared, at)
            linking = shared.workspace.attaching.link
            done = await written(
                shared, lambda: linking(memory_id, file=place.file, position=place.position, now=_now())
            )
            return links_of(done.links)

        return shared.call(work)

    def refuse_suggestion(self, memory_id: str, at: str) -> None:
        """Never suggests this code for this memory again.

        Args:
            memory_id: the memory's.
            at: as for `link_memory`.

        Raises:
            InvalidArgument: there is no such file, line or symbol.
            NotFound: no memory has that id.
            StoreError: the store can't be written, or the backend is closed.
        """
        text("memory_id", memory_id)
        text("at", at)
        shared = self._open()

        async def work() -> None:
            place = await self._placed(shared, at)
            workspace = shared.workspace
            workspace.show.known(memory_id)
            key = workspace.show.target(place.file, place.position).key
            await written(shared, lambda: workspace.suggestions.refuse(memory_id, key))

        shared.call(work)

    @staticmethod
    async def _placed(shared: SharedWorkspace, at: str) -> Place:
        shared.workspace.journaling.catch_up()
        shared.index_known_code()
        await shared.indexed()
        return place_at(shared.workspace, at, (shared.workspace.layout.top,))

    def retrieve_memories(self, query: MemoryQuery | None = None) -> list[MemoryEntry]:
        """The memories that fulfil a query, the newest first. Writes nothing, no access times either.

        Args:
            query: None for all that are neither deleted nor expired.

        Raises:
            InvalidArgument: a filter is wrong; names it.
            StoreError: the backend is closed.
        """
        asked = MemoryQuery() if query is None else query
        request = list_request(asked)
        shared = self._open()

        async def work() -> list[MemoryEntry]:
            shared.workspace.journaling.catch_up()
            found = shared.workspace.listing.find(request, _now())
            return [entry_of(memory) for memory in found[: asked.limit]]

        return shared.call(work)

    def get_memory_by_id(self, memory_id: str) -> MemoryEntry | None:
        """One memory; None where there is none of that id, or it was deleted or has expired.

        Raises:
            InvalidArgument: the id is no text.
            StoreError: the backend is closed.
        """
        text("memory_id", memory_id)
        shared = self._open()

        async def work() -> MemoryEntry | None:
            shared.workspace.journaling.catch_up()
            now = _now()
            view = shared.workspace.show.view(memory_id, now)
            return None if view is None or not _is_present(view, now) else entry_of(view.memory)

        return shared.call(work)

    def access_memory(self, memory_id: str | Iterable[str]) -> int:
        """Counts a use of one memory, or of several: reading alone never does.

        Returns:
            How many of them were counted: those that are neither unknown nor deleted nor expired.

        Raises:
            InvalidArgument: an id is no text.
            StoreError: the store can't be written, or the backend is closed.
        """
        ids = [memory_id] if isinstance(memory_id, str) else _texts("memory_id", memory_id)
        shared = self._open()

        async def work() -> int:
            shared.workspace.journaling.catch_up()
            now = _now()
            views = ((one, shared.workspace.show.view(one, now)) for one in ids)
            known = [one for one, view in views if view is not None and _is_present(view, now)]
            if known:
                await shared.workspace.journaling.access(known, now)
            return len(known)

        return shared.call(work)

    def delete_memory(self, memory_id: str) -> int:
        """Deletes a memory; `restore_memory` brings it back.

        Returns:
            How many were deleted: 1, or 0 where there is none of that id.

        Raises:
            InvalidArgument: the id is no text.
            StoreError: the store can't be written, or the backend is closed.
        """
        text("memory_id", memory_id)
        shared = self._open()

        def plan() -> Write[int]:
            view = shared.workspace.show.view(memory_id, _now())
            if view is None or view.memory.status == "forgotten":
                return Write((), lambda: 0)
            return _answering(shared.workspace.writing.forget(memory_id, _now()), 1)

        return shared.call(lambda: written(shared, plan))

    def restore_memory(self, memory_id: str) -> int:
        """Brings a deleted memory back; one that has expired meanwhile no longer expires.

        Returns:
            How many came back: 1, or 0 where none of that id was deleted.

        Raises:
            InvalidArgument: the id is no text.
            StoreError: the store can't be written, or the backend is closed.
        """
        text("memory_id", memory_id)
        shared = self._open()

        def plan() -> Write[int]:
            view = shared.workspace.show.view(memory_id, _now())
            if view is None or view.memory.status != "forgotten":
                return Write((), lambda: 0)
            return _answering(shared.workspace.writing.restore(memory_id, _now()), 1)

        return shared.call(lambda: written(shared, plan))

    def cleanup_expired(self) -> int:
        """Deletes all memories that have expired; `restore_memory` brings each back.

        Returns:
            How many were deleted.

        Raises:
            StoreError: the store can't be written, or the backend is closed.
        """
        shared = self._open()
        return shared.call(lambda: written(shared, lambda: shared.workspace.sessions.forget_expired(_now())))

    # Sessions and figures ---------------------------------------------------------------------------------

    def get_session_info(self, session_id: str) -> SessionInfo | None:
        """One session; None where it has no memory that is neither deleted nor expired.

        Raises:
            InvalidArgument: the id is no text.
            StoreError: the backend is closed.
        """
        text("session_id", session_id)
        shared = self._open()

        async def work() -> SessionInfo | None:
            shared.workspace.journaling.catch_up()
            try:
                return session_of(shared.workspace.sessions.session(session_id, _now()))
            except NotFound:
                return None

        return shared.call(work)

    def list_sessions(self, limit: int | None = None) -> list[SessionInfo]:
        """All sessions, the one that was used last first.

        Args:
            limit: how many at most; None for all.

        Raises:
            InvalidArgument: the limit is no whole number from 1 on.
            StoreError: the backend is closed.
        """
        end = None if limit is None else number("limit", limit, 1)
        shared = self._open()

        async def work() -> list[SessionInfo]:
            shared.workspace.journaling.catch_up()
            return [session_of(view) for view in shared.workspace.sessions.sessions(_now())[:end]]

        return shared.call(work)

    def delete_session(self, session_id: str) -> int:
        """Deletes all memories of a session; `restore_memory` brings each back.

        Returns:
            How many were deleted.

        Raises:
            InvalidArgument: the id is no text.
            StoreError: the store can't be written, or the backend is closed.
        """
        text("session_id", session_id)
        shared = self._open()
        return shared.call(
            lambda: written(shared, lambda: shared.workspace.sessions.forget_session(session_id))
        )

    def get_stats(self) -> dict[str, Any]:
        """Figures of what is neither deleted nor expired.

        Returns:
            {"total_memories": int, "memory_types": {type: int}, "total_sessions": int, "total_agents": int,
            "code_files": int, "code_symbols": int, "graph": {"state": str, "slot": int | None,
            "reason": str | None}}; the code is what this process has read so far, and the graph's state is
            "ready" once it was asked.

        Raises:
            StoreError: the backend is closed.
        """
        shared = self._open()

        async def work() -> dict[str, Any]:
            workspace, now = shared.workspace, _now()
            workspace.journaling.catch_up()
            found = workspace.listing.find(ListRequest(limit=None), now)
            types = {kind.value: 0 for kind in MemoryType}
            for memory in found:
                types[memory.type] += 1
            status = status_of(workspace)
            graph = status.graph
            return {
                "total_memories": len(found),
                "memory_types": types,
                "total_sessions": len(workspace.sessions.sessions(now)),
                "total_agents": len(workspace.sessions.agents(now)),
                "code_files": status.files,
                "code_symbols": status.symbols,
                "graph": {"state": graph.state, "slot": graph.slot, "reason": graph.reason},
            }

        return shared.call(work)


async def written(shared: SharedWorkspace, plan: Callable[[], Write[T]]) -> T:
    """Plans a write on what everybody has written until now, and carries it out."""
    async with shared.writing:
        await shared.workspace.author.ensure_asked()
        shared.workspace.journaling.catch_up()
        answer = await shared.workspace.journaling.commit(plan())
        shared.workspace.journaling.write_found_sync()
    await shared.keep_copy()
    return answer


def _answering(write: Write[Any], answer: T) -> Write[T]:
    return Write(write.events, lambda: answer, write.undo)


def _now() -> datetime:
    return datetime.now(UTC)


def _is_present(view: MemoryView, now: datetime) -> bool:
    memory = view.memory
    return memory.status != "forgotten" and (memory.expires_at is None or memory.expires_at > now)


def _texts(name: str, values: object) -> list[str]:
    if not isinstance(values, Iterable):
        raise InvalidArgument(name, f"must be a text or several, not {type(values).__name__}")
    return [text(name, value) for value in values]

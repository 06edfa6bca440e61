"""Importing what a folder already says about its code: reads its files, plans, turns a plan into one `Write`.

Owns which files are looked at, and what is kept of a file that has not changed since. What is found in a text
and what becomes of it is said by `importers/`; carrying a write out is `journaling.py`'s.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from mnemolens.codegraph.languages import language_named
from mnemolens.core.errors import InvalidArgument, NotFound
from mnemolens.core.events import EventData, MemoryForget
from mnemolens.core.memories import Memory
from mnemolens.core.settings import Settings
from mnemolens.core.text import BinarySource, decode_source
from mnemolens.engine.author import Author
from mnemolens.engine.code import Code
from mnemolens.engine.documents import OpenDocuments
from mnemolens.engine.importers import (
    Found,
    Importer,
    Plan,
    Refused,
    agent_sections,
    is_agent_file,
    new_batch,
    plan,
    todo_comments,
    undo,
)
from mnemolens.engine.importers.found import Mark
from mnemolens.engine.offload import Slices
from mnemolens.engine.secrets import SecretFound
from mnemolens.engine.write import Write
from mnemolens.engine.writing import Writing
from mnemolens.store.files import FileFinder
from mnemolens.store.layout import Layout
from mnemolens.store.merge import MergedState

SOURCES: Final[tuple[Importer, ...]] = ("todo", "agents")
"""What can be imported: comments in code, and the sections of AGENTS.md and CLAUDE.md."""

_SLICE_SECONDS: Final = 0.005


@dataclass(frozen=True, slots=True)
class ImportRun:
    """What an import did.

    Attributes:
        session_id: by which it is undone; None where nothing was written.
        stored: new memories.
        updated: memories that follow an edit of their text.
        refused: what holds a secret.
    """

    session_id: str | None
    stored: int
    updated: int
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class ImportUndo:
    """What taking an import back did: memories forgotten, and memories that say again what they said."""

    forgotten: int
    reverted: int


class _Look(NamedTuple):
    """A file to look at; `text` is an open document's."""

    file: str
    importer: Importer
    language: str | None
    text: bytes | None


class _Known(NamedTuple):
    """What a file held when it was read: its time and size, or an open document's text."""

    state: tuple[int, int] | bytes
    found: tuple[Found, ...]


class Importing:
    """One folder's importers. All methods belong to the event loop's thread; files are read on others.

    Args:
        layout: of the folder.
        state: the memories that are there.
        code: says which files are indexed.
        documents: their text counts before the disk's.
        writing: plans the memories.
        author: who takes an import back.
        settings: as they are now.
    """

    def __init__(
        self,
        layout: Layout,
        state: MergedState,
        code: Code,
        documents: OpenDocuments,
        writing: Writing,
        author: Author,
        settings: Callable[[], Settings],
    ) -> None:
        self._layout = layout
        self._state = state
        self._code = code
        self._documents = documents
        self._writing = writing
        self._author = author
        self._settings = settings
        self._known: dict[str, _Known] = {}
        self._reading = asyncio.Lock()

    async def preview(self, sources: Collection[Importer] = SOURCES, file: str | None = None) -> Plan:
        """Say what an import would do; writes nothing.

        Args:
            sources: which importers.
            file: look at this file alone.

        Raises:
            InvalidArgument: there is no such file.
        """
        if file is not None and not self._code.has_file(file):
            raise InvalidArgument("uri", f"no file {file}")
        async with self._reading:
            found, scanned = await self._read(sources, file)
        memories = self._memories()
        return await asyncio.to_thread(self._plan, found, memories, scanned)

    async def run(
        self,
        now: datetime,
        sources: Collection[Importer] = SOURCES,
        file: str | None = None,
        ids: Collection[str] | None = None,
    ) -> Write[ImportRun]:
        """Import what is new and follow what was edited.

        Args:
            now: when the memories were made.
            sources: which importers.
            file: look at this file alone.
            ids: of all that a preview names, only these memories; what merely moved is followed anyway.

        Raises:
            InvalidArgument: there is no such file.
        """
        planned = await self.preview(sources, file)
        wanted = None if ids is None else frozenset(ids)
        batch = new_batch()
        writes: list[Write[Any]] = []
        refused = list(planned.refused)
        stored = updated = 0
        slices = Slices(_SLICE_SECONDS, pause=0)
        try:
            for new in planned.new:
                if wanted is None or new.memory_id in wanted:
                    try:
                        writes.append(
                            self._writing.capture_as_read(new.found.request(batch, new.memory_id), now)
                        )
                        stored += 1
                    except SecretFound as error:
                        found = new.found
                        refused.append(Refused(found.importer, found.file, found.line, error.secrets))
                    except InvalidArgument:
                        # Its file went, or its id was purged, since it was planned: as if it was not found.
                        continue
                    await slices.pause()
            for change in (*planned.changed, *planned.moved):
                if wanted is None or not change.edited or change.memory.id in wanted:
                    fields = change.changes(batch)
                    # The plan has looked for secrets in what is new; what it replaces was here already.
                    writes.append(self._writing.update(change.memory.id, fields, now, allow_secret=True))
                    updated += change.edited
                    await slices.pause()
        except BaseException:
            _undo_all(writes)
            raise
        events = _events(writes)
        answer = ImportRun(batch if events else None, stored, updated, tuple(refused))
        return Write(events, lambda: answer, lambda: _undo_all(writes))

    def undo(self, session_id: str, now: datetime) -> Write[ImportUndo]:
        """Take one import back, as one.

        Raises:
            NotFound: no import has that session id.
        """
        memories = self._memories()
        if not any(_is_of(memory, session_id) for memory in memories):
            raise NotFound(f"sessionId: no import {session_id!r}")
        back = undo(session_id, memories)
        author = self._author.name
        events: list[EventData] = [MemoryForget(memory=one, by=author) for one in back.forget]
        for memory_id, fields in back.revert.items():
            events += self._writing.update(memory_id, fields, now, allow_secret=True).events
        answer = ImportUndo(len(back.forget), len(back.revert))
        return Write(tuple(events), lambda: answer)

    def last(self) -> str | None:
        """The session id of the last import that can still be taken back; None where there is none."""
        memories = self._memories()
        marks = [(memory, mark) for memory in memories if (mark := Mark.of(memory)) is not None]
        batches = {mark.batch for _, mark in marks}
        batches |= {str(mark.was["batch"]) for _, mark in marks if mark.was and "batch" in mark.was}
        for batch in sorted(batches, reverse=True):  # they begin with the time
            back = undo(batch, memories)
            if back.forget or back.revert:
                return batch
        return None

    # Reading ----------------------------------------------------------------------------------------------

    async def _read(
        self, sources: Collection[Importer], file: str | None
    ) -> tuple[list[Found], frozenset[str]]:
        """What is found, by file; and the files that were looked at, or that are gone."""
        looks = self._looks(sources, file)
        marked = {mark.file for memory in self._memories() if (mark := Mark.of(memory)) is not None}
        agents = file is None and "agents" in sources
        # On the loop: what another thread walks, settings must not change meanwhile.
        opened = {
            name: document.text.data for name in self._documents if (document := self._documents.get(name))
        }
        finder = self._agent_finder() if agents else None
        found, scanned = await asyncio.to_thread(self._look_at, looks, finder, opened)
        gone = await asyncio.to_thread(lambda: {one for one in marked if not self._on_disk(one)})
        return found, frozenset(scanned) | (gone - set(opened))

    def _looks(self, sources: Collection[Importer], file: str | None) -> list[_Look]:
        looks = []
        if "todo" in sources:
            for name in sorted(self._code.index.files()) if file is None else (file,):
                symbols = self._code.index.get(name)
                if symbols is not None and self._code.in_scope(name):
                    document = self._documents.get(name)
                    text = None if document is None else document.text.data
                    looks.append(_Look(name, "todo", symbols.language, text))
        if file is not None and "agents" in sources and is_agent_file(file):
            document = self._documents.get(file)
            looks.append(_Look(file, "agents", None, None if document is None else document.text.data))
        return looks

    def _agent_finder(self) -> FileFinder:
        index = self._settings().index
        return FileFinder(
            self._layout.root,
            self._layout.top,
            is_agent_file,
            exclude=tuple(index.exclude),
            max_file_bytes=index.max_file_bytes,
            common_dir=self._layout.common_dir,
        )

    def _look_at(
        self, looks: list[_Look], finder: FileFinder | None, opened: dict[str, bytes]
    ) -> tuple[list[Found], set[str]]:
        """Runs on another thread; one at a time."""
        if finder is not None:
            files = sorted(found.path for found in finder.scan().files)
            looks = [*looks, *(_Look(file, "agents", None, opened.get(file)) for file in files)]
        found: list[Found] = []
        scanned: set[str] = set()
        for look in looks:
            here = self._found_in(look)
            if here is not None:
                scanned.add(look.file)
                found += here
        return found, scanned

    def _found_in(self, look: _Look) -> tuple[Found, ...] | None:
        """What one file holds; None where it can't be read."""
        path = self._layout.top / look.file
        data = look.text
        try:
            if data is None:
                status = path.stat()
                state: tuple[int, int] | bytes = (status.st_mtime_ns, status.st_size)
            else:
                state = data
            known = self._known.get(look.file)
            if known is not None and known.state == state:
                return known.found
            if data is None:
                data = decode_source(path.read_bytes()).data
        except (OSError, BinarySource, ValueError):
            return None
        if look.importer == "agents":
            found = agent_sections(look.file, data.decode("utf-8", "replace"))
        else:
            language = None if look.language is None else language_named(look.language)
            found = todo_comments(look.file, data, language)
        self._known[look.file] = _Known(state, found)
        return found

    def _on_disk(self, file: str) -> bool:
        try:
            return (self._layout.top / file).is_file()
        except (OSError, ValueError):
            return False

    # Planning ---------------------------------------------------------------------------------------------

    def _plan(self, found: Sequence[Found], memories: Iterable[Memory], scanned: Collection[str]) -> Plan:
        return plan(found, memories, scanned, self._state.is_purged)

    def _memories(self) -> list[Memory]:
        found = (self._state.memory(one) for one in self._state.memories())
        return [memory for memory in found if memory is not None]


def _is_of(memory: Memory, session_id: str) -> bool:
    mark = Mark.of(memory)
    return mark is not None and (
        memory.session_id == session_id or (mark.was is not None and mark.was.get("batch") == session_id)
    )


def _events(writes: Iterable[Write[Any]]) -> tuple[EventData, ...]:
    return tuple(event for write in writes for event in write.events)


def _undo_all(writes: Sequence[Write[Any]]) -> None:
    for write in reversed(writes):
        write.undo()

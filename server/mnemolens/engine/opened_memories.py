"""The memories that are open as documents, and what becomes of the documents when either side changes.

Owns when a document is written, read back, stored and removed. The rule: what is in a document and nowhere
else is never overwritten or removed, and what is stored never silently replaces what others stored meanwhile.
The form is `opened.py`'s, the files are `store/opened.py`'s. Belongs to the event loop; files are read and
written off it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mnemolens.core.errors import InvalidArgument, MnemolensError, NotFound, StoreError
from mnemolens.core.memories import Memory
from mnemolens.core.text import Text, TextChange
from mnemolens.core.views import OpenedMemory, SavedMemory
from mnemolens.engine.opened import (
    Document,
    Merged,
    all_alike,
    fields_of,
    file_name,
    id_in_name,
    id_of_hash,
    merge,
    on_its_line,
    parse,
    plain,
    read_document,
    refuse_undecided,
    render,
    with_both,
)
from mnemolens.engine.opened_stored import Stored
from mnemolens.store.opened import OpenedFolder, Shown, digest

Fields = dict[str, Any]


@dataclass(slots=True)
class _Editor:
    """A document that this process's client has open.

    Attributes:
        text: as it is in the editor.
        base: the memory's fields when the text last agreed with them; None until known.
        edited: it was changed since it was last saved.
        touched: it was changed since it was opened.
    """

    text: Text
    base: Fields | None = None
    edited: bool = False
    touched: bool = False


class _OnDisk(NamedTuple):
    data: bytes | None
    shown: Shown | None

    @property
    def text(self) -> str | None:
        """None where there is no text in UTF-8."""
        try:
            return None if self.data is None else self.data.decode()
        except UnicodeDecodeError:
            return None

    @property
    def is_settled(self) -> bool:
        """Whether it holds nothing that is not stored."""
        if self.data is None:
            return True
        if self.shown is None:
            return False
        return digest(self.data) == self.shown.seen or _says(self.text, self.shown.fields)


class OpenedMemories:
    """The memories that this process has open as documents."""

    def __init__(self, folder: OpenedFolder, stored: Stored) -> None:
        self._folders = [folder]
        self._stored = stored
        self._ids: dict[str, str] = {}
        self._editors: dict[Path, _Editor] = {}
        self._looked: dict[Path, Memory] = {}
        self._swept = False
        self._one_at_a_time = asyncio.Lock()

    # Which document is whose ------------------------------------------------------------------------------

    def is_document(self, path: Path) -> bool:
        """Whether the file is a memory's document, one of a memory that is gone too."""
        return path.suffix == ".md" and self._folder(path) is not None

    def is_open(self, path: Path) -> bool:
        """Whether this process has the document open."""
        folder = self._folder(path)
        return folder is not None and folder.holds(path.name)

    def id_of(self, path: Path) -> str | None:
        """The memory whose document this is; None for any other file."""
        if not self.is_document(path):
            return None
        memory_id = self._ids.get(path.name) or id_in_name(path.name)
        if memory_id is None or self._stored.memory(memory_id) is None:
            memory_id = id_of_hash(path.name, self._stored.ids())
        if memory_id is not None:
            self._ids[path.name] = memory_id
        return memory_id

    # The editor's text ------------------------------------------------------------------------------------

    def editor_opened(self, path: Path, text: str) -> None:
        """The client has opened the document; `read_back` follows."""
        self._editors[path] = _Editor(Text(text))

    def editor_changed(self, path: Path, changes: Sequence[TextChange]) -> None:
        """The client has changed its text."""
        editor = self._editors.get(path)
        if editor is None:
            return
        for change in changes:
            editor.text, _ = editor.text.apply(change)
        editor.edited = editor.touched = True
        self._looked.pop(path, None)
        self._agree(path, editor)

    def editor_saved(self, path: Path) -> str | None:
        """The client has saved: the text that it saved, None where only the disk can tell."""
        editor = self._editors.get(path)
        if editor is None or not editor.edited:
            return None
        editor.edited = False
        return str(editor.text)

    # Opening, saving, closing -----------------------------------------------------------------------------

    async def open(
        self, memory_ids: Sequence[str], now: datetime, used: Sequence[str] | None = None
    ) -> tuple[OpenedMemory, ...]:
        """Writes memories as Markdown documents to be edited; counts as an access where that can be written.

        Args:
            memory_ids: which.
            now: when.
            used: those of them that count as used by this; None for all.

        Raises:
            NotFound: no memory has one of the ids.
            StoreError: a document can be written nowhere.
        """
        for memory_id in memory_ids:
            self._stored.known(memory_id)
        await self._stored.use(memory_ids if used is None else used, now)
        wanted = [self._stored.known(memory_id) for memory_id in dict.fromkeys(memory_ids)]
        for memory in reversed(wanted):
            self._stored.visit(memory.id)
        return tuple([await self._open(memory, now) for memory in wanted])

    async def _open(self, memory: Memory, now: datetime) -> OpenedMemory:
        """Writes the memory's document; one that holds what is not stored is stored first.

        Returns:
            Where the document is. `trouble` says why it was left as it was.

        Raises:
            StoreError: it can be written neither into the store nor into a temporary folder.
        """
        name = file_name(memory.id)
        async with self._one_at_a_time:
            folder = next((one for one in self._folders if one.holds(name)), self._folders[0])
            path = folder.folder / name
            trouble = await self._bring_in(path, memory.id, await self._read(path), now)
            if trouble:
                await asyncio.to_thread(folder.hold, name)
                return OpenedMemory(memory.id, str(path), trouble)
            if path in self._editors:
                await self._follow(path)
                return OpenedMemory(memory.id, str(path))
            memory = self._stored.memory(memory.id) or memory
            written = await asyncio.to_thread(self._write, memory, self._stored.notes(memory))
            self._looked[written] = memory
            return OpenedMemory(memory.id, str(written))

    async def read_back(self, path: Path, now: datetime) -> str:
        """The client has opened the document: stores what was saved in it while nobody listened.

        Returns:
            Why that could not be stored; "" otherwise.
        """
        async with self._one_at_a_time:
            await self._stored.catch_up()
            memory_id = self.id_of(path)
            if memory_id is None:
                return ""
            await asyncio.to_thread(self._folder_of(path).hold, path.name)
            disk, editor = await self._read(path), self._editors.get(path)
            if editor is None:
                return ""
            editor.base = disk.shown.fields if disk.shown is not None else None
            self._agree(path, editor)
            if editor.touched or not _says_text(editor.text, disk.text):
                return ""  # the user is at it: what is on disk is about to be replaced
            return await self._bring_in(path, memory_id, disk, now)

    async def save(self, path: Path, text: str | None, now: datetime) -> SavedMemory:
        """Stores what the user changed in the document.

        Args:
            path: the document's.
            text: as it was saved; None takes it from the disk.
            now: when.

        Raises:
            InvalidArgument: the document is no UTF-8, its head is broken or a value not allowed, or the
                content was changed elsewhere too: then both versions stand in the document.
            NotFound: it is no memory's document.
            StoreError: the journal can't be written.
        """
        async with self._one_at_a_time:
            await self._stored.catch_up()
            disk = await self._read(path)
            return await self._save(path, text, disk, now)

    async def close(self, path: Path, now: datetime) -> str:
        """The client let go of the document; it goes, unless it holds what can't be stored.

        Returns:
            Why the document was kept; "" where it was not.
        """
        async with self._one_at_a_time:
            self._editors.pop(path, None)
            self._looked.pop(path, None)
            folder = self._folder(path)
            if folder is None or not folder.holds(path.name):
                return ""
            memory_id = self.id_of(path)
            trouble = ""
            if memory_id is not None:
                trouble = await self._bring_in(path, memory_id, await self._read(path), now)
            await asyncio.to_thread(folder.close, path.name, keep=bool(trouble))
            return trouble

    async def discard(self, path: Path) -> None:
        """Lets go of the document and of what was not stored of it, since its user said so."""
        async with self._one_at_a_time:
            folder = self._folder(path)
            if folder is not None:
                await asyncio.to_thread(folder.close, path.name)

    def close_all(self) -> None:
        """Lets go of all documents; those that hold what is not stored stay. Does file I/O."""
        for folder in self._folders:
            for name in folder.held:
                disk = _OnDisk(folder.read(name), folder.read_shown(name))
                folder.close(name, keep=not disk.is_settled)
        for folder in self._folders[1:]:
            with suppress(OSError):
                folder.folder.rmdir()
        self._editors.clear()

    async def look(self, now: datetime) -> None:
        """Once a second: documents follow their memories, and what was left behind is stored."""
        if not self._swept:
            self._swept = True
            await self._sweep(now)
        for path in [folder.folder / name for folder in self._folders for name in folder.held]:
            memory_id = self.id_of(path)
            memory = self._stored.memory(memory_id) if memory_id is not None else None
            if memory is None or memory is self._looked.get(path):
                continue
            async with self._one_at_a_time:
                with suppress(StoreError):
                    await self._follow(path)
            self._looked[path] = memory

    # Inside -----------------------------------------------------------------------------------------------

    async def _sweep(self, now: datetime) -> None:
        """Stores what was saved while no server ran, where that is beyond doubt."""
        for path in await asyncio.to_thread(self._folders[0].left_behind):
            async with self._one_at_a_time:
                disk = await self._read(path)
                if path in self._editors or disk.is_settled or disk.shown is None:
                    continue
                memory = self._stored.memory(disk.shown.memory_id)
                with suppress(MnemolensError):
                    if memory is not None and not self._merged(path, disk.text or "", disk, memory).both:
                        await self._save(path, None, disk, now)

    async def _bring_in(self, path: Path, memory_id: str, disk: _OnDisk, now: datetime) -> str:
        """Stores what the document held when it was read; why that is impossible, "" where nothing is left.

        It is not read again: an editor that is saving now has emptied it, and is about to fill it.
        """
        if disk.is_settled:
            return ""
        memory = self._stored.memory(memory_id)
        if memory is not None and _says(disk.text, fields_of(memory)):
            with suppress(StoreError):
                await self._settle(path, Shown(memory_id, fields_of(memory), digest(disk.data or b"")))
            return ""
        if disk.shown is None and self._base(path, disk) is None:
            return "it differs from the memory, and nobody knows which is newer; save it to keep its text"
        try:
            await self._save(path, None, disk, now)
        except MnemolensError as error:
            return reason(error)
        return ""

    async def _save(self, path: Path, text: str | None, disk: _OnDisk, now: datetime) -> SavedMemory:
        memory_id = self.id_of(path)
        memory = self._stored.memory(memory_id) if memory_id is not None else None
        if memory is None:
            raise NotFound(f"{path.name}: this memory is not stored any more; copy what you need of its text")
        if text is None:
            text = self._saved_text(path, disk)
        document = read_document(text)
        base, theirs = self._base(path, disk), fields_of(memory)
        refuse_undecided(document, theirs)
        merged = merge(base, document.fields, theirs)
        by = self._changed_by(memory.id, merged.both)
        if "content" in merged.both:
            await self._show_both(path, document, memory, by, disk)
            raise InvalidArgument(
                "document",
                f"the content was changed meanwhile by {by}; both versions are in the document now: "
                "keep what is right, and save it again",
            )
        try:
            saved = await self._stored.update(memory.id, merged.changes, now)
        except InvalidArgument as error:
            raise on_its_line(error, document) from None
        fields = {**(base or {}), **document.fields}
        seen = digest(disk.data) if disk.data is not None else ""
        if not self._is_seen(disk, text) and (disk.shown is None or seen != disk.shown.seen):
            seen = ""
        editor = self._editors.get(path)
        if editor is not None:
            editor.base = fields
        with suppress(StoreError):  # the memory is stored; without the record the next edit is only doubted
            await self._settle(path, Shown(memory.id, fields, seen))
            await self._follow(path)
        kept = tuple(
            f"{name} was changed meanwhile by {by}, to {theirs[name]!r}; yours is kept: {mine!r}"
            for name, mine in merged.changes.items()
            if name in merged.both
        )
        return SavedMemory(saved.view, kept)

    def _merged(self, path: Path, text: str, disk: _OnDisk, memory: Memory) -> Merged:
        document = read_document(text)
        refuse_undecided(document, fields_of(memory))
        return merge(self._base(path, disk), document.fields, fields_of(memory))

    def _saved_text(self, path: Path, disk: _OnDisk) -> str:
        """The document's text: the disk's, or the editor's where the disk has that in another encoding."""
        if disk.data is None:
            raise NotFound(f"{path.name}: the document can't be read")
        text, editor = disk.text, self._editors.get(path)
        if text is not None:
            return text
        if editor is None or not disk.is_settled:
            raise InvalidArgument("document", "it is no text in UTF-8; save it with the encoding UTF-8")
        return str(editor.text)

    def _changed_by(self, memory_id: str, fields: Iterable[str]) -> str:
        """Who changed any of the fields last."""
        wanted = set(fields)
        found = [one.by for one in self._stored.history(memory_id) if wanted.intersection(one.fields)]
        return (found and found[-1]) or "somebody else"

    @staticmethod
    def _is_seen(disk: _OnDisk, text: str) -> bool:
        """Whether the document's bytes are the text that was stored, in whatever encoding."""
        return disk.text is None or plain(disk.text) == plain(text)

    def _base(self, path: Path, disk: _OnDisk) -> Fields | None:
        """The fields from which the document was edited."""
        editor = self._editors.get(path)
        if editor is not None and editor.base is not None:
            return editor.base
        return disk.shown.fields if disk.shown is not None else None

    async def _show_both(
        self, path: Path, document: Document, memory: Memory, by: str, disk: _OnDisk
    ) -> None:
        """Writes both versions of the content into the document, for the user to decide."""
        theirs = fields_of(memory)["content"]
        base = {**(self._base(path, disk) or {}), "content": theirs}
        text = with_both(document, theirs, by)
        await asyncio.to_thread(self._folder_of(path).write, path.name, text)
        await self._settle(path, Shown(memory.id, base, ""))
        editor = self._editors.get(path)
        if editor is not None:
            editor.base = base

    async def _follow(self, path: Path) -> None:
        """Writes the document anew where its memory was changed elsewhere, unless the user is editing it."""
        memory_id = self.id_of(path)
        memory = self._stored.memory(memory_id) if memory_id is not None else None
        if memory is None or not self.is_open(path):
            return
        disk, editor = await self._read(path), self._editors.get(path)
        if editor is not None:
            self._agree(path, editor)
        if disk.text is None or disk.shown is None or all_alike(fields_of(memory), disk.shown.fields):
            return
        if not disk.is_settled or (editor is not None and not _says_text(editor.text, disk.text)):
            return
        await asyncio.to_thread(self._write, memory, self._stored.notes(memory))

    def _agree(self, path: Path, editor: _Editor) -> None:
        """Notes where the editor's text says what the memory says: it is edited from there."""
        memory_id = self.id_of(path)
        memory = self._stored.memory(memory_id) if memory_id is not None else None
        if memory is None:
            return
        fields = fields_of(memory)
        if editor.base is not None and all_alike(fields, editor.base):
            return
        if _says(str(editor.text), fields):
            editor.base = fields

    def _write(self, memory: Memory, notes: Sequence[str]) -> Path:
        name, text = file_name(memory.id), render(memory, notes)
        shown = Shown(memory.id, fields_of(memory), digest(text.encode()))
        folders = [folder for folder in self._folders if folder.holds(name)] or self._folders[:1]
        try:
            path = folders[0].write(name, text)
            folders[0].write_shown(name, shown)
        except StoreError:
            if folders[0].holds(name) and folders[0].read(name) is not None:
                return folders[0].folder / name
            if len(self._folders) == 1:
                self._folders.append(OpenedFolder.private())
            path = self._folders[1].write(name, text)
            self._folders[1].write_shown(name, shown)
        return path

    async def _settle(self, path: Path, shown: Shown) -> None:
        await asyncio.to_thread(self._folder_of(path).write_shown, path.name, shown)

    async def _read(self, path: Path) -> _OnDisk:
        folder = self._folder_of(path)
        return await asyncio.to_thread(lambda: _OnDisk(folder.read(path.name), folder.read_shown(path.name)))

    def _folder(self, path: Path) -> OpenedFolder | None:
        return next((folder for folder in self._folders if folder.folder == path.parent), None)

    def _folder_of(self, path: Path) -> OpenedFolder:
        folder = self._folder(path)
        if folder is None:
            raise NotFound(f"uri: {path.name} is no memory's document")
        return folder


def reason(error: MnemolensError) -> str:
    """The error's words for somebody who looks at the document."""
    return str(error).removeprefix("document: ")


def _says(text: str | None, fields: Fields) -> bool:
    """Whether a document says no more than these fields."""
    if text is None:
        return False
    try:
        return all_alike(parse(text), fields)
    except InvalidArgument:
        return False


def _says_text(editor: Text, disk: str | None) -> bool:
    return disk is not None and plain(str(editor)) == plain(disk)

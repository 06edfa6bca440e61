"""Plans what is written of memories themselves: captured, changed, forgotten, brought back.

Nothing here has a side effect; carrying a plan out is `journaling.py`'s. Owns the rules of what is written
when (CONTRACT §3). Fields are checked in `capture.py`; anchors and links by hand are `attaching.py`'s.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemolens.core.errors import InvalidArgument, StoreError
from mnemolens.core.events import EventData, MemoryDone, MemoryForget, MemoryRestore
from mnemolens.core.memories import Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import CaptureView, MemoryChange, MemoryView, place_label
from mnemolens.engine.attaching import explicit_anchor
from mnemolens.engine.author import Author
from mnemolens.engine.capture import (
    is_empty,
    new_memory,
    put_of_new,
    put_of_replacement,
    put_of_update,
    wire_name,
)
from mnemolens.engine.code import Code
from mnemolens.engine.duplicates import SameContent
from mnemolens.engine.focus import Focus
from mnemolens.engine.links import Links
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.engine.sources import Sources
from mnemolens.engine.write import Write
from mnemolens.store.merge import MergedState

_PLAIN_FIELDS = ("type", "title", "content", "importance", "pinned", "parent_id")
"""Fields that a memory holds as the event writes them."""


class Writing:
    """Plans writes on one folder's memories.

    Args:
        state: the merged journal.
        links: what memories' texts link them to.
        code: the code as it is now.
        show: builds the answers.
        sources: brings a file up to date before a position in it counts.
        focus: told where somebody captures.
        refreshing: derives links anew that no event changes.
        author: who captures where the request does not say.
    """

    def __init__(
        self,
        state: MergedState,
        links: Links,
        code: Code,
        show: Show,
        sources: Sources,
        focus: Focus,
        refreshing: Refreshing,
        author: Author,
    ) -> None:
        self._state = state
        self._links = links
        self._code = code
        self._show = show
        self._sources = sources
        self._focus = focus
        self._refreshing = refreshing
        self._author = author
        self._same_content = SameContent()
        self._planned: dict[str, SymbolKey | None] = {}

    def note_content(self, memory_ids: frozenset[str]) -> None:
        """Keeps the table of equal contents in step after these memories changed."""
        for memory_id in memory_ids:
            self._planned.pop(memory_id, None)
            memory = self._state.memory(memory_id)
            shown = memory is not None and memory.status != "forgotten"
            self._same_content.note(memory_id, memory.content if memory is not None and shown else None)

    def preview(self, request: CaptureRequest, now: datetime) -> CaptureView:
        """What `capture` would store and link; stores nothing."""
        self._sources.read_anew(request.file)
        memory = new_memory(request, now, self._code.origin, self._author.name)
        _refuse_secrets(request)  # no sooner: of text that is too long to be kept none has to be read
        key = self._target(request)
        duplicate, warnings = self._duplicates(memory, key, now, explicit=request.id is not None)
        links = self._show.links(self._links.deriving.preview(memory, key))
        return CaptureView(None, links, duplicate, warnings)

    def capture(self, request: CaptureRequest, now: datetime) -> Write[CaptureView]:
        """Stores a memory, anchored to the symbol at the request's position and to what its text names.

        Raises:
            InvalidArgument: a field is not allowed, or holds a secret; names it.
        """
        self._code.look_at_head()
        self._sources.read_anew(request.file)
        write = self.capture_as_read(request, now)
        if request.file is not None and request.position is not None:
            self._focus.visit(self._code.target(request.file, request.position))
        return write

    def capture_as_read(self, request: CaptureRequest, now: datetime) -> Write[CaptureView]:
        """`capture`, where HEAD and the file were just read and nobody works at the place."""
        memory = new_memory(request, now, self._code.origin, self._author.name)
        _refuse_secrets(request)  # no sooner: of text that is too long to be kept none has to be read
        self._check_parent(memory.id, memory.parent_id)
        if self._state.is_purged(memory.id):
            raise InvalidArgument("id", f"{memory.id!r} was purged and can't be used again")
        key = self._target(request)
        duplicate, warnings = self._duplicates(memory, key, now, explicit=request.id is not None)
        if duplicate is not None and request.id is None:
            return Write((), lambda: self._captured(duplicate, now, duplicate, warnings))
        old = self._state.memory(memory.id)
        events: list[EventData] = [put_of_new(memory)] if old is None else self._put_again(old, memory)
        if old is not None:
            warnings = (*warnings, f"memory {old.id} was there already: it says this now")
        if key is not None and key not in self._explicit_keys(memory.id):
            events.append(explicit_anchor(memory.id, key, self._code, self._author.name))
        events += self._links.deriving.births(memory, key)
        self._same_content.note(memory.id, memory.content)
        self._planned[memory.id] = key
        return Write(
            tuple(events),
            lambda: self._captured(memory.id, now, None, warnings),
            lambda: self._forget_content(memory.id),
        )

    def update(
        self, memory_id: str, changes: Mapping[str, Any], now: datetime, *, allow_secret: bool = False
    ) -> Write[MemoryChange]:
        """Changes fields; see `capture.put_of_update` for what a change may say.

        Raises:
            InvalidArgument: a field is not allowed, or holds a secret; names it.
            NotFound: no memory has that id.
        """
        put = put_of_update(self._show.known(memory_id), changes, self._author.name)
        if not allow_secret:
            from mnemolens.engine.secrets import refuse_secrets  # a hundred patterns, needed for writing only

            refuse_secrets({wire_name(name): value for name, value in changes.items()})
        self._check_parent(memory_id, put.set.get("parent_id"))

        def finish() -> MemoryChange:
            memory = self._show.known(memory_id)
            if any(
                value != getattr(memory, name) for name, value in put.set.items() if name in _PLAIN_FIELDS
            ):
                raise StoreError(
                    f"the change of memory {memory_id} was stored, but an earlier one still counts: "
                    "it was made by a clock that runs days ahead"
                )
            return self._show.change(memory, now)

        return Write(() if is_empty(put) else (put,), finish)

    def store(self, request: CaptureRequest, now: datetime, *, link: bool = True) -> Write[CaptureView]:
        """Stores a memory under the request's id; one that is there already becomes what the request says.

        Args:
            request: has an id.
            now: when.
            link: whether the memory's text links it to code, as long as this workspace is open.

        Raises:
            InvalidArgument: a field is not allowed; names it.
        """
        memory_id = str(request.id)
        (self._links.naming.unlinked.discard if link else self._links.naming.unlinked.add)(memory_id)
        if self._state.memory(memory_id) is None:
            return self.capture(request, now)
        write = self.overwrite(request, now, revive=True)
        if not write.events:
            self._refreshing.refresh([memory_id])
        return write

    def overwrite(
        self, request: CaptureRequest, now: datetime, *, revive: bool = False
    ) -> Write[CaptureView]:
        """Makes the memory that has the request's id what the request says; its place and anchors stay.

        Args:
            request: `created_at` and `author` stay as they were where it does not say them.
            now: for the views.
            revive: bring a forgotten memory back, too.

        Raises:
            InvalidArgument: a field is not allowed; names it.
            NotFound: no memory has that id.
        """
        old = self._show.known(str(request.id))
        given = replace(request, created_at=request.created_at or old.created_at)
        new = new_memory(given, now, old.born, old.author)
        _refuse_secrets(request)
        self._check_parent(new.id, new.parent_id)
        events = self._put_again(old, new)
        if not revive:
            events = [event for event in events if not isinstance(event, MemoryRestore)]
        return Write(tuple(events), lambda: self._captured(old.id, now, None, ()))

    @staticmethod
    def _put_again(old: Memory, new: Memory) -> list[EventData]:
        """What makes the old memory say what the new one does, and brings it back where it was forgotten."""
        put = put_of_replacement(old, new, new.author or new.agent_id)
        events: list[EventData] = [] if is_empty(put) else [put]
        if old.status == "forgotten":
            events.append(MemoryRestore(memory=old.id, by=new.author))
        return events

    def _explicit_keys(self, memory_id: str) -> set[SymbolKey | None]:
        placements = self._links.placements_of(memory_id)
        explicit = [a.id for a in self._state.anchors_of(memory_id) if a.evidence is None]
        return {placements[anchor].at for anchor in explicit if anchor in placements}

    def forget(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Hides a memory; `restore` brings it back."""
        self._show.known(memory_id)
        return self._status(MemoryForget(memory=memory_id, by=self._author.name), memory_id, now)

    def restore(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Makes a forgotten or done memory active again; one that has expired no longer expires."""
        back = MemoryRestore(memory=memory_id, by=self._author.name)
        write = self._status(back, memory_id, now)
        if not is_expired(self._show.known(memory_id), now):
            return write
        put = put_of_update(self._show.known(memory_id), {"expires_at": None}, self._author.name)
        return replace(write, events=(put, back))

    def done(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Marks a memory as acted upon."""
        self._show.known(memory_id)
        return self._status(MemoryDone(memory=memory_id, by=self._author.name), memory_id, now)

    def _check_parent(self, memory_id: str, parent_id: str | None) -> None:
        if parent_id is None:
            return
        if parent_id == memory_id:
            raise InvalidArgument("parentId", "a memory can't be its own parent")
        if self._state.memory(parent_id) is None:
            raise InvalidArgument("parentId", f"no memory {parent_id!r}")

    def _status(
        self, event: MemoryForget | MemoryRestore | MemoryDone, memory_id: str, now: datetime
    ) -> Write[MemoryView]:
        return Write((event,), lambda: self._show.memory(self._show.known(memory_id), now))

    def _target(self, request: CaptureRequest) -> SymbolKey | None:
        if request.file is None:
            return None
        position = request.range.start if request.position is None and request.range else request.position
        return self._code.target(request.file, position)

    def _captured(
        self, memory_id: str, now: datetime, duplicate: str | None, warnings: tuple[str, ...]
    ) -> CaptureView:
        change = self._show.change(self._show.known(memory_id), now)
        return CaptureView(change.view, change.links, duplicate, warnings)

    def _duplicates(
        self, memory: Memory, key: SymbolKey | None, now: datetime, *, explicit: bool
    ) -> tuple[str | None, tuple[str, ...]]:
        """The earlier memory of the same content on the same symbol, and warnings about others."""
        same = sorted(self._same_content.same_as(memory.content) - {memory.id})
        same = [other for other in same if not self._is_expired(other, now)]
        here = next((other for other in same if self._is_on(other, key)), None)
        if here is not None:
            words = "is stored again, since an id was given" if explicit else "nothing new was stored"
            return here, (f"the same text is on {self._label(key)} already, as memory {here}: {words}",)
        if same:
            return None, (f"the same text is stored elsewhere already, as memory {same[0]}",)
        return None, ()

    def _is_expired(self, memory_id: str, now: datetime) -> bool:
        memory = self._state.memory(memory_id)
        return memory is not None and is_expired(memory, now)

    def _is_on(self, memory_id: str, key: SymbolKey | None) -> bool:
        if memory_id in self._planned:
            return self._planned[memory_id] == key
        if key is None:
            return not self._state.anchors_of(memory_id)
        return memory_id in self._links.on_symbol(key)

    def _label(self, key: SymbolKey | None) -> str:
        return place_label(key, self._code.kind(key) or "function") if key else "no code"

    def _forget_content(self, memory_id: str) -> None:
        self._planned.pop(memory_id, None)
        self._same_content.note(memory_id, None)


def _refuse_secrets(request: CaptureRequest) -> None:
    if not request.allow_secret:
        from mnemolens.engine.secrets import refuse_secrets, request_fields

        refuse_secrets(request_fields(request))

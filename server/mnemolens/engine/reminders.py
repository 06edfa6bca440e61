"""Which memories ask for attention now: their time has come, or what they wait for has happened.

A trigger fires for the memory's anchors: their code changed, their file was opened, or the branch was merged.
A time that was set later than the trigger puts it off until then; one that came with it is a latest time.
"Not now" lasts until the next start and is not written down. A message about what is due comes once a day,
however many windows are open or started anew.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.events import put_memory
from mnemolens.core.memories import Anchor, Memory, Placement
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey
from mnemolens.core.views import MemoryView
from mnemolens.engine.author import Author
from mnemolens.engine.branches import Branches
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.show import Show
from mnemolens.engine.write import Write
from mnemolens.store.merge import MergedState
from mnemolens.store.moments import Moments

TOLD_AGAIN = timedelta(days=1)
"""After which a memory that is still due is named in a message again."""


class Due(NamedTuple):
    """A memory that is due.

    Attributes:
        why: in words, after "due:".
        places: the code it is on; may be none.
    """

    memory: Memory
    why: str
    places: tuple[SymbolKey, ...]


class Reminders:
    """The reminders of one folder."""

    def __init__(
        self,
        state: MergedState,
        links: Links,
        code: Code,
        show: Show,
        branches: Branches,
        refreshing: Refreshing,
        author: Author,
        told: Moments,
    ) -> None:
        self._state = state
        self._links = links
        self._code = code
        self._show = show
        self._branches = branches
        self._refreshing = refreshing
        self._author = author
        self._told = told
        self._waiting: dict[str, Memory] = {}
        self._opened: set[str] = set()
        self._changed: set[str] = set()
        self._not_now: set[str] = set()

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        for memory_id in memory_ids:
            self._waiting.pop(memory_id, None)
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status == "active" and (memory.due_at or memory.trigger):
                self._waiting[memory_id] = memory

    def note_opened(self, file: str) -> None:
        """An editor opened the file."""
        for memory_id, memory in self._waiting.items():
            if _waits_for(memory, "open") and any(key.file == file for key in self._places(memory)):
                self._opened.add(memory_id)

    def due(self, now: datetime) -> tuple[Due, ...]:
        """All memories that are due, the one that has been for the longest time first."""
        self._note_changed()
        found = []
        for memory in self._waiting.values():
            why = self._why(memory, now) if memory.id not in self._not_now else ""
            if why and (memory.expires_at is None or memory.expires_at > now):
                found.append(Due(memory, why, self._places(memory)))
        return tuple(sorted(found, key=lambda due: (due.memory.due_at or now, due.memory.id)))

    def take_untold(self, due: Iterable[Due], now: datetime) -> list[Due]:
        """Those of them that no window named in a message lately; whoever asks does that now."""
        return [
            one
            for one in due
            if self._told.of(one.memory.id, one.why, str(one.memory.due_at)).is_first(now, TOLD_AGAIN)
        ]

    def not_now(self, memory_id: str, now: datetime) -> MemoryView:
        """Says nothing of the memory until the next start.

        Raises:
            NotFound: no memory has that id.
        """
        memory = self._show.known(memory_id)
        self._not_now.add(memory.id)
        self._refreshing.generation += 1
        return self._show.memory(memory, now)

    def snooze(self, memory_id: str, until: datetime, now: datetime) -> Write[MemoryView]:
        """Makes the memory due at another time; what it waits for counts no sooner.

        Raises:
            InvalidArgument: that time has passed, or the memory is not active.
            NotFound: no memory has that id.
        """
        memory = self._show.known(memory_id)
        if until <= now:
            raise InvalidArgument("dueAt", "must lie in the future")
        if memory.status != "active":
            raise InvalidArgument("id", f"memory {memory.id!r} is {memory.status}: it is not due")
        put = put_memory(memory.id, {"due_at": until}, by=self._author.name)
        return Write((put,), lambda: self._show.memory(self._show.known(memory_id), now))

    def _why(self, memory: Memory, now: datetime) -> str:
        if memory.due_at is not None and memory.due_at <= now:
            return "its time has come"
        if memory.due_at is not None and self._is_put_off(memory):
            return ""
        if _waits_for(memory, "change") and (memory.id in self._changed or self._has_changed(memory)):
            return "its code has changed"
        if _waits_for(memory, "open") and memory.id in self._opened:
            return "its file was opened"
        if _waits_for(memory, "merge") and self._branches.is_merged(memory.id):
            branch = (memory.trigger or {}).get("branch") or memory.born.branch
            return f"branch {branch} was merged"
        return ""

    def _is_put_off(self, memory: Memory) -> bool:
        stamps = self._state.stamps(memory.id).fields
        return stamps.get("due_at", "") > stamps.get("trigger", "")

    def _note_changed(self) -> None:
        """Of files as a whole nothing is kept to compare with: their changes are noted as they come."""
        for file in self._links.take_changed():
            for memory_id, memory in self._waiting.items():
                if _waits_for(memory, "change") and SymbolKey(file, "") in self._places(memory):
                    self._changed.add(memory_id)

    def _has_changed(self, memory: Memory) -> bool:
        """Whether the code of any anchor is other than when the memory was written or confirmed."""
        placements = self._links.placements_of(memory.id)
        return any(
            self._is_other(anchor, placements[anchor.id])
            for anchor in self._state.anchors_of(memory.id)
            if anchor.id in placements and placements[anchor.id].in_scope
        )

    def _is_other(self, anchor: Anchor, placement: Placement) -> bool:
        if placement.at is None:
            return True  # deleted, or moved and unrecognisable
        symbol = self._code.symbol(placement.at)
        if symbol is None or not self._code.settled(placement.at.file):
            return False
        states = (anchor.birth.state, *anchor.confirmations)
        if symbol.kind in CLASS_KINDS:
            same = symbol.full_hash in {state.full_hash for state in states}
        else:
            same = symbol.body_hash in {state.body_hash for state in states}
        looks = (self._code.birth_look(anchor), *(state.fingerprint for state in anchor.confirmations))
        return not same and not self._code.is_only_laid_out_anew(placement.at, looks)

    def _places(self, memory: Memory) -> tuple[SymbolKey, ...]:
        links = self._links.links_of(memory.id)
        return tuple(link.target for link in links if not link.candidate)


def _waits_for(memory: Memory, event: str) -> bool:
    return (memory.trigger or {}).get("on") == event

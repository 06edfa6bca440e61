"""Plans writes: which events a capture, an edit or a repair means. Nothing here has a side effect.

Owns the rules of what is written when (CONTRACT §3, §4). Fields are checked in `capture.py`; carrying a plan
out is the workspace's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.events import (
    AnchorAlias,
    AnchorConfirm,
    AnchorDrop,
    AnchorPut,
    AnchorUnalias,
    BirthRecord,
    EdgeDrop,
    EdgePut,
    EventData,
    LinkAllow,
    LinkDrop,
    MemoryDone,
    MemoryForget,
    MemoryRestore,
)
from mnemolens.core.ids import new_ulid
from mnemolens.core.memories import EDGE_TYPES, Anchor, Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import (
    AnchorChange,
    CaptureView,
    LinkChange,
    MemoryChange,
    MemoryView,
    place_label,
)
from mnemolens.engine.capture import (
    is_empty,
    new_memory,
    put_of_new,
    put_of_replacement,
    put_of_update,
)
from mnemolens.engine.code import Code
from mnemolens.engine.duplicates import SameContent
from mnemolens.engine.links import Links
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.engine.standing import SUPERSEDES
from mnemolens.engine.write import Write
from mnemolens.store.merge import MergedState

DEFAULT_EDGE = "SAME_TOPIC"
_PLAIN_FIELDS = ("type", "title", "content", "importance", "pinned", "parent_id")
"""Fields that a memory holds as the event writes them."""


class Writing:
    """Plans writes on one folder's memories.

    Attributes:
        author: who captures where the request does not say; git's user name.
    """

    def __init__(self, state: MergedState, links: Links, code: Code, show: Show) -> None:
        self._state = state
        self._links = links
        self._code = code
        self._show = show
        self.author: str | None = None
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
        memory = new_memory(request, now, self._code.origin, self.author)
        _refuse_secrets(request)  # no sooner: of text that is too long to be kept none has to be read
        key = self._target(request)
        duplicate, warnings = self._duplicates(memory, key, now, explicit=request.id is not None)
        links = self._show.links(self._links.preview(memory, key))
        return CaptureView(None, links, duplicate, warnings)

    def capture(self, request: CaptureRequest, now: datetime) -> Write[CaptureView]:
        """Stores a memory, anchored to the symbol at the request's position and to what its text names.

        Raises:
            InvalidArgument: a field is not allowed, or holds a secret; names it.
        """
        memory = new_memory(request, now, self._code.origin, self.author)
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
            events.append(self._explicit_anchor(memory.id, key, supersedes=None))
        events += self._links.births(memory, key)
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
        put = put_of_update(self.memory(memory_id), changes, self.author)
        if not allow_secret:
            from mnemolens.engine.secrets import refuse_secrets  # a hundred patterns, needed for writing only

            refuse_secrets(changes)
        self._check_parent(memory_id, put.set.get("parent_id"))

        def finish() -> MemoryChange:
            memory = self.memory(memory_id)
            if any(
                value != getattr(memory, name) for name, value in put.set.items() if name in _PLAIN_FIELDS
            ):
                raise StoreError(
                    f"the change of memory {memory_id} was stored, but an earlier one still counts: "
                    "it was made by a clock that runs days ahead"
                )
            return self._show.change(memory, now)

        return Write(() if is_empty(put) else (put,), finish)

    def overwrite(self, request: CaptureRequest, now: datetime, *, revive: bool) -> Write[CaptureView]:
        """Makes the memory that has the request's id what the request says; its place and anchors stay.

        Args:
            request: `created_at` and `author` stay as they were where it does not say them.
            now: for the views.
            revive: bring a forgotten memory back, too.

        Raises:
            InvalidArgument: a field is not allowed; names it.
            NotFound: no memory has that id.
        """
        old = self.memory(str(request.id))
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
        self.memory(memory_id)
        return self._status(MemoryForget(memory=memory_id, by=self.author), memory_id, now)

    def restore(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Makes a forgotten or done memory active again; one that has expired no longer expires."""
        back = MemoryRestore(memory=memory_id, by=self.author)
        write = self._status(back, memory_id, now)
        if not is_expired(self.memory(memory_id), now):
            return write
        put = put_of_update(self.memory(memory_id), {"expires_at": None}, self.author)
        return replace(write, events=(put, back))

    def done(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Marks a memory as acted upon."""
        self.memory(memory_id)
        return self._status(MemoryDone(memory=memory_id, by=self.author), memory_id, now)

    def confirm(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Records that the memory is still true of the code as it is now: of one anchor's, or of all.

        Where the code was followed on a likeness that leaves doubt, this says that it is the code.

        Raises:
            InvalidArgument: no anchor is on any code that could be confirmed.
        """
        self.memory(memory_id)
        events: list[EventData] = []
        for anchor in self._anchors(memory_id, anchor_id):
            placement = self._links.placements_of(memory_id).get(anchor.id)
            birth = self._code.birth(placement.at) if placement and placement.at else None
            if birth is not None:
                if birth.state.key not in _known_places(anchor):
                    events.append(AnchorAlias.of(anchor.id, birth.state, self.author))
                events.append(AnchorConfirm.of(anchor.id, birth.state, self.author))
        if not events:
            raise InvalidArgument("id", "this memory is on no code now; re-anchor it instead")
        return Write(tuple(events), lambda: self._show.anchor_change(self.memory(memory_id), now))

    def undo_move(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Says that the code which the memory followed is not its code: it is never taken there again.

        Raises:
            InvalidArgument: no anchor is anywhere but where it was put.
        """
        self.memory(memory_id)
        events: list[EventData] = []
        for anchor in self._anchors(memory_id, anchor_id):
            placement = self._links.placements_of(memory_id).get(anchor.id)
            at = placement.at if placement is not None else None
            birth = self._code.birth(at) if at is not None and at != anchor.birth.state.key else None
            if birth is not None:
                events.append(AnchorUnalias.of(anchor.id, birth.state, self.author))
        if not events:
            raise InvalidArgument("id", "this memory is where it was put; there is no move to undo")
        return Write(tuple(events), lambda: self._show.anchor_change(self.memory(memory_id), now))

    def reanchor(
        self, memory_id: str, anchor_id: str | None, key: SymbolKey, now: datetime
    ) -> Write[MemoryChange]:
        """Puts the memory on another symbol; the anchor given, else the one most astray, is replaced.

        Where that one is nowhere, its known places stay known: on another branch its code may still be there.
        """
        self.memory(memory_id)
        old = self._worst(memory_id, self._anchors(memory_id, anchor_id))
        put = self._explicit_anchor(memory_id, key, supersedes=old.id if old else None)
        events: list[EventData] = [put]
        placement = self._links.placements_of(memory_id).get(old.id) if old is not None else None
        if old is not None and placement is not None and placement.at is None and placement.in_scope:
            states = (old.birth.state, *old.aliases)
            known = [state for state in states if state.key not in old.refused and state.key != key]
            events += [AnchorAlias.of(put.anchor, state, self.author) for state in known]
        return Write(tuple(events), lambda: self._show.change(self.memory(memory_id), now))

    def link_code(self, memory_id: str, key: SymbolKey, relevance: float | None) -> Write[LinkChange]:
        """Links the memory to a symbol by the user's own word, which takes back an earlier refusal."""
        memory = self.memory(memory_id)
        value = 1.0 if relevance is None else _unit("relevance", relevance)
        event = self._explicit_anchor(memory_id, key, supersedes=None)
        allowed = [
            LinkAllow(memory=memory_id, evidence=evidence, name=name)
            for evidence, name in self._evidence(memory, key)
            if self._state.link_dropped(memory_id, evidence, name)
        ]
        events: tuple[EventData, ...] = (event.model_copy(update={"relevance": value}), *allowed)
        return Write(events, lambda: self._link_change(memory_id))

    def unlink_code(self, memory_id: str, key: SymbolKey) -> Write[LinkChange]:
        """Takes the memory off a symbol: anchors are dropped, names in its text are refused there."""
        memory = self.memory(memory_id)
        placements = self._links.placements_of(memory_id)
        here = [a for a in self._state.anchors_of(memory_id) if (p := placements.get(a.id)) and p.at == key]
        events: list[EventData] = [
            AnchorDrop(anchor=a.id, by=self.author) for a in here if a.evidence is None
        ]
        events += [
            LinkDrop(memory=memory_id, evidence=evidence, name=name, by=self.author)
            for evidence, name in self._evidence(memory, key)
        ]
        if not events:
            raise InvalidArgument("position", f"the memory is not linked to {self._label(key)}")
        return Write(tuple(events), lambda: self._link_change(memory_id))

    def link_memory(
        self, memory_id: str, target_id: str, edge_type: str | None, weight: float | None, now: datetime
    ) -> Write[LinkChange]:
        """Links the memory to another memory."""
        edge = self._edge(memory_id, target_id, edge_type)
        if edge[2] == SUPERSEDES and self._show.standing.supersedes(target_id, memory_id):
            raise InvalidArgument("targetId", "that memory supersedes this one already; unlink them first")
        value = 1.0 if weight is None else _unit("weight", weight)
        put = EdgePut(
            source=edge[0], target=edge[1], type=edge[2], weight=value, created_at=now, by=self.author
        )
        return Write((put,), lambda: self._link_change(memory_id))

    def unlink_memory(self, memory_id: str, target_id: str, edge_type: str | None) -> Write[LinkChange]:
        """Takes a link between memories away."""
        source, target, kind = self._edge(memory_id, target_id, edge_type)
        drop = EdgeDrop(source=source, target=target, type=kind, by=self.author)
        return Write((drop,), lambda: self._link_change(memory_id))

    def memory(self, memory_id: str) -> Memory:
        """The memory.

        Raises:
            NotFound: no memory has that id.
        """
        memory = self._state.memory(memory_id)
        if memory is None:
            raise NotFound(f"id: no memory {memory_id!r}")
        return memory

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
        return Write((event,), lambda: self._show.memory(self.memory(memory_id), now))

    def _target(self, request: CaptureRequest) -> SymbolKey | None:
        if request.file is None:
            return None
        position = request.range.start if request.position is None and request.range else request.position
        return self._code.target(request.file, position)

    def _captured(
        self, memory_id: str, now: datetime, duplicate: str | None, warnings: tuple[str, ...]
    ) -> CaptureView:
        change = self._show.change(self.memory(memory_id), now)
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

    def _explicit_anchor(self, memory_id: str, key: SymbolKey, supersedes: str | None) -> AnchorPut:
        birth = self._code.birth(key)
        if birth is None:
            raise InvalidArgument("uri", f"{key.file} can't be read")
        return AnchorPut(
            anchor=new_ulid(),
            memory=memory_id,
            birth=BirthRecord.of(birth),
            supersedes=supersedes,
            by=self.author,
        )

    def _anchors(self, memory_id: str, anchor_id: str | None) -> Sequence[Anchor]:
        anchors = self._state.anchors_of(memory_id)
        if anchor_id is None:
            return anchors
        found = [anchor for anchor in anchors if anchor.id == anchor_id]
        if not found:
            raise InvalidArgument("anchorId", f"memory {memory_id!r} has no anchor {anchor_id!r}")
        return found

    def _worst(self, memory_id: str, anchors: Sequence[Anchor]) -> Anchor | None:
        """The explicit anchor that is off its code, else the first explicit one."""
        placements = self._links.placements_of(memory_id)
        explicit = [anchor for anchor in anchors if anchor.evidence is None]
        astray = [a for a in explicit if (p := placements.get(a.id)) is None or p.at is None]
        return next(iter(astray or explicit), None)

    def _evidence(self, memory: Memory, key: SymbolKey) -> set[tuple[str, str]]:
        """(evidence text, symbol id) of every derived link between the memory and the symbol."""
        placements = self._links.placements_of(memory.id)
        found = {
            (anchor.evidence.text, anchor.birth.state.key.id)
            for anchor in self._state.anchors_of(memory.id)
            if anchor.evidence is not None
            and (anchor.birth.state.key == key or ((p := placements.get(anchor.id)) and p.at == key))
        }
        for link in self._links.preview(memory, None):
            if link.target == key and link.evidence is not None:
                found.add((link.evidence.text, key.id))
        return found

    def _edge(self, memory_id: str, target_id: str, edge_type: str | None) -> tuple[str, str, str]:
        self.memory(memory_id)
        if self._state.memory(target_id) is None:
            raise NotFound(f"targetId: no memory {target_id!r}")
        if memory_id == target_id:
            raise InvalidArgument("targetId", "a memory can't be linked to itself")
        kind = DEFAULT_EDGE if edge_type is None else edge_type
        if kind not in EDGE_TYPES:
            raise InvalidArgument("edgeType", f"{kind!r} is not one of {', '.join(EDGE_TYPES)}")
        return memory_id, target_id, kind

    def _link_change(self, memory_id: str) -> LinkChange:
        links = self._show.links(self._links.links_of(memory_id))
        return LinkChange(links, tuple(self._state.edges_of(memory_id)))

    def _label(self, key: SymbolKey | None) -> str:
        return place_label(key, self._code.kind(key) or "function") if key else "no code"

    def _forget_content(self, memory_id: str) -> None:
        self._planned.pop(memory_id, None)
        self._same_content.note(memory_id, None)


def _known_places(anchor: Anchor) -> set[SymbolKey]:
    return {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}


def _refuse_secrets(request: CaptureRequest) -> None:
    if not request.allow_secret:
        from mnemolens.engine.secrets import refuse_secrets, request_fields

        refuse_secrets(request_fields(request))


def _unit(name: str, value: float) -> float:
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidArgument(name, f"must be from 0 to 1, not {value}")
    return float(value)

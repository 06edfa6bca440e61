"""Plans what puts memories on code and ties them to each other: repaired anchors, links, and refusals.

Nothing here has a side effect; carrying a plan out is `journaling.py`'s. Owns the rules of what is written
when (CONTRACT §4) for all that is not in a memory itself, which is `writing.py`'s.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from mnemolens.core.errors import InvalidArgument, NotFound
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
)
from mnemolens.core.ids import new_ulid
from mnemolens.core.memories import EDGE_TYPES, Anchor, Memory
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.core.views import AnchorChange, LinkChange, MemoryChange
from mnemolens.engine.author import Author
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.show import Show
from mnemolens.engine.sources import Sources
from mnemolens.engine.standing import SUPERSEDES
from mnemolens.engine.write import Write
from mnemolens.store.merge import MergedState

DEFAULT_EDGE = "SAME_TOPIC"


class Attaching:
    """Plans what ties one folder's memories to code and to each other."""

    def __init__(
        self, state: MergedState, links: Links, code: Code, show: Show, sources: Sources, author: Author
    ) -> None:
        self._state = state
        self._links = links
        self._code = code
        self._show = show
        self._sources = sources
        self._author = author

    def confirm(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Records that the memory is still true of the code as it is now: of one anchor's, or of all.

        Where the code was followed on a likeness that leaves doubt, this says that it is the code.

        Raises:
            InvalidArgument: no anchor is on any code that could be confirmed.
        """
        self._show.known(memory_id)
        events: list[EventData] = []
        for anchor, at in self._placed(memory_id, anchor_id):
            birth = self._code.birth(at)
            if birth is not None:
                if birth.state.key not in _known_places(anchor):
                    alias = AnchorAlias.of(anchor.id, birth.state, self._author.name)
                    events.append(alias.model_copy(update={"chosen": True}))
                events.append(AnchorConfirm.of(anchor.id, birth.state, self._author.name))
        if not events:
            raise InvalidArgument("id", "this memory is on no code now; re-anchor it instead")
        return Write(tuple(events), lambda: self._show.anchor_change(self._show.known(memory_id), now))

    def undo_move(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Says that the code which the memory followed is not its code: it is never taken there again.

        Raises:
            InvalidArgument: no anchor is anywhere but where it was put.
        """
        self._show.known(memory_id)
        events: list[EventData] = []
        for anchor, at in self._placed(memory_id, anchor_id):
            birth = self._code.birth(at) if at != anchor.birth.state.key else None
            if birth is not None:
                events.append(AnchorUnalias.of(anchor.id, birth.state, self._author.name))
        if not events:
            raise InvalidArgument("id", "this memory is where it was put; there is no move to undo")
        return Write(tuple(events), lambda: self._show.anchor_change(self._show.known(memory_id), now))

    def reanchor(
        self,
        memory_id: str,
        anchor_id: str | None = None,
        *,
        file: str | None = None,
        position: Position | None = None,
        candidate: SymbolKey | None = None,
        now: datetime,
    ) -> Write[MemoryChange]:
        """Puts the memory on the symbol at a position, or on a candidate, in the place of one anchor.

        That is the anchor given, else the one most astray. Where it is nowhere, its known places stay known:
        on another branch its code may still be there.

        Raises:
            InvalidArgument: the candidate is gone, or neither it nor a file is given.
            NotFound: no memory has that id, or it has no such anchor.
        """
        key = self._where(file, position, candidate)
        self._show.known(memory_id)
        old = self._worst(memory_id, self._anchors(memory_id, anchor_id))
        put = explicit_anchor(
            memory_id, key, self._code, self._author.name, supersedes=old.id if old else None
        )
        events: list[EventData] = [put]
        placement = self._links.placements_of(memory_id).get(old.id) if old is not None else None
        if old is not None and placement is not None and placement.at is None and placement.in_scope:
            states = (old.birth.state, *old.aliases)
            known = [state for state in states if state.key not in old.refused and state.key != key]
            events += [AnchorAlias.of(put.anchor, state, self._author.name) for state in known]
        return Write(tuple(events), lambda: self._show.change(self._show.known(memory_id), now))

    def link(
        self,
        memory_id: str,
        *,
        file: str | None = None,
        position: Position | None = None,
        target_id: str | None = None,
        edge_type: str | None = None,
        weight: float | None = None,
        relevance: float | None = None,
        now: datetime,
    ) -> Write[LinkChange]:
        """Links a memory to the symbol at a position, or to another memory."""
        if target_id is not None:
            return self._link_memory(memory_id, target_id, edge_type, weight, now)
        return self._link_code(memory_id, self._where(file, position, None), relevance)

    def unlink(
        self,
        memory_id: str,
        *,
        file: str | None = None,
        position: Position | None = None,
        target_id: str | None = None,
        edge_type: str | None = None,
    ) -> Write[LinkChange]:
        """Takes a link to a symbol or to another memory away."""
        if target_id is not None:
            return self._unlink_memory(memory_id, target_id, edge_type)
        return self._unlink_code(memory_id, self._where(file, position, None))

    # Inside -----------------------------------------------------------------------------------------------

    def _link_code(self, memory_id: str, key: SymbolKey, relevance: float | None) -> Write[LinkChange]:
        """Links the memory to a symbol by the user's own word, which takes back an earlier refusal."""
        memory = self._show.known(memory_id)
        value = 1.0 if relevance is None else _unit("relevance", relevance)
        event = explicit_anchor(memory_id, key, self._code, self._author.name)
        allowed = [
            LinkAllow(memory=memory_id, evidence=evidence, name=name)
            for evidence, name in self._evidence(memory, key)
            if self._state.link_dropped(memory_id, evidence, name)
        ]
        events: tuple[EventData, ...] = (event.model_copy(update={"relevance": value}), *allowed)
        return Write(events, lambda: self._link_change(memory_id))

    def _unlink_code(self, memory_id: str, key: SymbolKey) -> Write[LinkChange]:
        """Takes the memory off a symbol: anchors are dropped, names in its text are refused there."""
        memory = self._show.known(memory_id)
        placements = self._links.placements_of(memory_id)
        here = [a for a in self._state.anchors_of(memory_id) if (p := placements.get(a.id)) and p.at == key]
        events: list[EventData] = [
            AnchorDrop(anchor=a.id, by=self._author.name) for a in here if a.evidence is None
        ]
        events += [
            LinkDrop(memory=memory_id, evidence=evidence, name=name, by=self._author.name)
            for evidence, name in self._evidence(memory, key)
        ]
        if not events:
            raise InvalidArgument("position", f"the memory is not linked to {self._show.place(key).label}")
        return Write(tuple(events), lambda: self._link_change(memory_id))

    def _link_memory(
        self, memory_id: str, target_id: str, edge_type: str | None, weight: float | None, now: datetime
    ) -> Write[LinkChange]:
        """Links the memory to another memory."""
        edge = self._edge(memory_id, target_id, edge_type)
        if edge[2] == SUPERSEDES and self._show.standing.supersedes(target_id, memory_id):
            raise InvalidArgument("targetId", "that memory supersedes this one already; unlink them first")
        value = 1.0 if weight is None else _unit("weight", weight)
        put = EdgePut(
            source=edge[0], target=edge[1], type=edge[2], weight=value, created_at=now, by=self._author.name
        )
        return Write((put,), lambda: self._link_change(memory_id))

    def _unlink_memory(self, memory_id: str, target_id: str, edge_type: str | None) -> Write[LinkChange]:
        """Takes a link between memories away."""
        source, target, kind = self._edge(memory_id, target_id, edge_type)
        there = sorted(
            e.type for e in self._state.edges_of(source) if (e.source_id, e.target_id) == (source, target)
        )
        if kind not in there:
            known = f"; its type is {' or '.join(there)}" if there else ""
            raise InvalidArgument(
                "edgeType" if there else "targetId", f"there is no link of type {kind}{known}"
            )
        drop = EdgeDrop(source=source, target=target, type=kind, by=self._author.name)
        return Write((drop,), lambda: self._link_change(memory_id))

    def _where(self, file: str | None, position: Position | None, candidate: SymbolKey | None) -> SymbolKey:
        if candidate is not None:
            if self._code.kind(candidate) is None:
                raise InvalidArgument("candidate", f"{candidate.id} is not in the code now")
            return candidate
        if file is None:
            raise InvalidArgument("uri", "is needed, with a position, to say which code is meant")
        self._sources.read_anew(file)
        return self._code.target(file, position)

    def _anchors(self, memory_id: str, anchor_id: str | None) -> Sequence[Anchor]:
        anchors = self._state.anchors_of(memory_id)
        if anchor_id is None:
            return anchors
        found = [anchor for anchor in anchors if anchor.id == anchor_id]
        if not found:
            raise InvalidArgument("anchorId", f"memory {memory_id!r} has no anchor {anchor_id!r}")
        return found

    def _placed(self, memory_id: str, anchor_id: str | None) -> Iterator[tuple[Anchor, SymbolKey]]:
        """Those of the anchors that are on code now, with where that is."""
        placements = self._links.placements_of(memory_id)
        for anchor in self._anchors(memory_id, anchor_id):
            placement = placements.get(anchor.id)
            if placement is not None and placement.at is not None:
                yield anchor, placement.at

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
        for link in self._links.deriving.preview(memory, None):
            if link.target == key and link.evidence is not None:
                found.add((link.evidence.text, key.id))
        return found

    def _edge(self, memory_id: str, target_id: str, edge_type: str | None) -> tuple[str, str, str]:
        self._show.known(memory_id)
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


def explicit_anchor(
    memory_id: str, key: SymbolKey, code: Code, by: str | None, *, supersedes: str | None = None
) -> AnchorPut:
    """An anchor by somebody's own word.

    Args:
        memory_id: of which memory.
        key: on which symbol or file.
        code: the code as it is now.
        by: who says so.
        supersedes: the id of the anchor in whose place it comes.

    Raises:
        InvalidArgument: the file can't be read.
    """
    birth = code.birth(key)
    if birth is None:
        raise InvalidArgument("uri", f"{key.file} can't be read")
    return AnchorPut(
        anchor=new_ulid(), memory=memory_id, birth=BirthRecord.of(birth), supersedes=supersedes, by=by
    )


def _known_places(anchor: Anchor) -> set[SymbolKey]:
    return {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}


def _unit(name: str, value: float) -> float:
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidArgument(name, f"must be from 0 to 1, not {value}")
    return float(value)

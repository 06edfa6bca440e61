"""What is derived for one memory: where its anchors are, its links and verdict, and what to write down.

Owns where anchors were seen last, what can't be judged yet, and what is wanted: an anchor for each name seen
for the first time, an alias for each accepted move. The tables of all memories are `links.py`'s, the rules of
places `placing.py`'s.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from mnemolens.core.events import AnchorAlias, AnchorPut, BirthRecord, EventData, EvidenceRecord
from mnemolens.core.ids import derived_anchor_id
from mnemolens.core.memories import Anchor, CodeState, Link, Memory, Placement, Verdict
from mnemolens.core.symbols import SymbolKey, SymbolKind
from mnemolens.engine.code import Code
from mnemolens.engine.following import Following
from mnemolens.engine.naming import Naming
from mnemolens.engine.placing import place, place_as_seen
from mnemolens.linking import Match, names_in_metadata
from mnemolens.store.merge import MergedState

DERIVED_FROM = 0.8
"""Relevance from which a derived link gets an anchor, and so follows a rename."""

VERDICT_ORDER: tuple[Verdict, ...] = ("fresh", "moved", "drifted", "ambiguous", "lost", "unanchored")
"""A memory's verdict is its best anchor's: the first of these that any anchor has."""


@dataclass(slots=True)
class Derived:
    """All that is derived for one memory.

    Attributes:
        hidden: the memory is forgotten: its links are kept, but nothing shows them.
        copies: {anchor id: symbols of the same body that stood elsewhere while the anchor was in its place}.
    """

    hidden: bool = False
    copies: dict[str, frozenset[SymbolKey]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    placements: dict[str, Placement] = field(default_factory=dict)
    verdict: Verdict = "unanchored"
    names: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()

    @property
    def shown(self) -> tuple[object, ...]:
        """What a lens or a hover depends on."""
        return self.hidden, self.links, self.placements


class Deriving:
    """Derives one memory at a time.

    Attributes:
        last: {anchor id: where this worktree had it last, and how it looked}.
        held_up: memories with an anchor that could not be judged.
    """

    def __init__(self, state: MergedState, code: Code, naming: Naming, following: Following) -> None:
        self._state = state
        self._code = code
        self._naming = naming
        self._following = following
        self.last: dict[str, CodeState] = {}
        self.held_up: set[str] = set()
        self._places_to_keep: dict[str, CodeState] = {}
        self._unseen: dict[str, None] = {}
        self._wanted: dict[tuple[str, ...], EventData] = {}

    def derive(self, memory: Memory, before: Derived | None) -> Derived:
        """All that is derived for the memory now.

        Args:
            memory: as it is stored.
            before: what was derived for it last.
        """
        anchors = [a for a in self._state.anchors_of(memory.id) if self._naming.counts(a, memory)]
        named = self._naming.names(memory)
        placements: dict[str, Placement] = {}
        copies: dict[str, frozenset[SymbolKey]] = {}
        links: list[Link] = []
        for anchor in anchors:
            kept = before.placements.get(anchor.id) if before else None
            known = before.copies.get(anchor.id) if before else None
            placements[anchor.id] = placement = self._place(anchor, named, kept, known)
            seen = self._copies(anchor, placement, known)
            if seen is not None:
                copies[anchor.id] = seen
            if placement.at is not None and (kind := self._code.kind(placement.at)):
                links.append(_link_of_anchor(memory, anchor, placement.at, kind))
        origin = next((a.birth.state.key.file for a in anchors if a.evidence is None), None)
        for found in self._naming.matches(memory, origin):
            links.append(_link_of_match(memory, found, None))
            self._want_anchor(memory, found, anchors)
        unplaced = [a for a in anchors if placements[a.id].at is None]
        return Derived(
            hidden=memory.status == "forgotten",
            copies=copies,
            links=_one_a_place(links),
            placements=placements,
            verdict=_best(placement.verdict for placement in placements.values() if placement.in_scope),
            names=named | names_in_metadata(memory.metadata) if memory.metadata else named,
            files=frozenset(key.file for a in anchors for key in _places(a, placements[a.id])),
            hashes=frozenset(value for a in unplaced for value in hashes_of(a)),
        )

    def preview(self, memory: Memory, explicit: SymbolKey | None) -> tuple[Link, ...]:
        """The links that the memory would have; nothing is kept."""
        origin = explicit.file if explicit else None
        links: list[Link] = []
        if explicit and (kind := self._code.kind(explicit)):
            links.append(Link(memory.id, explicit, kind, 1.0, "captured_here"))
        links += [_link_of_match(memory, found, None) for found in self._naming.matches(memory, origin)]
        return _one_a_place(links)

    def births(self, memory: Memory, explicit: SymbolKey | None) -> list[AnchorPut]:
        """The derived anchors that a new memory starts with; before all code is read they have to wait."""
        if not self._code.complete:
            return []
        origin = explicit.file if explicit else None
        return [
            event
            for found in self._naming.matches(memory, origin)
            if found.relevance >= DERIVED_FROM
            and found.target != explicit
            and (event := self._derived_anchor(memory, found)) is not None
        ]

    def last_of(self, anchor: Anchor) -> CodeState:
        """Where the anchor was in this worktree last, and how it looked."""
        last = self.last.get(anchor.id)
        return anchor.birth.state if last is None or last.key in anchor.refused else last

    def known_files(self, anchor: Anchor) -> set[str]:
        """The files in which the anchor's code was ever seen; where it may be now is another matter."""
        last = self.last.get(anchor.id)
        states = (anchor.birth.state, *anchor.aliases, *((last,) if last is not None else ()))
        return {state.key.file for state in states}

    def take_places(self) -> dict[str, CodeState]:
        """{anchor id: where it was seen, and how}, of those where this is another since the last call."""
        places, self._places_to_keep = self._places_to_keep, {}
        return places

    def take_wanted(self) -> list[EventData]:
        """What ought to be written down since the last call; each is wanted once."""
        wanted = list(self._wanted.values())
        self._wanted.clear()
        return wanted

    def take_unseen(self, most: int) -> list[Anchor]:
        """Anchors that are nowhere and of which this worktree knew nothing; each is given once."""
        ids = list(self._unseen)[:most]
        for one in ids:
            del self._unseen[one]
        return [anchor for one in ids if (anchor := self._state.anchor(one)) is not None]

    def _place(
        self,
        anchor: Anchor,
        named: frozenset[str],
        kept: Placement | None,
        copies: frozenset[SymbolKey] | None,
    ) -> Placement:
        """Places the anchor, but leaves it where it was while that file's text is still moving."""
        if kept is not None and kept.at is not None and not self._code.settled(kept.at.file):
            self.held_up.add(anchor.memory_id)
            return kept

        def was_there(key: SymbolKey) -> bool:
            if self._following.came_back(key):
                return True
            if copies is not None:
                return key in copies
            # The first look in this session: what this worktree had in the last one stood beside the anchor.
            return anchor.id in self.last and key.file in self._code.unchanged

        placement = place(anchor, named, self._code, was_there, self._following.of(anchor))
        if not self._code.complete and placement.stage not in {"place", "alias"}:
            return Placement(anchor.id, None, "unanchored", in_scope=False)
        if placement.at is None and self._is_half_written(anchor):
            self.held_up.add(anchor.memory_id)
            return kept or self._as_it_was(anchor)
        if placement.in_scope:
            self._following.settle(anchor.id, placement.at)
        if placement.verdict == "lost" and anchor.id not in self.last and not self._following.of(anchor):
            self._unseen[anchor.id] = None
        known = {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}
        if placement.at is not None and placement.at not in known and placement.verdict != "moved":
            self._want_alias(anchor, placement.at)
        return placement

    def _as_it_was(self, anchor: Anchor) -> Placement:
        """Where the anchor was in the last session, and its verdict there."""
        last = self.last.get(anchor.id)
        if last is None or last.key in anchor.refused:
            return Placement(anchor.id, None, "unanchored", in_scope=False)
        return place_as_seen(anchor, last, self._following.of(anchor))

    def _is_half_written(self, anchor: Anchor) -> bool:
        """Whether a file that is known to hold the code can't be judged now: it has a syntax error."""
        return any(
            self._code.kind(SymbolKey(file, "")) is not None and not self._code.settled(file)
            for file in self.known_files(anchor)
        )

    def _copies(
        self, anchor: Anchor, placement: Placement, known: frozenset[SymbolKey] | None
    ) -> frozenset[SymbolKey] | None:
        """What looks like the anchor's code elsewhere while that is in its place; else what was known."""
        if placement.at is None:
            return known
        if self._code.settled(placement.at.file):
            state = self._seen(anchor, placement.at)
            if self.last.get(anchor.id) != state:
                self._places_to_keep[anchor.id] = self.last[anchor.id] = state
        alike: set[SymbolKey] = set()
        for value in hashes_of(anchor):
            alike.update(self._code.keys_with_body(value))
            alike.update(self._code.keys_with_full(value))
        return frozenset(alike - {placement.at})

    def _seen(self, anchor: Anchor, key: SymbolKey) -> CodeState:
        """How the anchor's code looks where it is."""
        symbol = self._code.symbol(key)
        if symbol is None:
            return CodeState(key, "" if key.qualname else self._code.whole_hash(key.file), "", "")
        known = (one.fingerprint for one in states_of(anchor) if one.body_hash == symbol.body_hash)
        fingerprint = next(known, None) or self._code.fingerprint(key)
        return CodeState(key, symbol.full_hash, symbol.body_hash, fingerprint)

    def _want_anchor(self, memory: Memory, found: Match, anchors: list[Anchor]) -> None:
        if not self._code.complete:
            return
        if found.relevance < DERIVED_FROM or any(a.birth.state.key == found.target for a in anchors):
            return
        event = self._derived_anchor(memory, found)
        if event is not None and not self._has_anchor(event.anchor):
            self._wanted["anchor", event.anchor] = event

    def _has_anchor(self, anchor_id: str) -> bool:
        return self._state.anchor(anchor_id) is not None or self._state.is_anchor_dropped(anchor_id)

    def _derived_anchor(self, memory: Memory, found: Match) -> AnchorPut | None:
        birth = self._code.birth(found.target)
        if birth is None:
            return None
        key = found.target
        anchor = derived_anchor_id(memory.id, key.file, key.qualname, key.ordinal, found.context)
        return AnchorPut(
            anchor=anchor,
            memory=memory.id,
            birth=BirthRecord.of(birth),
            context=found.context,
            relevance=found.relevance,
            rule=found.evidence.rule,
            evidence=EvidenceRecord.of(found.evidence),
        )

    def _want_alias(self, anchor: Anchor, key: SymbolKey) -> None:
        birth = self._code.birth(key)
        if birth is not None:
            self._wanted["alias", anchor.id, key.id] = AnchorAlias.of(anchor.id, birth.state)


def _link_of_anchor(memory: Memory, anchor: Anchor, at: SymbolKey, kind: SymbolKind) -> Link:
    when = anchor.created_at or memory.created_at
    return Link(
        memory.id,
        at,
        kind,
        anchor.relevance,
        anchor.context,
        anchor.evidence,
        when,
        anchor.relevance < 0.5,
        anchor.id,
    )


def _link_of_match(memory: Memory, found: Match, when: datetime | None) -> Link:
    return Link(
        memory.id,
        found.target,
        found.kind,
        found.relevance,
        found.context,
        found.evidence,
        when or memory.created_at,
        found.candidate,
    )


def _one_a_place(links: list[Link]) -> tuple[Link, ...]:
    """The most relevant link for each place; of equals the first, which is the anchor's."""
    best: dict[SymbolKey, Link] = {}
    for link in links:
        if link.target not in best or link.relevance > best[link.target].relevance:
            best[link.target] = link
    return tuple(sorted(best.values(), key=lambda link: (-link.relevance, link.target)))


def _best(verdicts: Iterable[Verdict]) -> Verdict:
    found = set(verdicts)
    return next((verdict for verdict in VERDICT_ORDER if verdict in found), "unanchored")


def _places(anchor: Anchor, placement: Placement) -> Iterator[SymbolKey]:
    yield anchor.birth.state.key
    yield from (alias.key for alias in anchor.aliases)
    yield from (key for key, _ in placement.candidates)
    if placement.at is not None:
        yield placement.at


def states_of(anchor: Anchor) -> tuple[CodeState, ...]:
    """Where the anchor's code was known to be, and how it looked: at birth, moved, confirmed."""
    return (anchor.birth.state, *anchor.aliases, *anchor.confirmations)


def hashes_of(anchor: Anchor) -> Iterator[str]:
    """Full and body hashes that the anchor's code had wherever it was known to be."""
    for state in states_of(anchor):
        yield from (value for value in (state.full_hash, state.body_hash) if value)

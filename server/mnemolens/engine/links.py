"""Which memories are on which code now: anchors placed, names matched, both kept in step incrementally.

Owns the derived tables and nothing else: it reads the merged journal and the code, and reports what ought to
be written down (`take_wanted`): an anchor for each name seen for the first time, an alias for each accepted
move.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from mnemolens.core.events import AnchorAlias, AnchorPut, BirthRecord, EventData, EvidenceRecord
from mnemolens.core.ids import derived_anchor_id
from mnemolens.core.memories import Anchor, CodeState, Evidence, Link, Memory, Placement, Verdict
from mnemolens.core.symbols import FileSymbols, SymbolKey, SymbolKind
from mnemolens.engine.code import Code
from mnemolens.engine.following import Before, Following, Subject
from mnemolens.engine.offload import Slices
from mnemolens.engine.placing import place
from mnemolens.linking import (
    ALL_KINDS,
    Match,
    Rule,
    evidence_holds,
    match,
    names_in,
    names_in_metadata,
)
from mnemolens.store.merge import MergedState

log = logging.getLogger(__name__)

DERIVED_FROM = 0.8
"""Relevance from which a derived link gets an anchor, and so follows a rename."""

UNSEEN_AT_ONCE = 20
"""Anchors looked for at one tick of which this worktree knows nothing yet."""

VERDICT_ORDER: tuple[Verdict, ...] = ("fresh", "moved", "drifted", "ambiguous", "lost", "unanchored")
"""A memory's verdict is its best anchor's: the first of these that any anchor has."""


class _Said(NamedTuple):
    """What a memory's text says, which code that changes doesn't change.

    Attributes:
        title: the text it was read from; with `content`, `metadata` and `rules`.
        names: identifiers and paths in it.
        held: {evidence: whether the text still holds it}, of what was asked.
    """

    title: str
    content: str
    metadata: Mapping[str, Any]
    rules: tuple[Rule, ...]
    names: frozenset[str]
    held: dict[Evidence, bool]


class Changed(NamedTuple):
    """The symbols of a file that are new, gone, or other ones than before.

    Attributes:
        keys: theirs.
        hashes: the full and body hashes that they have now.
    """

    keys: AbstractSet[SymbolKey]
    hashes: AbstractSet[str]


@dataclass(slots=True)
class _Derived:
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


class Links:
    """The derived tables, from memories to code and back.

    Attributes:
        linking_enabled: whether names in a memory's text link it; explicit anchors always do.
        kinds: which kinds of names do.
        rules: the project's own ways of naming code.
        unlinked: memories whose text links them to nothing, since whoever stored them asked for that.
        following: where the tracker found the code of anchors that left their place.
    """

    def __init__(self, state: MergedState, code: Code, root: str) -> None:
        self._state = state
        self._root = root
        self._code = code
        self.linking_enabled = True
        self.kinds = ALL_KINDS
        self.rules: tuple[Rule, ...] = ()
        self.unlinked: set[str] = set()
        self.following = Following(code)
        self._last: dict[str, CodeState] = {}
        self._places_to_keep: dict[str, CodeState] = {}
        self._typed: dict[str, dict[SymbolKey, SymbolKey]] = {}
        self._changed: set[str] = set()
        self._unseen: dict[str, None] = {}
        self._derived: dict[str, _Derived] = {}
        self._said: dict[str, _Said] = {}
        self._held_up: set[str] = set()  # with an anchor that could not be judged
        self._on_symbol: dict[SymbolKey, dict[str, Link]] = {}
        self._keys_in_file: dict[str, set[SymbolKey]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_file: dict[str, set[str]] = defaultdict(set)
        self._by_hash: dict[str, set[str]] = defaultdict(set)
        self._wanted: dict[tuple[str, ...], EventData] = {}

    def links_of(self, memory_id: str) -> tuple[Link, ...]:
        """The memory's links, most relevant first, candidates last."""
        found = self._derived.get(memory_id)
        return found.links if found else ()

    def placements_of(self, memory_id: str) -> dict[str, Placement]:
        """{anchor id: where it is now}."""
        found = self._derived.get(memory_id)
        return found.placements if found else {}

    def on_symbol(self, key: SymbolKey) -> dict[str, Link]:
        """{memory id: link} of the active memories on exactly this symbol, candidates left out."""
        typed = self._typed.get(key.file)
        if typed:
            key = next((old for old, new in typed.items() if new == key), key)
        return self._on_symbol.get(key, {})

    def keys_in_file(self, file: str) -> frozenset[SymbolKey]:
        """The symbols of a file, itself included, that have memories of their own."""
        found, typed = self._keys_in_file.get(file, set()), self._typed.get(file)
        return frozenset(typed.get(key, key) for key in found) if typed else frozenset(found)

    def retype(self, file: str, before: FileSymbols | None, after: FileSymbols) -> None:
        """A document's text changed: definitions whose name is being typed over keep their memories.

        Until the text has settled; then `follow` decides where they are.
        """
        keys = self._keys_in_file.get(file)
        if not keys or before is None or len(before.symbols) != len(after.symbols):
            return
        now = {(symbol.qualname, symbol.ordinal) for symbol in after.symbols}
        typed = self._typed.get(file, {})
        shown = {typed.get(key, key): key for key in keys}
        for old, new in zip(before.symbols, after.symbols, strict=True):
            if old is new or (old.qualname, old.ordinal) == (new.qualname, new.ordinal):
                continue
            key = shown.get(SymbolKey(file, old.qualname, old.ordinal))
            same = old.kind == new.kind and (old.body_hash, old.full_hash) == (new.body_hash, new.full_hash)
            if key is not None and same and (key.qualname, key.ordinal) not in now:
                self._typed.setdefault(file, {})[key] = SymbolKey(file, new.qualname, new.ordinal)
        if file in self._typed:
            back = [key for key in self._typed[file] if (key.qualname, key.ordinal) in now]
            for key in back:
                del self._typed[file][key]

    def follow(self, before: Before, *, known_before: bool = True) -> set[str]:
        """Follows anchored code through a burst of changes; the memories that this may move.

        Args:
            before: what was known of the files that have changed; the index holds what is there now.
            known_before: see `Following.follow`.
        """
        typed: dict[SymbolKey, SymbolKey] = {}
        for file in before:
            typed.update(self._typed.pop(file, {}))
        if not self._code.complete:
            return set()
        self._changed.update(file for file, old in before.items() if old != self._code.index.get(file))
        concerned = self._concerned(before, known_before=known_before)
        subjects = [subject for one in concerned for subject in self._subjects(one)]
        moved = self.following.follow(before, subjects, typed, known_before=known_before)
        return self._memories_of(moved)

    async def follow_slowly(self, before: Before, *, known_before: bool = True) -> set[str]:
        """`follow`, in steps that let other requests in between; see `Following.follow`."""
        for file in before:
            self._typed.pop(file, None)
        if not self._code.complete:
            return set()
        self._changed.update(await asyncio.to_thread(self._differing, before))
        subjects: list[Subject] = []
        slices = Slices()
        for memory_id in self._concerned(before, known_before=known_before):
            subjects += self._subjects(memory_id)
            await slices.pause()
        moved = await self.following.follow_slowly(before, subjects, known_before=known_before)
        return self._memories_of(moved)

    async def follow_unseen(self) -> set[str]:
        """Looks for code that this worktree never saw where the memory was put, as one of another branch."""
        ids = list(self._unseen)[:UNSEEN_AT_ONCE]
        for one in ids:
            del self._unseen[one]
        found = (anchor for one in ids if (anchor := self._state.anchor(one)) is not None)
        subjects = [Subject(anchor, anchor.birth.state) for anchor in found]
        if not subjects:
            return set()
        return self._memories_of(await self.following.follow_slowly({}, subjects, known_before=False))

    async def follow_files(self, files: Collection[str]) -> set[str]:
        """Follows notes on whole files by content, to those of these files that are there.

        For what the tracker does not know: a file without definitions, of whatever kind.

        Returns:
            The memories with notes on files that are gone.
        """
        memories = {one for file in files for one in self._by_file.get(file, ())}
        memories |= self._memories_of(self.following.lost)
        moved: list[Anchor] = []
        slices = Slices()
        for memory_id in memories:
            moved += (anchor for anchor in self._state.anchors_of(memory_id) if self._is_gone(anchor))
            await slices.pause()
        if not moved:
            return set()
        found = await asyncio.to_thread(self._by_content, files)
        for anchor in moved:
            last = self._last_of(anchor)
            places = found.get(last.full_hash, []) if last.full_hash else []
            alike = [one for one in places if SymbolKey(one, "").name == last.key.name] or places
            if len(alike) == 1 and SymbolKey(alike[0], "") not in anchor.refused:
                self.following.found_whole(anchor.id, alike[0])
        return {anchor.memory_id for anchor in moved}

    def _by_content(self, files: Iterable[str]) -> dict[str, list[str]]:
        """{hash of the content: the files that have it}; reads them, so it is for a thread."""
        found: dict[str, list[str]] = defaultdict(list)
        for file in files:
            found[self._code.whole_hash(file)].append(file)
        return found

    def _is_gone(self, anchor: Anchor) -> bool:
        """Whether the anchor is on a whole file that is nowhere now."""
        if anchor.birth.kind != "file":
            return False
        said = self.following.of(anchor)
        keys = {state.key for state in (anchor.birth.state, *anchor.aliases, self._last_of(anchor))}
        if said is not None and said.key is not None:
            keys.add(said.key)
        return not any(self._code.has_file(key.file) for key in keys)

    def _differing(self, before: Before) -> set[str]:
        """The files that hold other definitions than before; of a checkout, for a thread."""
        return {file for file, old in before.items() if old != self._code.index.get(file)}

    def note_last_session(self, states: Mapping[str, CodeState]) -> None:
        """Takes over where this worktree had the anchors, and how they looked, in an earlier session."""
        self._last.update(states)
        for anchor_id, state in states.items():
            self._note_last(anchor_id, state)

    async def note_last_session_slowly(self, states: Mapping[str, CodeState]) -> None:
        """`note_last_session`, in slices that let other requests in between."""
        self._last.update(states)
        slices = Slices()
        for anchor_id, state in states.items():
            self._note_last(anchor_id, state)
            await slices.pause()

    def _note_last(self, anchor_id: str, state: CodeState) -> None:
        anchor = self._state.anchor(anchor_id)
        if anchor is None:
            return
        self._by_file[state.key.file].add(anchor.memory_id)
        known = {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}
        if state.key not in known and state.key not in anchor.refused:
            alike = self._code.likeness(state.key, (one.fingerprint for one in _states(anchor)))
            self.following.carry(anchor_id, state.key, alike)

    def are_known_in(self, files: Iterable[str]) -> bool:
        """Whether any anchor is, or was, in one of these files."""
        return any(self._by_file.get(file) for file in files)

    def carried_into(self, file: str) -> set[str]:
        """The memories whose code was found in this file by the tracker."""
        return self._memories_of(self.following.in_file(file))

    def _concerned(self, before: Before, *, known_before: bool) -> list[str]:
        """The memories on these files, and those that are nowhere since lately; else all of them."""
        memories = {one for file in before for one in self._by_file.get(file, ())}
        if not known_before:
            memories.update(self._state.memories())
        return sorted(memories | self._memories_of(self.following.lost))

    def _subjects(self, memory_id: str) -> list[Subject]:
        memory = self._state.memory(memory_id)
        if memory is None:
            return []
        counting = (one for one in self._state.anchors_of(memory_id) if self._counts(one, memory))
        return [Subject(one, self._last_of(one)) for one in counting]

    def _last_of(self, anchor: Anchor) -> CodeState:
        """Where the anchor was in this worktree last, and how it looked."""
        last = self._last.get(anchor.id)
        return anchor.birth.state if last is None or last.key in anchor.refused else last

    def _memories_of(self, anchors: Iterable[str]) -> set[str]:
        found = (self._state.anchor(one) for one in anchors)
        return {anchor.memory_id for anchor in found if anchor is not None}

    def verdict_of(self, memory_id: str) -> Verdict:
        """The best verdict among the memory's anchors that are in scope."""
        found = self._derived.get(memory_id)
        return found.verdict if found is not None else "unanchored"

    def is_derived(self, memory_id: str) -> bool:
        """Whether links and placements of the memory are known."""
        return memory_id in self._derived

    def memories_touched(
        self,
        file: str,
        names: Iterable[str],
        hashes: Iterable[str],
        changed: Changed | None = None,
    ) -> set[str]:
        """The memories that may change when `file` changed.

        Args:
            file: the file.
            names: names that symbols of the file have or had.
            hashes: full and body hashes that symbols of the file have now: an unplaced anchor may be there.
            changed: which of its symbols have changed; None where more may have.
        """
        here = self._by_file.get(file, ())
        touched = {one for one in here if changed is None or self._may_change(one, changed)}
        for name in names:
            touched |= self._by_name.get(name, set())
        for value in hashes:
            touched |= self._by_hash.get(value, set())
        return touched

    def _may_change(self, memory_id: str, changed: Changed) -> bool:
        """Whether anything that is derived for the memory can depend on these symbols."""
        derived = self._derived.get(memory_id)
        if derived is None or memory_id in self._held_up:
            return True
        anchors = self._state.anchors_of(memory_id)
        if any(anchor.id not in derived.placements for anchor in anchors):
            return True
        places = [link.target for link in derived.links]
        for anchor in anchors:
            placement = derived.placements[anchor.id]
            if (
                placement.at is None
                or not placement.at.qualname
                or not changed.hashes.isdisjoint(_hashes(anchor))
            ):
                return True  # it may be there again, be judged as a whole, or have a copy now
            places += (placement.at, self._last_of(anchor).key, *(state.key for state in _states(anchor)))
        return not changed.keys.isdisjoint(places)

    def astray(self, file: str) -> set[str]:
        """The memories with an explicit anchor that was known in this file and is nowhere now."""
        found = set()
        for memory_id in self._by_file.get(file, ()):
            placements = self.placements_of(memory_id)
            for anchor in self._state.anchors_of(memory_id):
                placement = placements.get(anchor.id)
                if (
                    anchor.evidence is None
                    and placement is not None
                    and placement.at is None
                    and placement.in_scope
                ):
                    found.add(memory_id)
        return found

    def candidates_of(self, memory_id: str) -> list[SymbolKey]:
        """Where the code of explicit anchors that are nowhere may be; at most three, the likeliest first."""
        placements = self.placements_of(memory_id)
        found: dict[SymbolKey, float] = {}
        for anchor in self._state.anchors_of(memory_id):
            placement = placements.get(anchor.id)
            if anchor.evidence is None and placement is not None and placement.at is None:
                for key, score in placement.candidates:
                    found[key] = max(score, found.get(key, 0.0))
        return sorted(found, key=lambda key: (-found[key], key))[:3]

    def preview(self, memory: Memory, explicit: SymbolKey | None) -> tuple[Link, ...]:
        """The links that the memory would have; nothing is kept."""
        origin = explicit.file if explicit else None
        links: list[Link] = []
        if explicit and (kind := self._code.kind(explicit)):
            links.append(Link(memory.id, explicit, kind, 1.0, "captured_here"))
        links += [_link_of_match(memory, found, None) for found in self._matches(memory, origin)]
        return _one_a_place(links)

    def births(self, memory: Memory, explicit: SymbolKey | None) -> list[AnchorPut]:
        """The derived anchors that a new memory starts with; before all code is read they have to wait."""
        if not self._code.complete:
            return []
        origin = explicit.file if explicit else None
        return [
            event
            for found in self._matches(memory, origin)
            if found.relevance >= DERIVED_FROM
            and found.target != explicit
            and (event := self._derived_anchor(memory, found)) is not None
        ]

    def refresh(self, memory_ids: Iterable[str]) -> bool:
        """Derives these memories anew; True when any link or placement changed."""
        changed = [self._refresh(memory_id) for memory_id in memory_ids]
        return any(changed)

    async def moved(self, old: str, new: str) -> list[AnchorAlias]:
        """Aliases for what is anchored in a file or folder that was renamed, as far as it is there again."""
        aliases = []
        inside = [file for file in self._by_file if file == old or file.startswith(f"{old}/")]
        slices = Slices()
        for file in inside:
            for memory_id in tuple(self._by_file[file]):
                await slices.pause()
                for anchor in self._state.anchors_of(memory_id):
                    placement = self.placements_of(memory_id).get(anchor.id)
                    was = self._last.get(anchor.id, anchor.birth.state).key
                    if was.file != file or (placement and placement.at and placement.at.file == file):
                        continue
                    key = was._replace(file=new + file[len(old) :])
                    birth = self._code.birth(key) if self._code.kind(key) else None
                    if birth is not None and all(alias.key != key for alias in anchor.aliases):
                        aliases.append(AnchorAlias.of(anchor.id, birth.state))
        return aliases

    def take_places(self) -> dict[str, CodeState]:
        """{anchor id: where it was seen, and how}, of those where this is another since the last call."""
        places, self._places_to_keep = self._places_to_keep, {}
        return places

    def note_known_places(self, memory_ids: Iterable[str]) -> None:
        """Lets `memories_touched` find these by their anchors' files before anything was derived for them."""
        for memory_id in memory_ids:
            for anchor in self._state.anchors_of(memory_id):
                for state in (anchor.birth.state, *anchor.aliases):
                    self._by_file[state.key.file].add(memory_id)

    def take_changed(self) -> set[str]:
        """The files whose settled text says something else than before, since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def take_wanted(self) -> list[EventData]:
        """What ought to be written down since the last call; each is wanted once."""
        wanted = list(self._wanted.values())
        self._wanted.clear()
        return wanted

    def _refresh(self, memory_id: str) -> bool:
        memory = self._state.memory(memory_id)
        before = self._derived.pop(memory_id, None)
        self._held_up.discard(memory_id)
        if before is not None:
            self._unindex(memory_id, before)
        if memory is None:
            self._said.pop(memory_id, None)
            return before is not None
        after = self._derive(memory, before)
        self._derived[memory_id] = after
        self._index(memory, after)
        return before is None or before.shown != after.shown

    def _derive(self, memory: Memory, before: _Derived | None) -> _Derived:
        anchors = [a for a in self._state.anchors_of(memory.id) if self._counts(a, memory)]
        named = self._what_it_says(memory).names
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
        for found in self._matches(memory, origin):
            links.append(_link_of_match(memory, found, None))
            self._want_anchor(memory, found, anchors)
        unplaced = [a for a in anchors if placements[a.id].at is None]
        return _Derived(
            hidden=memory.status == "forgotten",
            copies=copies,
            links=_one_a_place(links),
            placements=placements,
            verdict=_best(placement.verdict for placement in placements.values() if placement.in_scope),
            names=named | names_in_metadata(memory.metadata) if memory.metadata else named,
            files=frozenset(key.file for a in anchors for key in _places(a, placements[a.id])),
            hashes=frozenset(value for a in unplaced for value in _hashes(a)),
        )

    def _place(
        self,
        anchor: Anchor,
        named: frozenset[str],
        kept: Placement | None,
        copies: frozenset[SymbolKey] | None,
    ) -> Placement:
        """Places the anchor, but leaves it where it was while that file's text is still moving."""
        if kept is not None and kept.at is not None and not self._code.settled(kept.at.file):
            self._held_up.add(anchor.memory_id)
            return kept

        def was_there(key: SymbolKey) -> bool:
            if self.following.came_back(key):
                return True
            if copies is not None:
                return key in copies
            # The first look in this session: what this worktree had in the last one stood beside the anchor.
            return anchor.id in self._last and key.file in self._code.unchanged

        placement = place(anchor, named, self._code, was_there, self.following.of(anchor))
        if not self._code.complete and placement.stage not in {"place", "alias"}:
            return Placement(anchor.id, None, "unanchored", in_scope=False)
        if placement.at is None and self._is_half_written(anchor):
            self._held_up.add(anchor.memory_id)
            return kept or Placement(anchor.id, None, "unanchored", in_scope=False)
        if placement.in_scope:
            self.following.settle(anchor.id, placement.at)
        if placement.verdict == "lost" and anchor.id not in self._last and not self.following.of(anchor):
            self._unseen[anchor.id] = None
        known = {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}
        if placement.at is not None and placement.at not in known and placement.verdict != "moved":
            self._want_alias(anchor, placement.at)
        return placement

    def _is_half_written(self, anchor: Anchor) -> bool:
        """Whether a file that is known to hold the code can't be judged now: it has a syntax error."""
        files = {state.key.file for state in (anchor.birth.state, *anchor.aliases)}
        last = self._last.get(anchor.id)
        return any(
            self._code.kind(SymbolKey(file, "")) is not None and not self._code.settled(file)
            for file in (files | {last.key.file} if last is not None else files)
        )

    def _copies(
        self, anchor: Anchor, placement: Placement, known: frozenset[SymbolKey] | None
    ) -> frozenset[SymbolKey] | None:
        """What looks like the anchor's code elsewhere while that is in its place; else what was known."""
        if placement.at is None:
            return known
        if self._code.settled(placement.at.file):
            state = self._seen(anchor, placement.at)
            if self._last.get(anchor.id) != state:
                self._places_to_keep[anchor.id] = self._last[anchor.id] = state
        alike: set[SymbolKey] = set()
        for value in _hashes(anchor):
            alike.update(self._code.keys_with_body(value))
            alike.update(self._code.keys_with_full(value))
        return frozenset(alike - {placement.at})

    def _seen(self, anchor: Anchor, key: SymbolKey) -> CodeState:
        """How the anchor's code looks where it is."""
        symbol = self._code.symbol(key)
        if symbol is None:
            return CodeState(key, "" if key.qualname else self._code.whole_hash(key.file), "", "")
        known = (one.fingerprint for one in _states(anchor) if one.body_hash == symbol.body_hash)
        fingerprint = next(known, None) or self._code.fingerprint(key)
        return CodeState(key, symbol.full_hash, symbol.body_hash, fingerprint)

    def _counts(self, anchor: Anchor, memory: Memory) -> bool:
        """A derived anchor counts while linking is on, the text holds its evidence, and nobody refused it."""
        if anchor.evidence is None:
            return True
        return (
            self._links_text_of(memory)
            and self._holds(anchor.evidence, memory)
            and not self._state.link_dropped(memory.id, anchor.evidence.text, anchor.birth.state.key.id)
        )

    def _holds(self, evidence: Evidence, memory: Memory) -> bool:
        """Whether the memory's text still says this; read once, as code changes more often than notes."""
        said = self._what_it_says(memory)
        found = said.held.get(evidence)
        if found is None:
            found = evidence_holds(evidence, memory.title, memory.content, memory.metadata, self.rules)
            said.held[evidence] = found
        return found

    def _what_it_says(self, memory: Memory) -> _Said:
        said = self._said.get(memory.id)
        text = memory.title, memory.content, memory.metadata, self.rules
        if said is None or said[:4] != text:
            names = names_in(memory.title, self.rules) | names_in(memory.content, self.rules)
            said = self._said[memory.id] = _Said(*text, names, {})
        return said

    def _links_text_of(self, memory: Memory) -> bool:
        return self.linking_enabled and memory.id not in self.unlinked

    def _matches(self, memory: Memory, origin: str | None) -> list[Match]:
        """What the text names, less what the user refused. A fault in here costs links, never the memory."""
        if not self._links_text_of(memory):
            return []
        try:
            found = match(
                memory.title,
                memory.content,
                memory.metadata,
                self._code,
                origin,
                kinds=self.kinds,
                rules=self.rules,
                root=self._root,
            )
        except Exception:
            log.warning("linking memory %s failed: it has no derived links now", memory.id, exc_info=True)
            return []
        return [
            one for one in found if not self._state.link_dropped(memory.id, one.evidence.text, one.target.id)
        ]

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

    def _index(self, memory: Memory, derived: _Derived) -> None:
        for name in derived.names:
            self._by_name[name].add(memory.id)
        for file in derived.files:
            self._by_file[file].add(memory.id)
        for value in derived.hashes:
            self._by_hash[value].add(memory.id)
        if derived.hidden:
            return
        for link in derived.links:
            if not link.candidate:
                self._on_symbol.setdefault(link.target, {})[memory.id] = link
                self._keys_in_file[link.target.file].add(link.target)

    def _unindex(self, memory_id: str, derived: _Derived) -> None:
        for table, keys in (
            (self._by_name, derived.names),
            (self._by_file, derived.files),
            (self._by_hash, derived.hashes),
        ):
            for key in keys:
                members = table[key]
                members.discard(memory_id)
                if not members:
                    del table[key]
        for link in derived.links:
            on = self._on_symbol.get(link.target)
            if on is not None and on.pop(memory_id, None) is not None and not on:
                del self._on_symbol[link.target]
                self._keys_in_file[link.target.file].discard(link.target)


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


def _states(anchor: Anchor) -> tuple[CodeState, ...]:
    return (anchor.birth.state, *anchor.aliases, *anchor.confirmations)


def _hashes(anchor: Anchor) -> Iterator[str]:
    for state in _states(anchor):
        yield from (value for value in (state.full_hash, state.body_hash) if value)

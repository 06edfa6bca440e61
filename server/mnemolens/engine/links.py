"""Which memories are on which code now, and where anchored code went: the derived tables, kept in step.

Owns the tables from memories to code and back, and whom a change concerns. What is derived for one memory is
`deriving.py`'s, what its text names `naming.py`'s, where the tracker finds code `following.py`'s.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from mnemolens.core.events import AnchorAlias
from mnemolens.core.memories import Anchor, CodeState, Link, Memory, Placement, Verdict
from mnemolens.core.symbols import FileSymbols, SymbolKey
from mnemolens.engine.code import Code
from mnemolens.engine.deriving import Derived, Deriving, hashes_of, states_of
from mnemolens.engine.following import Before, Following, Subject
from mnemolens.engine.naming import Naming
from mnemolens.engine.offload import Slices
from mnemolens.store.merge import MergedState

MANY_ANCHORS = 150
"""To follow more through a change, and to find whom that concerns, takes 5 ms and more."""

UNSEEN_AT_ONCE = 20
"""Anchors looked for at one tick of which this worktree knows nothing yet."""


class Changed(NamedTuple):
    """The symbols of a file that are new, gone, or other ones than before.

    Attributes:
        keys: theirs.
        hashes: the full and body hashes that they have now.
    """

    keys: AbstractSet[SymbolKey]
    hashes: AbstractSet[str]


class Links:
    """The derived tables, from memories to code and back.

    Attributes:
        naming: what memories' texts name.
        deriving: what is derived for one memory, and what that wants to be written down.
        on_none: the memories that are on no code, of those that were derived.
    """

    def __init__(self, state: MergedState, code: Code, root: str) -> None:
        self._state = state
        self._code = code
        self._following = Following(code)
        self.naming = Naming(state, code, root)
        self.deriving = Deriving(state, code, self.naming, self._following)
        self._typed: dict[str, dict[SymbolKey, SymbolKey]] = {}
        self._changed: set[str] = set()
        self.on_none: set[str] = set()
        self._derived: dict[str, Derived] = {}
        self._on_symbol: dict[SymbolKey, dict[str, Link]] = {}
        self._keys_in_file: dict[str, set[SymbolKey]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_file: dict[str, set[str]] = defaultdict(set)
        self._by_hash: dict[str, set[str]] = defaultdict(set)

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
        moved = self._following.follow(before, subjects, typed, known_before=known_before)
        return self._memories_of(moved)

    async def follow_slowly(self, before: Before, *, known_before: bool = True) -> set[str]:
        """`follow`, in steps that let other requests in between; see `Following.follow`."""
        typed: dict[SymbolKey, SymbolKey] = {}
        for file in before:
            typed.update(self._typed.pop(file, {}))
        if not self._code.complete:
            return set()
        self._changed.update(await asyncio.to_thread(self._differing, before))
        subjects: list[Subject] = []
        slices = Slices()
        for memory_id in self._concerned(before, known_before=known_before):
            subjects += self._subjects(memory_id)
            await slices.pause()
        moved = await self._following.follow_slowly(before, subjects, typed, known_before=known_before)
        return self._memories_of(moved)

    async def follow_unseen(self) -> set[str]:
        """Looks for code that this worktree never saw where the memory was put, as one of another branch."""
        unseen = self.deriving.take_unseen(UNSEEN_AT_ONCE)
        subjects = [Subject(anchor, anchor.birth.state) for anchor in unseen]
        if not subjects:
            return set()
        return self._memories_of(await self._following.follow_slowly({}, subjects, known_before=False))

    async def follow_files(self, files: Collection[str]) -> set[str]:
        """Follows notes on whole files by content, to those of these files that are there.

        For what the tracker does not know: a file without definitions, of whatever kind.

        Returns:
            The memories with notes on files that are gone.
        """
        memories = {one for file in files for one in self._by_file.get(file, ())}
        memories |= self._memories_of(self._following.lost)
        moved: list[Anchor] = []
        slices = Slices()
        for memory_id in memories:
            moved += (anchor for anchor in self._state.anchors_of(memory_id) if self._is_gone(anchor))
            await slices.pause()
        if not moved:
            return set()
        found = await asyncio.to_thread(self._by_content, files)
        for anchor in moved:
            last = self.deriving.last_of(anchor)
            places = found.get(last.full_hash, []) if last.full_hash else []
            alike = [one for one in places if SymbolKey(one, "").name == last.key.name] or places
            if len(alike) == 1 and SymbolKey(alike[0], "") not in anchor.refused:
                self._following.found_whole(anchor.id, alike[0])
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
        said = self._following.of(anchor)
        keys = {state.key for state in (anchor.birth.state, *anchor.aliases, self.deriving.last_of(anchor))}
        if said is not None and said.key is not None:
            keys.add(said.key)
        return not any(self._code.has_file(key.file) for key in keys)

    def _differing(self, before: Before) -> set[str]:
        """The files that hold other definitions than before; of a checkout, for a thread."""
        return {file for file, old in before.items() if old != self._code.index.get(file)}

    def note_last_session(self, states: Mapping[str, CodeState]) -> None:
        """Takes over where this worktree had the anchors, and how they looked, in an earlier session."""
        self.deriving.last.update(states)
        for anchor_id, state in states.items():
            self._note_last(anchor_id, state)

    async def note_last_session_slowly(self, states: Mapping[str, CodeState]) -> None:
        """`note_last_session`, in slices that let other requests in between."""
        self.deriving.last.update(states)
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
            alike = self._code.likeness(state.key, (one.fingerprint for one in states_of(anchor)))
            self._following.carry(anchor_id, state.key, alike)

    def are_many_in(self, files: Iterable[str]) -> bool:
        """Whether so many anchors are, or were, in these files that a change of them is for slices."""
        found = 0
        for file in files:
            for memory_id in self._by_file.get(file, ()):
                found += len(self._state.anchors_of(memory_id))
                if found > MANY_ANCHORS:
                    return True
        return False

    def held_up_in(self, files: Iterable[str]) -> set[str]:
        """The memories on these files that could not be judged while a text was moving."""
        return {one for file in files for one in self.deriving.held_up & self._by_file.get(file, set())}

    def are_known_in(self, files: Iterable[str]) -> bool:
        """Whether any anchor is, or was, in one of these files."""
        return any(self._by_file.get(file) for file in files)

    def carried_into(self, file: str) -> set[str]:
        """The memories whose code was found in this file by the tracker."""
        return self._memories_of(self._following.in_file(file))

    def _concerned(self, before: Before, *, known_before: bool) -> list[str]:
        """The memories on these files, and those that are nowhere since lately; else all of them."""
        memories = {one for file in before for one in self._by_file.get(file, ())}
        if not known_before:
            memories.update(self._state.memories())
        return sorted(memories | self._memories_of(self._following.lost))

    def _subjects(self, memory_id: str) -> list[Subject]:
        memory = self._state.memory(memory_id)
        if memory is None:
            return []
        counting = (one for one in self._state.anchors_of(memory_id) if self.naming.counts(one, memory))
        return [Subject(one, self.deriving.last_of(one)) for one in counting]

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

    def is_on_none(self, memory_id: str) -> bool:
        """Whether the memory is on no code, as far as that is known."""
        if memory_id in self._derived:
            return memory_id in self.on_none
        return not self._state.anchors_of(memory_id)

    @property
    def any_on_none(self) -> bool:
        """Whether any memory is on no code, as far as that is known."""
        if self.on_none:
            return True
        new = (one for one in self._state.memories() if one not in self._derived)
        return any(not self._state.anchors_of(one) for one in new)

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
        if derived is None or memory_id in self.deriving.held_up:
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
                or not changed.hashes.isdisjoint(hashes_of(anchor))
            ):
                return True  # it may be there again, be judged as a whole, or have a copy now
            places += (
                placement.at,
                self.deriving.last_of(anchor).key,
                *(state.key for state in states_of(anchor)),
            )
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
                    and file in self.deriving.known_files(anchor)
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

    def refresh(self, memory_ids: Iterable[str]) -> bool:
        """Derives these memories anew; True when any link or placement changed."""
        changed = [self._refresh(memory_id) for memory_id in memory_ids]
        return any(changed)

    async def moved(self, old: str, new: str) -> list[AnchorAlias]:
        """Aliases for what is anchored in a file or folder that a user renamed, as far as it is there again.

        Whoever renames a file in the editor says where its code is, which takes back an earlier refusal.
        """
        aliases = []
        inside = [file for file in self._by_file if file == old or file.startswith(f"{old}/")]
        slices = Slices()
        for file in inside:
            for memory_id in tuple(self._by_file[file]):
                await slices.pause()
                for anchor in self._state.anchors_of(memory_id):
                    placement = self.placements_of(memory_id).get(anchor.id)
                    was = self.deriving.last.get(anchor.id, anchor.birth.state).key
                    if was.file != file or (placement and placement.at and placement.at.file == file):
                        continue
                    key = was._replace(file=new + file[len(old) :])
                    birth = self._code.birth(key) if self._code.kind(key) else None
                    if birth is not None and all(alias.key != key for alias in anchor.aliases):
                        alias = AnchorAlias.of(anchor.id, birth.state)
                        aliases.append(alias.model_copy(update={"chosen": True}))
        return aliases

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

    def _refresh(self, memory_id: str) -> bool:
        memory = self._state.memory(memory_id)
        before = self._derived.pop(memory_id, None)
        self.deriving.held_up.discard(memory_id)
        if before is not None:
            self._unindex(memory_id, before)
        if memory is None:
            self.naming.forget(memory_id)
            self.on_none.discard(memory_id)
            return before is not None
        after = self.deriving.derive(memory, before)
        if after.links or self._state.anchors_of(memory_id):
            self.on_none.discard(memory_id)
        else:
            self.on_none.add(memory_id)
        self._derived[memory_id] = after
        self._index(memory, after)
        return before is None or before.shown != after.shown

    def _index(self, memory: Memory, derived: Derived) -> None:
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

    def _unindex(self, memory_id: str, derived: Derived) -> None:
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

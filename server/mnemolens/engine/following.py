"""Where anchored code went in a burst of changes: the tracker's answers, kept while they may be needed.

A burst is all that changed at once: the files of a checkout, a settled document, what happened while no
server ran. Its old definitions are matched against the index as a whole, so that nothing is taken twice and a
copy that stood there all along is never taken. `placing.py` asks for the answers; it decides verdicts.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Container, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.tokens import dice, grams_of, likeness
from mnemolens.codegraph.track import (
    HOLLOW,
    INSIDE,
    LIKELY,
    MOVED_INSIDE,
    NO_GRAMS,
    SCORES,
    SURE,
    Indexed,
    Known,
    Listed,
    Match,
    known_anchor,
    known_file,
    track,
)
from mnemolens.core.memories import Anchor, CodeState
from mnemolens.core.symbols import FileSymbols, Symbol, SymbolKey, apart
from mnemolens.engine.code import Code
from mnemolens.engine.offload import Slices

log = logging.getLogger(__name__)

MAX_LOST = 200
"""Anchors whose code vanished lately, looked for in later bursts too: a move may come in two steps."""

MAX_DEPARTED = 20_000
"""Definitions that are gone from here, remembered so that they are not taken for new ones."""

MAX_OLD = 10_000
"""Definitions matched in one burst; anchored ones are never left out, their neighbours are."""

Before = Mapping[str, FileSymbols | None]
"""{file: what was known of it before}, None for a file that was not there."""

_BY_TEXT = frozenset({"same", "full_hash", "body_hash"})
"""Stages whose answers don't change when the likeness of more definitions is known.

But for what was rewritten: then its text may have gone to another definition.
"""

ALIKE = 0.8
"""Likeness from which a body counts as merely edited (CONTRACT §4)."""

_FILLED = 3
"""A definition that is so many times as long as it was is rather what was put into it."""

_TRIES = 3
"""Of the tracker, in a thread, while the index changes under it."""


_Steps: TypeAlias = Generator[Callable[[], tuple[Match, ...] | None] | None, tuple[Match, ...] | None, None]


class Subject(NamedTuple):
    """An anchor to be followed.

    Attributes:
        last: where it was, and how it looked there.
    """

    anchor: Anchor
    last: CodeState


class _Sorted(NamedTuple):
    """Subjects, by how they are followed."""

    here: dict[SymbolKey, list[Subject]]
    away: list[Subject]
    drained: list[Subject]


class Found(NamedTuple):
    """What is said of an anchor whose code left its place.

    Attributes:
        key: where it is; None where it was not found, with what may be it.
        stage: the tracker's, or "shifted" for a definition whose name was typed over.
        score: below `SURE` the user has to confirm.
    """

    key: SymbolKey | None
    stage: str = ""
    score: float = 0.0
    candidates: tuple[tuple[SymbolKey, float], ...] = ()
    ambiguous: bool = False


class Following:
    """What is said of the anchors of one worktree that left their known places."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._found: dict[str, Found] = {}
        self._held: dict[str, FileSymbols | None] = {}
        self._departed: dict[tuple[SymbolKey, str], None] = {}
        self._been: set[SymbolKey] = set()
        self._lost: dict[str, None] = {}

    def of(self, anchor: Anchor) -> Found | None:
        """What was said of the anchor last; None where nothing was, or the user refused it."""
        found = self._found.get(anchor.id)
        return None if found is None or found.key in anchor.refused else found

    def settle(self, anchor_id: str, placed: SymbolKey | None) -> None:
        """The anchor was placed there by whatever rule: what was said of another place is of no more use."""
        if placed is None:
            self._lost[anchor_id] = self._lost.pop(anchor_id, None)
            while len(self._lost) > MAX_LOST:
                del self._lost[next(iter(self._lost))]
            return
        self._lost.pop(anchor_id, None)
        found = self._found.get(anchor_id)
        if found is not None and found.key != placed:
            del self._found[anchor_id]

    def carry(self, anchor_id: str, key: SymbolKey, score: float) -> None:
        """The anchor was there in an earlier session, on a likeness that nobody has confirmed yet."""
        self._found[anchor_id] = Found(key, "similar", min(max(score, LIKELY), SURE - 0.01))

    def found_whole(self, anchor_id: str, file: str) -> None:
        """The anchor is on a whole file, which is there under another name now."""
        self._found[anchor_id] = Found(SymbolKey(file, ""), "full_hash", SCORES["full_hash"])

    def in_file(self, file: str) -> list[str]:
        """The anchors that are said to be in this file."""
        return [one for one, said in self._found.items() if said.key is not None and said.key.file == file]

    def came_back(self, key: SymbolKey) -> bool:
        """Whether the very code at this place was there before, and no anchor was on it: nothing moves there.

        A branch that is checked out again brings back what stood beside the anchors, not where they went.
        """
        symbol = self._code.symbol(key)
        text = symbol.full_hash if symbol is not None else ""
        return key not in self._been and (key, text) in self._departed

    @property
    def lost(self) -> tuple[str, ...]:
        """The anchors whose code vanished lately."""
        return tuple(self._lost)

    def follow(
        self,
        before: Before,
        subjects: Iterable[Subject],
        typed: Mapping[SymbolKey, SymbolKey] | None = None,
        *,
        known_before: bool = True,
    ) -> set[str]:
        """Looks for the subjects that this burst moved, or that were lost before it.

        Args:
            before: what was known of each file of the burst; the index has what is there now.
            subjects: those that were in these files, and those that are nowhere.
            typed: {key: the key it has since its name was typed over}.
            known_before: whether `before` is all that was there; if not, nothing is moved without asking.

        Returns:
            The ids of the anchors of which something else is said than before.
        """
        run = _Run(self._burst(before, known_before=known_before))
        steps = self._steps(run, subjects, typed or {})
        done = None
        with suppress(StopIteration):
            while True:
                work = steps.send(done)
                done = work() if work is not None else None
        self._code.forget_grams()
        return run.changed

    async def follow_slowly(
        self,
        before: Before,
        subjects: Iterable[Subject],
        typed: Mapping[SymbolKey, SymbolKey] | None = None,
        *,
        known_before: bool = True,
    ) -> set[str]:
        """`follow`, in steps that let other requests in between."""
        burst = await asyncio.to_thread(self._burst, before, known_before=known_before)
        run, slices = _Run(burst), Slices()
        steps = self._steps(run, subjects, typed or {})
        done = None
        with suppress(StopIteration):
            while True:
                work = steps.send(done)
                done = await asyncio.to_thread(work) if work is not None else None
                await slices.pause()
        self._code.forget_grams()
        return run.changed

    def _burst(self, before: Before, *, known_before: bool) -> "_Burst":
        """The burst, without files that have a syntax error now: they are compared when they are whole.

        Of a checkout that takes long: it may be called in a thread. What it reads is never changed in place.
        """
        index = self._code.index
        ready = {}
        for file, old in before.items():
            new = index.get(file)
            if new is not None and new.partial and not (old is not None and old.partial):
                self._held.setdefault(file, old)
            elif new is None or not new.partial:
                ready[file] = self._held.pop(file, old)
        burst = _Burst(ready, index, known_before=known_before)
        burst.appeared = {key for key in burst.appeared if not self.came_back(key)}
        self._departed.update(dict.fromkeys(burst.departed))
        while len(self._departed) > MAX_DEPARTED:
            del self._departed[next(iter(self._departed))]
        return burst

    def _steps(
        self, run: "_Run", subjects: Iterable[Subject], typed: Mapping[SymbolKey, SymbolKey]
    ) -> "_Steps":
        """The work, cut into pieces; what it yields is work for a thread, None a place to pause."""
        burst, index = run.burst, self._code.index
        if burst.known_before and not burst.files:
            return
        here, away, drained = yield from self._sorted(burst, subjects)
        for key, new in typed.items():
            if key in here and index.symbol(key) is None and index.symbol(new) is not None:
                for subject in here.pop(key):
                    run.changed |= self._say(subject, Found(new, "shifted", 1.0))
                run.taken.add(new)
        yield None
        if here:
            yield from self._follow_together(run, here)
        if burst.appeared or not burst.known_before:
            yield from self._follow_one_by_one(run, away)
        yield from self._follow_drained(run, drained)

    def _is_known_anywhere(self, subject: Subject) -> bool:
        """Whether any place where the code was is there: then no other is looked for."""
        anchor = subject.anchor
        known = {subject.last.key, anchor.birth.state.key, *(alias.key for alias in anchor.aliases)}
        return any(self._code.kind(key) is not None for key in known - anchor.refused)

    def _sorted(
        self, burst: "_Burst", subjects: Iterable[Subject]
    ) -> "Generator[None, tuple[Match, ...] | None, _Sorted]":
        """The subjects whose code left its place in this burst; those that are nowhere; drained ones."""
        found = _Sorted({}, [], [])
        for subject in subjects:
            if burst.has_left(subject.last):
                found.here.setdefault(subject.last.key, []).append(subject)
            elif not self._is_known_anywhere(subject):
                found.away.append(subject)
            if burst.appeared and burst.known_before and self._is_drained(subject):
                found.drained.append(subject)
            yield None
        return found

    def _is_drained(self, subject: Subject) -> bool:
        """Whether little of the code was left in its place before this burst: the rest may come now.

        Who cuts the body of a function to put it into another one may take his time.
        """
        anchor, last = subject
        states = (anchor.birth.state, *anchor.aliases, *anchor.confirmations)
        if not last.fingerprint or any(state.body_hash == last.body_hash for state in states):
            return False
        return all(likeness(last.fingerprint, state.fingerprint) < HOLLOW for state in states)

    def _follow_drained(self, run: "_Run", drained: Iterable[Subject]) -> "_Steps":
        """What stands under its name without its text: that is looked for in what is new."""
        for subject in drained:
            yield from self._read_grams(run)
            whole = known_anchor(subject.anchor, subject.anchor.birth.state)
            match = track([whole], self._new(run), run.occupied)[0]
            said = run.burst.answer(match)
            if said is not None and said.key is not None:
                alike = dice(whole.grams(), self._code.grams(said.key))
                if match.stage in _BY_TEXT or alike >= INSIDE:
                    score = said.score if match.stage in _BY_TEXT else min(said.score, MOVED_INSIDE)
                    run.taken.add(said.key)
                    run.changed |= self._say(subject, said._replace(score=score))
            yield None

    def _follow_together(self, run: "_Run", here: Mapping[SymbolKey, list[Subject]]) -> "_Steps":
        """What stood side by side in the files of the burst."""
        for key in here:
            self._code.fingerprint(key)  # of what is still under its name; the verdict needs it too
            yield None
        files = {key.file for key in here}
        old = run.burst.old(here, files)

        def grams(key: SymbolKey) -> frozenset[int]:
            return self._code.grams(key) if key in here else NO_GRAMS

        matches = yield partial(self._track, old, grams, (), run)
        looks = {one.key: one for one in old if one.key in here}
        if matches is None or any(self._is_open(one, looks) for one in matches if one.old in looks):
            yield from self._read_grams(run)
            matches = yield partial(self._track, old, self._code.read_before, run.burst.files, run)
        for match in matches or ():
            if match.new is not None and match.old is not None and match.old.file in files:
                run.taken.add(match.new)
            for subject in here.get(match.old, ()) if match.old is not None else ():
                run.changed |= self._say(subject, run.burst.answer(match))

    def _is_open(self, match: Match, looks: Mapping[SymbolKey, Known]) -> bool:
        """Whether the answer may be another one once the likeness of more definitions is known."""
        if match.stage not in _BY_TEXT or match.old is None or match.new is None:
            return True
        old = looks[match.old].grams()
        return match.stage == "same" and bool(old) and dice(old, self._code.grams(match.new)) < ALIKE

    def _track(
        self,
        old: list[Known],
        grams: Callable[[SymbolKey], frozenset[int]],
        files: Iterable[str],
        run: "_Run",
    ) -> tuple[Match, ...] | None:
        """The tracker's answer; None where the index changed meanwhile so that there is none."""
        for _ in range(_TRIES):
            try:
                return track(old, Indexed(self._code.index, grams, files), run.occupied)
            except (KeyError, IndexError, RuntimeError) as error:
                reason = error
        log.warning("code that moved was not followed, as it kept changing: %r", reason)
        return None

    def _follow_one_by_one(self, run: "_Run", away: Iterable[Subject]) -> "_Steps":
        """What is nowhere; records of different times may be the same code, so each is followed alone."""
        for subject in away:
            known = known_anchor(subject.anchor, subject.last)
            matches = self._track([known], lambda _: NO_GRAMS, (), run)
            if matches is None or matches[0].stage not in _BY_TEXT:
                yield from self._read_grams(run)
                # What stood there before is not known: only its old file and equal names are looked at.
                near = Indexed(self._code.index, self._code.grams)
                pool = self._new(run) if run.burst.known_before else near
                matches = track([known], pool, run.occupied)
            run.changed |= self._say(subject, run.burst.answer(matches[0]))
            yield None

    def _new(self, run: "_Run") -> Listed:
        """The new definitions of the burst, made ready to be looked through again and again."""
        if run.new is None:
            indexed = Indexed(self._code.index, self._code.read_before)
            keys = sorted(run.burst.appeared)[:MAX_OLD]
            run.new = Listed(known for key in keys if (known := indexed.get(key)) is not None)
        return run.new

    def _read_grams(self, run: "_Run") -> "_Steps":
        """Makes the tokens of what is new known, a file at a time."""
        if not run.read:
            run.read = True
            for file in sorted({key.file for key in run.burst.appeared}):
                self._code.read_grams(file)
                yield None

    def _say(self, subject: Subject, said: Found | None) -> set[str]:
        anchor = subject.anchor.id
        before = self._found.get(anchor)
        if said is None:
            self._found.pop(anchor, None)
        elif said.key is None and before is not None and before.key is not None:
            if self._code.kind(before.key) is not None:
                return set()  # it was found there since
            self._found[anchor] = said
        else:
            self._found[anchor] = said
        if said is not None and said.key is not None:
            self._been.add(said.key)
        return {anchor} if said != before else set()


class _Burst:
    """What changed at once.

    Attributes:
        files: those that hold other definitions than before, with what they held.
        appeared: what is new: definitions, and files, that were not there, or not with this text.
        departed: what is gone, or has another text now, with the hash that it had.
        edited: what has another text now, and had a good part of it before.
        filled: what is several times as long as before: as good as new, whatever text went into it.
        known_before: as for `Following.follow`.
    """

    def __init__(self, before: Before, index: CodeIndex, *, known_before: bool) -> None:
        self.files: dict[str, FileSymbols | None] = {}
        self.appeared: set[SymbolKey] = set()
        self.departed: list[tuple[SymbolKey, str]] = []
        self.edited: dict[SymbolKey, Known] = {}
        self.filled: set[SymbolKey] = set()
        self.known_before = known_before
        self._index = index
        for file, old in before.items():
            new = index.get(file)
            if old is new or old == new:
                continue
            self.files[file] = old
            gone, come = apart(() if old is None else old.symbols, () if new is None else new.symbols)
            texts = {(s.qualname, s.ordinal): s.full_hash for s in gone}
            if old is None and new is not None:
                self.appeared.add(SymbolKey(file, ""))
            now = {(s.qualname, s.ordinal): s.full_hash for s in come}
            sizes = {(s.qualname, s.ordinal): s.token_count for s in come}
            for was in (_as_known(file, s) for s in gone if (s.qualname, s.ordinal) in sizes):
                if was.token_count * _FILLED < sizes[was.key.qualname, was.key.ordinal]:
                    self.filled.add(was.key)
                else:
                    self.edited[was.key] = was
            left = (one for one in texts.items() if now.get(one[0]) != one[1])
            self.departed += [(SymbolKey(file, *name), text) for name, text in left]
            if new is None:
                self.departed.append((SymbolKey(file, ""), ""))
            for symbol in come:
                if texts.get((symbol.qualname, symbol.ordinal)) != symbol.full_hash:
                    self.appeared.add(SymbolKey(file, symbol.qualname, symbol.ordinal))

    def has_left(self, last: CodeState) -> bool:
        """Whether the code was in a file of this burst, and is not what it was."""
        if last.key.file not in self.files:
            return False
        if not last.key.qualname:
            return last.key.file not in self._index
        symbol = self._index.symbol(last.key)
        return symbol is None or symbol.full_hash != last.full_hash

    def old(self, here: Mapping[SymbolKey, list[Subject]], files: Collection[str]) -> list[Known]:
        """The definitions of the files that held the subjects, as they were; of others the edited ones."""
        known = {key: one for key, one in self.edited.items() if key.file not in files}
        if len(known) > MAX_OLD:
            known = {}
        for file in sorted(files):
            symbols = self.files[file]
            if symbols is None or len(known) + len(symbols.symbols) > MAX_OLD:
                continue
            filled = self.filled.difference(here)
            known.update((one.key, one) for one in known_file(file, symbols) if one.key not in filled)
            known[SymbolKey(file, "")] = Known(SymbolKey(file, ""), "file")
        for key, subjects in here.items():
            # What the anchors remember counts with what stood there: how it looked, and what was refused.
            states = [subject.last for subject in subjects]
            found = known.get(key) or known_anchor(subjects[0].anchor, states[0])
            refused = frozenset(one for subject in subjects for one in subject.anchor.refused)
            prints = sorted({state.fingerprint for state in states if state.fingerprint})
            known[key] = replace(found, refused=refused, grams=_grams(prints)) if prints else found
        return list(known.values())

    def answer(self, match: Match) -> Found | None:
        """What a match says of an anchor; None where it is where it was."""
        if match.new is not None and match.new == match.old:
            return None
        offered = tuple((candidate.key, candidate.score) for candidate in match.candidates)
        if match.new is None:
            return Found(None, match.stage, match.score, offered, match.fate == "ambiguous")
        score = match.score
        if not self.known_before and match.stage in {"parent", "similar"}:
            score = min(score, SURE - 0.01)
        return Found(match.new, match.stage, score)


@dataclass(slots=True)
class _Run:
    """One burst being followed.

    Attributes:
        changed: anchors of which something else is said by now.
        taken: places that are an anchor's by now.
        new: the new definitions, once they are to be looked through.
        read: whether their tokens are known.
    """

    burst: _Burst
    changed: set[str] = field(default_factory=set)
    taken: set[SymbolKey] = field(default_factory=set)
    new: Listed | None = None
    read: bool = False

    @property
    def occupied(self) -> "_Occupied":
        """What is no place to move to."""
        return _Occupied(self)


class _Occupied(Container[SymbolKey]):
    """What stood beside the old definitions, or is another's by now."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def __contains__(self, key: object) -> bool:
        burst = self._run.burst
        return key in self._run.taken or (burst.known_before and key not in burst.appeared)


def _as_known(file: str, symbol: Symbol) -> Known:
    """A definition that was there, for what took its place."""
    key = SymbolKey(file, symbol.qualname, symbol.ordinal)
    return Known(key, symbol.kind, symbol.full_hash, symbol.body_hash, symbol.token_count, symbol.signature)


def _grams(prints: list[str]) -> Callable[[], frozenset[int]]:
    """The 3-grams of a definition that was seen last with one of these fingerprints."""
    return lambda: grams_of(prints[0])

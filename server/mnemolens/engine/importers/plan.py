"""Compares what importers found with the memories that are there, and says what an import would do.

An import stores what is new and follows what was edited; it never forgets, never brings back what a user
forgot or purged, and never overwrites words that a user changed. What holds a secret is refused by its place,
without its text. Reads memories, writes nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from mnemolens.core.memories import Memory
from mnemolens.engine.capture import normalised_hash
from mnemolens.engine.importers.found import MARK, Found, Importer, Mark
from mnemolens.engine.secrets import FieldSecret, secrets_in

SAME_TEXT = 0.5
"""Texts in one place that share this much are one text, edited."""

_COMPARED = 400  # words
_WORD = re.compile(r"\w+")
_FIELDS = ("title", "content", "type", "tags")


@dataclass(frozen=True, slots=True)
class New:
    """Something to store, and the id that its memory gets."""

    found: Found
    memory_id: str


@dataclass(frozen=True, slots=True)
class Change:
    """A memory whose text in the code was edited or moved to another file.

    Attributes:
        changes: for a batch, the fields that `Writing.update` is to change.
    """

    memory: Memory
    found: Found
    edited: bool

    def changes(self, batch: str) -> dict[str, Any]:
        """{field: new value} for the update, with what it replaces kept for an undo."""
        memory, found = self.memory, self.found
        was: dict[str, Any] = {"batch": batch, "mark": {**memory.metadata[MARK], "was": None}}
        details = {key: memory.metadata.get(key) for key in found.details}
        if not self.edited:
            return {"metadata": {**found.metadata(batch, was), **details}}
        was |= {
            "title": memory.title,
            "content": memory.content,
            "type": memory.type,
            "tags": list(memory.tags),
            "details": details,
        }
        marker = memory.metadata.get("marker")
        kept = [tag for tag in memory.tags if not (isinstance(marker, str) and tag == marker.lower())]
        return {
            "title": found.title,
            "content": found.content,
            "type": found.type,
            "tags": tuple(dict.fromkeys((*found.tags, *kept))),
            "metadata": found.metadata(batch, was),
        }


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that holds a secret: where it stands and where in it the secret is, never its text."""

    importer: Importer
    file: str
    line: int
    secrets: tuple[FieldSecret, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do.

    Attributes:
        new: to be stored.
        changed: edited in the code since: to be updated.
        moved: the same text in another file, or another text where the user has words of their own: only the
            mark is updated.
        known: ids of memories that are there already.
        forgotten: ids of memories that a user forgot or purged: left so.
        gone: ids of memories whose text is no longer there, to be offered as done.
        refused: holds a secret.
    """

    new: tuple[New, ...] = ()
    changed: tuple[Change, ...] = ()
    moved: tuple[Change, ...] = ()
    known: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether an import would write nothing."""
        return not (self.new or self.changed or self.moved)


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes one import back.

    Attributes:
        forget: ids of memories that it stored.
        revert: {id: fields} of memories that it updated, as they were before.
    """

    forget: tuple[str, ...]
    revert: dict[str, dict[str, Any]]


def plan(
    found: Sequence[Found],
    memories: Iterable[Memory],
    scanned: Collection[str],
    is_purged: Callable[[str], bool] = lambda _: False,
) -> Plan:
    """Says what importing would do.

    Args:
        found: of all importers and files of this run, in a lasting order (files by name).
        memories: all memories, forgotten ones too.
        scanned: the files that were looked at, and those known to be deleted: only of these a text that was
            not found again is gone.
        is_purged: whether a memory of that id was purged.
    """
    return _Planning(memories, frozenset(scanned), is_purged).plan(found)


def undo(batch: str, memories: Iterable[Memory]) -> Undo:
    """Says what takes an import back: exactly what it stored and changed.

    A memory that the user edited since keeps the user's words: it is forgotten if the import made it, and
    not reverted if the import changed it.

    Args:
        batch: the import's session id.
        memories: all memories.
    """
    forget: list[str] = []
    revert: dict[str, dict[str, Any]] = {}
    for memory in memories:
        mark = Mark.of(memory)
        if mark is None or memory.status == "forgotten":
            continue
        if memory.session_id == batch:
            forget.append(memory.id)
        elif mark.was is not None and mark.was.get("batch") == batch and _is_untouched(memory, mark):
            fields: dict[str, Any] = {key: mark.was[key] for key in _FIELDS if key in mark.was}
            details = mark.was.get("details")
            fields["metadata"] = {
                **(details if isinstance(details, dict) else {}),
                MARK: mark.was.get("mark"),
            }
            revert[memory.id] = fields
    return Undo(tuple(forget), revert)


@dataclass(frozen=True, slots=True)
class _Known:
    memory: Memory
    mark: Mark


class _Planning:
    def __init__(
        self, memories: Iterable[Memory], scanned: frozenset[str], is_purged: Callable[[str], bool]
    ) -> None:
        self._is_purged = is_purged
        self._scanned = scanned
        self._ids: set[str] = set()
        self._left: dict[str, _Known] = {}
        self._hidden: set[str] = set()
        for memory in memories:
            self._ids.add(memory.id)
            mark = Mark.of(memory)
            if mark is not None:
                self._left[memory.id] = _Known(memory, mark)
                if memory.status == "forgotten":
                    self._hidden.add(memory.id)
        self._sections: set[tuple[str, str]] = set()
        self._matched: list[str] = []
        self._new: list[New] = []
        self._changed: list[Change] = []
        self._moved: list[Change] = []
        self._purged: list[str] = []
        self._refused: list[Refused] = []

    def plan(self, found: Sequence[Found]) -> Plan:
        rest = self._same_id(found)
        rest = self._same_text_elsewhere(rest)
        rest = self._edited(rest)
        self._store(rest)
        known = [one for one in self._matched if one not in self._hidden]
        forgotten = [one for one in self._matched if one in self._hidden] + self._purged
        gone = [
            known.memory.id
            for known in self._left.values()
            if known.mark.file in self._scanned and known.memory.status == "active"
        ]
        return Plan(
            new=tuple(self._new),
            changed=tuple(self._changed),
            moved=tuple(self._moved),
            known=tuple(dict.fromkeys(known)),
            forgotten=tuple(dict.fromkeys(forgotten)),
            gone=tuple(gone),
            refused=tuple(self._refused),
        )

    def _same_id(self, found: Sequence[Found]) -> list[Found]:
        by_id = {(known.mark.importer, known.mark.id): known for known in self._left.values()}
        rest = []
        for one in found:
            known = by_id.get((one.importer, one.import_id))
            if known is None:
                rest.append(one)
            else:
                self._match(known)
        return rest

    def _same_text_elsewhere(self, found: Sequence[Found]) -> list[Found]:
        """Texts that stand in another file now, and no longer where they were."""
        by_text: dict[tuple[str, str], list[_Known]] = defaultdict(list)
        for known in self._missing():
            by_text[known.mark.importer, known.mark.hash].append(known)
        rest = []
        for one in found:
            candidates = by_text[one.importer, one.text_hash]
            near = [c for c in candidates if (c.mark.file, c.mark.slot) == (one.file, one.slot)] or candidates
            if not near:
                rest.append(one)
                continue
            known = near[0]
            candidates.remove(known)
            self._match(known)
            if known.memory.id in self._hidden:
                continue
            # Another word before the same text (TODO became FIXME) is an edit.
            edited = known.memory.metadata.get("marker") != one.details.get("marker")
            change = Change(known.memory, one, edited and _is_untouched(known.memory, known.mark))
            (self._changed if change.edited else self._moved).append(change)
        return rest

    def _edited(self, found: Sequence[Found]) -> list[Found]:
        """Texts whose place is the same and whose words are alike."""
        by_place: dict[tuple[str, str, str], list[_Known]] = defaultdict(list)
        for known in self._missing():
            by_place[known.mark.importer, known.mark.file, known.mark.slot].append(known)
        pairs = [
            (_likeness(known, one), at, known)
            for at, one in enumerate(found)
            for known in by_place.get((one.importer, one.file, one.slot), ())
        ]
        taken: dict[int, _Known] = {}
        for score, at, known in sorted(pairs, key=lambda pair: -pair[0]):
            if score >= SAME_TEXT and at not in taken and known.memory.id in self._left:
                taken[at] = known
                self._match(known)
        for at, known in taken.items():
            if known.memory.id not in self._hidden:
                self._change(known, found[at])
        return [one for at, one in enumerate(found) if at not in taken]

    def _change(self, known: _Known, found: Found) -> None:
        """Follows an edit; where the user changed the memory too, the words stay the user's."""
        if not _is_untouched(known.memory, known.mark):
            self._moved.append(Change(known.memory, found, edited=False))
        elif not self._refuse(found):
            self._changed.append(Change(known.memory, found, edited=True))

    def _store(self, found: Sequence[Found]) -> None:
        for one in found:
            if one.importer == "agents":
                # CLAUDE.md is often a copy of AGENTS.md, or a link to it: the first one speaks for both.
                if (one.slot, one.text_hash) in self._sections:
                    continue
                self._sections.add((one.slot, one.text_hash))
            if self._is_purged(one.memory_id):
                self._purged.append(one.memory_id)
            elif not self._refuse(one):
                self._new.append(New(one, self._free_id(one.memory_id)))

    def _refuse(self, found: Found) -> bool:
        secrets = secrets_in(
            {
                "content": found.content,
                "title": found.title,
                "author": found.author,
                "metadata": found.details,
            }
        )
        if secrets:
            self._refused.append(Refused(found.importer, found.file, found.line, secrets))
        return bool(secrets)

    def _free_id(self, memory_id: str) -> str:
        """The id, or one like it: a memory that followed an edit keeps the id of its first words."""
        free, number = memory_id, 2
        while free in self._ids or self._is_purged(free):
            free = f"{memory_id}-{number}"
            number += 1
        self._ids.add(free)
        return free

    def _missing(self) -> list[_Known]:
        return [known for known in self._left.values() if known.mark.file in self._scanned]

    def _match(self, known: _Known) -> None:
        self._matched.append(known.memory.id)
        if known.mark.importer == "agents":
            self._sections.add((known.mark.slot, known.mark.hash))
        self._left.pop(known.memory.id, None)


def _is_untouched(memory: Memory, mark: Mark) -> bool:
    """Whether the memory still says what the import wrote."""
    return normalised_hash(memory.content) == mark.hash


def _likeness(known: _Known, found: Found) -> float:
    if known.mark.importer == "agents":
        return 1.0  # a heading's path is a place of its own
    one, other = _WORD.findall(known.memory.content)[:_COMPARED], _WORD.findall(found.content)[:_COMPARED]
    return SequenceMatcher(None, one, other, autojunk=False).ratio()

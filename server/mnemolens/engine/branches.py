"""Which memories come from another branch than the one that is checked out, and which branches were merged.

A memory knows the commit of its birth. Where that is not in HEAD's history, and nobody confirmed the memory
on what is, it speaks of code that is not here. Git is asked in a thread, once for a HEAD and all commits
together; what it can't tell is no mark.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from mnemolens.core.memories import Memory, Origin
from mnemolens.core.settings import Settings
from mnemolens.core.settings_model import OtherBranches
from mnemolens.store.git_history import (
    GitSilent,
    branch_then,
    is_rebasing,
    is_shallow,
    not_in_history,
    tips,
)
from mnemolens.store.layout import Layout
from mnemolens.store.merge import MergedState

log = logging.getLogger(__name__)

_MAX_HEADS = 16
"""Heads whose answers are kept: switching there and back asks nothing."""


class _Wait(NamedTuple):
    """A memory that waits for a branch to be merged."""

    memory_id: str
    branch: str
    born: str | None
    since: datetime


@dataclass(slots=True)
class _Answers:
    """What is known for one HEAD: of which commits it was asked, and those not in its history."""

    asked: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    waits: frozenset[_Wait] = frozenset()
    merged: frozenset[str] = frozenset()


class Branches:
    """What git's history says of one folder's memories.

    Attributes:
        mode: what becomes of memories from other branches: marked, hidden, or shown as all others.
        trouble: why git could not be asked, in words; "" where it answers.
    """

    def __init__(self, layout: Layout, state: MergedState) -> None:
        self._layout = layout
        self._state = state
        self.mode: OtherBranches = "mark"
        self.trouble = ""
        self._told: set[str] = set()
        self._commits: set[str] = set()
        self._waits: dict[str, _Wait] = {}
        self._head = Origin()
        self._known: dict[Origin, _Answers] = {}
        self._now = _Answers()

    def configure(self, settings: Settings) -> None:
        """Does with memories from other branches what the settings say."""
        self.mode = settings.memory.other_branches

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        for memory_id in memory_ids:
            self._waits.pop(memory_id, None)
            memory = self._state.memory(memory_id)
            if memory is None:
                continue
            self._commits.update(self._commits_of(memory))
            trigger = memory.trigger or {}
            branch = trigger.get("branch") or memory.born.branch
            if trigger.get("on") == "merge" and branch is not None and memory.status == "active":
                self._waits[memory_id] = _Wait(memory_id, branch, memory.born.commit, memory.created_at)

    def other_branch(self, memory: Memory) -> str | None:
        """The branch that the memory comes from, "commit 1a2b3c4" where it had none; None for one of here."""
        born = memory.born
        if self.mode == "show" or born.commit is None or born.commit not in self._now.foreign:
            return None
        if born.branch is not None and born.branch == self._head.branch:
            return None  # amended or rebased since
        if any(commit not in self._now.foreign for commit in self._commits_of(memory)):
            return None  # confirmed, or put here anew, on what is checked out
        return born.branch or f"commit {born.commit[:7]}"

    def hides(self, memory: Memory) -> bool:
        """Whether the memory is left out where memories show up unasked."""
        return self.mode == "hide" and self.other_branch(memory) is not None

    def is_merged(self, memory_id: str) -> bool:
        """Whether the branch that the memory waits for has been merged into HEAD since it was written."""
        return memory_id in self._now.merged

    async def look(self, head: Origin) -> bool:
        """Asks git, where HEAD or the memories changed since the last look; True when its answers did."""
        if not self._stale(head):
            return False
        commits, waits = frozenset(self._commits), frozenset(self._waits.values())
        return self._take(head, await asyncio.to_thread(self._ask, head, commits, waits))

    def look_blocking(self, head: Origin) -> bool:
        """The same on the caller's thread."""
        if not self._stale(head):
            return False
        commits, waits = frozenset(self._commits), frozenset(self._waits.values())
        return self._take(head, self._ask(head, commits, waits))

    def _commits_of(self, memory: Memory) -> set[str]:
        """The commits at which somebody said that the memory is about the code as it was then."""
        said = {memory.born.commit}
        for anchor in self._state.anchors_of(memory.id):
            said.update(state.commit for state in anchor.confirmations)
            if anchor.evidence is None:
                said.add(anchor.birth.state.commit)
        return {commit for commit in said if commit}

    def _stale(self, head: Origin) -> bool:
        known = self._known.get(head)
        return (
            head != self._head
            or known is None
            or not self._commits <= known.asked
            or not known.waits.issuperset(self._waits.values())
        )

    def _ask(self, head: Origin, commits: frozenset[str], waits: frozenset[_Wait]) -> _Answers | None:
        """What git says; None to leave things as they are."""
        known = self._known.get(head)
        if known is not None and commits <= known.asked and waits <= known.waits:
            return known
        if head.commit is None:
            return _Answers(commits, frozenset(), waits)
        try:
            if is_rebasing(self._layout):
                return None  # HEAD is on its way: whose note belongs where shows when it has arrived
            if is_shallow(self._layout):
                if commits - {head.commit} or waits:
                    self._tell("this clone is shallow: which notes come from other branches is not known")
                return _Answers(commits, frozenset(), waits)
            foreign = not_in_history(self._layout, commits, head.commit)
            merged = _merged(self._layout, head, waits)
        except GitSilent as error:
            self.trouble = str(error)
            self._tell(f"{error}: notes from other branches are not marked; all notes follow their code")
            return _Answers(commits, frozenset(), waits)
        self.trouble = ""
        return _Answers(commits, foreign, waits, merged)

    def _take(self, head: Origin, answers: _Answers | None) -> bool:
        if answers is None:
            return False
        changed = (answers.foreign, answers.merged) != (self._now.foreign, self._now.merged)
        changed = changed or head.branch != self._head.branch
        self._head, self._now = head, answers
        self._known.pop(head, None)
        self._known[head] = answers
        if len(self._known) > _MAX_HEADS:
            del self._known[next(iter(self._known))]
        return changed

    def _tell(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            log.warning("%s", words)


def _merged(layout: Layout, head: Origin, waits: Iterable[_Wait]) -> frozenset[str]:
    """The memories whose branch is in HEAD's history now and was not when they were written."""
    waiting = [wait for wait in waits if wait.branch != head.branch]
    if not waiting or head.commit is None:
        return frozenset()
    at = tips(layout, {wait.branch for wait in waiting})
    # A branch that was deleted after its merge is known by the memory that was written on it.
    ends = {wait.memory_id: at.get(wait.branch) or wait.born for wait in waiting}
    beyond = not_in_history(layout, {end for end in ends.values() if end}, head.commit)
    found = set()
    for wait in waiting:
        end = ends[wait.memory_id]
        if end is None or end in beyond:
            continue
        then = branch_then(layout, head.branch, wait.since) if head.branch else None
        # A branch without commits of its own is part of every other one from the start.
        if end not in not_in_history(layout, {end}, then) if then else end == wait.born:
            continue
        found.add(wait.memory_id)
    return frozenset(found)

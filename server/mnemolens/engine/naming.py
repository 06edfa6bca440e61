"""What memories' texts name: read once, matched with the code as it is, less what a user refused.

Owns the rules that say what counts as a name, and what was read of texts. Whether a link holds an anchor, and
where that is, is `deriving.py`'s.
"""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from mnemolens.core.memories import Anchor, Evidence, Memory
from mnemolens.engine.code import Code
from mnemolens.linking import ALL_KINDS, Match, Rule, evidence_holds, match, names_in
from mnemolens.store.merge import MergedState

log = logging.getLogger(__name__)


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


class Naming:
    """Reads memories' texts for names of code.

    Attributes:
        enabled: whether names in a memory's text link it; explicit anchors always do.
        kinds: which kinds of names do.
        rules: the project's own ways of naming code.
        unlinked: memories whose text links them to nothing, since whoever stored them asked for that.
    """

    def __init__(self, state: MergedState, code: Code, root: str) -> None:
        self._state = state
        self._root = root
        self._code = code
        self.enabled = True
        self.kinds = ALL_KINDS
        self.rules: tuple[Rule, ...] = ()
        self.unlinked: set[str] = set()
        self._said: dict[str, _Said] = {}

    def names(self, memory: Memory) -> frozenset[str]:
        """Identifiers and paths in the memory's text."""
        return self._what_it_says(memory).names

    def forget(self, memory_id: str) -> None:
        """The memory is gone."""
        self._said.pop(memory_id, None)

    def counts(self, anchor: Anchor, memory: Memory) -> bool:
        """A derived anchor counts while linking is on, the text holds its evidence, and nobody refused it."""
        if anchor.evidence is None:
            return True
        return (
            self._is_on(memory)
            and self._holds(anchor.evidence, memory)
            and not self._state.link_dropped(memory.id, anchor.evidence.text, anchor.birth.state.key.id)
        )

    def matches(self, memory: Memory, origin: str | None) -> list[Match]:
        """What the text names, less what the user refused. A fault in here costs links, never the memory."""
        if not self._is_on(memory):
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

    def _is_on(self, memory: Memory) -> bool:
        return self.enabled and memory.id not in self.unlinked

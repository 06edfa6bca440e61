"""Hints in the list of problems: memories that are due, contradict each other, or may no longer be true.

Owns which there are and what they say; colours, encodings and when to publish are the surface's.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from mnemolens.core.memories import Memory
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import HintView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.reminders import Reminders
from mnemolens.engine.show import Show
from mnemolens.store.merge import MergedState

MAX_HINTS = 1_000
"""In all files together; what a list can't show helps nobody."""


class Hints:
    """The hints of one folder."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        state: MergedState,
        links: Links,
        code: Code,
        show: Show,
        reminders: Reminders,
    ) -> None:
        self._settings = settings
        self._state = state
        self._links = links
        self._code = code
        self._show = show
        self._reminders = reminders
        self._at_odds: dict[str, set[str]] = {}

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        for memory_id in memory_ids:
            edges = self._state.edges_of(memory_id)
            ends = ((edge.source_id, edge.target_id) for edge in edges if edge.type == "CONTRADICTS")
            others = {one for pair in ends for one in pair if one != memory_id}
            if others:
                self._at_odds[memory_id] = others
            else:
                self._at_odds.pop(memory_id, None)

    def hints(self, now: datetime) -> dict[str, tuple[HintView, ...]]:
        """{file: its hints, in the order of the text}; only files that have any."""
        found: dict[str, list[HintView]] = defaultdict(list)
        diagnostics = self._settings().diagnostics
        for wanted, hints in (
            (diagnostics.due, self._due(now)),
            (diagnostics.contradictions, self._contradictions(now)),
            (diagnostics.drifted, self._drifted(now)),
        ):
            for key, code, message, memory_id in hints if wanted else ():
                range_ = self._code.name_range(key)
                if range_ is not None and self._code.kind(key) is not None:
                    found[key.file].append(HintView(range_, code, message, memory_id))
                if sum(map(len, found.values())) >= MAX_HINTS:
                    break
        return {
            file: tuple(sorted(hints, key=lambda hint: (hint.range, hint.code, hint.memory_id)))
            for file, hints in found.items()
        }

    def _due(self, now: datetime) -> Iterator[tuple[SymbolKey, str, str, str]]:
        for due in self._reminders.due(now):
            for key in due.places[:1]:
                yield key, "due", f"Due, as {due.why}: {due.memory.title}", due.memory.id

    def _contradictions(self, now: datetime) -> Iterator[tuple[SymbolKey, str, str, str]]:
        for memory_id, others in sorted(self._at_odds.items()):
            memory = self._present(memory_id, now)
            for other in (self._present(one, now) for one in sorted(others)):
                if memory is None or other is None:
                    continue
                message = f"Contradicted by “{other.title}”: {memory.title}"
                for key in self._places(memory_id):
                    yield key, "contradiction", message, memory_id

    def _drifted(self, now: datetime) -> Iterator[tuple[SymbolKey, str, str, str]]:
        for memory_id in self._state.memories():
            if self._links.verdict_of(memory_id) != "drifted":
                continue
            memory = self._present(memory_id, now)
            if memory is not None:
                for key in self._places(memory_id):
                    yield key, "drifted", f"May no longer be true: {memory.title}", memory_id

    def _present(self, memory_id: str, now: datetime) -> Memory | None:
        memory = self._state.memory(memory_id)
        if memory is None or memory.status != "active" or self._show.hides(memory):
            return None
        return None if memory.expires_at is not None and memory.expires_at <= now else memory

    def _places(self, memory_id: str) -> list[SymbolKey]:
        """The code that the memory was put on; that which it names, where it was put on none."""
        links = [link for link in self._links.links_of(memory_id) if not link.candidate]
        return [link.target for link in links if link.context == "captured_here"] or [
            link.target for link in links[:1]
        ]

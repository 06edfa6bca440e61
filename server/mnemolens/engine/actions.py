"""What can be done at a place with the memories there, and with those that lost their code.

Owns which acts there are and their titles; how a client runs them is the surface's.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from mnemolens.core.memories import Memory
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.core.views import ActionView, MemoryView, RankedMemory
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.reminders import Reminders
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.store.merge import MergedState

MAX_ASTRAY = 5
"""Memories without their code that are offered in one file; the list has all of them."""
MAX_OFFERED = 3
"""Memories that may mean a place, as they name it and others alike, that are offered there."""
_MAX_NAMING = 500
"""Memories with one name that are looked at: a name in more says nothing."""


class Actions:
    """The acts at a place."""

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
        self._code = code
        self._links = links
        self._show = show
        self._reminders = reminders

    def at(
        self, file: str, position: Position, now: datetime, hinted: Iterable[str] = ()
    ) -> tuple[ActionView, ...]:
        """The acts there, those that repair something first.

        Args:
            file: where,
            position: at which symbol; as many of its memories count as a hover shows.
            now: for ranks, expiry and what is due.
            hinted: further memories, of which a hint stands there.
        """
        key = self._code.target(file, position)
        ranked = self._show.ranked_on(key, now)[: self._settings().hover.max_items]
        here = {one.view.memory.id: one.view.memory for one in ranked}
        due = {one.memory.id: one.memory for one in self._reminders.due(now)}
        told = [*dict.fromkeys((*here, *hinted))]
        return (
            *(act for one in told if one in due for act in _when_due(due[one])),
            *(act for one in ranked for act in self._repairs(one, key)),
            *(act for memory in self._astray(key.file, now) for act in self._places(memory)),
            *(act for one in ranked for act in _always(one.view)),
            *(act for memory in self._undecided(key, now) for act in self._choices(memory, key)),
        )

    def _repairs(self, ranked: RankedMemory, key: SymbolKey) -> Iterator[ActionView]:
        view, memory = ranked.view, ranked.view.memory
        if view.verdict == "moved":
            yield ActionView(f"It moved here: {memory.title}", "confirm", memory.id, repairs=True)
        elif view.verdict != "fresh":
            yield ActionView(f"Still true: {memory.title}", "confirm", memory.id, repairs=True)
        if self._show.is_moved(memory.id, key):
            doubt = view.verdict == "moved"
            yield ActionView(f"Undo the move: {memory.title}", "undoMove", memory.id, repairs=doubt)

    def _astray(self, file: str, now: datetime) -> list[Memory]:
        found = (self._state.memory(one) for one in sorted(self._links.astray(file)))
        present = [memory for memory in found if memory is not None and _is_shown(memory, now)]
        return present[:MAX_ASTRAY]

    def _undecided(self, key: SymbolKey, now: datetime) -> list[Memory]:
        """The memories whose text may mean this symbol, or another of that name."""
        naming = self._links.memories_touched("", (key.name,), ()) if key.qualname else set()
        if len(naming) > _MAX_NAMING:
            return []
        offered = [
            memory
            for one in sorted(naming)
            if (memory := self._state.memory(one)) is not None
            and _is_shown(memory, now)
            and any(link.candidate and link.target == key for link in self._links.links_of(one))
        ]
        return offered[-MAX_OFFERED:]

    def _choices(self, memory: Memory, key: SymbolKey) -> Iterator[ActionView]:
        label = self._show.place(key).label
        yield ActionView(f"Link to {label}: {memory.title}", "link", memory.id)
        yield ActionView(f"Not about {label}: {memory.title}", "unlink", memory.id)

    def _places(self, memory: Memory) -> Iterator[ActionView]:
        yield ActionView(f"Re-anchor here: {memory.title}", "reanchor", memory.id, repairs=True)
        for key in self._links.candidates_of(memory.id):
            place = self._show.place(key)
            if place.range is not None:
                title = f"Move to {place.label} in {place.file}: {memory.title}"
                yield ActionView(title, "reanchor", memory.id, place, repairs=True)


def _is_shown(memory: Memory, now: datetime) -> bool:
    return memory.status != "forgotten" and not is_expired(memory, now)


def _when_due(memory: Memory) -> Iterator[ActionView]:
    yield ActionView(f"Done: {memory.title}", "done", memory.id, repairs=True)
    yield ActionView(f"Snooze until tomorrow: {memory.title}", "snooze", memory.id, repairs=True)
    yield ActionView(f"Not now: {memory.title}", "notNow", memory.id, repairs=True)


def _always(view: MemoryView) -> Iterator[ActionView]:
    memory = view.memory
    yield ActionView(f"Open memory: {memory.title}", "open", memory.id)
    yield ActionView(f"Forget memory: {memory.title}", "forget", memory.id)

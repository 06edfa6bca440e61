"""Which symbols of a file have a code lens, and what the lens says.

Where lenses stand is asked at every change of a file; a title costs a little more and is asked for those in
sight.
"""

from collections.abc import Callable
from datetime import datetime

from mnemolens.core.memories import Verdict
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import LensTitle, LensView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.store.merge import MergedState

WORDS: tuple[Verdict, ...] = ("drifted", "moved", "ambiguous")
"""Verdicts that a lens counts out, in this order."""


class Lenses:
    """The lenses of one folder."""

    def __init__(
        self, settings: Callable[[], Settings], state: MergedState, links: Links, code: Code, show: Show
    ) -> None:
        self._settings = settings
        self._state = state
        self._links = links
        self._code = code
        self._show = show

    def of(self, file: str, now: datetime) -> tuple[LensView, ...]:
        """One lens for each symbol of the file with memories of its own; the file's stands on line 1."""
        if not self._settings().lens.enabled:
            return ()
        found = []
        for key in self._links.keys_in_file(file):
            range_ = self._code.name_range(key)
            if range_ is not None and any(self._counts(one, now) for one in self._links.on_symbol(key)):
                found.append(LensView(range_, key))
        return tuple(sorted(found, key=lambda lens: lens.range))

    def title(self, key: SymbolKey, now: datetime) -> LensTitle | None:
        """`2 memories · 1 drifted`; None when the symbol's memories are gone."""
        ranked = self._show.ranked_on(key, now)
        if not ranked:
            return None
        verdicts = [one.view.verdict for one in ranked]
        parts = [f"{len(ranked)} {'memory' if len(ranked) == 1 else 'memories'}"]
        parts += [f"{verdicts.count(word)} {word}" for word in WORDS if word in verdicts]
        return LensTitle(" · ".join(parts), tuple(one.view.memory.id for one in ranked))

    def _counts(self, memory_id: str, now: datetime) -> bool:
        memory = self._state.memory(memory_id)
        if memory is None or memory.status == "forgotten" or is_expired(memory, now):
            return False
        return not self._show.hides(memory)

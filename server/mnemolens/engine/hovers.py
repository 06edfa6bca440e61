"""What a hover shows of a symbol: its own memories, and what lights up around it."""

from collections.abc import Callable
from datetime import datetime

from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Position
from mnemolens.core.views import HoverView
from mnemolens.engine.focus import Focus
from mnemolens.engine.show import Show
from mnemolens.engine.sources import Sources
from mnemolens.ranking.order import after_successors


class Hovers:
    """The hovers of one folder."""

    def __init__(self, settings: Callable[[], Settings], sources: Sources, show: Show, focus: Focus) -> None:
        self._settings = settings
        self._sources = sources
        self._show = show
        self._focus = focus

    def at(self, file: str, position: Position, now: datetime) -> HoverView | None:
        """The memories of the symbol whose name, or a resolved reference to it, is at the position.

        Whoever asks stands there from now on.
        """
        hover = self._settings().hover
        if not hover.enabled:
            return None
        found = self._sources.symbol_under(file, position)
        if found is None:
            return None
        key, range_ = found
        ranked = self._show.ranked_on(key, now)
        ranked += self._focus.neighbours(key, now, hover.neighbour_threshold)
        # What superseded a memory of this symbol may be on another that lights up.
        ranked = after_successors(ranked, lambda one: one.view.memory.id, lambda one: one.view.successors)
        self._focus.visit(key)
        if not ranked:
            return None
        shown = ranked[: hover.max_items]
        items = tuple(self._show.hover_item(one, key) for one in shown)
        return HoverView(range_, key, items, len(ranked) - len(shown))

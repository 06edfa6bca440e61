"""Where somebody stands in the code, and what that brings to mind besides the place's own memories.

Owns where they stood before, and what is lit as ranked memories with reasons in words. Which ways activation
takes is `activation.py`'s. Nothing of this is written down.
"""

from collections import deque
from datetime import datetime
from typing import Final

from mnemolens.core.memories import Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import PlaceView, RankedMemory
from mnemolens.engine.activation import At, JointActivation, Lit, words
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show, truth_of
from mnemolens.ranking.order import order_key, rank
from mnemolens.store.merge import MergedState

VISITS: Final = 2
"""Places that are remembered; the third would light nothing, as each has half of the one after it."""


class Focus:
    """What lights up around a place.

    Attributes:
        activation: how it spreads.
    """

    def __init__(self, state: MergedState, show: Show, activation: JointActivation) -> None:
        self.activation = activation
        self._state = state
        self._show = show
        self._visited: deque[SymbolKey] = deque(maxlen=VISITS)

    def visit(self, key: SymbolKey) -> None:
        """Somebody looked at the symbol, captured something on it, or asked about it."""
        if key in self._visited:
            self._visited.remove(key)
        self._visited.appendleft(key)

    def visit_code_of(self, memory_id: str) -> None:
        """Somebody opened the memory: they are where it stands."""
        place = self.activation.place_of(memory_id)
        if place is not None:
            self.visit(place)

    def lit(self, key: SymbolKey) -> dict[str, Lit]:
        """The memories that light up at a place, its own among them, by id."""
        return self.activation.around(key, self._visited)

    def primed(self) -> dict[str, Lit]:
        """The memories where somebody was before, by id."""
        return self.activation.primed(self._visited)

    def neighbours(self, key: SymbolKey, now: datetime, least: float) -> list[RankedMemory]:
        """The memories that are not the place's own and rank no lower than `least`, best first.

        Which is the rank of whatever was lit: a memory that weighs little has to be lit strongly. Where
        somebody was before changes the order, never what is there.
        """
        found = []
        for one in self.lit(key).values():
            memory = self._state.memory(one.memory_id)
            # Rank is a product of shares: what is lit too weakly needs no look.
            if one.own or one.activation < least:
                continue
            if memory is None or not self._may_be_shown(memory, now):
                continue
            view = self._show.memory(memory, now)
            believed = truth_of(view)
            if rank(view.weight, one.activation, believed) >= least:
                score = rank(view.weight, one.strength, believed)
                why, path = (self.words(one),), self.path(one)
                found.append(RankedMemory(view, score, one.strength, believed, own=False, why=why, path=path))
        return sorted(found, key=lambda one: order_key(one.view.memory.id, one.score, own=False))

    def words(self, lit: Lit) -> str:
        """Why the memory is lit; code is set in backticks."""
        return words(lit, lambda key: code(self._show.place(key)), self._title)

    def path(self, lit: Lit) -> tuple[PlaceView, ...]:
        """The code on the way, from where somebody stands."""
        return tuple(self._show.place(node.key) for node in lit.path if isinstance(node, At))

    def _title(self, memory_id: str) -> str:
        memory = self._state.memory(memory_id)
        return memory.title if memory is not None else memory_id

    def _may_be_shown(self, memory: Memory, now: datetime) -> bool:
        return memory.status != "forgotten" and not is_expired(memory, now) and not self._show.hides(memory)


def code(place: PlaceView) -> str:
    """A place as code, but a file by its name alone."""
    return f"`{place.label}`" if place.qualname else place.label

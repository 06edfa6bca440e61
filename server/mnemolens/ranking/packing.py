"""What fits into a budget of tokens: shares of the layers, and which memories are taken.

Owns the arithmetic of budgets alone; weights are `ranking.decay`'s, relevance is the caller's.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from mnemolens.core.memories import Layer
from mnemolens.core.settings import Settings

LAYERS: Final[tuple[Layer, ...]] = ("core", "active", "long_term", "archive")
"""In the order in which they are served."""


class Shares(NamedTuple):
    """The share (0..1) of a budget that each layer has; at most 1 in sum."""

    core: float = 0.4
    active: float = 0.35
    long_term: float = 0.2
    archive: float = 0.05

    @classmethod
    def from_settings(cls, settings: Settings) -> "Shares":
        """The shares that the user's settings ask for."""
        budget = settings.memory.budget
        return cls(budget.core_ratio, budget.active_ratio, budget.long_term_ratio, budget.archive_ratio)

    def of(self, budget: int) -> dict[Layer, int]:
        """Tokens for each layer, rounded down."""
        return {layer: int(budget * share) for layer, share in zip(LAYERS, self, strict=True)}


class Item(NamedTuple):
    """Something to be packed: its key, which no other has, its weight, layer and size in tokens."""

    key: str
    weight: float
    layer: Layer
    tokens: int


_KEY, _WEIGHT = attrgetter("key"), attrgetter("weight")


def by_layer(items: Iterable[Item]) -> dict[Layer, list[Item]]:
    """The items of each layer, the heaviest first, ties by key."""
    ordered = sorted(items, key=_KEY)
    ordered.sort(key=_WEIGHT, reverse=True)  # which keeps the order of equal ones
    found: dict[Layer, list[Item]] = {layer: [] for layer in LAYERS}
    for item in ordered:
        found[item.layer].append(item)
    return found


def pack(items: Iterable[Item], budget: int, shares: Shares | None = None) -> list[Item]:
    """The items that fit, layer by layer, within each the heaviest first.

    What is too large for what is left of its layer's share is passed over, and what a layer leaves goes to
    the next. What was passed over may still have what is left in the end, the first in order first: a budget
    that nobody else uses keeps nothing out.
    """
    portions = (shares or Shares()).of(budget)
    layers = by_layer(items)
    taken: set[str] = set()
    carried, left = 0, budget
    for layer, ordered in layers.items():
        room = min(portions[layer] + carried, left)
        for item in ordered:
            if item.tokens <= room:
                taken.add(item.key)
                room -= item.tokens
                left -= item.tokens
        carried = room
    everything = [item for ordered in layers.values() for item in ordered]
    for item in everything:
        if item.key not in taken and item.tokens <= left:
            taken.add(item.key)
            left -= item.tokens
    return [item for item in everything if item.key in taken]


def pack_strictly(items: Iterable[Item], budget: int, shares: Shares | None = None) -> list[Item]:
    """As `pack`, but each layer ends at the first item that does not fit, and nothing is carried over."""
    portions = (shares or Shares()).of(budget)
    taken: list[Item] = []
    left = budget
    for layer, ordered in by_layer(items).items():
        room = portions[layer]
        for item in ordered:
            if item.tokens > min(room, left):
                break
            taken.append(item)
            room -= item.tokens
            left -= item.tokens
    return taken

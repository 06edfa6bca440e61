"""What fits into a budget of tokens: shares of the layers, and which memories are taken.

Owns the arithmetic of budgets alone; weights are `ranking.decay`'s, relevance is the caller's.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

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


def pack(items: Iterable[Item], budget: int, shares: Shares | None = None) -> list[Item]:
    """The items that `fitting` says fit, in order."""
    return _packed(fitting, items, budget, shares)


def pack_strictly(items: Iterable[Item], budget: int, shares: Shares | None = None) -> list[Item]:
    """The items that `fitting_strictly` says fit, in order."""
    return _packed(fitting_strictly, items, budget, shares)


def fitting(
    layers: Iterable[Sequence[int]], tokens: Sequence[int], budget: int, shares: Shares | None = None
) -> list[int]:
    """What fits, layer by layer, within each the heaviest first.

    What is too large for what is left of its layer's share is passed over, and what a layer leaves goes to
    the next. What was passed over may still have what is left in the end, the first in order first: a budget
    that nobody else uses keeps nothing out.

    Args:
        layers: what each of `LAYERS` holds, the heaviest first, by numbers.
        tokens: the size of each, by its number.
        budget: tokens for all together.
        shares: of the layers; the defaults when None.

    Returns:
        Numbers, in the order given.
    """
    held = list(layers)
    least = min(tokens, default=0)  # once there is room for nothing any more, nobody is asked
    found: list[int] = []
    carried, left = 0, budget
    for portion, numbers in zip((shares or Shares()).of(budget).values(), held, strict=True):
        room = given = min(portion + carried, left)
        for number in numbers:
            if tokens[number] <= room:
                found.append(number)
                room -= tokens[number]
                if room < least:
                    break
        left -= given - room
        carried = room
    taken = set(found)
    late = set()
    for number in chain.from_iterable(held if left >= least else ()):
        if tokens[number] <= left and number not in taken:
            late.add(number)
            left -= tokens[number]
            if left < least:
                break
    if not late:
        return found
    return [number for number in chain.from_iterable(held) if number in taken or number in late]


def fitting_strictly(
    layers: Iterable[Sequence[int]], tokens: Sequence[int], budget: int, shares: Shares | None = None
) -> list[int]:
    """As `fitting`, but each layer ends at the first that does not fit, and nothing is carried over."""
    found: list[int] = []
    left = budget
    for portion, numbers in zip((shares or Shares()).of(budget).values(), layers, strict=True):
        room = given = min(portion, left)
        for number in numbers:
            if tokens[number] > room:
                break
            found.append(number)
            room -= tokens[number]
        left -= given - room
    return found


_Fitting: TypeAlias = Callable[[Iterable[Sequence[int]], Sequence[int], int, Shares | None], list[int]]


def _packed(which: _Fitting, items: Iterable[Item], budget: int, shares: Shares | None) -> list[Item]:
    ordered = sorted(items, key=_KEY)
    ordered.sort(key=_WEIGHT, reverse=True)  # which keeps the order of equal ones
    layers: dict[Layer, list[int]] = {layer: [] for layer in LAYERS}
    for number, item in enumerate(ordered):
        layers[item.layer].append(number)
    numbers = which(layers.values(), [item.tokens for item in ordered], budget, shares)
    return [ordered[number] for number in numbers]

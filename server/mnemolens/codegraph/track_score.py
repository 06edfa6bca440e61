"""How much speaks for one definition having become another: likeness of text, name, and place.

The weights were tuned on one half of the repositories that `tests/bench/survival.py` replays.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from mnemolens.codegraph.track_values import Known
from mnemolens.core.identifiers import split_identifier
from mnemolens.core.symbols import SymbolKey

Place = tuple[str, str]
"""A file and the qualname of what encloses a definition in it, "" for the file itself."""


class Weights(NamedTuple):
    """What each agreement counts; together at most 1.

    Attributes:
        likeness: of the token 3-grams, times their Dice coefficient.
        same_name: an equal name.
        alike_name: times the share of words that two different names have in common.
        parent: the same enclosing definition, or what that has become.
        file: only the same file, or what that has become; only an enclosing definition of the same name.
        path: of another place, each of up to three last parts of the path that are the same.
        neighbour: each of the two definitions beside it is the same, or what that has become.
    """

    likeness: float = 0.70
    same_name: float = 0.28
    alike_name: float = 0.15
    parent: float = 0.10
    file: float = 0.05
    path: float = 0.025
    neighbour: float = 0.09


WEIGHTS = Weights()

_PARTS = 3


def place_of(key: SymbolKey) -> Place:
    """Where a definition stands."""
    return key.file, key.qualname.rpartition(".")[0]


def score(
    old: Known,
    new: Known,
    likeness: float,
    moved: Callable[[Place], Place],
    became: Callable[[SymbolKey], SymbolKey],
    weights: Weights = WEIGHTS,
) -> float:
    """How much speaks for `old` having become `new`, 0..1.

    Args:
        old: one side.
        new: the other.
        likeness: of their texts, 0..1.
        moved: what a place has become, itself where that is not known.
        became: what a definition has become, itself where that is not known.
        weights: of the agreements.
    """
    total = weights.likeness * likeness
    total += name_score(old.key.name, new.key.name, weights)
    total += place_score(old, new, moved, became, weights)
    return min(total, 1.0)


def name_score(old: str, new: str, weights: Weights = WEIGHTS) -> float:
    """What the names count."""
    return weights.same_name if old == new else weights.alike_name * name_likeness(old, new)


def name_likeness(old: str, new: str) -> float:
    """The share of words that two names have in common, 0..1."""
    a, b = _words(old), _words(new)
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def place_score(
    old: Known,
    new: Known,
    moved: Callable[[Place], Place],
    became: Callable[[SymbolKey], SymbolKey],
    weights: Weights = WEIGHTS,
) -> float:
    """What the places count."""
    here, there = moved(place_of(old.key)), place_of(new.key)
    if here != there:
        file, _ = moved((old.key.file, ""))
        same_outer = common_end(here[1], there[1], ".") > 0
        path = weights.path * min(common_end(old.key.file, new.key.file, "/"), _PARTS)
        return weights.file * ((file == new.key.file) + same_outer) + path
    beside = sum(
        bool(then) and became(SymbolKey(old.key.file, then)) == SymbolKey(new.key.file, now)
        for then, now in zip(old.neighbours, new.neighbours, strict=True)
    )
    return weights.parent + weights.neighbour * beside


def common_end(first: str, second: str, mark: str) -> int:
    """How many parts of two paths or dotted names are equal, from the end."""
    count = 0
    for a, b in zip(first.split(mark)[::-1], second.split(mark)[::-1], strict=False):
        if a != b or not a:
            break
        count += 1
    return count


@lru_cache(maxsize=65536)
def _words(name: str) -> frozenset[str]:
    return frozenset(split_identifier(name))

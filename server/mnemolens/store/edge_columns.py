"""The weights of all edges in columns of numbers, for a look at all of them or at one node's.

An edge as its events left it is half a dozen objects, all over the memory: of half a million, waiting for
these would take most of the time. What an edge weighs is `merge.py`'s to say.
"""

from array import array
from collections.abc import Hashable
from typing import Final, Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)

NO_EDGE: Final = float("inf")
"""The weight in a row whose edge is none: it was taken away, or one of its ends was."""


class Edges(NamedTuple):
    """All edges, each in one row.

    Attributes:
        numbers: of the nodes that edges have as ends.
        sources, targets: numbers of the ends.
        weights: `NO_EDGE` where there is none.
    """

    numbers: dict[str, int]
    sources: "array[int]"
    targets: "array[int]"
    weights: "array[float]"


class EdgeColumns(Generic[K]):
    """The columns, and which rows are in doubt.

    Attributes:
        doubted: rows whose weight must be found anew before it is used, each with the key of its edge.
    """

    def __init__(self) -> None:
        self.doubted: dict[int, K] = {}
        self._numbers: dict[str, int] = {}
        self._sources, self._targets, self._weights = array("l"), array("l"), array("d")

    def add(self, source: str, target: str) -> int:
        """Makes a row for an edge that weighs nothing yet; its number."""
        numbers = self._numbers
        self._sources.append(numbers.setdefault(source, len(numbers)))
        self._targets.append(numbers.setdefault(target, len(numbers)))
        self._weights.append(NO_EDGE)
        return len(self._weights) - 1

    def weight(self, row: int) -> float:
        """An edge's weight, if it is not in doubt."""
        return self._weights[row]

    def weigh(self, row: int, weight: float) -> None:
        """Notes an edge's weight, which is not in doubt any more."""
        self._weights[row] = weight
        self.doubted.pop(row, None)

    def copy(self) -> Edges:
        """All of it as it is now."""
        return Edges(dict(self._numbers), self._sources[:], self._targets[:], self._weights[:])

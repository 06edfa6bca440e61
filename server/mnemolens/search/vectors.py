"""Exact search for the nearest vectors, by cosine, in memory.

Owns the arithmetic and what a vector must be like. It keeps nothing on disk (`store/vectors.py` does), makes
no vectors (`engine/embedding.py` does) and imports numpy, so nothing that must start fast imports this module
before there are vectors.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemolens.core.errors import InvalidArgument

Floats: TypeAlias = npt.NDArray[np.float32]

MAX_DIMENSION = 16_384


class Near(NamedTuple):
    """A vector that was found.

    Attributes:
        score: cosine, -1 to 1.
    """

    key: str
    score: float


def unit(values: Any, field: str = "embedding") -> Floats:
    """The vector of length 1 that points where `values` does, float32 [dimension].

    Raises:
        InvalidArgument: it is no list of finite numbers, too long, or all zeros, which points nowhere.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(field, "must be a list of numbers") from None
    if vector.ndim != 1 or not vector.size:
        raise InvalidArgument(field, "must be a list of numbers, and not empty")
    if vector.size > MAX_DIMENSION:
        raise InvalidArgument(field, f"has {vector.size} numbers; at most {MAX_DIMENSION} are allowed")
    if not np.isfinite(vector).all():
        raise InvalidArgument(field, "holds a number that is not finite")
    largest = float(np.abs(vector).max())
    if largest == 0:
        raise InvalidArgument(field, "is all zeros, which is near to nothing")
    vector = vector / largest  # else the squares of very large or small numbers leave the range
    return (vector / np.sqrt(vector @ vector)).astype(np.float32)


class VectorIndex:
    """Vectors of one model, by key.

    Attributes:
        dimension: how many numbers each has.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._keys: list[str] = []
        self._row_of: dict[str, int] = {}
        self._rows: Floats = np.empty((0, dimension), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._row_of

    def put(self, vectors: Iterable[tuple[str, Any]]) -> None:
        """Adds vectors or replaces those of the same key; none of them where one is refused.

        Raises:
            InvalidArgument: a vector that is none, or of another dimension.
        """
        checked = [(key, self._checked(values, "embedding")) for key, values in vectors]
        self._reserve(len(self._keys) + sum(key not in self._row_of for key, _ in checked))
        for key, vector in checked:
            row = self._row_of.get(key)
            if row is None:
                row = self._row_of[key] = len(self._keys)
                self._keys.append(key)
            self._rows[row] = vector

    def remove(self, key: str) -> None:
        """Takes the key's vector out; harmless where there is none. The last row takes its place."""
        row = self._row_of.pop(key, None)
        if row is None:
            return
        last = self._keys.pop()
        if last != key:
            self._keys[row] = last
            self._row_of[last] = row
            self._rows[row] = self._rows[len(self._keys)]

    def nearest(
        self, query: Any, top_k: int = 20, accept: Callable[[str], bool] | None = None
    ) -> tuple[Near, ...]:
        """The nearest vectors, best first, equal ones by key.

        Args:
            query: a vector of this dimension, of any length.
            top_k: how many at most.
            accept: only keys of which this holds, as of one layer; asked for the best ones only.

        Raises:
            InvalidArgument: the query is no vector, or one of another dimension.
        """
        vector = self._checked(query, "queryEmbedding")
        if top_k < 1 or not self._keys:
            return ()
        scores = self._rows[: len(self._keys)] @ vector
        wanted = min(top_k, len(scores))
        found = self._best(scores, wanted, accept)
        while len(found) < top_k and wanted < len(scores):
            wanted = min(4 * wanted, len(scores))
            found = self._best(scores, wanted, accept)
        return tuple(found[:top_k])

    def scores(self, query: Any) -> dict[str, float]:
        """{key: cosine} of all; raises as `nearest`."""
        vector = self._checked(query, "queryEmbedding")
        return dict(zip(self._keys, (self._rows[: len(self._keys)] @ vector).tolist(), strict=True))

    def _best(self, scores: Floats, count: int, accept: Callable[[str], bool] | None) -> list[Near]:
        """Those of the `count` best, and of all as good as the last of them, that are accepted; in order."""
        least = scores[np.argpartition(scores, len(scores) - count)[len(scores) - count]]
        rows = np.flatnonzero(scores >= least)
        found = [Near(self._keys[row], float(scores[row])) for row in rows.tolist()]
        found.sort(key=lambda near: (-near.score, near.key))
        return found if accept is None else [near for near in found if accept(near.key)]

    def _checked(self, values: Any, field: str) -> Floats:
        vector = unit(values, field)
        if len(vector) != self.dimension:
            raise InvalidArgument(
                field, f"has {len(vector)} numbers, but the vectors here have {self.dimension}"
            )
        return vector

    def _reserve(self, rows: int) -> None:
        if rows > len(self._rows):
            grown = np.empty((max(rows, 2 * len(self._rows), 64), self.dimension), dtype=np.float32)
            grown[: len(self._keys)] = self._rows[: len(self._keys)]
            self._rows = grown


def index_of(keys: Sequence[str], rows: Floats) -> VectorIndex:
    """An index of vectors that have length 1 already, as the store keeps them; takes `rows` over.

    Args:
        keys: each once.
        rows: float32 [number of keys, dimension].
    """
    index = VectorIndex(int(rows.shape[1]))
    index._keys = list(keys)  # noqa: SLF001 - the same module: a second constructor
    index._row_of = {key: row for row, key in enumerate(keys)}  # noqa: SLF001 - as above
    index._rows = rows  # noqa: SLF001 - as above
    return index

"""The rows that a file brings into the graph, packed: they are kept only to tell later what changed.

Of 100,000 functions with their calls rows take 95 MB, packed 7. Owns their form in memory, nothing else.
"""

import pickle
import zlib
from collections.abc import Generator, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from mnemolens.store.graph_schema import NO_ROWS, Row, Rows

_PIECE: Final = 400
"""Rows that are packed in one step: about 1 ms."""


class PackedRows(NamedTuple):
    """Rows, packed.

    Attributes:
        nodes: how many of them are nodes, which stand first.
        pieces: equal ones mean equal rows, but equal rows may be packed otherwise.
    """

    nodes: int
    pieces: tuple[bytes, ...]


KeptRows: TypeAlias = Rows | PackedRows


def packing(rows: Rows) -> Generator[None, None, KeptRows]:
    """Packs rows, a piece in each step."""
    if rows == NO_ROWS:
        return rows
    every = (*rows.nodes, *rows.rels)
    pieces = []
    for start in range(0, len(every), _PIECE):
        pieces.append(zlib.compress(pickle.dumps(every[start : start + _PIECE], 5), 1))
        yield
    return PackedRows(len(rows.nodes), tuple(pieces))


def unpacked(kept: KeptRows) -> Rows:
    """The rows."""
    if isinstance(kept, Rows):
        return kept
    every: list[Row] = []
    for piece in kept.pieces:
        every += pickle.loads(zlib.decompress(piece))  # noqa: S301 - packed by ourselves, never stored
    return Rows(tuple(every[: kept.nodes]), tuple(every[kept.nodes :]))


class Unpacking:
    """Rows of many units, unpacked one after the other whenever they are read.

    Args:
        units: not changed afterwards.
    """

    def __init__(self, units: Iterable[KeptRows]) -> None:
        self._units = tuple(units)

    def __iter__(self) -> Iterator[Rows]:
        return map(unpacked, self._units)

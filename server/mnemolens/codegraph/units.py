"""A definition by what its own text says, wherever it stands.

A `Unit` depends on nothing but its own text, and all in it is relative to its own start; what was made of it
where it last stood is kept, so that to lay out unchanged units anew costs little.
"""

from collections.abc import Generator, Mapping
from typing import Literal, NamedTuple, TypeVar

from mnemolens.codegraph.languages.base import RawImport
from mnemolens.core.symbols import Call, Position, Range, Symbol, SymbolKind, SymbolRange


class Edge(NamedTuple):
    """A unit's place in the unit that encloses it; rows and bytes are relative to that unit's start.

    Attributes:
        start: of the definition's own node, `outer` of the definition with what wraps it (`export`).
        prefix: dotted names between the enclosing symbol's name and this one's, each followed by a dot.
    """

    unit: "Unit"
    start: tuple[int, int]
    start_byte: int
    outer: tuple[int, int]
    prefix: str
    docstring: str | None


Place = tuple[str, int, int, SymbolKind, str | None]
"""A symbol's qualname, ordinal, parent, kind and documentation: what its own text does not say."""

Twins = Mapping[tuple[str, int], Symbol]
"""Symbols that were known before, by qualname and ordinal: what is equal had better be the same object."""
NO_TWINS: Twins = {}

Start = tuple[int, int, int, int]
"""Row and column at which a definition's own node starts, and at which the whole definition does."""


Elsewhere = Literal["global", "nonlocal", "self"]
"""Where a name is bound that is not bound in the scope whose text says so."""


class Unit:
    """One definition (or the module) by what its own text says, wherever it stands."""

    __slots__ = (
        "_caller", "_calls", "_place", "_ranges", "_start", "_symbol", "based", "bases", "beside", "blob",
        "body_hash", "bound", "calls", "docstring", "edges", "end", "full_hash", "imports", "is_async",
        "kind", "lead", "length", "name", "name_end", "name_start", "owner", "rebinds", "signature",
        "token_count", "type_id",
    )  # fmt: skip

    def __init__(self, kind: SymbolKind, name: str, length: int, type_id: int) -> None:
        self.kind: SymbolKind = kind
        self.name = name
        self.length = length
        self.lead = 0  # bytes of the node before the definition's start: decorators
        self.beside = (
            False  # its node holds what is the enclosing scope's own: decorators, a typedef's struct
        )
        self.type_id = type_id
        self.owner = ""
        self.docstring: str | None = None
        self.signature = ""
        self.is_async = False
        self.bases: tuple[str, ...] = ()
        self.name_start = self.name_end = self.end = (0, 0)
        self.edges: list[Edge] = []
        self.calls: dict[tuple[str, str | None], int] = {}
        self.imports: list[RawImport] = []
        self.bound: frozenset[str] = frozenset()
        self.rebinds: frozenset[tuple[Elsewhere, str]] = frozenset()
        self.based: list[tuple[str, str]] = []
        self.blob = b""
        self.full_hash = self.body_hash = ""
        self.token_count = 0
        # What was made of the unit where it last stood.
        self._symbol: Symbol | None = None
        self._place: Place | None = None
        self._ranges: SymbolRange | None = None
        self._start: Start | None = None
        self._calls: list[Call] | None = None
        self._caller = -1

    def symbol_at(self, place: Place, twins: Twins) -> Symbol:
        """The symbol in this place, or its twin; the same object as long as the place is the same."""
        if self._symbol is None or self._place != place:
            qualname, ordinal, parent, kind, docstring = self._place = place
            self._symbol = Symbol(
                name=self.name,
                qualname=qualname,
                ordinal=ordinal,
                kind=kind,
                parent=parent,
                signature=self.signature,
                docstring=docstring,
                is_async=self.is_async,
                bases=self.bases,
                full_hash=self.full_hash,
                body_hash=self.body_hash,
                token_count=self.token_count,
            )
            twin = twins.get((qualname, ordinal))
            if twin is not None and twin == self._symbol:
                self._symbol = twin
        return self._symbol

    def ranges_at(self, start: Start) -> SymbolRange:
        """Where the symbol stands, when its text starts there."""
        if self._ranges is None or self._start != start:
            row, column, outer_row, outer_column = self._start = start
            a, b, c = self.name_start, self.name_end, self.end
            self._ranges = SymbolRange(
                Range(
                    Position(outer_row, outer_column),
                    Position(row + c[0], c[1] if c[0] else column + c[1]),
                ),
                Range(
                    Position(row + a[0], a[1] if a[0] else column + a[1]),
                    Position(row + b[0], b[1] if b[0] else column + b[1]),
                ),
            )
        return self._ranges

    def calls_from(self, index: int) -> list[Call]:
        """The calls, `index` being the symbol's."""
        if self._calls is None or self._caller != index:
            self._caller = index
            self._calls = [
                Call(index, name, receiver, count) for (name, receiver), count in self.calls.items()
            ]
        return self._calls


def relative(point: tuple[int, int], row: int, column: int) -> tuple[int, int]:
    """A point of the text as seen from another one, `row` and `column`."""
    return (point[0] - row, point[1] - column) if point[0] == row else (point[0] - row, point[1])


_Result = TypeVar("_Result")


def finish(steps: Generator[None, None, _Result]) -> _Result:
    """The result of a generator, all its steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _Result = stop.value
            return result

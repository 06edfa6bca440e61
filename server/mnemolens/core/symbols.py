"""Values of the code graph: positions, symbols, and what one file defines, imports and calls.

A symbol's identity (`SymbolKey`) and content (`Symbol`) never hold a position; where symbols stand is kept
beside them (`FileSymbols.ranges`), so that text moving down a line leaves the symbols equal by value.
"""

import marshal
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern
from typing import Final, Literal, NamedTuple, Self, overload

SymbolKind = Literal[
    "file",
    "class",
    "interface",
    "struct",
    "enum",
    "type",
    "namespace",
    "function",
    "method",
    "method_sig",
    "overload",
    "lambda",
]

CLASS_KINDS: frozenset[str] = frozenset({"class", "interface", "struct", "enum", "type", "namespace"})
METHOD_KINDS: frozenset[str] = frozenset({"method", "method_sig"})
FUNCTION_KINDS: frozenset[str] = frozenset({"function", "method", "method_sig", "overload", "lambda"})


class Position(NamedTuple):
    """A place in a text: 0-based line, and column in UTF-8 bytes from the line's start."""

    line: int
    column: int


class Range(NamedTuple):
    """A half-open stretch of text, `start` included, `end` not."""

    start: Position
    end: Position

    def contains(self, position: Position) -> bool:
        """Whether `position` lies inside, or at the very end (where a caret after a name stands)."""
        return self.start <= position <= self.end


class SymbolKey(NamedTuple):
    """A symbol's identity: POSIX path relative to the top level, dotted lexical name, ordinal among equals.

    The file itself is the key with an empty qualname.
    """

    file: str
    qualname: str
    ordinal: int = 0

    @property
    def id(self) -> str:
        """`path::qualname#ordinal`, the ordinal left out when 0; the bare path for a file."""
        if not self.qualname:
            return self.file
        return f"{self.file}::{self.qualname}" + (f"#{self.ordinal}" if self.ordinal else "")

    @property
    def name(self) -> str:
        """The last part of the dotted name; for a file the last part of its path."""
        return self.qualname.rpartition(".")[2] if self.qualname else self.file.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition, without its position.

    Attributes:
        qualname: dotted path of named lexical scopes.
        ordinal: 0, 1, 2, … among the file's symbols of the same qualname, in text order.
        parent: index in `FileSymbols.symbols` of the enclosing symbol, -1 at the top.
        signature: the definition's head on one line, without body and decorators.
        docstring: the documentation string or the doc comment right above, cleaned; None without.
        bases: names of base classes and implemented interfaces as written (dotted).
        full_hash: sha256 (16 hex) over the definition's tokens, its own name masked.
        body_hash: sha256 (16 hex) over the body's tokens only.
        token_count: how many tokens the whole definition has.
    """

    name: str
    qualname: str
    ordinal: int
    kind: SymbolKind
    parent: int
    signature: str = ""
    docstring: str | None = None
    is_async: bool = False
    bases: tuple[str, ...] = ()
    full_hash: str = ""
    body_hash: str = ""
    token_count: int = 0


class SymbolRange(NamedTuple):
    """Where a symbol stands: the whole definition (decorators excluded), and its name."""

    definition: Range
    name: Range


class PackedRanges(Sequence[SymbolRange]):
    """Ranges as plain numbers, in a tenth of the memory; each is made when it is asked for.

    For the many files that nobody edits.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: "array[int]") -> None:
        self._numbers = numbers  # eight a range: lines and columns in the order of the fields

    @classmethod
    def of(cls, ranges: Iterable[SymbolRange]) -> Self:
        """These ranges, packed."""
        numbers = (number for range_ in ranges for side in range_ for place in side for number in place)
        return cls(array("I", numbers))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """What `to_bytes` gave.

        Raises:
            ValueError: it can't have given these.
        """
        numbers = array("I")
        numbers.frombytes(data)
        if len(numbers) % 8:
            raise ValueError("half a range")
        return cls(numbers)

    def to_bytes(self) -> bytes:
        """All numbers as this machine has them."""
        return self._numbers.tobytes()

    def __len__(self) -> int:
        return len(self._numbers) // 8

    def __iter__(self) -> Iterator[SymbolRange]:
        return (self._at(first) for first in range(0, len(self._numbers), 8))

    @overload
    def __getitem__(self, index: int) -> SymbolRange: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[SymbolRange, ...]: ...

    def __getitem__(self, index: int | slice) -> SymbolRange | tuple[SymbolRange, ...]:
        found = range(0, len(self._numbers), 8)[index]
        return self._at(found) if isinstance(found, int) else tuple(map(self._at, found))

    def _at(self, first: int) -> SymbolRange:
        a, b, c, d, e, f, g, h = self._numbers[first : first + 8]
        return SymbolRange(Range(Position(a, b), Position(c, d)), Range(Position(e, f), Position(g, h)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedRanges):
            return self._numbers == other._numbers
        return isinstance(other, tuple) and tuple(self) == other

    __hash__ = None  # type: ignore[assignment]  # it may equal a tuple, which hashes otherwise


class PackedNames(Sequence[frozenset[str]]):
    """Sets of names, each as the bytes that `marshal` makes of it, in a fifth of the memory.

    For the many files that nobody edits, whose names are asked for when something in them is resolved.
    """

    __slots__ = ("_packed",)

    def __init__(self, packed: tuple[bytes, ...]) -> None:
        self._packed = packed

    @staticmethod
    def pack(names: Iterable[str]) -> bytes:
        """One set of names as bytes; the same ones for equal sets."""
        return marshal.dumps([intern(name) for name in sorted(names)], _WITHOUT_REFERENCES)

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[frozenset[str]]:
        return map(_unpacked_names, self._packed)

    @overload
    def __getitem__(self, index: int) -> frozenset[str]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[frozenset[str], ...]: ...

    def __getitem__(self, index: int | slice) -> frozenset[str] | tuple[frozenset[str], ...]:
        found = self._packed[index]
        return _unpacked_names(found) if isinstance(found, bytes) else tuple(map(_unpacked_names, found))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedNames):
            return self._packed == other._packed
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


_WITHOUT_REFERENCES: Final = 2
"""A version of the format: in later ones the bytes depend on which names are one object."""


@lru_cache(maxsize=4096)
def _unpacked_names(packed: bytes) -> frozenset[str]:
    return frozenset(marshal.loads(packed))  # noqa: S302 - made by `PackedNames.pack`, checked where it is read


Branch = Literal["", "try", "if"]
"""The condition under which an import takes place."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name.

    `from a.b import c as d` in Python is (module "a.b", name "c", alias "d"); `import a.b as x` is
    (module "a.b", name None, alias "x"); `import a.b` has alias "a". TypeScript alike, with `name` "default"
    for default imports and "*" for namespace imports; a re-export has `exported` True.

    Attributes:
        module: as written, leading dots (Python) or ./ and ../ (TypeScript) included.
        scope: index of the symbol whose body holds the import, -1 for the module.
        branch: "" where it always takes place; "try" where it may fail and something else follows; "if" for
            any other condition. Told only where the scope binds the alias more than once.
        after: how many definitions of the alias in the same scope precede it.
        replaced: a later import or definition in the same scope always binds the alias anew.
    """

    module: str
    name: str | None
    alias: str
    scope: int = -1
    exported: bool = False
    branch: Branch = ""
    after: int = 0
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One callee that a symbol's body calls, `count` times.

    Attributes:
        caller: index of the innermost symbol that holds the call, -1 for module level.
        receiver: dotted text before the name ("self", "os.path"; it may start with a call of a plain name,
            "Shop()", "super()"), "" for a bare name, None for any other expression.
    """

    caller: int
    name: str
    receiver: str | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """All that one file's text says about code; equal for equal structure wherever it stands.

    `ranges` runs parallel to `symbols` and does not take part in equality.

    Attributes:
        locals: for each symbol (parallel to `symbols`) the names its own scope binds: parameters,
            assignments, loop and with targets, not nested definitions. They shadow outer names. For a class
            also `self.name` for each attribute that its methods set on the instance.
        module_names: names bound by plain assignment at module level, or elsewhere under `global`.
        partial: the text has a syntax error; the symbols are the last good ones or what could be recovered.
    """

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    locals: Sequence[frozenset[str]] = ()
    module_names: frozenset[str] = frozenset()
    partial: bool = False
    ranges: Sequence[SymbolRange] = field(default=(), compare=False)


def apart(before: Sequence[Symbol], after: Sequence[Symbol]) -> tuple[Sequence[Symbol], Sequence[Symbol]]:
    """What of two states of a file may differ: both without the same objects at their beginning and end."""
    most = min(len(before), len(after))
    above = next((at for at in range(most) if before[at] is not after[at]), most)
    below = next((at for at in range(most - above) if before[-1 - at] is not after[-1 - at]), most - above)
    return before[above : len(before) - below], after[above : len(after) - below]


def shared(after: FileSymbols, before: FileSymbols) -> FileSymbols:
    """`after`, with the symbols of `before` that are equal: to compare the same objects costs nothing."""
    known = {(one.qualname, one.ordinal): one for one in before.symbols}
    twins = (known.get((one.qualname, one.ordinal)) for one in after.symbols)
    symbols = tuple(
        one if twin is None or twin != one else twin for one, twin in zip(after.symbols, twins, strict=True)
    )
    return replace(after, symbols=symbols)


Confidence = Literal["scope", "import", "self", "super", "class", "name"]
"""The rule that resolved a reference. `name` is merely a project-wide unique name: hidden by default."""


class Reference(NamedTuple):
    """An identifier in the text that may refer to a symbol.

    Attributes:
        range: of the identifier itself.
        name: the identifier.
        receiver: as in `Call`.
        scope: index of the innermost symbol whose body holds it, -1 for the module.
        imported: where the identifier stands in an import, (module, name) as in `Import`: it means what that
            import brings, whatever else has its name in the file.
    """

    range: Range
    name: str
    receiver: str | None
    scope: int
    imported: tuple[str, str | None] | None = None


class Resolved(NamedTuple):
    """What a reference refers to, and by which rule."""

    key: SymbolKey
    confidence: Confidence

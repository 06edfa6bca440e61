"""Values of the code graph: positions, symbols, and what one file defines, imports and calls.

A symbol's identity (`SymbolKey`) and content (`Symbol`) never hold a position; where symbols stand is kept
beside them (`FileSymbols.ranges`), so that text moving down a line leaves the symbols equal by value.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
    locals: tuple[frozenset[str], ...] = ()
    module_names: frozenset[str] = frozenset()
    partial: bool = False
    ranges: tuple[SymbolRange, ...] = field(default=(), compare=False)


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

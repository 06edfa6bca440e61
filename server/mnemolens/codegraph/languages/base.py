"""What a language table says: which nodes define, call, import, bind, and what of the text is layout.

The walk (`codegraph.extract`) knows only these values. A language is a module beside this one that holds one
`Language`; adding a language is adding such a module and its truth test.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import tree_sitter
from tree_sitter import Node

from mnemolens.codegraph.comments import LineComments, Reading, shortened
from mnemolens.core.symbols import Branch, SymbolKind

RAISES = frozenset({"raise_statement", "throw_statement", "throw_expression"})
"""Nodes that raise or throw, as most grammars call them."""

BRANCHES = frozenset(
    {
        "if_statement",
        "elif_clause",
        "if_expression",
        "unless",
        "while_statement",
        "while_expression",
        "for_statement",
        "for_in_statement",
        "for_expression",
        "foreach_statement",
        "enhanced_for_statement",
        "except_clause",
        "catch_clause",
        "case_clause",
        "switch_case",
        "expression_case",
        "type_case",
        "communication_case",
        "match_arm",
        "when_entry",
    }
)
"""Conditions, loops, cases and handlers, as most grammars call them."""

MAX_WRAPPERS = 8
"""How many brackets or casts may stand around a function that is bound to a name."""


class Definition(NamedTuple):
    """What a table's `define` hook says about a node that defines a symbol.

    Attributes:
        name: the symbol's own part of the qualified name.
        name_node: where the name stands; the node itself for nameless definitions ("default").
        parts: the nodes whose leaves are the definition's tokens, in text order.
        body: the one of `parts` that is the body, or None.
        first: the node whose start is the definition's start, if not the node itself.
        docstring: documentation inside the definition.
        silent: a node whose leaves are no tokens (a docstring).
        outside: nodes to be read as the enclosing scope's own (decorators).
        owner: dotted names under which the definition itself says that it stands, with a dot at the end: the
            receiver's type of a Go method, the class in C++'s `Shop::pay`.
        bound: names that the head binds, beyond those that reading `parts` finds.
    """

    kind: SymbolKind
    name: str
    name_node: Node
    parts: list[Node]
    body: Node | None = None
    is_async: bool = False
    bases: tuple[str, ...] = ()
    docstring: str | None = None
    silent: Node | None = None
    first: Node | None = None
    outside: tuple[Node, ...] = ()
    owner: str = ""
    bound: frozenset[str] = frozenset()


class RawImport(NamedTuple):
    """An import before its scope is known; see `core.symbols.Import`."""

    module: str
    name: str | None
    alias: str
    exported: bool = False
    branch: Branch = ""
    after: int = 0
    replaced: bool = False


class Facts:
    """What one scope's own text says, nested definitions left out."""

    __slots__ = (
        "attributes", "based", "bound", "calls", "imports", "module_wide", "outer", "repeated", "types",
    )  # fmt: skip

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str | None], int] = {}
        self.imports: list[RawImport] = []
        self.bound: set[str] = set()
        self.outer: set[str] = set()
        """Names declared `nonlocal`: bound in a function around."""
        self.module_wide: set[str] = set()
        """Names declared `global`."""
        self.attributes: set[str] = set()
        """Attributes set on the instance (`self.name = …`)."""
        self.based: list[tuple[str, str]] = []
        """Names of classes, each with a base that is told beside it (Rust's `impl Named for Cart`).

        Both may begin with `self.` and `super.`: in the module around, in the one around that."""
        self.repeated = ""
        """The type of the last constant, which those without a value have too."""
        self.types: dict[str, set[str]] = {}
        """What is said of the type of a name, or of `self.name`: ":Type", "=expression", "?" for unknown."""

    def say(self, name: str, declared: str | None, value: str | None = "?") -> None:
        """Note a name's declared type or its value, written as a receiver; None says nothing of it."""
        said = f":{declared}" if declared else value if value in {None, "?"} else f"={value}"
        if said:
            self.types.setdefault(name, set()).add(said)

    def typed(self) -> tuple[set[str], set[str]]:
        """("name Type" or "name =expression" where that is sure, the same and "name ?" of attributes)."""
        names: set[str] = set()
        attributes: set[str] = set()
        elsewhere = self.outer | self.module_wide
        for name, said in self.types.items():
            known = [item for item in said if item.startswith(":")] or list(said)
            of_self = name.startswith("self.")
            if len(known) == 1 and known[0] != "?" and name not in elsewhere:
                meant = known[0].removeprefix(":")
                if of_self:
                    meant = self._outside(meant)
                (attributes if of_self else names).add(f"{name.removeprefix('self.')} {meant}")
            elif of_self:
                attributes.add(f"{name.removeprefix('self.')} ?")
        return names, attributes

    def _outside(self, meant: str) -> str:
        """What is said of an attribute's type, as it is understood outside this scope."""
        head = meant.removeprefix("=").partition(".")[0].removesuffix("()")
        if not meant.startswith("=") or head not in self.bound or head in {"self", "this"}:
            return meant
        declared = [item for item in self.types.get(head, ()) if item.startswith(":")]
        return declared[0][1:] if len(declared) == 1 and meant == f"={head}" else "?"

    def call(self, name: str, receiver: str | None) -> None:
        """Count one call."""
        key = (name, receiver)
        self.calls[key] = self.calls.get(key, 0) + 1


@dataclass(frozen=True, slots=True)
class Rule:
    """What to do at a node of one type, besides reading its children.

    Attributes:
        define: says whether and how the node defines a symbol.
        scope: a name under which all inside is named, without being a symbol (a bound object literal).
        visit: records calls, imports and bindings.
        wraps: (definition node in it, node at which that definition's range starts), for `export`.
    """

    define: Callable[[Node], Definition | None] | None = None
    scope: Callable[[Node], str | None] | None = None
    visit: Callable[[Node, Facts], None] | None = None
    wraps: Callable[[Node], tuple[Node, Node] | None] | None = None


class Mention(NamedTuple):
    """What a leaf refers to: a name with its receiver, and in an import what that brings (`Reference`)."""

    name: str
    receiver: str | None
    imported: tuple[str, str | None] | None = None


def as_it_is(source: bytes) -> bytes:
    """`source` itself: a grammar that reads all of its language."""
    return source


def _no_branch(node: Node) -> Branch:
    del node
    return ""


class Skip:
    """Action for comments: no tokens."""


class Atom:
    """Action for nodes that count as one leaf whatever stands in them."""


class Prose(Atom):
    """As `Atom`, white space joined; nothing where there is nothing else (text between JSX tags)."""


class Stop:
    """Action for what is no node, but is met by the walk as if it were one."""


_LAST_KIND = 0xFFFF
"""The kind id of what is an error; those of a grammar are far smaller."""
STOP_KIND = _LAST_KIND - 1

SKIP, ATOM, PROSE, STOP = Skip(), Atom(), Prose(), Stop()
Action = Rule | Skip | Atom | Stop | bytes


class Grammar(NamedTuple):
    """Where a grammar comes from, once it is needed: a wheel's module, and the function in it."""

    module: str
    function: str = "language"

    @property
    def wheel(self) -> str:
        """The package that brings it."""
        return self.module.replace("_", "-")

    def load(self) -> tree_sitter.Language:
        """The grammar.

        Raises:
            ImportError: its wheel is not installed.
        """
        return tree_sitter.Language(getattr(import_module(self.module), self.function)())


@dataclass(frozen=True, eq=False)
class Language:
    """One language's table.

    Attributes:
        name: as stored in `FileSymbols.language`.
        lsp_ids: the protocol's language ids for it.
        extensions: file name ends, with the dot.
        file_names: whole names of files.
        setting: the choice of `index.languages` that brings it; the name, if not given.
        grammar: where its grammar comes from.
        rules: node type -> rule.
        comments, atoms, prose: node types.
        methods_in_classes: a function right in a class or named under one (`Rule.scope`) is a "method".
        doc_comments: a `/** … */` right above a definition documents it.
        doc_lines: how a line comment begins that documents the definition right below it.
        folds_signatures: a declaration without a body is one with a later definition of its name.
        shallow: names are followed within their file only, without imports.
        references: leaf types that can refer to a symbol.
        reference: what such a leaf mentions, None where it refers to nothing.
        line_comments: what line comments look like, where long runs of them are slow to parse.
        mended: puts valid text that the grammar can't read in a form that it can: as long as before, every
            byte in its place. It depends on the text alone.
        branch: whether what stands in a node takes place always ("") or on a condition.
        always_ends: no parse of it ever got stuck (tests/bench/fuzz.py): not to watch it saves 7 %.
        raises, branches: node types for an outline.
        raising: what is called, without a receiver, to raise.
        frames: texts to put around a snippet, by symbol kind, so that it parses alone.
    """

    name: str
    lsp_ids: tuple[str, ...]
    extensions: tuple[str, ...]
    grammar: Grammar
    rules: Mapping[str, Rule]
    comments: frozenset[str]
    references: frozenset[str]
    reference: Callable[[Node], Mention | None]
    frames: Callable[[SymbolKind], tuple[tuple[str, str], ...]]
    atoms: frozenset[str] = frozenset()
    prose: frozenset[str] = frozenset()
    file_names: tuple[str, ...] = ()
    setting: str = ""
    methods_in_classes: bool = False
    doc_comments: bool = False
    doc_lines: re.Pattern[bytes] | None = None
    folds_signatures: bool = True
    shallow: bool = False
    line_comments: LineComments | None = None
    always_ends: bool = False
    mended: Callable[[bytes], bytes] = as_it_is
    branch: Callable[[Node], Branch] = _no_branch
    raises: frozenset[str] = RAISES
    branches: frozenset[str] = BRANCHES
    raising: frozenset[str] = frozenset()

    @cached_property
    def ts(self) -> tree_sitter.Language:
        """The tree-sitter language."""
        return self.grammar.load()

    @cached_property
    def is_installed(self) -> bool:
        """Whether its grammar's wheel is there."""
        return find_spec(self.grammar.module) is not None

    def parser(self) -> tree_sitter.Parser:
        """A parser of its own for the caller."""
        return tree_sitter.Parser(self.ts)

    def parse(self, source: bytes) -> tree_sitter.Tree:
        """The tree of a whole text, which must be `parseable`; of no text where the parser is stuck in it."""
        parsed, parser = self.mended(shortened(source, self.line_comments)), self.parser()
        if parsed is source and self.always_ends:
            return parser.parse(source)
        tree = self.parse_watched(Reading(source, parsed))
        if parsed is not source or tree is self.no_tree:
            return tree
        # The same tree over the bytes themselves, which nodes read their text from several times as quickly.
        return parser.parse(source) if tree.root_node.has_error else parser.parse(source, tree)

    def parse_watched(self, reading: Reading) -> tree_sitter.Tree:
        """The tree of what is read, other threads running meanwhile; of no text where the parser is stuck."""

        def halt(offset: int, _has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter calls it so)
            return reading.is_stuck(offset)

        try:
            tree = self.parser().parse(reading, progress_callback=halt)
        except ValueError:
            return self.no_tree
        reading.done()
        return tree

    @cached_property
    def no_tree(self) -> tree_sitter.Tree:
        """The tree of no text; `is_partial` where it stands for one."""
        return self.parser().parse(b"")

    @cached_property
    def actions(self) -> dict[int, Action]:
        """Kind id -> action; kinds without one are plain: their children are read, a leaf is its text."""
        found: dict[int, Action] = {}
        language = self.ts
        for kind in range(language.node_kind_count):
            name = language.node_kind_for_id(kind)
            if name is None:
                continue
            if not language.node_kind_is_named(kind):
                # Fixed tokens need no look at the text: half of all leaves. Some grammars count line ends.
                if not name.strip("\r\n\0"):
                    found[kind] = SKIP
                elif language.node_kind_is_visible(kind) and name not in self.atoms:
                    found[kind] = name.encode()
            elif name in self.comments:
                found[kind] = SKIP
            elif name in self.prose:
                found[kind] = PROSE
            elif name in self.atoms:
                found[kind] = ATOM
            elif name in self.rules:
                found[kind] = self.rules[name]
        return found

    @cached_property
    def actions_by_kind(self) -> list[Action | None]:
        """The same by kind id: the quickest look-up there is, a million times a second."""
        found: list[Action | None] = [None] * (_LAST_KIND + 1)
        for kind, action in self.actions.items():
            found[kind] = action
        found[STOP_KIND] = STOP
        return found

    @cached_property
    def reference_kinds(self) -> frozenset[int]:
        """Kind ids of `references`."""
        language = self.ts
        return frozenset(
            kind
            for kind in range(language.node_kind_count)
            if language.node_kind_for_id(kind) in self.references
        )


def text_of(node: Node | None) -> str:
    """The node's text; empty without a node."""
    text = node.text if node is not None else None
    if not text:
        return ""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def is_partial(tree: tree_sitter.Tree, source: bytes) -> bool:
    """Whether the tree is not of all of the text: it has errors, or stands for one that nothing reads."""
    return tree.root_node.has_error or (not tree.root_node.end_byte and bool(source.strip()))


def mentions(node: Node | None, dotted_name: str) -> bool:
    """Whether a node's text holds a dotted name, as whole identifiers."""
    text = text_of(node)
    return (
        dotted_name in text  # seldom, and an expression made for each name is dear
        and re.search(rf"(?<![\w$.]){re.escape(dotted_name)}(?![\w$])", text) is not None
    )


def flatten(parts: list[Node], inner: Node) -> list[Node]:
    """`parts` with the ancestors of `inner` replaced by their children, until `inner` is a part."""
    parts = list(parts)
    while True:
        for index, part in enumerate(parts):
            if part.start_byte <= inner.start_byte and inner.end_byte <= part.end_byte:
                if part == inner or not part.child_count:
                    return parts
                parts[index : index + 1] = part.children
                break
        else:
            return parts

"""From a syntax tree to what a file defines, imports and calls.

The walk is one pass over all leaves, without recursion: each definition becomes a `Unit` that holds all that
its own text says (nested definitions are units of their own), relative to its own start; `layout` makes of
them the file's symbols. Since a unit depends on nothing but its own text, an open document
(`codegraph.document`) keeps the units of unchanged text and still gets what a full extraction would give.

Knows no language (tables do: `codegraph.languages`), reads no files.
"""

import re
import sys
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import cast

from tree_sitter import Node, Tree

from mnemolens.codegraph.bindings import put_in_order, rebinds
from mnemolens.codegraph.hashing import Mark, Nested, add_hashes
from mnemolens.codegraph.heads import clean_comment, describe, right_above
from mnemolens.codegraph.languages.base import (
    SKIP,
    STOP,
    STOP_KIND,
    Definition,
    Facts,
    Language,
    Prose,
    Rule,
    is_partial,
)
from mnemolens.codegraph.layout import assemble
from mnemolens.codegraph.units import Edge, Unit, finish, relative
from mnemolens.core.symbols import FileSymbols

EXTRACTOR_VERSION = 11
"""Goes up when the same text would give other symbols: caches made by another version are void."""

MAX_DEPTH = 100
"""Definitions nested deeper than this are no symbols (only generated text nests so deep)."""

_STEP = 2000
"""Nodes read in one step."""

_DEFINITION = 40
"""How many plain nodes it takes as long to read as the head of one definition."""

_WIDE = 1000
"""A node with more children is not read at once."""

_LONE_CR = re.compile(rb"\r(?!\n)")
_ANY_ROW = sys.maxsize
"""The row of a comment that documents what follows at any distance."""


class _Stop:
    """What is reached once all before it is read: the walk meets it as it meets a node."""

    kind_id = STOP_KIND

    def as_node(self) -> Node:
        """Itself, as what it passes for on the stack: to tell the two apart there would cost time."""
        return cast("Node", self)


_BODY, _END_OF_BODY, _END_OF_SCOPE = _Stop().as_node(), _Stop().as_node(), _Stop().as_node()


class _Wide(_Stop):
    """The children of a wide node that are still to be read: all at once would hold the loop too long."""

    def __init__(self, node: Node) -> None:
        self._children = _one_by_one(node)

    def some(self) -> list[Node]:
        """The next ones, last first; none after the last."""
        return [*islice(self._children, _WIDE)][::-1]


def _one_by_one(node: Node) -> Iterator[Node]:
    """With a cursor: in an error, whose children lie flat, `child` counts from the first one each time."""
    cursor = node.walk()
    going = cursor.goto_first_child()
    while going:
        child = cursor.node
        assert child is not None
        yield child
        going = cursor.goto_next_sibling()


_Made = tuple[Unit, list[bytes], Nested, Mark | None, Mark | None]
"""A unit that was read, its own tokens, the units in it, where its body begins and ends."""
Todo = tuple[Unit, list[Node], Node | None, frozenset[int], int]
"""A unit to read: what is in it, last first; the node it starts at (None: the text), silent nodes, depth."""
Known = Mapping[tuple[int, int, int], Unit]
"""Units that may be used again, by (start byte, length, kind id) of their node in the new text."""


class Walk:
    """One extraction: makes the unit of a node and the units in it.

    Attributes:
        known: units of the text before, to be used again where their node is met.
    """

    def __init__(self, language: Language, source: bytes, known: Known | None = None) -> None:
        self.language = language
        self.source = source
        self.known: Known = known or {}

    def module(self, root: Node, *, with_tokens: bool = False) -> Unit:
        """The unit of a whole file; its own tokens and hashes only `with_tokens`."""
        return finish(self.steps(root, with_tokens=with_tokens))

    def steps(self, root: Node, *, with_tokens: bool = False) -> Generator[None, None, Unit]:
        """As `module`, as a generator that can be left at any of its steps, a few milliseconds each."""
        unit = Unit("file", "", root.end_byte, root.kind_id)
        todo: list[Todo] = [(unit, [root], None, frozenset(), 0)]
        made: list[_Made] = []
        while todo:
            made.append((yield from self._read(todo)))
            yield
        for item in reversed(made):
            if with_tokens or item[0] is not unit:
                add_hashes(*item)
            if self.language.folds_signatures:
                _fold(item[0])
            yield
        return unit

    def _read(  # noqa: C901, PLR0912, PLR0915  (the one hot loop: calls cost more than length)
        self, todo: list[Todo]
    ) -> "Generator[None, None, _Made]":
        """Read one unit's own text; definitions in it are put on `todo`."""
        unit, stack, base, silent, depth = todo.pop()
        source, actions = self.source, self.language.actions_by_kind
        doc_comments, doc_lines = self.language.doc_comments, self.language.doc_lines
        if base is None:
            base_byte = base_row = base_column = 0
        else:
            base_byte = base.start_byte
            base_row, base_column = base.start_point
        facts = Facts()
        parts: list[bytes] = []
        add = parts.append
        nested: Nested = []
        body_start: Mark | None = None
        body_end: Mark | None = None
        prefix = ""
        prefixes: list[str] = []
        wrapper: tuple[Node, Node] | None = None
        wrapped_at = 0
        doc: list[str] = []
        doc_mark, doc_row = -1, _ANY_ROW
        edges, known = unit.edges, self.known
        # Of each import and each edge its node, and of an import how many edges there were before it.
        imports, places, nodes = facts.imports, list[tuple[Node, int]](), list[Node]()
        left = _STEP
        pop, push, extend = stack.pop, stack.append, stack.extend
        while stack:
            node = pop()
            action = actions[node.kind_id]
            if type(action) is bytes:
                add(action)
                continue
            if action is None:
                if count := node.child_count:
                    if count > _WIDE:
                        push(_Wide(node).as_node())
                        continue
                    if count == 1:
                        push(node.child(0))
                    else:
                        extend(node.children[::-1])
                    left -= count
                    if left <= 0:
                        left = _STEP
                        yield
                elif token := source[node.start_byte : node.end_byte]:
                    add(token)
                continue
            if type(action) is Rule:
                if action.visit is not None:
                    action.visit(node, facts)
                    while len(places) < len(imports):
                        places.append((node, len(edges)))
                if action.wraps is not None:
                    wrapper, wrapped_at = action.wraps(node), len(edges)
                if action.define is not None and depth < MAX_DEPTH:
                    child = None
                    if known:
                        start_byte = node.start_byte
                        child = known.get((start_byte, node.end_byte - start_byte, node.kind_id))
                    first = node
                    outside: tuple[Node, ...] = ()
                    if child is None or child.lead or child.beside:
                        definition = action.define(node)
                        if definition is None:
                            child = None
                        else:
                            first = definition.first or node
                            outside = definition.outside
                            if child is None:
                                start_byte = node.start_byte
                                length = node.end_byte - start_byte
                                child = Unit(definition.kind, definition.name, length, node.kind_id)
                                child.lead = first.start_byte - start_byte
                                child.beside = bool(outside)
                                describe(child, definition, first, node, source, self.language)
                                todo.append(_opened(child, definition, first, depth + 1))
                    if child is not None:
                        left -= _DEFINITION
                        start_byte = node.start_byte
                        outer = point = first.start_point
                        if wrapper is not None and wrapper[0] == node and wrapped_at == len(edges):
                            outer = wrapper[1].start_point
                        docstring = None
                        if doc and right_above(parts, doc_mark, outer[0] - doc_row):
                            docstring = "\n".join(doc).strip()
                        doc = []
                        edges.append(
                            Edge(
                                child,
                                relative(point, base_row, base_column),
                                start_byte + child.lead - base_byte,
                                relative(outer, base_row, base_column),
                                prefix + child.owner,
                                docstring,
                            )
                        )
                        nodes.append(node)
                        nested.append((len(parts), child))
                        if outside:
                            extend(outside[::-1])
                        if left <= 0:
                            left = _STEP
                            yield
                        continue
                if silent and node.id in silent:
                    continue
                if action.scope is not None and (name := action.scope(node)) is not None:
                    prefixes.append(prefix)
                    prefix = f"{prefix}{name}."
                    push(_END_OF_SCOPE)
                count = node.child_count
                if count > _WIDE:
                    push(_Wide(node).as_node())
                else:
                    extend(node.children[::-1])
                    left -= count
                    if left <= 0:
                        left = _STEP
                        yield
                continue
            if action is STOP:
                stop: object = node
                if isinstance(stop, _Wide):
                    if some := stop.some():
                        push(node)
                        extend(some)
                        left -= len(some)
                        if left <= 0:
                            left = _STEP
                            yield
                elif node is _BODY:
                    body_start = len(parts), len(nested)
                elif node is _END_OF_BODY:
                    body_end = len(parts), len(nested)
                else:
                    prefix = prefixes.pop()
                continue
            if action is SKIP:
                text = source[node.start_byte : node.end_byte]
                if doc_comments and text.startswith(b"/**"):
                    doc, doc_mark, doc_row = [clean_comment(text)], len(parts), _ANY_ROW
                elif doc_lines is not None and text[:1] != b"\n":
                    row, column = node.start_point
                    if row != doc_row + 1 or doc_mark != len(parts):
                        doc = []
                    mark = doc_lines.match(text)
                    if (
                        mark and not source[node.start_byte - column : node.start_byte].strip()
                    ):  # not behind code
                        doc.append(text[mark.end() :].decode("utf-8", "replace").rstrip())
                    doc_mark, doc_row = len(parts), row
                continue
            token = source[node.start_byte : node.end_byte]
            if type(action) is Prose:
                token = b" ".join(token.split())
            if token:
                add(token)
        unit.calls = facts.calls
        unit.based = facts.based
        if imports:
            put_in_order(imports, places, edges, nodes, base_byte, self.language)
            unit.imports = imports
        types, attributes = facts.typed() if facts.types else (_NONE, _NONE)
        unit.bound |= (facts.bound - facts.outer - facts.module_wide) | types
        if facts.outer or facts.module_wide or facts.attributes or attributes:
            unit.rebinds = rebinds(facts, edges) | {("self", item) for item in attributes}
        return unit, parts, nested, body_start, body_end


_NONE: frozenset[str] = frozenset()


def _opened(unit: Unit, definition: Definition, first: Node, depth: int) -> Todo:
    """A definition as something to read."""
    parts, body = definition.parts, definition.body
    stack = parts[::-1]
    if body is not None and body in parts:
        at = parts.index(body)
        stack = [*parts[:at:-1], _END_OF_BODY, body, _BODY, *parts[:at][::-1]]
    silent = frozenset((definition.silent.id,)) if definition.silent is not None else frozenset[int]()
    return unit, stack, first, silent, depth


_SIGNATURES = frozenset({"overload", "method_sig"})
_IMPLEMENTATIONS = frozenset({"function", "method"})


def _fold(unit: Unit) -> None:
    """Leave out overload signatures whose implementation follows in the same scope."""
    edges = unit.edges
    if not any(edge.unit.kind in _SIGNATURES for edge in edges):
        return
    kept: list[Edge] = []
    implemented: set[tuple[str, str]] = set()
    for edge in reversed(edges):
        name = (edge.prefix, edge.unit.name)
        if edge.unit.kind in _IMPLEMENTATIONS:
            implemented.add(name)
        elif edge.unit.kind in _SIGNATURES and name in implemented:
            continue
        kept.append(edge)
    kept.reverse()
    unit.edges = kept


def parseable(source: bytes) -> bytes:
    """`source` with every lone carriage return as a newline, so that the parser counts the lines as we do."""
    return _LONE_CR.sub(b"\n", source) if b"\r" in source else source


def extract_tree(tree: Tree, source: bytes, language: Language) -> FileSymbols:
    """The symbols of a parsed text."""
    root = tree.root_node
    return assemble(Walk(language, source).module(root), language, partial=is_partial(tree, source))


def extract(source: bytes, language: Language) -> FileSymbols:
    """The symbols of a text (UTF-8 without byte order mark)."""
    source = parseable(source)
    return extract_tree(language.parse(source), source, language)

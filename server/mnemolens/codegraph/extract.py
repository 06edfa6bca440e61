"""From a syntax tree to what a file defines, imports and calls.

The walk is one pass over all leaves, without recursion: each definition becomes a `Unit` that holds all that
its own text says (nested definitions are units of their own), relative to its own start. `assemble` lays the
units out as `FileSymbols`. Since a unit depends on nothing but its own text, an open document
(`codegraph.document`) keeps the units of unchanged text and still gets what a full extraction would give.

Knows no language (tables do: `codegraph.languages`), reads no files.
"""

import re
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import Literal, NamedTuple, TypeVar, cast

from tree_sitter import Node, Tree

from mnemolens.codegraph.languages.base import (
    SKIP,
    STOP,
    STOP_KIND,
    Definition,
    Facts,
    Language,
    Prose,
    RawImport,
    Rule,
    is_partial,
)
from mnemolens.core.symbols import (
    CLASS_KINDS,
    METHOD_KINDS,
    Branch,
    Call,
    FileSymbols,
    Import,
    Position,
    Range,
    Symbol,
    SymbolKind,
    SymbolRange,
)

EXTRACTOR_VERSION = 11
"""Goes up when the same text would give other symbols: caches made by another version are void."""

MAX_DEPTH = 100
"""Definitions nested deeper than this are no symbols (only generated text nests so deep)."""

MAX_SIGNATURE = 300

_STEP = 2000
"""Nodes read in one step."""

_DEFINITION = 40
"""How many plain nodes it takes as long to read as the head of one definition."""

_UNITS_A_STEP = 500
"""Definitions laid out in one step: about 2 ms."""

_WIDE = 1000
"""A node with more children is not read at once."""

_LONE_CR = re.compile(rb"\r(?!\n)")
_HEAD_ENDS = ("=>", "{", ":")
_COMMENT_MARKS = (b"#", b"//", b"/*")
# What may stand between a doc comment and what it documents.
_MODIFIERS = frozenset(
    (
        b"export default const let var declare async public private protected static readonly abstract"
        b" override function class type"
    ).split()
)
_DECORATORS = frozenset((b"@", b"#", b"template"))
_ANY_ROW = sys.maxsize
"""The row of a comment that documents what follows at any distance."""

_AS_MEMBERS: dict[SymbolKind, SymbolKind] = {"function": "method", "overload": "method_sig"}
_METHOD_HOLDERS = frozenset(("class", "interface", "struct", "enum"))


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


_Place = tuple[str, int, int, SymbolKind, str | None]
"""A symbol's qualname, ordinal, parent, kind and documentation: what its own text does not say."""

Twins = Mapping[tuple[str, int], Symbol]
"""Symbols that were known before, by qualname and ordinal: what is equal had better be the same object."""
NO_TWINS: Twins = {}

_Start = tuple[int, int, int, int]
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
        self._place: _Place | None = None
        self._ranges: SymbolRange | None = None
        self._start: _Start | None = None
        self._calls: list[Call] | None = None
        self._caller = -1

    def symbol_at(self, place: _Place, twins: Twins) -> Symbol:
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

    def ranges_at(self, start: _Start) -> SymbolRange:
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


_Result = TypeVar("_Result")
_Nested = list[tuple[int, Unit]]
"""The units in a unit, each with how many of its own tokens stand before it."""
_Mark = tuple[int, int]
"""A place in a unit's text: how many of its own tokens, and how many units, stand before it."""
_Made = tuple[Unit, list[bytes], _Nested, _Mark | None, _Mark | None]
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
            _finish(*item, with_hashes=with_tokens or item[0] is not unit)
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
        nested: _Nested = []
        body_start: _Mark | None = None
        body_end: _Mark | None = None
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
                                _describe(child, definition, first, node, source, self.language)
                                todo.append(_opened(child, definition, first, depth + 1))
                    if child is not None:
                        left -= _DEFINITION
                        start_byte = node.start_byte
                        outer = point = first.start_point
                        if wrapper is not None and wrapper[0] == node and wrapped_at == len(edges):
                            outer = wrapper[1].start_point
                        docstring = None
                        if doc and _right_above(parts, doc_mark, outer[0] - doc_row):
                            docstring = "\n".join(doc).strip()
                        doc = []
                        edges.append(
                            Edge(
                                child,
                                _relative(point, base_row, base_column),
                                start_byte + child.lead - base_byte,
                                _relative(outer, base_row, base_column),
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
                    doc, doc_mark, doc_row = [_clean_comment(text)], len(parts), _ANY_ROW
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
            _put_in_order(imports, places, edges, nodes, base_byte, self.language)
            unit.imports = imports
        types, attributes = facts.typed() if facts.types else (_NONE, _NONE)
        unit.bound |= (facts.bound - facts.outer - facts.module_wide) | types
        if facts.outer or facts.module_wide or facts.attributes or attributes:
            unit.rebinds = _rebinds(facts, edges) | {("self", item) for item in attributes}
        return unit, parts, nested, body_start, body_end


def _put_in_order(
    imports: list[RawImport],
    places: list[tuple[Node, int]],
    edges: list[Edge],
    nodes: list[Node],
    base_byte: int,
    language: Language,
) -> None:
    """Note what becomes of imports whose alias the same scope binds again, by an import or a definition."""
    times = Counter(item.alias for item in imports if not item.exported)
    defined: dict[str, list[int]] = {}
    for at, edge in enumerate(edges):
        name = edge.prefix + edge.unit.name
        if name in times and edge.unit.kind not in METHOD_KINDS:
            defined.setdefault(name, []).append(at)
    if len(times) == times.total() and not defined:
        return
    replacing: dict[str, list[RawImport]] = {}  # what is always bound further down
    later = {name: list(found) for name, found in defined.items()}
    for at in range(len(imports) - 1, -1, -1):
        item = imports[at]
        name = item.alias
        if item.exported or name == "*" or (times[name] == 1 and name not in defined):
            continue
        node, before = places[at]
        branch = _branch_of(node, base_byte, language)
        definitions = later.get(name, [])
        replaced = any(not _same_package(item, other) for other in replacing.get(name, ()))
        while definitions and definitions[-1] >= before:
            replaced = not _branch_of(nodes[definitions.pop()], base_byte, language) or replaced
            if replaced:
                replacing.setdefault(name, []).append(_NOTHING)
        imports[at] = item._replace(branch=branch, after=len(definitions), replaced=replaced)
        if not branch:
            replacing.setdefault(name, []).append(item)


_NOTHING = RawImport("", "", "")
_NONE: frozenset[str] = frozenset()


def _same_package(first: RawImport, second: RawImport) -> bool:
    """Whether both only bind the top of a dotted module (`import a.b`), and so do not replace each other."""
    return first == second or (
        first.name is None
        and second.name is None
        and all(i.module == i.alias or i.module.startswith(i.alias + ".") for i in (first, second))
    )


def _branch_of(node: Node, base_byte: int, language: Language) -> Branch:
    """The condition under which `node` takes place, within the definition that starts at `base_byte`."""
    found: Branch = ""
    above = node.parent
    while above is not None and (above.start_byte > base_byte or not base_byte):
        branch = language.branch(above)
        if branch == "if":
            return branch
        found = branch or found
        above = above.parent
    return found


def _rebinds(facts: Facts, edges: list[Edge]) -> frozenset[tuple[Elsewhere, str]]:
    """The names that a scope binds elsewhere."""
    bound = facts.bound | {i.alias for i in facts.imports} | {edge.prefix + edge.unit.name for edge in edges}
    found: set[tuple[Elsewhere, str]] = {("self", name) for name in facts.attributes}
    found.update(("global", name) for name in bound & facts.module_wide)
    found.update(("nonlocal", name) for name in bound & facts.outer)
    return frozenset(found)


def _opened(unit: Unit, definition: Definition, first: Node, depth: int) -> Todo:
    """A definition as something to read."""
    parts, body = definition.parts, definition.body
    stack = parts[::-1]
    if body is not None and body in parts:
        at = parts.index(body)
        stack = [*parts[:at:-1], _END_OF_BODY, body, _BODY, *parts[:at][::-1]]
    silent = frozenset((definition.silent.id,)) if definition.silent is not None else frozenset[int]()
    return unit, stack, first, silent, depth


def _relative(point: tuple[int, int], row: int, column: int) -> tuple[int, int]:
    return (point[0] - row, point[1] - column) if point[0] == row else (point[0] - row, point[1])


def _right_above(parts: list[bytes], mark: int, rows: int) -> bool:
    """Whether nothing but modifiers and decorators stands between a doc comment, `rows` above, and here."""
    between = parts[mark:]
    if between and between[0] in _DECORATORS:
        return True
    return rows <= 1 and all(part in _MODIFIERS for part in between)


def _clean_comment(comment: bytes) -> str:
    """The text of a `/** … */` comment without its stars."""
    lines = comment.decode("utf-8", "replace").removeprefix("/**").removesuffix("*/").splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines).strip()


def _describe(
    unit: Unit, definition: Definition, first: Node, node: Node, source: bytes, language: Language
) -> None:
    """Fill in what the definition's head says."""
    row, column = first.start_point
    unit.docstring = definition.docstring
    unit.is_async = definition.is_async
    unit.bases = definition.bases
    unit.owner = definition.owner
    unit.bound = definition.bound
    unit.name_start = _relative(definition.name_node.start_point, row, column)
    name_node = definition.name_node
    unit.name_end = unit.name_start if name_node == node else _relative(name_node.end_point, row, column)
    # In broken text a name may reach further than what is clipped.
    unit.end = max(_relative(_clipped_end(node, language), row, column), unit.name_end)
    body = definition.body
    stop = body.start_byte if body is not None else node.end_byte
    head = source[first.start_byte : min(stop, first.start_byte + 4 * MAX_SIGNATURE)]
    if any(mark in head for mark in _COMMENT_MARKS):
        head = _without_comments(head, first, node, language)
    text = " ".join(head.decode("utf-8", "replace").split())
    for end in _HEAD_ENDS:
        text = text.removesuffix(end).rstrip()
    unit.signature = text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def _without_comments(head: bytes, first: Node, node: Node, language: Language) -> bytes:
    """The head, a comment in it as what parts its neighbours: it is no part of the signature."""
    base, end = first.start_byte, first.start_byte + len(head)
    pieces, at = [], 0
    todo = [node]
    while todo:
        for child in todo.pop().children:
            start = child.start_byte - base
            if child.start_byte >= end:
                break
            if child.end_byte <= base:
                continue  # a decorator: the head begins behind it
            if child.type in language.comments:
                pieces.append((start, child.end_byte - base))
            elif child.child_count:
                todo.append(child)
    kept = b""
    for start, stop in sorted(pieces):
        kept = _parted(kept, head[at:start])
        at = stop
    return _parted(kept, head[at:])


_OPENING, _CLOSING = (b"(", b"[", b"{", b"<"), (b")", b"]", b"}", b">", b",", b";", b":")


def _parted(left: bytes, right: bytes) -> bytes:
    """Both with a blank between them, where one would be written."""
    left, right = left.rstrip(), right.lstrip()
    if not left or left.endswith(_OPENING) or right.startswith(_CLOSING):
        return left + right
    return left + b" " + right


def _clipped_end(node: Node, language: Language) -> tuple[int, int]:
    """Where the definition's last token ends: a block extends over comments that trail it."""
    current = node
    while (count := current.child_count) > 0:
        for at in range(count - 1, -1, -1):
            last = current.child(at)
            assert last is not None
            if last.type not in language.comments and last.end_byte > last.start_byte:
                current = last
                break
        else:
            break
    return current.end_point


def _framed(tokens: list[bytes]) -> bytes:
    """Tokens as one text in which each can be found: NUL before, SOH after each."""
    return b"\0" + b"\1\0".join(tokens) + b"\1" if tokens else b""


def _blob(parts: list[bytes], nested: _Nested, start: _Mark, end: _Mark) -> tuple[bytes, int]:
    """The framed tokens of own text and nested units between two places, and their number."""
    at, count = start[0], end[0] - start[0]
    if start[1] == end[1]:
        return _framed(parts[at : end[0]]), count
    pieces: list[bytes] = []
    for place, unit in nested[start[1] : end[1]]:
        pieces.append(_framed(parts[at:place]))
        pieces.append(unit.blob)
        count += unit.token_count
        at = place
    pieces.append(_framed(parts[at : end[0]]))
    return b"".join(pieces), count


def digest(blob: bytes) -> str:
    """16 hex digits of sha256."""
    return sha256(blob).hexdigest()[:16]


def _finish(
    unit: Unit,
    parts: list[bytes],
    nested: _Nested,
    body_start: _Mark | None,
    body_end: _Mark | None,
    *,
    with_hashes: bool,
) -> None:
    """Everything that needs the nested units: hashes."""
    if with_hashes:
        first, last = (0, 0), (len(parts), len(nested))
        if body_start is None:
            # Without a body, what follows the name stands for it.
            name = unit.name.encode()
            behind = parts.index(name) + 1 if name in parts else 0
            body_start = behind, sum(place < behind for place, _ in nested)
        if body_end is None:
            body_end = last
        head, head_count = _blob(parts, nested, first, body_start)
        body, body_count = _blob(parts, nested, body_start, body_end)
        tail, tail_count = _blob(parts, nested, body_end, last)
        unit.blob = head + body + tail
        unit.token_count = head_count + body_count + tail_count
        masked = unit.blob.replace(b"\0%b\1" % unit.name.encode(), b"\0\1")
        unit.full_hash = digest(masked)
        unit.body_hash = digest(body)


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


def assemble(root: Unit, language: Language, *, partial: bool) -> FileSymbols:
    """Lay the units out as the file's symbols, in text order."""
    return finish(assembling(root, language, partial=partial))


def finish(steps: Generator[None, None, _Result]) -> _Result:
    """The result of a generator, all its steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _Result = stop.value
            return result


def assembling(
    root: Unit, language: Language, *, partial: bool, twins: Twins = NO_TWINS
) -> Generator[None, None, FileSymbols]:
    """As `assemble`, as a generator that can be left at any of its steps.

    Args:
        root: the unit of the whole file.
        language: its language.
        partial: whether the text has a syntax error.
        twins: they stand in the places of symbols that are equal.
    """
    symbols: list[Symbol] = []
    ranges: list[SymbolRange] = []
    bound: list[frozenset[str]] = []
    units: list[Unit] = []
    elsewhere: list[int] = []
    imports = [_import(item, -1) for item in root.imports]
    calls = list(root.calls_from(-1))
    seen: dict[str, int] = {}
    methods = language.methods_in_classes
    # (edge, parent's index, parent's qualname and a dot, parent is a class, parent's start)
    stack: list[tuple[Edge, int, str, bool, int, int]] = [
        (edge, -1, "", False, 0, 0) for edge in reversed(root.edges)
    ]
    while stack:
        edge, parent, path, in_class, row, column = stack.pop()
        if not len(symbols) % _UNITS_A_STEP:
            yield
        unit = edge.unit
        qualname = f"{path}{edge.prefix}{unit.name}"
        ordinal = seen.get(qualname, 0)
        seen[qualname] = ordinal + 1
        kind = unit.kind
        if methods and (in_class or edge.prefix):
            kind = _AS_MEMBERS.get(kind, kind)
        index = len(symbols)
        symbols.append(
            unit.symbol_at((qualname, ordinal, parent, kind, unit.docstring or edge.docstring), twins)
        )
        down, right = edge.start
        outer_down, outer_right = edge.outer
        own_row, own_column = row + down, right if down else column + right
        outer_column = outer_right if outer_down else column + outer_right
        ranges.append(unit.ranges_at((own_row, own_column, row + outer_down, outer_column)))
        bound.append(unit.bound)
        units.append(unit)
        if unit.rebinds or unit.based:
            elsewhere.append(index)
        if unit.imports:
            imports += [_import(item, index) for item in unit.imports]
        if unit.calls:
            calls += unit.calls_from(index)
        if unit.edges:
            inside = kind in _METHOD_HOLDERS
            path = qualname + "."
            stack += [(e, index, path, inside, own_row, own_column) for e in reversed(unit.edges)]
    if scopes := [(at, unit) for at in (*elsewhere, -1) if (unit := units[at] if at >= 0 else root).based]:
        _add_bases(scopes, symbols, bound)
    module_names = root.bound
    for index in elsewhere:
        module_names |= _bind_elsewhere(index, symbols, units, bound)
    return FileSymbols(
        language=language.name,
        symbols=tuple(symbols),
        imports=tuple(imports),
        calls=tuple(calls),
        locals=tuple(bound),
        module_names=module_names,
        partial=partial,
        ranges=tuple(ranges),
    )


def _add_bases(scopes: list[tuple[int, Unit]], symbols: list[Symbol], bound: list[frozenset[str]]) -> None:
    """Add to classes the bases that the text of a scope around them tells."""
    places = {symbol.qualname: at for at, symbol in enumerate(symbols) if not symbol.ordinal}

    def found(written: str, scope: int) -> int | None:
        path, name = _told_from(written, scope, symbols)
        at = places.get(path + name)
        while at is None and name == written and scope >= 0 and name not in bound[scope]:
            scope = symbols[scope].parent
            at = places.get((symbols[scope].qualname + "." if scope >= 0 else "") + name)
        return at

    for scope, unit in scopes:
        for name, base in unit.based:
            at = found(name, scope)
            if at is None or symbols[at].kind not in CLASS_KINDS:
                continue
            there = found(base, scope) if symbols[at].parent != scope else None
            whole = base if there is None else symbols[there].qualname
            if whole not in symbols[at].bases:
                symbols[at] = replace(symbols[at], bases=(*symbols[at].bases, whole))


_RELATIVE = ("self.", "super.")
"""How a name begins that is looked up in the module around, or in the one around that, and nowhere else."""


def _told_from(name: str, scope: int, symbols: list[Symbol]) -> tuple[str, str]:
    """The dotted name, with a dot, of the scope in which a name is to be looked up; what is left of the name.

    A name that leads out of the file is left as it is.
    """
    at, rest = scope, name
    while rest.startswith(_RELATIVE):
        head, _, rest = rest.partition(".")
        at = _module_around(at, symbols)
        if head == "super":
            if at < 0:
                return "", name
            at = _module_around(symbols[at].parent, symbols)
    return symbols[at].qualname + "." if at >= 0 else "", rest


def _module_around(at: int, symbols: list[Symbol]) -> int:
    while at >= 0 and symbols[at].kind != "namespace":
        at = symbols[at].parent
    return at


def _import(item: RawImport, scope: int) -> Import:
    return Import(
        item.module, item.name, item.alias, scope, item.exported, item.branch, item.after, item.replaced
    )


def _bind_elsewhere(
    index: int, symbols: list[Symbol], units: list[Unit], bound: list[frozenset[str]]
) -> set[str]:
    """Add to `bound` what the scope `index` binds in scopes around it, and return what in the module."""
    module_names = set()
    for where, name in units[index].rebinds:
        at = _binder(where, name, index, symbols, units)
        if at is None:
            module_names.add(name)
        elif at >= 0:
            # An attribute is no name of the class's body: the prefix keeps them apart.
            bound[at] |= {f"self.{name}" if where == "self" else name}
    return module_names


def _binder(where: Elsewhere, name: str, index: int, symbols: list[Symbol], units: list[Unit]) -> int | None:
    """The scope in which a name that the scope `index` rebinds is bound; None the module, -1 no scope."""
    if where == "global":
        return None
    at = symbols[index].parent
    while at >= 0:
        unit = units[at]
        if where == "self":
            if symbols[at].kind == "class":
                return at
        elif symbols[at].kind != "class" and (
            name in unit.bound
            or any(item.alias == name for item in unit.imports)
            or any(edge.prefix + edge.unit.name == name for edge in unit.edges)
        ):
            return at
        at = symbols[at].parent
    return -1


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

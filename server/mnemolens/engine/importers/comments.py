"""Finds TODO, FIXME, XXX, HACK and NOTE in comments, and the code that they are about.

Comments are the tree's comment nodes, so that a string that says TODO is none. Knows no language: the tables
say which nodes are comments and which define symbols.

A TODO gets no trigger: its comment already stands before the eyes of whoever changes that code, and a project
has hundreds of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tree_sitter import Node, Point, Query, QueryCursor

from mnemolens.codegraph.extract import extract, parseable
from mnemolens.codegraph.languages.base import Language
from mnemolens.core.memories import MemoryKind
from mnemolens.core.symbols import FileSymbols, Position, SymbolKey
from mnemolens.core.text import to_bytes
from mnemolens.engine.capture import normalised_hash, title_of
from mnemolens.engine.importers.found import Found, Ordinals

MAX_TEXT = 4_000
"""A comment's text is cut here: what goes on longer is documentation or dead code."""

_KINDS: dict[str, tuple[MemoryKind, float]] = {
    "TODO": ("prospective", 0.4),
    "FIXME": ("prospective", 0.5),
    "XXX": ("prospective", 0.5),
    "HACK": ("semantic", 0.5),
    "NOTE": ("semantic", 0.4),
}
"""Type and importance; nothing imported outranks what was written down to be remembered."""

_MARKERS = "|".join(_KINDS)
_ANY_MARKER = re.compile(rf"\b(?:{_MARKERS})\b|@todo\b".encode(), re.IGNORECASE)
_AUTHOR = r"(?:[ ]?\((?P<who>[^()\n]{1,80})\)|[ ]?\[(?P<ref>[^\[\]\n]{1,80})\])?"
_AT_START = re.compile(
    rf"[^\w@]{{0,8}}(?:(?P<marker>{_MARKERS})|@(?P<tag>(?i:todo)))(?=$|[\s:(\[\-\u2013\u2014!,])"
    rf"{_AUTHOR}[\s:,!\-\u2013\u2014]*(?P<text>.*)"
)
_INSIDE = re.compile(rf"(?:^|(?<=[\s;.,#/]))(?P<marker>{_MARKERS}){_AUTHOR}:(?P<tag>)\s*(?P<text>.*)")
_NAME = re.compile(r"@?(?P<name>[^\W\d_][\w.\-]*(?:(?:, ?| )@?[^\W\d_][\w.\-]*){0,3})")
_TICKET = re.compile(r"[A-Z]+-[0-9]+|[a-z]+/[0-9]+")
_OPENING = re.compile(r"^\s*(?:/\*+!?|//+[!/]?|#+!?|<!--|\*(?!/)|--+(?=\s))?")
_CLOSING = re.compile(r"\s*(?:\*+/|-->)\s*$")
_LIST_ITEM = re.compile(r"(?:[-*+\u2022]|[0-9]{1,3}[.)])\s")
_NO_MORE = re.compile(
    r"@\w|[^\w\s]{3,}\s*$|(?:type|pylint|ruff|mypy|fmt|isort|flake8|eslint|prettier|tslint|jshint|stylelint|istanbul"
    r"|c8|biome|v8|webpack\w*)\s*[:-]|noqa\b|nosec\b|pragma\b|ts-(?:ignore|expect|nocheck)|#?(?:end)?region\b"
)
_GAP = re.compile(rb"(?:[\w\s]|@.*)*", re.DOTALL)
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a comment: its number in the file, its words, how far they are indented."""

    number: int
    text: str
    indent: int


@dataclass(frozen=True, slots=True)
class _Block:
    """Comments that are read as one.

    Attributes:
        whole: nothing stands before it on its first line.
    """

    first: Node
    last: Node
    lines: tuple[_Line, ...]
    whole: bool


def has_todo_comments(source: str | bytes) -> bool:
    """Whether the text may hold any: a look that costs no parse."""
    return _ANY_MARKER.search(to_bytes(source)) is not None


def todo_comments(
    file: str, source: str | bytes, language: Language | None, symbols: FileSymbols | None = None
) -> tuple[Found, ...]:
    """The comments in a file that say TODO, FIXME, XXX, HACK or NOTE, in text order.

    The text after the word, and the comment lines right below up to a blank one, a next such word or a
    directive to a tool. May be called on any thread; parsing lets others run.

    Args:
        file: path relative to the top level.
        source: the file's text.
        language: its language; None finds nothing.
        symbols: what the text defines; read from it where not given.
    """
    data = parseable(to_bytes(source))
    if language is None or not has_todo_comments(data):
        return ()
    if symbols is None:
        symbols = extract(data, language)
    owners = _Owners(file, data, language, symbols)
    ordinals = Ordinals()
    return tuple(found for block in _blocks(data, language) for found in _found_in(block, owners, ordinals))


def _found_in(block: _Block, owners: "_Owners", ordinals: Ordinals) -> Iterator[Found]:
    at = 0
    while at < len(block.lines):
        match = _marked(block.lines[at].text)
        start = at
        at += 1
        if match is None:
            continue
        words = [match["text"].strip()]
        while at < len(block.lines) and _goes_on(block.lines[at].text):
            line = block.lines[at]
            new_line = _LIST_ITEM.match(line.text) or line.indent - block.lines[start].indent >= 8
            words.append(("\n" if new_line else " ") + line.text)
            at += 1
        text = "".join(words).strip()
        if not any(c.isalnum() for c in text):
            continue
        if len(text) > MAX_TEXT:
            text = text[: MAX_TEXT - 1].rstrip() + "\u2026"
        marker = (match["marker"] or "TODO").upper()
        symbol, position = owners.of(block)
        kind, importance = _KINDS[marker]
        author, reference = _author(match["who"] or match["ref"])
        yield Found(
            importer="todo",
            line=block.lines[start].number,
            symbol=symbol,
            position=position,
            type=kind,
            title=title_of(text),
            content=text,
            label=marker,
            slot=f"{symbol.qualname}#{symbol.ordinal}",
            tags=(marker.lower(),),
            importance=importance,
            author=author,
            ordinal=ordinals.of(marker, normalised_hash(text)),
            details={"marker": marker} | ({"reference": reference} if reference else {}),
        )


def _marked(line: str) -> re.Match[str] | None:
    return _AT_START.match(line) or _INSIDE.search(line)


def _goes_on(line: str) -> bool:
    return bool(line) and _marked(line) is None and _NO_MORE.match(line) is None


def _author(note: str | None) -> tuple[str | None, str | None]:
    """(who, what else) of the note behind the word: `TODO(ana)`, `TODO(#12)`."""
    note = (note or "").strip()
    named = _NAME.fullmatch(note)
    if named is not None and not _TICKET.fullmatch(note):
        return note.replace("@", ""), None
    return None, note or None


# Comments -------------------------------------------------------------------------------------------------


@cache
def _query(language: Language) -> Query:
    names = sorted(language.comments)
    return Query(language.ts, " ".join(f"({name}) @comment" for name in names))


def _comments(data: bytes, language: Language) -> list[Node]:
    def read(offset: int, _point: Point) -> bytes:
        return data[offset : offset + _CHUNK]

    def on(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter calls it so)
        return False  # the call itself is what lets other threads run

    tree = language.parser().parse(read, progress_callback=on)
    nodes = QueryCursor(_query(language)).captures(tree.root_node).get("comment", [])
    return sorted(nodes, key=lambda node: node.start_byte)


def _blocks(data: bytes, language: Language) -> Iterator[_Block]:
    """The comments, those right below each other joined."""
    group: list[Node] = []
    for node in _comments(data, language):
        if group and not _is_next(group[-1], node, data):
            yield _block(group, data)
            group = []
        group.append(node)
    if group:
        yield _block(group, data)


def _is_next(above: Node, below: Node, data: bytes) -> bool:
    """Whether two comments of one line each stand right below each other, the lower one alone in its line."""
    return (
        above.start_point.row + 1 == below.start_point.row
        and above.start_point.column == below.start_point.column
        and _last_row(above) == above.start_point.row
        and not data.startswith(b"/*", above.start_byte)
        and not data.startswith(b"/*", below.start_byte)
        and _is_whole(below, data)
    )


def _is_whole(node: Node, data: bytes) -> bool:
    return not data[node.start_byte - node.start_point.column : node.start_byte].strip()


def _last_row(node: Node) -> int:
    """The last line that the node has text in: some comments take their line end with them."""
    return node.end_point.row if node.end_point.column else max(node.end_point.row - 1, node.start_point.row)


def _block(nodes: list[Node], data: bytes) -> _Block:
    lines = tuple(line for node in nodes for line in _lines(node))
    return _Block(nodes[0], nodes[-1], lines, _is_whole(nodes[0], data))


def _lines(node: Node) -> Iterable[_Line]:
    raw = (node.text or b"").decode("utf-8", "replace")
    row = node.start_point.row
    for at, line in enumerate(re.split(r"\r\n|\n|\r", raw)):
        body = line[: closing.start()] if (closing := _CLOSING.search(line)) else line
        opening = _OPENING.match(body)
        inner = body[opening.end() :] if opening else body
        yield _Line(row + at, inner.strip(), len(inner) - len(inner.lstrip()))


# Symbols --------------------------------------------------------------------------------------------------


class _Owners:
    """Which symbol a comment is about: the one right below it, else the one it stands in, else the file."""

    def __init__(self, file: str, data: bytes, language: Language, symbols: FileSymbols) -> None:
        self._file = file
        self._data = data
        self._rules = language.rules
        self._symbols = symbols
        self._by_start = {range_.definition.start: at for at, range_ in enumerate(symbols.ranges)}
        self._starts = [range_.definition.start for range_ in symbols.ranges]

    def of(self, block: _Block) -> tuple[SymbolKey, Position | None]:
        """(symbol, a place in it); (file, None) for a comment that is about no symbol."""
        inside = self._around(block.first)
        at = self._below(block, inside) if block.whole else None
        if at is None:
            at = inside
        if at < 0:
            return SymbolKey(self._file, ""), None
        symbol = self._symbols.symbols[at]
        return SymbolKey(self._file, symbol.qualname, symbol.ordinal), self._symbols.ranges[at].name.start

    def _around(self, comment: Node) -> int:
        """The innermost symbol that the comment stands in, -1 for none.

        A definition's range ends with its last code, so a comment at its very end is in the node only.
        """
        position = Position(*comment.start_point)
        best = -1
        for at, (definition, _) in enumerate(self._symbols.ranges):
            if definition.start > position:
                break
            if position < definition.end:
                best = at  # later ones start later: they are the inner ones
        node = comment.parent
        while node is not None:
            rule = self._rules.get(node.type)
            if rule is not None and rule.define is not None:
                own = self._by_start.get(Position(*node.start_point))
                if own is not None:
                    return max(best, own)
            node = node.parent
        return best

    def _below(self, block: _Block, inside: int) -> int | None:
        """The symbol whose definition begins on the next line, None without one."""
        follower = block.last.next_sibling
        if follower is None or follower.start_point.row != _last_row(block.last) + 1:
            return None
        start, end = Position(*follower.start_point), Position(*follower.end_point)
        if start.column != block.first.start_point.column:
            return None
        for at, (definition, _) in enumerate(self._symbols.ranges):
            if definition.start < start:
                continue
            if definition.start > end or self._symbols.symbols[at].parent != inside:
                return None
            gap = self._data[follower.start_byte : self._offset(follower, definition.start)]
            return at if _GAP.fullmatch(gap) else None
        return None

    def _offset(self, node: Node, position: Position) -> int:
        """The byte offset of a position at or behind the node's start."""
        offset = node.start_byte - node.start_point.column
        for _ in range(position.line - node.start_point.row):
            line_end = self._data.find(b"\n", offset)
            offset = line_end + 1 if line_end >= 0 else len(self._data)
        return offset + position.column

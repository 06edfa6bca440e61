"""Finds TODO, FIXME, XXX, HACK and NOTE in comments, and the code that they are about.

Comments are the tree's comment nodes, so that a string that says TODO is none. Knows no language: the tables
say which nodes are comments and which define symbols.

A TODO gets no trigger: its comment already stands before the eyes of whoever changes that code, and a project
has hundreds of them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from tree_sitter import Query, QueryCursor

from mnemolens.codegraph.comments import Reading, shortened
from mnemolens.codegraph.extract import extract, parseable
from mnemolens.codegraph.languages.base import Language
from mnemolens.core.memories import MemoryKind
from mnemolens.core.symbols import FileSymbols, Position, SymbolKey
from mnemolens.core.text import Text, to_bytes
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
_NO_NAMES = frozenset(
    {
        "fix",
        "feat",
        "perf",
        "performance",
        "refactor",
        "docs",
        "doc",
        "test",
        "tests",
        "chore",
        "bug",
        "security",
    }
    | {
        "later",
        "cleanup",
        "optimize",
        "optimization",
        "deprecated",
        "compat",
        "types",
        "typing",
        "style",
        "ci",
    }
)
"""What stands in a name's place and says what kind of work it is."""

_OPENING = re.compile(r"^\s*(?:/\*+!?|//+[!/]?|#+!?|<!--|\*(?!/)|--+(?=\s))?")
_CLOSING = re.compile(r"\s*(?:\*+/|-->)\s*$")
_LIST_ITEM = re.compile(r"(?:[-*+\u2022]|[0-9]{1,3}[.)])\s")
_NO_MORE = re.compile(
    r"@\w|[^\w\s]{3,}\s*$|(?:type|pylint|ruff|mypy|fmt|isort|flake8|eslint|prettier|tslint|jshint|stylelint|istanbul"
    r"|c8|biome|v8|webpack\w*)\s*[:-]|noqa\b|nosec\b|pragma\b|ts-(?:ignore|expect|nocheck)|#?(?:end)?region\b"
)
_WORDS = re.compile(rb"[\w \t]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_TAIL = 200
_DECORATED = 20
"""How many symbols behind a decorator are looked at: its arguments may define some."""


class _Line(NamedTuple):
    """One line of a comment: its number in the file, its words, how far they are indented."""

    number: int
    text: str
    indent: int


class _Comment(NamedTuple):
    """A comment in the text: byte offsets, and positions."""

    start: int
    end: int
    at: Position
    last: Position


class _Block(NamedTuple):
    """Comments that are read as one.

    Attributes:
        whole: nothing stands before it on its first line.
        code_end: byte offset right behind the last code before it, 0 without any.
    """

    at: Position
    last_row: int
    end: int
    whole: bool
    code_end: int
    lines: tuple[_Line, ...]


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
    owners = _Owners(file, Text(data), symbols or extract(data, language))
    ordinals = Ordinals()
    return tuple(
        found
        for block in _blocks(data, _comments(data, language))
        for found in _found_in(block, owners, ordinals)
    )


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
    if named is not None and not _TICKET.fullmatch(note) and note.lower() not in _NO_NAMES:
        return note.replace("@", ""), None
    return None, note or None


# Comments -------------------------------------------------------------------------------------------------


@cache
def _query(language: Language) -> Query:
    names = sorted(language.comments)
    return Query(language.ts, " ".join(f"({name}) @comment" for name in names))


def _comments(data: bytes, language: Language) -> list[_Comment]:
    """All comments in the text, in its order."""
    parsed = shortened(data, language.line_comments)
    tree = language.parse_watched(Reading(data, language.mended(parsed)))
    nodes = QueryCursor(_query(language)).captures(tree.root_node).get("comment", ())
    found = [
        _Comment(node.start_byte, node.end_byte, Position(*node.start_point), Position(*node.end_point))
        for node in nodes
    ]
    if parsed is not data:
        found += _unseen(data, parsed, {comment.start for comment in found})
    return sorted(found)


def _unseen(data: bytes, parsed: bytes, seen: set[int]) -> Iterator[_Comment]:
    """The comments that the parser does not see, since they are in long runs (`codegraph.comments`).

    A line that it does not see is a comment if the next one above that it does see is one; else all of them
    stand in a string.
    """
    offset, is_comment = 0, False
    for row, (line, left) in enumerate(zip(data.split(b"\n"), parsed.split(b"\n"), strict=True)):
        text = line.strip()
        column = len(line) - len(line.lstrip())
        if line != left and is_comment:
            end = column + len(text)
            yield _Comment(offset + column, offset + end, Position(row, column), Position(row, end))
        elif line == left and text:
            is_comment = offset + column in seen
        offset += len(line) + 1


def _blocks(data: bytes, comments: Sequence[_Comment]) -> Iterator[_Block]:
    """The comments, those right below each other joined."""
    group: list[_Comment] = []
    code_end = group_code_end = end = 0
    for comment in comments:
        if before := data[end : comment.start].rstrip():
            code_end = end + len(before)
        if group and not _is_next(group[-1], comment, data):
            yield _block(group, data, group_code_end)
            group = []
        if not group:
            group_code_end = code_end
        group.append(comment)
        end = comment.end
    if group:
        yield _block(group, data, group_code_end)


def _is_next(above: _Comment, below: _Comment, data: bytes) -> bool:
    """Whether two comments of one line each stand right below each other, the lower one alone in its line."""
    return (
        (above.at.line + 1, above.at.column) == below.at
        and _last_row(above) == above.at.line
        and not data.startswith(b"/*", above.start)
        and not data.startswith(b"/*", below.start)
        and _is_whole(below, data)
    )


def _is_whole(comment: _Comment, data: bytes) -> bool:
    return not data[comment.start - comment.at.column : comment.start].strip()


def _last_row(comment: _Comment) -> int:
    """The last line that the comment has text in: some take their line end with them."""
    return comment.last.line if comment.last.column else max(comment.last.line - 1, comment.at.line)


def _block(group: Sequence[_Comment], data: bytes, code_end: int) -> _Block:
    first, last = group[0], group[-1]
    lines = tuple(line for comment in group for line in _lines(comment, data))
    return _Block(first.at, _last_row(last), last.end, _is_whole(first, data), code_end, lines)


def _lines(comment: _Comment, data: bytes) -> Iterator[_Line]:
    raw = data[comment.start : comment.end].decode("utf-8", "replace").rstrip("\r\n")
    for at, line in enumerate(_LINE_END.split(raw)):
        body = line[: closing.start()] if (closing := _CLOSING.search(line)) else line
        opening = _OPENING.match(body)
        inner = body[opening.end() :] if opening else body
        yield _Line(comment.at.line + at, inner.strip(), len(inner) - len(inner.lstrip()))


# Symbols --------------------------------------------------------------------------------------------------


class _Owners:
    """Which symbol a comment is about: the one right below it, else the one it stands in, else the file."""

    def __init__(self, file: str, text: Text, symbols: FileSymbols) -> None:
        self._file = file
        self._text = text
        self._symbols = symbols
        self._starts = [definition.start for definition, _ in symbols.ranges]
        self._ending: dict[Position, list[int]] = {}
        for at, (definition, _) in enumerate(symbols.ranges):
            self._ending.setdefault(definition.end, []).append(at)

    def of(self, block: _Block) -> tuple[SymbolKey, Position | None]:
        """(symbol, a place in it); (file, None) for a comment that is about no symbol."""
        inside = self._around(block)
        below = self._below(block, inside) if block.whole else None
        at = inside if below is None else below
        if at < 0:
            return SymbolKey(self._file, ""), None
        symbol = self._symbols.symbols[at]
        return SymbolKey(self._file, symbol.qualname, symbol.ordinal), self._symbols.ranges[at].name.start

    def _around(self, block: _Block) -> int:
        """The innermost symbol that the comment stands in, -1 for none."""
        at = bisect_right(self._starts, block.at) - 1
        while at >= 0 and self._symbols.ranges[at].definition.end <= block.at:
            at = self._symbols.symbols[at].parent
        return max(at, self._ended(block))

    def _ended(self, block: _Block) -> int:
        """The symbol that the comment is the end of, -1 for none.

        A definition's range ends with its last code, so that a comment behind that is outside: on the same
        line, or below and further to the right than the definition.
        """
        tail = max(block.code_end - _TAIL, 0)
        code = self._text.data[tail : block.code_end].rstrip(b";, \t")
        end = self._text.position(tail + len(code))
        for at in reversed(self._ending.get(end, ())):
            right = block.at.column > self._symbols.ranges[at].definition.start.column
            if right and (block.whole or block.at.line == end.line):
                return at
        return -1

    def _below(self, block: _Block, inside: int) -> int | None:
        """The symbol whose definition begins on the next line, None without one."""
        start = Position(block.last_row + 1, block.at.column)
        offset = self._text.offset(start)
        line = self._text.line(start.line)
        if line[: start.column].strip() or not line[start.column : start.column + 1].strip():
            return None
        decorated = line.startswith(b"@", start.column)
        first = bisect_left(self._starts, start)
        for at in range(first, min(first + (_DECORATED if decorated else 1), len(self._starts))):
            definition = self._starts[at]
            if self._symbols.symbols[at].parent != inside:
                continue
            row = self._text.offset(Position(definition.line, start.column)) if decorated else offset
            before = self._text.data[row : self._text.offset(definition)]
            if _WORDS.fullmatch(before) or (decorated and definition.line == start.line):
                return at
        return None

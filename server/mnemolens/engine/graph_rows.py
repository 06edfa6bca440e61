"""The read model as rows of the graph: what one file, one memory, one session brings into it.

Pure functions of the index, the merged journal and the links. Knows neither when to ask nor where rows go
(`engine/graph_sync.py`).
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mnemolens.codegraph.index import CodeIndex, FileView
from mnemolens.codegraph.resolve import bases_of, imports_of, resolve_call
from mnemolens.core.memories import Link, Memory, MemoryEdge
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols, Symbol, SymbolKey
from mnemolens.ranking.decay import DecayParams, layer_of, weight
from mnemolens.store.graph_schema import (
    AGENT,
    CLASS,
    FILE,
    FUNCTION,
    MEMORY_TABLES,
    SESSION,
    Row,
    Rows,
    rel_kind,
    relates,
)

_CALLS_A_STEP = 8
"""Calls resolved between two yields: 0.2 ms, 5 where other files are looked into for the first time."""
_SYMBOLS_A_STEP = 500


class FileFacts(NamedTuple):
    """What a file's node says of its text.

    Attributes:
        content_hash: None where the text is not known.
        size_bytes: of the text as it is in the editor, else on disk.
    """

    content_hash: str | None = None
    size_bytes: int | None = None


class Resolution(NamedTuple):
    """A file's calls, imports and base classes as relations, and what these were found by.

    Attributes:
        files: paths that were looked at, whether there is such a file or not.
        tails: ends of paths that were looked for.
        folders: those whose files were listed.
    """

    rels: tuple[Row, ...]
    files: frozenset[str]
    tails: frozenset[str]
    folders: frozenset[str]


def table_of(symbol: Symbol) -> str:
    """The node table of a symbol."""
    return CLASS if symbol.kind in CLASS_KINDS else FUNCTION


def node_id(key: SymbolKey) -> str:
    """The id of a symbol's or file's node. Equal ids are one object: they stand in many rows."""
    return sys.intern(clean(key.id))


def file_rows(file: str, symbols: FileSymbols, facts: FileFacts) -> Generator[None, None, Rows]:
    """A file's own node, its symbols', and how they are nested. Yields after every few."""
    file_id = node_id(SymbolKey(file, ""))
    ids = [node_id(SymbolKey(file, s.qualname, s.ordinal)) for s in symbols.symbols]
    nodes: list[Row] = [_file_node(file_id, facts, symbols.language, has_error=symbols.partial)]
    rels: list[Row] = []
    classes = {s.qualname: ids[n] for n, s in enumerate(symbols.symbols) if _holds_methods(s)}
    for number, symbol in enumerate(symbols.symbols):
        if number % _SYMBOLS_A_STEP == _SYMBOLS_A_STEP - 1:
            yield
        table, own = table_of(symbol), ids[number]
        nodes.append(_symbol_node(symbols, number, table, own))
        rels.append((_kind("DEFINED_IN", table, FILE), own, file_id))
        parent = symbols.symbols[symbol.parent] if symbol.parent >= 0 else None
        if parent is None:
            rels.append((_kind("CONTAINS", FILE, table), file_id, own))
        else:
            rels.append((_kind("CONTAINS", table_of(parent), table), ids[symbol.parent], own))
        if parent is not None and _holds_methods(parent):
            owner: str | None = ids[symbol.parent]
        else:  # methods of Go, Rust and C++ may stand beside their type
            owner = classes.get(symbol.qualname.rpartition(".")[0]) if symbol.kind == "method" else None
        if table == FUNCTION and owner is not None:
            rels.append((_kind("METHOD_OF", FUNCTION, CLASS), own, owner))
    return Rows(tuple(nodes), tuple(rels))


def _holds_methods(symbol: Symbol) -> bool:
    return symbol.kind in CLASS_KINDS and symbol.kind != "namespace"


def bare_file_rows(file: str, facts: FileFacts) -> Rows:
    """The node of a file that is not indexed, for memories on it."""
    return Rows((_file_node(node_id(SymbolKey(file, "")), facts, None, has_error=False),))


def resolving(index: CodeIndex, file: str, symbols: FileSymbols) -> Generator[None, None, Resolution]:
    """What a file calls, imports and derives from, as far as rules say it.

    Yields after every few calls, so that a long file need not hold the event loop.
    """
    seen = _Watched(index)
    file_id = node_id(SymbolKey(file, ""))
    calls: Counter[Row] = Counter()
    for number, call in enumerate(symbols.calls):
        if number % _CALLS_A_STEP == _CALLS_A_STEP - 1:
            yield
        target = resolve_call(seen, file, call, allow_name=True)
        callee = index.symbol(target.key) if target is not None else None
        if target is None or callee is None:
            continue
        table, caller = _caller(file, file_id, symbols, call.caller)
        kind = _kind("CALLS", table, table_of(callee))
        calls[kind, caller, node_id(target.key), target.confidence] += call.count
    rels: dict[Row, None] = dict.fromkeys((*row, count) for row, count in calls.items())
    yield
    for other, alias in imports_of(seen, file):
        rels[_kind("IMPORTS", FILE, FILE), file_id, node_id(SymbolKey(other, "")), clean(alias)] = None
    for symbol in symbols.symbols:
        if symbol.bases:
            own = SymbolKey(file, symbol.qualname, symbol.ordinal)
            for base in bases_of(seen, own):
                if base.key != own:
                    rels[_kind("INHERITS", CLASS, CLASS), node_id(own), node_id(base.key)] = None
    looked = (frozenset(paths) for paths in (seen.files, seen.tails, seen.folders))
    return Resolution(tuple(rels), *looked)


def memory_row(memory: Memory, now: datetime, decay: DecayParams) -> Row:
    """A memory's node."""
    value = weight(memory, now, decay)
    born = {"commit": clean(memory.born.commit), "branch": clean(memory.born.branch)}
    return (
        MEMORY_TABLES[memory.type],
        clean(memory.id),
        memory.type,
        clean(memory.title),
        clean(memory.content),
        clean(json.dumps(memory.metadata, ensure_ascii=False)),
        tuple(clean(tag) for tag in memory.tags),
        memory.importance,
        _time(memory.created_at),
        _time(memory.accessed_at),
        memory.access_count,
        clean(memory.session_id),
        clean(memory.agent_id),
        clean(memory.author),
        clean(memory.parent_id),
        memory.pinned,
        memory.status,
        _time(memory.expires_at),
        _time(memory.due_at),
        None if memory.trigger is None else clean(json.dumps(memory.trigger, ensure_ascii=False)),
        born,
        memory.token_count,
        clean(memory.content_hash),
        value,
        layer_of(value, decay),
    )


def link_rows(memory: Memory, links: Iterable[Link], table: Callable[[SymbolKey], str | None]) -> list[Row]:
    """A memory's links to code; candidates, and links to what has no node, left out.

    Args:
        memory: whose links they are.
        links: its links.
        table: the node table of the code at a place, None where it has no node.
    """
    rows: list[Row] = []
    for link in links:
        target = None if link.candidate else table(link.target)
        if target is not None:
            kind = relates(target, memory.type)
            when = _time(link.timestamp)
            rows.append(
                (kind, clean(memory.id), node_id(link.target), float(link.relevance), link.context, when)
            )
    return rows


def edge_rows(edges: Iterable[MemoryEdge], present: Callable[[str], Memory | None]) -> list[Row]:
    """Edges between memories that both have nodes; those without a type are left out."""
    rows: list[Row] = []
    for edge in edges:
        source, target = present(edge.source_id), present(edge.target_id)
        if source is not None and target is not None and edge.type:
            kind = _kind("MEMORY_EDGE", MEMORY_TABLES[source.type], MEMORY_TABLES[target.type])
            created = _time(edge.created_at)
            ends = clean(edge.source_id), clean(edge.target_id)
            rows.append((kind, *ends, clean(edge.type), float(edge.weight), created))
    return rows


def session_rows(table: str, key: str) -> Rows:
    """A session's or agent's node; `table` is `SESSION` or `AGENT`."""
    assert table in {SESSION, AGENT}
    return Rows(((table, clean(key)),))


def clean(text: Any) -> Any:
    """A text as the database can hold it: no NUL, no lone surrogates. None stays None."""
    if text is None:
        return None
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text


_KINDS: dict[tuple[str, str, str], str] = {}


def _kind(table: str, source: str, target: str) -> str:
    found = _KINDS.get((table, source, target))
    if found is None:
        found = _KINDS[table, source, target] = rel_kind(table, source, target)
    return found


def _file_node(file_id: str, facts: FileFacts, language: str | None, *, has_error: bool) -> Row:
    return (FILE, file_id, file_id, language, facts.content_hash, facts.size_bytes, has_error)


def _symbol_node(symbols: FileSymbols, number: int, table: str, own: str) -> Row:
    symbol, range_ = symbols.symbols[number], symbols.ranges[number].definition
    name, qualname, docstring = clean(symbol.name), clean(symbol.qualname), clean(symbol.docstring)
    first, last = range_.start.line + 1, range_.end.line + 1
    if table == CLASS:
        return (CLASS, own, name, symbol.kind, qualname, docstring, first, last)
    signature = clean(symbol.signature)
    body = symbol.body_hash
    return (FUNCTION, own, name, qualname, signature, docstring, symbol.is_async, first, last, body)


def _caller(file: str, file_id: str, symbols: FileSymbols, at: int) -> tuple[str, str]:
    """The function around a call, else the file: a class body's calls are those of what is around it."""
    while at >= 0 and symbols.symbols[at].kind in CLASS_KINDS:
        at = symbols.symbols[at].parent
    if at < 0:
        return FILE, file_id
    return FUNCTION, node_id(SymbolKey(file, symbols.symbols[at].qualname, symbols.symbols[at].ordinal))


def _time(moment: datetime | None) -> datetime | None:
    """As the database has it: UTC, without saying so."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


class _Watched:
    """A `Lookup` that notes which files a resolution looks at."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self.files: set[str] = set()
        self.tails: set[str] = set()
        self.folders: set[str] = set()
        self.get = index.get
        self.key_at = index.key_at
        self.keys_named = index.keys_named

    def __contains__(self, file: str) -> bool:
        self.files.add(file)
        return file in self._index

    def view(self, file: str) -> FileView | None:
        self.files.add(file)
        return self._index.view(file)

    def symbol(self, key: SymbolKey) -> Symbol | None:
        self.files.add(key.file)
        return self._index.symbol(key)

    def position_of(self, key: SymbolKey) -> int | None:
        self.files.add(key.file)
        return self._index.position_of(key)

    def files_ending(self, suffix: str) -> Collection[str]:
        self.tails.add(suffix.rpartition("/")[2])
        return self._index.files_ending(suffix)

    def files_in(self, folder: str) -> Collection[str]:
        self.folders.add(folder)
        return self._index.files_in(folder)

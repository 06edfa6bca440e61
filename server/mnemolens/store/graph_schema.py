"""The graph's schema, its rows, and the differences between two sets of rows. Knows no database driver.

A *unit* is what one file, one memory or one session brings into the graph (`Rows`). Rows are flat tuples of
plain values, which the garbage collector need not track:

    node      (table, key, value, …)                    values in the order of the table's columns
    relation  (kind, source key, target key, value, …)  kind as in `REL_KINDS`
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from mnemolens.core.ids import short_hash
from mnemolens.core.memories import MEMORY_KINDS, MemoryKind
from mnemolens.core.pieces import in_order

Row: TypeAlias = tuple[Any, ...]
_Key = TypeVar("_Key", bound=Row)


class Column(NamedTuple):
    """A property: its name and Kuzu type."""

    name: str
    type: str


class RelTable(NamedTuple):
    """A relation table.

    Attributes:
        pairs: (from, to) node tables.
        columns: its properties.
        identity: how many of the columns, from the left, tell apart relations between the same two nodes.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...] = ()
    identity: int = 0


class RelKind(NamedTuple):
    """A relation table, narrowed to one pair of node tables."""

    table: RelTable
    source: str
    target: str


def _columns(text: str) -> tuple[Column, ...]:
    return tuple(Column(*part.strip().split(" ", 1)) for part in text.split(";"))


FILE: Final = "CodeFile"
CLASS: Final = "CodeClass"
FUNCTION: Final = "CodeFunction"
SESSION: Final = "Session"
AGENT: Final = "Agent"
MEMORY_TABLES: Final[Mapping[MemoryKind, str]] = {kind: f"{kind.title()}Memory" for kind in MEMORY_KINDS}

_MEMORY_COLUMNS = _columns(
    "memory_id STRING; type STRING; title STRING; content STRING; metadata STRING; tags STRING[];"
    "importance DOUBLE; created_at TIMESTAMP; accessed_at TIMESTAMP; access_count INT64; session_id STRING;"
    "agent_id STRING; author STRING; parent_id STRING; pinned BOOL; status STRING; expires_at TIMESTAMP;"
    "due_at TIMESTAMP; trigger STRING; born STRUCT(commit STRING, branch STRING); token_count INT64;"
    "content_hash STRING; weight DOUBLE; layer STRING"
)

NODE_TABLES: Final[Mapping[str, tuple[Column, ...]]] = {
    **dict.fromkeys(MEMORY_TABLES.values(), _MEMORY_COLUMNS),
    FILE: _columns(
        "file_id STRING; file_path STRING; language STRING; content_hash STRING; size_bytes INT64;"
        "has_error BOOL"
    ),
    CLASS: _columns(
        "class_id STRING; class_name STRING; kind STRING; qualified_name STRING; docstring STRING;"
        "start_line INT64; end_line INT64"
    ),
    FUNCTION: _columns(
        "function_id STRING; function_name STRING; qualified_name STRING; signature STRING; docstring STRING;"
        "is_async BOOL; start_line INT64; end_line INT64; body_hash STRING"
    ),
    SESSION: _columns("session_id STRING"),
    AGENT: _columns("agent_id STRING"),
}
"""Each node table's columns; the first is its key."""

_RELATES = _columns("relevance_score DOUBLE; context STRING; timestamp TIMESTAMP")
_TARGETS = {"FILE": FILE, "FUNCTION": FUNCTION, "CLASS": CLASS}


def relates(target: str, kind: MemoryKind) -> str:
    """The relation kind from a memory to code, by target table."""
    word = next(word for word, table in _TARGETS.items() if table == target)
    return rel_kind(f"RELATES_TO_{word}_{kind.upper()}", MEMORY_TABLES[kind], target)


def rel_kind(table: str, source: str, target: str) -> str:
    """The name of a relation table narrowed to one pair of node tables."""
    return f"{table}|{source}|{target}"


REL_TABLES: Final[Mapping[str, RelTable]] = {
    table.name: table
    for table in (
        RelTable("DEFINED_IN", ((FUNCTION, FILE), (CLASS, FILE))),
        RelTable("METHOD_OF", ((FUNCTION, CLASS),)),
        RelTable("CONTAINS", tuple((a, b) for a in (FILE, CLASS, FUNCTION) for b in (CLASS, FUNCTION))),
        RelTable(
            "CALLS",
            tuple((a, b) for a in (FUNCTION, FILE) for b in (FUNCTION, CLASS)),
            _columns("confidence STRING; count INT64"),
            identity=1,
        ),
        RelTable("IMPORTS", ((FILE, FILE),), _columns("alias STRING"), identity=1),
        RelTable("INHERITS", ((CLASS, CLASS),)),
        RelTable(
            "MEMORY_EDGE",
            tuple((a, b) for a in MEMORY_TABLES.values() for b in MEMORY_TABLES.values()),
            _columns("type STRING; weight DOUBLE; created_at TIMESTAMP"),
            identity=1,
        ),
        *(
            RelTable(f"RELATES_TO_{word}_{kind.upper()}", ((MEMORY_TABLES[kind], table),), _RELATES)
            for word, table in _TARGETS.items()
            for kind in MEMORY_KINDS
        ),
    )
}

REL_KINDS: Final[Mapping[str, RelKind]] = {
    rel_kind(table.name, source, target): RelKind(table, source, target)
    for table in REL_TABLES.values()
    for source, target in table.pairs
}


def schema_statements() -> list[str]:
    """What creates the empty graph."""

    def listed(columns: Iterable[Column]) -> str:
        return ", ".join(f"{name} {type_}" for name, type_ in columns)

    nodes = [
        f"CREATE NODE TABLE {name}({listed(columns)}, PRIMARY KEY({columns[0].name}))"
        for name, columns in NODE_TABLES.items()
    ]
    relations = []
    for table in REL_TABLES.values():
        pairs = ", ".join(f"FROM {source} TO {target}" for source, target in table.pairs)
        relations.append(
            f"CREATE REL TABLE {table.name}({pairs}{', ' * bool(table.columns)}{listed(table.columns)})"
        )
    return nodes + relations


SCHEMA_ID: Final = short_hash("\n".join(schema_statements()))
"""Changes whenever the schema does: a graph of another one is built anew."""


class Rows(NamedTuple):
    """What one unit brings into the graph."""

    nodes: tuple[Row, ...] = ()
    rels: tuple[Row, ...] = ()


NO_ROWS: Final = Rows()


class NodeUpdate(NamedTuple):
    """Properties of a node that get other values. `columns` are places in the table's columns."""

    table: str
    key: str
    columns: tuple[int, ...]
    values: Row


class Changes(NamedTuple):
    """The differences to write, in this order. Deleting a node takes its relations with it."""

    drop_rels: tuple[Row, ...] = ()
    drop_nodes: tuple[tuple[str, str], ...] = ()
    set_nodes: tuple[NodeUpdate, ...] = ()
    add_nodes: tuple[Row, ...] = ()
    set_rels: tuple[Row, ...] = ()
    add_rels: tuple[Row, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any(self)


def differences(pairs: Iterable[tuple[Rows, Rows]]) -> Changes:
    """What leads from the first rows of all pairs to the second; a pair is one unit before and after."""
    old_nodes: dict[tuple[str, str], Row] = {}
    new_nodes: dict[tuple[str, str], Row] = {}
    old_rels: dict[Row, Row] = {}
    new_rels: dict[Row, Row] = {}
    for before, after in pairs:
        if before == after:
            continue
        old_nodes.update(((row[0], row[1]), row) for row in before.nodes)
        new_nodes.update(((row[0], row[1]), row) for row in after.nodes)
        gone, come = set(before.rels), set(after.rels)
        old_rels.update((identity_of(row), row) for row in gone - come)
        new_rels.update((identity_of(row), row) for row in come - gone)
    dropped = old_nodes.keys() - new_nodes.keys()
    changes = Changes(
        drop_rels=tuple(
            old_rels[identity]
            for identity in _in_order(old_rels.keys() - new_rels.keys())
            if not _touches(identity, dropped)
        ),
        drop_nodes=tuple(_in_order(dropped)),
        set_nodes=tuple(
            update
            for key in _in_order(old_nodes.keys() & new_nodes.keys())
            if (update := _update(old_nodes[key], new_nodes[key])) is not None
        ),
        add_nodes=tuple(new_nodes[key] for key in _in_order(new_nodes.keys() - old_nodes.keys())),
        set_rels=tuple(
            new_rels[identity]
            for identity in _in_order(old_rels.keys() & new_rels.keys())
            if old_rels[identity] != new_rels[identity]
        ),
        add_rels=tuple(new_rels[identity] for identity in _in_order(new_rels.keys() - old_rels.keys())),
    )
    table: dict[Any, Row]
    for table in (old_nodes, new_nodes, old_rels, new_rels):
        while table:  # rows of a checkout, freed one by one: other threads wait
            table.popitem()
    return changes


def _in_order(keys: AbstractSet[_Key]) -> Iterator[_Key]:
    return in_order(list(keys), tuple)


def identity_of(row: Row) -> Row:
    """What tells a relation from all others: kind, both ends, and the identifying properties."""
    return row[: 3 + REL_KINDS[row[0]].table.identity]


def _touches(identity: Row, nodes: set[tuple[str, str]]) -> bool:
    kind = REL_KINDS[identity[0]]
    return (kind.source, identity[1]) in nodes or (kind.target, identity[2]) in nodes


def _update(old: Row, new: Row) -> NodeUpdate | None:
    places = tuple(i for i in range(1, len(new) - 1) if old[i + 1] != new[i + 1])
    if not places:
        return None
    return NodeUpdate(new[0], new[1], places, tuple(new[i + 1] for i in places))

"""What is sent to the database: statements for differences, and files for COPY. Knows no database driver."""

import csv
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemolens.store.graph_schema import MEMORY_TABLES, NODE_TABLES, REL_KINDS, NodeUpdate, Row

JOINED: Final = 4
"""Rows that one statement makes together; each shape of statement is planned once, which costs a little."""

_SPECIAL_IN_PATHS: Final = frozenset("*?[]{}")

# Statements --------------------------------------------------------------------------------

Statement = tuple[str, dict[str, Any]]


def _value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _key_name(table: str) -> str:
    return NODE_TABLES[table][0].name


def _ends(row: Row) -> tuple[str, dict[str, Any]]:
    kind = REL_KINDS[row[0]]
    pattern = (
        f"(a:{kind.source} {{{_key_name(kind.source)}: $a}})-[r:{kind.table.name}]->"
        f"(b:{kind.target} {{{_key_name(kind.target)}: $b}})"
    )
    table = kind.table
    parameters = {"a": row[1], "b": row[2]}
    where = []
    for place in range(table.identity):
        where.append(f"r.{table.columns[place].name} = $i{place}")
        parameters[f"i{place}"] = row[3 + place]
    return f"MATCH {pattern}" + (f" WHERE {' AND '.join(where)}" if where else ""), parameters


def drop_rels(rows: Sequence[Row]) -> Iterator[Statement]:
    """Takes relations away; those of one kind from one node together."""
    groups: dict[Row, list[str]] = defaultdict(list)
    for row in rows:
        own = row[3 : 3 + REL_KINDS[row[0]].table.identity]
        groups[row[0], row[1], own].append(row[2])
    for (name, source, own), targets in groups.items():
        kind = REL_KINDS[name]
        where = [f"r.{kind.table.columns[place].name} = $i{place}" for place in range(len(own))]
        target = f"{{{_key_name(kind.target)}: $b}}" if len(targets) == 1 else ""
        if len(targets) > 1:
            where.append(f"b.{_key_name(kind.target)} IN $b")
        start = f"(a:{kind.source} {{{_key_name(kind.source)}: $a}})"
        ends = f"{start}-[r:{kind.table.name}]->(b:{kind.target} {target})"
        statement = f"MATCH {ends}{' WHERE ' * bool(where)}{' AND '.join(where)} DELETE r"
        given = {f"i{place}": value for place, value in enumerate(own)}
        yield statement, {"a": source, "b": targets if len(targets) > 1 else targets[0], **given}


def set_rel(row: Row) -> Statement:
    """Gives a relation other properties; returns a row where it is."""
    match, parameters = _ends(row)
    table = REL_KINDS[row[0]].table
    sets = []
    for place in range(table.identity, len(table.columns)):
        sets.append(f"r.{table.columns[place].name} = $v{place}")
        parameters[f"v{place}"] = row[3 + place]
    return f"{match} SET {', '.join(sets)} RETURN 1", parameters


def set_node(update: NodeUpdate) -> Statement:
    """Gives a node other properties; returns a row where it is."""
    columns = NODE_TABLES[update.table]
    sets = ", ".join(f"n.{columns[place].name} = $v{place}" for place in update.columns)
    parameters = {f"v{p}": _value(v) for p, v in zip(update.columns, update.values, strict=True)}
    return (
        f"MATCH (n:{update.table} {{{columns[0].name}: $key}}) SET {sets} RETURN 1",
        {"key": update.key, **parameters},
    )


def add_nodes(rows: Sequence[Row]) -> Statement:
    """Makes nodes, of any tables."""
    parts, parameters = [], {}
    for number, row in enumerate(rows):
        columns = NODE_TABLES[row[0]]
        names = ", ".join(f"{column.name}: $n{number}_{place}" for place, column in enumerate(columns))
        parts.append(f"(:{row[0]} {{{names}}})")
        parameters.update({f"n{number}_{place}": _value(value) for place, value in enumerate(row[1:])})
    return f"CREATE {', '.join(parts)}", parameters


def add_rels(rows: Sequence[Row]) -> Statement:
    """Makes relations from one node; returns a row where all ends are."""
    first = REL_KINDS[rows[0][0]]
    matches = [f"(a:{first.source} {{{_key_name(first.source)}: $a}})"]
    creates, parameters = [], {"a": rows[0][1]}
    for number, row in enumerate(rows):
        kind = REL_KINDS[row[0]]
        matches.append(f"(b{number}:{kind.target} {{{_key_name(kind.target)}: $b{number}}})")
        names = ", ".join(f"{c.name}: $v{number}_{p}" for p, c in enumerate(kind.table.columns))
        creates.append(f"(a)-[:{kind.table.name}{f' {{{names}}}' if names else ''}]->(b{number})")
        parameters[f"b{number}"] = row[2]
        parameters.update({f"v{number}_{place}": value for place, value in enumerate(row[3:])})
    return f"MATCH {', '.join(matches)} CREATE {', '.join(creates)} RETURN 1", parameters


def joined(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Relations to make in one statement each: a memory's few together, else one by one."""
    memories = set(MEMORY_TABLES.values())
    few: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        kind = REL_KINDS[row[0]]
        if kind.source in memories:
            few[kind.source, row[1]].append(row)
        else:
            yield [row]
    for group in few.values():
        yield from cut(sorted(group, key=lambda row: row[0]), JOINED)


def cut(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """The rows in portions."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


# Files to load from --------------------------------------------------------------------------------


@contextmanager
def load_folder(file: Path) -> Iterator[Path]:
    """A folder for files to COPY from; the database would take some characters in its path for a pattern."""
    special = _SPECIAL_IN_PATHS & set(str(file))
    place = Path(tempfile.mkdtemp(prefix=f"{file.stem}.load-", dir=None if special else file.parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def quoted(path: Path) -> str:
    """A path as a string in a statement."""
    text = path.as_posix().replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


class RowFiles:
    """Files to COPY from, one a table of nodes and one a kind of relation; rows come in portions.

    Nodes are JSON: unlike CSV, it tells an empty text from none. Relations are CSV, which loads quicker;
    their properties are never empty texts, so that an empty field is none.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._nodes: dict[str, Path] = {}
        self._rels: dict[str, Path] = {}

    def add(self, nodes: Iterable[Row], rels: Iterable[Row]) -> None:
        """Writes rows down."""
        tables: dict[str, list[str]] = defaultdict(list)
        for row in nodes:
            record = dict(zip(_NAMES[row[0]], row[1:], strict=True))
            tables[row[0]].append(json.dumps(record, default=str) + "\n")
        for table, lines in tables.items():
            path = self._nodes.setdefault(table, self._place / f"{table}.json")
            with path.open("a", encoding="ascii") as stream:
                stream.writelines(lines)
        kinds: dict[str, list[Row]] = defaultdict(list)
        for row in rels:
            kinds[row[0]].append(row[1:])
        for kind, rows in kinds.items():
            path = self._rels.setdefault(kind, self._place / f"{kind.replace('|', '-')}.csv")
            with path.open("a", encoding="utf-8", newline="") as stream:
                csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)

    @property
    def node_bytes(self) -> int:
        """How large the nodes' files are."""
        return sum(path.stat().st_size for path in self._nodes.values())

    def statements(self) -> list[str]:
        """What loads them, nodes first."""
        nodes = [f"COPY {table} FROM {quoted(path)}" for table, path in self._nodes.items()]
        return nodes + [_copy_rels(kind, path) for kind, path in self._rels.items()]


_NAMES = {table: [column.name for column in columns] for table, columns in NODE_TABLES.items()}


def drop_node(table: str, key: str) -> Statement:
    """Takes a node away, with its relations."""
    return f"MATCH (n:{table} {{{_key_name(table)}: $key}}) DETACH DELETE n", {"key": key}


def _copy_rels(kind: str, path: Path) -> str:
    table, source, target = REL_KINDS[kind]
    pair = f"from='{source}', to='{target}', " if len(table.pairs) > 1 else ""
    options = "HEADER=false, PARALLEL=false, AUTO_DETECT=false, ESCAPE='\"', QUOTE='\"'"
    return f"COPY {table.name} FROM {quoted(path)} ({pair}{options})"

"""The graph database: the only module that imports kuzu, and knows its texts and habits.

A `GraphStore` is one graph file in a slot of its own. One thread owns the only connection and does everything
in turn; callers get futures. All of it is derived: a file of which anything is doubtful (not closed in good
order, not to be opened, of another schema or database version) is removed and built anew, and nothing else
ever waits for that. It decides nothing about what belongs into the graph: see `engine/graph_sync.py`.
"""

import csv
import errno
import json
import logging
import queue
import re
import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from mnemolens.core.clock import Clock
from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.views import GraphState
from mnemolens.store.graph_cypher import check_query
from mnemolens.store.graph_results import QueryResult, plain
from mnemolens.store.graph_schema import (
    MEMORY_TABLES,
    NODE_TABLES,
    REL_KINDS,
    Changes,
    NodeUpdate,
    Row,
    Rows,
    schema_statements,
)
from mnemolens.store.graph_slots import NoSlot, Slot, clear_free, sweep, take_slot, temporary_slot

log = logging.getLogger(__name__)

_T = TypeVar("_T")

QUERY_SECONDS: Final = 5.0
MAX_ROWS: Final = 1000
COPY_FROM: Final = 300
"""Relations from which a COPY is quicker than a statement each."""

_POOL: Final = 64 << 20
_BUILD_POOL: Final = 256 << 20
_POOL_A_RELATION: Final = 800
"""Bytes of buffer pool that a bulk load wants for each relation."""

_MAX_POOL: Final = 2 << 30
_MAX_FILE: Final = 1 << 34
_MAX_GROWTH: Final = 1 << 30
"""Bytes that the process may grow by during one query of the user's."""

_JOINED: Final = 4
_MAX_LOSSES: Final = 3
_CHUNK: Final = 500
_LABELS: Final = re.compile(r"LABEL\((\w+)\._ID,\[[^]]*\]\)")
"""The database names a column of `label(x)` by all the labels that x could have."""

_SPECIAL_IN_PATHS: Final = frozenset("*?[]{}")


class GraphLost(Exception):
    """The graph no longer holds what it should: `build` it anew. Says why in words."""


class WriteReport(NamedTuple):
    """What a write cost.

    Attributes:
        statements: how many were executed, without BEGIN and COMMIT.
        seconds: in the graph's thread.
    """

    statements: int
    seconds: float


class GraphStore:
    """One graph file. Methods may be called from any thread, and return at once.

    Args:
        folder: `graphs/<worktree>` in the cache.
        clock: tells which slots are old.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._state = GraphState("off", None, "it was not started yet")
        self._slot: Slot | None = None
        self._database: _Database | None = None
        self._kuzu: Any = None
        self._losses = 0
        self._closing = False

    @property
    def state(self) -> GraphState:
        """In words: "off", "starting", "building", "ready"; with slot, and the reason where there is one."""
        return self._state

    @property
    def is_off(self) -> bool:
        """Whether there is no graph and will be none in this process."""
        return self._state.state == "off"

    def open(self) -> Future[None]:
        """Takes a slot. The graph is empty afterwards, and answers once it was built; see `state`."""
        if self._thread is None:
            self._state = GraphState("starting", None, None)
            self._thread = threading.Thread(target=self._run, name="mnemolens-graph", daemon=True)
            self._thread.start()
        return self._submit(self._open)

    def build(self, units: Sequence[Rows]) -> Future[WriteReport]:
        """Builds the graph from nothing: a new file, filled by COPY, takes the old one's place.

        Raises:
            GraphUnavailable: (in the future) it can't be; `state` says why.
        """
        return self._submit(lambda: self._build(units))

    def write(self, changes: Changes) -> Future[WriteReport]:
        """Writes differences in one transaction.

        Raises:
            GraphLost: (in the future) they could not be written: build the graph anew.
            GraphUnavailable: (in the future) there is no graph.
        """
        return self._submit(lambda: self._write(changes))

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, limit: int = MAX_ROWS
    ) -> Future[QueryResult]:
        """Answers a read-only query, after all that was submitted before it.

        Raises:
            InvalidArgument: the query is not allowed, or (in the future) wrong, too long or too large.
            GraphUnavailable: (in the future) there is no graph.
        """
        given = check_query(cypher, parameters)
        return self._submit(lambda: self._query(cypher, given, limit))

    def clear_free(self) -> Future[None]:
        """Removes the files of all slots of the cache that nobody holds; after a purge."""
        return self._submit(lambda: clear_free(self._folder.parent))

    def close(self, timeout: float = 5.0) -> None:
        """Ends what runs, closes the file in good order and lets go of the slot; again is harmless."""
        thread = self._thread
        if thread is None or self._closing:
            return
        self._closing = True
        database = self._database
        if database is not None:
            database.interrupt()
        self._jobs.put(None)
        thread.join(timeout)

    # The thread -------------------------------------------------------------------------------------------

    def _submit(self, work: Callable[[], _T]) -> Future[_T]:
        future: Future[_T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
                future.set_exception(error)
            else:
                future.set_result(result)

        if self._thread is None or self._closing:
            future.set_exception(GraphUnavailable("the graph is closed"))
        else:
            self._jobs.put(job)
        return future

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self._shut()
        with suppress(queue.Empty):
            while True:
                late = self._jobs.get_nowait()
                if late is not None:
                    late()

    def _open(self) -> None:
        if self._kuzu is None:
            try:
                import kuzu
            except Exception as error:  # noqa: BLE001 - a broken wheel raises anything
                missing = isinstance(error, ModuleNotFoundError) and error.name == "kuzu"
                self._off("kuzu is not installed" if missing else f"kuzu can't be loaded: {error}")
                return
            self._kuzu = kuzu
        if self._slot is not None:
            return
        sweep(self._folder.parent, self._clock.now())
        try:
            self._take(take_slot(self._folder))
        except NoSlot as error:
            self._off(str(error))

    def _take(self, slot: Slot) -> None:
        self._slot = slot
        self._state = GraphState("building", slot.number, slot.reason)

    def _off(self, reason: str) -> None:
        log.warning("the graph is off: %s", reason)
        self._shut()
        self._state = GraphState("off", None, reason)

    def _shut(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._slot is not None:
            self._slot.release()
            self._slot = None
        self._state = GraphState("off", None, "it was closed")

    # Building ---------------------------------------------------------------------------------------------

    def _build(self, units: Sequence[Rows]) -> WriteReport:
        begun = time.perf_counter()
        while (slot := self._slot) is not None:
            self._state = GraphState("building", slot.number, slot.reason)
            try:
                statements = self._build_in(slot, units)
            except Exception as error:  # noqa: BLE001 - kuzu raises RuntimeError for everything
                self._leave(slot, error)
            else:
                self._state = GraphState("ready", slot.number, slot.reason)
                return WriteReport(statements, time.perf_counter() - begun)
        raise GraphUnavailable(f"the graph is off: {self._state.reason}")

    def _build_in(self, slot: Slot, units: Sequence[Rows]) -> int:
        if self._database is not None:
            self._database.close()
            self._database = None
        slot.clear()
        relations = sum(len(rows.rels) for rows in units)
        database = _Database(self._kuzu, slot.new_file, pool=_BUILD_POOL + _POOL_A_RELATION * relations)
        try:
            database.load(units, slot.new_file)
        finally:
            statements = database.statements
            database.close()
        slot.accept()
        self._database = _Database(self._kuzu, slot.file)
        return statements

    def _leave(self, slot: Slot, error: Exception) -> None:
        """The slot can't be used: the next one where another program has its file, else a temporary one."""
        log.warning("the graph can't be built in %s: %s", slot.file, error)
        reason = _in_words(error)
        with suppress(OSError):
            slot.clear()
        slot.release()
        self._slot = None
        try:
            if slot.number is None:
                self._off(f"{slot.reason or 'the graph file can not be used'}; {reason}")
            elif _is_locked(error):
                self._take(take_slot(self._folder, above=slot.number))
            else:
                self._take(temporary_slot(f"the cache folder can't be used ({reason})"))
        except NoSlot as none:
            self._off(str(none))

    # Writing ----------------------------------------------------------------------------------------------

    def _write(self, changes: Changes) -> WriteReport:
        database, slot = self._open_database()
        begun = time.perf_counter()
        before = database.statements
        copies = len(changes.add_rels) > COPY_FROM
        for last in (copies, True):
            try:
                database.apply(changes, slot.file)
            except Exception as error:
                # A COPY that raised may have been committed all the same: never again on top of it.
                if last:
                    self._lost(slot, error)
                    raise GraphLost(_in_words(error)) from error
                log.warning("writing to the graph failed, once more: %s", error)
            else:
                break
        self._losses = 0
        return WriteReport(database.statements - before, time.perf_counter() - begun)

    def _lost(self, slot: Slot, error: Exception) -> None:
        self._losses += 1
        log.warning("the graph is built anew: writing failed: %s", error)
        if self._losses > _MAX_LOSSES:
            self._off(f"writing to it failed again and again ({_in_words(error)})")
            return
        self._state = GraphState("building", slot.number, f"writing failed ({_in_words(error)})")

    def _open_database(self) -> "tuple[_Database, Slot]":
        if self._database is None or self._slot is None:
            state = self._state
            raise GraphUnavailable(
                f"the graph is {state.state}" + (f": {state.reason}" if state.reason else "")
            )
        return self._database, self._slot

    # Reading ----------------------------------------------------------------------------------------------

    def _query(self, cypher: str, parameters: dict[str, Any], limit: int) -> QueryResult:
        database, _ = self._open_database()
        return database.read(cypher, parameters, limit)


class _Database:
    """An open graph file and its one connection. Belongs to one thread, but for `interrupt`.

    Attributes:
        statements: executed so far.
    """

    def __init__(self, kuzu: Any, file: Path, *, pool: int = _POOL) -> None:
        self._kuzu = kuzu
        self.statements = 0
        self._prepared: dict[str, Any] = {}
        self._database = kuzu.Database(
            str(file),
            buffer_pool_size=min(pool, _MAX_POOL),
            max_num_threads=1,
            max_db_size=_MAX_FILE,
            auto_checkpoint=False,
        )
        self._connection = kuzu.Connection(self._database, num_threads=1)
        self._connection.execute("CALL force_checkpoint_on_close=false")

    def interrupt(self) -> None:
        """Stops the statement that runs, from any thread."""
        with suppress(RuntimeError):
            self._connection.interrupt()

    def close(self) -> None:
        """Closes the file."""
        self._prepared.clear()
        with suppress(RuntimeError):
            self._connection.close()
        with suppress(RuntimeError):
            self._database.close()

    def _execute(self, statement: str, parameters: dict[str, Any] | None = None) -> Any:
        """Executes a statement of ours; with parameters it is prepared once."""
        self.statements += 1
        if parameters is None:
            return self._connection.execute(statement)
        prepared = self._prepared.get(statement)
        if prepared is None:
            # Not `prepare`, which warns of its own end; `execute` alone plans anew each time.
            prepared = self._kuzu.PreparedStatement(self._connection, statement)
            self._prepared[statement] = prepared
        return self._connection.execute(prepared, parameters)

    def _must_find(self, statement: str, parameters: dict[str, Any]) -> None:
        """Executes a statement that ends in RETURN and has to match something."""
        if not self._execute(statement, parameters).has_next():
            raise LookupError(f"nothing there for {statement!r}")

    @contextmanager
    def _transaction(self, kind: str = "") -> Iterator[None]:
        self._connection.execute(f"BEGIN TRANSACTION{kind}")
        try:
            yield
        except BaseException:
            # An error has rolled it back already; then there is nothing left to end.
            with suppress(RuntimeError):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # Loading ----------------------------------------------------------------------------------------------

    def load(self, units: Sequence[Rows], file: Path) -> None:
        """Fills the empty file."""
        with self._transaction():
            for statement in schema_statements():
                self._execute(statement)
        with _load_folder(file) as place:
            for table, path in _write_nodes(units, place).items():
                self._execute(f"COPY {table} FROM {_quoted(path)}")
                path.unlink()
            for kind, path in _write_rels((row for rows in units for row in rows.rels), place).items():
                self._copy_rels(kind, path)
                path.unlink()
        self._execute("CHECKPOINT")

    def _copy_rels(self, kind: str, path: Path) -> None:
        table, source, target = REL_KINDS[kind]
        pair = f"from='{source}', to='{target}', " if len(table.pairs) > 1 else ""
        self._execute(
            f"COPY {table.name} FROM {_quoted(path)} ({pair}HEADER=false, PARALLEL=false, AUTO_DETECT=false, "
            f"ESCAPE='\"', QUOTE='\"')"
        )

    # Differences ------------------------------------------------------------------------------------------

    def apply(self, changes: Changes, file: Path) -> None:
        """Writes the differences in one transaction."""
        with self._transaction():
            for row in changes.drop_rels:
                self._execute(*_drop_rel(row))
            for table, key in changes.drop_nodes:
                name = NODE_TABLES[table][0].name
                self._execute(f"MATCH (n:{table} {{{name}: $key}}) DETACH DELETE n", {"key": key})
            for update in changes.set_nodes:
                self._must_find(*_set_node(update))
            for nodes in _cut(changes.add_nodes, _JOINED):
                self._execute(*_add_nodes(nodes))
            for row in changes.set_rels:
                self._must_find(*_set_rel(row))
            if len(changes.add_rels) > COPY_FROM:
                with _load_folder(file) as place:
                    for kind, path in _write_rels(changes.add_rels, place).items():
                        self._copy_rels(kind, path)
            else:
                for rels in _joined(changes.add_rels):
                    self._must_find(*_add_rels(rels))

    # Queries ----------------------------------------------------------------------------------------------

    def read(self, cypher: str, parameters: dict[str, Any], limit: int) -> QueryResult:
        """Answers a query that `check_query` let pass."""
        watch = _Watch(self.interrupt)
        try:
            with self._transaction(" READ ONLY"), watch:
                result = self._connection.execute(cypher, parameters)
                if isinstance(result, list):
                    raise InvalidArgument("cypher", "one statement at a time")
                columns = tuple(_LABELS.sub(r"LABEL(\1)", name) for name in result.get_column_names())
                rows: list[tuple[Any, ...]] = []
                while len(rows) < limit and result.has_next() and not watch.fired:
                    rows.append(tuple(plain(value) for value in result.get_next()))
                truncated = bool(result.has_next())
                result.close()
        except (RuntimeError, MemoryError) as error:
            raise InvalidArgument("cypher", watch.fired or _in_words(error)) from error
        if watch.fired:
            raise InvalidArgument("cypher", watch.fired)
        return QueryResult(columns, tuple(rows), truncated)


class _Watch:
    """Interrupts a query that takes too long, or lets the process grow too much.

    Attributes:
        fired: why it was interrupted, in words; "" while it was not.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._done = threading.Event()
        self.fired = ""

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, name="mnemolens-graph-watch", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _watch(self) -> None:
        deadline = time.monotonic() + QUERY_SECONDS
        start = _resident()
        while not self._done.wait(0.05):
            if time.monotonic() > deadline:
                self.fired = f"was stopped after {QUERY_SECONDS:g} seconds: narrow it or add a LIMIT"
            elif _resident() - start > _MAX_GROWTH:
                self.fired = "needs too much memory: narrow it or add a LIMIT"
            if self.fired:
                self._interrupt()


def _resident() -> int:
    """Bytes of memory that the process uses; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0


# Statements ---------------------------------------------------------------------------------------------

_Statement = tuple[str, dict[str, Any]]


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


def _drop_rel(row: Row) -> _Statement:
    match, parameters = _ends(row)
    return f"{match} DELETE r", parameters


def _set_rel(row: Row) -> _Statement:
    match, parameters = _ends(row)
    table = REL_KINDS[row[0]].table
    sets = []
    for place in range(table.identity, len(table.columns)):
        sets.append(f"r.{table.columns[place].name} = $v{place}")
        parameters[f"v{place}"] = row[3 + place]
    return f"{match} SET {', '.join(sets)} RETURN 1", parameters


def _set_node(update: NodeUpdate) -> _Statement:
    columns = NODE_TABLES[update.table]
    sets = ", ".join(f"n.{columns[place].name} = $v{place}" for place in update.columns)
    parameters = {f"v{p}": _value(v) for p, v in zip(update.columns, update.values, strict=True)}
    return (
        f"MATCH (n:{update.table} {{{columns[0].name}: $key}}) SET {sets} RETURN 1",
        {"key": update.key, **parameters},
    )


def _add_nodes(rows: Sequence[Row]) -> _Statement:
    parts, parameters = [], {}
    for number, row in enumerate(rows):
        columns = NODE_TABLES[row[0]]
        names = ", ".join(f"{column.name}: $n{number}_{place}" for place, column in enumerate(columns))
        parts.append(f"(:{row[0]} {{{names}}})")
        parameters.update({f"n{number}_{place}": _value(value) for place, value in enumerate(row[1:])})
    return f"CREATE {', '.join(parts)}", parameters


def _add_rels(rows: Sequence[Row]) -> _Statement:
    """Relations from one node, in one statement."""
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


def _joined(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Relations to make in one statement each: a memory's few together, else one by one.

    Each shape of statement is planned once, which costs more than it saves where shapes are many.
    """
    memories = set(MEMORY_TABLES.values())
    few: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        kind = REL_KINDS[row[0]]
        if kind.source in memories:
            few[kind.source, row[1]].append(row)
        else:
            yield [row]
    for group in few.values():
        yield from _cut(sorted(group, key=lambda row: row[0]), _JOINED)


def _cut(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


# Files to load from -------------------------------------------------------------------------------------


@contextmanager
def _load_folder(file: Path) -> Iterator[Path]:
    """A folder for files to COPY from; the database would take some characters in its path for a pattern."""
    special = _SPECIAL_IN_PATHS & set(str(file))
    place = Path(tempfile.mkdtemp(prefix=f"{file.stem}.load-", dir=None if special else file.parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _quoted(path: Path) -> str:
    text = path.as_posix().replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _write_nodes(units: Iterable[Rows], place: Path) -> dict[str, Path]:
    """One JSON file a table: unlike CSV, it tells an empty text from none."""
    tables: dict[str, list[str]] = defaultdict(list)
    found: dict[str, Path] = {}

    def flush(table: str) -> None:
        path = found.setdefault(table, place / f"{table}.json")
        with path.open("a", encoding="ascii") as stream:
            stream.write("".join(tables.pop(table)))

    names = {table: [column.name for column in columns] for table, columns in NODE_TABLES.items()}
    for rows in units:
        for row in rows.nodes:
            table = row[0]
            record = dict(zip(names[table], row[1:], strict=True))
            tables[table].append(json.dumps(record, default=str) + "\n")
            if len(tables[table]) >= _CHUNK:
                flush(table)
    for table in list(tables):
        flush(table)
    return found


def _write_rels(rels: Iterable[Row], place: Path) -> dict[str, Path]:
    """One CSV file a kind of relation. Their properties are never empty texts, so an empty field is none."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    found: dict[str, Path] = {}

    def flush(kind: str) -> None:
        path = found.setdefault(kind, place / f"{kind.replace('|', '-')}.csv")
        with path.open("a", encoding="utf-8", newline="") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(kinds.pop(kind))

    for row in rels:
        kinds[row[0]].append(row[1:])
        if len(kinds[row[0]]) >= _CHUNK:
            flush(row[0])
    for kind in list(kinds):
        flush(kind)
    return found


# The database's texts -----------------------------------------------------------------------------------


def _is_locked(error: Exception) -> bool:
    return "could not set lock on file" in str(error).lower()


def _in_words(error: BaseException) -> str:
    """The database's message, or the system's, as one line for a person."""
    if isinstance(error, OSError):
        return "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    text = " ".join(str(error).split())
    if "buffer pool is full" in text or "bad_alloc" in text or isinstance(error, MemoryError):
        return "needs too much memory: narrow it or add a LIMIT"
    if "No space left" in text:
        return "the disk is full"
    if "could not set lock on file" in text.lower():
        return "another process has it open"
    return text.removeprefix("Binder exception: ").removeprefix("Runtime exception: ") or "unknown error"

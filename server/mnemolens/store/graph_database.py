"""The graph database in a process of its own, which `graph_entry.py` begins.

The only module that imports kuzu, and knows its texts and habits. A process, since the database can't be
trusted with the server's: a damaged page ends it, `MATCH (a), (b), (c), (d) RETURN sum(a.x)` can't be
interrupted, and a list of a million nodes holds the interpreter for seconds. Here a watch ends the process,
and the graph is built anew.

Owns the frames on its standard input and output: a 4-byte big-endian length, then `pickle` of plain values. A
request is (operation, arguments…); its answer ("ok", value) or ("error", kind, words), and before the answer
to a query ("rows", list) as often as need be. It ends with its input.
"""

import errno
import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

import kuzu

from mnemolens.store.graph_frames import STOPPED, TOO_MUCH, read_frame, too_long, write_frame
from mnemolens.store.graph_results import plain
from mnemolens.store.graph_schema import Changes, Row, schema_statements
from mnemolens.store.graph_statements import (
    JOINED,
    RowFiles,
    add_nodes,
    add_rels,
    cut,
    drop_node,
    drop_rels,
    joined,
    load_folder,
    set_node,
    set_rel,
)

COPY_FROM: Final = 300
"""Relations from which a COPY is quicker than a statement each."""

_POOL: Final = 64 << 20
_BUILD_POOL: Final = 256 << 20
_POOL_A_RELATION: Final = 800
"""Bytes of buffer pool that a bulk load wants for each relation."""

_POOL_A_BYTE: Final = 4
"""The same for each byte of the nodes' files: of 200 MB of texts that differ it takes 3.1."""

_MAX_POOL: Final = 2 << 30
_MAX_FILE: Final = 1 << 34
_MAX_GROWTH: Final = 1 << 30
"""Bytes that the process may grow by during one query of the user's."""

_GRACE: Final = 1.0
"""Seconds that an interrupt is given before the process ends."""

_ROWS_A_FRAME: Final = 20
_MAX_ROW: Final = 4 << 20
"""Bytes of one row of an answer: reading a longer one would hold the server's interpreter for long."""

_LABELS: Final = re.compile(r"LABEL\((\w+)\._ID,\[[^]]*\]\)")
"""The database names a column of `label(x)` by all the labels that x could have."""

_WORDS: Final = {
    "buffer pool is full": TOO_MUCH,
    "bad_alloc": TOO_MUCH,
    "no space left": "the disk is full",
    "could not set lock on file": "another process has it open",
    "assertion failed": "the database can't do that with these values",
    "this should not happen": "the database can't do that with these values",
    "unordered_map::at": "the pattern is too long for the database",
}
"""What is said instead of the database's texts that hold these."""


class _Refused(Exception):
    """A query that is wrong, or has no answer that anybody could use; says so in words."""


class Database:
    """An open graph file and its one connection. Belongs to one thread, but for `interrupt`.

    Args:
        file: is made if need be.
        pool: bytes of memory that it may use.

    Attributes:
        statements: executed so far.

    Raises:
        RuntimeError: it can't be opened.
    """

    def __init__(self, file: Path, *, pool: int = _POOL) -> None:
        self.statements = 0
        self._file = file
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

    def load(self, files: RowFiles) -> None:
        """Fills the empty file.

        Raises:
            RuntimeError: it is in an unknown state.
        """
        with self._transaction():
            for statement in schema_statements():
                self._execute(statement)
        for statement in files.statements():
            self._execute(statement)
        self._execute("CHECKPOINT")

    def apply(self, changes: Changes) -> None:
        """Writes the differences in one transaction.

        Raises:
            RuntimeError: nothing was written, or, after a COPY, it can't be known.
            LookupError: an end of a relation, or a node to change, is not there; nothing was written.
        """
        with self._transaction():
            for statement, parameters in drop_rels(changes.drop_rels):
                self._execute(statement, parameters)
            for table, key in changes.drop_nodes:
                self._execute(*drop_node(table, key))
            for update in changes.set_nodes:
                self._must_find(*set_node(update))
            for nodes in cut(changes.add_nodes, JOINED):
                self._execute(*add_nodes(nodes))
            for row in changes.set_rels:
                self._must_find(*set_rel(row))
            if len(changes.add_rels) > COPY_FROM:
                self._copy(changes.add_rels)
            else:
                for rels in joined(changes.add_rels):
                    self._must_find(*add_rels(rels))

    def read(self, cypher: str, parameters: dict[str, Any], limit: int, seconds: float) -> Iterator[Row]:
        """Answers a query that the guard let pass: first the names of the columns, then rows.

        One row more than the limit tells that there are more.

        Raises:
            RuntimeError: the query is wrong.
            _Refused: it takes too long or too much.
        """
        watch = _Watch(self.interrupt, seconds)
        with watch, self._transaction(" READ ONLY"):
            try:
                result = self._connection.execute(cypher, parameters)
                if isinstance(result, list):
                    raise _Refused("one statement at a time")
                yield tuple(_LABELS.sub(r"LABEL(\1)", name) for name in result.get_column_names())
                count = 0
                while count <= limit and not watch.fired and result.has_next():
                    yield tuple(plain(value) for value in result.get_next())
                    count += 1
                result.close()
            except RuntimeError as error:
                raise _Refused(watch.fired or in_words(error)) from error
            if watch.fired:
                raise _Refused(watch.fired)

    def _copy(self, rels: tuple[Row, ...]) -> None:
        with load_folder(self._file) as place:
            files = RowFiles(place)
            files.add((), rels)
            for statement in files.statements():
                self._execute(statement)

    def _execute(self, statement: str, parameters: dict[str, Any] | None = None) -> Any:
        """Executes a statement of ours; with parameters it is prepared once."""
        self.statements += 1
        if parameters is None:
            return self._connection.execute(statement)
        prepared = self._prepared.get(statement)
        if prepared is None:
            # Not `prepare`, which warns of its own end; `execute` alone plans anew each time.
            prepared = self._prepared[statement] = kuzu.PreparedStatement(self._connection, statement)
        return self._connection.execute(prepared, parameters)

    def _must_find(self, statement: str, parameters: dict[str, Any]) -> None:
        """Executes a statement that returns a row where it matched something, which it has to."""
        if not self._execute(statement, parameters).has_next():
            raise LookupError(f"nothing there for {statement!r}")

    @contextmanager
    def _transaction(self, kind: str = "") -> Iterator[None]:
        self._connection.execute(f"BEGIN TRANSACTION{kind}")
        try:
            yield
        except BaseException:
            # An error may have rolled it back already; then there is nothing left to end.
            with suppress(RuntimeError):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


class _Watch:
    """Interrupts a query that takes too long, or lets the process grow too much; then ends the process.

    Attributes:
        fired: why it was interrupted, in words; "" while it was not.
    """

    def __init__(self, interrupt: Callable[[], None], seconds: float) -> None:
        self._interrupt = interrupt
        self._seconds = seconds
        self._done = threading.Event()
        self.fired = ""

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()

    def _watch(self) -> None:
        deadline, least = time.monotonic() + self._seconds, _resident()
        while not self._done.wait(0.05):
            late = time.monotonic() > deadline
            if self.fired and late:
                os._exit(STOPPED)
            if not self.fired and (late or _resident() - least > _MAX_GROWTH):
                self.fired = too_long(self._seconds) if late else TOO_MUCH
                deadline = time.monotonic() + _GRACE
            if self.fired:
                self._interrupt()


def _resident() -> int:
    """Bytes of memory that the process uses; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0


def in_words(error: BaseException) -> str:
    """The database's message, or the system's, as one line for a person."""
    if isinstance(error, OSError):
        return "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    if isinstance(error, LookupError):
        return "it did not hold what was to be changed"
    text = " ".join(str(error).split())
    for part, words in _WORDS.items():
        if part in text.lower():
            return words
    return text.removeprefix("Binder exception: ").removeprefix("Runtime exception: ") or "unknown error"


# The process --------------------------------------------------------------------------------------------


def load_pool(files: RowFiles, relations: int) -> int:
    """Bytes of memory that loading these may use: no more is taken than it needs."""
    return _BUILD_POOL + _POOL_A_RELATION * relations + _POOL_A_BYTE * files.node_bytes


class _Desk:
    """Carries requests out, one after the other."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._database: Database | None = None
        self._loading = ExitStack()
        self._files: RowFiles | None = None

    @property
    def database(self) -> Database:
        """The open one."""
        if self._database is None:
            raise RuntimeError("no graph file is open")
        return self._database

    def open(self, file: str) -> None:
        """Opens a file in place of the one that is open."""
        self.close()
        self._database = Database(Path(file))

    def close(self) -> None:
        """Closes the file, and drops what was to be loaded."""
        self._loading.close()
        self._files = None
        if self._database is not None:
            self._database.close()
            self._database = None

    def take(self, file: str, nodes: list[Row], rels: list[Row]) -> None:
        """Rows for the next `load`."""
        if self._files is None:
            self._files = RowFiles(self._loading.enter_context(load_folder(Path(file))))
        self._files.add(nodes, rels)

    def load(self, file: str, relations: int) -> int:
        """Makes a new file of the rows that were taken, and closes it; the number of statements."""
        self.take(file, [], [])
        assert self._files is not None
        try:
            with closing(Database(Path(file), pool=load_pool(self._files, relations))) as database:
                database.load(self._files)
        finally:
            self._loading.close()
            self._files = None
        return database.statements

    def apply(self, changes: Changes) -> int:
        """Writes differences; the number of statements."""
        before = self.database.statements
        self.database.apply(changes)
        return self.database.statements - before

    def read(self, cypher: str, parameters: dict[str, Any], limit: int, seconds: float) -> None:
        """Answers a query in frames of some rows."""
        rows: list[Row] = []
        for row in self.database.read(cypher, parameters, limit, seconds):
            if len(pickle.dumps(row)) > _MAX_ROW:
                raise _Refused("one row of the answer is larger than 4 MB: narrow it")
            rows.append(row)
            if len(rows) >= _ROWS_A_FRAME:
                write_frame(self._answers, ("rows", rows))
                rows = []
        write_frame(self._answers, ("rows", rows))


def main() -> None:
    """Answers requests until the input ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What the database prints must not get between the frames.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the starter's to answer
    desk = _Desk(answers)
    write_frame(answers, ("ok", "ready"))
    with suppress(EOFError, OSError):
        while True:
            operation, *arguments = read_frame(requests)
            write_frame(answers, _answer(desk, operation, arguments))
    desk.close()


def _answer(desk: _Desk, operation: str, arguments: list[Any]) -> tuple[Any, ...]:
    try:
        return ("ok", getattr(desk, operation)(*arguments))
    except _Refused as error:
        return ("error", "refused", str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the database is still there to be asked
        kind = "locked" if "could not set lock on file" in str(error).lower() else "failed"
        return ("error", kind, in_words(error))

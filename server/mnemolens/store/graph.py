"""The graph: one file in a slot of its own, written and read by a process of its own, asked by one thread.

Everything is done in turn; callers get futures. All of it is derived: whatever was in the slot is removed and
the graph built anew, at each start and whenever anything is doubtful, so that no damaged, locked or outdated
file is ever opened; nothing else waits for that. It decides nothing about what belongs into the graph (see
`engine/graph_sync.py`), and knows nothing of kuzu (see `graph_database.py`).
"""

import errno
import functools
import importlib.util
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from mnemolens.core.clock import Clock
from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.views import GraphState
from mnemolens.store.graph_cypher import check_query
from mnemolens.store.graph_frames import TOO_MUCH, too_long
from mnemolens.store.graph_process import DatabaseError, GraphProcess, ProcessEnded
from mnemolens.store.graph_results import QueryResult
from mnemolens.store.graph_schema import Changes, Row, Rows
from mnemolens.store.graph_slots import NoSlot, Slot, sweep, take_slot, temporary_slot

log = logging.getLogger(__name__)

_T = TypeVar("_T")

QUERY_SECONDS: Final = 5.0
OVERDUE_SECONDS: Final = 5.0
"""So long after that its process is ended, which should have ended itself."""

WRITE_SECONDS: Final = 60.0
WRITE_SECONDS_A_ROW: Final = 0.02
"""Forty times what a relation takes: who needs longer is stuck."""

LOAD_SECONDS: Final = 300.0
LOAD_SECONDS_A_ROW: Final = 0.001
"""The same for rows that are loaded into a new file."""

MAX_ROWS: Final = 1000
MISSING: Final = "kuzu is not installed"
_MAX_LOSSES: Final = 3
_PORTION: Final = 400
"""Rows handed to the process at a time: few, so that nobody waits for the interpreter."""


class GraphLost(Exception):
    """The graph no longer holds what it should: `build` it anew. Says why in words."""


class WriteReport(NamedTuple):
    """What a write cost.

    Attributes:
        statements: how many were executed, without BEGIN and COMMIT.
        seconds: until it was done, without waiting for its turn.
    """

    statements: int
    seconds: float


class GraphStore:
    """One graph. Methods may be called from any thread, and return at once.

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
        self._process: GraphProcess | None = None
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

    @property
    def is_lost(self) -> bool:
        """Whether there is no graph to write to or ask, but there can be: `build` it."""
        return self._state.state == "building"

    def open(self) -> Future[None]:
        """Takes a slot. There is a graph once it was built; see `state`."""
        if self._thread is None:
            self._state = GraphState("starting", None, None)
            self._thread = threading.Thread(target=self._run, name="mnemolens-graph", daemon=True)
            self._thread.start()
        return self._submit(self._open)

    def build(self, units: Iterable[Rows]) -> Future[WriteReport]:
        """Builds the graph from nothing: a new file, filled by COPY, takes the old one's place.

        Args:
            units: all that is to be in it; read in the graph's thread, once for each slot that is tried.

        Raises:
            GraphUnavailable: (in the future) it can't be; `state` says why.
        """
        return self._submit(lambda: self._build(units))

    def write(self, changes: Changes) -> Future[WriteReport]:
        """Writes differences in one transaction.

        Raises:
            GraphLost: (in the future) they could not be written: build the graph anew.
            GraphUnavailable: (in the future) there is no graph, nor can there be.
        """
        return self._submit(lambda: self._write(changes))

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, limit: int = MAX_ROWS
    ) -> Future[QueryResult]:
        """Answers a read-only query, after all that was submitted before it.

        Raises:
            InvalidArgument: the query is not allowed, or (in the future) wrong, too long or too large.
            GraphLost: (in the future) the process was gone, or went: build the graph anew, and ask again.
            GraphUnavailable: (in the future) there is no graph.
        """
        given = check_query(cypher, parameters)
        return self._submit(lambda: self._query(cypher, given, limit))

    def close(self, timeout: float = 5.0) -> None:
        """Lets go of the slot; what takes longer than half a second is ended. Again is harmless."""
        thread = self._thread
        if thread is None or self._closing:
            return
        self._closing = True
        self._jobs.put(None)
        thread.join(0.5)
        process = self._process
        if thread.is_alive() and process is not None:
            process.kill()
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
        self._state = GraphState("off", None, "it was closed")
        with suppress(queue.Empty):
            while True:  # submitted while we closed: they are told so
                late = self._jobs.get_nowait()
                if late is not None:
                    late()

    def _open(self) -> None:
        if self._slot is not None or self.is_off:
            return
        if not is_installed():
            self._missing(MISSING)
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
        self._end(reason)

    def _missing(self, reason: str) -> None:
        """No graph here, nor in any other folder: nothing that anybody has to be warned of."""
        _say_once(reason)
        self._end(reason)

    def _end(self, reason: str) -> None:
        self._shut()
        self._state = GraphState("off", None, reason)

    def _shut(self) -> None:
        self._end_process()
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _unavailable(self) -> GraphUnavailable:
        reason = f": {self._state.reason}" if self._state.reason else ""
        return GraphUnavailable(f"the graph is {self._state.state}{reason}")

    # Building ---------------------------------------------------------------------------------------------

    def _build(self, units: Iterable[Rows]) -> WriteReport:
        begun = time.perf_counter()
        while (slot := self._slot) is not None:
            self._state = GraphState("building", slot.number, slot.reason)
            try:
                statements = self._build_in(slot, units)
            except (DatabaseError, ProcessEnded, OSError) as error:
                self._end_process()  # it may still have the file open
                if self._closing:
                    break
                if isinstance(error, DatabaseError) and error.kind == "missing":
                    self._missing(str(error))
                    break
                self._leave(slot, error)
            else:
                self._state = GraphState("ready", slot.number, slot.reason)
                return WriteReport(statements, time.perf_counter() - begun)
        raise self._unavailable()

    def _build_in(self, slot: Slot, units: Iterable[Rows]) -> int:
        if self._process is None:
            self._process = GraphProcess()
        process = self._process
        process.call("close")
        slot.clear()
        file = str(slot.new_file)
        seen = relations = 0
        nodes: list[Row] = []
        rels: list[Row] = []
        for rows in units:
            nodes += rows.nodes
            rels += rows.rels
            relations += len(rows.rels)
            seen += len(rows.nodes) + len(rows.rels)
            while len(nodes) + len(rels) > _PORTION:
                process.call("take", file, nodes[:_PORTION], rels[:_PORTION])
                del nodes[:_PORTION], rels[:_PORTION]
        process.call("take", file, nodes, rels)
        seconds = LOAD_SECONDS + LOAD_SECONDS_A_ROW * seen
        statements: int = process.call("load", file, relations, seconds=seconds)
        slot.accept()
        process.call("open", str(slot.file))
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
                self._off(f"{slot.reason}, nor can the temporary one ({reason})")
            elif isinstance(error, DatabaseError) and error.kind == "locked":
                self._take(take_slot(self._folder, above=slot.number))
            else:
                self._take(temporary_slot(f"the cache folder can't be used ({reason})"))
        except NoSlot as none:
            self._off(str(none))

    # Writing ----------------------------------------------------------------------------------------------

    def _write(self, changes: Changes) -> WriteReport:
        process = self._ready()
        if process is None:
            raise GraphLost(self._state.reason or "it is not built")
        begun = time.perf_counter()
        try:
            statements = self._apply(process, changes)
        except (DatabaseError, ProcessEnded) as error:
            if isinstance(error, ProcessEnded):
                self._end_process()
            self._lost(f"writing failed ({error})")
            raise GraphLost(_in_words(error)) from error
        self._losses = 0
        return WriteReport(statements, time.perf_counter() - begun)

    @staticmethod
    def _apply(process: GraphProcess, changes: Changes) -> int:
        seconds = WRITE_SECONDS + WRITE_SECONDS_A_ROW * sum(map(len, changes))
        try:
            return int(process.call("apply", changes, seconds=seconds))
        except DatabaseError as error:
            # A COPY that raised may have been committed all the same: never again on top of it.
            if len(changes.add_rels) > _COPY_FROM:
                raise
            log.warning("writing to the graph failed, once more: %s", error)
            return int(process.call("apply", changes, seconds=seconds))

    def _lost(self, reason: str) -> None:
        """What the file holds is not known, or not what it should."""
        self._losses += 1
        if self._losses > _MAX_LOSSES:
            self._off(f"it was lost again and again ({reason})")
            return
        log.warning("the graph is to be built anew: %s", reason)
        self._state = GraphState("building", self._slot.number if self._slot else None, reason)

    def _ready(self) -> GraphProcess | None:
        """The process with the open file; None where it is to be built first.

        Raises:
            GraphUnavailable: there is no graph, nor can there be.
        """
        if self._slot is None:
            raise self._unavailable()
        return self._process if self._state.state == "ready" else None

    # Reading ----------------------------------------------------------------------------------------------

    def _query(self, cypher: str, parameters: dict[str, Any], limit: int) -> QueryResult:
        process = self._ready()
        if process is None:
            raise self._unavailable()
        rows: list[Row] = []
        begun = time.perf_counter()
        seconds = QUERY_SECONDS + OVERDUE_SECONDS
        try:
            process.call(
                "read", cypher, parameters, limit, QUERY_SECONDS, seconds=seconds, on_rows=rows.extend
            )
        except DatabaseError as error:
            raise InvalidArgument("cypher", str(error)) from error
        except ProcessEnded as error:
            self._losses = 0  # the query's doing, or somebody else's: not a fault that comes again
            self._end_process()
            stopped = error.by_itself or error.overdue
            self._lost("a query had to be stopped" if stopped else str(error))
            if self._closing:
                raise GraphUnavailable("the graph is closed") from error
            if not stopped:
                raise GraphLost(str(error)) from error
            late = error.overdue or time.perf_counter() - begun >= QUERY_SECONDS
            raise InvalidArgument("cypher", too_long(QUERY_SECONDS) if late else TOO_MUCH) from error
        columns, *found = rows
        return QueryResult(tuple(columns), tuple(found[:limit]), len(found) > limit)


_COPY_FROM: Final = 300  # as `graph_database.COPY_FROM`, which only its process may import


@functools.cache
def _say_once(reason: str) -> None:
    """Once a process, however many folders are open."""
    log.info("no graph is kept: %s; everything but Cypher works", reason)


def is_installed() -> bool:
    """Whether kuzu can be imported, without doing so."""
    try:
        return importlib.util.find_spec("kuzu") is not None
    except (ImportError, ValueError):
        return False


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError):
        return "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    return str(error)

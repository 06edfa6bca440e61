"""Keeps the graph database in step with the read model: what changed, when to write it, who waits for it.

Changes are only noted (`file_changed`, `memories_changed`), which costs nothing. Later the rows of what
changed, and of what depends on it, are computed on the event loop in small slices, compared with the rows
written last, and the differences handed to the graph's thread. Only a reader of the graph waits for that.

Owns the rows that were written. What rows are is `graph_rows.py`'s, who depends on whom `graph_uses.py`'s.
All methods belong to the event loop's thread.
"""

import asyncio
import heapq
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from mnemolens.codegraph.index import CodeIndex
from mnemolens.core.clock import Clock
from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.memories import Link, Memory
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols, SymbolKey
from mnemolens.core.views import GraphState
from mnemolens.engine.graph_packed import KeptRows, Unpacking, packing, unpacked
from mnemolens.engine.graph_rows import (
    FileFacts,
    bare_file_rows,
    clean,
    edge_rows,
    file_rows,
    link_rows,
    memory_row,
    resolving,
    session_rows,
    table_of,
)
from mnemolens.engine.graph_uses import Uses
from mnemolens.engine.links import Links
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import Slices
from mnemolens.ranking.decay import DecayParams
from mnemolens.store.graph import MAX_ROWS, QUERY_SECONDS, GraphLost, GraphStore, WriteReport
from mnemolens.store.graph_cypher import check_query
from mnemolens.store.graph_results import QueryResult
from mnemolens.store.graph_schema import AGENT, FILE, NO_ROWS, SESSION, Row, Rows, differences
from mnemolens.store.merge import MergedState

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Unit = tuple[str, str]
"""("file" | "calls" | "memory" | SESSION | AGENT, its name)."""

QUIET: Final = 0.3
"""Seconds without a change after which changes are written."""

LATEST: Final = 2.0
"""Seconds after which they are, quiet or not."""

SLICE_SECONDS: Final = 0.0005
"""What a hover waits while changes are computed; a graph built from nothing would take twice as long so."""

AGING: Final = timedelta(hours=1)
"""How often all weights are computed anew."""

MIN_FADING: Final = 0.01
"""A weight that changed by less, within its layer, is not written."""

_WEIGHT, _LAYER = -2, -1


class GraphSync:
    """Write-behind of one folder's read model.

    Args:
        store: not opened yet.
        index: all symbols.
        state: the merged journal.
        links: derived from both.
        facts: what a file's node says of its text; asked rarely, but on the event loop.
        clock: tells what has expired, and weights.
        decay: parameters of the weights as they are now.

    Attributes:
        builds: how often the graph was built from nothing.
    """

    def __init__(
        self,
        store: GraphStore,
        index: CodeIndex,
        state: MergedState,
        links: Links,
        facts: Callable[[str], FileFacts],
        clock: Clock,
        decay: Callable[[], DecayParams],
    ) -> None:
        self._store = store
        self._index = index
        self._state = state
        self._links = links
        self._facts = facts
        self._clock = clock
        self._decay = decay
        self.builds = 0
        self._started = False
        self._notes = 0
        self._built = False
        self._complete = asyncio.Event()
        self._noted = asyncio.Event()
        self._lock = asyncio.Lock()
        self._uses = Uses()
        self._rows: dict[_Unit, KeptRows] = {}
        self._written: dict[_Unit, KeptRows] = {}  # of what changed since: what the graph holds
        self._symbols: dict[str, FileSymbols] = {}
        self._files: dict[str, None] = {}  # to look at
        self._moved: dict[str, None] = {}  # to look at once somebody reads
        self._calls: dict[str, None] = {}
        self._memories: dict[str, None] = {}
        self._present: dict[str, Memory] = {}
        self._linking: dict[str, set[str]] = defaultdict(set)  # file -> memories with a link into it
        self._linked: dict[str, frozenset[str]] = {}  # the other way round
        self._members: dict[_Unit, set[str]] = defaultdict(set)
        self._expiries: list[tuple[datetime, str]] = []
        self._aged_at: datetime | None = None

    # What Workspace calls ---------------------------------------------------------------------------------

    @property
    def state(self) -> GraphState:
        """The graph in words, for the status."""
        found = self._store.state
        if found.state == "building" and not self._complete.is_set():
            return GraphState(found.state, found.slot, found.reason or "it waits for the index")
        return found

    def start(self) -> None:
        """Opens the graph in its thread. Before, nothing is noted, nothing is imported."""
        if not self._started:
            self._started = True
            self._store.open()
            if self._complete.is_set():
                self.all_changed()

    def index_complete(self) -> None:
        """Every file has been indexed once, and all links were derived: the graph can be built."""
        if not self._complete.is_set():
            self._complete.set()
            self.all_changed()

    def file_changed(self, file: str) -> None:
        """The index has other symbols of this file, or the same ones elsewhere, or none any more."""
        if self._started:
            self._files[file] = None
            self._notes += 1
            self._noted.set()

    def memories_changed(self, memory_ids: Iterable[str]) -> None:
        """The journal says something else of these, or their links were derived anew."""
        if self._started:
            self._memories.update(dict.fromkeys(memory_ids))
            self._noted.set()

    def all_changed(self) -> None:
        """Anything may have changed: settings, the whole index."""
        if self._started:
            self._notes += 1
            self._files.update(dict.fromkeys((*self._symbols, *self._index.files())))
            self.memories_changed((*self._present, *self._state.memories()))

    def purged(self) -> None:
        """A memory was purged: the graph is built anew, for a file keeps what was deleted in it."""
        if self._started:
            self._built = False
            self._noted.set()

    async def run(self) -> None:
        """Writes changes in the background once it is quiet; cancel the task to end it."""
        await self._complete.wait()
        while not self._store.is_off:
            await self._noted.wait()
            begun = time.monotonic()
            while self._noted.is_set() and time.monotonic() - begun < LATEST:
                self._noted.clear()
                await asyncio.sleep(QUIET)
            self._noted.clear()
            try:
                await self._flush(exact=False)
            except GraphUnavailable as error:
                log.info("the graph is not kept: %s", error)
            except Exception:
                log.exception("the graph could not be brought up to date")

    async def flush(self) -> None:
        """Returns once the graph holds everything that was noted until now.

        Waits for the index to be complete first.

        Raises:
            GraphUnavailable: there is no graph; says why.
        """
        if not self._started or self._store.is_off:
            raise GraphUnavailable(f"the graph is off: {self._store.state.reason}")
        await self._complete.wait()
        # A client that cancels its request must not part what the graph holds from what we believe it holds.
        flushing = asyncio.ensure_future(self._flush(exact=True))
        flushing.add_done_callback(_retrieve)
        await asyncio.shield(flushing)

    async def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, limit: int = MAX_ROWS
    ) -> QueryResult:
        """Answers a read-only query; it sees everything that was noted before.

        Raises:
            InvalidArgument: the query is not allowed, wrong, or takes too long or too much.
            GraphUnavailable: there is no graph; says why.
        """
        given = check_query(cypher, parameters)
        await self.flush()
        try:
            return await _taken(self._store.query(cypher, given, limit))
        except GraphLost:
            return await self._ask_once_more(cypher, given, limit)
        finally:
            if self._store.is_lost:
                self._noted.set()  # a query that had to be stopped took the graph with it: `run` builds it

    async def _ask_once_more(self, cypher: str, given: Mapping[str, Any], limit: int) -> QueryResult:
        """The process was gone, or went while it answered: who ended it can't be known the first time."""
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                await self.flush()
        except TimeoutError:
            raise GraphUnavailable("the graph's process had ended: ask again once it is built anew") from None
        try:
            return await _taken(self._store.query(cypher, given, limit))
        except GraphLost as error:
            raise InvalidArgument("cypher", "the database ends over it: narrow it") from error

    def close(self) -> None:
        """Closes the file and lets go of the slot. What waits is not written: it is derived."""
        self._store.close()

    # Writing ----------------------------------------------------------------------------------------------

    async def _flush(self, *, exact: bool) -> WriteReport | None:
        async with self._lock:
            if self._store.is_off:
                raise GraphUnavailable(f"the graph is off: {self._store.state.reason}")
            self._note_time(self._clock.now())
            if exact:
                self._files.update(self._moved)
                self._moved.clear()
            with bulk_load():
                await self._compute(exact=exact)
            return await self._write()

    async def _write(self) -> WriteReport | None:
        # No await between the last look at the model and here: all rows are of one moment.
        written, self._written = self._written, {}
        built, self._built = self._built and not self._store.is_lost, False  # what fails below leaves it so
        report: WriteReport | None = None
        if built:
            before = Unpacking(written.values())
            after = Unpacking(self._rows.get(unit, NO_ROWS) for unit in written)
            # Of a checkout this takes seconds.
            changes = await asyncio.to_thread(differences, zip(before, after, strict=True))
            try:
                if changes:
                    report = await _taken(self._store.write(changes))
            except GraphLost:
                built = False
        if not built:
            # Rows of this moment too: nothing was computed since, the lock is held.
            report = await _taken(self._store.build(Unpacking(self._rows.values())))
            self.builds += 1
        self._built = True
        return report

    def _note_time(self, now: datetime) -> None:
        while self._expiries and self._expiries[0][0] <= now:
            self._memories[heapq.heappop(self._expiries)[1]] = None
        if self._aged_at is None:
            self._aged_at = now
        elif abs(now - self._aged_at) >= AGING:
            self._aged_at = now
            self._memories.update(dict.fromkeys(self._state.memories()))

    # Computing --------------------------------------------------------------------------------------------

    async def _compute(self, *, exact: bool) -> None:
        """Brings `_rows` up to date; changes that arrive meanwhile are taken in."""
        now = self._clock.now()
        slices = Slices(SLICE_SECONDS if self._built else None)
        while self._files or self._calls or self._memories:
            steps = self._step(now, exact=exact or not self._built)
            while not _is_done(steps):
                await slices.pause()

    def _step(self, now: datetime, *, exact: bool) -> Iterator[None]:
        """Does one file or memory, in steps after each of which the event loop may do something else."""
        if self._files:
            yield from self._look_at(_take(self._files), exact=exact)
        elif self._calls:
            yield from self._resolve(_take(self._calls))
        else:
            self._remember(_take(self._memories), now)
        yield

    def _look_at(self, file: str, *, exact: bool) -> Iterator[None]:
        before, after = self._symbols.get(file), self._index.get(file)
        same = before is not None and before == after
        if same and not exact:
            self._moved[file] = None
            return
        if after is not None:
            rows = yield from file_rows(file, after, self._facts(file))
            self._put(("file", file), (yield from packing(rows)))
            self._symbols[file] = after
        else:
            self._symbols.pop(file, None)
            self._put(("file", file), self._bare(file))
        if same or before is after:
            return
        yield
        self._calls.update(dict.fromkeys((yield from self._uses.affected(self._index, file, before, after))))
        yield
        if _nodes(before) != _nodes(after):
            self._memories.update(dict.fromkeys(self._linking.get(file, ())))

    def _bare(self, file: str) -> Rows:
        """A file that is not indexed has a node while a memory is on it."""
        own = SymbolKey(file, "")
        wanted = any(link.target == own for one in self._linking.get(file, ()) for link in self._good(one))
        return bare_file_rows(file, self._facts(file)) if wanted else NO_ROWS

    def _resolve(self, file: str) -> Iterator[None]:
        symbols = self._index.get(file)
        if symbols is None:
            self._uses.put(file, None)
            self._put(("calls", file), NO_ROWS)
            return
        noted = self._notes
        found = yield from resolving(self._index, file, symbols)
        self._uses.put(file, found)
        self._put(("calls", file), (yield from packing(Rows((), found.rels))))
        if self._notes != noted:
            # What it looked at first may have changed since, and who depends on whom was not noted yet.
            self._calls[file] = None

    def _remember(self, memory_id: str, now: datetime) -> None:
        before = self._present.pop(memory_id, None)
        memory = self._state.memory(memory_id)
        if memory is not None and (memory.status == "forgotten" or _expired(memory, now)):
            memory = None
        if memory is not None:
            self._present[memory_id] = memory
            if memory.expires_at is not None:
                heapq.heappush(self._expiries, (memory.expires_at, memory_id))
        if (before and before.type) != (memory and memory.type):
            for edge in self._state.edges_of(memory_id):
                self._memories[edge.source_id] = None
            self._memories.pop(memory_id, None)
        self._join(memory_id, before, memory)
        self._link(memory_id)
        self._put(("memory", memory_id), NO_ROWS if memory is None else self._memory_rows(memory, now))

    def _memory_rows(self, memory: Memory, now: datetime) -> Rows:
        node = memory_row(memory, now, self._decay())
        known = self._rows.get(("memory", memory.id))
        if known is not None:
            node = _unfaded(unpacked(known).nodes[0], node)
        edges = (edge for edge in self._state.edges_of(memory.id) if edge.source_id == memory.id)
        links = link_rows(memory, self._links.links_of(memory.id), self._table)
        return Rows((node,), (*links, *edge_rows(edges, self._present.get)))

    def _table(self, key: SymbolKey) -> str | None:
        if not key.qualname:
            return FILE
        symbol = self._index.symbol(key)
        return None if symbol is None else table_of(symbol)

    def _good(self, memory_id: str) -> Iterable[Link]:
        if memory_id not in self._present:
            return ()
        return (link for link in self._links.links_of(memory_id) if not link.candidate)

    def _link(self, memory_id: str) -> None:
        """Notes which files the memory's links go to: their nodes decide which links have relations."""
        after = frozenset(link.target.file for link in self._good(memory_id))
        before = self._linked.get(memory_id, frozenset())
        for file in before - after:
            self._linking[file].discard(memory_id)
            if not self._linking[file]:
                del self._linking[file]
        for file in after - before:
            self._linking[file].add(memory_id)
        if after:
            self._linked[memory_id] = after
        else:
            self._linked.pop(memory_id, None)
        for file in before | after:
            if self._index.get(file) is None:
                self._put(("file", file), self._bare(file))

    def _join(self, memory_id: str, before: Memory | None, after: Memory | None) -> None:
        """Sessions and agents have nodes while a memory of theirs has."""
        for table, old, new in (
            (SESSION, before and before.session_id, after and after.session_id),
            (AGENT, before and before.agent_id, after and after.agent_id),
        ):
            if old == new:
                continue
            for name, joins in ((old, False), (new, True)):
                if name:
                    unit = (table, str(clean(name)))
                    members = self._members[unit]
                    members.add(memory_id) if joins else members.discard(memory_id)
                    self._put(unit, session_rows(table, name) if members else NO_ROWS)
                    if not members:
                        del self._members[unit]

    def _put(self, unit: _Unit, rows: KeptRows) -> None:
        before = self._rows.get(unit, NO_ROWS)
        if before == rows:
            return
        self._written.setdefault(unit, before)
        if rows == NO_ROWS:
            self._rows.pop(unit, None)
        else:
            self._rows[unit] = rows


def _is_done(steps: Iterator[None]) -> bool:
    """Goes one step; a fault costs what is at hand, never the rest."""
    try:
        next(steps)
    except StopIteration:
        return True
    except Exception:
        log.exception("the graph misses something: its rows can't be made")
        return True
    return False


def _take(noted: dict[str, None]) -> str:
    """The first that was noted."""
    found = next(iter(noted))
    del noted[found]
    return found


def _expired(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _nodes(symbols: FileSymbols | None) -> set[tuple[str, int, bool]] | None:
    """The nodes of a file: their names, and which of the two tables they are in."""
    if symbols is None:
        return None
    return {(symbol.qualname, symbol.ordinal, symbol.kind in CLASS_KINDS) for symbol in symbols.symbols}


def _unfaded(before: Row, after: Row) -> Row:
    """The row of before where nothing changed but the weight, and that too little to be written."""
    if before[:_WEIGHT] != after[:_WEIGHT] or before[_LAYER] != after[_LAYER]:
        return after
    return before if abs(before[_WEIGHT] - after[_WEIGHT]) < MIN_FADING else after


def _retrieve(task: "asyncio.Task[Any]") -> None:
    """Takes note of a failure that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


async def _taken(future: Future[_T]) -> _T:
    return await asyncio.wrap_future(future)

"""The journal: appends events to the segment this process holds, and hears of what others append.

Whoever holds the lock `<writer>.lock` alone appends to `<writer>.jsonl`. One thread does all the writing: it
gathers the appends that wait, writes them in one go, fsyncs once, and only then resolves their futures.
Nothing is created on disk before the first append. A purge rewrites the segment we hold and those that nobody
holds; that of another process is rewritten by that process, when it hears of the purge. What events mean is
`merge.py`'s; how segments are read is `segments.py`'s, how one is made `held_segment.py`'s; which lines a
purge takes out is `purge.py`'s.
"""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mnemolens.core.clock import Clock, HybridClock, is_reading
from mnemolens.core.errors import StoreError
from mnemolens.core.events import (
    Event,
    EventData,
    MemoryAccess,
    MemoryPurge,
    Payload,
    encode_line,
    prepare,
)
from mnemolens.core.ids import new_ulid
from mnemolens.store.held_segment import HeldSegment, make_folders, make_segment, open_segment
from mnemolens.store.layout import OlderStore
from mnemolens.store.locks import FileLock, LockUnavailable, locks_trusted
from mnemolens.store.purge import (
    Cleaned,
    clean_segment,
    clean_unheld,
    holds_any,
    is_held,
    may_hold,
    segments_in,
)
from mnemolens.store.segments import Header, SegmentFolder, SkippedLine


class JournalStats(NamedTuple):
    """What the journal holds, as far as it was read."""

    segments: int
    events: int
    skipped: tuple[SkippedLine, ...]


class PurgeOutcome(NamedTuple):
    """What a purge did.

    Attributes:
        events: to be merged, as those of an append.
        cleaned: where the text is gone, and where it is not yet.
    """

    events: tuple[Event, ...]
    cleaned: Cleaned


class _Stamped(NamedTuple):
    """An event that keeps the id and clock it has."""

    event: Event
    payload: Payload


@dataclass(slots=True)
class _Request:
    """One append that waits: payloads, or accesses to be counted."""

    payloads: Sequence[Payload | _Stamped]
    future: Future[tuple[Event, ...]]
    durable: bool = True
    accesses: Mapping[str, int] | None = None
    at: datetime | None = None


@dataclass(slots=True)
class _Purge:
    """A purge that waits.

    Attributes:
        payloads: its events; none where they were written before: then our own segment is cleaned, and what
            was pending is looked at again.
    """

    memories: frozenset[str]
    payloads: Sequence[Payload]
    future: Future[PurgeOutcome]


class Journal:
    """The journal of one store. All methods may be called from any thread.

    Args:
        folder: the store's folder; segments lie in `journal/` below it.
        base: written into the header of segments made here (`Layout.base`).
        clock: tells the time.
        root: absolute POSIX path that code paths are relative to (`Layout.top`).
        older: stores that are still read, but never written to.
        owner: the folder whose memories these are: where it is gone, nothing is written, lest the store
            come back in a place that nobody looks at any more (`Layout.owner`).
    """

    def __init__(
        self,
        folder: Path,
        base: str,
        clock: Clock,
        *,
        root: str = "",
        older: Iterable[OlderStore] = (),
        owner: Path | None = None,
    ) -> None:
        self.folder = folder
        self._owner = owner
        self._base = base
        self._clock = HybridClock(clock)
        self._segments = SegmentFolder(folder / "journal", base, root, root)
        self._older = [SegmentFolder(store.folder / "journal", None, store.origin, root) for store in older]
        self._reading = threading.Lock()  # guards _segments, _older, _foreign, _purged
        self._foreign: list[Event] = []  # found while taking a segment; for the next refresh
        self._purged: set[str] = set()  # of all purges that were read
        self._pending: dict[Path, frozenset[str]] = {}  # segments that others hold, and what is to go
        self._queue: deque[_Request | _Purge] = deque()
        self._wake = threading.Condition()  # guards _queue, _closing, _thread
        self._closing = False
        self._thread: threading.Thread | None = None
        self._held: HeldSegment | None = None
        self._avoid: set[str] = set()  # segments that somebody else wrote to while we held them

    # Reading ------------------------------------------------------------------------------------

    def load(self) -> list[Event]:
        """All events of all segments, our own too; call it before the first append."""
        with self._reading:
            events = [event for folder in self._older for event in folder.read(anew=True)]
            events += self._segments.read(anew=True)
            self._foreign.clear()
            self._note_purges(events)
        self._clock.observe(event.clock for event in events)
        return events

    def refresh(self) -> list[Event]:
        """Events that other processes appended since the last look; cheap when there are none.

        A segment that was rewritten is returned whole; merging it again is harmless. Where another process
        purged a memory, our own segment is rewritten soon after.
        """
        with self._reading:
            events, self._foreign = self._foreign, []
            for folder in self._older:
                events += folder.read()
            events += self._segments.read(own=self.writer)
            purged = self._note_purges(events)
        self._clock.observe(event.clock for event in events)
        if (purged and self.writer is not None) or self._pending:
            self._enqueue(_Purge(purged, (), Future()))
        return events

    def snapshot(self) -> list[Event]:
        """All events as they are on disk now, read anew and apart: nothing else takes note of it."""
        folders = [folder.apart() for folder in (*self._older, self._segments)]
        return [event for folder in folders for event in folder.read()]

    @property
    def writer(self) -> str | None:
        """The name of the segment we append to; None before the first append."""
        held = self._held
        return None if held is None else held.writer

    @property
    def stats(self) -> JournalStats:
        """How much there is, and what could not be read."""
        with self._reading:
            folders = [*self._older, self._segments]
            counts = [folder.counts() for folder in folders]
            skipped = tuple(line for folder in folders for line in folder.skipped())
        return JournalStats(sum(count[0] for count in counts), sum(count[1] for count in counts), skipped)

    @property
    def unreadable(self) -> list[tuple[Path, str]]:
        """Folders and segments that could not be read at the last look, and why."""
        with self._reading:
            return [one for folder in (*self._older, self._segments) for one in folder.unreadable()]

    # Appending ----------------------------------------------------------------------------------

    def append(self, payloads: Sequence[EventData], *, durable: bool = True) -> Future[tuple[Event, ...]]:
        """Write events, all or none.

        Args:
            payloads: in the order their clocks shall have; `MemoryAccess` goes through `access`.
            durable: False leaves it to the system when the bytes reach the disk.

        Returns:
            A future with the events, resolved once they are on disk. It raises StoreError when they can't be
            written; nothing of them is kept then.

        Raises:
            ValueError: a payload is not JSON.
        """
        if any(isinstance(data, MemoryAccess) for data in payloads):
            raise ValueError("memory.access holds cumulative counts, which only Journal.access knows")
        future: Future[tuple[Event, ...]] = Future()
        self._enqueue(_Request([prepare(data) for data in payloads], future, durable))
        return future

    def adopt(self, items: Sequence[Event | EventData]) -> Future[tuple[Event, ...]]:
        """Write events that were made elsewhere, all or none; fsynced.

        Args:
            items: an event keeps its id and clock, so that it counts as new or old as it is, and again is
                harmless; data alone gets new ones, as in `append`.

        Returns:
            As `append`.

        Raises:
            ValueError: an item is not JSON, or an event's clock is none.
        """
        future: Future[tuple[Event, ...]] = Future()
        self._enqueue(_Request([_adopted(item) for item in items], future))
        return future

    def purge(self, memories: Collection[str], by: str | None = None) -> Future[PurgeOutcome]:
        """Remove memories for good: from what the journal says, and from the files that nobody else holds.

        Args:
            memories: their ids.
            by: who does it.

        Returns:
            A future, resolved once the purge is on disk and the files that could be cleaned are. It raises
            StoreError when the purge itself can't be written; nothing is removed then.
        """
        future: Future[PurgeOutcome] = Future()
        payloads = [prepare(MemoryPurge(memory=memory, by=by)) for memory in memories]
        self._enqueue(_Purge(frozenset(memories), payloads, future))
        return future

    def access(self, memories: Iterable[str], at: datetime) -> Future[tuple[Event, ...]]:
        """Count one access of each memory (twice for one named twice), not fsynced."""
        increments: dict[str, int] = {}
        for memory in memories:
            increments[memory] = increments.get(memory, 0) + 1
        future: Future[tuple[Event, ...]] = Future()
        self._enqueue(_Request((), future, durable=False, accesses=increments, at=at))
        return future

    def close(self) -> None:
        """Write what waits, end the thread, let go of the segment. Again is harmless."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _enqueue(self, request: _Request | _Purge) -> None:
        if isinstance(request, _Request) and not request.payloads and not request.accesses:
            request.future.set_result(())
            return
        with self._wake:
            if self._closing:
                request.future.set_exception(StoreError("the journal is closed; nothing was stored"))
                return
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="mnemolens-journal", daemon=True)
                thread.start()
                self._thread = thread
            self._queue.append(request)
            self._wake.notify_all()

    def _note_purges(self, events: Iterable[Event]) -> frozenset[str]:
        """Remember which memories were purged; those that were not known yet."""
        found = {event.data.memory for event in events if isinstance(event.data, MemoryPurge)}
        new = found - self._purged
        self._purged |= new
        return frozenset(new)

    # The journal thread -------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                waiting = list(self._queue)
                self._queue.clear()
                if not waiting:
                    break
            requests: list[_Request] = []
            for request in waiting:
                if not request.future.set_running_or_notify_cancel():
                    continue
                if isinstance(request, _Request):
                    requests.append(request)
                    continue
                self._commit(requests)
                requests = []
                self._carry_out(request)
            self._commit(requests)
        held = self._held
        if held is not None:
            with contextlib.suppress(OSError):
                if held.unsynced:
                    os.fsync(held.descriptor)
            held.release()

    def _commit(self, requests: Sequence[_Request]) -> None:
        """Write the requests and resolve their futures, whatever happens."""
        if not requests:
            return
        try:
            written = self._write(requests)
        except OSError as error:
            if len(requests) > 1:  # one that is too big for the disk must not fail the others
                for request in requests:
                    self._commit([request])
                return
            where = self._segments.folder
            requests[0].future.set_exception(
                StoreError(f"can't write to {where}: {error.strerror or error}; nothing was stored")
            )
        except Exception as error:  # noqa: BLE001 - a future that never resolves would hang its waiter
            for request in requests:
                request.future.set_exception(error)
        else:
            for request, events in zip(requests, written, strict=True):
                request.future.set_result(events)

    def _write(self, requests: Sequence[_Request]) -> list[tuple[Event, ...]]:
        held = self._ready()
        lines: list[bytes] = []
        written: list[tuple[Event, ...]] = []
        counts: dict[str, int] = {}
        with self._reading:
            known = dict(self._segments.segment(held.writer).counts)
        for request in requests:
            payloads = request.payloads
            if request.accesses is not None and request.at is not None:
                for memory, increment in request.accesses.items():
                    counts[memory] = counts.get(memory, known.get(memory, 0)) + increment
                current = {memory: counts[memory] for memory in request.accesses}
                payloads = [prepare(MemoryAccess(counts=current, at=request.at))]
            self._clock.observe(one.event.clock for one in payloads if isinstance(one, _Stamped))
            events = []
            for one in payloads:
                if isinstance(one, _Stamped):
                    event, payload = one
                else:
                    event, payload = Event(new_ulid(), self._clock.tick(held.writer), one.data), one
                lines.append(encode_line(event.id, event.clock, payload))
                events.append(event)
            written.append(tuple(events))
        block = (b"\n" if held.torn else b"") + b"".join(line + b"\n" for line in lines)
        start = held.size
        try:
            with self._reading:
                held.write(block)
            if any(request.durable for request in requests):
                os.fsync(held.descriptor)
                held.unsynced = False
            else:
                held.unsynced = True
        except OSError:
            held.cut()
            raise
        held.size = start + len(block)
        with self._reading:
            self._segments.wrote(held.writer, lines, counts, held.size)
        held.torn = False
        return written

    # Purging ------------------------------------------------------------------------------------

    def _carry_out(self, purge: _Purge) -> None:
        """Write the purge down, then clean what may be cleaned, and resolve its future."""
        events: tuple[Event, ...] = ()
        if purge.payloads:
            written: Future[tuple[Event, ...]] = Future()
            self._commit([_Request(purge.payloads, written)])
            error = written.exception()
            if error is not None:
                purge.future.set_exception(error)
                return
            events = written.result()
            with self._reading:
                self._note_purges(events)
        try:
            own = self._clean_own(purge.memories)
            others = self._clean_others(purge.memories) if purge.payloads else self._clean_pending()
        except Exception as error:  # noqa: BLE001 - a future that never resolves would hang its waiter
            purge.future.set_exception(error)
            return
        cleaned = Cleaned(own.removed + others.removed, own.pending + others.pending)
        purge.future.set_result(PurgeOutcome(events, cleaned))

    def _clean_own(self, memories: Collection[str]) -> Cleaned:
        """Rewrite the segment that we hold, where there is need."""
        held = self._held
        if held is None:
            return Cleaned()
        try:
            if not held.is_ours() or not holds_any(held.path, memories):
                return Cleaned()
            os.fsync(held.descriptor)
            held.unsynced = False
        except OSError:
            return Cleaned(pending=(held.path.name,))
        os.close(held.descriptor)  # Windows renames over no file that is open
        removed = False
        with contextlib.suppress(OSError):
            removed = clean_segment(held.path, memories)
        again = held.reopened()
        fresh = self._segments.apart()
        fresh.read_segment(held.writer)  # our own events, which everybody here knows
        with self._reading:
            self._segments.take_over(held.writer, fresh)
            self._held = again
        return Cleaned(removed=(held.path.name,)) if removed else Cleaned(pending=(held.path.name,))

    def _clean_others(self, memories: Collection[str]) -> Cleaned:
        """Rewrite the segments that nobody holds; those that somebody does are pending."""
        removed: list[str] = []
        pending: list[str] = []
        for folder in (self._segments.folder, *(older.folder for older in self._older)):
            trusted = locks_trusted(folder)
            for path in segments_in(folder):
                if path == self._own_path():
                    continue
                done = trusted and clean_unheld(path, memories)
                if done:
                    removed.append(path.name)
                elif may_hold(path, memories):
                    pending.append(path.name)
                    if trusted:
                        self._pending[path] = self._pending.get(path, frozenset()) | frozenset(memories)
        return Cleaned(tuple(removed), tuple(pending))

    def _clean_pending(self) -> Cleaned:
        """Rewrite what others held and hold no more: they may have ended before they heard of the purge."""
        removed: list[str] = []
        for path, memories in list(self._pending.items()):
            is_own = path == self._own_path()  # then it was cleaned when it was taken
            done = not is_own and clean_unheld(path, memories)
            if done:
                removed.append(path.name)
            if is_own or done or not is_held(path):
                del self._pending[path]
        return Cleaned(removed=tuple(removed))

    def _own_path(self) -> Path | None:
        return None if self._held is None else self._held.path

    # Taking a segment ---------------------------------------------------------------------------

    def _ready(self) -> HeldSegment:
        """The segment to append to; taken or made anew where there is none, or ours is gone."""
        held = self._held
        if held is not None and not held.is_ours():
            self._avoid.add(held.writer)
            with self._reading:
                self._held = None
            held.release()
            held = None
        if held is None:
            held = self._take()
            with self._reading:
                self._segments.read_segment(held.writer)  # the header, if we have just written it
                self._held = held
        return held

    def _take(self) -> HeldSegment:
        make_folders(self.folder, self._segments.folder, self._owner)
        trusted = locks_trusted(self._segments.folder)
        for writer in self._segments.names() if trusted else ():
            if writer in self._avoid:
                continue
            lock = None
            with contextlib.suppress(LockUnavailable):
                lock = FileLock.try_acquire(self._segments.folder / f"{writer}.lock")
            if lock is None:
                continue
            held = self._continue(writer, lock)
            if held is not None:
                return held
            lock.release()
        return make_segment(self._segments.folder, self._base, trusted=trusted)

    def _continue(self, writer: str, lock: FileLock) -> HeldSegment | None:
        """The unlocked segment of `writer`; None if it is not one for us."""
        path = self._segments.folder / f"{writer}.jsonl"
        with self._reading:
            found = self._segments.read_segment(writer)
            segment = self._segments.segment(writer)
            self._foreign += found
        self._clock.observe(event.clock for event in found)
        header = segment.header
        if header.once or header.base != self._base or header.v != Header().v:
            return None
        if self._purged:  # its last holder may have ended before it heard of them
            with contextlib.suppress(OSError):
                clean_segment(path, self._purged)
        held = open_segment(path, lock)
        if held is not None and held.size == 0:
            try:
                held.begin(self._base)
            except OSError:
                os.close(held.descriptor)
                return None
        return held


def _adopted(item: Event | EventData) -> Payload | _Stamped:
    if not isinstance(item, Event):
        return prepare(item)
    if not is_reading(item.clock):
        raise ValueError(f"no clock reading: {item.clock!r}")
    payload = prepare(item.data)
    return _Stamped(item._replace(data=payload.data), payload)

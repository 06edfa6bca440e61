"""Memories that leave this store and come into it: export, import, daily copies, and purge from all of them.

Owns the order of the steps: what is read and written off the event loop, what is planned on it in slices,
what is fsynced together. Lines of a file are `export_lines.py`'s and `import_lines.py`'s, Markdown is
`export_markdown.py`'s, files and segments are the store's.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from mnemolens.core.clock import reading_at
from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.events import EdgePut, Event, EventData
from mnemolens.core.ids import new_ulid
from mnemolens.core.pieces import taken
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.core.views import Json, MemoryDetail
from mnemolens.engine.capture import normalised_hash
from mnemolens.engine.code import Code
from mnemolens.engine.export_lines import Details, Export, encode, no_details
from mnemolens.engine.export_markdown import render
from mnemolens.engine.import_file import ReadLine, SkippedLineOfFile, read_lines, survey
from mnemolens.engine.import_lines import IMPORTER, Plan, World, on_same_place, plan
from mnemolens.engine.import_paths import adapted
from mnemolens.engine.import_shapes import Skip
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import Slices
from mnemolens.engine.opened import file_name
from mnemolens.engine.show import Show
from mnemolens.store.copies import Copies, Copy, data_dir, offer, remove_from_copies, repository_key
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout
from mnemolens.store.merge import CO_ACTIVATED, MergedState
from mnemolens.store.moments import Moment
from mnemolens.store.purge import remove_document, segments_in
from mnemolens.store.whole import write_whole

FORMATS: Final = ("jsonl", "markdown")
BATCH: Final = 2000
"""Lines of an import that are fsynced together."""

_SLICE_SECONDS: Final = 0.005
_COPIES: Final = "daily copies"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: how many memories."""

    path: str
    format: str
    memories: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do.

    Attributes:
        memories: those that were taken: new, updated and unchanged ones together.
        skipped: lines that were not, each with its reason.
        warnings: lines that were, but not wholly.
    """

    memories: int
    new: int
    updated: int
    unchanged: int
    skipped: tuple[SkippedLineOfFile, ...]
    warnings: tuple[SkippedLineOfFile, ...]


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """Where a purged memory's text is gone, and where not yet.

    Attributes:
        removed: names of segments, daily copies and documents that held it.
        pending: names of segments that other processes hold, which remove it themselves; `daily copies` where
            one can't be written.
    """

    removed: tuple[str, ...]
    pending: tuple[str, ...]


class Exchange:
    """One folder's export, import, copies and purge. All methods belong to the event loop's thread.

    Args:
        layout: of the folder.
        journal: of the folder.
        state: what the journal's events mean.
        show: views of memories.
        code: the code as it is now.
        merge: merges events that are on disk into `state` and all that is derived, in slices.
    """

    def __init__(
        self,
        layout: Layout,
        journal: Journal,
        state: MergedState,
        show: Show,
        code: Code,
        merge: Callable[[Sequence[Event]], Awaitable[None]],
    ) -> None:
        self._layout = layout
        self._journal = journal
        self._state = state
        self._show = show
        self._code = code
        self._merge = merge
        self._key: tuple[date, str | None] | None = None
        self._importing = asyncio.Lock()

    # Out ------------------------------------------------------------------------------------------

    async def export(self, path: Path, format_: str, now: datetime) -> ExportReport:
        """Write all memories to a file, whole or not at all.

        Args:
            path: absolute; what is there is replaced.
            format_: one of `FORMATS`.
            now: for weights, and the date in the Markdown's head.

        Raises:
            InvalidArgument: the format is unknown, or the path can't be written.
        """
        _check_format(format_)
        target = await asyncio.to_thread(self._target, path)
        with bulk_load():
            count, chunks = await self.exported(format_, now)
            await asyncio.to_thread(_write_export, target, chunks)
        return ExportReport(str(path), format_, count)

    async def exported(self, format_: str, now: datetime) -> tuple[int, Iterator[bytes]]:
        """How many memories an export holds, and its text in pieces, to be taken off the event loop.

        Raises:
            InvalidArgument: the format is unknown.
        """
        _check_format(format_)
        details = await self._details(now)
        if format_ == "markdown":
            shown = [one for one in details.values() if one.view.memory.status != "forgotten"]
            return len(shown), render(shown, self._layout.top.name, now)
        export = await asyncio.to_thread(lambda: Export(taken(self._journal.snapshot())))
        return len(export.memories), _encoded(export, details.get)

    def _target(self, path: Path) -> Path:
        """The file that is written: a link stays, and leads to it."""
        try:
            target = path.resolve()
            is_free = target.is_file() or (not target.exists() and target.parent.is_dir())
        except (OSError, RuntimeError, ValueError) as error:  # no disk takes the name; links in a circle
            reason = error.strerror if isinstance(error, OSError) else error
            raise InvalidArgument("path", f"{path} can't be written: {reason}") from None
        if target.is_dir() or not target.parent.is_dir():
            raise InvalidArgument("path", f"{path} is a folder, or its folder does not exist")
        if not is_free:  # to write a file whole is to put it in the place of what is there
            raise InvalidArgument("path", f"{path} is a device or a pipe; name a file")
        if target.is_relative_to(self._layout.store.resolve()):
            raise InvalidArgument("path", f"{path} lies in the store itself; choose another folder")
        return target

    async def _details(self, now: datetime) -> dict[str, MemoryDetail]:
        found: dict[str, MemoryDetail] = {}
        slices = Slices(_SLICE_SECONDS, pause=0)
        for memory_id in self._state.memories():  # one by one: the first look at a memory builds it
            memory = self._state.memory(memory_id)
            if memory is not None:
                found[memory_id] = self._show.detail(memory.id, now)
            await slices.pause()
        return found

    # In -------------------------------------------------------------------------------------------

    async def import_file(
        self,
        path: Path,
        now: datetime,
        *,
        dry_run: bool = False,
        gate: Callable[[Mapping[str, Any]], None] = lambda _fields: None,
    ) -> ImportReport:
        """Merge the memories of a file in JSON Lines into this store; the same file again changes nothing.

        Args:
            path: absolute.
            now: the time of the import.
            dry_run: say what would be done, and write nothing.
            gate: given a memory's fields by their names on the wire, raises InvalidArgument where they must
                not be stored (`secrets.refuse_secrets`); that line is skipped.

        Raises:
            InvalidArgument: the file can't be read or is no export at all; nothing is stored.
            StoreError: the journal can't be written; the batches before are stored, and an import of the same
                file goes on from there.
        """
        async with self._importing:
            with bulk_load():
                return await self._import(path, now, gate, dry_run=dry_run)

    async def _import(
        self, path: Path, now: datetime, gate: Callable[[Mapping[str, Any]], None], *, dry_run: bool
    ) -> ImportReport:
        found = await asyncio.to_thread(survey, path)
        known = frozenset(self._code.index.files())
        moved = await asyncio.to_thread(
            adapted, found.paths, self._layout.top.as_posix(), self._on_disk, known
        )
        world = World(self._state, moved, self._resolve, self._code.birth, gate, frozenset(found.ids), set())
        run = _Run(world, await self._by_content(), now)
        await self._import_lines(read_lines(path), run, dry_run=dry_run)
        return run.report()

    async def _import_lines(self, lines: Iterator[ReadLine], run: "_Run", *, dry_run: bool) -> None:
        slices = Slices(_SLICE_SECONDS, pause=0)
        while batch := await asyncio.to_thread(lambda: list(islice(lines, BATCH))):
            for line in batch:
                if line.id and line.id in run.waiting and not dry_run:
                    await self._store(run.take_items())  # it may say more of a memory that is not merged yet
                run.take(line)
                await slices.pause()
            items = run.take_items()
            if not dry_run:
                await self._store(items)
        edges = run.edges()
        if not dry_run:
            await self._store(edges)

    async def _store(self, items: Sequence[Event | EventData]) -> None:
        if items:
            # A client that cancels must not part what is on disk from what is in memory.
            await asyncio.shield(self._adopt(items))

    async def _adopt(self, items: Sequence[Event | EventData]) -> None:
        future = await asyncio.to_thread(self._journal.adopt, items)
        events: tuple[Event, ...] = await asyncio.wrap_future(future)
        await self._merge(events)

    async def _by_content(self) -> dict[str, list[str]]:
        """{hash of normalised content: ids} of all memories that are not forgotten."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        slices = Slices(_SLICE_SECONDS, pause=0)
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status != "forgotten":
                found[normalised_hash(memory.content)].append(memory_id)
            await slices.pause()
        return found

    def _on_disk(self, file: str) -> bool:
        try:
            return (self._layout.top / file).is_file()
        except (OSError, ValueError):
            return False

    def _resolve(self, file: str, at: Json) -> SymbolKey | None:
        """The symbol that an `at` means: by name, else by line, else the file."""
        if not self._code.has_file(file):
            return None
        whole = self._code.target(file, None)
        name, line, ordinal = at.get("qualname"), at.get("line"), at.get("ordinal")
        if isinstance(name, str) and name:
            key = SymbolKey(file, name, ordinal if isinstance(ordinal, int) else 0)
            return key if self._code.symbol(key) is not None else whole
        if line is None:
            return whole
        if not isinstance(line, int) or isinstance(line, bool) or line < 1:
            raise Skip("at.line: must be a line's number, from 1")
        text = self._code.line(file, line - 1)
        return self._code.target(file, Position(line - 1, len(text) - len(text.lstrip())))

    # Away -----------------------------------------------------------------------------------------

    async def purge(self, memory_id: str, by: str | None = None) -> PurgeReport:
        """Remove a memory for good, from the journal, the daily copies, its document and the graphs.

        Of a memory that was purged before, what was pending is tried again.

        Raises:
            NotFound: no memory has that id.
            StoreError: the journal can't be written; nothing is removed.
        """
        if self._state.memory(memory_id) is None and not self._state.is_purged(memory_id):
            raise NotFound(f"id: no memory {memory_id!r}")
        return await asyncio.shield(self._purge(memory_id, by))

    async def _purge(self, memory_id: str, by: str | None) -> PurgeReport:
        outcome = await asyncio.wrap_future(self._journal.purge([memory_id], by))
        await self._merge(outcome.events)
        removed, pending = await asyncio.to_thread(self._purge_beside, memory_id)
        return PurgeReport(outcome.cleaned.removed + removed, outcome.cleaned.pending + pending)

    def _purge_beside(self, memory_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        removed: list[str] = []
        pending: list[str] = []
        name = file_name(memory_id)
        try:
            if remove_document(self._layout.store / "open", name):
                removed.append(name)
        except OSError:
            pending.append(name)
        try:
            removed += remove_from_copies(data_dir(), self._layout.store, [memory_id])
        except StoreError:
            pending.append(_COPIES)
        from mnemolens.store.graph_slots import clear_free  # a command that reads has no use for it

        clear_free(self._layout.cache_dir / "graphs")  # whoever holds one builds it anew
        return tuple(removed), tuple(pending)

    # Daily copies ---------------------------------------------------------------------------------

    async def daily_copy(self, now: datetime) -> Copy | None:
        """Copy the journal to the user's data folder if that was not done today; the copy, if one was made.

        None too where there is nothing to copy, no git, or a shallow clone.

        Raises:
            StoreError: it can't be written.
        """
        return await asyncio.to_thread(self._daily_copy, now)

    def _daily_copy(self, now: datetime) -> Copy | None:
        has_store = bool(segments_in(self._layout.store / "journal") or self._layout.older)
        key = self._repository_key(now.date()) if has_store else None
        if key is None:
            return None
        copies = Copies(data_dir(), key, self._layout.store)
        if not copies.is_due(now):
            return None
        with bulk_load():
            return copies.make(lambda: _encoded(Export(taken(self._journal.snapshot())), no_details), now)

    def copy_of_today(self, now: datetime) -> Copy | None:
        """`daily_copy` for a process that is soon gone: git is asked once a day, not by each. Blocks.

        Raises:
            StoreError: it can't be written.
        """
        made = Moment(self._layout.cache_dir / "copied" / self._layout.worktree_id)
        last = made.last()
        if last is not None and last.date() == now.astimezone(UTC).date():
            return None
        copy = self._daily_copy(now)
        made.note(now)
        return copy

    def _repository_key(self, today: date) -> str | None:
        """Asked of git once a day: of a long history it takes seconds."""
        if self._key is None or self._key[0] != today:
            self._key = (today, repository_key(self._layout))
        return self._key[1]

    async def offer(self) -> Copy | None:
        """The copy that could be restored, by `import_file`, where this repository has no store."""
        return await asyncio.to_thread(offer, self._layout)


@dataclass(slots=True)
class _Run:
    """One import: what was planned so far.

    Attributes:
        waiting: memories with items that are not stored yet.
    """

    world: World
    by_content: Mapping[str, list[str]]
    now: datetime
    waiting: set[str] = field(default_factory=set)
    _items: list[Event | EventData] = field(default_factory=list)
    _fate: dict[str, str] = field(default_factory=dict)
    _lines: dict[str, int] = field(default_factory=dict)
    _edges: dict[tuple[str, str, str], EdgePut] = field(default_factory=dict)
    _skipped: list[SkippedLineOfFile] = field(default_factory=list)
    _warnings: list[SkippedLineOfFile] = field(default_factory=list)

    def take(self, line: ReadLine) -> None:
        """Plans one line."""
        reason = line.reason
        if line.data is not None:
            try:
                self._take(line, line.data)
            except Skip as error:
                reason = str(error)
        if reason:
            self._skipped.append(SkippedLineOfFile(line.number, reason))

    def take_items(self) -> list[Event | EventData]:
        """What is to be stored now."""
        items, self._items = self._items, []
        self.waiting.clear()
        return items

    def edges(self) -> list[Event | EventData]:
        """Edges without a clock, once all memories are known."""
        state = self.world.state
        found: list[Event | EventData] = []
        for edge in self._edges.values():
            ends = {edge.source, edge.target}
            if any(end not in self._fate and state.memory(end) is None for end in ends):
                continue
            if any(
                (one.source_id, one.target_id, one.type) == (edge.source, edge.target, edge.type)
                for one in state.edges_of(edge.source)
            ) or state.has_edge_choice(edge.source, edge.target, edge.type):
                continue
            found.append(Event(new_ulid(), reading_at(self.now, IMPORTER), edge))
            for end in ends:
                if self._fate.get(end) == "unchanged":
                    self._fate[end] = "updated"
        return found

    def report(self) -> ImportReport:
        """What became of all lines."""
        fates = list(self._fate.values())
        return ImportReport(
            memories=len(fates),
            new=fates.count("new"),
            updated=fates.count("updated"),
            unchanged=fates.count("unchanged"),
            skipped=tuple(self._skipped),
            warnings=tuple(self._warnings),
        )

    def _take(self, line: ReadLine, data: Json) -> None:
        memory = data.get("memory")
        if memory is not None and self._is_again(line, data):
            return
        planned = plan(data, line.id, self.world, self.now)
        if planned.items:
            self._items += planned.items
            self.waiting.add(line.id)
        for edge in planned.edges:
            self._edges.setdefault(_key_of(edge), edge)
        self._warnings += (SkippedLineOfFile(line.number, warning) for warning in planned.warnings)
        if planned.memory_id:
            self._lines.setdefault(line.id, line.number)
            self._note(planned)

    def _note(self, planned: Plan) -> None:
        known = self._fate.get(planned.memory_id, "unchanged")
        if known == "unchanged":
            changed = "updated" if planned.items or planned.shares else "unchanged"
            self._fate[planned.memory_id] = "new" if planned.is_new else changed

    def _is_again(self, line: ReadLine, data: Json) -> bool:
        """Whether the line says what an earlier one, or a memory that is here, says already.

        Raises:
            Skip: it says something else about a memory of an earlier line, and not which is newer.
        """
        has_id = data["memory"].get("id") is not None
        earlier = self._lines.get(line.id)
        if earlier is not None:
            if has_id and not data.get("history"):
                raise Skip(f"line {earlier} has the memory {line.id!r} already")
            return not has_id
        if has_id or self.world.state.memory(line.id) is not None or self.world.state.is_purged(line.id):
            return False
        same = self.by_content.get(normalised_hash(data["memory"]["content"]), ())
        if not same:
            return False
        at = data.get("at")
        key = None
        if isinstance(at, dict) and isinstance(at.get("file"), str):
            key = self.world.resolve(self.world.moved.get(at["file"], at["file"]), at)
        for memory_id in same:
            memory = self.world.state.memory(memory_id)
            if memory is not None and on_same_place(memory, key, self.world.state):
                self._lines[line.id] = line.number
                self._fate.setdefault(memory_id, "unchanged")
                return True
        return False


def _check_format(format_: str) -> None:
    if format_ not in FORMATS:
        raise InvalidArgument("format", f"{format_!r} is not one of {', '.join(FORMATS)}")


def _write_export(path: Path, chunks: Iterator[bytes]) -> None:
    try:
        write_whole(path, chunks)
    except OSError as error:
        raise InvalidArgument("path", f"{path} can't be written: {error.strerror}") from None


def _encoded(export: Export, details: Details) -> Iterator[bytes]:
    yield from (encode(line) for line in export.lines(details))
    export.let_go()


def _key_of(edge: EdgePut) -> tuple[str, str, str]:
    source, target = edge.source, edge.target
    if edge.type == CO_ACTIVATED and target < source:
        source, target = target, source
    return source, target, edge.type

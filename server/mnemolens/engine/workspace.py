"""One folder's memories and code: the facade that every surface asks.

Plain frozen values go in and out. Reading never waits and never writes. Writing is planned (`Write`), then
carried out by `commit`, which returns once the events are fsynced. All methods belong to one thread, the
event loop's; the journal, the indexer and document files do their I/O elsewhere.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mnemolens.core.clock import Clock, SystemClock
from mnemolens.core.errors import InvalidArgument, StoreError
from mnemolens.core.events import Event, MemoryPurge
from mnemolens.core.memories import CodeState, Memory, Origin
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Position, Range, SymbolKey, SymbolKind
from mnemolens.core.text import TextChange
from mnemolens.core.views import (
    ActionView,
    AgentView,
    AnchorChange,
    CaptureView,
    FolderStatus,
    HintView,
    HoverView,
    IndexReport,
    JournalStatus,
    LensTitle,
    LensView,
    LinkChange,
    LinkView,
    MemoryChange,
    MemoryDetail,
    MemoryPage,
    MemoryView,
    OpenedMemory,
    PlaceView,
    RecallView,
    SessionView,
    SkippedFile,
    TargetView,
    place_label,
)
from mnemolens.engine.actions import Actions
from mnemolens.engine.activation import JointActivation
from mnemolens.engine.alike import Alike
from mnemolens.engine.background import Background
from mnemolens.engine.branches import Branches
from mnemolens.engine.code import Code
from mnemolens.engine.documents import OpenDocuments
from mnemolens.engine.embedding import Embedding
from mnemolens.engine.focus import Focus
from mnemolens.engine.glance import Glance
from mnemolens.engine.graph_kept import KeptGraph
from mnemolens.engine.hints import Hints
from mnemolens.engine.links import Links
from mnemolens.engine.listing import Listing
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.memory_graph import EdgeGraph
from mnemolens.engine.neighbours import Around, Neighbours
from mnemolens.engine.opened_memories import Memories, OpenedMemories
from mnemolens.engine.recall import Recall
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.relinking import Relinking
from mnemolens.engine.reminders import Reminders
from mnemolens.engine.requests import CaptureRequest, ListRequest, RecallRequest
from mnemolens.engine.searching import Searching
from mnemolens.engine.sessions import Sessions, is_expired
from mnemolens.engine.show import Show
from mnemolens.engine.sources import Sources
from mnemolens.engine.suggestions import Suggestions
from mnemolens.engine.write import Write
from mnemolens.engine.writing import Writing
from mnemolens.linking import Rule
from mnemolens.ranking.decay import DecayParams
from mnemolens.ranking.packing import Shares
from mnemolens.store.git import author_name, git_busy, read_head
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout, find_layout
from mnemolens.store.merge import MergedState
from mnemolens.store.moments import Moment
from mnemolens.store.opened import OpenedFolder
from mnemolens.store.symbols import SymbolCache

if TYPE_CHECKING:
    from mnemolens.engine.context import Context, Sketch
    from mnemolens.engine.exchange import Exchange
    from mnemolens.engine.graph_sync import GraphSync
    from mnemolens.engine.importing import Importing
    from mnemolens.store.graph_results import QueryResult

T = TypeVar("T")

MAX_SKIPPED = 100

WRITTEN_AT_ONCE = 50
"""Events of what was found out; to check and write these as JSON takes some 10 ms."""


class Workspace:
    """One opened folder.

    Attributes:
        layout: where folder, top level and store are; files are POSIX paths relative to `layout.top`.
        settings: as they are now.
        opened: the memories that are open as documents.
        reminders: which memories are due.
        memory_graph: the edges between memories.
        background: what is done now and then.
        searching: finds memories by words.
        embedding: finds memories by meaning, where an embedder was chosen.
        alike: finds what is known already in almost the same words.
        suggestions: offers code for notes that name none.
    """

    def __init__(self, layout: Layout, settings: Settings, clock: Clock) -> None:
        self.layout = layout
        self.settings = settings
        self._clock = clock
        self._documents = OpenDocuments()
        self._code = Code(layout, self._documents)
        self._state = MergedState()
        self._links = Links(self._state, self._code, layout.top.as_posix())
        self._show = Show(self._state, self._links, self._code)
        self._branches = self._show.branches = Branches(layout, self._state)
        self.searching = Searching(self._state, self._links, self._show, self._code)
        self.embedding = Embedding(self._state, layout.store / "vectors.sqlite")
        self.alike = Alike(self._state, self._show, self.searching)
        self.suggestions = Suggestions(self._state, self._links, self._show, self._code, self.searching)
        self._listing = Listing(self._state, self._links, self._show, self.searching)
        self._writing = Writing(self._state, self._links, self._code, self._show)
        self.memory_graph = EdgeGraph(self._state, lambda: self._writing.author)
        self._sessions = Sessions(self._state)
        self.reminders = Reminders(self._state, self._links, self._code, self._show, self._branches)
        self._hints = Hints(self._state, self._links, self._code, self._show, self.reminders)
        self._actions = Actions(self._state, self._links, self._show, self.reminders)
        self._focus = Focus(self._state, self._show, JointActivation(self._state, self._links, self._code))
        self._recall = Recall(self._state, self._links, self._show, self._focus, self.searching)
        self._glance = Glance(self._state, self._code)
        self.opened = self._new_opened()
        self._journal = Journal(
            layout.store,
            layout.base,
            clock,
            root=layout.top.as_posix(),
            older=layout.older,
            owner=layout.owner,
        )
        self._cache = SymbolCache(layout.cache_dir / "symbols.sqlite", clock)
        self._graph = KeptGraph(self._new_graph)
        self._refreshing = Refreshing(self._links, self._graph, self.searching)
        self.relinking = Relinking(self._refreshing, self._state.memories)
        looked = Moment(layout.cache_dir / "archive" / layout.worktree_id)
        self.background = Background(self._state, self._show, self._graph, looked, lambda: self.settings)
        self._sources = Sources(
            layout,
            settings,
            clock,
            self._cache,
            self._documents,
            self._code,
            self._links,
            self._refreshing,
        )
        self._write_lock = asyncio.Lock()
        self._keeps_step = False
        self._configure()

    @classmethod
    def open(cls, folder: Path, settings: Settings, clock: Clock | None = None) -> "Workspace":
        """Opens a folder and reads its journal; the index stays empty until `build_index`. Writes nothing."""
        workspace = cls(find_layout(folder, settings.store.path), settings, clock or SystemClock())
        workspace._load()
        return workspace

    @property
    def generation(self) -> int:
        """Grows whenever a lens may have changed."""
        return self._refreshing.generation

    # Documents --------------------------------------------------------------------------------------------

    def file_of(self, path: Path) -> str | None:
        """The file's name in this folder's terms, None when it lies outside the top level."""
        return self.layout.file_of(path)

    def path_of(self, file: str) -> Path:
        """The file's absolute path."""
        return self.layout.path_of(file)

    def open_document(self, file: str, language_id: str, text: str) -> None:
        """The editor shows the file: its text counts from now on, not the disk's."""
        self._sources.open_document(file, language_id, text)
        self.reminders.note_opened(file)

    def change_document(self, file: str, changes: Sequence[TextChange], now: datetime) -> None:
        """Applies the editor's changes in order; verdicts wait until the text is settled."""
        self._sources.change_document(file, changes, now)

    def save_document(self, file: str) -> None:
        """The text was saved: judge it now."""
        self._sources.save_document(file)

    async def close_document(self, file: str) -> None:
        """The editor let go of the file: what is on disk counts again."""
        await self._sources.close_document(file)

    def text_in(self, file: str, span: Range) -> bytes:
        """The text of a range of the file as it is now, clamped to what there is."""
        return self._code.text_in(file, span)

    def line_text(self, file: str, line: int) -> bytes:
        """One line of the file as it is now, without its end; empty where there is none."""
        return self._code.line(file, line)

    def parse_pending(self, budget_ms: float) -> bool:
        """Parses on at big documents for a while; True when nothing is left to do."""
        return self._sources.parse_pending(budget_ms)

    # Background -------------------------------------------------------------------------------------------

    async def build_index(
        self, on_progress: Callable[[int, int], None] | None = None, *, rebuild: bool = False
    ) -> IndexReport:
        """Indexes the folder, then derives all links. Cancel the task to stop it.

        Args:
            on_progress: told (files done, files in all).
            rebuild: parse every file again, whatever the cache says.
        """
        self._keeps_step = True
        try:
            with bulk_load():
                return await self._build_index(on_progress, rebuild=rebuild)
        finally:
            self._sources.progress = None

    async def _build_index(
        self, on_progress: Callable[[int, int], None] | None, *, rebuild: bool
    ) -> IndexReport:
        self._writing.author = await asyncio.to_thread(author_name, self.layout)
        if not self._code.complete:
            await asyncio.to_thread(self._sources.remember_last_session)
        try:
            report = await self._sources.build(on_progress, rebuild=rebuild)
        except asyncio.CancelledError:
            # What was read until now still shows its memories; what was not is not called lost.
            self._refreshing.refresh_soon(self._state.memories())
            raise
        if not self._code.complete:
            last = await asyncio.to_thread(self._cache.get_anchors, self.layout.worktree_id)
            self._code.unchanged = self._sources.indexer.unchanged
            await self._links.note_last_session_slowly(last)
            self._code.complete = True
            await self._sources.follow_last_session()
        self._configure()
        await self._branches.look(self._code.origin)
        await self._refreshing.refresh_slowly(self._state.memories())
        self.relinking.all_derived()
        self._graph.index_complete()
        return report

    async def files_changed(self, paths: Sequence[Path]) -> None:
        """These files or folders were created, changed or deleted on disk; also: an editor let go of them."""
        await self._sources.files_changed(paths)
        if not git_busy(self.layout):
            await self._write_down()

    async def files_renamed(self, pairs: Sequence[tuple[Path, Path]]) -> None:
        """The editor renamed files or folders: what was anchored in them is known to be there now."""
        await self.files_changed([path for pair in pairs for path in pair])
        moves = [(self.layout.file_of(old), self.layout.file_of(new)) for old, new in pairs]
        events = [event for old, new in moves if old and new for event in await self._links.moved(old, new)]
        if events:
            await self.commit(Write(tuple(events), lambda: None))

    async def tick(self, now: datetime) -> None:
        """Once a second: others' events, HEAD, quiet documents, and what ought to be written down."""
        events, head, busy = await asyncio.to_thread(self._look_outside)
        self._code.origin = head
        if events:
            await self._merge_slowly(events)
        if busy:
            return  # in the middle of a checkout nothing is where it belongs
        await self._sources.take_up_waiting()
        self._sources.settle_quiet(now)
        await self._sources.follow_unseen()
        if await self._branches.look(head):
            self._refreshing.generation += 1
        await self._write_down()
        await self.opened.look(now)
        await self.background.look(now, self._is_idle)

    def apply_settings(self, settings: Settings) -> None:
        """Uses other settings from now on; what they change in the index shows after `build_index`."""
        relink = settings.linking != self.settings.linking
        reindex = settings.index != self.settings.index
        self.settings = settings
        if reindex:
            self._sources.configure(settings)
        self._configure()
        if relink:
            self.relinking.begin()
        self._graph.all_changed()
        self._refreshing.generation += 1

    def start_graph(self) -> None:
        """Keeps the graph database in step from now on, in the background; without kuzu it stays off."""
        self._graph.keep()

    async def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> "QueryResult":
        """Answers a read-only Cypher query, which sees everything that was written before.

        Raises:
            InvalidArgument: the query is not allowed, wrong, or takes too long or too much.
            GraphUnavailable: there is no graph; says why.
        """
        return await self._graph.query(cypher, parameters, limit)

    def close(self) -> None:
        """Writes down what waits and lets go of the journal."""
        if self._keeps_step:
            self._write_down_last()
        self._graph.close()
        self._journal.close()
        self.opened.close_all()
        self._cache.close()
        self.embedding.close()
        self.suggestions.close()
        self.relinking.close()
        self.searching.close()

    # Reading ----------------------------------------------------------------------------------------------

    def hover(self, file: str, position: Position, now: datetime) -> HoverView | None:
        """The memories of the symbol whose name, or a resolved reference to it, is at the position."""
        if not self.settings.hover.enabled:
            return None
        found = self._sources.symbol_under(file, position)
        if found is None:
            return None
        key, range_ = found
        ranked = self._show.ranked_on(key, now)
        ranked += self._focus.neighbours(key, now, self.settings.hover.neighbour_threshold)
        self._focus.visit(key)
        if not ranked:
            return None
        shown = ranked[: self.settings.hover.max_items]
        items = tuple(self._show.hover_item(one, key) for one in shown)
        return HoverView(range_, key, items, len(ranked) - len(shown))

    def lenses(self, file: str) -> tuple[LensView, ...]:
        """One lens for each symbol of the file with memories of its own; the file's stands on line 1."""
        if not self.settings.lens.enabled:
            return ()
        found = []
        now = self._clock.now()
        for key in self._links.keys_in_file(file):
            range_ = self._code.name_range(key)
            if range_ is not None and any(self._is_shown(one, now) for one in self._links.on_symbol(key)):
                found.append(LensView(range_, key))
        return tuple(sorted(found, key=lambda lens: lens.range))

    def lens_title(self, key: SymbolKey, now: datetime) -> LensTitle | None:
        """The title of a symbol's lens; None when its memories are gone."""
        return self._show.lens_title(key, now)

    def actions(
        self, file: str, position: Position, now: datetime, hinted: Iterable[str] = ()
    ) -> tuple[ActionView, ...]:
        """What can be done with the memories here, and with those that lost their code; see `Actions.at`."""
        key = self._code.target(file, position)
        return self._actions.at(key, self.settings.hover.max_items, hinted, now)

    def hints(self, now: datetime) -> dict[str, tuple[HintView, ...]]:
        """{file: its hints}; see `Hints.hints`."""
        return self._hints.hints(self.settings, now)

    def target(self, file: str, position: Position | None) -> TargetView:
        """What a capture at the position would be about."""
        key = self._code.target(file, position)
        return TargetView(key, place_label(key, self._code.kind(key) or "file"))

    def preview(self, request: CaptureRequest, now: datetime) -> CaptureView:
        """What `capture` would store and link; stores nothing."""
        self._sources.read_anew(request.file)
        return self._writing.preview(request, now)

    def get(self, memory_id: str, now: datetime) -> MemoryDetail:
        """All that is known of a memory.

        Raises:
            NotFound: no memory has that id.
        """
        return self._show.detail(self._writing.memory(memory_id), now)

    def list(self, request: ListRequest, now: datetime) -> MemoryPage:
        """One page of memories; see `ListRequest`."""
        key = None
        if request.position is not None:
            if request.file is None:
                raise InvalidArgument("uri", "is needed with a position")
            key = self._code.target(request.file, request.position)
        return self._listing.page(request, key, now)

    def find_memories(self, request: ListRequest, now: datetime) -> tuple[Memory, ...]:
        """Memories as they are stored, the newest first; see `Listing.find`."""
        return self._listing.find(request, now)

    def recall(
        self, request: RecallRequest, now: datetime, meaning: Mapping[str, float] | None = None
    ) -> RecallView:
        """What to bring to mind, best first; see `Recall.recall`. Counts no access."""
        key = self._code.target(request.file, request.position) if request.file is not None else None
        budget = request.token_budget
        total = self.settings.memory.budget.total if budget is None else budget
        recalled = self._recall.recall(request, key, total, now, meaning)
        if key is not None:
            self._focus.visit(key)
        return recalled

    def context(
        self, file: str, position: Position | None, token_budget: int | None, now: datetime
    ) -> "Context":
        """What to know at a place, as Markdown within a budget; see `context.build`. Counts no access.

        Raises:
            InvalidArgument: there is no such file, or the budget is negative.
        """
        from mnemolens.engine.context import build

        budget = self.settings.memory.budget.total if token_budget is None else token_budget
        if budget < 0:
            raise InvalidArgument("tokenBudget", f"must not be negative, not {budget}")
        key = self._code.target(file, position)
        # What does not fit is passed over, and counted, when the text is made.
        most = max(budget, self.settings.memory.budget.total)
        request = RecallRequest(file=file, position=position, token_budget=most)
        return build(self._show.place(key), self.recall(request, now), self._code, budget)

    def sketches(self, recalled: RecallView, token_budget: int | None) -> "tuple[Sketch, ...]":
        """The code that recalled memories are on in a few words, within what is left of the budget."""
        from mnemolens.engine.context import beside

        budget = self.settings.memory.budget.total if token_budget is None else token_budget
        return beside(recalled, self._code, budget)

    def find(self, file: str, name: str) -> Position:
        """Where the symbol of that name stands in the file; see `Glance.find`."""
        range_ = self._code.name_range(self._glance.find(self._sources.indexer, file, name))
        assert range_ is not None
        return range_.start

    def links(self, memory_id: str) -> tuple[LinkView, ...]:
        """The memory's links to code, most relevant first, candidates last."""
        return self._show.links(self._links.links_of(memory_id))

    def view(self, memory_id: str, now: datetime) -> MemoryView | None:
        """The memory, a forgotten or expired one too; None where there is none of that id."""
        memory = self._state.memory(memory_id)
        return None if memory is None else self._show.memory(memory, now)

    def sessions(self, now: datetime) -> tuple[SessionView, ...]:
        """All sessions, the one that was used last first."""
        return self._sessions.sessions(now)

    def session(self, session_id: str, now: datetime) -> SessionView:
        """One session; see `Sessions.session`."""
        return self._sessions.session(session_id, now)

    def agents(self, now: datetime) -> tuple[AgentView, ...]:
        """All agents, the one that was active last first."""
        return self._sessions.agents(now)

    async def neighbours(self, file: str, position: Position | None, depth: int, now: datetime) -> Neighbours:
        """What stands around the symbol at a position, or around a file; see `Around.look`."""
        around = Around(self._code, self._state, self._links, self._show)
        return await around.look(self._code.target(file, position), depth, now)

    def memory_ids(self) -> tuple[str, ...]:
        """The ids of all memories, forgotten ones too."""
        return tuple(self._state.memories())

    def symbols(self) -> Iterator[PlaceView]:
        """Every indexed symbol below the opened folder, file by file in the order of the text."""
        for file in sorted(self._code.index.files()):
            found = self._code.index.get(file)
            for symbol in found.symbols if found is not None and self.layout.contains(file) else ():
                yield self._show.place(SymbolKey(file, symbol.qualname, symbol.ordinal))

    def code(self) -> Iterator[tuple[str, str, tuple[SymbolKind, ...]]]:
        """(file, language, its symbols' kinds) of every indexed file."""
        for file in self._code.index.files():
            found = self._code.index.get(file)
            if found is not None:
                yield file, found.language, tuple(symbol.kind for symbol in found.symbols)

    def status(self) -> FolderStatus:
        """The folder in numbers and words."""
        verdicts: dict[str, int] = {}
        now = self._clock.now()
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status != "forgotten" and not is_expired(memory, now):
                verdict = self._links.verdict_of(memory_id)
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
        skipped = self._sources.indexer.skipped
        return FolderStatus(
            root=str(self.layout.opened),
            files=len(self._code.index),
            symbols=self._code.index.symbol_count,
            memories=sum(verdicts.values()),
            verdicts=verdicts,
            skipped=tuple(SkippedFile(one.file, one.reason) for one in skipped[:MAX_SKIPPED]),
            skipped_total=len(skipped),
            indexing=self._sources.progress,
            graph=self._graph.state,
            meaning=self.embedding.state,
            links_due=self.relinking.left,
        )

    def journal_status(self) -> JournalStatus:
        """The journal in numbers."""
        stats = self._journal.stats
        unreadable = tuple(SkippedFile(str(path), reason) for path, reason in self._journal.unreadable)
        return JournalStatus(stats.segments, stats.events, len(stats.skipped), unreadable)

    # Writing ----------------------------------------------------------------------------------------------

    def capture(self, request: CaptureRequest, now: datetime) -> Write[CaptureView]:
        """Stores a memory; see `Writing.capture`."""
        self._code.origin = read_head(self.layout)
        self._sources.read_anew(request.file)
        write = self._writing.capture(request, now)
        if request.file is not None and request.position is not None:
            self._focus.visit(self._code.target(request.file, request.position))
        return write

    def update(
        self, memory_id: str, changes: Mapping[str, Any], now: datetime, *, allow_secret: bool = False
    ) -> Write[MemoryChange]:
        """Changes fields of a memory; see `Writing.update`."""
        return self._writing.update(memory_id, changes, now, allow_secret=allow_secret)

    def forget(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Hides a memory."""
        return self._writing.forget(memory_id, now)

    def restore(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Brings a forgotten memory back."""
        return self._writing.restore(memory_id, now)

    def done(self, memory_id: str, now: datetime) -> Write[MemoryView]:
        """Marks a memory as acted upon."""
        return self._writing.done(memory_id, now)

    def store(self, request: CaptureRequest, now: datetime, *, link: bool = True) -> Write[CaptureView]:
        """Stores a memory under the request's id; one that is there already becomes what the request says.

        Args:
            request: has an id.
            now: when.
            link: whether the memory's text links it to code, as long as this workspace is open.

        Raises:
            InvalidArgument: a field is not allowed; names it.
        """
        memory_id = str(request.id)
        (self._links.unlinked.discard if link else self._links.unlinked.add)(memory_id)
        if self._state.memory(memory_id) is None:
            return self.capture(request, now)
        write = self._writing.overwrite(request, now, revive=True)
        if not write.events:
            self._refreshing.refresh([memory_id])
        return write

    def overwrite(self, request: CaptureRequest, now: datetime) -> Write[CaptureView]:
        """Makes the memory that has the request's id what the request says; see `Writing.overwrite`."""
        return self._writing.overwrite(request, now, revive=False)

    def forget_session(self, session_id: str) -> Write[int]:
        """Hides all memories of a session; answers how many."""
        return self._sessions.forget_session(session_id, self._writing.author)

    def restore_session(self, session_id: str, now: datetime) -> Write[int]:
        """Brings the forgotten memories of a session back; answers how many."""
        writes = [self._writing.restore(one, now) for one in self._sessions.forgotten(session_id)]
        return Write(tuple(event for write in writes for event in write.events), lambda: len(writes))

    def forget_expired(self, now: datetime) -> Write[int]:
        """Hides all memories that have expired; answers how many."""
        return self._sessions.forget_expired(now, self._writing.author)

    def confirm(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Records that the memory is still true; see `Writing.confirm`."""
        return self._writing.confirm(memory_id, anchor_id, now)

    def undo_move(self, memory_id: str, anchor_id: str | None, now: datetime) -> Write[AnchorChange]:
        """Takes the memory off the code that it followed; see `Writing.undo_move`."""
        return self._writing.undo_move(memory_id, anchor_id, now)

    def snooze(self, memory_id: str, until: datetime, now: datetime) -> Write[MemoryView]:
        """Makes the memory due later; see `Reminders.snooze`."""
        memory = self._writing.memory(memory_id)
        return self.reminders.snooze(memory, until, now, self._writing.author)

    def not_now(self, memory_id: str, now: datetime) -> MemoryView:
        """Says nothing of a memory that is due until the next start."""
        memory = self._writing.memory(memory_id)
        self.reminders.not_now(memory)
        self._refreshing.generation += 1
        return self._show.memory(memory, now)

    def reanchor(
        self,
        memory_id: str,
        anchor_id: str | None = None,
        *,
        file: str | None = None,
        position: Position | None = None,
        candidate: SymbolKey | None = None,
        now: datetime,
    ) -> Write[MemoryChange]:
        """Puts the memory on the symbol at a position, or on a candidate; see `Writing.reanchor`."""
        return self._writing.reanchor(memory_id, anchor_id, self._where(file, position, candidate), now)

    def link(
        self,
        memory_id: str,
        *,
        file: str | None = None,
        position: Position | None = None,
        target_id: str | None = None,
        edge_type: str | None = None,
        weight: float | None = None,
        relevance: float | None = None,
        now: datetime,
    ) -> Write[LinkChange]:
        """Links a memory to the symbol at a position, or to another memory."""
        if target_id is not None:
            return self._writing.link_memory(memory_id, target_id, edge_type, weight, now)
        return self._writing.link_code(memory_id, self._where(file, position, None), relevance)

    def unlink(
        self,
        memory_id: str,
        *,
        file: str | None = None,
        position: Position | None = None,
        target_id: str | None = None,
        edge_type: str | None = None,
    ) -> Write[LinkChange]:
        """Takes a link to a symbol or to another memory away."""
        if target_id is not None:
            return self._writing.unlink_memory(memory_id, target_id, edge_type)
        return self._writing.unlink_code(memory_id, self._where(file, position, None))

    @cached_property
    def exchange(self) -> "Exchange":
        """Export, import, daily copies, and purge."""
        from mnemolens.engine.exchange import Exchange

        return Exchange(self.layout, self._journal, self._state, self._show, self._code, self._merge_slowly)

    @cached_property
    def importing(self) -> "Importing":
        """What the folder's own comments and agent files say, as memories."""
        from mnemolens.engine.importing import Importing

        state, code, documents = self._state, self._code, self._documents
        return Importing(self.layout, state, code, documents, self._writing, lambda: self.settings)

    async def access(self, memory_ids: Sequence[str], now: datetime) -> tuple[MemoryView, ...]:
        """Counts an opening, copying or recall of each memory, and that they came together; not fsynced."""
        self._merge([event for wait in self._used(memory_ids, now) for event in await self._appended(wait)])
        return tuple(self._show.memory(self._writing.memory(memory_id), now) for memory_id in memory_ids)

    async def commit(self, write: Write[T]) -> T:
        """Carries a planned write out; when it returns, the events are safe on disk.

        Raises:
            StoreError: the journal can't be written; nothing of the plan was stored.
        """
        # A client that cancels its request must not part what is on disk from what is in memory.
        return await asyncio.shield(self._carry_out(write))

    async def commit_slowly(self, write: Write[T]) -> T:
        """`commit`, for many events: what they change is derived in slices that let other requests in."""
        return await asyncio.shield(self._carry_out(write, slowly=True))

    def commit_sync(self, write: Write[T]) -> T:
        """`commit`, for callers without an event loop."""
        try:
            if write.events:
                self._merge(self._journal.append(write.events).result())
        except BaseException:
            write.undo()
            raise
        return write.finish()

    # Memories as documents --------------------------------------------------------------------------------

    async def open_memories(
        self, memory_ids: Sequence[str], now: datetime, used: Sequence[str] | None = None
    ) -> tuple[OpenedMemory, ...]:
        """Writes memories as Markdown documents to be edited; counts as an access where that can be written.

        Args:
            memory_ids: which.
            now: when.
            used: those of them that count as used by this; None for all.

        Raises:
            NotFound: no memory has one of the ids.
            StoreError: a document can be written nowhere.
        """
        for memory_id in memory_ids:
            self._writing.memory(memory_id)
        with contextlib.suppress(StoreError):
            await self.access(memory_ids if used is None else used, now)
        wanted = [self._writing.memory(memory_id) for memory_id in dict.fromkeys(memory_ids)]
        for memory in reversed(wanted):
            self._focus.visit_code_of(memory.id)
        return tuple([await self.opened.open(memory, now) for memory in wanted])

    # For a process that answers questions, without a tick ---------------------------------------------------

    def catch_up(self) -> None:
        """Merges what other processes appended, as `tick` would; looks at the disk."""
        events = self._journal.refresh()
        if events:
            self._merge(events)

    def without_code(self) -> None:
        """Nobody has indexed this folder: memories are linked to nothing before `build_index`."""
        self._links.linking_enabled = False
        self._graph.index_complete()

    async def note_author(self) -> None:
        """Asks git who writes here, as `build_index` does, for a process that may write before."""
        if self._writing.author is None:
            self._writing.author = await asyncio.to_thread(author_name, self.layout)

    @property
    def was_indexed(self) -> bool:
        """Whether this folder's code was ever indexed, by anybody; asks the cache."""
        return bool(self._cache.get_stamps(self.layout.top.as_posix()))

    # For a process that answers one question ---------------------------------------------------------------

    def glance(
        self,
        memory_ids: Iterable[str] = (),
        *,
        near: Iterable[str] = (),
        words: str = "",
        draft: CaptureRequest | None = None,
        writing: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Instead of `build_index`: reads only the code that matters for some memories, derives only them.

        Args:
            memory_ids: these memories,
            near: and those that may be on something in these files,
            words: and those that hold any of these words,
            draft: and one that is about to be captured.
            writing: something will be written, by the author whom git names.
            on_progress: told (files done, files in all).
        """
        wanted = set(memory_ids)
        files = tuple(near)
        for file in files:
            wanted |= self._glance.near(self._sources.indexer, file)
        if words:
            wanted |= self._recall.matching(words)
        found = [memory for one in sorted(wanted) if (memory := self._state.memory(one)) is not None]
        self._sources.remember_last_session()
        self._glance.read(self._sources.indexer, found, files, draft, on_progress)
        if writing or draft is not None:
            self._writing.author = author_name(self.layout)
        self._note_last_session(self._cache.get_anchors(self.layout.worktree_id))
        if (found or files) and self._sources.may_have_moved():
            self._sources.survey(on_progress)  # what moved may be found anywhere
            self._sources.follow_last_session_now()
            wanted.update(one for file in files for one in self._links.carried_into(file))
        self._branches.look_blocking(self._code.origin)
        self._refreshing.refresh(wanted)

    def survey(self, on_progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """`build_index` in passing, without an event loop: what was found is not written down."""
        self._sources.remember_last_session()
        report = self._sources.survey(on_progress)
        self._note_last_session(self._cache.get_anchors(self.layout.worktree_id))
        self._code.complete = True
        self._sources.follow_last_session_now()
        self._configure()
        self._refreshing.refresh(self._state.memories())
        self._branches.look_blocking(self._code.origin)
        self._graph.index_complete()
        return report

    def record(self, memory_ids: Sequence[str], now: datetime) -> None:
        """`access`, for callers without an event loop."""
        self._merge([event for wait in self._used(memory_ids, now) for event in wait.result()])

    def write_wanted(self) -> None:
        """Writes down what `tick` would: anchors for names seen for the first time, accepted moves."""
        wanted = () if git_busy(self.layout) else self._links.take_wanted()
        if wanted:
            self.commit_sync(Write(tuple(wanted), lambda: None))

    # Inside -----------------------------------------------------------------------------------------------

    def _new_graph(self) -> "GraphSync":
        from mnemolens.engine.graph_sync import GraphSync
        from mnemolens.store.graph import GraphStore

        return GraphSync(
            GraphStore(self.layout.cache_dir / "graphs" / self.layout.worktree_id, self._clock),
            self._code.index,
            self._state,
            self._links,
            self._sources.facts,
            self._clock,
            lambda: self._show.decay,
        )

    def _new_opened(self) -> OpenedMemories:
        async def update(memory_id: str, changes: Mapping[str, Any], now: datetime) -> MemoryChange:
            return await self.commit(self.update(memory_id, changes, now))

        state = self._state
        memories = Memories(
            state.memory, state.memories, state.history, self._notes, self._catch_up_slowly, update
        )
        return OpenedMemories(OpenedFolder(self.layout.store / "open"), memories)

    async def _catch_up_slowly(self) -> None:
        """`catch_up`, off the loop: what others stored just now must not be overwritten."""
        events = await asyncio.to_thread(self._journal.refresh)
        if events:
            self._merge(events)

    @staticmethod
    async def _appended(future: Future[tuple[Event, ...]]) -> tuple[Event, ...]:
        return await asyncio.wrap_future(future)

    async def _carry_out(self, write: Write[T], *, slowly: bool = False) -> T:
        async with self._write_lock:
            try:
                if write.events:
                    events = await self._appended(self._journal.append(write.events))
                    if slowly:
                        await self._merge_slowly(events)
                    else:
                        self._merge(events)
            except BaseException:
                write.undo()
                raise
            return write.finish()

    def _is_present(self, memory_id: str, now: datetime) -> bool:
        """Whether there is such a memory that is neither forgotten nor expired."""
        memory = self._state.memory(memory_id)
        return memory is not None and memory.status != "forgotten" and not is_expired(memory, now)

    def _is_shown(self, memory_id: str, now: datetime) -> bool:
        """Whether a lens counts the memory."""
        memory = self._state.memory(memory_id)
        return memory is not None and self._is_present(memory_id, now) and not self._show.hides(memory)

    def _load(self) -> None:
        events = self._journal.load()
        self._code.origin = read_head(self.layout)
        loaded = self._state.apply(events)
        self._note(loaded)
        self.searching.note(loaded)
        self._links.note_known_places(loaded)

    def _note_last_session(self, places: Mapping[str, CodeState]) -> None:
        """Takes over what was so when this worktree was last indexed: files, and where anchors were."""
        self._code.unchanged = self._sources.indexer.unchanged
        self._links.note_last_session(places)

    async def _write_down(self) -> None:
        """Writes down what was found out: anchors for names, accepted moves, where everything was seen."""
        wanted = self._links.take_wanted()
        for start in range(0, len(wanted), WRITTEN_AT_ONCE):
            some = wanted[start : start + WRITTEN_AT_ONCE]
            await self.commit_slowly(Write(tuple(some), lambda: None))
        places = self._links.take_places()
        if places:
            await asyncio.to_thread(self._cache.put_anchors, self.layout.worktree_id, places)

    def _write_down_last(self) -> None:
        """`_write_down`, at the end; what can't be written is found out again at the next start."""
        wanted = () if git_busy(self.layout) else self._links.take_wanted()
        if wanted:
            with contextlib.suppress(StoreError):
                self._journal.append(wanted).result()
        places = self._links.take_places()
        if places:
            self._cache.put_anchors(self.layout.worktree_id, places)

    def _note(self, memory_ids: frozenset[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        self._writing.note_content(memory_ids)
        self._listing.note(memory_ids)
        self.embedding.note(memory_ids)
        self._branches.note(memory_ids)
        self.reminders.note(memory_ids)
        self._hints.note(memory_ids)

    def _configure(self) -> None:
        self.embedding.configure(self.settings.search)
        self._show.decay = DecayParams.from_settings(self.settings)
        self._branches.configure(self.settings)
        self._recall.min_weight = self.settings.memory.decay.min_weight
        self._recall.shares = Shares.from_settings(self.settings)
        self._links.linking_enabled = self.settings.linking.enabled
        self._links.kinds = frozenset(self.settings.linking.kinds)
        self._links.rules = tuple(
            Rule(one.pattern, one.kind, one.score) for one in self.settings.linking.rules
        )

    def _is_idle(self) -> bool:
        """Whether nobody types, and no code is being read."""
        return self._code.complete and self._sources.progress is None and self._documents.are_quiet

    def _used(self, memory_ids: Sequence[str], now: datetime) -> tuple[Future[tuple[Event, ...]], ...]:
        """Writes down that these memories were used now, and together where they are several."""
        ids = [self._writing.memory(memory_id).id for memory_id in memory_ids]
        written = (self._journal.access(ids, now),)
        together = self.memory_graph.used_together(ids)
        return (*written, self._journal.append([together], durable=False)) if together else written

    def _look_outside(self) -> tuple[Sequence[Event], Origin, bool]:
        return self._journal.refresh(), read_head(self.layout), git_busy(self.layout)

    def _merge(self, events: Sequence[Event]) -> None:
        touched = self._apply(events)
        self._note(touched)
        self._refreshing.refresh(touched)

    async def _merge_slowly(self, events: Sequence[Event]) -> None:
        """`_merge`, in slices that let other requests in between."""
        touched = self._apply(events)
        self._note(touched)
        await self._refreshing.refresh_slowly(sorted(touched))

    def _apply(self, events: Sequence[Event]) -> frozenset[str]:
        if any(isinstance(event.data, MemoryPurge) for event in events):
            self._graph.purged()
        return self._state.apply(events)

    def _where(self, file: str | None, position: Position | None, candidate: SymbolKey | None) -> SymbolKey:
        if candidate is not None:
            if self._code.kind(candidate) is None:
                raise InvalidArgument("candidate", f"{candidate.id} is not in the code now")
            return candidate
        if file is None:
            raise InvalidArgument("uri", "is needed, with a position, to say which code is meant")
        self._sources.read_anew(file)
        return self._code.target(file, position)

    def _notes(self, memory: Memory) -> tuple[str, ...]:
        """The head's comments of an opened memory."""
        on = [
            f"{self._show.place(link.target).label} in {link.target.file}"
            for link in self._links.links_of(memory.id)
            if not link.candidate
        ]
        where = f"on {' · '.join(on) or 'no code'} ({self._links.verdict_of(memory.id)})"
        relations = self._show.standing.of(memory.id, self._clock.now())
        return (where, *(one.words for one in relations), "save this document to keep your changes")

"""One folder's memories and code: the facade that every surface asks.

Owns which parts there are, how they are wired, and their life: opening, indexing, what happens outside,
settings, closing. What they do is theirs: a surface asks `workspace.recall`, `workspace.writing`.

Plain frozen values go in and out. Reading never waits and never writes. Writing is planned (`Write`), then
carried out by `journaling.commit`, which returns once the events are fsynced. All methods belong to one
thread, the event loop's; the journal, the indexer and document files do their I/O elsewhere.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mnemolens.core.clock import Clock, SystemClock
from mnemolens.core.events import Event
from mnemolens.core.memories import Origin
from mnemolens.core.settings import Settings
from mnemolens.core.views import IndexReport
from mnemolens.engine.actions import Actions
from mnemolens.engine.activation import JointActivation
from mnemolens.engine.alike import Alike
from mnemolens.engine.attaching import Attaching
from mnemolens.engine.author import Author
from mnemolens.engine.background import Background
from mnemolens.engine.branches import Branches
from mnemolens.engine.capturing import Capturing
from mnemolens.engine.code import Code
from mnemolens.engine.documents import OpenDocuments
from mnemolens.engine.embedding import Embedding
from mnemolens.engine.focus import Focus
from mnemolens.engine.glance import Glance
from mnemolens.engine.graph_kept import KeptGraph
from mnemolens.engine.hints import Hints
from mnemolens.engine.hovers import Hovers
from mnemolens.engine.journaling import Journaling
from mnemolens.engine.last_session import LastSession
from mnemolens.engine.lenses import Lenses
from mnemolens.engine.links import Links
from mnemolens.engine.listing import Listing
from mnemolens.engine.loading import bulk_load
from mnemolens.engine.memory_graph import EdgeGraph
from mnemolens.engine.neighbours import Around
from mnemolens.engine.newest import Newest
from mnemolens.engine.opened_memories import OpenedMemories
from mnemolens.engine.opened_stored import Stored
from mnemolens.engine.recall import Recall
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.relinking import Relinking
from mnemolens.engine.reminders import Reminders
from mnemolens.engine.searching import Searching
from mnemolens.engine.sessions import Sessions
from mnemolens.engine.show import Show
from mnemolens.engine.sources import Sources
from mnemolens.engine.suggestions import Suggestions
from mnemolens.engine.write import Write
from mnemolens.engine.writing import Writing
from mnemolens.linking import Rule
from mnemolens.ranking.decay import DecayParams
from mnemolens.store.git import git_busy, read_head
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout, find_layout
from mnemolens.store.merge import MergedState
from mnemolens.store.moments import Moment, Moments
from mnemolens.store.opened import OpenedFolder
from mnemolens.store.symbols import SymbolCache

if TYPE_CHECKING:
    from mnemolens.engine.exchange import Exchange
    from mnemolens.engine.graph_sync import GraphSync
    from mnemolens.engine.importing import Importing


class Workspace:
    """One opened folder.

    Attributes:
        layout: where folder, top level and store are; files are POSIX paths relative to `layout.top`.
        settings: as they are now.
        clock: for what no argument dates.
        documents: the texts that an editor shows.
        code: all that is asked about code.
        state: the merged journal: memories, anchors, edges as they are stored.
        journal: the events on disk.
        links: which memories are on which code.
        show: memories as views.
        searching: finds memories by words.
        embedding: finds memories by meaning, where an embedder was chosen.
        alike: finds what is known already in almost the same words.
        graph: the graph database, for queries.
        refreshing: derives memories anew; its `generation` grows whenever a lens may have changed.
        relinking: derives all of them anew after the rules of linking changed.
        sources: where the code comes from: documents and files.
        author: who writes here.
        focus: where somebody stands in the code.
        writing: plans what is written of memories themselves.
        attaching: plans what puts them on code and ties them to each other.
        journaling: carries planned writes out.
        memory_graph: the edges between memories.
        sessions: who remembered what, when.
        reminders: which memories are due.
        hovers: what a hover shows.
        lenses: what code lenses say.
        hints: what the list of problems says.
        actions: what can be done at a place.
        recall: which memories to bring to mind.
        listing: which memories a list shows.
        newest: all memories by age.
        around: what stands around a symbol.
        suggestions: offers code for notes that name none.
        capturing: stores a memory, and says what is like it.
        opened: the memories that are open as documents.
        background: what is done now and then.
        glance: reads only the code that some memories need, for a process that answers one question.
    """

    def __init__(self, layout: Layout, settings: Settings, clock: Clock) -> None:
        def now_set() -> Settings:
            return self.settings

        self.layout = layout
        self.settings = settings
        self.clock = clock
        self._keeps_step = False

        self.documents = documents = OpenDocuments()
        self.code = code = Code(layout, documents)
        self.state = state = MergedState()
        self.links = links = Links(state, code, layout.top.as_posix())
        self.show = show = Show(state, links, code)
        self._branches = show.branches = Branches(layout, state)
        self.searching = Searching(state, links, show, code)
        self.embedding = Embedding(state, layout.store / "vectors.sqlite")
        self.alike = Alike(state, show, self.searching)
        self.graph = KeptGraph(self._new_graph)
        self.refreshing = Refreshing(links, self.graph, self.searching)
        self.relinking = Relinking(self.refreshing, state.memories)
        self._cache = SymbolCache(layout.cache_dir / "symbols.sqlite", clock)
        self.sources = Sources(layout, settings, clock, self._cache, documents, code, links, self.refreshing)
        self._last_session = LastSession(self._cache, layout.worktree_id, code, links, self.sources)
        self.author = Author(layout)
        self.focus = Focus(state, show, JointActivation(state, links, code))

        # Writing
        self.journal = Journal(
            layout.store,
            layout.base,
            clock,
            root=layout.top.as_posix(),
            older=layout.older,
            owner=layout.owner,
        )
        self.memory_graph = EdgeGraph(state, lambda: self.author.name)
        self.journaling = Journaling(
            layout, self.journal, state, links, show, self.memory_graph, self.graph, self.refreshing
        )
        self.writing = Writing(
            state, links, code, show, self.sources, self.focus, self.refreshing, self.author
        )
        self.attaching = Attaching(state, links, code, show, self.sources, self.author)
        self.sessions = Sessions(state, self.writing, self.author)

        # Reading
        told = Moments(layout.cache_dir / "told", layout.store.as_posix())
        self.reminders = Reminders(
            state, links, code, show, self._branches, self.refreshing, self.author, told
        )
        self.hovers = Hovers(now_set, self.sources, show, self.focus)
        self.lenses = Lenses(now_set, state, links, code, show)
        self.hints = Hints(now_set, state, links, code, show, self.reminders)
        self.actions = Actions(now_set, state, links, code, show, self.reminders)
        self.newest = newest = Newest(state)
        self.recall = Recall(now_set, state, links, code, show, self.focus, self.searching, newest)
        self.listing = Listing(state, links, show, code, self.searching, newest)
        self.around = Around(code, state, links, show)
        self.suggestions = Suggestions(state, links, show, code, self.searching)
        self.capturing = Capturing(
            self.writing, self.journaling, self.searching, self.alike, self.suggestions, self.embedding
        )
        stored = Stored(state, links, show, self.focus, self.writing, self.journaling, clock)
        self.opened = OpenedMemories(OpenedFolder(layout.store / "open"), stored)
        looked = Moment(layout.cache_dir / "archive" / layout.worktree_id)
        self.background = Background(state, show, self.graph, looked, now_set)
        self.glance = Glance(
            state, code, links, self.sources, self._last_session, self.recall, self._branches, self.refreshing
        )

        self.journaling.listeners = (
            self.writing.note_content,
            newest.note,
            self.embedding.note,
            self._branches.note,
            self.reminders.note,
            self.hints.note,
        )
        self._configure()

    @classmethod
    def open(cls, folder: Path, settings: Settings, clock: Clock | None = None) -> "Workspace":
        """Opens a folder and reads its journal; the index stays empty until `build_index`. Writes nothing."""
        workspace = cls(find_layout(folder, settings.store.path), settings, clock or SystemClock())
        workspace.code.look_at_head()
        workspace.searching.note(workspace.journaling.load())
        return workspace

    @cached_property
    def exchange(self) -> "Exchange":
        """Export, import, daily copies, and purge."""
        from mnemolens.engine.exchange import Exchange

        merge = self.journaling.merge_slowly
        return Exchange(self.layout, self.journal, self.state, self.show, self.code, merge)

    @cached_property
    def importing(self) -> "Importing":
        """What the folder's own comments and agent files say, as memories."""
        from mnemolens.engine.importing import Importing

        return Importing(
            self.layout,
            self.state,
            self.code,
            self.documents,
            self.writing,
            self.author,
            lambda: self.settings,
        )

    def open_document(self, file: str, language_id: str, text: str) -> None:
        """The editor shows the file: its text counts from now on, not the disk's."""
        self.sources.open_document(file, language_id, text)
        self.reminders.note_opened(file)

    # The whole code ---------------------------------------------------------------------------------------

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
            self.sources.progress = None

    async def _build_index(
        self, on_progress: Callable[[int, int], None] | None, *, rebuild: bool
    ) -> IndexReport:
        await self.author.ask_off_loop()
        if not self.code.complete:
            await asyncio.to_thread(self.sources.remember_last_session)
        try:
            report = await self.sources.build(on_progress, rebuild=rebuild)
        except asyncio.CancelledError:
            # What was read until now still shows its memories; what was not is not called lost.
            self.refreshing.refresh_soon(self.state.memories())
            raise
        if not self.code.complete:
            await self._last_session.take_over_slowly()
            self.code.complete = True
            await self.sources.follow_last_session()
        self._configure()
        await self._branches.look(self.code.origin)
        await self.refreshing.refresh_slowly(self.state.memories())
        self.relinking.all_derived()
        self.graph.index_complete()
        return report

    def survey(self, on_progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """`build_index` in passing, without an event loop: what was found is not written down."""
        self.sources.remember_last_session()
        report = self.sources.survey(on_progress)
        self._last_session.take_over()
        self.code.complete = True
        self.sources.follow_last_session_now()
        self._configure()
        self.refreshing.refresh(self.state.memories())
        self._branches.look_blocking(self.code.origin)
        self.graph.index_complete()
        return report

    def without_code(self) -> None:
        """Nobody has indexed this folder: memories are linked to nothing before `build_index`."""
        self.links.naming.enabled = False
        self.graph.index_complete()

    @property
    def was_indexed(self) -> bool:
        """Whether this folder's code was ever indexed, by anybody; asks the cache."""
        return bool(self._cache.get_stamps(self.layout.top.as_posix()))

    # What happens outside ---------------------------------------------------------------------------------

    async def files_changed(self, paths: Sequence[Path]) -> None:
        """These files or folders were created, changed or deleted on disk; also: an editor let go of them."""
        await self.sources.files_changed(paths)
        if not git_busy(self.layout):
            await self._write_down()

    async def files_renamed(self, pairs: Sequence[tuple[Path, Path]]) -> None:
        """The editor renamed files or folders: what was anchored in them is known to be there now."""
        await self.files_changed([path for pair in pairs for path in pair])
        moves = [(self.layout.file_of(old), self.layout.file_of(new)) for old, new in pairs]
        events = [event for old, new in moves if old and new for event in await self.links.moved(old, new)]
        if events:
            await self.journaling.commit(Write(tuple(events), lambda: None))

    async def tick(self, now: datetime) -> None:
        """Once a second: others' events, HEAD, quiet documents, and what ought to be written down."""
        events, head, busy = await asyncio.to_thread(self._look_outside)
        self.code.origin = head
        if events:
            await self.journaling.merge_slowly(events)
        if busy:
            return  # in the middle of a checkout nothing is where it belongs
        await self.sources.take_up_waiting()
        self.sources.settle_quiet(now)
        await self.sources.follow_unseen()
        if await self._branches.look(head):
            self.refreshing.generation += 1
        await self._write_down()
        await self.opened.look(now)
        await self.background.look(now, self._is_idle)

    def apply_settings(self, settings: Settings) -> None:
        """Uses other settings from now on; what they change in the index shows after `build_index`."""
        relink = settings.linking != self.settings.linking
        reindex = settings.index != self.settings.index
        self.settings = settings
        if reindex:
            self.sources.configure(settings)
        self._configure()
        if relink:
            self.relinking.begin()
        self.graph.all_changed()
        self.refreshing.generation += 1

    def close(self) -> None:
        """Writes down what waits and lets go of the journal."""
        if self._keeps_step:
            self.journaling.write_found_last()
            self._last_session.keep()
        self.graph.close()
        self.journal.close()
        self.opened.close_all()
        self._cache.close()
        self.embedding.close()
        self.suggestions.close()
        self.relinking.close()
        self.refreshing.close()
        self.searching.close()

    # Inside -----------------------------------------------------------------------------------------------

    def _new_graph(self) -> "GraphSync":
        from mnemolens.engine.graph_sync import GraphSync
        from mnemolens.store.graph import GraphStore

        return GraphSync(
            GraphStore(self.layout.cache_dir / "graphs" / self.layout.worktree_id, self.clock),
            self.code.index,
            self.state,
            self.links,
            self.sources.facts,
            self.clock,
            lambda: self.show.decay,
        )

    def _configure(self) -> None:
        self.embedding.configure(self.settings.search)
        self.show.decay = DecayParams.from_settings(self.settings)
        self._branches.configure(self.settings)
        self.links.naming.enabled = self.settings.linking.enabled
        self.links.naming.kinds = frozenset(self.settings.linking.kinds)
        self.links.naming.rules = tuple(
            Rule(one.pattern, one.kind, one.score) for one in self.settings.linking.rules
        )

    async def _write_down(self) -> None:
        """Writes down what was found out: anchors, accepted moves, where everything was seen."""
        await self.journaling.write_found()
        await self._last_session.keep_off_loop()

    def _is_idle(self) -> bool:
        """Whether nobody types, and no code is being read."""
        return self.code.complete and self.sources.progress is None and self.documents.are_quiet

    def _look_outside(self) -> tuple[Sequence[Event], Origin, bool]:
        return self.journal.refresh(), read_head(self.layout), git_busy(self.layout)

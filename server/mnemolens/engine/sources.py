"""The sources of a folder, and its index kept in step with them: open documents, else what is on disk.

Owns the one way into the index, when text counts as settled, and which memories a change of text may touch.
It derives no memory itself: `refreshing.py` does. All methods belong to the event loop's thread, but for
those that say otherwise.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import EXTRACTOR_VERSION
from mnemolens.codegraph.resolve import resolve
from mnemolens.core.clock import Clock
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import FileSymbols, Position, Range, Symbol, SymbolKey, apart, shared
from mnemolens.core.text import TextChange
from mnemolens.core.views import IndexReport, Progress
from mnemolens.engine.code import Code
from mnemolens.engine.documents import OpenDocument, OpenDocuments
from mnemolens.engine.indexer import Indexer, IndexOptions
from mnemolens.engine.links import Changed, Links
from mnemolens.engine.loading import Loaded, bulk_load, content_hash
from mnemolens.engine.offload import Slices
from mnemolens.engine.refreshing import Refreshing
from mnemolens.linking import names_of_file
from mnemolens.store.git import git_busy
from mnemolens.store.layout import Layout
from mnemolens.store.symbols import Stamp, SymbolCache, SymbolsKey

if TYPE_CHECKING:
    from mnemolens.engine.graph_rows import FileFacts


ASKED_MS = 8.0
"""So long a request works on its own document's slow parse: who looks at it wants it read soon."""


class Sources:
    """The texts of one folder.

    Attributes:
        indexer: reads files; another one after the settings of the index changed.
        progress: of the index being built, None while none is; whoever asks for it says when all is done.
    """

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        clock: Clock,
        cache: SymbolCache,
        documents: OpenDocuments,
        code: Code,
        links: Links,
        refreshing: Refreshing,
    ) -> None:
        self.progress: Progress | None = None
        self._layout = layout
        self._clock = clock
        self._cache = cache
        self._documents = documents
        self._code = code
        self._links = links
        self._refreshing = refreshing
        self._settled: dict[str, FileSymbols] = {}
        self._waiting: set[str] = set()
        self._unjudged: dict[str, FileSymbols | None] = {}
        self._last_stamps: dict[str, Stamp] = {}
        self._following = asyncio.Lock()
        self.indexer = self._new_indexer(settings)

    def configure(self, settings: Settings) -> None:
        """Reads files by other rules from now on; what they change shows after `build`."""
        self.indexer = self._new_indexer(settings)

    # Open documents ---------------------------------------------------------------------------------------

    def open_document(self, file: str, language_id: str, text: str) -> None:
        """The editor shows the file: its text counts from now on, not the disk's."""
        document = self._documents.open(file, language_id, text, self._code.index.get(file))
        self._put_document(file, document)
        self._settle([file])

    def change_document(
        self, file: str, changes: Sequence[TextChange], now: datetime, *, later: bool = False
    ) -> None:
        """Applies the editor's changes in order; verdicts wait until the text is settled.

        With `later` ranges follow at once, symbols with `finish_parses` or `parse_pending`.
        """
        document = self._documents.change(file, changes, now, later=later)
        if document is not None:
            self._put_document(file, document)

    def finish_parses(self, file: str | None = None) -> None:
        """Before a request that reads the file, or any: finishes what was put off, or a piece of it.

        Where it is about one file and many have changed, the others are left to `parse_pending`.
        """
        pending = tuple(self._documents.pending())
        for found in pending:
            if found.document.is_slow:
                is_read = found.file == file and found.document.parse_slice(ASKED_MS)
            else:
                is_read = (file in (None, found.file) or len(pending) == 1) and found.document.catch_up()
            if is_read:
                self._parsed(found)

    def save_document(self, file: str) -> None:
        """The text was saved: judge it now."""
        self.finish_parses(file)
        self._documents.settle(file)
        self._settle([file])

    async def close_document(self, file: str) -> None:
        """The editor let go of the file: what is on disk counts again."""
        closed = self._documents.close(file)
        async with self._following:
            refreshed = await self.indexer.refresh([file], anew=True)
            await self._replace_slowly({file: dict(refreshed.changed).get(file)})
        slices = Slices()
        for _ in closed.letting_go() if closed is not None else ():
            await slices.pause()

    @property
    def is_parsing(self) -> bool:
        """Whether `parse_pending` has something to do."""
        return any(True for _ in self._documents.pending())

    def parse_pending(self, budget_ms: float, slow_ms: float | None = None) -> bool:
        """Parses on at one document for a while; True when nothing is left to do.

        Args:
            budget_ms: how long.
            slow_ms: how long at one that is slow to read; None for as long.
        """
        found = next(self._documents.pending(), None)
        if found is None:
            return True
        budget = slow_ms if slow_ms is not None and found.document.is_slow else budget_ms
        if found.document.parse_slice(budget):
            self._parsed(found)
        return not self.is_parsing

    def settle_quiet(self, now: datetime) -> None:
        """Judges the documents that have been quiet for long enough."""
        quiet = self._documents.quiet(now)
        for file in quiet:
            self._documents.settle(file)
        self._settle(quiet)

    def symbol_under(self, file: str, position: Position) -> tuple[SymbolKey, Range] | None:
        """The symbol whose name, or a resolved reference to it, is at the position of an open document."""
        document = self._documents.get(file)
        if document is None or document.language is None:
            return None
        index = document.name_at(position)
        if index is not None:
            symbol = document.symbols.symbols[index]
            name = document.symbols.ranges[index].name
            return SymbolKey(file, symbol.qualname, symbol.ordinal), name
        reference = document.reference_at(position)
        resolved = resolve(self._code.index, file, reference) if reference is not None else None
        return (resolved.key, reference.range) if resolved is not None and reference is not None else None

    # Files on disk ----------------------------------------------------------------------------------------

    async def build(
        self, on_progress: Callable[[int, int], None] | None = None, *, rebuild: bool = False
    ) -> IndexReport:
        """Reads all files into the index, derives no memory. Cancel the task to stop it.

        Args:
            on_progress: told (files done, files in all).
            rebuild: parse every file again, whatever the cache says.
        """

        def progress(done: int, total: int) -> None:
            self.progress = Progress(done, total)
            if on_progress is not None:
                on_progress(done, total)

        self.progress = Progress(0, 0)
        stale = set(self._code.index.files())
        indexed: set[str] = set()

        def put(batch: Sequence[Loaded]) -> None:
            for file, symbols in batch:
                indexed.add(file)
                if file not in self._documents:
                    # What is equal stays the same object: else both would be kept, each by somebody.
                    known = self._code.index.get(file)
                    same = known is not None and known == symbols and known.ranges == symbols.ranges
                    self._index(file, known if same else symbols)

        report = await self.indexer.run(put, progress, fresh=rebuild)
        slices = Slices()
        for file in stale - indexed:
            if file not in self._documents:
                self._index(file, None)
                await slices.pause()
        return self._report(report.seconds)

    def survey(self, on_progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """`build` in passing, without an event loop: what was found is not written down."""

        def put(batch: Sequence[Loaded]) -> None:
            for file, symbols in batch:
                self._code.index.put(file, symbols)

        return self._report(self.indexer.run_blocking(put, on_progress, passing=True).seconds)

    def remember_last_session(self) -> None:
        """Before `build`: which files this worktree had when it was read last, and what they held."""
        self._last_stamps = self._cache.get_stamps(self._layout.top.as_posix())

    async def follow_last_session(self) -> None:
        """After `build`: follows anchored code through all that happened while no server ran."""
        before = await asyncio.to_thread(self._since_last_session)
        await self._links.follow_slowly(before, known_before=bool(self._last_stamps))
        await self._links.follow_files(before.keys())
        self._last_stamps = {}

    def follow_last_session_now(self) -> None:
        """The same, without an event loop."""
        self._links.follow(self._since_last_session(), known_before=bool(self._last_stamps))

    def may_have_moved(self) -> bool:
        """Whether any anchored code may have left its place since the last session."""
        return not self._last_stamps or self._links.are_known_in(self._since_last_session())

    def _since_last_session(self) -> dict[str, FileSymbols | None]:
        """The files that are new, changed or gone since, with what the cache knows that they held."""
        before: dict[str, FileSymbols | None] = {}
        if not self._last_stamps:
            return before
        keys = {}
        for file, stamp in self._last_stamps.items():
            now = self.indexer.stamp(file)
            if now is None or now.hash != stamp.hash:
                before[file] = None
                keys[file] = SymbolsKey(stamp.hash, self.indexer.language(file) or "", EXTRACTOR_VERSION)
        known = self._cache.get_many(keys.values())
        before.update((file, known.get(key)) for file, key in keys.items())
        before.update((file, None) for file in self._code.index.files() if file not in self._last_stamps)
        return before

    async def files_changed(self, paths: Iterable[Path]) -> None:
        """These files or folders were created, changed or deleted on disk; also: an editor let go of them."""
        files, busy = await asyncio.to_thread(self._look_at, tuple(paths))
        if files and busy:
            self._waiting |= files
            return
        async with self._following:
            refreshed = await self.indexer.refresh(files)
            now: dict[str, FileSymbols | None] = dict.fromkeys(refreshed.removed)
            now.update(refreshed.changed)
            await self._replace_slowly(now)
            moved = await self._links.follow_files(files | now.keys())
            await self._refreshing.refresh_slowly(sorted(moved))

    async def take_up_waiting(self) -> None:
        """Looks at what changed in the middle of a git operation, which has ended, or could not be judged."""
        if self._waiting:
            waiting, self._waiting = self._waiting, set()
            await self.files_changed([self._layout.path_of(file) for file in waiting])
        before = {file: old for file, old in self._unjudged.items() if self._documents.is_settled(file)}
        if before:
            for file in before:
                del self._unjudged[file]
            async with self._following:
                await self._judge(before)

    async def follow_unseen(self) -> None:
        """Follows code of memories that others wrote, on branches where it has another place."""
        await self._refreshing.refresh_slowly(sorted(await self._links.follow_unseen()))

    def read_anew(self, file: str | None) -> None:
        """Brings a closed file up to date before a position in it is taken for a symbol's.

        Another program may have written it, and no watcher has said so yet.
        """
        if file is None:
            return
        stamp = self.indexer.stamp(file)
        symbols = self._code.read(file, stamp.hash if stamp is not None else None)
        if symbols is None:
            return
        known = self._code.index.get(file)
        if known is None or known != symbols or known.ranges != symbols.ranges:
            self._refreshing.refresh(self._replace({file: symbols}))

    def facts(self, file: str) -> "FileFacts":
        """What the graph says of a file's text."""
        from mnemolens.engine.graph_rows import FileFacts

        document = self._documents.get(file)
        if document is not None:
            data = document.text.data
            return FileFacts(content_hash(data), len(data))
        stamp = self.indexer.stamp(file)
        return FileFacts(stamp.hash, stamp.size) if stamp is not None else FileFacts()

    # Inside -----------------------------------------------------------------------------------------------

    def _new_indexer(self, settings: Settings) -> Indexer:
        index, layout = settings.index, self._layout
        options = IndexOptions(
            exclude=tuple(index.exclude),
            max_file_bytes=index.max_file_bytes,
            languages=tuple(index.languages),
        )
        return Indexer(
            layout.root, layout.top, self._cache, self._clock, options=options, common_dir=layout.common_dir
        )

    def _look_at(self, paths: Collection[Path]) -> tuple[set[str], bool]:
        """These paths as files of this folder, and whether git is busy; for a thread: paths can be many."""
        files = {file for path in paths if (file := self._layout.file_of(path)) is not None}
        return files, git_busy(self._layout)

    def _report(self, seconds: float) -> IndexReport:
        return IndexReport(len(self._code.index), self._code.index.symbol_count, seconds)

    def _index(self, file: str, symbols: FileSymbols | None) -> None:
        """The one way into the index; None takes the file out."""
        if symbols is None:
            self._code.index.remove(file)
        else:
            self._code.index.put(file, symbols)
        self._refreshing.file_changed(file)

    def _parsed(self, found: OpenDocument) -> None:
        self._put_document(found.file, found.document)
        if found.touched_at is None:
            self._settle([found.file])

    def _put_document(self, file: str, document: Document) -> None:
        if document.language is None:
            return
        on_disk = self._code.index.get(file)
        if on_disk is not None:
            self._settled.setdefault(file, on_disk)
        self._index(file, document.symbols)
        self._links.retype(file, on_disk, document.symbols)

    def _replace(self, files: Mapping[str, FileSymbols | None]) -> set[str]:
        """Puts what the disk has of these files into the index, all of it before any memory is looked at.

        Returns:
            The memories that this may change.
        """
        before = {file: self._code.index.get(file) for file in files}
        for file, symbols in files.items():
            self._put(file, symbols)
        touched = self._links.follow(before)
        for file, symbols in files.items():
            touched |= self._touched_by(file, before[file], symbols)
        return touched

    def _put(self, file: str, symbols: FileSymbols | None) -> None:
        self._index(file, symbols)
        if symbols is None:
            self._settled.pop(file, None)
        else:
            self._settled[file] = symbols

    async def _replace_slowly(self, files: Mapping[str, FileSymbols | None]) -> None:
        """`_replace`, in slices; what is put meanwhile by others is newer and stays. Derives the memories."""
        before = {file: self._code.index.get(file) for file in files}
        files = await asyncio.to_thread(_sharing, files, before)
        touched: set[str] = set()
        put: dict[str, FileSymbols | None] = {}
        slices = Slices()
        with bulk_load(sum(len(one.symbols) for one in files.values() if one is not None)):
            with self._refreshing.batch(), self._judging(put):
                for file, symbols in files.items():
                    if file not in self._documents and self._code.index.get(file) is before[file]:
                        self._put(file, symbols)
                        put[file] = before[file]
                        touched |= self._touched_by(file, before[file], symbols)
                        await slices.pause()
                touched |= await self._links.follow_slowly(put)
            await self._refreshing.refresh_slowly(sorted(touched))

    def _settle(self, files: Iterable[str]) -> None:
        """Judges the memories that these files' text, now settled, may have changed; many in slices."""
        settled = [file for file in files if self._documents.is_settled(file)]
        if self._links.are_many_in(settled) and self._refreshing.beside(self._settle_slowly(settled)):
            return
        before = {file: self._settled.get(file) for file in settled}
        with self._judging(before):
            touched = self._links.follow(before) | self._links.held_up_in(settled)
            for file in settled:
                after = self._code.index.get(file)
                touched |= self._touched_by(file, before[file], after)
                if after is not None:
                    self._settled[file] = after
        self._refreshing.refresh_soon(sorted(touched))

    async def _settle_slowly(self, files: Iterable[str]) -> None:
        async with self._following:
            settled = [file for file in files if self._documents.is_settled(file)]  # else a later call judges
            before = {file: self._settled.get(file) for file in settled}
            with self._judging(before):
                await self._judge(before)

    async def _judge(self, before: Mapping[str, FileSymbols | None]) -> None:
        """Derives the memories that may be touched by what is in these files now; as it was before."""
        after = {file: symbols for file in before if (symbols := self._code.index.get(file)) is not None}
        self._settled.update(after)
        touched = await self._links.follow_slowly(before) | self._links.held_up_in(before)
        slices = Slices()
        for file, old in before.items():
            touched |= self._touched_by(file, old, after.get(file))
            await slices.pause()
        await self._refreshing.refresh_slowly(sorted(touched))

    @contextmanager
    def _judging(self, before: Mapping[str, FileSymbols | None]) -> Iterator[None]:
        """What fails within is done once more at the next tick: these files' memories would stay stale."""
        try:
            yield
        except Exception:
            self._unjudged = {**before, **self._unjudged}
            raise

    def _touched_by(self, file: str, before: FileSymbols | None, after: FileSymbols | None) -> set[str]:
        if before is not None and before == after:
            return set()
        hashes = _hashes(after.symbols if after is not None else ())
        if before is None or after is None:
            there = before or after
            names = {symbol.name for symbol in there.symbols} if there is not None else set()
            return self._links.memories_touched(file, names | names_of_file(file), hashes)
        were, are = apart(before.symbols, after.symbols)
        old = {(s.qualname, s.ordinal): s for s in were}
        new = {(s.qualname, s.ordinal): s for s in are}
        keys = [key for key in old.keys() | new.keys() if _differ(old.get(key), new.get(key))]
        gone, come = ([of[key] for key in keys if key in of] for of in (old, new))
        names = {name for name, *_ in {*map(_identity, gone)} ^ {*map(_identity, come)}}
        changed = Changed({SymbolKey(file, *key) for key in keys}, _hashes(come))
        partly = _is_told_by_symbols(before, after)
        return self._links.memories_touched(file, names, hashes, changed if partly else None)


def _sharing(
    files: Mapping[str, FileSymbols | None], before: Mapping[str, FileSymbols | None]
) -> Mapping[str, FileSymbols | None]:
    """The files, with what they held before where that is equal; of many symbols it is for a thread."""
    return {
        file: now if now is None or (old := before[file]) is None else shared(now, old)
        for file, now in files.items()
    }


def _identity(symbol: Symbol) -> tuple[str, str, int, str]:
    """What a text that names the symbol may mean it by."""
    return symbol.name, symbol.qualname, symbol.ordinal, symbol.kind


def _differ(before: Symbol | None, after: Symbol | None) -> bool:
    return before is not after and before != after  # most are the same object, and to compare is dear


def _hashes(symbols: Iterable[Symbol]) -> set[str]:
    return {value for symbol in symbols for value in (symbol.full_hash, symbol.body_hash) if value}


def _is_told_by_symbols(before: FileSymbols, after: FileSymbols) -> bool:
    """Whether nothing has changed that other symbols of the file may depend on.

    Names may mean something else once imports, base classes or what the module binds do, and a file with a
    syntax error is judged as a whole.
    """

    def context(symbols: FileSymbols) -> tuple[object, ...]:
        bases = {(one.qualname, one.ordinal): one.bases for one in symbols.symbols if one.bases}
        return symbols.language, symbols.imports, symbols.module_names, bases

    return not (before.partial or after.partial) and context(before) == context(after)

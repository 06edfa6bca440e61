"""The index of a folder's files: which there are, which are new or changed, and the symbols of those.

Owns what is known of the files on disk: their stamps, and which were left out and why. It holds no
symbols: it hands them to the caller in batches, each small enough for the event loop. It knows nothing of
open documents; for a file that is open the caller prefers the editor's text.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from mnemolens.codegraph.languages import setting_of, table_of
from mnemolens.core.clock import Clock
from mnemolens.core.symbols import FileSymbols
from mnemolens.engine.loading import VALUES_OF_A_SYMBOL, Load, Loaded, Only, Sources, bulk_load
from mnemolens.engine.offload import Post, here, in_thread
from mnemolens.engine.parsing import TIME_LIMIT
from mnemolens.store.files import DEFAULT_MAX_FILE_BYTES, FileFinder, FoundFile, Skipped
from mnemolens.store.symbols import Stamp, SymbolCache

OnBatch = Callable[[list[Loaded]], None]
OnProgress = Callable[[int, int], None]

_BULK = 256
_BATCH_SECONDS = 0.004
_RULE_FILES = frozenset({".gitignore", "pyvenv.cfg"})


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What the settings say of indexing.

    Attributes:
        exclude: patterns in `.gitignore` form, relative to the top level; they win over every ignore file.
        max_file_bytes: longer files are left out.
        languages: choices of the setting `index.languages`; None for all.
        time_limit: seconds of processor time for parsing one file.
        extractor: "module:function" in the place of the real extraction, for tests.
    """

    exclude: tuple[str, ...] = ()
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    languages: tuple[str, ...] | None = None
    time_limit: float = TIME_LIMIT
    extractor: str | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What an index run found.

    Attributes:
        files: how many were handed over.
        symbols: how many they hold.
        skipped: what was left out, and why.
        parsed: how many texts no cache knew.
        seconds: from the start to the last batch taken.
    """

    files: int
    symbols: int
    skipped: tuple[Skipped, ...]
    parsed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What changed on disk since the last look.

    Attributes:
        changed: files that are new or whose content differs, with their symbols.
        removed: files that are gone or are left out now; POSIX, relative to the top level.
    """

    changed: tuple[Loaded, ...] = ()
    removed: tuple[str, ...] = ()


class Indexer:
    """Indexes one folder. Runs and refreshes exclude each other; methods may be called from any thread.

    Args:
        folder: the opened folder, absolute and real.
        top: the top level that paths are relative to.
        cache: may be shared with other indexers.
        clock: tells when a file was read.
        options: what the settings say of indexing.
        common_dir: the repository's common git folder, None without git.

    Attributes:
        unchanged: the files that the last run found as the run before it left them, in whatever process.

    Raises:
        ValueError: `folder` is not inside `top`.
    """

    def __init__(
        self,
        folder: Path,
        top: Path,
        cache: SymbolCache,
        clock: Clock,
        *,
        options: IndexOptions = IndexOptions(),
        common_dir: Path | None = None,
    ) -> None:
        self._languages = None if options.languages is None else frozenset(options.languages)
        self._finder = FileFinder(
            folder,
            top,
            lambda path: self.language(path) is not None,
            exclude=options.exclude,
            max_file_bytes=options.max_file_bytes,
            common_dir=common_dir,
        )
        self._cache = cache
        self._sources = Sources(
            os.fspath(top),
            cache,
            clock,
            self.language,
            options.max_file_bytes,
            options.extractor,
            options.time_limit,
        )
        self._busy = threading.Lock()
        self.unchanged: frozenset[str] = frozenset()
        self._known: dict[str, Stamp] = {}
        self._skipped: dict[str, str] = {}

    def language(self, path: str) -> str | None:
        """The language that a file of this name is indexed as; None where it is not."""
        table = table_of(path)
        if table is None or (self._languages is not None and setting_of(table.name) not in self._languages):
            return None
        return table.name

    def stamp(self, file: str) -> Stamp | None:
        """What is known of a file's content on disk; None where it was not read."""
        return self._known.get(file)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was left out at the last look, and why."""
        return tuple(Skipped(*item) for item in self._skipped.items())

    # -- the whole folder --

    async def run(
        self, on_batch: OnBatch, on_progress: OnProgress | None = None, *, fresh: bool = False
    ) -> RunReport:
        """Index the folder. Both callbacks are called on the running loop.

        Cancelling the task stops the work after the file in hand; an exception of a callback ends it too.

        Args:
            on_batch: takes some files with their symbols. The batches follow the time that this takes: one
                holds the loop for about 4 ms, longer only where a single file does.
            on_progress: takes (files done, files in all).
            fresh: read and parse everything, whatever the cache says.
        """
        return await in_thread(
            lambda post, stop: self._run(on_batch, on_progress, post, stop, fresh=fresh), "mnemolens-index"
        )

    def run_blocking(
        self,
        on_batch: OnBatch,
        on_progress: OnProgress | None = None,
        *,
        fresh: bool = False,
        only: Only | None = None,
        passing: bool = False,
    ) -> RunReport:
        """The same on the caller's thread, for the command line and tests.

        Args:
            on_batch: as for `run`.
            on_progress: as for `run`.
            fresh: as for `run`.
            only: what is wanted of the files that the cache knows; the others come without symbols.
            passing: a look in passing, after which nobody writes down where anchors are: the files that are
                new or changed stay so for the next run.
        """
        stop = threading.Event()
        return self._run(on_batch, on_progress, here, stop, fresh=fresh, only=only, passing=passing)

    def _run(
        self,
        on_batch: OnBatch,
        on_progress: OnProgress | None,
        post: Post,
        stop: threading.Event,
        *,
        fresh: bool,
        only: Only | None = None,
        passing: bool = False,
    ) -> RunReport:
        begun = time.perf_counter()
        with self._busy, bulk_load() as made:
            scan = self._finder.scan()
            total = len(scan.files)
            baseline = self._cache.get_stamps(self._sources.top)
            load = Load(self._sources, scan.files, baseline, stop, fresh=fresh, only=only)
            pace = _Pace()
            files = symbols = 0
            if on_progress is not None:
                post(lambda: on_progress(0, total))
            for batch in pace.batches(load.items()):
                files += len(batch)
                symbols += sum(len(found.symbols) for _, found in batch)
                post(lambda taken=batch: pace.time(on_batch, taken))  # type: ignore[misc]  # mypy: default in lambda
                if on_progress is not None:
                    post(lambda: on_progress(load.done, total))
            if on_progress is not None:
                post(lambda: on_progress(total, total))
            made(VALUES_OF_A_SYMBOL * symbols)
            seconds = time.perf_counter() - begun
            self._known = load.stamps
            self.unchanged = frozenset(
                file
                for file, stamp in load.stamps.items()
                if file in baseline and baseline[file].hash == stamp.hash
            )
            self._skipped = {**dict(scan.skipped), **load.failed}
            if passing and baseline:
                self._store(baseline, {file: load.stamps[file] for file in self.unchanged}, set())
            else:
                gone = {file for file in baseline if self._finder.covers(file)} - set(load.stamps)
                self._store(baseline, load.stamps, gone)
            if load.parsed:
                self._cache.prune()
        return RunReport(files, symbols, self.skipped, load.parsed, seconds)

    def look(self, path: str) -> FileSymbols | None:
        """One file's symbols as it is on disk, ignored or not; of what it looked like nothing is kept.

        Args:
            path: POSIX, relative to the top level.

        Returns:
            None for a file of no language that is indexed, or that can't be read.
        """
        language = self.language(path)
        text = self._sources.read(path)
        if language is None or isinstance(text, str):
            return None
        key = self._sources.key(path, text.stamp.hash)
        known = self._cache.get_many([key]).get(key)
        return known if known is not None else self._sources.extract()(text.source, language)

    def _store(self, before: dict[str, Stamp], stamps: dict[str, Stamp], gone: set[str]) -> None:
        new = {file: stamp for file, stamp in stamps.items() if before.get(file) != stamp}
        if new or gone:
            self._cache.put_stamps(self._sources.top, new, gone)

    # -- what changed on disk --

    async def refresh(self, paths: Iterable[str] | None = None, *, anew: bool = False) -> Refreshed:
        """Look at what may have changed on disk, was made or is gone; at the whole folder without `paths`.

        Content that is as it was is not reported. A path may be a folder's: watchers name the folder alone
        when one is moved or removed. Where an ignore file is among the paths, the whole folder is looked at.

        Args:
            paths: POSIX, relative to the top level.
            anew: report the files among the paths even where their content is as it was: for a caller who
                had something else in their place.
        """
        wanted = None if paths is None else set(paths)
        return await in_thread(lambda _, stop: self._refresh(wanted, stop, anew=anew), "mnemolens-refresh")

    def refresh_blocking(self, paths: Iterable[str] | None = None, *, anew: bool = False) -> Refreshed:
        """The same on the caller's thread."""
        return self._refresh(None if paths is None else set(paths), threading.Event(), anew=anew)

    def _refresh(self, paths: set[str] | None, stop: threading.Event, *, anew: bool) -> Refreshed:
        with self._busy:
            if paths is None or any(path.rpartition("/")[2] in _RULE_FILES for path in paths):
                scan = self._finder.scan()
                found, skipped = list(scan.files), dict(scan.skipped)
                gone = set(self._known) - {file.path for file in found}
            else:
                found, skipped, gone = self._look_at(paths)
            before = self._known
            reported = {f: s for f, s in before.items() if f not in paths} if anew and paths else before
            load = Load(self._sources, found, reported, stop, only_changed=True)
            with bulk_load() if len(found) > _BULK else nullcontext():
                changed = tuple(load.items())
            gone |= before.keys() & load.failed.keys()
            self._known = {f: stamp for f, stamp in (before | load.stamps).items() if f not in gone}
            self._skipped = {**skipped, **load.failed}
            self._store(before, load.stamps, gone)
        return Refreshed(changed, tuple(sorted(gone)))

    def _look_at(self, paths: set[str]) -> tuple[list[FoundFile], dict[str, str], set[str]]:
        """(files that are there, everything that is left out now, files that are gone)."""
        found: dict[str, FoundFile] = {}
        gone: set[str] = set()
        skipped = dict(self._skipped)
        others = {path for path in paths if self.language(path) is None}
        for path in paths - others:
            skipped.pop(path, None)
            verdict = self._finder.examine(path)
            if isinstance(verdict, FoundFile):
                found[path] = verdict
                continue
            if verdict is not None:
                skipped[verdict.file] = verdict.reason
            if path in self._known:
                gone.add(path)
        held = {folder for file in self._known for folder in _folders_above(file)} if others else set()
        left_out = {at for file in skipped for at in (file, *_folders_above(file))} if others else set()
        for folder in others:
            if folder in left_out:
                skipped = {
                    file: why
                    for file, why in skipped.items()
                    if file != folder and not file.startswith(f"{folder}/")
                }
            if folder not in held and not os.path.isdir(f"{self._sources.top}/{folder}"):  # noqa: PTH112 - thousands
                continue
            scan = self._finder.scan_below(folder)
            skipped.update(scan.skipped)
            found.update((file.path, file) for file in scan.files)
            if folder in held:
                gone |= {f for f in self._known if f.startswith(f"{folder}/") and f not in found}
        return list(found.values()), skipped, gone


class _Pace:
    """Cuts the stream of files into batches that take the receiver about `_BATCH_SECONDS`."""

    def __init__(self) -> None:
        self._limit = 100.0
        self._weight = 0.0

    def batches(self, items: Iterable[Loaded]) -> Iterator[list[Loaded]]:
        batch: list[Loaded] = []
        weight = 0
        for item in items:
            batch.append(item)
            weight += 5 + len(item[1].symbols) + len(item[1].calls) // 4
            if weight >= self._limit:
                self._weight = weight
                yield batch
                batch, weight = [], 0
        if batch:
            self._weight = weight
            yield batch

    def time(self, on_batch: OnBatch, batch: list[Loaded]) -> None:
        weight, begun = self._weight, time.perf_counter()
        on_batch(batch)
        fitting = weight * _BATCH_SECONDS / max(time.perf_counter() - begun, 1e-6)
        # half the way, at most doubled: a single measurement says little
        self._limit = max(10.0, min((self._limit + fitting) / 2, self._limit * 2, 20_000.0))


def _folders_above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path

"""One pass over files: from what the disk holds to their symbols, by the cheapest way that is sure.

A file goes through four sieves, each dearer than the one before: the stamp (unchanged since it was last
read: its hash is known without reading), the content hash (read, but seen before, on whatever branch or in
whatever worktree), parsing right here for a handful of small files, and worker processes for the rest.

Owns nothing that lasts: stamps and reasons are handed to `engine/indexer.py`, symbols to the cache.
"""

import gc
import importlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from mnemolens.codegraph.extract import EXTRACTOR_VERSION
from mnemolens.core.clock import Clock
from mnemolens.core.symbols import FileSymbols
from mnemolens.core.turns import Turns
from mnemolens.engine.parsing import TIME_LIMIT, Job, Parsed, ParserPool
from mnemolens.engine.worker import Extract, extract_named, extract_safely
from mnemolens.store.files import FoundFile
from mnemolens.store.symbols import Stamp, SymbolCache, SymbolsKey, decode

Loaded = tuple[str, FileSymbols]

_RACY_NS = 2 * 10**9
"""A file changed this shortly before it was read may change again under the same time (FAT counts in 2 s)."""

_HANDFUL_FILES = 8
_HANDFUL_BYTES = 256 * 1024
_SMALL_FILE = 64 * 1024
"""Parsing holds the interpreter lock: about 10 ms for a file of this size."""

_ON_THE_WAY_BYTES = 16 * 2**20
_CHUNK = 64
_KEEP_AT_ONCE = 128


class Stopped(Exception):
    """The pass was asked to stop."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What every pass over a folder's files shares.

    Attributes:
        top: the top level's path.
        language: the language that a file of a name is indexed as, None where it is not.
        max_file_bytes: longer files are left out.
        extractor: "module:function" in the place of the real extraction, for tests.
        time_limit: seconds of processor time for parsing one file.
    """

    top: str
    cache: SymbolCache
    clock: Clock
    language: Callable[[str], str | None]
    max_file_bytes: int
    extractor: str | None = None
    time_limit: float = TIME_LIMIT

    def read(self, path: str) -> "Text | str":
        """A file's text and stamp, or the reason why it is left out."""
        read_at = int(self.clock.now().timestamp() * 1e9)
        try:
            with open(f"{self.top}/{path}", "rb") as stream:  # noqa: PTH123 - a Path costs more than the reading
                status = os.fstat(stream.fileno())
                source = stream.read(self.max_file_bytes + 1)
        except (OSError, ValueError) as error:
            return f"cannot be read: {getattr(error, 'strerror', None) or error}"
        if len(source) > self.max_file_bytes:
            return f"more than index.maxFileBytes ({self.max_file_bytes}) bytes"
        if b"\0" in source[:8192]:
            return "binary, or not UTF-8"
        steady = len(source) == status.st_size
        racy = max(status.st_mtime_ns, status.st_ctime_ns) > read_at - _RACY_NS
        mtime = status.st_mtime_ns if steady and not racy else -1
        return Text(path, source, Stamp(len(source), mtime, status.st_ctime_ns, content_hash(source)))

    def key(self, path: str, text_hash: str) -> SymbolsKey:
        """Under which the cache has the symbols of a text."""
        return SymbolsKey(text_hash, self.language(path) or "", EXTRACTOR_VERSION)

    def extract(self) -> Extract:
        """The extraction for use in this process."""
        if self.extractor is None:
            return extract_named
        module, _, function = self.extractor.partition(":")
        found: Extract = getattr(importlib.import_module(module), function)
        return found


class Text(NamedTuple):
    """A file as it was read."""

    path: str
    source: bytes
    stamp: Stamp


def content_hash(source: bytes) -> str:
    """128 bits of SHA-256, in hex."""
    return sha256(source).hexdigest()[:32]


class Only(NamedTuple):
    """What of the cached symbols is asked for; the other files are handed over without symbols.

    Attributes:
        files: paths of files that are.
        holding: files with a symbol of any of these names or hashes are too.
    """

    files: frozenset[str]
    holding: tuple[str, ...]


class Load:
    """One pass over some files.

    Args:
        sources: where they are.
        files: which.
        baseline: stamps from an earlier look.
        stop: set to end the pass.
        fresh: neither stamps nor the cache's symbols are trusted.
        only_changed: files whose stamp or content is as in `baseline` are not yielded.
        only: what of the unchanged files is wanted; None for all.

    Attributes:
        done: files that are through, whatever came of them.
        parsed: texts that had to be parsed.
        stamps: of all files that have symbols.
        failed: files that were left out when they were read or parsed, and why.
    """

    def __init__(
        self,
        sources: Sources,
        files: Sequence[FoundFile],
        baseline: Mapping[str, Stamp],
        stop: threading.Event,
        *,
        fresh: bool = False,
        only_changed: bool = False,
        only: Only | None = None,
    ) -> None:
        self.done = 0
        self.parsed = 0
        self.stamps: dict[str, Stamp] = {}
        self.failed: dict[str, str] = {}
        self._sources = sources
        self._files = files
        self._baseline = baseline
        self._stop = stop
        self._fresh = fresh
        self._only_changed = only_changed
        self._only = only
        self._pool: ParserPool | None = None
        self._holders: dict[
            SymbolsKey, list[Text]
        ] = {}  # texts that are parsed now, and every file that has one
        self._keys: list[SymbolsKey] = []  # by job number
        self._waiting: list[Job] = []
        self._waiting_bytes = 0
        self._open_jobs = 0
        self._open_bytes = 0
        self._to_keep: list[tuple[SymbolsKey, bytes]] = []
        self._turns = Turns()

    def items(self) -> Iterator[Loaded]:
        """Yields (path, symbols), each file when its symbols become known.

        Raises:
            Stopped: `stop` was set.
        """
        unread: list[FoundFile] = []
        unchanged: list[tuple[FoundFile, Stamp]] = []
        for file in self._files:
            stamp = None if self._fresh else self._baseline.get(file.path)
            if stamp is not None and stamp[:3] == file[1:]:
                unchanged.append((file, stamp))
            else:
                unread.append(file)
        try:
            # what must be parsed goes first, so that the workers are busy while the rest is decoded
            yield from self._read(unread)
            yield from self._look_up(unchanged)
            yield from self._finish()
        finally:
            if self._pool is not None:
                self._pool.close()
            self._keep()

    def _check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _look_up(self, files: list[tuple[FoundFile, Stamp]]) -> Iterator[Loaded]:
        """Files whose content hash is known without reading them."""
        if self._only_changed:
            self.stamps.update((file.path, stamp) for file, stamp in files)
            self.done += len(files)
            return
        missing: list[FoundFile] = []
        for at in range(0, len(files), _CHUNK):
            self._check()
            chunk = [
                (file, stamp, self._sources.key(file.path, stamp.hash))
                for file, stamp in files[at : at + _CHUNK]
            ]
            found = self._known(chunk)
            for file, stamp, key in chunk:
                if (symbols := found.get(key)) is None:
                    missing.append(file)
                else:
                    yield self._through(file.path, stamp, symbols)
            yield from self._take_answers(wait=False)
        yield from self._read(missing)

    def _known(self, chunk: list[tuple[FoundFile, Stamp, SymbolsKey]]) -> dict[SymbolsKey, FileSymbols]:
        only, cache = self._only, self._sources.cache
        if only is None:
            return cache.get_many({key for _, _, key in chunk})
        whole = {key for file, _, key in chunk if file.path in only.files}
        return cache.get_many({key for _, _, key in chunk} - whole, only.holding) | cache.get_many(whole)

    def _read(self, files: list[FoundFile]) -> Iterator[Loaded]:
        for at in range(0, len(files), _CHUNK):
            texts: list[tuple[Text, SymbolsKey]] = []
            for file in files[at : at + _CHUNK]:
                self._check()
                self._turns.give()
                text = self._sources.read(file.path)
                if isinstance(text, str):
                    self._fail(file.path, text)
                elif self._only_changed and self._is_as_before(text):
                    self.stamps[text.path] = text.stamp
                    self.done += 1
                else:
                    texts.append((text, self._sources.key(text.path, text.stamp.hash)))
            known = {} if self._fresh else self._sources.cache.get_many({key for _, key in texts})
            for text, key in texts:
                if (symbols := known.get(key)) is not None:
                    yield self._through(text.path, text.stamp, symbols)
                else:
                    self._parse(text, key)
            yield from self._take_answers(wait=False)
            while self._open_bytes > _ON_THE_WAY_BYTES:
                yield from self._take_answers(wait=True)

    def _is_as_before(self, text: Text) -> bool:
        before = self._baseline.get(text.path)
        return before is not None and before.hash == text.stamp.hash

    def _through(self, path: str, stamp: Stamp, symbols: FileSymbols) -> Loaded:
        self.stamps[path] = stamp
        self.done += 1
        return path, symbols

    def _fail(self, path: str, reason: str) -> None:
        self.failed[path] = reason
        self.done += 1

    # -- parsing --

    def _parse(self, text: Text, key: SymbolsKey) -> None:
        """Have a text parsed, unless the same one is parsed already."""
        if key in self._holders:
            self._holders[key].append(text)
            return
        self._holders[key] = [text]
        self._waiting.append(Job(len(self._keys), text.source, key.language))
        self._waiting_bytes += len(text.source)
        self._keys.append(key)
        handful = (
            len(self._waiting) <= _HANDFUL_FILES
            and self._waiting_bytes <= _HANDFUL_BYTES
            and len(text.source) <= _SMALL_FILE
        )
        if self._pool is None and handful:
            return
        if self._pool is None:
            self._pool = ParserPool(extractor=self._sources.extractor, time_limit=self._sources.time_limit)
        for job in self._waiting:
            self._open_jobs += 1
            self._open_bytes += len(job.source)
            self._pool.submit(job)
        self._waiting.clear()
        self._waiting_bytes = 0

    def _finish(self) -> Iterator[Loaded]:
        extract = self._sources.extract() if self._waiting else extract_named
        for job in self._waiting:
            self._check()
            yield from self._parse_here(job, extract)
        while self._open_jobs:
            yield from self._take_answers(wait=True)

    def _parse_here(self, job: Job, extract: Extract) -> Iterator[Loaded]:
        yield from self._answered(Parsed(job, *extract_safely(extract, job.source, job.language)))

    def _take_answers(self, *, wait: bool) -> Iterator[Loaded]:
        """What the workers have ready; with `wait`, at least one answer unless it takes long."""
        self._check()
        while self._pool is not None and self._open_jobs:
            answer = self._pool.next_answer(0.2 if wait else 0)
            if answer is None:
                return
            wait = False
            self._open_jobs -= 1
            self._open_bytes -= len(answer.job.source)
            if answer.unstarted:
                yield from self._parse_here(answer.job, self._sources.extract())
            else:
                yield from self._answered(answer)
            self._check()

    def _answered(self, answer: Parsed) -> Iterator[Loaded]:
        key = self._keys[answer.job.number]
        holders = self._holders.pop(key)
        if answer.data is None:
            for text in holders:
                self._fail(text.path, answer.reason or "cannot be parsed")
            return
        self.parsed += 1
        self._to_keep.append((key, answer.data))
        if len(self._to_keep) >= _KEEP_AT_ONCE:
            self._keep()
        symbols = decode(answer.data)
        for text in holders:
            yield self._through(text.path, text.stamp, symbols)

    def _keep(self) -> None:
        self._sources.cache.put_many(self._to_keep)
        self._to_keep.clear()


VALUES_OF_A_SYMBOL = 8
"""What is kept of one, as the garbage collector counts."""

_MANY_VALUES = 20_000
"""Looking through fewer takes a few milliseconds."""

_loads = 0
_values = 0
_loads_lock = threading.Lock()


@contextmanager
def bulk_load(values: int = 0) -> Iterator[Callable[[int], None]]:
    """No garbage collection while many long-lived values are made, and none of these is ever looked at again.

    A collection holds the event loop from whatever thread it comes to: a full one over 100,000 symbols for
    200 ms and more, one over what is new alone for 50 where it is 20,000 symbols. Where only a few were made
    they stay to be looked at: with them, what is garbage already would be kept for ever.

    Args:
        values: at least so many are made, also where as many go that they take the place of: the collector
            does not count those.

    Yields:
        Takes how many more there are, where that shows on the way.
    """
    global _loads, _values  # noqa: PLW0603 - the collector is global too

    def made(more: int) -> None:
        global _values  # noqa: PLW0603 - as above
        with _loads_lock:
            _values += more

    with _loads_lock:
        _loads += 1
        _values += values
        gc.disable()
    try:
        yield made
    finally:
        with _loads_lock:
            _loads -= 1
            if not _loads:
                if max(gc.get_count()[0], _values) > _MANY_VALUES:
                    gc.freeze()
                _values = 0
                gc.enable()

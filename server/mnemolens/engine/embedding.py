"""Vectors of memories, made in the background and kept: search by meaning, where an embedder was chosen.

Owns which memories need a vector, when one is made, and what is said while none can be. Models are
`embedders.py`'s, the file is `store/vectors.py`'s. All methods belong to the event loop's thread; models work
in threads. numpy is imported only once an embedder is chosen.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from mnemolens.core.errors import MnemolensError
from mnemolens.core.ids import short_hash
from mnemolens.core.memories import Memory
from mnemolens.core.settings_model import SearchSettings
from mnemolens.core.views import MeaningState
from mnemolens.engine.offload import in_thread
from mnemolens.store.merge import MergedState

if TYPE_CHECKING:
    from mnemolens.engine.embedders import Embedder, Floats
    from mnemolens.search.vectors import VectorIndex
    from mnemolens.store.vectors import VectorStore

T = TypeVar("T")

log = logging.getLogger(__name__)

_QUIET_SECONDS: Final = 0.2
_RETRY_SECONDS: Final = (10.0, 60.0, 600.0)
_QUERY_SECONDS: Final = 3.0
"""A question is not held up for longer: then words alone answer it."""
_SILENT_SECONDS: Final = 10.0
"""After a question that was not answered the next ones are not asked: somebody may be typing them."""
_ONE_QUESTION_SECONDS: Final = 10.0
"""The same for a process that loads the model first."""
_OFFER_SECONDS: Final = 0.5
"""The same for an offer that nobody asked for."""
_MAX_OF_CODE: Final = 5_000
"""Vectors of code that are remembered: 8 MB of 384 numbers each."""
_NEAREST: Final = 50
_LEAST: Final = 0.2
"""Cosine below which a memory is not near to anything."""
_FAILED: Final = "Search by meaning failed"
_READ: Final = 4_000
"""Characters of a content that its vector is made from."""


class Embedding:
    """The vectors of one folder's memories."""

    def __init__(self, state: MergedState, file: Path) -> None:
        self._state = state
        self._file = file
        self._search = SearchSettings()
        self._store: VectorStore | None = None
        self._embedder: Embedder | None = None
        self._index: VectorIndex | None = None
        self._sources: dict[str, str] = {}
        self._due: dict[str, None] = {}
        self._making = 0
        self._of_code: dict[tuple[str, str], Floats] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reason: str | None = None
        self._not_before = 0.0  # by the loop's clock

    @property
    def state(self) -> MeaningState:
        """Where it is at, in words."""
        if self._search.embedder == "off":
            return MeaningState("off", None, 0, 0, None)
        made = len(self._index) if self._index is not None else 0
        name = self._embedder.name if self._embedder is not None else self._search.embedder
        word = "failed" if self._reason else "starting" if self._index is None else "ready"
        due = len(self._due) + self._making
        if word == "ready" and due:
            word = "working"
        return MeaningState(word, name, made, due, self._reason)

    def configure(self, search: SearchSettings) -> None:
        """Uses these settings from now on; another model makes all vectors anew."""
        if search == self._search:
            return
        self._search = search
        self._stop()
        if self._loop is not None:
            self.start()

    def start(self) -> None:
        """Makes vectors in the background from now on, if an embedder was chosen."""
        self._loop = self._loop or asyncio.get_running_loop()
        if self._task is None and self._search.embedder != "off":
            self._due = dict.fromkeys(self._state.memories())
            self._task = self._loop.create_task(self._run())

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        ids = tuple(memory_ids)
        gone = [memory_id for memory_id in ids if self._state.memory(memory_id) is None]
        if gone:
            self._forget(gone)
        if self._task is not None:
            self._due.update(dict.fromkeys(ids))
            self._wake.set()

    async def similar(self, query: str) -> dict[str, float]:
        """{memory id: cosine} of the memories nearest in meaning; empty while that can't be told."""
        embedder, index = self._embedder, self._index
        if embedder is None or index is None or not len(index) or not query.strip():
            return {}
        loop = asyncio.get_running_loop()
        if loop.time() < self._not_before:
            return {}
        try:
            async with asyncio.timeout(_QUERY_SECONDS):
                rows = await _in_thread(partial(embedder.embed, [query], is_query=True))
        except (MnemolensError, TimeoutError) as error:
            self._reason = str(error) or f"no answer in {_QUERY_SECONDS:g} s"
            self._not_before = loop.time() + _SILENT_SECONDS
            return {}
        except Exception as error:
            log.exception(_FAILED)
            self._reason = f"it failed: {error}"
            self._not_before = loop.time() + _SILENT_SECONDS
            return {}
        self._reason = None
        return self._near(index, rows[0])

    async def likeness(self, text: str, others: Sequence[str]) -> list[float] | None:
        """The cosine of each of the others to a text.

        None while that can't be told soon, and where the others, which are code, would leave this process.
        """
        embedder = self._embedder
        if embedder is None or not embedder.offline or self._making or not others:
            return None
        try:
            async with asyncio.timeout(_OFFER_SECONDS):
                return await _in_thread(partial(self._likeness, embedder, text, others))
        except (MnemolensError, TimeoutError):
            return None
        except Exception as error:
            log.exception(_FAILED)
            self._reason = f"it failed: {error}"
            return None

    def _likeness(self, embedder: "Embedder", text: str, others: Sequence[str]) -> list[float]:
        """Runs in a thread, to its end even if nobody waits any more: the next time the vectors are there."""
        known = self._of_code
        if len(known) > _MAX_OF_CODE:
            known.clear()
        keys = [(embedder.name, short_hash(one)) for one in others]
        new = {key: one for key, one in zip(keys, others, strict=True) if key not in known}
        rows = embedder.embed([text, *new.values()], is_query=True)
        known.update(zip(new, rows[1:], strict=True))
        return [float(rows[0] @ known[key]) for key in keys]

    def similar_now(self, query: str) -> dict[str, float]:
        """The same, for a process that answers one question: with the vectors that are there."""
        if self._search.embedder == "off" or not query.strip() or not self._file.exists():
            return {}

        async def ask() -> dict[str, float]:
            async with asyncio.timeout(_ONE_QUESTION_SECONDS):
                return await _in_thread(partial(self._asked_once, query))

        try:
            return asyncio.run(ask())
        except (MnemolensError, TimeoutError) as error:
            self._reason = str(error) or f"no answer in {_ONE_QUESTION_SECONDS:g} s"
        except Exception as error:
            log.exception(_FAILED)
            self._reason = f"it failed: {error}"
        return {}

    def _asked_once(self, query: str) -> dict[str, float]:
        opened = _open(self._search, self._file)
        try:
            return self._near(opened.index, opened.embedder.embed([query], is_query=True)[0])
        finally:
            opened.store.close()

    def close(self) -> None:
        """Stops, and lets go of the file."""
        self._stop()

    # Inside -----------------------------------------------------------------------------------------------

    @staticmethod
    def _near(index: "VectorIndex", vector: object) -> dict[str, float]:
        return {near.key: near.score for near in index.nearest(vector, _NEAREST) if near.score >= _LEAST}

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._store is not None:
            self._store.close()
        self._embedder = self._index = self._reason = None
        self._not_before = 0.0
        self._sources = {}
        self._due = {}

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                if self._index is None:
                    opened = await _in_thread(partial(_open, self._search, self._file))
                    self._store, self._embedder = opened.store, opened.embedder
                    self._index, self._sources = opened.index, opened.sources
                self._reason = None
                await self._make_due()
                failures = 0
                await self._wake.wait()
                self._wake.clear()
                await asyncio.sleep(_QUIET_SECONDS)
            except MnemolensError as error:
                if self._reason is None:
                    log.warning("Search by meaning: %s; search by words goes on", error)
                self._reason = str(error)
                await asyncio.sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
                failures += 1
            except Exception as error:
                log.exception(_FAILED)
                self._reason = f"it failed: {error}"
                return

    async def _make_due(self) -> None:
        """Makes vectors until none is due, batch by batch; a batch is stored whole or not at all."""
        embedder, index = self._embedder, self._index
        assert embedder is not None
        assert index is not None
        while self._due:
            batch: list[tuple[str, str, str]] = []
            while self._due and len(batch) < embedder.batch:
                memory_id = next(iter(self._due))
                del self._due[memory_id]
                memory = self._state.memory(memory_id)
                if memory is None:
                    continue
                text = text_of(memory)
                source = short_hash(text)
                if self._sources.get(memory_id) != source:
                    batch.append((memory_id, source, text))
            if not batch:
                await asyncio.sleep(0)
                continue
            self._making = len(batch)
            try:
                await self._make(embedder, index, batch)
            except BaseException:
                self._due.update(dict.fromkeys(memory_id for memory_id, _, _ in batch))
                raise
            finally:
                self._making = 0

    async def _make(
        self, embedder: "Embedder", index: "VectorIndex", batch: list[tuple[str, str, str]]
    ) -> None:
        from mnemolens.store.vectors import Made

        store = self._store
        assert store is not None

        def work() -> list[Made]:
            rows = embedder.embed([text for _, _, text in batch], is_query=False)
            made = [
                Made(memory_id, source, row) for (memory_id, source, _), row in zip(batch, rows, strict=True)
            ]
            store.put_made(embedder.name, made)
            return made

        made = await _in_thread(work)
        kept = [one for one in made if self._state.memory(one.memory_id) is not None]
        index.put((one.memory_id, one.values) for one in kept)
        self._sources.update((one.memory_id, one.source) for one in kept)
        if len(kept) < len(made):
            self._forget([one.memory_id for one in made if self._state.memory(one.memory_id) is None])

    def _forget(self, memory_ids: list[str]) -> None:
        """Removes the vectors of memories that are gone, whichever model made them."""
        for memory_id in memory_ids:
            self._sources.pop(memory_id, None)
            if self._index is not None:
                self._index.remove(memory_id)
        if self._file.exists():
            from mnemolens.store.vectors import VectorStore

            self._store = self._store or VectorStore(self._file)
            with suppress(MnemolensError):
                self._store.remove(memory_ids)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A model with what it made before: `sources` are hashes of the texts, by memory."""

    embedder: "Embedder"
    store: "VectorStore"
    index: "VectorIndex"
    sources: dict[str, str]


def _open(search: SearchSettings, file: Path) -> _Opened:
    """Loads a model and its vectors, and drops those of other models; takes long."""
    from mnemolens.engine.embedders import open_embedder
    from mnemolens.search.vectors import VectorIndex, index_of
    from mnemolens.store.vectors import VectorStore

    embedder = open_embedder(search)
    store = VectorStore(file)
    store.keep_only(embedder.name, embedder.dimension)
    kept = store.made(embedder.name)
    if kept.rows.shape[1] != embedder.dimension:
        return _Opened(embedder, store, VectorIndex(embedder.dimension), {})
    sources = dict(zip(kept.memory_ids, kept.sources, strict=True))
    return _Opened(embedder, store, index_of(kept.memory_ids, kept.rows), sources)


async def _in_thread(work: Callable[[], T]) -> T:
    return await in_thread(lambda _post, _stop: work(), "mnemolens-embedder")


def text_of(memory: Memory) -> str:
    """What of a memory its vector is made from."""
    content = memory.content[:_READ]
    return content if content.startswith(memory.title) else f"{memory.title}\n{content}"

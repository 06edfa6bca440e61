"""Code that a note may be about although it names none, offered and never linked by itself.

Owns an index of what functions and classes say of themselves, and when likeness is enough for an offer: the
best must be far ahead of the second, since the best alone is right half of the time. A refused offer is never
made again. The index is made beside requests, once a note is on no function; until it is complete nothing is
offered.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from mnemolens.codegraph.index import CodeIndex
from mnemolens.core.events import Place, SuggestionRefuse
from mnemolens.core.memories import Memory
from mnemolens.core.symbols import FileSymbols, Symbol, SymbolKey
from mnemolens.core.views import CaptureView, SuggestionView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.offload import Slices
from mnemolens.engine.searching import Searching
from mnemolens.engine.show import Show
from mnemolens.engine.write import Write
from mnemolens.search.functions import FIELDS, USUAL_LENGTH, document, documents, summary, wanted_by
from mnemolens.search.fusion import fused
from mnemolens.search.index import Found, Wanted, WordIndex
from mnemolens.search.words import terms_of_part, words_of_query
from mnemolens.store.merge import MergedState

_K = TypeVar("_K", str, SymbolKey)
Likeness: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Sequence[float] | None]]

log = logging.getLogger(__name__)

MARGIN: Final = 0.35
"""Share of its score that the best must be ahead: then it is right 6 times in 7 (`tests/bench/search.py`)."""
MARGIN_BY_MEANING: Final = 0.3
MEANING_OF_CODE: Final = 0.4
"""The same where meaning has a say, and its weight: as much code is offered, and more of it rightly."""
_CANDIDATES: Final = 20
"""Found by words, of which meaning is asked."""
_LEAST_WORDS: Final = 3
"""Words that a note and the code must have in common."""
_MAX_FUNCTIONS: Final = 150_000
_MAX_WORDS: Final = 64
_MAX_NOTE: Final = 4_000
"""Characters of a note that are compared."""
_SLICE: Final = 0.002
_PAUSE: Final = 0.004
"""Seconds: nobody waits for the index, and captures that follow on one another must not wait for it."""


class Suggestions:
    """Offers for one folder."""

    def __init__(
        self, state: MergedState, links: Links, show: Show, code: Code, searching: Searching
    ) -> None:
        self._state = state
        self._links = links
        self._show = show
        self._code = code
        self._searching = searching
        self._clear()
        self._task: asyncio.Task[None] | None = None

    def _clear(self) -> None:
        self._index = WordIndex[SymbolKey](FIELDS, USUAL_LENGTH)
        self._files: dict[str, FileSymbols] = {}
        self._unfinished: set[str] = set()  # files of which not all was read
        self._complete = False

    # The index --------------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Brings the index up to date now."""
        for _ in self._reading_all():
            pass

    async def catch_up_slowly(self) -> None:
        """`catch_up`, in slices that let other requests in between."""
        slices = Slices()
        for _ in self._reading_all():
            await slices.pause()

    def close(self) -> None:
        """Stops what is under way."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def warm_up(self, view: CaptureView) -> None:
        """Brings the index up to date beside requests, if a note like this one can be offered code."""
        if is_on_none(view) and self._task is None and self._code.complete and self._stale():
            self._task = asyncio.get_running_loop().create_task(self._read_slowly())

    async def _read_slowly(self) -> None:
        slices = Slices(_SLICE, _PAUSE)
        try:
            for _ in self._reading_all():
                await slices.pause()
        except Exception:
            log.exception("Reading functions for suggestions failed")
        finally:
            self._task = None

    def _stale(self) -> list[str]:
        """The files whose symbols are other ones than those that were read."""
        index = self._code.index
        changed = [
            file
            for file in index.files()
            if file in self._unfinished or self._files.get(file) is not index.get(file)
        ]
        return [*changed, *(file for file in self._files if file not in index)]

    def _reading_all(self) -> Iterator[None]:
        if self._index.wasted:
            self._clear()
        for file in self._stale():
            yield from self._reading(file)
        self._complete = True

    def _reading(self, file: str) -> Iterator[None]:
        """Reads a file, a function at a time."""
        index = self._code.index
        old = self._files.pop(file, None)
        for symbol in () if old is None else old.symbols:
            self._index.remove(SymbolKey(file, symbol.qualname, symbol.ordinal))
        symbols = index.get(file)
        if symbols is None or len(self._index) > _MAX_FUNCTIONS:
            self._unfinished.discard(file)
            return
        self._files[file] = symbols
        self._unfinished.add(file)
        for at, fields in documents(file, symbols, self._code.reader(file)):
            self._index.put(_kept_key(index, file, symbols.symbols[at]), fields)
            yield
        self._unfinished.discard(file)

    # Offers -----------------------------------------------------------------------------------------------

    def offered(self, view: CaptureView, title: str | None, content: str) -> CaptureView:
        """A capture or its preview, with the code that the note may be about.

        None is offered where the note is on a function already, or nothing is clear.
        """
        if not self._complete or not is_on_none(view):
            return view
        return self._with_offer(
            view, _clear_best(self._index.search(_wanted(title, content), limit=2, loose=True))
        )

    async def offered_by_meaning(
        self, view: CaptureView, title: str | None, content: str, likeness: Likeness
    ) -> CaptureView:
        """`offered`, where meaning has a say in which code is ahead of the other.

        Args:
            view: a capture or its preview.
            title: the note's.
            content: the note's.
            likeness: cosines of texts to the note's; None where that can't be told soon: then words decide.
        """
        if not self._complete or not is_on_none(view):
            return view
        wanted = _wanted(title, content)
        found = self._index.search(wanted, limit=_CANDIDATES, loose=True)
        if not found or found[0].matched.bit_count() < _LEAST_WORDS:
            return view
        texts = {one.key: text for one in found if (text := self._summary(one.key))}
        note = f"{title or ''}\n{content[:_MAX_NOTE]}".strip()
        cosines = await likeness(note, tuple(texts.values()))
        if cosines is None:
            return self._with_offer(view, _clear_best(found))
        scores = fused(
            {one.key: one.score for one in found},
            dict(zip(texts, cosines, strict=True)),
            MEANING_OF_CODE,
            whole=self._index.whole(wanted),
        )
        ordered = sorted(
            (one._replace(score=scores[one.key]) for one in found), key=lambda one: (-one.score, one.key)
        )
        return self._with_offer(view, _clear_best(ordered, MARGIN_BY_MEANING))

    def _with_offer(self, view: CaptureView, best: Found[SymbolKey] | None) -> CaptureView:
        if best is None:
            return view
        key = best.key
        if view.view is not None and self._state.suggestion_refused(view.view.memory.id, key):
            return view
        return view._replace(suggestion=SuggestionView(self._show.place(key), best.score))

    def _summary(self, key: SymbolKey) -> str:
        """What a vector of this code is made from; "" where it is gone."""
        symbols, at = self._code.index.get(key.file), self._code.index.position_of(key)
        if symbols is None or at is None:
            return ""
        return summary(document(key.file, symbols, at, lambda span: self._code.text_in(key.file, span)))

    def for_code(self, key: SymbolKey, now: datetime) -> Memory | None:
        """The memory on no code that may be about this; None where nothing is clear."""
        symbols, at = self._code.index.get(key.file), self._code.index.position_of(key)
        if symbols is None or at is None or not self._links.any_on_none or not self._searching.ready_now():
            return None
        fields = document(key.file, symbols, at, lambda span: self._code.text_in(key.file, span))
        wanted = wanted_by(fields)

        def fits(memory_id: str) -> bool:
            memory = self._state.memory(memory_id)
            return (
                memory is not None
                and memory.status == "active"
                and (memory.expires_at is None or memory.expires_at > now)
                and self._links.is_on_none(memory_id)
            )

        best = _clear_best(self._searching.nearest(wanted, 2, fits))
        memory = None if best is None else self._state.memory(best.key)
        if memory is None or self._state.suggestion_refused(memory.id, key):
            return None
        return memory

    def is_refused(self, memory_id: str, key: SymbolKey) -> bool:
        """Whether somebody said that this place is not to be offered for this memory."""
        return self._state.suggestion_refused(memory_id, key)

    @staticmethod
    def refuse(memory_id: str, key: SymbolKey) -> Write[None]:
        """Never offers this place for this memory again."""
        return Write((SuggestionRefuse(memory=memory_id, place=Place.of(key)),), lambda: None)


def is_on_none(view: CaptureView) -> bool:
    """Whether the note is on no function or class."""
    return not any(link.target.qualname and not link.candidate for link in view.links)


def _kept_key(index: CodeIndex, file: str, symbol: Symbol) -> SymbolKey:
    """The symbol's key: the very object that the index of code holds, if it has one: that costs nothing."""
    key = SymbolKey(file, symbol.qualname, symbol.ordinal)
    return next((known for known in index.keys_with_full(symbol.full_hash) if known == key), key)


def _wanted(title: str | None, content: str) -> list[Wanted]:
    words = words_of_query(f"{title or ''}\n{content[:_MAX_NOTE]}")[:_MAX_WORDS]
    return [Wanted(term) for word in words for term in terms_of_part(word)]


def _clear_best(found: Sequence[Found[_K]], margin: float = MARGIN) -> Found[_K] | None:
    """The first, if it is far enough ahead of the second."""
    if not found or found[0].matched.bit_count() < _LEAST_WORDS:
        return None
    second = found[1].score if len(found) > 1 else 0.0
    return found[0] if found[0].score - second >= margin * found[0].score else None

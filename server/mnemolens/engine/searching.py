"""Finding memories by words: the index of all memories' texts, kept in step, and what is shown of a find.

Owns which fields of a memory are searched and how much each counts, when the index is brought up to date, and
what filters mean. The index is built when it is first asked for; afterwards only memories that were noted,
and whose fields really differ, are read again. How words are compared is `search/`'s.
"""

import asyncio
import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial

from mnemolens.core.memories import Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import FieldMatch, MatchView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.offload import Slices
from mnemolens.engine.show import Show
from mnemolens.search.index import Found, Wanted, WordIndex
from mnemolens.search.query import Filters, Query
from mnemolens.search.shown import Mark, holds_phrase, marks_in, snippet
from mnemolens.search.words import terms_of, words_of_query
from mnemolens.store.merge import MergedState

FIELDS = {"title": 2.0, "tags": 2.0, "content": 1.0, "names": 1.5, "docs": 0.5}
"""What is searched: also the names of the code that a memory is on, and what that code says of itself."""
USUAL_LENGTH = 45
_MAX_DOCUMENTATION = 1_000
_MAX_CONTENT = 200_000
"""Characters that are searched: of what linked code says of itself, all of it together, and of a content."""
_MAX_PLACES = 10
_RAREST = 12
_MOST_WANTED = 24
"""Words of a long question that are looked for: the rarest, as the others find everything."""
_BESIDE_REQUESTS = 0.002
"""Seconds of a slice of reading all memories, which goes on beside captures: each of them meets several."""
_FEW = 100
"""Memories to be read that no request feels."""
_MANY = 2_000
"""Memories to be read that a capture does not wait for: about 0.1 s."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found.

    Attributes:
        score: above 0; comparable within one search. 1 where no word was asked for.
        words: those words of the query that it holds, in the query's order.
    """

    memory_id: str
    score: float
    words: tuple[str, ...]


class Searching:
    """Searches one folder's memories."""

    def __init__(self, state: MergedState, links: Links, show: Show, code: Code) -> None:
        self._state = state
        self._links = links
        self._show = show
        self._code = code
        self._index = self._new_index()
        self._due: dict[str, None] = {}
        self._reading: Iterator[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._kept: dict[str, int] = {}  # hashes of the fields, as they stand in the index

    @staticmethod
    def _new_index() -> WordIndex[str]:
        return WordIndex(FIELDS, USUAL_LENGTH)

    # The index --------------------------------------------------------------------------------------------

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, or they, their links or the code they are on may have changed."""
        self._due.update(dict.fromkeys(memory_ids))

    @property
    def is_soon_ready(self) -> bool:
        """Whether bringing the index up to date is quick."""
        return len(self._due) <= _MANY

    def ready_now(self) -> bool:
        """Whether the index is up to date, or is after a moment that nobody feels; else begins to read.

        For offers that nobody asked for. Where no event loop runs, longer moments are not felt either.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.is_soon_ready
        if len(self._due) > _FEW:
            self._begin()
            return False
        return True

    def catch_up(self) -> None:
        """Brings the index up to date now."""
        while self._read_on():
            pass

    def close(self) -> None:
        """Stops what is under way."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def catch_up_slowly(self, slice_seconds: float | None = None) -> None:
        """`catch_up`, in slices that let other requests in between."""
        slices = Slices(slice_seconds)
        while self._read_on():
            await slices.pause()

    async def soon_ready(self) -> bool:
        """Brings the index up to date if that is quick, else begins with it beside requests.

        Returns:
            Whether it is up to date.
        """
        if self._task is not None and not self._task.done():
            return False  # who waited for the last of it would wait longest
        if not self.is_soon_ready:
            self._task = asyncio.get_running_loop().create_task(self.catch_up_slowly(_BESIDE_REQUESTS))
            return False
        self._task = None
        await self.catch_up_slowly()
        return True

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self.catch_up_slowly())

    def _read_on(self) -> bool:
        """Goes one step, whoever began it; False once all is read."""
        if self._reading is None:
            if not self._due:
                return False
            self._reading = self._steps()
        try:
            next(self._reading)
        except StopIteration:
            self._reading = None
        return True

    def _steps(self) -> Iterator[None]:
        """Reads the first memory that is due."""
        memory_id = next(iter(self._due))
        del self._due[memory_id]
        memory = self._state.memory(memory_id)
        if memory is None:
            self._index.remove(memory_id)
            self._kept.pop(memory_id, None)
            return
        fields = self.fields(memory)
        if memory.content.startswith(memory.title):
            fields["title"] = (
                ""  # its words stand in the content: twice, they would make a note longer than it is
            )
        kept = hash(tuple(fields.values()))
        if self._kept.get(memory_id) != kept:
            self._kept[memory_id] = kept
            yield from self._index.putting(memory_id, fields)
            if self._index.wasted:
                self._index = self._new_index()
                self._due.update(dict.fromkeys(self._kept))
                self._kept.clear()

    def fields(self, memory: Memory) -> dict[str, str]:
        """What of a memory is searched, by the names in `FIELDS`."""
        names: dict[str, None] = {}
        said: dict[str, None] = {}
        for key in self._places(memory)[:_MAX_PLACES]:
            names[f"{key.qualname} {key.file}"] = None
            symbol = self._code.symbol(key)
            if symbol is not None and symbol.docstring:
                said[symbol.docstring[:_MAX_DOCUMENTATION]] = None
        return {
            "title": memory.title,
            "tags": " ".join(memory.tags),
            "content": memory.content[:_MAX_CONTENT],
            "names": " ".join(names),
            "docs": "\n".join(said)[:_MAX_DOCUMENTATION],
        }

    def _places(self, memory: Memory) -> list[SymbolKey]:
        """The code that the memory is on; before that is known, where it was born."""
        places = {link.target: None for link in self._links.links_of(memory.id) if not link.candidate}
        if not places:
            anchors = self._state.anchors_of(memory.id)
            places = dict.fromkeys(anchor.birth.state.key for anchor in anchors)
        return list(places)

    # Searching --------------------------------------------------------------------------------------------

    def find(
        self,
        query: Query,
        *,
        limit: int | None = None,
        every: bool = False,
        loose: bool = False,
        as_typed: bool = False,
        accept: Callable[[str], bool] | None = None,
    ) -> list[Hit]:
        """The memories that the query finds, best first; its filters are not looked at.

        Args:
            query: what to look for; without words and phrases it finds nothing.
            limit: how many at most; None for all.
            every: only memories that hold every word; else any of them.
            loose: see `WordIndex.search`.
            as_typed: the last words may be incomplete.
            accept: only memories of which this holds, by their id.
        """
        self.catch_up()
        if not query.words:
            return self._with_phrases(query.phrases, limit, accept)

        def accepted(memory_id: str) -> bool:
            return (accept is None or accept(memory_id)) and self._holds(memory_id, query.phrases)

        wanted, numbers = query.wanted(as_typed=as_typed)
        if loose and len(wanted) > _MOST_WANTED:
            rarest = set(self._index.rarest((one.term for one in wanted), _MOST_WANTED))
            kept = [at for at, one in enumerate(wanted) if one.term in rarest]
            wanted, numbers = tuple(wanted[at] for at in kept), tuple(numbers[at] for at in kept)
        found = self._index.search(
            wanted,
            limit=limit,
            every=every or bool(query.phrases and not _outside_phrases(query)),
            loose=loose,
            accept=accepted if accept is not None or query.phrases else None,
        )
        words = cache(partial(_words, query, numbers))  # few ways to match, many that do
        return [Hit(one.key, one.score, words(one.matched)) for one in found]

    def holding_all(self, query: Query) -> list[str]:
        """The memories that hold every word of a query that is being typed, in no order.

        Neither its filters are looked at nor its phrases.
        """
        self.catch_up()
        return self._index.holding_all(query.wanted(as_typed=True)[0])

    def in_order(self, query: Query, memory_ids: Collection[str], limit: int | None) -> list[str]:
        """Memories that hold every word of a query that is being typed, best first; so many are in order.

        Args:
            query: what was looked for.
            memory_ids: what was found by `holding_all`, or some of it.
            limit: how many must be in order; None for all.
        """
        wanted = query.wanted(as_typed=True)[0]
        found = self._index.search(wanted, limit=limit, every=True, among=memory_ids)
        return list(dict.fromkeys((*(one.key for one in found), *memory_ids)))

    def holds(self, query: Query) -> list[Callable[[Memory], bool]]:
        """What a memory must fulfil for the query's phrases; nothing where it has none."""
        return [lambda memory: self._holds(memory.id, query.phrases)] if query.phrases else []

    def holding_which(self, query: Query) -> Callable[[str], tuple[str, ...]]:
        """Tells which words of the query a memory holds, as it is spelt there or nearly so."""
        wanted, numbers = query.wanted()
        terms = [tuple(self._index.meanings(one)) for one in wanted]

        def held(memory_id: str) -> tuple[str, ...]:
            matched = 0
            for at, meant in enumerate(terms):
                if any(self._index.holds(memory_id, term) for term in meant):
                    matched |= 1 << at
            return _words(query, numbers, matched)

        return held

    def whole(self, query: Query) -> float:
        """What a memory would score that were nothing but the words of the query."""
        return self.whole_of(query.wanted()[0])

    def whole_of(self, wanted: Sequence[Wanted]) -> float:
        """The same of what is wanted."""
        self.catch_up()
        return self._index.whole(wanted)

    def nearest(
        self, wanted: Sequence[Wanted], limit: int, accept: Callable[[str], bool]
    ) -> list[Found[str]]:
        """The memories that hold most of what is wanted, loosely, best first."""
        self.catch_up()
        return self._index.search(wanted, limit=limit, loose=True, accept=accept)

    def holding(self, text: str, limit: int, accept: Callable[[str], bool]) -> list[str]:
        """The memories that hold most of the rarest words of a text, best first."""
        self.catch_up()
        wanted = [Wanted(term) for term in self._index.rarest(terms_of(text), _RAREST)]
        # Most are accepted: a search for so many best ones, whichever they are, ends early.
        found = [one.key for one in self._index.search(wanted, limit=2 * limit) if accept(one.key)]
        if len(found) < limit:
            found = [one.key for one in self._index.search(wanted, limit=limit, accept=accept)]
        return found[:limit]

    def _with_phrases(
        self, phrases: Sequence[str], limit: int | None, accept: Callable[[str], bool] | None
    ) -> list[Hit]:
        """Phrases without a word in them (`"(!)"`): no index knows them."""
        if not phrases:
            return []
        found = [
            Hit(memory_id, 1.0, ())
            for memory_id in sorted(self._state.memories())
            if (accept is None or accept(memory_id)) and self._holds(memory_id, phrases)
        ]
        return found[:limit]

    def _holds(self, memory_id: str, phrases: Sequence[str]) -> bool:
        if not phrases:
            return True
        memory = self._state.memory(memory_id)
        if memory is None:
            return False
        texts = (memory.title, memory.content, *memory.tags)
        return all(any(holds_phrase(text, phrase) for text in texts) for phrase in phrases)

    def explain(self, memory: Memory, query: Query, *, loose: bool = False) -> MatchView:
        """What of the query stands in which field of the memory, and a piece of its text around it."""
        self.catch_up()
        wanted, numbers = query.wanted(as_typed=not loose)
        terms: dict[str, str] = {}
        for one, number in zip(wanted, numbers, strict=True):
            for term in self._index.meanings(one, loose=loose):
                terms.setdefault(term, query.words[number] if number >= 0 else "")
        fields = []
        texts = self.fields(memory)
        in_content: Sequence[Mark] = ()
        for name, text in texts.items():
            marks = marks_in(text, terms, query.phrases)
            in_content = marks if name == "content" else in_content
            if marks:
                spelt = tuple(dict.fromkeys(text[mark.start : mark.end] for mark in marks))
                fields.append(FieldMatch(name, spelt, tuple(marks) if name == "title" else ()))
        piece = snippet(memory.content, in_content)
        return MatchView(tuple(fields), piece.text, tuple(piece.marks))

    # Filters ----------------------------------------------------------------------------------------------

    def filter(self, filters: Filters, now: datetime) -> list[Callable[[Memory], bool]]:
        """What a memory must fulfil, the cheapest first; nothing for what is not asked for."""
        wanted: list[Callable[[Memory], bool]] = []
        if filters.types:
            wanted.append(lambda memory: memory.type in filters.types)
        after, before = filters.after, filters.before
        if after is not None:
            wanted.append(lambda memory: memory.created_at >= after)
        if before is not None:
            wanted.append(lambda memory: memory.created_at < before)
        if filters.tags:
            tags = {tag.casefold() for tag in filters.tags}
            wanted.append(lambda memory: tags <= {tag.casefold() for tag in memory.tags})
        if filters.verdicts:
            wanted.append(lambda memory: self._links.verdict_of(memory.id) in filters.verdicts)
        if filters.files:
            fits = [cache(partial(_is_in, part)) for part in filters.files]
            wanted.append(lambda memory: all(any(map(one, self._files(memory))) for one in fits))
        if filters.layers:
            wanted.append(lambda memory: self._show.layer(memory, now) in filters.layers)
        return wanted

    def accepts(self, filters: Filters, now: datetime) -> Callable[[str], bool] | None:
        """The same for ids; None where everything fits."""
        wanted = self.filter(filters, now)
        if not wanted:
            return None

        def fits(memory_id: str) -> bool:
            memory = self._state.memory(memory_id)
            return memory is not None and all(one(memory) for one in wanted)

        return fits

    def _files(self, memory: Memory) -> set[str]:
        return {key.file for key in self._places(memory)}


def _is_in(part: str, file: str) -> bool:
    """Whether the part of a path fits the file's, on whole segments."""
    part = part.replace("\\", "/").strip("/").casefold()
    path = f"/{file.casefold()}/"
    if any(sign in part for sign in "*?["):
        return fnmatch.fnmatchcase(path, f"*/{part}/*")
    return f"/{part}/" in path


def _words(query: Query, numbers: Sequence[int], matched: int) -> tuple[str, ...]:
    found = {number for at, number in enumerate(numbers) if number >= 0 and matched >> at & 1}
    return tuple(word for number, word in enumerate(query.words) if number in found)


def _outside_phrases(query: Query) -> bool:
    """Whether anything is asked for besides phrases."""
    inside = set(words_of_query(" ".join(query.phrases)))
    return any(word not in inside for word in query.words)

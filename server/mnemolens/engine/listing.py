"""Which memories a list shows, and in which order. Reads the merged journal and the derived tables."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Final

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import MEMORY_KINDS, VERDICTS, Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import FieldMatch, MatchView, MemoryPage
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.newest import Newest
from mnemolens.engine.offload import at_once, in_slices
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.searching import Searching
from mnemolens.engine.show import Show
from mnemolens.search.fusion import CLOSE, fused
from mnemolens.search.query import Query, read_query
from mnemolens.store.merge import MergedState

MAX_LIMIT = 1_000
LAYERS = ("core", "active", "long_term", "archive")
NO_MEANING: Final[Mapping[str, float]] = MappingProxyType({})
_MAX_LOOSE = 200
_STEP = 500
"""Memories that are looked at in one go."""


class Listing:
    """Lists memories."""

    def __init__(
        self,
        state: MergedState,
        links: Links,
        show: Show,
        code: Code,
        searching: Searching,
        newest: Newest,
    ) -> None:
        self._state = state
        self._code = code
        self._links = links
        self._show = show
        self._searching = searching
        self._newest = newest

    def page(
        self, request: ListRequest, now: datetime, meaning: Mapping[str, float] = NO_MEANING
    ) -> MemoryPage:
        """One page.

        Args:
            request: what to list; the memories of the symbol at its position are listed by rank.
            now: for weights and expiry.
            meaning: {memory id: cosine} to the query, of those that are near to it in meaning; what is close
                is found too, after what holds every word where the best is asked for.

        Raises:
            InvalidArgument: a filter that can match nothing, a limit out of bounds, no file to a position.
        """
        return at_once(self._paging(request, now, meaning))

    async def page_slowly(
        self, request: ListRequest, now: datetime, meaning: Mapping[str, float] = NO_MEANING
    ) -> MemoryPage:
        """`page`, in slices that let other requests in between."""
        return await in_slices(self._paging(request, now, meaning))

    def _paging(
        self, request: ListRequest, now: datetime, meaning: Mapping[str, float]
    ) -> Generator[None, None, MemoryPage]:
        key = self._place(request)
        _check(request)
        query = read_query(request.query or "")
        wanted = self._wanted(request, query, now)
        end = None if request.limit is None else request.offset + request.limit
        ids = None
        if request.best and query.words and key is None and request.file is None and not meaning:
            ids = yield from self._best_of_all_words(request, query, wanted, now, end)
        if ids is None:
            # Where nothing else decides, only what the page shows need be in order.
            ids = self._ids(request, query, key, now, meaning, None if wanted else end)
            if wanted:
                ids = yield from self._fitting(ids, wanted)
        # A view costs more than a look: only the page is made into views.
        shown = [memory for one in ids[request.offset : end] if (memory := self._state.memory(one))]
        views = self._show.memories(shown, now)
        if not query.words and not query.phrases:
            return MemoryPage(tuple(views), len(ids))
        matches = []
        for view in views:
            matches.append(_by_meaning(self._searching.explain(view.memory, query)))
            yield
        return MemoryPage(tuple(views), len(ids), tuple(matches))

    def _best_of_all_words(
        self,
        request: ListRequest,
        query: Query,
        wanted: Sequence[Callable[[Memory], bool]],
        now: datetime,
        end: int | None,
    ) -> Generator[None, None, Sequence[str] | None]:
        """What `_ids` and the filters give: first what fits, in slices, then its order: words may be common.

        Returns:
            None where nothing is to be checked, or nothing holds all words and phrases.
        """
        phrases = self._searching.holds(query)
        if not wanted and not phrases:
            return None
        ids: Sequence[str] = self._searching.holding_all(query)
        yield
        if phrases:
            ids = yield from self._fitting(ids, phrases)
        if not ids:
            return None
        absent = (
            set()
            if request.include_forgotten
            else self._newest.absent(now, expired=not request.include_expired)
        )
        ids = yield from self._fitting([one for one in ids if one not in absent], wanted)
        return self._searching.in_order(query, ids, end)

    def _fitting(
        self, ids: Sequence[str], wanted: Sequence[Callable[[Memory], bool]]
    ) -> Generator[None, None, Sequence[str]]:
        """Those that fulfil all of it."""
        fitting = []
        for number, memory_id in enumerate(ids, 1):
            memory = self._state.memory(memory_id)
            if memory is not None and all(fits(memory) for fits in wanted):
                fitting.append(memory_id)
            if number % _STEP == 0:
                yield
        return fitting

    def _place(self, request: ListRequest) -> SymbolKey | None:
        """The symbol at the request's position."""
        if request.position is None:
            return None
        if request.file is None:
            raise InvalidArgument("uri", "is needed with a position")
        return self._code.target(request.file, request.position)

    def find(self, request: ListRequest, now: datetime) -> tuple[Memory, ...]:
        """The memories of a page without a place, as they are stored; looks no further than it must.

        Args:
            request: what to list; without `position`, `file` and `layer`.
            now: for expiry.

        Raises:
            InvalidArgument: as `page`.
        """
        _check(request)
        query = read_query(request.query or "")
        end = None if request.limit is None else request.offset + request.limit
        ids = self._ids(request, query, None, now, NO_MEANING, None)
        found: Iterable[Memory] = (memory for one in ids if (memory := self._state.memory(one)))
        for wanted in self._wanted(request, query, now):
            found = filter(wanted, found)
        return tuple(islice(found, request.offset, end))

    def _ids(
        self,
        request: ListRequest,
        query: Query,
        key: SymbolKey | None,
        now: datetime,
        meaning: Mapping[str, float],
        end: int | None,
    ) -> Sequence[str]:
        """What may be listed, in order: what is there, on the place, and found by the words.

        Of what fits best the first `end` are in order; all where that is None.
        """
        found = None
        if query.words:
            # A phrase must stand there as it is: no meaning makes up for it.
            close = {one: near for one, near in meaning.items() if near >= CLOSE and not query.phrases}
            found = self._found(request, query, close, now, end)
        if key is not None or request.file is not None:
            ids = self._on_place(request, key, now)
            if found is not None:
                words = set(found)
                ids = [one for one in ids if one in words]
        elif found is None:
            ids = self._newest.all()
        else:
            ids = found if request.best else self._newest.ordered(found)
        if request.include_forgotten:
            return ids
        absent = self._newest.absent(now, expired=not request.include_expired)
        return [one for one in ids if one not in absent] if absent else ids

    def _on_place(self, request: ListRequest, key: SymbolKey | None, now: datetime) -> list[str]:
        """The memories on the symbol by rank, else those in the file by age."""
        if key is not None:
            return [one.view.memory.id for one in self._show.ranked_on(key, now, hidden=True)]
        assert request.file is not None
        keys = self._links.keys_in_file(request.file)
        linked = {memory_id for one in keys for memory_id in self._links.on_symbol(one)}
        return self._newest.ordered(linked | self._links.astray(request.file))

    def _found(
        self, request: ListRequest, query: Query, close: Mapping[str, float], now: datetime, end: int | None
    ) -> list[str]:
        """What holds every word, and what is close in meaning.

        Where the best is asked for and nothing holds every word, what holds half of them; in the order of
        words and meaning together, but what holds every word first.
        """
        if not request.best:
            return [*self._searching.holding_all(query), *close]
        if end is not None and not close and not query.phrases:
            exact_ids = self._searching.holding_all(query)
            if len(exact_ids) > end:
                absent = set() if request.include_forgotten else self._newest.absent(now)
                best = self._searching.find(
                    query, every=True, as_typed=True, limit=end, accept=lambda one: one not in absent
                )
                first = dict.fromkeys(hit.memory_id for hit in best)
                return [*first, *(one for one in exact_ids if one not in first)]
        hits = self._searching.find(query, every=True, as_typed=True)
        exact = {hit.memory_id: hit.score for hit in hits}
        if not hits:
            hits = self._searching.find(query, loose=True, as_typed=True, limit=_MAX_LOOSE)
            hits = [hit for hit in hits if 2 * len(hit.words) >= len(query.words)]
        if not close:
            return [hit.memory_id for hit in hits]
        words = {hit.memory_id: hit.score for hit in hits}
        scores = fused(words, close, whole=self._searching.whole(query))
        return sorted(scores, key=lambda one: (one not in exact, -scores[one], one))

    def _wanted(self, request: ListRequest, query: Query, now: datetime) -> list[Callable[[Memory], bool]]:
        """What a memory must fulfil besides being found; nothing for what is not asked for."""
        return [
            *self._filters(request, now),
            *self._searching.filter(query.filters, now),
            *(() if request.best and query.words else self._searching.holds(query)),
        ]

    def _filters(self, request: ListRequest, now: datetime) -> Iterator[Callable[[Memory], bool]]:
        """What a memory must fulfil, the cheapest first; nothing for what is not asked for."""
        yield from self._searching.filter(request.filters, now)
        for name in ("type", "session_id", "agent_id"):
            if (value := getattr(request, name)) is not None:
                yield partial(_is, name, value)
        least = request.min_importance
        if least is not None:
            yield lambda memory: memory.importance >= least
        after, before = request.created_after, request.created_before
        if after is not None:
            yield lambda memory: memory.created_at >= after
        if before is not None:
            yield lambda memory: memory.created_at <= before
        tags = set(request.tags)
        if tags:
            yield lambda memory: tags.issubset(memory.tags)
        if request.verdict is not None:
            yield lambda memory: self._links.verdict_of(memory.id) == request.verdict
        if request.layer is not None:
            yield lambda memory: self._show.layer(memory, now) == request.layer
        words = (request.text or "").casefold().split()
        if words:
            yield lambda memory: _holds(memory, words)


def _by_meaning(match: MatchView) -> MatchView:
    """What holds no word of the query was found by its meaning."""
    return match if match.fields else match._replace(fields=(FieldMatch("meaning", ()),))


def _check(request: ListRequest) -> None:
    for name, value, allowed in (
        ("type", request.type, MEMORY_KINDS),
        ("verdict", request.verdict, VERDICTS),
        ("layer", request.layer, LAYERS),
    ):
        if value is not None and value not in allowed:
            raise InvalidArgument(name, f"{value!r} is not one of {', '.join(allowed)}")
    if request.limit is not None and not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidArgument("limit", f"must be from 1 to {MAX_LIMIT}, not {request.limit}")
    if request.offset < 0:
        raise InvalidArgument("offset", f"must not be negative, not {request.offset}")


def _is(name: str, value: str, memory: Memory) -> bool:
    return bool(getattr(memory, name) == value)


def _holds(memory: Memory, words: list[str]) -> bool:
    """Whether every word stands in the title, the content or a tag."""
    text = "\n".join((memory.title, memory.content, *memory.tags)).casefold()
    return all(word in text for word in words)

"""Which memories a list shows, and in which order. Reads the merged journal and the derived tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from types import MappingProxyType
from typing import Final

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import MEMORY_KINDS, VERDICTS, Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import FieldMatch, MatchView, MemoryPage, MemoryView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.newest import Newest
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


class Listing:
    """Lists memories."""

    def __init__(
        self, state: MergedState, links: Links, show: Show, code: Code, searching: Searching
    ) -> None:
        self._state = state
        self._code = code
        self._links = links
        self._show = show
        self._searching = searching
        self._newest = Newest(state)

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
        key = self._place(request)
        _check(request)
        found = list(self._matching(request, key, now, meaning))
        end = None if request.limit is None else request.offset + request.limit
        if request.layer is None:
            # A view costs more than a look: only the page is made into views.
            shown = found[request.offset : end]
            return self._page([self._show.memory(memory, now) for memory in shown], len(found), request)
        views: list[MemoryView] = [self._show.memory(memory, now) for memory in found]
        views = [view for view in views if view.layer == request.layer]
        return self._page(views[request.offset : end], len(views), request)

    def _place(self, request: ListRequest) -> SymbolKey | None:
        """The symbol at the request's position."""
        if request.position is None:
            return None
        if request.file is None:
            raise InvalidArgument("uri", "is needed with a position")
        return self._code.target(request.file, request.position)

    def _page(self, views: list[MemoryView], total: int, request: ListRequest) -> MemoryPage:
        query = read_query(request.query or "")
        if not query.words and not query.phrases:
            return MemoryPage(tuple(views), total)
        matches = tuple(_by_meaning(self._searching.explain(view.memory, query)) for view in views)
        return MemoryPage(tuple(views), total, matches)

    def find(self, request: ListRequest, now: datetime) -> tuple[Memory, ...]:
        """The memories of a page without a place, as they are stored; looks no further than it must.

        Args:
            request: what to list; without `position`, `file` and `layer`.
            now: for expiry.

        Raises:
            InvalidArgument: as `page`.
        """
        _check(request)
        end = None if request.limit is None else request.offset + request.limit
        return tuple(islice(self._matching(request, None, now, NO_MEANING), request.offset, end))

    def note(self, memory_ids: Iterable[str]) -> None:
        """These memories are new, may have changed, or are gone."""
        self._newest.note(memory_ids)

    def _matching(
        self, request: ListRequest, key: SymbolKey | None, now: datetime, meaning: Mapping[str, float]
    ) -> Iterator[Memory]:
        """In order."""
        query = read_query(request.query or "")
        anywhere = key is None and request.file is None
        ids = None
        if query.words or query.phrases:
            # A phrase must stand there as it is: no meaning makes up for it.
            close = {one: near for one, near in meaning.items() if near >= CLOSE and not query.phrases}
            ids = dict.fromkeys(self._found(query, close, best=request.best))
        found: Iterable[Memory] = self._candidates(request, key, now, ids if anywhere else None)
        if ids is not None and not anywhere:
            found = (memory for memory in found if memory.id in ids)
        for wanted in (*self._filters(request, now), *self._searching.filter(query.filters, now)):
            found = filter(wanted, found)
        if ids is not None and anywhere and not request.best:
            found = sorted(found, key=lambda memory: (-memory.created_at.timestamp(), memory.id))
        return iter(found)

    def _found(self, query: Query, close: Mapping[str, float], *, best: bool) -> list[str]:
        """What holds every word, and what is close in meaning.

        Where the best is asked for and nothing holds every word, what holds half of them; in the order of
        words and meaning together, but what holds every word first.
        """
        hits = self._searching.find(query, every=True, as_typed=True)
        exact = {hit.memory_id: hit.score for hit in hits}
        if not best:
            return [*exact, *close]
        if not hits:
            hits = self._searching.find(query, loose=True, as_typed=True, limit=_MAX_LOOSE)
            hits = [hit for hit in hits if 2 * len(hit.words) >= len(query.words)]
        if not close:
            return [hit.memory_id for hit in hits]
        words = {hit.memory_id: hit.score for hit in hits}
        scores = fused(words, close, whole=self._searching.whole(query))
        return sorted(scores, key=lambda one: (one not in exact, -scores[one], one))

    def _filters(self, request: ListRequest, now: datetime) -> Iterator[Callable[[Memory], bool]]:
        """What a memory must fulfil, the cheapest first; nothing for what is not asked for."""
        yield from self._searching.filter(request.filters, now)
        if request.type is not None:
            yield lambda memory: memory.type == request.type
        if request.session_id is not None:
            yield lambda memory: memory.session_id == request.session_id
        if request.agent_id is not None:
            yield lambda memory: memory.agent_id == request.agent_id
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
        words = (request.text or "").casefold().split()
        if words:
            yield lambda memory: _holds(memory, words)

    def _candidates(
        self, request: ListRequest, key: SymbolKey | None, now: datetime, found: Iterable[str] | None
    ) -> Iterable[Memory]:
        if found is not None:
            ids: Iterable[str] = found
        elif key is not None:
            ranked = self._show.ranked_on(key, now, hidden=True)
            ids = [one.view.memory.id for one in ranked]
        elif request.file is not None:
            keys = self._links.keys_in_file(request.file)
            linked = {memory_id for one in keys for memory_id in self._links.on_symbol(one)}
            linked |= self._links.astray(request.file)
            ids = (memory_id for memory_id in self._newest if memory_id in linked)
        else:
            ids = self._newest
        for memory_id in ids:
            memory = self._state.memory(memory_id)
            if memory is None:
                continue
            gone = memory.status == "forgotten" or (
                memory.expires_at is not None and memory.expires_at <= now and not request.include_expired
            )
            if request.include_forgotten or not gone:
                yield memory


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


def _holds(memory: Memory, words: list[str]) -> bool:
    """Whether every word stands in the title, the content or a tag."""
    text = "\n".join((memory.title, memory.content, *memory.tags)).casefold()
    return all(word in text for word in words)

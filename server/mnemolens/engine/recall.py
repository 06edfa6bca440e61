"""Recall: which memories to bring to mind for a place in the code, a question, or both, within a budget.

Owns which memories are considered, how relevant each is and why, their order, and what fits. Weight and
truth are `ranking`'s, places are `links.py`'s. Reading never writes: whoever asked counts the access.
"""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import heappush, heappushpop
from itertools import islice
from typing import Literal, NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Layer, Memory
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import (
    MemoryView,
    PlaceView,
    RankedMemory,
    RecallStats,
    RecallView,
    origin_words,
    recalled_words,
)
from mnemolens.engine.activation import Lit
from mnemolens.engine.code import Code
from mnemolens.engine.focus import Focus, code
from mnemolens.engine.links import Links
from mnemolens.engine.newest import Newest
from mnemolens.engine.offload import at_once, in_slices
from mnemolens.engine.requests import RecallRequest
from mnemolens.engine.searching import Searching
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show, truth_of
from mnemolens.engine.topics import Topics
from mnemolens.ranking.order import after_successors, rank
from mnemolens.ranking.packing import Item, Shares, pack
from mnemolens.search.fusion import fused
from mnemolens.search.query import Query, read_query
from mnemolens.store.merge import MergedState

LAYERS: tuple[Layer, ...] = ("core", "active", "long_term", "archive")
MAX_LIMIT = 1_000

_OWN, _AROUND, _FOUND = range(3)
_MOST_FOUND = 1_000
"""Memories found by words that are looked at."""
_ENOUGH = 300
"""Of these, that are ranked whatever the others may be: they fill any budget."""
_CHUNK = 256
"""Memories that are ranked in one go: about 1 ms."""
_MOST_OF_A_LAYER = 500
_MOST_HELD = 6_000
"""Where all memories are ranked: so many of each layer may be told, so many are kept on the way."""
_VISITED = "near where you were before"


class _Reason(NamedTuple):
    """Why a memory is considered: how near it is, how relevant, and that in words.

    Attributes:
        found: by which search; told in words only of what is ranked, as that costs more than the search.
        like: words of the query that it holds something like.
    """

    tier: int
    relevance: float
    why: tuple[str, ...]
    path: tuple[PlaceView, ...] = ()
    only_together: bool = False
    found: Literal["", "words", "meaning"] = ""
    like: tuple[str, ...] = ()


_ANY = _Reason(_FOUND, 1.0, ())
"""Why a memory is considered where nothing is asked for."""
_PHRASE = _Reason(_FOUND, 1.0, (), found="words")
"""The same where no word is asked for, but a phrase (`"(!)"`)."""


class _Ranked(NamedTuple):
    """A memory with its rank; sorts into the order in which memories are told.

    Attributes:
        behind: the rank, negative.
    """

    tier: int
    behind: float
    memory_id: str
    view: MemoryView
    believed: float
    reason: _Reason

    @property
    def score(self) -> float:
        """The rank."""
        return -self.behind


class Recall:
    """Recalls memories."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        state: MergedState,
        links: Links,
        code: Code,
        show: Show,
        focus: Focus,
        searching: Searching,
        newest: Newest,
    ) -> None:
        self._settings = settings
        self._code = code
        self._state = state
        self._searching = searching
        self._links = links
        self._show = show
        self._focus = focus
        self._topics = Topics(links, code, searching)
        self._newest = newest

    def matching(self, query: str) -> set[str]:
        """The memories that hold any word of the query, or one like it."""
        return {hit.memory_id for hit in self._searching.find(read_query(query), loose=True)}

    def recall(
        self, request: RecallRequest, now: datetime, meaning: Mapping[str, float] | None = None
    ) -> RecallView:
        """The memories to bring to mind, best first: on the place asked for, around it, then by the words.

        Counts no access. Whoever asks stands at the place from now on.

        Args:
            request: what is asked for; without words and place all memories are considered. What does not fit
                into its budget is passed over; where it names none, that of the settings counts.
            now: for weights and expiry.
            meaning: {memory id: cosine} to the query, of those that are near to it in meaning.

        Raises:
            InvalidArgument: a limit, budget or layer that is none; names the field.
        """
        return at_once(self._recalling(request, now, meaning or {}))

    async def recall_slowly(
        self, request: RecallRequest, now: datetime, meaning: Mapping[str, float] | None = None
    ) -> RecallView:
        """`recall`, in slices that let other requests in between."""
        return await in_slices(self._recalling(request, now, meaning or {}))

    def _recalling(
        self, request: RecallRequest, now: datetime, meaning: Mapping[str, float]
    ) -> Generator[None, None, RecallView]:
        begun = time.perf_counter()
        key = self._code.target(request.file, request.position) if request.file is not None else None
        settings = self._settings().memory
        token_budget = settings.budget.total if request.token_budget is None else request.token_budget
        _check(token_budget, request.limit, request.layers)
        query = read_query(request.query or "")
        accepts = self._accepting(query, request, now)
        considered = self._considered(query, key, meaning, accepts)
        most = max(_MOST_OF_A_LAYER, request.limit)
        ranked: list[_Ranked] = []
        found = 0
        best: list[float] = []  # a heap of as many scores as are asked for
        while chunk := list(islice(considered, _CHUNK)):
            least = chunk[0][1].relevance
            if found >= _ENOUGH and len(best) == request.limit and best[0] >= least:
                break  # nothing is ranked above its relevance
            for one in self._rank(chunk, accepts, now):
                if one.view.weight < settings.decay.min_weight or (
                    request.layers and one.view.layer not in request.layers
                ):
                    continue
                ranked.append(one)
                found += 1
                if one.reason.tier == _FOUND:
                    (heappush if len(best) < request.limit else heappushpop)(best, one.score)
            if len(ranked) > _MOST_HELD:
                ranked = _best_of_layers(ranked, most)
            yield
        ranked.sort()
        ordered = after_successors(ranked, lambda one: one.memory_id, lambda one: one.view.successors)
        shares = Shares.from_settings(self._settings())
        held = self._searching.holding_which(query)
        kept = tuple(
            self._told(one, query, held) for one in _packed(ordered, token_budget, shares)[: request.limit]
        )
        total = yield from self._counting(now)
        if key is not None:
            self._focus.visit(key)
        taken = (time.perf_counter() - begun) * 1000
        return RecallView(kept, _stats((request.query or "").strip(), total, kept, taken))

    def _accepting(self, query: Query, request: RecallRequest, now: datetime) -> Callable[[str], bool]:
        """Whether a memory, by its id, is there, and what is asked for."""
        wanted = [
            *self._searching.filter(query.filters, now),
            *self._searching.filter(request.filters, now),
            *(() if query.words or request.file is not None else self._searching.holds(query)),
        ]
        session, agent = request.session_id, request.agent_id
        if session is not None:
            wanted.append(lambda memory: memory.session_id == session)
        if agent is not None:
            wanted.append(lambda memory: memory.agent_id == agent)
        if self._show.hides_some:
            wanted.append(lambda memory: not self._show.hides(memory))

        def accepts(memory_id: str) -> bool:
            memory = self._state.memory(memory_id)
            return (
                memory is not None
                and memory.status != "forgotten"
                and not (memory.expires_at is not None and memory.expires_at <= now)
                and not (wanted and not all(fits(memory) for fits in wanted))
            )

        return accepts

    def _counting(self, now: datetime) -> Generator[None, None, int]:
        """How many memories there are in all."""
        if not self._show.hides_some:
            return self._newest.count(now)
        total = 0
        for number, memory_id in enumerate(self._newest):
            memory = self._state.memory(memory_id)
            total += (
                memory is not None
                and memory.status != "forgotten"
                and not (is_expired(memory, now) or self._show.hides(memory))
            )
            if number % _CHUNK == 0:
                yield
        return total

    def _rank(
        self, chunk: Sequence[tuple[str, _Reason]], accepts: Callable[[str], bool], now: datetime
    ) -> Iterator[_Ranked]:
        """The ranks of those that are there and asked for."""
        memories: list[Memory] = []
        reasons: list[_Reason] = []
        for memory_id, reason in chunk:
            known = reason.found == "words" and reason is not _PHRASE  # what words found was asked before
            if (known or accepts(memory_id)) and (memory := self._state.memory(memory_id)):
                memories.append(memory)
                reasons.append(reason)
        for view, reason in zip(self._show.memories(memories, now), reasons, strict=True):
            believed = truth_of(view)
            score = rank(view.weight, reason.relevance, believed)
            yield _Ranked(reason.tier, -score, view.memory.id, view, believed, reason)

    def _told(self, ranked: _Ranked, query: Query, held: Callable[[str], tuple[str, ...]]) -> RankedMemory:
        """With the reasons in words, which cost more than the rank."""
        view, reason = ranked.view, ranked.reason
        memory = view.memory
        origin = () if view.from_branch is None else (origin_words(view.from_branch),)
        used = (recalled_words(memory.access_count),) if memory.access_count else ()
        return RankedMemory(
            view=view,
            score=ranked.score,
            activation=reason.relevance,
            truth=ranked.believed,
            own=reason.tier == _OWN,
            why=tuple(
                dict.fromkeys(  # what contradicts another may have come for just that
                    (
                        *self._words(memory, reason, query, held),
                        *used,
                        *origin,
                        *(relation.words for relation in view.relations),
                    )
                )
            ),
            path=reason.path,
            only_together=reason.only_together,
        )

    # Why --------------------------------------------------------------------------------------------------

    def _words(
        self, memory: Memory, reason: _Reason, query: Query, held: Callable[[str], tuple[str, ...]]
    ) -> tuple[str, ...]:
        """The reason in words."""
        said: tuple[str, ...] = ()
        if reason.found == "words":
            words = held(memory.id)
            if words or query.phrases:
                said = (f"mentions {_list(words or query.phrases)}",)
            else:
                said = (f"mentions something like {_list(reason.like)}",)
        elif reason.found:
            said = ("close in meaning",)
        if reason.tier != _FOUND:
            return (*reason.why, *said)
        return (*said, *self._where(memory), *reason.why)

    def _considered(
        self,
        query: Query,
        key: SymbolKey | None,
        meaning: Mapping[str, float],
        accepts: Callable[[str], bool],
    ) -> Iterator[tuple[str, _Reason]]:
        """(memory id, reason) of each memory that is considered: on the place first, then the nearest."""
        if key is None and not query.words and (query.phrases or not query.text):
            reason = _PHRASE if query.phrases else _ANY
            return ((memory_id, reason) for memory_id in self._newest)
        reasons = self._reasons(query, key, meaning, accepts)
        return iter(sorted(reasons.items(), key=lambda item: (item[1].tier, -item[1].relevance)))

    def _reasons(
        self,
        query: Query,
        key: SymbolKey | None,
        meaning: Mapping[str, float],
        accepts: Callable[[str], bool],
    ) -> dict[str, _Reason]:
        """For each memory that is considered the strongest reason, with the words of all."""
        reasons: dict[str, _Reason] = {}
        for memory_id, reason in self._by_place(key) if key is not None else ():
            known = reasons.get(memory_id)
            if known is None or (reason.tier, -reason.relevance) < (known.tier, -known.relevance):
                reasons[memory_id] = reason
        if key is not None and not query.text:
            for topic in self._topics.of(key):
                said = f"speaks of {_list(topic.words)}, as this does"
                reasons.setdefault(topic.memory_id, _Reason(_AROUND, topic.relevance, (said,)))
        before = self._focus.primed() if query.text else {}
        for memory_id, reason in self._by_words(query, meaning, before, accepts):
            near = reasons.get(memory_id)
            reasons[memory_id] = (
                reason
                if near is None
                else near._replace(found=reason.found, like=reason.like, only_together=False)
            )
        return reasons

    def _by_words(
        self,
        query: Query,
        meaning: Mapping[str, float],
        before: Mapping[str, Lit],
        accepts: Callable[[str], bool],
    ) -> Iterator[tuple[str, _Reason]]:
        """What the query finds; the best one's relevance is 1.

        Args:
            query: what is looked for.
            meaning: as for `recall`.
            before: what is lit where somebody was before; of what is found that counts a little more.
            accepts: what may be found by words.
        """
        hits = self._searching.find(query, loose=True, limit=_MOST_FOUND, accept=accepts)
        scores = {hit.memory_id: hit.score for hit in hits}
        like = {hit.memory_id: hit.words for hit in hits}
        if meaning:
            scores = fused(scores, meaning, whole=self._searching.whole(query))
        for memory_id in scores.keys() & before.keys():
            scores[memory_id] *= 1 + before[memory_id].activation
        best = max(scores.values(), default=0.0) or 1.0
        for memory_id, score in scores.items():
            visited = (_VISITED,) if memory_id in before else ()
            found: Literal["words", "meaning"] = "words" if memory_id in like else "meaning"
            yield (
                memory_id,
                _Reason(_FOUND, score / best, visited, found=found, like=like.get(memory_id, ())),
            )

    def _by_place(self, key: SymbolKey) -> Iterator[tuple[str, _Reason]]:
        for lit in self._focus.lit(key).values():
            tier = _OWN if lit.own else _AROUND
            why, path = self._focus.words(lit), tuple(reversed(self._focus.path(lit)))
            yield lit.memory_id, _Reason(tier, lit.strength, (why,), path, lit.only_together)

    def _where(self, memory: Memory) -> tuple[str, ...]:
        """Where the memory itself stands, in words; nothing where it is on no code."""
        links = [link for link in self._links.links_of(memory.id) if not link.candidate]
        if not links:
            return ()
        place = self._show.place(links[0].target)
        return (f"on {code(place)}" + (f" in `{place.file}`" if place.qualname else ""),)


# Order and budget -------------------------------------------------------------------------------------------


def _best_of_layers(ranked: list[_Ranked], most: int) -> list[_Ranked]:
    """The best of each layer, and all that is on the place itself."""
    left = dict.fromkeys(LAYERS, most)
    kept = []
    for one in sorted(ranked):
        if one.reason.tier == _OWN or left[one.view.layer] > 0:
            left[one.view.layer] -= 1
            kept.append(one)
    return kept


def _packed(ranked: list[_Ranked], token_budget: int, shares: Shares) -> list[_Ranked]:
    """In order, those that fit: those on the place itself first, the layers share what these leave."""
    left, fit, others = token_budget, set(), []
    for place, found in enumerate(ranked):
        memory = found.view.memory
        if found.reason.tier != _OWN:
            others.append(Item(memory.id, -place, found.view.layer, memory.token_count))
        elif memory.token_count <= left:
            fit.add(memory.id)
            left -= memory.token_count
    fit.update(item.key for item in pack(others, left, shares))
    return [found for found in ranked if found.memory_id in fit]


def _stats(query: str, total: int, kept: tuple[RankedMemory, ...], milliseconds: float) -> RecallStats:
    layers: dict[str, dict[str, int]] = {}
    for found in kept:
        layer = layers.setdefault(found.view.layer, {"count": 0, "tokens": 0})
        layer["count"] += 1
        layer["tokens"] += found.view.memory.token_count
    tokens = sum(layer["tokens"] for layer in layers.values())
    return RecallStats(query, total, layers, tokens, milliseconds)


def _check(token_budget: int | None, limit: int, layers: Collection[str] | None) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArgument("limit", f"must be from 1 to {MAX_LIMIT}, not {limit}")
    if token_budget is not None and token_budget < 0:
        raise InvalidArgument("tokenBudget", f"must not be negative, not {token_budget}")
    for layer in layers or ():
        if layer not in LAYERS:
            raise InvalidArgument("layers", f"{layer!r} is not one of {', '.join(LAYERS)}")


def _list(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

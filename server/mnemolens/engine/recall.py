"""Recall: which memories to bring to mind for a place in the code, a question, or both, within a budget.

Owns which memories are considered, how relevant each is and why, their order, and what fits. Weight and
truth are `ranking`'s, places are `links.py`'s. Reading never writes: whoever asked counts the access.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Layer, Memory
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import (
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
from mnemolens.engine.requests import RecallRequest
from mnemolens.engine.searching import Searching
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
_VISITED = "near where you were before"


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why a memory is considered: how near it is, how relevant, and that in words."""

    tier: int
    relevance: float
    why: tuple[str, ...]
    path: tuple[PlaceView, ...] = ()
    only_together: bool = False


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
        topics: Topics,
    ) -> None:
        self._settings = settings
        self._code = code
        self._state = state
        self._searching = searching
        self._links = links
        self._show = show
        self._focus = focus
        self._topics = topics

    def matching(self, query: str) -> set[str]:
        """The memories that hold any word of the query, or one like it."""
        return {hit.memory_id for hit in self._searching.find(read_query(query), loose=True)}

    def recall(
        self,
        request: RecallRequest,
        now: datetime,
        meaning: Mapping[str, float] | None = None,
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
        begun = time.perf_counter()
        key = self._code.target(request.file, request.position) if request.file is not None else None
        settings = self._settings().memory
        token_budget = settings.budget.total if request.token_budget is None else request.token_budget
        _check(token_budget, request.limit, request.layers)
        query = read_query(request.query or "")
        reasons = self._reasons(query, key, meaning or {})
        wanted = (
            *self._searching.filter(query.filters, now),
            *self._searching.filter(request.filters, now),
        )
        ranked: list[tuple[int, RankedMemory]] = []
        total = 0
        for memory in self._all():
            if (memory.expires_at is not None and memory.expires_at <= now) or self._show.hides(memory):
                continue
            total += 1
            reason = reasons.get(memory.id)
            if reason is None or not _is_of(memory, request.session_id, request.agent_id):
                continue
            if not all(fits(memory) for fits in wanted):
                continue
            found = self._rank(memory, reason, now)
            if found.view.weight < settings.decay.min_weight or (
                request.layers and found.view.layer not in request.layers
            ):
                continue
            ranked.append((reason.tier, found))
        ranked.sort(key=lambda item: (item[0], -item[1].score, item[1].view.memory.id))
        ordered = after_successors(
            (found for _, found in ranked), lambda one: one.view.memory.id, lambda one: one.view.successors
        )
        shares = Shares.from_settings(self._settings())
        kept = tuple(_packed(ordered, token_budget, shares)[: request.limit])
        if key is not None:
            self._focus.visit(key)
        return RecallView(
            kept, _stats((request.query or "").strip(), total, kept, (time.perf_counter() - begun) * 1000)
        )

    def _all(self) -> Iterator[Memory]:
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status != "forgotten":
                yield memory

    def _rank(self, memory: Memory, reason: _Reason, now: datetime) -> RankedMemory:
        view = self._show.memory(memory, now)
        believed = truth_of(view)
        origin = () if view.from_branch is None else (origin_words(view.from_branch),)
        used = (recalled_words(memory.access_count),) if memory.access_count else ()
        return RankedMemory(
            view=view,
            score=rank(view.weight, reason.relevance, believed),
            activation=reason.relevance,
            truth=believed,
            own=reason.tier == _OWN,
            why=(*reason.why, *used, *origin, *(relation.words for relation in view.relations)),
            path=reason.path,
            only_together=reason.only_together,
        )

    # Why --------------------------------------------------------------------------------------------------

    def _reasons(
        self, query: Query, key: SymbolKey | None, meaning: Mapping[str, float]
    ) -> dict[str, _Reason]:
        """For each memory that is considered the strongest reason, with the words of all."""
        if key is None and not query.text:
            return {memory.id: _Reason(_FOUND, 1.0, self._where(memory)) for memory in self._all()}
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
        for memory_id, relevance, said in self._by_words(query, meaning, before):
            near = reasons.get(memory_id)
            if near is not None:
                reasons[memory_id] = replace(near, why=(*near.why, said), only_together=False)
            elif (memory := self._state.memory(memory_id)) is not None:
                visited = (_VISITED,) if memory_id in before else ()
                reasons[memory_id] = _Reason(_FOUND, relevance, (said, *self._where(memory), *visited))
        return reasons

    def _by_words(
        self, query: Query, meaning: Mapping[str, float], before: Mapping[str, Lit]
    ) -> Iterator[tuple[str, float, str]]:
        """(memory id, relevance from 0 to 1, the best one's; why) of what the query finds.

        Args:
            query: what is looked for.
            meaning: as for `recall`.
            before: what is lit where somebody was before; of what is found that counts a little more.
        """
        exact = {hit.memory_id: hit for hit in self._searching.find(query)}
        alike = {hit.memory_id: hit for hit in self._searching.find(query, loose=True)}
        scores = {memory_id: hit.score for memory_id, hit in alike.items()}
        if meaning:
            scores = fused(scores, meaning, whole=self._searching.whole(query))
        for memory_id in scores.keys() & before.keys():
            scores[memory_id] *= 1 + before[memory_id].activation
        best = max(scores.values(), default=0.0) or 1.0
        for memory_id, score in scores.items():
            if memory_id in exact and exact[memory_id].words:
                said = f"mentions {_list(exact[memory_id].words)}"
            elif memory_id in exact:
                said = f"mentions {_list(query.phrases)}"
            elif memory_id in alike:
                said = f"mentions something like {_list(alike[memory_id].words)}"
            else:
                said = "close in meaning"
            yield memory_id, score / best, said

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
        return (f"on {code(place)}" + (f" in {place.file}" if place.qualname else ""),)


# Order and budget -------------------------------------------------------------------------------------------


def _packed(ranked: list[RankedMemory], token_budget: int | None, shares: Shares) -> list[RankedMemory]:
    """In order, those that fit: those on the place itself first, the layers share what these leave."""
    if token_budget is None:
        return ranked
    left, fit, others = token_budget, set(), []
    for place, found in enumerate(ranked):
        memory = found.view.memory
        if not found.own:
            others.append(Item(memory.id, -place, found.view.layer, memory.token_count))
        elif memory.token_count <= left:
            fit.add(memory.id)
            left -= memory.token_count
    fit.update(item.key for item in pack(others, left, shares))
    return [found for found in ranked if found.view.memory.id in fit]


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


def _is_of(memory: Memory, session_id: str | None, agent_id: str | None) -> bool:
    return (session_id is None or memory.session_id == session_id) and (
        agent_id is None or memory.agent_id == agent_id
    )


def _list(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

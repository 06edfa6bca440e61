"""Recall: which memories to bring to mind for a place in the code, a question, or both, within a budget.

Owns which memories are considered, how relevant each is and why, their order, and what fits. Weight and
truth are `ranking`'s, places are `links.py`'s. Reading never writes: whoever asked counts the access.
"""

import re
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.identifiers import split_identifier
from mnemolens.core.memories import Layer, Memory
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey
from mnemolens.core.views import PlaceView, RankedMemory, RecallStats, RecallView, origin_words
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.show import Show, truth_of
from mnemolens.ranking.order import after_successors, rank
from mnemolens.store.merge import MergedState

LAYERS: tuple[Layer, ...] = ("core", "active", "long_term", "archive")
MAX_LIMIT = 1_000

IN_CLASS = 0.7
IN_FILE = 0.5
INSIDE = 0.6
"""How much of a link's relevance is left around the place asked for: on its class, its file, its members."""

_OWN, _AROUND, _FOUND = range(3)

_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_ENDINGS = ("ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "s", "y", "e")
_LITTLE_WORDS = frozenset(
    split_identifier(
        "a an and are as at be but by can do does for from has have how i if in is it its my not of on or our"
        " should so that the their then there this to was we what when where which who why will with you"
    )
)


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why a memory is considered: how near it is, how relevant, and that in words."""

    tier: int
    relevance: float
    why: tuple[str, ...]
    path: tuple[PlaceView, ...] = ()


class Recall:
    """Recalls memories.

    Attributes:
        min_weight: memories that weigh less are left out (the setting `memory.decay.min_weight`).
    """

    def __init__(self, state: MergedState, links: Links, show: Show, code: Code) -> None:
        self._state = state
        self._links = links
        self._show = show
        self._code = code
        self.min_weight = 0.0

    def matching(self, query: str) -> set[str]:
        """The memories whose text holds any word of the query."""
        words = words_of_query(query)
        return {memory.id for memory in self._all() if _found_words(words, memory)}

    def recall(
        self,
        query: str | None,
        key: SymbolKey | None,
        token_budget: int | None,
        limit: int,
        layers: Collection[str] | None,
        session_id: str | None,
        agent_id: str | None,
        now: datetime,
    ) -> RecallView:
        """The memories to bring to mind, best first: on the place asked for, around it, then by the words.

        Args:
            query: words to look for; None or blank for none.
            key: the place asked for; without it, and without a query, all memories are considered.
            token_budget: tokens that all of them together may have; what does not fit is passed over.
            limit: how many at most, 1 to 1000.
            layers: only memories of these layers; None for all.
            session_id: only memories of this session.
            agent_id: only memories of this agent.
            now: for weights and expiry.

        Raises:
            InvalidArgument: a limit, budget or layer that is none; names the field.
        """
        begun = time.perf_counter()
        _check(token_budget, limit, layers)
        query = (query or "").strip()
        reasons = self._reasons(query, key)
        ranked: list[tuple[int, RankedMemory]] = []
        total = 0
        for memory in self._all():
            if (memory.expires_at is not None and memory.expires_at <= now) or self._show.hides(memory):
                continue
            total += 1
            reason = reasons.get(memory.id)
            if reason is None or not _is_of(memory, session_id, agent_id):
                continue
            found = self._rank(memory, reason, now)
            if found.view.weight < self.min_weight or (layers and found.view.layer not in layers):
                continue
            ranked.append((reason.tier, found))
        ranked.sort(key=lambda item: (item[0], -item[1].score, item[1].view.memory.id))
        ordered = after_successors(
            (found for _, found in ranked), lambda one: one.view.memory.id, lambda one: one.view.successors
        )
        kept = tuple(_packed(ordered, token_budget, limit))
        return RecallView(kept, _stats(query, total, kept, (time.perf_counter() - begun) * 1000))

    def _all(self) -> Iterator[Memory]:
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status != "forgotten":
                yield memory

    def _rank(self, memory: Memory, reason: _Reason, now: datetime) -> RankedMemory:
        view = self._show.memory(memory, now)
        believed = truth_of(view)
        origin = () if view.from_branch is None else (origin_words(view.from_branch),)
        return RankedMemory(
            view=view,
            score=rank(view.weight, reason.relevance, believed),
            activation=reason.relevance,
            truth=believed,
            own=reason.tier == _OWN,
            why=(*reason.why, *origin, *(relation.words for relation in view.relations)),
            path=reason.path,
        )

    # Why --------------------------------------------------------------------------------------------------

    def _reasons(self, query: str, key: SymbolKey | None) -> dict[str, _Reason]:
        """For each memory that is considered the strongest reason, with the words of all."""
        if key is None and not query:
            return {memory.id: _Reason(_FOUND, 1.0, self._where(memory)) for memory in self._all()}
        reasons: dict[str, _Reason] = {}
        for memory_id, reason in self._by_place(key) if key is not None else ():
            known = reasons.get(memory_id)
            if known is None or (reason.tier, -reason.relevance) < (known.tier, -known.relevance):
                reasons[memory_id] = reason
        words = words_of_query(query)
        for memory in self._all() if words else ():
            found = _found_words(words, memory)
            if not found:
                continue
            said = f"mentions {_list(found)}"
            near = reasons.get(memory.id)
            if near is not None:
                reasons[memory.id] = replace(near, why=(*near.why, said))
            else:
                share = len(found) / len(words)
                reasons[memory.id] = _Reason(_FOUND, share, (said, *self._where(memory)))
        return reasons

    def _by_place(self, key: SymbolKey) -> Iterator[tuple[str, _Reason]]:
        here = self._show.place(key)
        yield from self._on(key, _OWN, 1.0, f"on {_code(here)}", (here,))
        for outer, share, words in self._around(key):
            place = self._show.place(outer)
            yield from self._on(outer, _AROUND, share, words.format(_code(place)), (place, here))
        for inner in sorted(self._links.keys_in_file(key.file)):
            if inner != key and _holds(key, inner):
                place = self._show.place(inner)
                words = f"on {_code(place)} in {here.label}"
                yield from self._on(inner, _AROUND, INSIDE, words, (here, place))

    def _around(self, key: SymbolKey) -> Iterator[tuple[SymbolKey, float, str]]:
        """What holds the symbol, from the inside out; each weaker than the one before."""
        outer, share = key.qualname.rpartition(".")[0], IN_CLASS
        while outer:
            symbol = SymbolKey(key.file, outer)
            kind = self._code.kind(symbol)
            if kind is not None:
                words = "on its class {}" if kind in CLASS_KINDS else "on {}, which holds it"
                yield symbol, share, words
                share *= IN_CLASS
            outer = outer.rpartition(".")[0]
        if key.qualname:
            yield SymbolKey(key.file, ""), IN_FILE, "in {}"

    def _on(
        self, key: SymbolKey, tier: int, share: float, words: str, path: tuple[PlaceView, ...]
    ) -> Iterator[tuple[str, _Reason]]:
        for memory_id, link in self._links.on_symbol(key).items():
            yield memory_id, _Reason(tier, share * link.relevance, (words,), path)

    def _where(self, memory: Memory) -> tuple[str, ...]:
        """Where the memory itself stands, in words; nothing where it is on no code."""
        links = [link for link in self._links.links_of(memory.id) if not link.candidate]
        if not links:
            return ()
        place = self._show.place(links[0].target)
        return (f"on {_code(place)}" + (f" in {place.file}" if place.qualname else ""),)


# Words ------------------------------------------------------------------------------------------------------


def words_of_query(query: str) -> tuple[str, ...]:
    """What a query asks for: the parts of its words, without those that say little; each once.

    `How does retryPayment work?` asks for `retry`, `payment` and `work`.
    """
    found = tuple(dict.fromkeys(_parts(query)))
    return tuple(word for word in found if word not in _LITTLE_WORDS) or found


def _found_words(words: tuple[str, ...], memory: Memory) -> tuple[str, ...]:
    """Those of the words that the memory's title, text or tags hold."""
    if not words:
        return ()
    text = "\n".join((memory.title, memory.content, *memory.tags))
    held, folded = _held(text), text.casefold()
    return tuple(
        word
        for word in words
        if (word.casefold() in folded if _UNSPACED.search(word) else _stem(word) in held)
    )


@lru_cache(maxsize=1024)
def _held(text: str) -> frozenset[str]:
    return frozenset(_stem(part) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word.isascii():
            yield from split_identifier(word)
        else:
            yield word.lower()


def _stem(word: str) -> str:
    """The word without what tells number, person or tense: enough for `retries` to find `retry`."""
    word = word.casefold()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


# Order and budget -------------------------------------------------------------------------------------------


def _packed(ranked: Iterable[RankedMemory], token_budget: int | None, limit: int) -> Iterator[RankedMemory]:
    """In order, those that still fit."""
    left, count = token_budget, 0
    for found in ranked:
        if count == limit:
            return
        tokens = found.view.memory.token_count
        if left is not None:
            if tokens > left:
                continue
            left -= tokens
        count += 1
        yield found


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


def _holds(outer: SymbolKey, inner: SymbolKey) -> bool:
    return not outer.qualname or inner.qualname.startswith(f"{outer.qualname}.")


def _code(place: PlaceView) -> str:
    """The place as code, but a file by its name alone."""
    return f"`{place.label}`" if place.qualname else place.label


def _list(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

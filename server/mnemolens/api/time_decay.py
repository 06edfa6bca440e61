"""`TimeDecayMemoryManager` and `HierarchicalRetriever`: weights that fade, layers, and what fits a budget.

Plain objects in memory, for programs that keep memories of their own. Owns the documented methods and the
checks of what they are given; formula and packing are `ranking/`'s.
"""

import math
import os
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, get_args

from mnemolens.api.conversion import number, text
from mnemolens.api.models import MemoryType
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings import Settings, SettingsSources, read_repository_file, resolve_settings
from mnemolens.core.settings_model import Preset
from mnemolens.ranking.decay import DecayParams, decayed_all, layer_of, type_factor
from mnemolens.ranking.packing import Shares, fitting, fitting_strictly
from mnemolens.search.words import words_of_query

PREVIEW: Final = 100
"""Characters of a preview."""

_STRICT_WEIGHT, _STRICT_USE, _STRICT_FULL_USE = 0.7, 0.3, 10
_RELEVANCE, _WEIGHT = 0.7, 0.3
_ID: Final = attrgetter("id")
PRESETS: Final[tuple[str, ...]] = get_args(Preset)


class MemoryLayer(StrEnum):
    """How much a memory matters now."""

    CORE = "core"
    ACTIVE = "active"
    LONG_TERM = "long_term"
    ARCHIVE = "archive"


@dataclass
class MemoryTrace:
    """One memory of a manager. Times are seconds since 1970.

    Attributes:
        base_importance: 0 to 1.
        token_count: what it takes of a budget.
        memory_type: sets how fast it fades: working memories 300, episodic 10 times as fast as others, and
            prospective ones not before they are done; None as semantic.
        done: a prospective memory was acted on.
        embedding: a vector that says what the content means, for reranking.
    """

    id: str
    content: str
    created_at: float = field(default_factory=time.time)
    last_accessed: float = field(default_factory=time.time)
    access_count: int = 0
    base_importance: float = 1.0
    token_count: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    memory_type: MemoryType | None = None
    done: bool = False
    embedding: Sequence[float] | None = None

    def age_hours(self, now: float | None = None) -> float:
        """Hours since it was made; 0 where that lies ahead."""
        return _hours(self.created_at, time.time() if now is None else now)

    def hours_since_access(self, now: float | None = None) -> float:
        """Hours since it was last used; 0 where that lies ahead."""
        return _hours(self.last_accessed, time.time() if now is None else now)

    @property
    def content_preview(self) -> str:
        """The content's first 100 characters."""
        return self.content[:PREVIEW]


class TimeDecayMemoryManager:
    """Memories whose weight fades with age and grows with use. Any number of threads may use one.

    W = B * (e^(-rate * age) + access boost + recency bonus), within 0 to 1, after Ebbinghaus.

    Args:
        config: any of these, others are the defaults; tables within it may be given in part, too:
            `preset` ("large_codebase" fades twice as fast and has higher thresholds), `decay_rate` (an hour),
            `access_boost_max` (at 100 accesses), `recency_window` (hours), `recency_bonus`,
            `layer_thresholds` {`core_min`, `active_min`, `long_term_min`}, `budget_ratios` {`core`, `active`,
            `long_term`, `archive`}, `min_weight` (what weighs less is not retrieved), `cleanup_threshold`
            (what weighs less is offered by `cleanup_candidates`).
        clock: seconds since 1970; read once a call, where the call is not told the time.

    Raises:
        InvalidArgument: a value is wrong; names it.
    """

    def __init__(
        self, config: Mapping[str, Any] | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._config = _config(config)
        self._params = _params(self._config)
        self._shares = Shares(**self._config["budget_ratios"])
        self._clock = clock
        self._lock = threading.RLock()
        self._memories: dict[str, MemoryTrace] = {}

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> Self:
        """A manager with the configuration of a YAML file: `memory.decay`, `memory.layers` and so on.

        Raises:
            InvalidArgument: the file can't be read, or a value in it is wrong; names it.
        """
        file = Path(path)
        if not file.is_file():
            raise InvalidArgument("path", f"there is no file {file}")
        settings, notices = resolve_settings(SettingsSources(repository=read_repository_file(file)))
        for notice in notices:
            if notice.level == "warning":
                raise InvalidArgument(notice.paths[0] if notice.paths else "path", notice.message)
        return cls(_of_settings(settings), clock)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration in force, whole."""
        return {key: dict(value) if isinstance(value, dict) else value for key, value in self._config.items()}

    @property
    def memories(self) -> Mapping[str, MemoryTrace]:
        """All memories by id, to be looked at."""
        return MappingProxyType(self._memories)

    def add_memory(self, memory: MemoryTrace) -> str:
        """Adds a memory; one of the same id is replaced.

        Returns:
            Its id.

        Raises:
            InvalidArgument: something in it is wrong; names the field.
        """
        _check(memory)
        with self._lock:
            self._memories[memory.id] = memory
        return memory.id

    def access_memory(self, memory_id: str, now: float | None = None) -> MemoryTrace | None:
        """Counts a use of a memory.

        Returns:
            The memory; None where there is none of that id.
        """
        moment = self._now(now)
        with self._lock:
            memory = self._memories.get(memory_id)
            if memory is not None:
                memory.access_count += 1
                memory.last_accessed = moment
            return memory

    def remove_memory(self, memory_id: str) -> int:
        """Takes a memory out; how many that were."""
        with self._lock:
            return int(self._memories.pop(memory_id, None) is not None)

    def calculate_weight(self, memory: MemoryTrace, now: float | None = None) -> float:
        """A memory's weight, 0 to 1.

        A time that lies ahead counts as now, a negative count as none; of an importance outside 0 to 1 the
        weight is still within it.

        Raises:
            InvalidArgument: something in it is no number; names the field.
        """
        (weight,) = self._weights([memory], self._now(now))
        return weight

    def get_layer(self, weight: float) -> MemoryLayer:
        """The layer of a weight; a threshold belongs to the layer above it.

        Raises:
            InvalidArgument: the weight is no finite number.
        """
        _number("weight", weight, -math.inf)
        return MemoryLayer(layer_of(weight, self._params))

    def update_all_weights(self, now: float | None = None) -> dict[str, float]:
        """The weight of each memory by id; nothing is kept of it."""
        memories, weights = self._weighed(self._now(now))
        return dict(zip(map(_ID, memories), weights, strict=True))

    def retrieve(
        self, token_budget: int = 50_000, *, strict_layers: bool = False, now: float | None = None
    ) -> list[MemoryTrace]:
        """The memories that fit a budget: layer by layer, within each the heaviest first, ties by id.

        Each layer has a share of the budget. What does not fit is passed over, what a layer leaves goes to
        the next, and what is left in the end to what was passed over.

        Args:
            token_budget: for all together.
            strict_layers: end each layer at the first memory that does not fit its share, carry nothing over,
                and leave out nothing for weighing too little.
            now: the time.

        Raises:
            InvalidArgument: the budget is no whole number from 0 on.
        """
        budget = number("token_budget", token_budget, 0)
        memories, weights = self._weighed(self._now(now))
        # Numbers instead of memories: an object for each of many would take most of the time.
        order = sorted(range(len(memories)), key=[one.id for one in memories].__getitem__)
        order.sort(key=weights.__getitem__, reverse=True)  # which keeps the order of equal ones
        fits = fitting_strictly if strict_layers else fitting
        floor = 0.0 if strict_layers else self._config["min_weight"]
        layers = self._layers(order, weights, floor)
        tokens = [one.token_count for one in memories]
        return [memories[number] for number in fits(layers, tokens, budget, self._shares)]

    def cleanup_candidates(self, now: float | None = None) -> list[MemoryTrace]:
        """The memories below `cleanup_threshold`, the lightest first: worth removing, and not removed."""
        memories, weights = self._weighed(self._now(now))
        threshold = self._config["cleanup_threshold"]
        below = [
            (weight, one.id, one) for one, weight in zip(memories, weights, strict=True) if weight < threshold
        ]
        return [one for _, _, one in sorted(below, key=lambda row: row[:2])]

    def _layers(self, order: list[int], weights: Sequence[float], floor: float) -> list[list[int]]:
        """What stands in order of weight, cut into the four layers; without what weighs less than `floor`."""

        def reach(least: float) -> int:
            return bisect_right(order, -least, key=lambda number: -weights[number])

        params, end = self._params, reach(floor)
        cuts = [0, *map(reach, (params.core_min, params.active_min, params.long_term_min)), end]
        return [order[start:stop] for start, stop in pairwise(min(cut, end) for cut in cuts)]

    def _weighed(self, now: float) -> tuple[list[MemoryTrace], list[float]]:
        with self._lock:
            memories = list(self._memories.values())
        return memories, self._weights(memories, now)

    def _weights(self, memories: Sequence[MemoryTrace], now: float) -> list[float]:
        try:
            weights = decayed_all(
                (
                    (
                        memory.base_importance,
                        (now - memory.created_at) / 3600,
                        (now - memory.last_accessed) / 3600,
                        memory.access_count,
                        1.0 if memory.memory_type is None else _factor(memory),
                    )
                    for memory in memories
                ),
                self._params,
            )
        except (TypeError, ValueError, OverflowError):
            weights = [math.nan]
        if any(weight != weight for weight in weights):  # noqa: PLR0124 - only NaN is not equal to itself
            for memory in memories:
                _check_numbers(memory)
        return weights

    def _now(self, now: float | None) -> float:
        return _number("now", self._clock() if now is None else now, -math.inf)


class HierarchicalRetriever:
    """Retrieves from a manager, with a query and statistics.

    Args:
        memory_manager: where the memories are.
    """

    def __init__(self, memory_manager: TimeDecayMemoryManager) -> None:
        self.manager = memory_manager

    def retrieve_with_context(
        self,
        query: str,
        query_embedding: Sequence[float] | None = None,
        token_budget: int = 50_000,
        *,
        strict_layers: bool = False,
        now: float | None = None,
    ) -> tuple[list[MemoryTrace], dict[str, Any]]:
        """What fits a budget (see `TimeDecayMemoryManager.retrieve`), what suits the query first.

        How well a memory suits is the cosine of its embedding and the query's where both are given, else the
        share of the query's words that its content or metadata holds; the weight counts for the rest. A query
        of no words and without an embedding changes no order.

        Args:
            query: what is asked.
            query_embedding: a vector that says what it means.
            token_budget: for all together.
            strict_layers: pack as `retrieve` does then, and rerank only where an embedding is given: by
                weight and frequency of use, whatever the query.
            now: the time.

        Returns:
            The memories, and {"query": str, "total_memories": int, "layers": {layer: {"count": int,
            "tokens": int}}, "tokens_used": int, "retrieval_time_ms": float}.

        Raises:
            InvalidArgument: an argument is wrong; names it.
        """
        begun = time.perf_counter()
        text("query", query)
        manager = self.manager
        moment = manager._now(now)  # noqa: SLF001 - one clock reading a call, for both classes
        found = manager.retrieve(token_budget, strict_layers=strict_layers, now=moment)
        weights = dict(zip((one.id for one in found), manager._weights(found, moment), strict=True))  # noqa: SLF001
        if strict_layers:
            if query_embedding:
                found.sort(key=lambda one: -_by_use(one, weights[one.id]))
        else:
            found = _reranked(found, weights, query, query_embedding)
        layers: dict[str, dict[str, int]] = {}
        for one in found:
            layer = layers.setdefault(manager.get_layer(weights[one.id]).value, {"count": 0, "tokens": 0})
            layer["count"] += 1
            layer["tokens"] += one.token_count
        stats = {
            "query": query,
            "total_memories": len(manager.memories),
            "layers": layers,
            "tokens_used": sum(layer["tokens"] for layer in layers.values()),
            "retrieval_time_ms": (time.perf_counter() - begun) * 1000,
        }
        return found, stats


# Reranking --------------------------------------------------------------------------------------------------


def _by_use(memory: MemoryTrace, weight: float) -> float:
    return _STRICT_WEIGHT * weight + _STRICT_USE * min(memory.access_count / _STRICT_FULL_USE, 1.0)


def _reranked(
    memories: list[MemoryTrace], weights: Mapping[str, float], query: str, embedding: Sequence[float] | None
) -> list[MemoryTrace]:
    words = [word.casefold() for word in words_of_query(query)]
    near = _nearness(memories, embedding)
    if not words and not near:
        return memories

    def suits(memory: MemoryTrace) -> float:
        if memory.id in near:
            return near[memory.id]
        held = "\n".join((memory.content, *map(str, memory.metadata.values()))).casefold()
        return sum(word in held for word in words) / len(words) if words else 0.0

    return sorted(memories, key=lambda one: -(_RELEVANCE * suits(one) + _WEIGHT * weights[one.id]))


def _nearness(memories: list[MemoryTrace], embedding: Sequence[float] | None) -> dict[str, float]:
    """The cosine, from 0 on, of each memory that has an embedding of the same dimension."""
    if embedding is None or len(embedding) == 0:
        return {}
    from mnemolens.search.vectors import unit  # numpy, needed for embeddings only

    query = unit(embedding, "query_embedding")
    near = {}
    for memory in memories:
        if memory.embedding is not None and len(memory.embedding) == len(query):
            near[memory.id] = max(0.0, float(unit(memory.embedding) @ query))
    return near


# Checks -----------------------------------------------------------------------------------------------------


def _hours(earlier: float, now: float) -> float:
    return max(now - earlier, 0.0) / 3600


def _factor(memory: MemoryTrace) -> float:
    kind = MemoryType(memory.memory_type)  # type: ignore[arg-type]  # it is not None
    return type_factor(kind.value, "done" if memory.done else "active")


def _check(memory: object) -> None:
    if not isinstance(memory, MemoryTrace):
        raise InvalidArgument("memory", f"must be a MemoryTrace, not {type(memory).__name__}")
    if not text("id", memory.id):
        raise InvalidArgument("id", "is empty")
    text("content", memory.content)
    if not isinstance(memory.metadata, dict):
        raise InvalidArgument("metadata", f"must be a dict, not {type(memory.metadata).__name__}")
    _check_numbers(memory)
    _number("base_importance", memory.base_importance, 0, 1)
    for name in ("access_count", "token_count"):
        number(name, getattr(memory, name), 0)
    if memory.embedding is not None:
        from mnemolens.search.vectors import unit  # numpy, needed for embeddings only

        unit(memory.embedding)


def _check_numbers(memory: MemoryTrace) -> None:
    """What the formula needs."""
    for name in ("base_importance", "created_at", "last_accessed"):
        _number(name, getattr(memory, name), -math.inf)
    for name in ("access_count", "token_count"):
        value = getattr(memory, name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgument(name, f"must be a whole number, not {value!r}")
    if memory.memory_type is not None:
        try:
            MemoryType(memory.memory_type)
        except ValueError:
            types = ", ".join(MemoryType)
            raise InvalidArgument("memory_type", f"{memory.memory_type!r} is not one of {types}") from None


def _number(name: str, value: object, least: float, most: float = math.inf) -> float:
    """A finite number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidArgument(name, f"must be a finite number, not {value!r}")
    if not least <= value <= most:
        bounds = f"from {least:g} to {most:g}" if math.isfinite(most) else f"from {least:g} on"
        raise InvalidArgument(name, f"must be {bounds}, not {value!r}")
    return value


def _of_settings(settings: Settings) -> dict[str, Any]:
    """A whole configuration from a user's settings."""
    memory = settings.memory
    return {
        "decay_rate": memory.decay.rate,
        **memory.reinforcement.model_dump(),
        "layer_thresholds": memory.layers.model_dump(),
        "budget_ratios": Shares.from_settings(settings)._asdict(),
        "min_weight": memory.decay.min_weight,
        "cleanup_threshold": settings.background_tasks.cleanup_threshold,
    }


_UNBOUNDED = frozenset({"decay_rate", "recency_window"})


def _config(given: object) -> dict[str, Any]:
    """The whole configuration: defaults, the preset, then what was given, table by table."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidArgument("config", f"must be a dict, not {type(given).__name__}")
    rest = dict(given)
    preset = rest.pop("preset", "default")
    if preset not in PRESETS:
        raise InvalidArgument("config.preset", f"{preset!r} is not one of {', '.join(PRESETS)}")
    settings, _ = resolve_settings(SettingsSources(command_line={"preset": preset}))
    merged = _merged(_of_settings(settings), rest, "config")
    thresholds, ratios = merged["layer_thresholds"], merged["budget_ratios"]
    if not thresholds["core_min"] >= thresholds["active_min"] >= thresholds["long_term_min"]:
        raise InvalidArgument(
            "config.layer_thresholds", "core_min must not be below active_min, nor that below long_term_min"
        )
    if not math.isclose(sum(ratios.values()), 1, abs_tol=1e-6):
        raise InvalidArgument("config.budget_ratios", f"must be 1 in sum, not {sum(ratios.values()):g}")
    return merged


def _merged(base: Mapping[str, Any], over: Mapping[Any, Any], path: str) -> dict[str, Any]:
    out = {key: dict(value) if isinstance(value, dict) else value for key, value in base.items()}
    for key, value in over.items():
        name = f"{path}.{key}"
        if key not in base:
            raise InvalidArgument(name, f"is not one of {', '.join(sorted(base))}")
        if isinstance(base[key], dict):
            if not isinstance(value, Mapping):
                raise InvalidArgument(name, f"must be a dict, not {type(value).__name__}")
            out[key] = _merged(base[key], value, name)
        else:
            out[key] = _number(name, value, 0, math.inf if key in _UNBOUNDED else 1)
    return out


def _params(config: Mapping[str, Any]) -> DecayParams:
    return DecayParams(
        config["decay_rate"],
        config["access_boost_max"],
        config["recency_window"],
        config["recency_bonus"],
        **config["layer_thresholds"],
    )

"""How much a memory weighs now: decay with age, strengthened by use.

Owns the decay formula and the layers. Does not know relevance, verdicts or order (`ranking.order`), nor when
a memory is read or written; `now` is always an argument.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemolens.core.memories import Layer, MemoryKind, Status
from mnemolens.core.settings import Settings

_SECONDS_AN_HOUR = 3600.0
_ACCESSES_FOR_FULL_BOOST = 100
_BOOST_OF_COUNT = tuple(
    math.log(count + 1) / math.log(_ACCESSES_FOR_FULL_BOOST) for count in range(_ACCESSES_FOR_FULL_BOOST)
)
"""Share of the greatest boost for each count; the last is 1, and so are all beyond it."""
_TYPE_FACTORS: dict[MemoryKind, float] = {
    "working": 300.0,
    "episodic": 10.0,
    "semantic": 1.0,
    "procedural": 1.0,
    "prospective": 0.0,
}
# A prospective memory that is done tells what happened, as an episode does.
_DONE_PROSPECTIVE_FACTOR = _TYPE_FACTORS["episodic"]


class Decaying(Protocol):
    """The facts of a memory that its weight depends on; `core.memories.Memory` has them."""

    @property
    def type(self) -> MemoryKind:
        """Its kind, which sets how fast it fades."""

    @property
    def importance(self) -> float:
        """0..1."""

    @property
    def created_at(self) -> datetime:
        """Naive means local time."""

    @property
    def accessed_at(self) -> datetime:
        """Naive means local time."""

    @property
    def access_count(self) -> int:
        """How often it was opened, copied, confirmed or recalled."""

    @property
    def status(self) -> Status:
        """Matters for prospective memories: they do not fade until done."""


@dataclass(frozen=True, slots=True)
class DecayParams:
    """Parameters of the decay formula and of the layers.

    Attributes:
        rate: λ an hour, for a semantic memory.
        access_boost_max: added at 100 accesses and more.
        recency_window: hours since the last access in which the bonus is given.
        recency_bonus: added within that window.
        core_min: least weight of the layer `core`; likewise `active_min` and `long_term_min`; what is below
            is `archive`.
    """

    rate: float = 0.0001
    access_boost_max: float = 0.5
    recency_window: float = 168.0
    recency_bonus: float = 0.2
    core_min: float = 0.8
    active_min: float = 0.5
    long_term_min: float = 0.2

    @classmethod
    def from_settings(cls, settings: Settings) -> "DecayParams":
        """The parameters that the user's settings ask for."""
        reinforcement = settings.memory.reinforcement
        layers = settings.memory.layers
        return cls(
            rate=settings.memory.decay.rate,
            access_boost_max=reinforcement.access_boost_max,
            recency_window=reinforcement.recency_window,
            recency_bonus=reinforcement.recency_bonus,
            core_min=layers.core_min,
            active_min=layers.active_min,
            long_term_min=layers.long_term_min,
        )


def weight(memory: Decaying, now: datetime, params: DecayParams | None = None) -> float:
    """A memory's weight at `now`, 0..1.

    Args:
        memory: the facts it depends on; naive times are local time.
        now: the moment to judge for. A creation or access after `now` (a clock that went back) counts as now.
        params: the defaults when None.
    """
    (found,) = weights((memory,), now, params)
    return found


def weights(memories: Iterable[Decaying], now: datetime, params: DecayParams | None = None) -> list[float]:
    """The weight of each memory at `now`, in their order; see `weight`."""
    moment = now.timestamp()
    return decayed_all(
        (
            (
                memory.importance,
                (moment - memory.created_at.timestamp()) / _SECONDS_AN_HOUR,
                (moment - memory.accessed_at.timestamp()) / _SECONDS_AN_HOUR,
                memory.access_count,
                type_factor(memory.type, memory.status),
            )
            for memory in memories
        ),
        params or DecayParams(),
    )


def decayed(  # the formula's own variables
    importance: float,
    age_hours: float,
    hours_since_access: float,
    access_count: int,
    params: DecayParams,
    factor: float = 1.0,
) -> float:
    """The formula of `decayed_all` for one memory."""
    memory = (importance, age_hours, hours_since_access, access_count, factor)
    (found,) = decayed_all((memory,), params)
    return found


def decayed_all(
    memories: Iterable[tuple[float, float, float, int, float]], params: DecayParams
) -> list[float]:
    """W = B · (e^(-λ·age) + access boost + recency bonus), clamped to 0..1.

    The boost grows with log(n + 1) and reaches its maximum at 99 accesses. Negative ages and counts count
    as 0, an importance outside 0..1 as what its formula gives within 0..1.

    Args:
        memories: (importance, age in hours, hours since the last access, count of accesses, how many times
            faster than a semantic memory it fades) of each.
        params: of the formula.
    """
    exp, boosts, full = math.exp, _BOOST_OF_COUNT, _ACCESSES_FOR_FULL_BOOST - 1
    boost_max, window, bonus = params.access_boost_max, params.recency_window, params.recency_bonus
    slope = -params.rate
    found = []
    for importance, age_hours, hours_since_access, access_count, factor in memories:
        inner = exp(slope * factor * age_hours) if age_hours > 0 else 1.0
        if access_count > 0:
            inner += boost_max if access_count >= full else boosts[access_count] * boost_max
        if hours_since_access < window:
            inner += bonus
        value = importance * inner
        found.append(0.0 if value <= 0 else min(value, 1.0))
    return found


def type_factor(kind: MemoryKind, status: Status = "active") -> float:
    """How many times faster than a semantic memory this one fades."""
    if kind == "prospective" and status == "done":
        return _DONE_PROSPECTIVE_FACTOR
    return _TYPE_FACTORS[kind]


def layer_of(weight: float, params: DecayParams | None = None) -> Layer:
    """The layer that a weight falls into; a threshold itself belongs to the layer above it."""
    params = params or DecayParams()
    if weight >= params.core_min:
        return "core"
    if weight >= params.active_min:
        return "active"
    if weight >= params.long_term_min:
        return "long_term"
    return "archive"

"""How much a memory weighs now: decay with age, strengthened by use.

Owns the decay formula and the layers. Does not know relevance, verdicts or order (`ranking.order`), nor when
a memory is read or written; `now` is always an argument.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemolens.core.memories import Layer, MemoryKind, Status
from mnemolens.core.settings import Settings

_SECONDS_AN_HOUR = 3600.0
_ACCESSES_FOR_FULL_BOOST = 100
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
    params = params or DecayParams()
    return decayed(
        memory.importance,
        _hours_between(memory.created_at, now),
        _hours_between(memory.accessed_at, now),
        memory.access_count,
        params,
        type_factor(memory.type, memory.status),
    )


def decayed(  # the formula's own variables
    importance: float,
    age_hours: float,
    hours_since_access: float,
    access_count: int,
    params: DecayParams,
    factor: float = 1.0,
) -> float:
    """W = B · (e^(-λ·age) + access boost + recency bonus), clamped to 0..1.

    The boost grows with log(n + 1) and reaches its maximum at 99 accesses. Negative ages and counts count
    as 0.
    """
    fading = math.exp(-params.rate * factor * max(age_hours, 0.0))
    grown = math.log(max(access_count, 0) + 1) / math.log(_ACCESSES_FOR_FULL_BOOST)
    boost = min(grown, 1.0) * params.access_boost_max
    bonus = params.recency_bonus if hours_since_access < params.recency_window else 0.0
    return min(max(importance * (fading + boost + bonus), 0.0), 1.0)


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


def _hours_between(earlier: datetime, now: datetime) -> float:
    elapsed = _aware(now) - _aware(earlier)
    return max(elapsed.total_seconds() / _SECONDS_AN_HOUR, 0.0)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.astimezone()

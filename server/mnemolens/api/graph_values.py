"""What programs hand to a memory graph and get back, and the checks of what they hand in."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from mnemolens.api.conversion import number, share
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import EDGE_TYPES
from mnemolens.ranking.activation import Spreading

T = TypeVar("T")


class MemoryEdgeType(StrEnum):
    """How two memories are connected."""

    SHARED_ENTITY = "SHARED_ENTITY"
    TEMPORAL_SEQUENCE = "TEMPORAL_SEQUENCE"
    SAME_TOPIC = "SAME_TOPIC"
    CONTRADICTS = "CONTRADICTS"
    SUPERSEDES = "SUPERSEDES"
    CAUSED_BY = "CAUSED_BY"
    CO_ACTIVATED = "CO_ACTIVATED"
    SCHEMA_INSTANCE = "SCHEMA_INSTANCE"


@dataclass(frozen=True)
class MemoryGraphNodeMeta:
    """What a graph knows of a memory.

    Attributes:
        type: of the memory, such as "episodic".
        scope: in which it counts, such as "session".
        scope_id: which of these; "" for none.
        strength: 0 to 1.
        created_at: in milliseconds since 1970; None for the moment at which it is added.
    """

    type: str = "semantic"
    scope: str = "project"
    scope_id: str = ""
    strength: float = 1.0
    created_at: float | None = None


@dataclass(frozen=True)
class MemoryEdge:
    """A directed edge between two memories; there is one for each source, target and type.

    Attributes:
        type: a `MemoryEdgeType`, or its value as text. CO_ACTIVATED has no direction: its ends are handed out
            in the order of the alphabet.
        weight: 0 to 1.
        created_at: in milliseconds since 1970; None for the moment at which it is added.
    """

    source_id: str
    target_id: str
    type: MemoryEdgeType = MemoryEdgeType.SAME_TOPIC
    weight: float = 1.0
    created_at: float | None = None


@dataclass(frozen=True)
class SpreadingActivationConfig:
    """How far activation spreads.

    Attributes:
        max_depth: hops from a seed, 0 or more.
        decay_per_hop: share that is lost at each hop, 0 to 1.
        activation_threshold: what is activated less is neither a result nor spread from; 0 to 1.
        max_results: how many results at most.
    """

    max_depth: int = 3
    decay_per_hop: float = 0.5
    activation_threshold: float = 0.1
    max_results: int = 20

    def spreading(self) -> Spreading:
        """As the algorithm takes it."""
        return Spreading(self.max_depth, self.decay_per_hop, self.activation_threshold)


@dataclass(frozen=True)
class ActivatedNode:
    """A memory that was reached.

    Attributes:
        activation: the strongest by any path, up to 1.
        depth: hops of that path.
        activated_by: the seeds that reached it, the first first.
    """

    memory_id: str
    activation: float
    depth: int
    activated_by: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class MemoryCluster:
    """Memories that are connected with each other.

    Attributes:
        cluster_id: the centroid's id.
        centroid_id: the member whose edges weigh most in sum; of several the first that was added.
        member_ids: in the order in which they were added.
        density: share of the ordered pairs of members that an edge connects, 0 to 1.
    """

    cluster_id: str
    centroid_id: str
    member_ids: list[str]
    density: float


# Checks -----------------------------------------------------------------------------------------------------


def node_id(name: str, value: object) -> str:
    """An id: any text but an empty one.

    Raises:
        InvalidArgument: it is something else.
    """
    if not isinstance(value, str) or not value:
        raise InvalidArgument(name, f"must be a text that is not empty, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(name, "holds half a character (a lone surrogate)") from None
    return value


def meta_of(value: object, now_ms: float) -> MemoryGraphNodeMeta:
    """Checked metadata, with its time.

    Args:
        value: a `MemoryGraphNodeMeta`, or a mapping of its fields, in snake_case or camelCase.
        now_ms: the time where it says none.

    Raises:
        InvalidArgument: something in it is wrong; names the field.
    """
    given = _as(MemoryGraphNodeMeta, "metadata", value)
    texts = {name: getattr(given, name) for name in ("type", "scope", "scope_id")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InvalidArgument(name, f"must be a text, not {text!r}")
    return MemoryGraphNodeMeta(
        **texts, strength=share("strength", given.strength), created_at=_moment(given.created_at, now_ms)
    )


def edge_of(value: object, now_ms: float) -> MemoryEdge:
    """A checked edge, with its time; CO_ACTIVATED with its ends in order.

    Args:
        value: a `MemoryEdge`, or a mapping of its fields, in snake_case or camelCase.
        now_ms: the time where it says none.

    Raises:
        InvalidArgument: something in it is wrong; names the field.
    """
    given = _as(MemoryEdge, "edge", value)
    source, target = node_id("source_id", given.source_id), node_id("target_id", given.target_id)
    if source == target:
        raise InvalidArgument("target_id", "a memory can't be connected with itself")
    kind = edge_type("type", given.type)
    if kind is MemoryEdgeType.CO_ACTIVATED and target < source:
        source, target = target, source
    elif kind is given.type and given.created_at is not None:
        share("weight", given.weight)
        _moment(given.created_at, now_ms)
        return given  # it is as it should be: many edges are added faster
    return MemoryEdge(source, target, kind, share("weight", given.weight), _moment(given.created_at, now_ms))


def edge_type(name: str, value: object) -> MemoryEdgeType:
    """An edge type.

    Raises:
        InvalidArgument: there is no such type.
    """
    try:
        return MemoryEdgeType(value)  # type: ignore[arg-type]  # what it is shows here
    except ValueError:
        raise InvalidArgument(name, f"{value!r} is not one of {', '.join(EDGE_TYPES)}") from None


def config_of(value: object) -> SpreadingActivationConfig:
    """A checked configuration; the default for None, and for what is None in a mapping.

    Raises:
        InvalidArgument: something in it is wrong; names the field.
    """
    given = SpreadingActivationConfig() if value is None else _as(SpreadingActivationConfig, "config", value)
    return SpreadingActivationConfig(
        max_depth=number("max_depth", given.max_depth, 0),
        decay_per_hop=share("decay_per_hop", given.decay_per_hop),
        activation_threshold=share("activation_threshold", given.activation_threshold),
        max_results=number("max_results", given.max_results, 0),
    )


def _moment(value: object, now_ms: float) -> float:
    if value is None:
        return now_ms
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not 0 <= value < _LAST_MS:  # type: ignore[operator]  # it is a number
        raise InvalidArgument("created_at", f"must be milliseconds since 1970, not {value!r}")
    return value  # type: ignore[return-value]  # it is a number


_LAST_MS = 253_402_300_800_000
"""The year 10000."""


def _as(wanted: type[T], name: str, value: object) -> T:
    """The value itself, or one made from a mapping of its fields; fields that are None are not given."""
    if isinstance(value, wanted):
        return value
    if not isinstance(value, Mapping):
        raise InvalidArgument(name, f"must be a {wanted.__name__} or a dict, not {type(value).__name__}")
    names = {one.name for one in fields(wanted)}  # type: ignore[arg-type]  # it is a dataclass
    names_of = {_camel(one): one for one in names} | {one: one for one in names}
    unknown = [str(key) for key in value if key not in names_of]
    if unknown:
        raise InvalidArgument(f"{name}.{unknown[0]}", f"is not one of {', '.join(sorted(names))}")
    given: dict[str, Any] = {names_of[key]: item for key, item in value.items() if item is not None}
    try:
        return wanted(**given)
    except TypeError:
        missing = {"source_id", "target_id"} - given.keys()
        raise InvalidArgument(f"{name}.{min(missing)}", "is missing") from None


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)

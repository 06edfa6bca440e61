"""Spreading activation: how strongly some seeds light up what is connected to them.

After Anderson's ACT-R, breadth first over whatever `neighbours` says is connected: memories, code, or both
together. Owns how activation spreads and ends; which edges there are, in which direction they may be walked
and how much each lets through is the caller's.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

N = TypeVar("N", bound=Hashable)

Neighbours: TypeAlias = Callable[[N], Iterable[tuple[N, float]]]
"""The neighbours of a node, each with the share (0..1) of activation that its edge lets through, in the order
in which they are to be discovered."""


@dataclass(frozen=True, slots=True)
class Spreading:
    """How far activation spreads.

    Attributes:
        max_depth: hops from a seed.
        decay_per_hop: share (0..1) that is lost at each hop, besides what the edge holds back.
        threshold: what is activated less is neither found nor spread from.
        max_visits: nodes that are spread from at most, so that no graph can make it take long.
    """

    max_depth: int = 3
    decay_per_hop: float = 0.5
    threshold: float = 0.1
    max_visits: int = 50_000


@dataclass(slots=True)
class Activated(Generic[N]):
    """A node that was reached.

    Attributes:
        activation: the strongest that reached it, by any path.
        depth: hops of that path.
        seeds: the seeds that reached it, the first first.
        via: the node before it on that path.
    """

    node: N
    activation: float
    depth: int
    seeds: tuple[N, ...]
    via: N


@dataclass(slots=True)
class Spread(Generic[N]):
    """What was reached.

    Attributes:
        found: strongest first, ties by first discovery; no seeds.
    """

    found: list[Activated[N]]
    _reached: Mapping[N, Activated[N]] = field(repr=False)

    def path(self, node: N) -> tuple[N, ...]:
        """The nodes of the strongest path, from its seed to `node`."""
        path = [node]
        while (step := self._reached.get(path[-1])) is not None and step.via not in path:
            path.append(step.via)
        return tuple(reversed(path))


def spread(
    seeds: Mapping[N, float] | Iterable[N],
    neighbours: Neighbours[N],
    params: Spreading | None = None,
) -> Spread[N]:
    """Spreads from the seeds.

    A neighbour receives its node's activation times (1 - decay a hop) times what the edge lets through. Of
    several paths the strongest counts; a stronger one that is found later is spread anew. Seeds keep their
    own activation: none is activated by another, and no path leads through one.

    Args:
        seeds: with their activation, or alone for 1.0 each; seeds come first in the order of discovery.
        neighbours: see `Neighbours`.
        params: the defaults when None.
    """
    params = params or Spreading()
    start = seeds if isinstance(seeds, Mapping) else dict.fromkeys(seeds, 1.0)
    kept, threshold, max_depth = 1 - params.decay_per_hop, params.threshold, params.max_depth
    reached: dict[N, Activated[N]] = {}
    queue: deque[tuple[N, float, int, tuple[N, ...]]] = deque(
        (seed, activation, 0, (seed,)) for seed, activation in start.items()
    )
    visits = params.max_visits
    while queue and visits:
        visits -= 1
        node, activation, depth, by = queue.popleft()
        if depth >= max_depth:
            continue
        passed_on = activation * kept
        depth += 1
        for other, share in neighbours(node):
            received = passed_on * share
            if received < threshold or other in start:
                continue
            known = reached.get(other)
            if known is None:
                reached[other] = Activated(other, received, depth, by, node)
                queue.append((other, received, depth, by))
                continue
            for seed in by:
                if seed not in known.seeds:
                    known.seeds += (seed,)
            if received > known.activation:
                known.activation, known.depth, known.via = received, depth, node
                queue.append((other, received, depth, by))
    found = sorted(reached.values(), key=lambda one: -one.activation)
    return Spread(found, reached)

"""What ranking costs as memories and functions grow: spreading activation, clusters, weights, a hover's rank.

    python tests/bench/ranking.py [--sizes 1000 10000 100000] [--times 300]

Graphs have five random edges for each memory (so ten ends each), of random type and weight, as the golden
graph of the tests has. Nothing here waits for anything, so processor time is measured: other work on the
machine shows less in it. A hover's rank is taken in made projects with a tenth as many memories as functions,
each function looked at for the first time. At the end growth, from the smallest to the largest size, stands
as a share of that of n log n.
"""

import argparse
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lab import environ
from made import make_memories, make_project
from measure import Figure, exit_code, figure, say, show

SUBJECT = "ranking, by memories"
HOVER = "ranking, by functions"
BARE = "for comparison: a bare dict of as many edges"
"""What the machine alone takes more for each where there are more: its caches hold less of them."""
EDGES = 5
SEEDS = 5
NOW = 1_790_000_000.0


def measure(sizes: Sequence[int], times: int) -> list[Figure]:
    """All figures in all sizes.

    Args:
        sizes: memories, or functions, from few to many.
        times: how often what takes milliseconds is measured.
    """
    found: list[Figure] = []
    for size in sizes:
        dice = random.Random(size)
        edges = [
            (f"m{one}", f"m{other}", dice.randrange(8), dice.uniform(0.2, 1.0))
            for one in range(size)
            for other in dice.sample(range(size), EDGES)
            if other != one
        ]
        say(f"{size:,} memories, {len(edges):,} edges …")
        found += in_memory(size, edges, times, dice)
        found += stored(size, edges, times, dice)
        found += weights(size, times, dice)
    for size in sizes:
        say(f"{size:,} functions …")
        found += hover(size, times)
    return [*found, *growth(found, sizes[0], sizes[-1])]


def growth(figures: Sequence[Figure], small: int, large: int) -> list[Figure]:
    """How much more each takes in the largest size than in the smallest, as a share of n log n's growth."""
    allowed = large * math.log(large) / (small * math.log(small))
    found = []
    for name in dict.fromkeys(one.name for one in figures):
        taken = {one.functions: one.median for one in figures if one.name == name}
        if taken.get(small) and taken.get(large):
            times = taken[large] / taken[small]
            subject = f"growth from {small:,} to {large:,}, where n log n is 1"
            target = None if name == BARE else 1.0
            found.append(Figure(subject, name, "", times / allowed, target=target, note=f"× {times:.0f}"))
    return found


def busy(work: Callable[[], Any], times: int) -> list[float]:
    """Milliseconds of processor time that `work` takes, each time."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append((time.process_time() - begun) * 1000)
    return taken


def in_memory(
    size: int, edges: list[tuple[str, str, int, float]], times: int, dice: random.Random
) -> list[Figure]:
    """The Python API's graph without a backend."""
    from mnemolens import MemoryEdge, MemoryEdgeType, MemoryGraph, MemoryGraphNodeMeta

    kinds = [kind for kind in MemoryEdgeType if kind is not MemoryEdgeType.CO_ACTIVATED]
    graph = MemoryGraph()
    graph.add_nodes({f"m{number}": MemoryGraphNodeMeta(created_at=1) for number in range(size)})

    def add() -> None:
        graph.add_edges(MemoryEdge(one, two, kinds[kind % 7], weight, 1) for one, two, kind, weight in edges)

    adding = busy(add, 1)
    spreading = busy(lambda: graph.spreading_activation(seeds_of(size, dice)), times)
    clustering = busy(graph.detect_clusters, max(3, times // 50))
    return [
        figure(SUBJECT, "edges added to a graph in memory", adding, functions=size),
        figure(SUBJECT, "spreading activation, 5 seeds", spreading, 3.0, functions=size),
        figure(SUBJECT, "clusters", clustering, 1500.0, functions=size),
    ]


def stored(
    size: int, edges: list[tuple[str, str, int, float]], times: int, dice: random.Random
) -> list[Figure]:
    """The graph that the engine reads from the merged journal."""
    from mnemolens.core.clock import reading_time
    from mnemolens.core.events import EdgePut, Event, NodePut
    from mnemolens.core.memories import EDGE_TYPES
    from mnemolens.engine.loading import bulk_load
    from mnemolens.engine.memory_graph import EdgeGraph
    from mnemolens.ranking.activation import Spreading
    from mnemolens.store.merge import MergedState

    state = MergedState()
    born = 1_790_000_000_000

    def events() -> list[Event]:
        data = [NodePut(node=f"m{number}", meta={"created_at": born}) for number in range(size)]
        data += [
            EdgePut(source=one, target=two, type=EDGE_TYPES[kind], weight=weight)
            for one, two, kind, weight in edges
        ]
        return [
            Event(f"E{number:025}", f"{born + number:013}-0000-benchbench", one)
            for number, one in enumerate(data)
        ]

    made = events()
    assert reading_time(made[0].clock)

    def merge() -> None:
        with bulk_load():  # as a start and everything else that merges events does
            state.apply(made)

    merging = busy(merge, 1)
    keys = [(one, two, kind) for one, two, kind, _ in edges]
    with bulk_load():
        bare = busy(lambda: {key: [key] for key in keys}, 3)
    graph = EdgeGraph(state)
    starts = [seeds_of(size, dice) for _ in range(times)]
    unseen, again = iter(starts), iter(starts)
    first = busy(lambda: graph.spread(next(unseen), Spreading()), times)
    spreading = busy(lambda: graph.spread(next(again), Spreading()), times)
    clustering_first = busy(graph.clusters, 1)
    clustering = busy(graph.clusters, 3)
    return [
        figure(SUBJECT, "stored: edges merged", merging, functions=size),
        figure(SUBJECT, BARE, bare, functions=size),
        figure(SUBJECT, "stored: spreading activation, 5 seeds, for the first time", first, functions=size),
        figure(SUBJECT, "stored: spreading activation, 5 seeds", spreading, 3.0, functions=size),
        figure(SUBJECT, "stored: clusters, for the first time", clustering_first, functions=size),
        figure(SUBJECT, "stored: clusters", clustering, 1500.0, functions=size),
    ]


def hover(size: int, times: int) -> list[Figure]:
    """What lights up at functions all over a made project, ranked as a hover shows it."""
    from mnemolens.core.settings import Settings
    from mnemolens.core.symbols import SymbolKey
    from mnemolens.engine.workspace import Workspace

    with tempfile.TemporaryDirectory(prefix="mnemolens-ranking-", ignore_cleanup_errors=True) as place:
        base = Path(place).resolve()
        root = base / "made"
        root.mkdir()
        with environ({"XDG_CACHE_HOME": f"{base}/cache", "LOCALAPPDATA": f"{base}/cache", "HOME": place}):
            made = make_project(root, size)
            held = make_memories(made, size // 10)
            workspace = Workspace.open(root, Settings())
            workspace.survey()
        now = datetime.now(UTC)
        least = workspace.settings.hover.neighbour_threshold
        taken = {}
        for name, spots in (("", made.definitions), (", where a note is", held)):
            chosen = iter(spots[:: max(1, len(spots) // times)])

            def rank(chosen: Any = chosen) -> None:
                spot = next(chosen)
                key = SymbolKey(spot.file, spot.name)
                workspace.show.ranked_on(key, now)
                workspace.focus.neighbours(key, now, least)

            taken[name] = busy(rank, min(times, len(spots)))
        workspace.close()
    return [
        figure(HOVER, f"rank for one hover{name}", took, 5.0, functions=size) for name, took in taken.items()
    ]


def weights(size: int, times: int, dice: random.Random) -> list[Figure]:
    """All weights, by the Python API's manager and as the engine has memories; and what fits a budget."""
    from mnemolens import MemoryTrace, TimeDecayMemoryManager
    from mnemolens.core.memories import MEMORY_KINDS, Memory
    from mnemolens.ranking.decay import weights as weights_of

    manager = TimeDecayMemoryManager(clock=lambda: NOW)
    now = datetime.fromtimestamp(NOW, UTC)
    facts = [
        (
            dice.uniform(0, 9000),
            dice.uniform(0, 300),
            dice.random(),
            dice.randrange(120),
            dice.randrange(1, 900),
        )
        for _ in range(size)
    ]
    for number, (age, since, importance, count, tokens) in enumerate(facts):
        created, used = NOW - age * 3600, NOW - since * 3600
        manager.add_memory(MemoryTrace(f"m{number}", "", created, used, count, importance, tokens))
    memories = [  # not in the same loop: each kind lies together, as it does where there is but one
        Memory(
            f"m{number}",
            dice.choice(MEMORY_KINDS),
            "",
            "",
            now - timedelta(hours=age),
            now - timedelta(hours=since),
            importance=importance,
            access_count=count,
        )
        for number, (age, since, importance, count, _) in enumerate(facts)
    ]
    turns = max(5, times // 20)
    return [
        figure(SUBJECT, "all weights", busy(manager.update_all_weights, turns), 300.0, functions=size),
        figure(
            SUBJECT,
            "all weights, by type",
            busy(lambda: weights_of(memories, now), turns),
            300.0,
            functions=size,
        ),
        figure(SUBJECT, "what fits 50,000 tokens", busy(manager.retrieve, turns), functions=size),
    ]


def seeds_of(size: int, dice: random.Random) -> list[str]:
    return [f"m{number}" for number in dice.sample(range(size), SEEDS)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure ranking.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--times", type=int, default=300)
    given = parser.parse_args()
    figures = measure(given.sizes, given.times)
    show(figures)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())

"""What the Python API costs, on a made project with its graph: a table.

    python tests/bench/api.py [--functions 20000] [--memories 10000] [--times 60]

Storing is measured to its end: the journal's fsync, the links, and the graph's write, which the last line of
each turn waits for. Retrieving is measured among all memories that were stored.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab import environ
from made import Made, make_memories, make_project, note_on
from measure import Figure, exit_code, figure, say, seconds, show, timed

SUBJECT = "the Python API"

WAIT = "RETURN 1"
"""A query that needs nothing from the graph but that all that waits is written before."""


def measure(functions: int, memories: int, times: int) -> list[Figure]:
    """All figures, in a made project of its own."""
    with tempfile.TemporaryDirectory(prefix="mnemolens-bench-", ignore_cleanup_errors=True) as place:
        root = Path(place).resolve() / "made"
        root.mkdir()
        with environ({"MNEMOLENS_CACHE_DIR": str(Path(place) / "cache")}):
            return _measure(root, functions, memories, times)


def _measure(root: Path, functions: int, memories: int, times: int) -> list[Figure]:
    from mnemolens import CodeGraph, KuzuBackend, MemoryEntry, MemoryQuery
    from mnemolens.store.graph import GraphStore

    say(f"making {functions} functions and {memories} memories …")
    made = make_project(root, functions)
    make_memories(made, memories)
    writes: list[Any] = []
    write = GraphStore.write

    def noted(self: GraphStore, changes: Any) -> Any:
        future = write(self, changes)
        writes.append(future)
        return future

    GraphStore.write = noted  # type: ignore[method-assign]  # what a store costs the graph is counted here
    found = []
    with KuzuBackend(root=root) as backend:
        say("indexing, and building the graph …")
        found.append(_once("code indexed, all memories linked", lambda: CodeGraph(backend).index()))
        found.append(_once("graph built by the first query", lambda: backend.connection.execute(WAIT)))
        numbers = iter(range(10**9))

        def entry() -> MemoryEntry:
            number = next(numbers)
            return MemoryEntry(
                id=f"bench-{number}",
                session_id=f"session-{number % 7}",
                agent_id="bench",
                content=two_functions(made, number),
                metadata={"file": made.definitions[number % len(made.definitions)].file},
            )

        def store() -> None:
            backend.store_memory(entry())

        def store_and_write() -> None:
            backend.store_memory(entry())
            backend.connection.execute(WAIT)

        timed(store_and_write, 5)
        writes.clear()
        taken = timed(store_and_write, times)
        statements = [future.result().statements for future in writes]
        assert len(statements) == times, "each memory was to be written by itself"
        said = f"at most {max(statements)} graph statements (target 4), one transaction each"
        found.append(figure(SUBJECT, "store, link and write to the graph", taken, 40.0, note=said))
        taken = timed(store, times)
        found.append(figure(SUBJECT, "store and link", taken, 100.0, note="the graph is written behind"))
        backend.connection.execute(WAIT)
        count = backend.get_stats()["total_memories"]
        for name, query in (
            ("retrieve 10", MemoryQuery(limit=10)),
            ("retrieve 10 of a session", MemoryQuery(limit=10, session_id="session-3")),
            ("retrieve 10 that hold two words", MemoryQuery(limit=10, content_search="idempotent compare")),
            ("retrieve 10 behind half", MemoryQuery(limit=10, offset=count // 2)),
        ):
            assert len(backend.retrieve_memories(query)) == 10
            taken = timed(lambda query=query: backend.retrieve_memories(query), times)
            target = 10.0 if name == "retrieve 10" else None
            found.append(figure(SUBJECT, f"{name}, of {count:,}", taken, target))
        taken = timed(lambda: backend.get_memory_by_id("bench-1"), times)
        found.append(figure(SUBJECT, "one memory by its id", taken))
        by_file = "MATCH (m)-[r:RELATES_TO_FILE_SEMANTIC]->(:CodeFile {file_id: $file}) RETURN m.memory_id"
        file = {"file": made.definitions[0].file}
        taken = timed(lambda: backend.connection.execute(by_file, file), times)
        found.append(figure(SUBJECT, "a query for a file's memories", taken))
    GraphStore.write = write  # type: ignore[method-assign]
    return found


def two_functions(made: Made, number: int) -> str:
    spots = made.definitions
    return note_on(spots[number * 17 % len(spots)], spots[number * 29 % len(spots)], number)


def _once(name: str, work: Any) -> Figure:
    return Figure(SUBJECT, name, "s", seconds(work))


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the Python API.")
    parser.add_argument("--functions", type=int, default=20_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=60)
    given = parser.parse_args()
    figures = measure(given.functions, given.memories, given.times)
    show(figures)
    print(f"medians of {given.times}; {statistics.fmean(os.getloadavg()):.1f} other work", file=sys.stderr)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())

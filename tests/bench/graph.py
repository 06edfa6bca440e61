"""Figures of the Kuzu graph, on the engine's own parts without a server: `python tests/bench/graph.py`.

A made project of 100,000 functions with 500,000 calls and 10,000 memories; no text is parsed, so that what is
measured is the graph. "Held" is the longest time that the event loop was held meanwhile.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from measure import Figure, exit_code, quantile, show

from mnemolens.core.clock import ManualClock
from mnemolens.core.events import Event, put_memory
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Call, FileSymbols, Import, Position, Range, Symbol, SymbolRange
from mnemolens.engine.graph_rows import FileFacts
from mnemolens.engine.graph_sync import GraphSync
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.workspace import Workspace
from mnemolens.store.graph import GraphStore

SUBJECT = "the graph, on the engine's parts"
FUNCTIONS_A_FILE = 40
CALLS_A_FUNCTION = 5
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = Range(Position(0, 0), Position(1, 0))


@dataclass
class Longest:
    """The longest that the event loop was held."""

    seconds: float = 0.0


@contextmanager
def watching(loop: asyncio.AbstractEventLoop) -> Iterator[Longest]:
    found = Longest()
    last = time.perf_counter()

    def beat() -> None:
        nonlocal last
        now = time.perf_counter()
        found.seconds = max(found.seconds, now - last)
        last = now
        handle[0] = loop.call_later(0.001, beat)

    handle = [loop.call_soon(beat)]
    try:
        yield found
    finally:
        handle[0].cancel()


def path_of(number: int) -> str:
    return f"src/part{number // 50}/module{number}.py"


def name_of(number: int) -> str:
    return f"work_{number}_step"


def made_file(number: int, files: int, functions: int = FUNCTIONS_A_FILE, *, salt: int = 0) -> FileSymbols:
    """A module whose functions call each other and those of three others that it imports."""
    first = number * FUNCTIONS_A_FILE
    symbols, calls, imports = [], [], []
    others = [(number * 7 + k * 13 + 1) % files for k in range(3)]
    for k, other in enumerate(others):
        if other != number:
            module = path_of(other).removesuffix(".py").replace("/", ".")
            for j in range(4):
                name = name_of(other * FUNCTIONS_A_FILE + (number + j * 3 + k) % FUNCTIONS_A_FILE)
                imports.append(Import(module, name, name))
    names = [item.name for item in imports if item.name]
    for place in range(functions):
        name = name_of(first + place) if place < FUNCTIONS_A_FILE else f"added_{number}_{place}"
        docstring = f"Does step {place}." if place % 3 else None
        head = f"def {name}(row)"
        body = f"{first + place + salt:016x}"
        symbols.append(Symbol(name, name, 0, "function", -1, head, docstring, full_hash=body, body_hash=body))
        for k in range(CALLS_A_FUNCTION):
            here = name_of(first + (place * 3 + k + salt) % FUNCTIONS_A_FILE)
            callee = names[(place + k) % len(names)] if k % 2 and names else here
            calls.append(Call(place, callee, "", 1 + k % 2))
    ranges = tuple(SymbolRange(HERE, HERE) for _ in symbols)
    return FileSymbols(
        "python",
        tuple(symbols),
        tuple(imports),
        tuple(calls),
        tuple(frozenset({"row"}) for _ in symbols),
        ranges=ranges,
    )


class Bench:
    """A workspace without text, and its graph."""

    def __init__(self, folder: Path, functions: int, memories: int) -> None:
        self.files = max(functions // FUNCTIONS_A_FILE, 4)
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock(NOW)
        root = folder / "project"
        root.mkdir()
        self.workspace = Workspace.open(root, Settings(), self.clock)
        self.index = self.workspace.code.index
        for number in range(self.files):
            self.index.put(path_of(number), made_file(number, self.files))
        self._remember(memories)
        self.graph = GraphSync(
            GraphStore(folder / "graphs" / "w", self.clock),
            self.index,
            self.workspace.state,
            self.workspace.links,
            lambda _: FileFacts("0" * 32, 1000),
            self.clock,
            lambda: self.workspace.show.decay,
        )
        refresh = self.workspace.links.refresh

        def refreshing(memory_ids):
            ids = list(memory_ids)
            changed = refresh(ids)
            self.graph.memories_changed(ids)
            return changed

        self.workspace.links.refresh = refreshing

    def _remember(self, memories: int) -> None:
        events = []
        for number in range(memories):
            a, b = (name_of(number * k % (self.files * FUNCTIONS_A_FILE)) for k in (17, 29))
            fields = {
                "type": ("episodic", "semantic", "procedural")[number % 3],
                "title": f"note {number}",
                "content": f"`{a}` keeps step with `{b}`, see {path_of(number % self.files)}: {number}",
                "created_at": NOW,
                "session_id": f"session {number // 100}",
            }
            data = put_memory(f"memory-{number:06}", fields, tags_add=("bench",))
            clock = f"{int(NOW.timestamp() * 1000) + number:013}-0000-benchwrite"
            events.append(Event(f"{number:026}", clock, data))
        self.workspace.state.apply(events)
        self.workspace.links.refresh(list(self.workspace.state.memories()))

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def from_nothing(self) -> dict:
        self.graph.start()
        self.graph.index_complete()
        with watching(self.loop) as longest:
            begun = time.perf_counter()
            self.run(self.graph.flush())
            taken = time.perf_counter() - begun
        counts = {
            what: self.ask(f"MATCH {pattern} RETURN count(*)")[0][0]
            for what, pattern in (
                ("functions", "(:CodeFunction)"),
                ("calls", "()-[:CALLS]->()"),
                ("memories", "(:EpisodicMemory:SemanticMemory:ProceduralMemory)"),
                ("links", "(:SemanticMemory)-[:RELATES_TO_FUNCTION_SEMANTIC]->()"),
            )
        }
        return figure("graph from nothing", taken, 30, "s", longest, counts)

    def ask(self, cypher: str):
        return self.run(self.graph.query(cypher)).rows

    def changed_bodies(self, salt: int) -> dict:
        """50 functions of two open files get other bodies: calls, hashes and lines change."""
        return self._changed(
            "50 functions edited", {n: made_file(n, self.files, salt=salt) for n in (7, 8)}, 25
        )

    def changed_names(self, salt: int) -> dict:
        """50 functions are added in one file."""
        return self._changed("50 functions added", {20 + salt: made_file(20 + salt, self.files, 90)}, 0)

    def _changed(self, name: str, files: dict[int, FileSymbols], keep: int) -> dict:
        for number, symbols in files.items():
            known = self.index.get(path_of(number))
            if keep:
                after = tuple(
                    new if at < keep else old
                    for at, (old, new) in enumerate(zip(known.symbols, symbols.symbols, strict=True))
                )
                calls = [c for c in symbols.calls if c.caller < keep] + [
                    c for c in known.calls if c.caller >= keep
                ]
                symbols = replace(known, symbols=after, calls=tuple(calls))  # noqa: PLW2901
            self.index.put(path_of(number), symbols)
            self.graph.file_changed(path_of(number))
        with watching(self.loop) as longest:
            begun = time.perf_counter()
            report = self.run(self.graph._flush(exact=True))
            taken = time.perf_counter() - begun
        return figure(name, taken * 1000, 300, "ms", longest, {"statements": report.statements})

    def captured(self, number: int) -> dict:
        """Stores a memory that links two functions, journal and graph written."""
        a, b = (name_of(number * k % (self.files * FUNCTIONS_A_FILE)) for k in (19, 31))
        request = CaptureRequest(f"`{a}` was slow before `{b}` came: run {number}", session_id=f"s{number}")
        with watching(self.loop) as longest:
            begun = time.perf_counter()
            self.run(
                self.workspace.journaling.commit(self.workspace.writing.capture(request, self.clock.now()))
            )
            report = self.run(self.graph._flush(exact=True))
            taken = time.perf_counter() - begun
        return figure("one memory stored", taken * 1000, 40, "ms", longest, {"statements": report.statements})


def figure(name: str, value: float, target: float, unit: str, longest: Longest, more: dict) -> dict:
    held = longest.seconds * 1000
    return {"name": name, "value": value, "target": target, "unit": unit, "held_ms": held, **more}


def summed(figures: list[dict]) -> Figure:
    """Several runs of one figure as one."""
    values = [one["value"] for one in figures]
    last = figures[-1]
    more = ", ".join(f"{value:,} {key}" for key, value in last.items() if key not in FIXED)
    held = max(one["held_ms"] for one in figures)
    return Figure(
        SUBJECT,
        last["name"],
        last["unit"],
        statistics.median(values),
        quantile(values, 0.95) if len(values) > 1 else None,
        last["target"],
        samples=len(values),
        note=f"loop held {held:.0f} ms; {more}",
    )


FIXED = {"name", "value", "target", "unit", "held_ms"}


def measure(functions: int, memories: int) -> list[Figure]:
    """All figures of a graph of that size."""
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), functions, memories)
        found = [
            summed([bench.from_nothing()]),
            summed([bench.changed_bodies(salt) for salt in range(1, 11)]),
            summed([bench.changed_names(salt) for salt in range(5)]),
            summed([bench.captured(number) for number in range(30)]),
        ]
        bench.graph.close()
        bench.workspace.close()
        bench.loop.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    given = parser.parse_args()
    scale = 10 if given.quick else 1
    found = measure(given.functions // scale, given.memories // scale)
    show(found)
    return exit_code(found)


if __name__ == "__main__":
    sys.exit(main())

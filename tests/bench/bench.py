"""The benchmark suite: `make bench`. Prints a table, writes build/bench.json.

Every figure is taken over the wire, from a real server on stdio, as its client sees it: from the write of a
request to the answer being read; a few requests before that are not measured. A verdict says whether the
target is met; the exit code is 1 only above three times a target, because machines differ.

    python tests/bench/bench.py [--quick] [--only NAME]… [--django FOLDER]
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from client import Client
from made import LONG_FILE, WIDE_FILE, Made, Spot, make_memories, make_project, note_on

REPOSITORY = Path(__file__).resolve().parents[2]
DJANGO = "5.2.8"
GATE = 3.0


@dataclass
class Figure:
    """One measured thing.

    Attributes:
        median, p95: in `unit`.
        target: that the median must reach, None where there is none.
        floor: the least that this could cost on this machine in this run, and what it is.
        samples: how often it was measured.
    """

    name: str
    unit: str
    median: float | None
    p95: float | None = None
    target: float | None = None
    floor: float | None = None
    floor_is: str = ""
    samples: int = 1
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.median is None:
            return "skipped"
        if self.target is None:
            return "–"
        if self.median <= self.target:
            return "met"
        return "missed" if self.median <= self.target * GATE else "TOO SLOW"


def milliseconds(
    work: Callable[[], None], times: int, before: Callable[[], None] = lambda: None
) -> list[float]:
    """How long `work` takes, each time after `before`, which is not measured."""
    taken = []
    for _ in range(times):
        before()
        begun = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begun) * 1000)
    return taken


def figure(name: str, taken: list[float], target: float | None = None, **more: Any) -> Figure:
    ordered = sorted(taken)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return Figure(name, "ms", statistics.median(taken), p95, target, samples=len(taken), **more)


class Bench:
    """One run: where its files are, and how often things are measured."""

    def __init__(self, work: Path, *, quick: bool) -> None:
        self.work = work
        self.times = 60 if quick else 200
        self.quick = quick
        self._caches = 0

    def cache(self) -> dict[str, str]:
        """The environment of a server that has seen nothing yet."""
        self._caches += 1
        folder = self.work / f"cache{self._caches}"
        return {
            "XDG_CACHE_HOME": str(folder),
            "LOCALAPPDATA": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
        }

    @contextmanager
    def serving(self, root: Path, environment: dict[str, str]) -> Iterator[Client]:
        """A server whose index of `root` is complete."""
        client = Client(["-m", "mnemolens", "serve"], environment)
        try:
            client.initialize(root)
            wait_for_index(client)
            yield client
        finally:
            client.close()

    # -- the figures --

    def protocol_floor(self) -> float:
        """Milliseconds of a constant hover from a server that does nothing else."""
        client = Client([str(Path(__file__).with_name("floor.py"))], {})
        try:
            client.initialize(self.work)
            hover = {"textDocument": {"uri": "file:///x.py"}, "position": {"line": 0, "character": 0}}
            taken = milliseconds(lambda: client.request("textDocument/hover", hover), self.times + 20)
            return statistics.median(taken[20:])
        finally:
            client.close()

    def sync_floor(self) -> float:
        """Milliseconds of a 1 kB append and fsync where the journal of the made projects lies."""
        with (self.work / "fsync").open("ab", buffering=0) as stream:

            def append() -> None:
                stream.write(b"x" * 1024)
                os.fsync(stream.fileno())

            return statistics.median(milliseconds(append, self.times))

    def answers(
        self, functions: int, memories: int, *, suffix: str = "", targets: bool = True
    ) -> list[Figure]:
        """Hover, lens, capture and typing in a made project."""
        root = self.work / f"made{functions}"
        root.mkdir()
        environment = self.cache()
        note(f"making {functions} functions and {memories} memories …")
        made = make_project(root, functions)
        held = with_environment(environment, lambda: make_memories(made, memories))
        note("serving them …")
        floor = {"floor": self.protocol_floor(), "floor_is": "a bare pygls hover"}
        with self.serving(root, environment) as client:
            found = [self._hover(client, made, held, suffix, 5 if targets else None, floor)]
            if targets:
                found.append(self._lens(client, made, held, floor))
            found.append(self._capture(client, made, suffix, 15 if targets else None))
            if targets:
                found.append(self._typing(client, made, held, floor))
            if (resident := client.resident_megabytes()) is not None:
                held_by = f"memory of the server at {functions:,} functions"
                found.append(Figure(held_by, "MB", resident))
        shutil.rmtree(root)
        return found

    def _hover(
        self, client: Client, made: Made, held: list[Spot], suffix: str, target: float | None, floor: dict
    ) -> Figure:
        names = {spot.name for spot in held}
        spots = [
            spot
            for pair in zip(held, (c for c in made.calls if c.name in names), strict=False)
            for spot in pair
        ]
        files = list(dict.fromkeys(spot.file for spot in spots if spot.file != LONG_FILE))[:10]
        for file in files:
            open_document(client, made.root / file)
        spots = [spot for spot in spots if spot.file in files]

        def hover(spot: Spot) -> None:
            answer = client.request("textDocument/hover", at(made.root, spot))
            if answer is None or "note " not in json.dumps(answer):
                raise AssertionError(f"no memory on {spot}: {answer}")

        for spot in spots[:20]:
            hover(spot)
        turn = iter(spots * (self.times // len(spots) + 2))
        taken = milliseconds(lambda: hover(next(turn)), self.times)
        return figure(f"hover{suffix}", taken, target, **floor)

    def _lens(self, client: Client, made: Made, held: list[Spot], floor: dict) -> Figure:
        open_document(client, made.root / WIDE_FILE)
        expected = len({spot.name for spot in held if spot.file == WIDE_FILE})
        params = {"textDocument": {"uri": (made.root / WIDE_FILE).as_uri()}}
        counts = set()

        def lens() -> None:
            counts.add(len(client.request("textDocument/codeLens", params)))

        taken = milliseconds(lens, self.times)
        # other memories name functions of this file too
        if min(counts) < expected:
            raise AssertionError(f"{counts} lenses, at least {expected} expected")
        name = "lens of a 2,000-line file"
        return figure(name, taken, 10, note=f"{max(counts)} lenses", **floor)

    def _capture(self, client: Client, made: Made, suffix: str, target: float | None) -> Figure:
        numbers = iter(range(10**6, 10**7))

        def capture() -> None:
            number = next(numbers)
            spot = made.definitions[number * 17 % len(made.definitions)]
            other = made.definitions[number * 29 % len(made.definitions)]
            answer = client.command(
                "mnemolens.memory.capture",
                content=note_on(spot, other, number),
                uri=(made.root / spot.file).as_uri(),
                position={"line": spot.line, "character": spot.column},
            )
            linked = {link["target"]["qualname"] for link in answer["links"]}
            if not {spot.name, other.name} <= linked:
                raise AssertionError(f"{spot.name} and {other.name} were to be linked, not {linked}")

        milliseconds(capture, 5)
        taken = milliseconds(capture, self.times)
        name = f"capture, fsynced and linked{suffix}"
        floor = {"floor": self.sync_floor(), "floor_is": "append and fsync"}
        return figure(name, taken, target, **floor)

    def _typing(self, client: Client, made: Made, held: list[Spot], floor: dict) -> Figure:
        """A character is typed before a name on its line; the hover on the name must stand one further."""
        path = made.root / LONG_FILE
        open_document(client, path)
        names = {spot.name for spot in held}
        text = path.read_text()
        spot = next(spot for spot in made.of_file(LONG_FILE)[200:] if spot.name in names)
        # a call of it in the middle of the file: "        value = NAME(row, limit)"
        calls = [call for call in made.calls if call.file == LONG_FILE]
        middle = calls[len(calls) // 2]
        version, column = 1, len("        value = ")
        uri = path.as_uri()
        lines = text.split("\n")
        old = lines[middle.line]
        version += 1
        new = f"        value = {spot.name}(row, limit)"
        client.notify("textDocument/didChange", change(uri, version, middle.line, 0, len(old), new))

        def type_and_hover() -> None:
            nonlocal version, column
            version += 1
            client.notify("textDocument/didChange", change(uri, version, middle.line, 8, 8, "x"))
            column += 1
            place = {"textDocument": {"uri": uri}, "position": {"line": middle.line, "character": column + 2}}
            start = {"line": middle.line, "character": column}
            for _ in range(200):  # a hover never waits, so it may not know yet
                answer = client.request("textDocument/hover", place)
                if answer is not None and answer["range"]["start"] == start:
                    return
            raise AssertionError(f"the hover does not learn the last character: {answer}")

        milliseconds(type_and_hover, 5)
        taken = milliseconds(type_and_hover, self.times)
        return figure("one character in a 5,000-line file until hover knows it", taken, 15, **floor)

    def django(self, given: Path | None) -> list[Figure]:
        """A real package, indexed from nothing and opened again unchanged."""
        names = ("django indexed from nothing", "django re-opened unchanged")
        folder = given or get_django()
        if isinstance(folder, str):
            return [
                Figure(name, "s", None, target=target, note=folder)
                for name, target in zip(names, (5, 1.5), strict=True)
            ]
        copy = self.work / "django"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        time.sleep(2.1)  # files younger than two seconds are read again at the next start
        found = []
        rounds = 1 if self.quick else 3
        cold, warm = [], []
        for _ in range(rounds):
            environment = self.cache()
            cold.append(self._open(copy, environment))
            warm += [self._open(copy, environment) for _ in range(3)]
        for name, runs, target in ((names[0], cold, 5.0), (names[1], warm, 1.5)):
            seconds = [run[0] for run in runs]
            whole = statistics.median(run[1] for run in runs)
            said = f"{runs[0][2]} files, {runs[0][3]} symbols; {whole:.2f} s with the server's start"
            found.append(
                Figure(
                    name, "s", statistics.median(seconds), max(seconds), target, samples=len(runs), note=said
                )
            )
        return [*found, self._recall(copy, environment)]

    def _recall(self, root: Path, environment: dict[str, str]) -> Figure:
        """The command line on a real package that was indexed before, with a memory at that place."""
        command = [sys.executable, "-m", "mnemolens"]
        place = ["--at", "db/models/base.py::Model.save"]

        def run(*words: str) -> float:
            begun = time.perf_counter()
            subprocess.run(
                [*command, *words, "--root", str(root)],
                env={**os.environ, **environment},
                check=True,
                capture_output=True,
            )
            return time.perf_counter() - begun

        run("remember", "save() must stay idempotent", *place)
        taken = [run("recall", *place, "--no-record") for _ in range(5 if self.quick else 15)]
        name = "mnemolens recall --at, on django"
        return Figure(name, "s", statistics.median(taken), max(taken), 0.5, samples=len(taken))

    def _open(self, root: Path, environment: dict[str, str]) -> tuple[float, float, int, int]:
        """(seconds from `initialized` to a complete index, from the process's start, files, symbols)."""
        client = Client(["-m", "mnemolens", "serve"], environment)
        try:
            client.initialize(root)
            begun = time.perf_counter()
            folder = wait_for_index(client)
            ended = time.perf_counter()
            return ended - begun, ended - client.started_at, folder["files"], folder["symbols"]
        finally:
            client.close()


def wait_for_index(client: Client) -> dict:
    """The folder's status once its index is complete."""
    while True:
        folder = client.command("mnemolens.status")["folders"][0]
        if folder["indexing"] is None and folder["files"]:
            return folder
        time.sleep(0.01)


def open_document(client: Client, path: Path) -> None:
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
    client.notify("textDocument/didOpen", {"textDocument": document})


def at(root: Path, spot: Spot) -> dict:
    position = {"line": spot.line, "character": spot.column + 2}
    return {"textDocument": {"uri": (root / spot.file).as_uri()}, "position": position}


def change(uri: str, version: int, line: int, start: int, end: int, text: str) -> dict:
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{"range": span, "text": text}],
    }


def with_environment(environment: dict[str, str], work: Callable[[], Any]) -> Any:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return work()
    finally:
        os.environ.clear()
        os.environ.update(before)


def get_django() -> Path | str:
    """django's package, kept outside the clone; or why it can't be had."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "mnemolens-bench" / f"django-{DJANGO}"
    if (folder / "django").is_dir():
        return folder / "django"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        command = [
            "pip",
            "download",
            f"django=={DJANGO}",
            "--no-deps",
            "--only-binary=:all:",
            "-q",
            "-d",
            place,
        ]
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        wheel = next(Path(place).glob("*.whl"), None)
        if done.returncode or wheel is None:
            why = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
            return f"django {DJANGO} can't be downloaded: {why}"
        unpacked = Path(place) / "unpacked"
        shutil.unpack_archive(wheel, unpacked, "zip")
        unpacked.rename(folder)
    return folder / "django"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show(figures: list[Figure]) -> None:
    rows = [("figure", "median", "95%", "target", "floor", "verdict", "")]
    for one in figures:
        digits = 2

        def number(value: float | None, unit: str = one.unit, digits: int = digits) -> str:
            return "" if value is None else f"{value:.{digits}f} {unit}"

        target = "" if one.target is None else f"{one.target:g} {one.unit}"
        floor = f"{number(one.floor)} {one.floor_is}" if one.floor is not None else ""
        rows.append((one.name, number(one.median), number(one.p95), target, floor, one.verdict, one.note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the server over the wire.")
    parser.add_argument("--quick", action="store_true", help="fewer samples, no growth; under 2 minutes")
    parser.add_argument(
        "--django", type=Path, metavar="FOLDER", help="django's package, not to be downloaded"
    )
    parser.add_argument(
        "--only", action="append", choices=("answers", "django", "growth"), help="just this part"
    )
    parser.add_argument("--functions", type=int, default=20_000)
    parser.add_argument("--memories", type=int, default=2_000)
    arguments = parser.parse_args()
    parts = arguments.only or (["answers", "django"] if arguments.quick else ["answers", "django", "growth"])
    figures: list[Figure] = []
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mnemolens-bench-") as place:
        bench = Bench(Path(place).resolve(), quick=arguments.quick)
        if "answers" in parts:
            figures += bench.answers(arguments.functions, arguments.memories)
        if "django" in parts:
            note("opening django …")
            figures += bench.django(arguments.django)
        if "growth" in parts:
            for size in (1_000, 10_000, 100_000):
                figures += bench.answers(
                    size, min(2_000, size // 10), suffix=f" at {size:,} functions", targets=False
                )
    show(figures)
    result = {
        "machine": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "processors": os.cpu_count(),
        },
        "seconds": round(time.perf_counter() - begun, 1),
        "quick": arguments.quick,
        "figures": [{**asdict(one), "verdict": one.verdict} for one in figures],
    }
    output = REPOSITORY / "build" / "bench.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    return 1 if any(one.verdict == "TOO SLOW" for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Subject: what a user waits for, over the wire and in process, and how it grows with the project.

Over the wire: a real server on stdio, from the write of a request to the answer being read, as its client
sees it. In process: the engine alone, without protocol. A few requests before that are not measured.
"""

import asyncio
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count, cycle
from pathlib import Path
from typing import Any

from client import Client
from lab import HERE, Lab, Project, at, change, environ, open_document, status, wait_for_index
from made import LONG_FILE, WIDE_FILE, Spot, note_on
from measure import Figure, figure, of_size, timed

WIRE = "over the wire, by functions"
ENGINE = "the engine alone, by functions"
HOVER, LENS, TYPED = (5, 15), (10, 30), (10, 30)
CAPTURE = (15, None)
_GRAPH_AFTER = 6
"""Seconds after the index until the graph is surely begun."""
_IDLE = 0.1
"""Processor seconds in a second: a server that uses less has nothing to do."""


def measure(lab: Lab, sizes: list[tuple[int, int]]) -> list[Figure]:
    """All figures for each (functions, memories)."""
    found: list[Figure] = []
    floor = bare_hover(lab)
    for functions, memories in sizes:
        project = lab.project(functions, memories)
        found += of_size([*over_the_wire(lab, project, floor), *in_process(lab, project)], functions)
    return found


def bare_hover(lab: Lab) -> float:
    """Milliseconds of a constant hover from a pygls server that does nothing else."""
    client = Client([str(HERE / "floor.py")], {})
    try:
        client.initialize(lab.work)
        hover = {"textDocument": {"uri": "file:///x.py"}, "position": {"line": 0, "character": 0}}
        return statistics.median(timed(lambda: client.request("textDocument/hover", hover), 220)[20:])
    finally:
        client.close()


def fsync(lab: Lab) -> float:
    """Milliseconds of a 1 kB append and fsync where the made projects' journals lie."""
    with (lab.work / "fsync").open("ab", buffering=0) as stream:

        def append() -> None:
            stream.write(b"x" * 1024)
            os.fsync(stream.fileno())

        return statistics.median(timed(append, 50))


# -- over the wire ---


def over_the_wire(lab: Lab, project: Project, floor: float) -> Iterator[Figure]:
    """The figures of one server on one project."""
    bare: dict[str, Any] = {"floor": floor, "floor_is": "bare pygls"}
    with lab.serving(project.root, project.environment) as client:
        resident = client.resident_megabytes()
        targets = {10_000: 250.0, 100_000: 600.0}
        yield Figure(WIRE, "resident memory", "MB", resident, target=targets.get(project.functions))
        times = lab.times
        yield _figure("hover", timed(hovers(client, project), times), HOVER, **bare)
        taken, lenses = _lenses(client, project, times)
        yield _figure("lenses of a 2,000-line file", taken, LENS, note=f"{lenses} lenses", **bare)
        taken = timed(typing(client, project), times + 5)[5:]
        yield _figure("one character in a 5,000-line file until hover knows it", taken, TYPED, **bare)
        taken = timed(captures(client, project), times + 5)[5:]
        slow = {"floor": fsync(lab), "floor_is": "fsync"}
        yield _figure("capture, fsynced and linked", taken, CAPTURE, **slow)
        words = {"text": "idempotent provider", "limit": 20}
        asked = timed(lambda: client.command("mnemolens.memory.list", **words), times // 4)
        yield _figure("search for two words", asked, (None, None), **bare)
        resident = _with_all_indexes(client)
        name = "resident memory with the graph's rows and the code for offers"
        yield Figure(WIRE, name, "MB", resident, target=targets.get(project.functions))
    begun = Client(["-m", "mnemolens", "serve"], project.environment)
    try:
        begun.initialize(project.root)
        ready = _since(begun)
        wait_for_index(begun)
        yield Figure(WIRE, "restart: initialize is answered", "s", ready)
        yield Figure(WIRE, "restart: all code is known", "s", _since(begun))
    finally:
        begun.close()


def _with_all_indexes(client: Client) -> float | None:
    """Megabytes once all is there that is made after the index: for the graph, and for a note on no code."""
    client.command("mnemolens.memory.capture", content="Customers of that bank pay late in spring, says Ana.")
    time.sleep(_GRAPH_AFTER)
    while status(client)["graph"]["state"] == "building":
        time.sleep(0.2)
    before, now = 0.0, client.processor_seconds()
    while now - before > _IDLE:
        time.sleep(1)
        before, now = now, client.processor_seconds()
    return client.resident_megabytes()


def _figure(name: str, taken: list[float], targets: tuple[float | None, float | None], **more: Any) -> Figure:
    return figure(WIRE, name, taken, targets[0], target95=targets[1], **more)


def _since(client: Client) -> float:
    return time.perf_counter() - client.started_at


def spots_with_notes(project: Project, files: int = 10) -> list[Spot]:
    """Definitions with memories and calls of such, in a few ordinary files."""
    names = {spot.name for spot in project.held}
    large = {WIDE_FILE, LONG_FILE}
    spots = [
        spot
        for pair in zip(project.held, (c for c in project.made.calls if c.name in names), strict=False)
        for spot in pair
        if spot.file not in large
    ]
    chosen = list(dict.fromkeys(spot.file for spot in spots))[:files]
    return [spot for spot in spots if spot.file in chosen]


def hovers(client: Client, project: Project, *, known: bool = True) -> Callable[[], None]:
    """A hover, on another place at each call; opens the documents that these are in.

    Args:
        client: of the server.
        project: what it serves.
        known: all code is known, so each answer must hold a memory.
    """
    spots = spots_with_notes(project) or list(project.held)
    for file in dict.fromkeys(spot.file for spot in spots):
        open_document(client, project.root / file)
    turns = cycle(spots)

    def hover() -> None:
        spot = next(turns)
        answer = client.request("textDocument/hover", at(project.root, spot))
        if known and (answer is None or "note " not in json.dumps(answer)):
            raise AssertionError(f"no memory on {spot}: {answer}")

    for _ in range(20):
        hover()
    return hover


def _lenses(client: Client, project: Project, times: int) -> tuple[list[float], int]:
    open_document(client, project.root / WIDE_FILE)
    expected = len({spot.name for spot in project.held if spot.file == WIDE_FILE})
    params = {"textDocument": {"uri": (project.root / WIDE_FILE).as_uri()}}
    counts: list[int] = []
    taken = timed(lambda: counts.append(len(client.request("textDocument/codeLens", params))), times)
    if min(counts) < expected:  # other memories name functions of this file too
        raise AssertionError(f"{min(counts)} lenses, at least {expected} expected")
    return taken, max(counts)


def captures(client: Client, project: Project) -> Callable[[], None]:
    numbers = count(10**6)

    def capture() -> None:
        spot, other, content = _note(project, next(numbers))
        answer = client.command(
            "mnemolens.memory.capture",
            content=content,
            uri=(project.root / spot.file).as_uri(),
            position={"line": spot.line, "character": spot.column},
        )
        linked = {link["target"]["qualname"] for link in answer["links"]}
        if not {spot.name, other.name} <= linked:
            raise AssertionError(f"{spot.name} and {other.name} were to be linked, not {linked}")

    return capture


def _note(project: Project, number: int) -> tuple[Spot, Spot, str]:
    spots = project.made.definitions
    spot, other = spots[number * 17 % len(spots)], spots[number * 29 % len(spots)]
    return spot, other, note_on(spot, other, number)


def typing(client: Client, project: Project) -> Callable[[], None]:
    """A character is typed before a name on its line; the hover on the name must stand one further."""
    path = project.root / LONG_FILE
    uri = path.as_uri()
    open_document(client, path)
    held = {spot.name for spot in project.held}
    name = next(spot.name for spot in project.made.of_file(LONG_FILE)[200:] if spot.name in held)
    calls = [call for call in project.made.calls if call.file == LONG_FILE]
    line = calls[len(calls) // 2].line  # "        value = NAME(row, limit)"
    old = path.read_text().split("\n")[line]
    versions = count(2)
    new = f"        value = {name}(row, limit)"
    client.notify("textDocument/didChange", change(uri, next(versions), line, 0, len(old), new))
    columns = count(len("        value = "))

    def known(column: int, seconds: float = 0.2) -> None:
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column + 2}}
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:  # a hover never waits, so it may not know yet
            answer = client.request("textDocument/hover", place)
            if answer is not None and answer["range"]["start"] == {"line": line, "character": column}:
                return
        raise AssertionError(f"the hover does not learn the last character: {answer}")

    known(next(columns), 10)  # a long document that was just opened is read as a whole first

    def type_and_hover() -> None:
        client.notify("textDocument/didChange", change(uri, next(versions), line, 8, 8, "x"))
        known(next(columns))

    return type_and_hover


# -- in process ---


def _ranking(project: Project, workspace: Any, now: datetime, times: int) -> list[float]:
    """Milliseconds that what lights up at functions all over the project takes, each looked at first then."""
    from mnemolens.core.symbols import SymbolKey

    definitions = project.made.definitions
    chosen = iter(definitions[:: max(1, len(definitions) // times)])

    def rank() -> None:
        spot = next(chosen)
        key = SymbolKey(spot.file, spot.name)
        workspace.show.ranked_on(key, now)
        workspace.focus.neighbours(key, now, workspace.settings.hover.neighbour_threshold)

    return timed(rank, times)


def in_process(lab: Lab, project: Project) -> Iterator[Figure]:
    """The same without a protocol, on the engine's facade."""
    from mnemolens.core.settings import Settings
    from mnemolens.core.symbols import Position
    from mnemolens.core.text import TextChange
    from mnemolens.engine.requests import CaptureRequest
    from mnemolens.engine.workspace import Workspace

    with environ(project.environment):
        workspace = Workspace.open(project.root, Settings())
    loop = asyncio.new_event_loop()
    loop.run_until_complete(workspace.build_index())

    def opened(file: str) -> str:
        text = Path(project.root / file).read_text()
        workspace.open_document(file, "python", text)
        return text

    now = datetime.now(UTC)
    spots = spots_with_notes(project) or list(project.held)
    for file in dict.fromkeys(spot.file for spot in spots):
        opened(file)
    turns = cycle(spots)

    def hover() -> None:
        spot = next(turns)
        if workspace.hovers.at(spot.file, Position(spot.line, spot.column + 2), now) is None:
            raise AssertionError(f"no memory on {spot}")

    yield figure(ENGINE, "hover", timed(hover, lab.times))
    yield figure(ENGINE, "rank for one hover", _ranking(project, workspace, now, lab.times), 5.0)
    opened(WIDE_FILE)
    yield figure(
        ENGINE, "lenses of a 2,000-line file", timed(lambda: workspace.lenses.of(WIDE_FILE, now), lab.times)
    )
    opened(LONG_FILE)
    calls = [call for call in project.made.calls if call.file == LONG_FILE]
    line = calls[len(calls) // 2].line

    def character() -> None:
        change = TextChange("x", (line, 8), (line, 8))
        workspace.sources.change_document(LONG_FILE, [change], now)
        while not workspace.sources.parse_pending(8.0):
            pass

    yield figure(ENGINE, "one character in a 5,000-line file", timed(character, lab.times))
    numbers = count(2 * 10**6)

    def capture() -> None:
        spot, _, content = _note(project, next(numbers))
        request = CaptureRequest(content, file=spot.file, position=Position(spot.line, spot.column))
        loop.run_until_complete(workspace.journaling.commit(workspace.writing.capture(request, now)))

    yield figure(ENGINE, "capture, fsynced and linked", timed(capture, lab.times))
    workspace.close()
    loop.close()

"""Subject: fifty functions change in the editor at once, unsaved: hovers meanwhile, and when the graph knows.

    python tests/bench/editing.py [--functions 100000] [--memories 10000] [--quick]

A round changes the bodies of fifty functions in five open files, then hovers elsewhere until a query, which
sees all that was written before, is answered, and on to the end of that second. Beside it stand the same
hovers while nothing happens.
"""

import argparse
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from answers import hovers, spots_with_notes
from client import Client
from lab import SERVER, Lab, Project, change, open_document, wait_for_index
from made import Spot
from measure import Figure, figure, quantile, show

SUBJECT = "50 functions changed in the editor"
FUNCTIONS = 50
FILES = 5
WAIT = "RETURN 1"


def measure(lab: Lab, functions: int, memories: int) -> list[Figure]:
    """All figures, on one server."""
    project = lab.project(functions, memories)
    client = Client(SERVER, project.environment)
    try:
        client.initialize(project.root)
        wait_for_index(client)
        return _measure(client, project, 3 if lab.quick else 8)
    finally:
        client.close()


def _measure(client: Client, project: Project, rounds: int) -> list[Figure]:
    client.command("mnemolens.graph.query", cypher=WAIT)  # built before anything is measured
    hover = hovers(client, project)
    spots = _spots(project)
    for file in dict.fromkeys(spot.file for spot in spots):
        open_document(client, project.root / file)
    versions = count(2)
    _change(client, project, spots, next(versions))
    client.command("mnemolens.graph.query", cypher=WAIT)
    rest = [_timed(hover) for _ in range(100 * rounds)]
    meanwhile: list[float] = []
    around: list[float] = []
    known: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        _change(client, project, spots, next(versions))
        client.send_command("mnemolens.graph.query", cypher=WAIT)
        while client.waiting:
            meanwhile.append(_timed(hover))
        known.append((time.perf_counter() - begun) * 1000)
        while time.perf_counter() < begun + 1:
            around.append(_timed(hover))
    around += meanwhile
    ratio = f"p95 is {quantile(meanwhile, 0.95) / quantile(rest, 0.95):.1f} times that at rest"
    return [
        figure(SUBJECT, "hover at rest", rest),
        figure(
            SUBJECT,
            "hover until the graph holds it",
            meanwhile,
            note=f"{ratio}; longest {max(meanwhile):.0f} ms",
        ),
        figure(SUBJECT, "hover in the second from the change on", around),
        figure(SUBJECT, "until the graph holds it, hovering all the while", known),
    ]


def _spots(project: Project) -> list[Spot]:
    """The functions that change: none of a file in which hovers are looked at."""
    shown = {spot.file for spot in spots_with_notes(project)}
    files = [file for file in project.ordinary_files() if file not in shown]
    by_file = [project.made.of_file(file)[: FUNCTIONS // FILES] for file in files]
    found = [spot for spots in by_file if len(spots) == FUNCTIONS // FILES for spot in spots][:FUNCTIONS]
    assert len(found) == FUNCTIONS, "the project is too small"
    return found


def _change(client: Client, project: Project, spots: list[Spot], version: int) -> None:
    """One more letter in each function's first parameter, as with many cursors: one notification a file."""
    for file in dict.fromkeys(spot.file for spot in spots):
        changes = []
        for spot in spots:
            column = spot.column + len(spot.name) + 1
            if spot.file == file:
                params = change((project.root / file).as_uri(), version, spot.line, column, column, "x")
                changes += params["contentChanges"]
        client.notify("textDocument/didChange", {**params, "contentChanges": changes})


def _timed(work) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure hovers while fifty functions change.")
    parser.add_argument("--functions", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mnemolens-bench-", ignore_cleanup_errors=True) as place:
        lab = Lab(Path(place).resolve(), quick=given.quick)
        figures = measure(lab, given.functions, given.memories)
    show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())

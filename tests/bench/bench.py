"""The benchmark suite: `make bench`. Prints one table of every promised figure, writes build/bench.json.

Each subject is a module of its own. A verdict says whether a target is met. The exit code is 1 only where a
figure that no machine can change is above three times its target: times and holds never fail a run.

    python tests/bench/bench.py [--quick] [--only SUBJECT]… [--compare FILE] [--django FOLDER]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import answers
import editing
import graph
import indexing
import notes
import relevance
import storms
from lab import Lab
from measure import Figure, exit_code, read_json, say, show, write_json

import api
import linking
import ranking
import search

REPOSITORY = Path(__file__).resolve().parents[2]
SUBJECTS = (
    "answers",
    "indexing",
    "editing",
    "storms",
    "notes",
    "graph",
    "api",
    "linking",
    "ranking",
    "relevance",
    "search",
)


def sizes(*, quick: bool) -> list[tuple[int, int]]:
    """(functions, memories) of the made projects."""
    return [(1_000, 200), (10_000, 1_000)] if quick else [(1_000, 200), (10_000, 1_000), (100_000, 10_000)]


def measured(lab: Lab, subject: str, django: Path | None) -> Iterable[Figure]:
    """A subject's figures."""
    made = sizes(quick=lab.quick)
    work: dict[str, Callable[[], Iterable[Figure]]] = {
        "answers": lambda: answers.measure(lab, made),
        "indexing": lambda: indexing.measure(lab, made, django),
        "editing": lambda: editing.measure(lab, *((10_000, 1_000) if lab.quick else made[-1])),
        "storms": lambda: storms.measure(lab, *((20_000, 2_000) if lab.quick else made[-1])),
        "notes": lambda: notes.measure(lab),
        "linking": lambda: linking.measure(quick=lab.quick),
        "ranking": lambda: ranking.measure([memories for memories, _ in made], 100 if lab.quick else 300),
        "relevance": lambda: relevance.measure(relevance.SEEDS[: 1 if lab.quick else None]),
        "search": lambda: search.measure(20_000 if lab.quick else search.NOTES),
        "graph": lambda: graph.measure(*((10_000, 1_000) if lab.quick else made[-1])),
        "api": lambda: api.measure(*((2_000, 1_000, 40) if lab.quick else (100_000, 10_000, 60))),
    }
    return work[subject]()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="smaller and fewer; under 3 minutes")
    parser.add_argument("--django", type=Path, metavar="FOLDER", help="the package, not to be downloaded")
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="just this subject")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="a former run's JSON; shows the ratio")
    parser.add_argument("--json", type=Path, default=REPOSITORY / "build" / "bench.json", metavar="FILE")
    given = parser.parse_args()
    former = read_json(given.compare) if given.compare else None  # it may be the file that is written below
    begun = time.perf_counter()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="mnemolens-bench-", ignore_cleanup_errors=True) as place:
        lab = Lab(Path(place).resolve(), quick=given.quick)
        for subject in given.only or SUBJECTS:
            figures += measured(lab, subject, given.django)
            say(f"{subject}: done after {time.perf_counter() - begun:.0f} s")
    write_json(given.json, figures, time.perf_counter() - begun, quick=given.quick)
    show(figures, former)
    return exit_code(figures)


if __name__ == "__main__":
    sys.exit(main())

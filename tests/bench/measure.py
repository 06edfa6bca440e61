"""Figures: how they are taken, shown beside their targets, kept as JSON and compared with a former run's.

Owns the one shape of a figure and the one table of all of them. It measures nothing of Mnemolens itself.
"""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

GATE = 3.0
"""Above so many times a target a figure is far off."""

TIMES = {"ms", "s"}
"""Units of what depends on the machine and on what else it does: such a figure fails no run."""


@dataclass(frozen=True)
class Figure:
    """One measured thing.

    Attributes:
        subject: what it belongs to; the table has a part for each.
        median, p95: in `unit`; of a single measurement only the former. None where it could not be taken.
        target, target95: what they must reach; None where nothing is promised.
        functions: of the project that it was taken in, where it was taken in several sizes.
        floor: the least that this could cost on this machine in this run, and what that is.
        samples: how often it was measured.
    """

    subject: str
    name: str
    unit: str
    median: float | None
    p95: float | None = None
    target: float | None = None
    target95: float | None = None
    functions: int | None = None
    floor: float | None = None
    floor_is: str = ""
    samples: int = 1
    note: str = ""

    @property
    def strain(self) -> float:
        """How much of its target it takes, the worse of median and p95; 0 where nothing is promised."""
        pairs = ((self.median, self.target), (self.p95, self.target95))
        return max((value / target for value, target in pairs if value is not None and target), default=0.0)

    @property
    def verdict(self) -> str:
        """In one word or two, as the table says it."""
        if self.median is None:
            return "skipped"
        if self.target is None and self.target95 is None:
            return "–"
        if self.strain <= 1:
            return "met"
        return "missed" if self.strain <= GATE else "FAR OFF"

    @property
    def fails(self) -> bool:
        """Whether a run with it is a failure: it is far off, on any machine."""
        return self.verdict == "FAR OFF" and self.unit not in TIMES

    @property
    def key(self) -> tuple[str, str, int | None]:
        """What makes it the same figure in another run."""
        return self.subject, self.name, self.functions


def timed(work: Callable[[], Any], times: int, before: Callable[[], Any] = lambda: None) -> list[float]:
    """Milliseconds that `work` takes, each time after `before`, which is not measured."""
    taken = []
    for _ in range(times):
        before()
        begun = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begun) * 1000)
    return taken


def figure(
    subject: str,
    name: str,
    taken: Sequence[float],
    target: float | None = None,
    unit: str = "ms",
    **more: Any,
) -> Figure:
    """A figure of several measurements."""
    p95 = quantile(taken, 0.95) if len(taken) > 1 else None
    return Figure(subject, name, unit, statistics.median(taken), p95, target, samples=len(taken), **more)


def quantile(values: Iterable[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def seconds(work: Callable[[], Any]) -> float:
    """How long it takes, once."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def say(text: str) -> None:
    """What is being done, for whoever waits."""
    print(text, file=sys.stderr, flush=True)


# -- the table ---


def show(figures: Sequence[Figure], former: dict[tuple, float] | None = None) -> None:
    """Print a part for each subject; a figure taken in several sizes is one line, with how it grows."""
    for subject in dict.fromkeys(one.subject for one in figures):
        found = [one for one in figures if one.subject == subject]
        sizes = sorted({one.functions for one in found if one.functions is not None})
        head = [subject, *(_short(size) for size in sizes), "growth", "95%", "target", "verdict", "floor", ""]
        if not sizes:
            head[1:2] = ["value"]
        rows = [[*head[:-1], *([] if former is None else ["now/then"]), head[-1]]]
        names = dict.fromkeys(one.name for one in found)
        rows += [_row([one for one in found if one.name == name], sizes, former) for name in names]
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        for number, row in enumerate(rows):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
            if not number:
                print("-" * (sum(widths) + 2 * len(widths)))
        print()


def _row(figures: list[Figure], sizes: list[int], former: dict[tuple, float] | None) -> list[str]:
    """One figure in all its sizes; what stands once is said of the largest."""
    by_size = {one.functions: one for one in figures}
    last = figures[-1]
    if sizes:
        cells = [_number(by_size[size].median, last.unit) if size in by_size else "" for size in sizes]
        cells.append(_growth(by_size, sizes))
    else:
        cells = [_number(last.median, last.unit)]
    targets = [f"{value:g}" for value in (last.target, last.target95) if value is not None]
    target = f"{' / '.join(targets)} {last.unit}" if targets else ""
    floor = "" if last.floor is None else f"{_number(last.floor, last.unit)} {last.floor_is}"
    worst = max(figures, key=lambda one: one.strain)
    row = [last.name, *cells, _number(last.p95, last.unit), target, worst.verdict, floor]
    if former is not None:
        then = former.get(last.key)
        row.append(f"{last.median / then:.2f}" if then and last.median is not None else "")
    return [*row, last.note]


def _growth(by_size: dict[int | None, Figure], sizes: list[int]) -> str:
    """How many times the smallest size's figure the largest size's is."""
    first, last = (by_size.get(size) for size in (sizes[0], sizes[-1]))
    if first is last or not (first and last and first.median and last.median):
        return ""
    return f"× {last.median / first.median:.1f}"


def _short(size: int) -> str:
    return f"{size // 1000}k" if size % 1000 == 0 else str(size)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def exit_code(figures: Iterable[Figure]) -> int:
    """1, and a line for each, where figures fail the run."""
    failing = [one for one in figures if one.fails]
    for one in failing:
        limits = " / ".join(f"{value:g}" for value in (one.target, one.target95) if value is not None)
        say(f"FAR OFF: {one.subject}, {one.name}: {_number(one.median, one.unit)}, to be {limits} at most")
    return int(bool(failing))


# -- JSON ---


def write_json(file: Path, figures: Sequence[Figure], seconds_taken: float, *, quick: bool) -> None:
    """Keep a run, and what it ran on."""
    machine = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
    }
    result = {
        "machine": machine,
        "seconds": round(seconds_taken, 1),
        "quick": quick,
        "figures": [{**asdict(one), "verdict": one.verdict} for one in figures],
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def read_json(file: Path) -> dict[tuple, float]:
    """{key: median} of a former run.

    Raises:
        SystemExit: it is none; says what is wrong.
    """
    try:
        figures = json.loads(file.read_text())["figures"]
        return {
            (one["subject"], one["name"], one["functions"]): one["median"]
            for one in figures
            if one["median"] is not None
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{file} is no run of this benchmark: {error!r}") from None


def of_size(figures: Iterable[Figure], functions: int) -> list[Figure]:
    """The figures as taken in a project of that many functions."""
    return [replace(one, functions=functions) for one in figures]

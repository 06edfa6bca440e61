"""Is what is shown the right few? The rank against each signal alone, on shops made by `relevance_made`.

    python tests/bench/relevance.py [--seeds 1 2 3] [--tune] [--kinds]

Of every function at which some note is wanted the notes are put in order, once for each signal alone and
once as `recall --at` gives them. MRR is the mean of 1 / place of the first wanted note; precision@3 the share
of wanted ones among the first three. What a signal knows nothing of is not in its order; ties are broken by
dice. The parameters in `engine/activation.py` were tuned on the functions of every other area (`--tune` does
it again); what is reported comes from the others. Hovers are real ones, one function after another, so that
what was visited before primes.
"""

import argparse
import hashlib
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lab import environ
from measure import Figure, say, show
from relevance_made import AREAS, Maker, Shop

from mnemolens.core.clock import ManualClock
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Position
from mnemolens.engine.requests import CaptureRequest, RecallRequest
from mnemolens.engine.workspace import Workspace
from mnemolens.engine.write import Write
from mnemolens.search.index import WordIndex
from mnemolens.search.query import read_query

SUBJECT = "what is shown, on the half of the areas that nothing was tuned on"
SEEDS = (1, 2, 3)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TUNED_ON, REPORTED = frozenset(tuple(AREAS)[::2]), frozenset(tuple(AREAS)[1::2])
ABOVE = 0.10
QUIET = 2.0
BOTH = "own link, then calls (two signals)"

Orders = Mapping[str, Sequence[str]]
"""{function id: note ids, best first}."""


class Stage:
    """A shop with a workspace on it, in which all notes are captured.

    Attributes:
        ids: of the memories, by the notes' numbers.
        wanted: {function id: {memory id: kind}}.
    """

    def __init__(self, root: Path, seed: int) -> None:
        self.shop: Shop = Maker(seed, NOW).make(root)
        self.workspace = Workspace.open(root, Settings(), ManualClock(NOW))
        self.workspace.survey()
        self.ids = self._captured()
        self._use()
        self.wanted: dict[str, dict[str, str]] = defaultdict(dict)
        for number, note in enumerate(self.shop.notes):
            for one, kind in note.wanted.items():
                self.wanted[one][self.ids[number]] = kind

    def functions(self, areas: Collection[str]) -> list[str]:
        """Those with a wanted note, in some areas."""
        return [one.id for one in self.shop.functions.values() if one.id in self.wanted and one.area in areas]

    def place(self, one: str) -> tuple[str, Position]:
        file, _, qualname = one.partition("::")
        return file, self.workspace.glance.find(file, qualname)

    def _captured(self) -> list[str]:
        events, ids = [], []
        for number, note in enumerate(self.shop.notes):
            file = position = None
            if note.at is not None:
                file, separator, _ = note.at.partition("::")
                position = self.place(note.at)[1] if separator else None
            ids.append(f"note{number:04}")
            request = CaptureRequest(
                note.text,
                file=file,
                position=position,
                importance=note.importance,
                type=note.type,
                created_at=note.created_at,
                id=ids[-1],
            )
            events += self.workspace.writing.capture(request, NOW).events
        self.workspace.journaling.commit_sync(Write(tuple(events), lambda: None))
        return ids

    def _use(self) -> None:
        workspace = self.workspace
        for number, note in enumerate(self.shop.notes):
            one = self.ids[number]
            if note.uses and note.used_at is not None:
                workspace.journaling.access_sync([one] * note.uses, note.used_at)
            for other in note.together:
                workspace.journaling.commit_sync(workspace.memory_graph.together([one, self.ids[other]]))
            for other, kind in ((note.topic_of, "SAME_TOPIC"), (note.replaces, "SUPERSEDES")):
                if other is not None:
                    target = self.ids[other]
                    workspace.journaling.commit_sync(
                        workspace.attaching.link(one, target_id=target, edge_type=kind, now=NOW)
                    )


@contextmanager
def staged(seeds: Iterable[int]) -> Any:
    """A stage for each seed."""
    with tempfile.TemporaryDirectory(prefix="mnemolens-relevance-", ignore_cleanup_errors=True) as place:
        base = Path(place).resolve()
        stages = []
        with environ({"XDG_CACHE_HOME": f"{base}/cache", "LOCALAPPDATA": f"{base}/cache", "HOME": str(base)}):
            for seed in seeds:
                root = base / f"shop{seed}"
                root.mkdir()
                stages.append(Stage(root, seed))
        yield stages
        for stage in stages:
            stage.workspace.close()


# -- each signal alone ---


class Signals:
    """{note: score} at a function, by each signal alone."""

    def __init__(self, stage: Stage) -> None:
        self._shop = stage.shop
        memories = {one: stage.workspace.show.view(one, NOW) for one in stage.ids}
        self._weight = {one: view.weight for one, view in memories.items()}
        self._recency = {one: view.memory.accessed_at.timestamp() for one, view in memories.items()}
        counts = {one: float(view.memory.access_count) for one, view in memories.items()}
        self._use = {one: count for one, count in counts.items() if count}
        self._on: dict[str, dict[str, float]] = defaultdict(dict)
        for one in stage.ids:
            for link in stage.workspace.show.links_of(one):
                if not link.candidate:
                    self._on[link.target.id][one] = link.relevance
        self._beside: dict[str, set[str]] = defaultdict(set)  # calls, both ways, as the shop was written
        for function in stage.shop.functions.values():
            for call in function.calls:
                self._beside[function.id].add(call)
                self._beside[call].add(function.id)
        self._words = WordIndex({"text": 1.0}, 20)
        for one, note in zip(stage.ids, stage.shop.notes, strict=True):
            self._words.put(one, {"text": note.text})

    def all(self) -> dict[str, Callable[[str], Mapping[str, float]]]:
        """By name."""
        return {
            "own link": lambda one: self._on[one],
            "calls, both ways": self._by_calls,
            "class and file": self._by_holder,
            "words in common": self._by_words,
            "weight": lambda _: self._weight,
            "recency": lambda _: self._recency,
            "popularity": lambda _: self._use,
        }

    def own_then_calls(self, one: str) -> Mapping[str, float]:
        """No signal alone: what two of them say together."""
        return self._by_calls(one) | {note: 1 + relevance for note, relevance in self._on[one].items()}

    def _by_calls(self, one: str) -> Mapping[str, float]:
        found: dict[str, float] = {}
        seen, edge = {one}, {one}
        for hops in (1, 2):
            edge = {other for known in edge for other in self._beside[known]} - seen
            seen |= edge
            for other in edge:
                for note, relevance in self._on[other].items():
                    found[note] = max(found.get(note, 0.0), relevance / hops)
        return found

    def _by_holder(self, one: str) -> Mapping[str, float]:
        """On the class before what else is in it, that before the file and what else is in that."""
        file, _, qualname = one.partition("::")
        outer = qualname.rpartition(".")[0]
        found = dict.fromkeys(self._on[file], 0.5)
        for other, notes in list(self._on.items()):
            if other != one and other.startswith(f"{file}::"):
                in_class = outer and other.startswith(f"{file}::{outer}.")
                found |= dict.fromkeys(notes, 0.7 if in_class else 0.3)
        return found | (dict.fromkeys(self._on[f"{file}::{outer}"], 1.0) if outer else {})

    def _by_words(self, one: str) -> Mapping[str, float]:
        wanted, _ = read_query(f"{self._shop.functions[one].name} {self._shop.says[one]}").wanted()
        return {found.key: found.score for found in self._words.search(wanted, loose=True)}


def in_order(scores: Mapping[str, float], at: str) -> list[str]:
    def dice(note: str) -> str:
        return hashlib.sha256(f"{at} {note}".encode()).hexdigest()

    return sorted(scores, key=lambda note: (-scores[note], dice(note)))


def recalled(stage: Stage, one: str) -> list[str]:
    """As the product says it."""
    file, position = stage.place(one)
    view = stage.workspace.recall.recall(RecallRequest(file=file, position=position, limit=100), NOW)
    return [found.view.memory.id for found in view.memories]


# -- how good an order is ---


def mrr(orders: Orders, wanted: Mapping[str, Mapping[str, str]]) -> float:
    """Mean reciprocal rank of the first wanted note."""
    total = 0.0
    for one, order in orders.items():
        total += next((1 / place for place, note in enumerate(order, 1) if note in wanted[one]), 0.0)
    return total / len(orders)


def precision(orders: Orders, wanted: Mapping[str, Mapping[str, str]], most: int = 3) -> float:
    """Share of wanted notes among the first three places."""
    return sum(note in wanted[one] for one, order in orders.items() for note in order[:most]) / (
        most * len(orders)
    )


def found_by_kind(stage: Stage, orders: Orders) -> dict[str, tuple[int, int]]:
    """{kind: (pairs among the first three, pairs)}."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one, order in orders.items():
        for note, kind in stage.wanted[one].items():
            counts[kind][0] += note in order[:3]
            counts[kind][1] += 1
    return {kind: (found, every) for kind, (found, every) in counts.items()}


def hovered(stage: Stage) -> dict[str, list[str]]:
    """What a hover shows at each function, one function after another."""
    workspace = stage.workspace
    for file in dict.fromkeys(one.file for one in stage.shop.functions.values()):
        workspace.open_document(file, "python", (workspace.layout.top / file).read_text("utf-8"))
    shown = {}
    for one in stage.shop.functions:
        view = workspace.hovers.at(*stage.place(one), NOW)
        shown[one] = [item.memory_id for item in view.items] if view is not None else []
    return shown


# -- tuning ---

CHOICES: Final[Mapping[str, Sequence[float]]] = {
    "calls": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "caller": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "class_": (0.5, 0.6, 0.7, 0.8, 0.9),
    "base": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "file": (0.2, 0.3, 0.4, 0.5, 0.6),
    "with_": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "fan_out": (0.0, 0.125, 0.25, 0.375, 0.5),
    "fan_in": (0.25, 0.375, 0.5, 0.625, 0.75),
}
"""What is tried for each factor. `inside` and `import_` matter at classes and files, which have no labels."""


def tune(seeds: Sequence[int], turns: int = 2) -> None:
    """Tries one factor after another on the half that is tuned on, and says what each choice is good for."""
    with staged(seeds) as stages:
        joints = [stage.workspace.focus.activation for stage in stages]
        best = joints[0].factors
        for _ in range(turns):
            for name, choices in CHOICES.items():
                worth = {}
                for choice in choices:
                    for joint in joints:
                        joint.factors = best._replace(**{name: choice})
                    worth[choice] = _worth(stages)
                    print(
                        f"{name:8} {choice:5} ",
                        "  ".join(f"{value:.3f}" for value in worth[choice]),
                        flush=True,
                    )
                now = getattr(best, name)
                chosen = max(choices, key=lambda one: (worth[one][0], one == now))
                best = best._replace(**{name: chosen})
                print(f"  {name} = {chosen}")
    print(best)


def _worth(stages: Sequence[Stage]) -> tuple[float, ...]:
    """What is to be as high as can be, then what it is the sum of.

    MRR; precision@3; what hovers show, as the harmonic mean of the share of it that is wanted and the share
    that it is of what could be shown of the wanted; and, taken off five times, the share of quiet functions
    where anything is shown, above 1%.
    """
    rows, shown_at, right, could, loud, quiet = [], 0, 0, 0, 0, 0
    for stage in stages:
        functions = stage.functions(TUNED_ON)
        orders = {one: recalled(stage, one) for one in functions}
        rows.append((mrr(orders, stage.wanted), precision(orders, stage.wanted)))
        inside = {one.id for one in stage.shop.functions.values() if one.area in TUNED_ON}
        shown = {one: notes for one, notes in hovered(stage).items() if one in inside}
        shown_at += sum(map(len, shown.values()))
        right += sum(note in stage.wanted.get(one, ()) for one, notes in shown.items() for note in notes)
        could += sum(min(len(stage.wanted[one]), 3) for one in functions)
        silent = [one for one in stage.shop.quiet if one in shown]
        quiet += len(silent)
        loud += sum(bool(shown[one]) for one in silent)
    first, three = (math.fsum(row) / len(rows) for row in zip(*rows, strict=True))
    hover = 2 * right / max(shown_at + could, 1)
    noise = loud / quiet
    return first + three + hover - 5 * max(noise - 0.01, 0), first, three, hover, noise


# -- figures ---


def measure(seeds: Sequence[int] = SEEDS) -> list[Figure]:
    """Each figure is the mean over the seeds' shops."""
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    hover = [0, 0]
    quiet = [0, 0]
    unwanted = [0, 0]
    with staged(seeds) as stages:
        for stage in stages:
            functions = stage.functions(REPORTED)
            say(
                f"{len(stage.shop.functions)} functions, {len(stage.ids)} notes, "
                f"{sum(map(len, stage.wanted.values()))} pairs, {len(stage.shop.quiet)} quiet functions"
            )
            signals = Signals(stage)
            every = {
                name: {one: in_order(score(one), one) for one in functions}
                for name, score in (signals.all() | {BOTH: signals.own_then_calls}).items()
            }
            ranked = {one: recalled(stage, one) for one in functions}
            for name, orders in {**every, "the rank": ranked}.items():
                rows[name].append((mrr(orders, stage.wanted), precision(orders, stage.wanted)))
            for kind, (found, pairs) in found_by_kind(stage, ranked).items():
                kinds[kind][0] += found
                kinds[kind][1] += pairs
            shown = hovered(stage)
            untuned = {one for one in shown if stage.shop.functions[one].area in REPORTED}
            for one in untuned:
                hover[0] += sum(note in stage.wanted.get(one, ()) for note in shown[one])
                hover[1] += len(shown[one])
            for counts, those in ((quiet, stage.shop.quiet), (unwanted, stage.shop.unwanted)):
                counts[0] += sum(bool(shown[one]) for one in those if one in untuned)
                counts[1] += sum(one in untuned for one in those)
    return _figures(rows, kinds, hover, quiet, unwanted)


def _figures(
    rows: Mapping[str, Sequence[tuple[float, float]]],
    kinds: Mapping[str, Sequence[int]],
    hover: Sequence[int],
    quiet: Sequence[int],
    unwanted: Sequence[int],
) -> list[Figure]:
    means = {
        name: [math.fsum(row) / len(row) for row in zip(*found, strict=True)] for name, found in rows.items()
    }
    rank_mrr, rank_precision = means.pop("the rank")
    best = max(value for name, (value, _) in means.items() if name != BOTH)
    found = [
        Figure(SUBJECT, f"MRR: {name}", "", value, note=f"precision@3 {three:.2f}")
        for name, (value, three) in means.items()
    ]
    found.append(Figure(SUBJECT, "MRR: the rank", "", rank_mrr, note=f"precision@3 {rank_precision:.2f}"))
    # A figure is met where it is at most its target: so it is said how much is missing.
    lead = rank_mrr - best
    found.append(
        Figure(
            SUBJECT,
            "lead over the best signal, missing",
            "",
            max(ABOVE - lead, 0.0),
            target=1e-9,
            note=f"{lead:.2f}",
        )
    )
    for name, counts, target in (
        ("quiet functions where a hover shows something", quiet, QUIET),
        ("others where no note is wanted and a hover shows one", unwanted, None),
    ):
        of = f"{counts[0]} of {counts[1]}"
        found.append(Figure(SUBJECT, name, "%", 100 * counts[0] / counts[1], target=target, note=of))
    note = f"{hover[0]} of {hover[1]}"
    found.append(Figure(SUBJECT, "wanted among what hovers show", "%", 100 * hover[0] / hover[1], note=note))
    for kind, (one, pairs) in sorted(kinds.items()):
        name = f"pairs among the first three: {kind}"
        found.append(Figure(SUBJECT, name, "%", 100 * one / pairs, note=f"{one} of {pairs}"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure whether what is shown is wanted.")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--tune", action="store_true", help="try other factors on the other half")
    given = parser.parse_args()
    if given.tune:
        tune(given.seeds)
        return 0
    show(measure(given.seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Do notes survive what developers do to code? The tracker against truths that are not its own.

    python tests/bench/survival.py [--quick] [--repo PATH]… [--steps N] [--releases] [--show]

Always: refactorings made of real functions (`survival_made`), and the time that matching takes. With `--repo`
(or TRACK_REPO, several joined with the path separator): replays of those repositories (`survival_history`),
and refactorings of their functions. With `--releases`: releases from the registries. What it prints:

- pairs: what is proven; right: found there; asked: of these, those that the user would have to confirm;
- wrong: carried to another place; lost: not carried;
- "same key": the function still has its file and name, and is not counted in "all that moved";
- "taken": its text went over another function that was there and still is: one to one, the note can't follow;
- unproven: what was carried though nothing proves it. Of these, "theirs" went to a function that is proven
  to be another's, "strange" have no line in common with it; "silently": these without a question.
"""

import argparse
import json
import os
import random
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import survival_releases
from survival_history import Step, repository
from survival_made import KINDS, MOST_FILES, Corpus, run

from mnemolens.codegraph.track import SURE, Known, track
from mnemolens.core.symbols import FUNCTION_KINDS, SymbolKey

REPOSITORY = Path(__file__).resolve().parents[2]
MOVED = "all that moved"
TARGETS = {
    "rename": 0.99,
    "move": 0.99,
    "move to file": 0.99,
    "rename +30%": 0.88,
    "move to file +30%": 0.90,
    "delete": 1.0,
    "replaced": 0.995,
    MOVED: 0.99,
}
EXTENSIONS = (".py", ".ts", ".go")
LEAST_FILES = 45
"""Of a language, to make trees of that are not all alike."""

Rows = dict[str, Counter[str]]


def kind_of(old: SymbolKey, new: SymbolKey) -> str:
    """What became of a function, by its two keys."""
    if old == new:
        return "same key"
    if old.file != new.file:
        return "to file" if old.name == new.name else "to file, renamed"
    if old.qualname == new.qualname:
        return "ordinal"
    if old.qualname.rpartition(".")[0] == new.qualname.rpartition(".")[0]:
        return "renamed"
    return "in file" if old.name == new.name else "in file, renamed"


def judge(steps: Iterable[tuple[str, Step]], *, show: bool) -> Rows:
    """{kind: counts} of what the tracker makes of proven pairs."""
    rows: Rows = defaultdict(Counter)
    for name, step in steps:
        found = {match.old: match for match in track(step.old, step.new) if match.old is not None}
        successors = {new: old for old, new in step.pairs.items()}
        functions = {known.key for known in step.old if known.kind in FUNCTION_KINDS}
        for old, new in step.pairs.items():
            match = found[old]
            kind = kind_of(old, new)
            if old != new and new in found and found[new].new == new:
                kind = "taken"
            said = "right" if match.new == new else "lost" if match.new is None else "wrong"
            for row in (kind,) if kind in {"same key", "taken"} else (kind, MOVED):
                rows[row].update(
                    ("pairs", said, *(["asked"] if said == "right" and match.score < SURE else ()))
                )
            if show and said != "right" and kind != "taken":
                print(
                    name, said, kind, old.id, new.id, "GOT", match.new and match.new.id, round(match.score, 2)
                )
        for old, match in found.items():
            if old in functions - step.pairs.keys() and match.new not in {None, old}:
                strange = (old, match.new) not in step.shared
                theirs = match.new in successors
                silent = match.sure and (strange or theirs)
                says = (("theirs", theirs), ("strange", strange), ("silently", silent))
                rows["unproven"].update(["carried", *(said for said, so in says if so)])
    return rows


def made(folders: list[Path], extension: str, count: int, seed: int, *, quick: bool) -> Rows:
    """{kind: counts} of refactorings of real functions."""
    rng = random.Random(seed)
    rows: Rows = {kind: Counter() for kind in KINDS}
    corpus = Corpus(folders, extension, rng, 80 if quick else MOST_FILES)
    if len(corpus.files) < LEAST_FILES:
        return {}
    counts = {kind: count * (5 if kind == "replaced" else 1) for kind in KINDS}
    for case, match in run(corpus, counts, rng):
        said = "right" if match.new == case.new else "lost" if match.new is None else "wrong"
        asked = ["asked"] if match.new is not None and match.score < SURE else []
        rows[case.kind].update(["pairs", said, *asked])
    return rows


def speed(count: int = 10_000) -> dict[str, float]:
    """Seconds of processor time to match so many functions, their 3-grams being at hand."""
    rng = random.Random(1)
    common = [rng.getrandbits(32) for _ in range(300)]
    texts = [
        frozenset([*(rng.getrandbits(32) for _ in range(50)), *rng.sample(common, 30)]) for _ in range(count)
    ]

    def known(file: str, name: str, text: frozenset[int]) -> Known:
        mark = f"{hash(text):x}"
        return Known(SymbolKey(file, name), "function", mark, mark, 80, "def f(a)", grams=lambda: text)

    def edited(text: frozenset[int]) -> frozenset[int]:
        return frozenset([*rng.sample(sorted(text), 55), *(rng.getrandbits(32) for _ in range(25))])

    old = [known(f"f{n // 100}.py", f"f{n}", text) for n, text in enumerate(texts)]
    taken = {}
    for what, edits, renames, moves in (
        ("a busy checkout", 0.2, 0.1, 0.1),
        ("all renamed", 0, 1, 0),
        ("all edited, renamed and moved", 1, 1, 1),
    ):
        new = [
            known(
                f"n{rng.randrange(100)}.py" if rng.random() < moves else f"f{n // 100}.py",
                f"g{n}" if rng.random() < renames else f"f{n}",
                edited(text) if rng.random() < edits else text,
            )
            for n, text in enumerate(texts)
        ]
        begun = time.process_time()
        track(old, new)
        taken[what] = time.process_time() - begun
    return taken


def show(title: str, rows: Rows) -> bool:
    """Print a table; False where a target is missed."""
    print(f"\n{title}")
    print(f"  {'':22}{'pairs':>8}{'right':>8}{'asked':>8}{'wrong':>8}{'lost':>8}{'recall':>9}")
    fine = True
    for kind, row in sorted(rows.items(), key=lambda item: (item[0] == MOVED, item[0])):
        if kind == "unproven":
            said = ", ".join(f"{row[word]} {word}" for word in ("carried", "theirs", "strange", "silently"))
            print(f"  {kind:22}{said}")
            continue
        pairs, right = row["pairs"], row["right"]
        recall = right / pairs if pairs else 1.0
        target = TARGETS.get(kind)
        verdict = "" if target is None else "  met" if recall >= target else f"  MISSED {target}"
        fine &= target is None or recall >= target
        cells = "".join(f"{row[word]:>8}" for word in ("pairs", "right", "asked", "wrong", "lost"))
        print(f"  {kind:22}{cells}{recall:>9.4f}{verdict}")
    return fine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="few cases")
    parser.add_argument("--repo", action="append", type=Path, default=[], help="a repository to replay")
    parser.add_argument("--steps", type=int, default=120, help="into how many steps its history is cut")
    parser.add_argument("--releases", action="store_true", help="releases from the registries, too")
    parser.add_argument("--no-made", action="store_true", help="no refactorings")
    parser.add_argument("--cases", type=int, help="refactorings of each kind")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="name what was not right")
    parser.add_argument("--json", type=Path, default=REPOSITORY / "build" / "survival.json")
    given = parser.parse_args()
    repositories = [*given.repo, *map(Path, filter(None, os.environ.get("TRACK_REPO", "").split(os.pathsep)))]
    tables: dict[str, Rows] = {}
    for path in repositories:
        with repository(path) as found:
            tables[f"history of {path.name}"] = judge(found.steps(given.steps), show=given.show)
    if given.releases:
        with TemporaryDirectory() as scratch:
            tables["releases"] = judge(survival_releases.steps(Path(scratch)), show=given.show)
    if not given.no_made:
        own = [Path(sysconfig.get_path("stdlib")), REPOSITORY / "vscode-extension" / "src"]
        count = given.cases or (5 if given.quick else 200)
        for extension in EXTENSIONS:
            rows = made(repositories or own, extension, count, given.seed, quick=given.quick)
            if rows:
                tables[f"refactorings, {extension}"] = rows
    fine = not [title for title, rows in tables.items() if not show(title, rows)]
    taken = speed()
    print("\n10,000 old against 10,000 new functions, seconds (target 2)")
    for what, seconds in taken.items():
        print(f"  {what:32}{seconds:6.2f}")
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({"tables": tables, "seconds": taken}, indent=1), encoding="utf-8")
    return 0 if (fine or given.quick) and max(taken.values()) < 2 * 3 else 1


if __name__ == "__main__":
    sys.exit(main())

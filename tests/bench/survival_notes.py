"""Do notes survive in a running workspace? Real notes on real code, which another program then changes.

    python tests/bench/survival_notes.py --repo PATH [--steps N] [--notes N] [--restart] [--format COMMAND]…

Without `--format`: steps of a repository's history in which functions moved. Notes are put on functions of
the older tree, the newer one is checked out, and where each note is then is compared with what lines prove
(`survival_history`); with `--restart` no server runs meanwhile. Then the older tree is checked out again.

With it: notes are put on the functions of the newest tree, or that of `--revision`, and each command, as
`black -q .`, is run in its folder, one after the other.

It prints: right, lost, wrong, of those that kept their key and those that moved; asked: of the right ones,
those that the user would have to confirm; not back: those that are not where they were when all is as it was;
of a formatter the verdicts, and the notes that are elsewhere.
"""

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

from survival_history import Repository, Step, repository  # noqa: E402

from folders import Folder  # noqa: E402  (the tests' folder has to be on the path)
from mnemolens.codegraph.languages import language_of  # noqa: E402
from mnemolens.core.symbols import FUNCTION_KINDS, SymbolKey  # noqa: E402
from mnemolens.engine.requests import CaptureRequest  # noqa: E402

SEED = 7
LEAST_MOVED = 2
CUT = 100
"""Steps that a history is cut into, as `survival.py --steps 100` does it."""

Places = dict[str, tuple[str | None, str]]
"""{memory: (where it is, its verdict)}."""


class Notes:
    """A folder with one tree of a repository in it, and notes on its functions.

    Attributes:
        on: {memory: the function that it was put on}.
    """

    def __init__(self, found: Repository, root: Path, revision: str) -> None:
        self._found = found
        self._tree: dict[str, str] = {}
        self.root = root
        root.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        self.check_out(revision)
        self.folder = Folder(root)
        self.on: dict[str, SymbolKey] = {}

    def check_out(self, revision: str) -> list[Path]:
        """Puts another tree's code there; the paths that this changes."""
        tree = self._found.code_at(revision)
        changed = [path for path in self._tree.keys() | tree.keys() if self._tree.get(path) != tree.get(path)]
        for path in changed:
            file = self.root / path
            if path not in tree:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._found.blob(tree[path]))
        self._tree = tree
        return [self.root / path for path in changed]

    def put(self, keys: Iterable[SymbolKey]) -> None:
        """Puts a note on each of these functions."""
        for key in keys:
            if self.folder.workspace.code.kind(key) is None:
                continue
            at = self.folder.workspace.code.name_range(key).start
            request = CaptureRequest(f"what to know, number {len(self.on)}", file=key.file, position=at)
            memory = self.folder.commit(self.folder.workspace.writing.capture(request, self.folder.now))
            self.on[memory.view.memory.id] = key
        self.settle()
        here = self.places()
        self.on = {memory: key for memory, key in self.on.items() if here[memory][0] == key.id}

    def tell(self, changed: list[Path]) -> None:
        """Another program changed these files."""
        self.folder.run(self.folder.workspace.files_changed(changed))
        self.settle()

    def settle(self) -> None:
        """Lets the text become quiet."""
        for _ in range(2):
            self.folder.pass_time(3)

    def places(self) -> Places:
        """Where each note is."""
        details = {one: self.folder.workspace.show.detail(one, self.folder.now) for one in self.on}
        first = {one: detail.anchors[0] for one, detail in details.items()}
        return {one: (anchor.at.id if anchor.at else None, anchor.verdict) for one, anchor in first.items()}


def judge(notes: Notes, step: Step, there: Places) -> Counter[str]:
    """Counts of what became of notes on functions of which that is proven."""
    counts: Counter[str] = Counter()
    for memory, key in notes.on.items():
        at, verdict = there[memory]
        new = step.pairs.get(key)
        if new is None or key in step.twins:
            continue
        said = "right" if at == new.id else "lost" if at is None else "wrong"
        counts[f"{'kept' if new == key else 'moved'}, {said}"] += 1
        counts["asked"] += said == "right" and verdict == "moved"
        if said == "wrong" or (said == "lost" and new != key):
            print(f"  {said} {key.id} -> {new.id} GOT {at} {verdict}")
    return counts


def replay(found: Repository, scratch: Path, given: argparse.Namespace) -> Counter[str]:
    """Counts over so many steps of a history."""
    rng = random.Random(SEED)
    commits = found.commits()
    width = max(1, len(commits) // CUT)
    steps = list(zip(commits[::width], commits[width::width], strict=False))
    rng.shuffle(steps)
    counts: Counter[str] = Counter()
    for old, new in steps:
        if counts["steps"] == given.steps:
            break
        step = found.step(old, new)
        moved = [a for a, b in step.pairs.items() if a != b] if step is not None else []
        if step is None or len(moved) < LEAST_MOVED:
            continue
        counts["steps"] += 1
        notes = Notes(found, scratch / old, old)
        others = sorted(step.pairs.keys() - set(moved))
        notes.put([*moved[: given.notes], *rng.sample(others, min(len(others), given.notes))])
        before = notes.places()
        if given.restart:
            notes.folder.close()
            notes.check_out(new)
            notes.folder.workspace = notes.folder.start()
            notes.settle()
        else:
            notes.tell(notes.check_out(new))
        counts += judge(notes, step, notes.places())
        notes.tell(notes.check_out(old))
        after = notes.places()
        counts["not back"] += sum(after[memory] != before[memory] for memory in notes.on)
        counts["notes"] += len(notes.on)
        notes.folder.close()
    return counts


def formatted(found: Repository, scratch: Path, given: argparse.Namespace) -> None:
    """Prints what formatters do to notes."""
    notes = Notes(found, scratch / "tree", given.revision)
    index = notes.folder.workspace.code.index
    keys = [key for file in sorted(index.files()) for key in sorted(index.keys_of(file))]
    functions = [key for key in keys if notes.folder.workspace.code.kind(key) in FUNCTION_KINDS]
    notes.put(random.Random(SEED).sample(functions, min(len(functions), given.notes)))
    for command in given.format:
        subprocess.run(command, shell=True, cwd=notes.root, check=False)
        notes.tell([path for path in notes.root.rglob("*") if language_of(path.name) is not None])
        there = notes.places()
        verdicts = dict(Counter(verdict for _, verdict in there.values()))
        elsewhere = sum(there[memory][0] != key.id for memory, key in notes.on.items())
        print(f"{command}: {verdicts}, {elsewhere} elsewhere")
        for memory, key in notes.on.items():
            if there[memory] != (key.id, "fresh"):
                print("  ", key.id, *there[memory])
    notes.folder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repo", type=Path, required=True, help="a repository; may be bare")
    parser.add_argument("--steps", type=int, default=5, help="steps of its history in which functions moved")
    parser.add_argument("--notes", type=int, default=100, help="at most, of a sort and step")
    parser.add_argument("--restart", action="store_true", help="no server runs while the code changes")
    parser.add_argument("--format", action="append", default=[], help="a command to run instead")
    parser.add_argument("--revision", default="HEAD", help="the tree to format")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        os.environ |= {"MNEMOLENS_CACHE_DIR": f"{scratch}/cache", "MNEMOLENS_DATA_DIR": f"{scratch}/data"}
        with repository(given.repo, REPOSITORY / "build" / "survival") as found:
            if given.format:
                formatted(found, Path(scratch), given)
            else:
                counts = replay(found, Path(scratch), given)
                print(found.name, ", ".join(f"{what}: {count}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()

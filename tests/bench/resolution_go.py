"""Precision and recall of call resolution in Go against Go's own type checker.

Usage: python tests/bench/resolution_go.py TREE FOLDER… [--wrong]   (packages in the tree; needs Go)
Truth: what `golang/calls.go` says of the calls in these packages whose targets lie in the tree. An answer
where the checker goes outside the tree counts as wrong; where it names no declaration, it counts neither way.
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import resolve
from mnemolens.core.symbols import Position


def read(tree):
    """The index of a tree, commands and test data left out, and where each name of a symbol stands."""
    index, lines = CodeIndex(), {}
    for path in sorted([*tree.rglob("*.go"), *tree.rglob("go.mod")]):
        if not {"testdata", "cmd"} & set(path.relative_to(tree).parts):
            file = path.relative_to(tree).as_posix()
            symbols = extract(path.read_bytes(), language_of(file))
            index.put(file, symbols)
            for at, place in enumerate(symbols.ranges):
                lines[file, place.name.start.line] = index.key_at(file, at)
    return index, lines


def main(tree, folders, *, show):
    """Print the figures, a package and in all."""
    index, lines = read(tree)
    program = pathlib.Path(__file__).parent / "golang" / "calls.go"
    total = collections.Counter()
    for folder in folders:
        done = subprocess.run(["go", "run", program, folder], capture_output=True, check=True)
        documents, counts = {}, collections.Counter()
        for said in done.stdout.splitlines():
            path, line, column, target, target_line = json.loads(said)
            target = pathlib.Path(target).resolve()
            file = pathlib.Path(path).relative_to(tree).as_posix()
            if file not in documents:
                document = documents[file] = Document(pathlib.Path(path).read_bytes(), language_of(file))
                while document.pending:
                    document.parse_slice(1000)
            document = documents[file]
            there = target.relative_to(tree).as_posix() if target.is_relative_to(tree) else ""
            key = lines.get((there, target_line - 1))
            reference = document.reference_at(Position(line - 1, column - 1))
            found = resolve(index, file, reference) if reference else None
            if key is None:
                word = "outside" if found else ""
            else:
                word = "missed" if found is None else "right" if found.key == key else "wrong"
            counts[word] += 1
            if show and word in {"wrong", "outside", "missed"}:
                text = document.text.line(line - 1).decode().strip()[:90]
                print(word, f"{file}:{line}", text, "|", found and found.key.id, "|", key and key.id)
        total += counts
        print(f"{folder}: {figures(counts)}")
    print(f"all: {figures(total)}")


def figures(counts):
    """Counts in words."""
    sites = counts["right"] + counts["wrong"] + counts["missed"]
    answers = counts["right"] + counts["wrong"] + counts["outside"]
    return (
        f"{sites} sites, precision {counts['right'] / max(1, answers):.3f}, "
        f"recall {counts['right'] / max(1, sites):.3f}"
    )


if __name__ == "__main__":
    named = [pathlib.Path(argument).resolve() for argument in sys.argv[1:] if not argument.startswith("--")]
    if shutil.which("go") is None:
        print("left out, there is no Go on this machine")
    else:
        main(named[0], named[1:], show="--wrong" in sys.argv)

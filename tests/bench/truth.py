"""Precision, recall and end lines of extracted definitions, against each language's own parser.

Usage: python tests/bench/truth.py [FOLDER…] [--differences]   (default: Python's whole standard library)
A folder's language is the one that has the most files there. Python is read by `ast`; TypeScript and
JavaScript by the TypeScript compiler, which needs node and the extension's packages (or NODE_PATH naming
others); Go by `go/ast` (`golang/definitions.go`), which needs Go; Ruby by Ruby's own parser; Kotlin by kopyt
(`pip install kopyt`), which tells no last lines. For all other languages see `ctags.py`.
"""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "codegraph"))

from definitions_kotlin import kotlin_definitions
from test_truth import PACKAGES, TRUTH, folded, ours, python_definitions

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of


def python_pairs(folder):
    """(path, ours, theirs, whole) of each Python file; definitions with their last lines."""
    for path in sorted(folder.rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        source = path.read_bytes()
        try:
            truth = python_definitions(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        symbols = extract(source.removeprefix(b"\xef\xbb\xbf"), language_of(path.name))
        mine = [
            (s.qualname, s.kind, s.is_async, r.definition.start.line + 1, r.definition.end.line + 1)
            for s, r in zip(symbols.symbols, symbols.ranges, strict=True)
        ]
        yield path, mine, truth, not symbols.partial


def compiled_pairs(folder):
    """As `python_pairs`, for TypeScript and JavaScript."""
    paths = [
        p for p in sorted(folder.rglob("*")) if p.suffix in {".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"}
    ]
    paths = [p for p in paths if p.is_file() and not p.name.endswith(".d.ts")]
    for at in range(0, len(paths), 200):
        files = [str(p) for p in paths[at : at + 200]]
        done = subprocess.run(
            ["node", str(TRUTH / "definitions.cjs"), *files],
            env={"NODE_PATH": str(PACKAGES), **os.environ},
            capture_output=True,
            check=True,
        )
        for file, truth in json.loads(done.stdout).items():
            if truth is not None:
                symbols, mine = ours(pathlib.Path(file))
                yield file, mine, folded(truth), not symbols.partial


def go_pairs(folder):
    """As `python_pairs`, for Go."""
    program = pathlib.Path(__file__).parent / "golang" / "definitions.go"
    done = subprocess.run(["go", "run", str(program), str(folder)], capture_output=True, check=True)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        symbols, mine = ours(pathlib.Path(answer["file"]))
        yield answer["file"], mine, [tuple(d) for d in answer["definitions"] or ()], not symbols.partial


def ruby_pairs(folder):
    """As `python_pairs`, for Ruby."""
    paths = [str(path) for path in sorted(folder.rglob("*.rb")) if path.is_file()]
    for at in range(0, len(paths), 200):
        program = ["ruby", str(TRUTH / "definitions.rb"), *paths[at : at + 200]]
        done = subprocess.run(program, capture_output=True, check=True)
        for file, truth in json.loads(done.stdout).items():
            if truth is not None:
                symbols, mine = ours(pathlib.Path(file))
                yield file, mine, [tuple(d) for d in truth], not symbols.partial


def kotlin_pairs(folder):
    """As `python_pairs`, for Kotlin."""
    for path in sorted([*folder.rglob("*.kt"), *folder.rglob("*.kts")]):
        truth = kotlin_definitions(path)
        if truth is not None:
            symbols = extract(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), language_of(path.name))
            mine = [
                (s.qualname.replace("`", ""), s.kind, r.name.start.line + 1, 0)
                for s, r in zip(symbols.symbols, symbols.ranges, strict=True)
            ]
            yield path, mine, truth, not symbols.partial


READERS = {
    ".rb": ruby_pairs,
    ".kt": kotlin_pairs,
    ".kts": kotlin_pairs,
    ".py": python_pairs,
    ".go": go_pairs,
    ".ts": compiled_pairs,
    ".tsx": compiled_pairs,
    ".js": compiled_pairs,
}


def measure(folder, *, differences):
    """Counts of cleanly parsed files and of the others."""
    endings = Counter(path.suffix for path in folder.rglob("*") if path.suffix in READERS)
    counts = {True: Counter(), False: Counter()}
    if not endings:
        print(f"{folder}: no files of a language that is measured here")
        return counts
    for path, mine, truth, whole in READERS[endings.most_common(1)[0][0]](folder):
        a, b = Counter(d[:-1] for d in mine), Counter(d[:-1] for d in truth)
        counts[whole] += Counter(
            files=1,
            found=a.total(),
            expected=b.total(),
            right=(a & b).total(),
            ends=(Counter(mine) & Counter(truth)).total(),
        )
        if differences and a != b:
            print(f"{path}: {'clean' if whole else 'broken'}")
            for sign, more in (("-", b - a), ("+", a - b)):
                for definition in list(more)[:5]:
                    print("   ", sign, *definition)
    return counts


def main(folders, *, differences):
    """Print the figures, a folder and in all."""
    total = Counter()
    for folder in folders:
        counts = measure(folder, differences=differences)
        total += counts[True] + counts[False]
        for whole, c in counts.items():
            if c["expected"]:
                print(f"{folder}: {'clean' if whole else 'broken'} trees: {figures(c)}")
    print(f"all: {figures(total)}")


def figures(c):
    """Counts in words."""
    return (
        f"{c['files']} files, {c['expected']} definitions, precision {c['right'] / max(1, c['found']):.4f}, "
        f"recall {c['right'] / max(1, c['expected']):.4f}, end lines {c['ends'] / max(1, c['right']):.4f}"
    )


if __name__ == "__main__":
    named = [pathlib.Path(argument) for argument in sys.argv[1:] if not argument.startswith("--")]
    main(named or [pathlib.Path(sysconfig.get_path("stdlib"))], differences="--differences" in sys.argv)

"""Precision, recall and end lines of extracted definitions, against `ast` or the TypeScript compiler.

Usage: python tests/bench/truth.py [FOLDER]   (default: the whole standard library)
A folder of TypeScript or JavaScript needs node, and NODE_PATH naming a folder with the typescript package.
"""

import json
import pathlib
import subprocess
import sys
import sysconfig
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "codegraph"))

from test_truth import TRUTH, folded, ours, python_definitions

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
            ["node", str(TRUTH / "definitions.cjs"), *files], capture_output=True, check=True
        )
        for file, truth in json.loads(done.stdout).items():
            if truth is not None:
                symbols, mine = ours(pathlib.Path(file))
                yield file, mine, folded(truth), not symbols.partial


def main(folder):
    """Print the figures, of cleanly parsed files and of the others."""
    any_python = next(folder.rglob("*.py"), None) is not None
    counts = {True: Counter(), False: Counter()}
    for path, mine, truth, whole in (python_pairs if any_python else compiled_pairs)(folder):
        a, b = Counter(d[:-1] for d in mine), Counter(d[:-1] for d in truth)
        common = (a & b).total()
        counts[whole] += Counter(
            files=1,
            found=a.total(),
            expected=b.total(),
            right=common,
            ends=(Counter(mine) & Counter(truth)).total(),
        )
        if whole and common != b.total():
            print("differs:", path)
    for whole, c in counts.items():
        if c["expected"]:
            print(
                f"{'clean' if whole else 'broken'} trees: {c['files']} files, {c['expected']} definitions, "
                f"precision {c['right'] / max(1, c['found']):.4f}, recall {c['right'] / c['expected']:.4f}, "
                f"end lines {c['ends'] / max(1, c['right']):.4f}"
            )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("stdlib")))

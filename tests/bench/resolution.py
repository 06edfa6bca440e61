"""Precision and recall of call resolution against jedi, on a real package.

Usage: python tests/bench/resolution.py FOLDER [--wrong] [--seconds=N]   (the latter: a sample of its files)
Needs jedi, which is no dependency of the project: install it in a folder of its own, named in PYTHONPATH.

Truth: the call sites (found with `ast`) that jedi takes to a function or class of the package. An answer
where jedi goes outside the package counts as wrong; where jedi says nothing, it counts neither way.
"""

import ast
import collections
import pathlib
import random
import sys
from time import perf_counter

import jedi

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import resolve
from mnemolens.core.symbols import Position


def call_sites(source):
    """(line 0-based, column in UTF-8 bytes) of each called name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.lineno - 1, function.col_offset
            elif isinstance(function, ast.Attribute):
                yield function.end_lineno - 1, function.end_col_offset - len(function.attr.encode())


def read(root):
    """The index and the open documents of a folder."""
    index, documents = CodeIndex(), {}
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root).as_posix()
        documents[file] = document = Document(path.read_text("utf-8"), language_of(file))
        while document.pending:
            document.parse_slice(1000)
        index.put(file, document.symbols)
    return index, documents


class Truth:
    """What jedi says, in our keys."""

    def __init__(self, root, index, documents):
        self.root, self.project = root, jedi.Project(str(root))
        self.by_line = {
            (file, r.name.start.line): index.key_at(file, at)
            for file, document in documents.items()
            for at, r in enumerate(document.symbols.ranges)
        }
        self.by_full_name = {
            f"{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}.{key.qualname}": key
            for file in documents
            for key in index.keys_of(file)
        }

    def script(self, file, source):
        """jedi's view of one file."""
        return jedi.Script(source, path=self.root / file, project=self.project)

    def at(self, script, line, column):
        """The keys in the package, and whether jedi said anything."""
        try:
            found = script.goto(line + 1, column, follow_imports=True)
        except Exception:  # noqa: BLE001 - jedi fails on some code
            return set(), False
        keys = set()
        for name in found:
            path = name.module_path
            if path and self.root in pathlib.Path(path).parents and name.line:
                where = pathlib.Path(path).relative_to(self.root).as_posix()
                keys.add(self.by_line.get((where, name.line - 1)))
            elif name.full_name in self.by_full_name:  # jedi brings stubs of django
                keys.add(self.by_full_name[name.full_name])
        return {key for key in keys if key}, bool(found)


def verdict(ours, keys, answered):
    """One word for what became of a call site."""
    if keys:
        if ours is None:
            return "missed"
        same = any((k.file, k.qualname) == (ours.key.file, ours.key.qualname) for k in keys)
        return "right" if same else "wrong"
    if ours is None:
        return ""
    return "outside" if answered else "silent"


def main(folder, show, seconds):
    """Print the figures of one folder."""
    root = pathlib.Path(folder).resolve()
    index, documents = read(root)
    truth = Truth(root, index, documents)
    counts, rules = collections.Counter(), collections.Counter()
    started = perf_counter()
    for file in random.Random(3).sample(sorted(documents), len(documents)):
        if perf_counter() - started > seconds:
            break
        document = documents[file]
        source = str(document.text)
        script = truth.script(file, source)
        for line, column in call_sites(source):
            text = document.text.line(line)
            keys, answered = truth.at(script, line, len(text[:column].decode()))
            reference = document.reference_at(Position(line, column))
            ours = resolve(index, file, reference) if reference else None
            word = verdict(ours, keys, answered)
            counts[word] += 1
            if ours:
                rules[ours.confidence, word] += 1
            if show and word in {"wrong", "outside", "missed", "silent"}:
                print(word, f"{file}:{line + 1}", text.decode().strip()[:80], ours and ours.key.id, *keys)
    sites = counts["right"] + counts["wrong"] + counts["missed"]
    answers = counts["right"] + counts["wrong"] + counts["outside"]
    print({f"{rule} {word}": n for (rule, word), n in sorted(rules.items())})
    print(
        f"{root.name}: {sites} in-project sites, precision {counts['right'] / max(1, answers):.3f}, "
        f"recall {counts['right'] / max(1, sites):.3f}"
    )


if __name__ == "__main__":
    limit = [float(a.removeprefix("--seconds=")) for a in sys.argv if a.startswith("--seconds=")]
    main(sys.argv[1], "--wrong" in sys.argv, limit[0] if limit else float("inf"))

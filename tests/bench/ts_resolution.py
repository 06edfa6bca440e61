"""Precision and recall of call resolution against the TypeScript compiler's checker, on a real package.

Usage: python tests/bench/ts_resolution.py FOLDER [--wrong]
Needs node and the extension's packages.

Truth (`ts_calls.mjs`): the call sites that the checker takes to a function or class of the folder. An answer
where the checker knows something else counts as wrong; where it knows nothing, it counts neither way.
"""

import collections
import json
import pathlib
import subprocess
import sys

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import resolve
from mnemolens.core.text import decode_source

HERE = pathlib.Path(__file__).parent
TYPESCRIPT = HERE.parents[1] / "vscode-extension" / "node_modules" / "typescript"


def truth_of(root):
    """What the checker says, by file."""
    command = ["node", "--max-old-space-size=4096", str(HERE / "ts_calls.mjs"), str(TYPESCRIPT), str(root)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def read(root):
    """The index and the open documents of a folder."""
    index, documents = CodeIndex(), {}
    for path in sorted(root.rglob("*")):
        file = path.relative_to(root).as_posix()
        language = language_of(file)
        if language is None or "node_modules" in path.parts or not path.is_file():
            continue
        documents[file] = document = Document(decode_source(path.read_bytes()).data, language)
        while document.pending:
            document.parse_slice(1000)
        index.put(file, document.symbols)
    return index, documents


def verdict(index, ours, answered, targets):
    """One word for what became of a call site."""
    if targets:
        if ours is None:
            return "missed"
        where = ours.key.file, index.range_of(ours.key).name.start.line
        return "right" if list(where) in targets else "wrong"
    if ours is None:
        return ""
    return "outside" if answered else "silent"


def main(folder, *, show):
    """Print the figures of one folder."""
    root = pathlib.Path(folder).resolve()
    truth = truth_of(root)
    index, documents = read(root)
    counts, rules = collections.Counter(), collections.Counter()
    for file, calls in truth.items():
        document = documents[file]
        for line, column, answered, targets in calls:
            reference = document.reference_at(document.text.from_units(line, column, "utf-16"))
            ours = resolve(index, file, reference) if reference else None
            word = verdict(index, ours, answered, targets)
            counts[word] += 1
            if ours:
                rules[ours.confidence, word] += 1
            if show and word in {"wrong", "outside", "missed", "silent"}:
                text = document.text.line(line).decode().strip()[:90]
                print(word, f"{file}:{line + 1}", text, ours and ours.key.id, *targets)
    sites = counts["right"] + counts["wrong"] + counts["missed"]
    answers = counts["right"] + counts["wrong"] + counts["outside"]
    print({f"{rule} {word}": n for (rule, word), n in sorted(rules.items())})
    print(
        f"{root}: {sites} in-project sites, precision {counts['right'] / max(1, answers):.3f}, "
        f"recall {counts['right'] / max(1, sites):.3f}"
    )


if __name__ == "__main__":
    main(sys.argv[1], show="--wrong" in sys.argv)

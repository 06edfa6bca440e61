"""Precision and recall of definitions against universal-ctags, for languages without a better truth here.

Usage: python tests/bench/ctags.py LANGUAGE FOLDER… [--show=N]
LANGUAGE is a name as in `index.languages`. Of ctags's tags those count whose kinds the language's table reads
(`KINDS`), by name and line: their lines are those of the name. Names are compared dotted, and once more by
their last part alone, as ctags leaves out some scopes. It takes much in Kotlin for a method (a lambda's
parameters, for one): there a tag counts if its line has the word that defines. `--show` prints differences.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named

KINDS = {
    "go": ("Go", "fstin", ""),
    "rust": ("Rust", "fPsgitM", "n"),
    "java": ("Java", "cgima", ""),
    "c": ("C", "fsugt", "p"),
    "cpp": ("C++", "cfsugtn", "p"),
    "csharp": ("C#", "cgimsnp", ""),
    "ruby": ("Ruby", "cfmS", ""),
    "php": ("PHP", "cfit", ""),
    "kotlin": ("Kotlin", "ciomT", ""),
}
"""ctags's name of a language, its letters of the kinds that must be found, and of those that may be."""

PACKAGES = {"php": "namespace", "kotlin": "package"}
"""What holds a whole file names nothing in ours, as in Java and Go."""


_KOTLIN = re.compile(r"^[^`]*\b(fun|class|interface|object|typealias)\b[^`]*$")


def tags(language, folder, files, kinds):
    """(file, dotted name, line) of ctags's tags of some kinds."""
    name = KINDS[language][0]
    package = PACKAGES.get(language)
    every = kinds + (package[0] if package else "")
    options = [f"--languages={name}", f"--kinds-{name}={every}", "--fields=+nsKZ"]
    maps = [f"--map-{name}=+{ending}" for ending in language_named(language).extensions]
    done = subprocess.run(
        ["ctags", "--output-format=json", "--quiet", "--sort=no", *options, *maps, "-L", "-"],
        input="\n".join(files).encode(),
        capture_output=True,
        check=True,
        cwd=folder,
    )
    within = {}
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        tag_name, scope = (undotted(text) for text in (tag["name"], tag.get("scope", "")))
        if tag["kind"] == package:
            within[tag["path"]] = tag_name
        elif not re.match("__anon|<", tag_name) and (name != "Kotlin" or _KOTLIN.search(tag["pattern"])):
            scope = ".".join(part for part in scope.split(".") if not re.match("__anon|<|$", part))
            outer = within.get(tag["path"])
            if outer and (scope + ".").startswith(outer + "."):
                scope = scope[len(outer) + 1 :]
            yield tag["path"], f"{scope}.{tag_name}".lstrip("."), tag["line"]


def undotted(name):
    """A name of ctags's as we write it."""
    name = re.sub(r"::|\\", ".", re.sub(r"\s+", " ", name))
    return re.sub(r"operator (?=\W)", "operator", name)


def ours(language, folder, files):
    """(file, dotted name, line of the name) of our symbols."""
    table = language_named(language)
    for file in files:
        source = (folder / file).read_bytes().removeprefix(b"\xef\xbb\xbf")
        symbols = extract(source, table)
        for symbol, place in zip(symbols.symbols, symbols.ranges, strict=True):
            if "`" in symbol.name:
                continue  # ctags can't read names in Kotlin's quotes
            yield file, symbol.qualname.replace("::", "."), place.name.start.line + 1


def last(found):
    """The same with the last part of each name only."""
    return [(file, name.rpartition(".")[2], line) for file, name, line in found]


def main(language, folder, *, show):
    """Print the figures of a tree."""
    endings = language_named(language).extensions
    paths = sorted(path for path in folder.rglob("*") if path.suffix in endings and path.is_file())
    files = [path.relative_to(folder).as_posix() for path in paths]
    mine = list(ours(language, folder, files))
    must = list(tags(language, folder, files, KINDS[language][1]))
    every = list(tags(language, folder, files, "".join(KINDS[language][1:])))
    for words, a, b, c in (
        ("dotted names", Counter(mine), Counter(every), Counter(must)),
        ("last parts", Counter(last(mine)), Counter(last(every)), Counter(last(must))),
    ):
        print(
            f"{folder.name}, {language}: {len(files)} files, {c.total()} tags, {a.total()} symbols, {words}: "
            f"precision {(a & b).total() / max(1, a.total()):.4f}, "
            f"recall {(a & c).total() / max(1, c.total()):.4f}"
        )
        for sign, more in (("-", c - a), ("+", a - b)):
            for item in list(more)[:show]:
                print("   ", sign, *item)


if __name__ == "__main__":
    shown = [int(a.removeprefix("--show=")) for a in sys.argv if a.startswith("--show=")]
    given = [a for a in sys.argv[1:] if not a.startswith("--")]
    if shutil.which("ctags") is None:
        print("left out, there is no universal-ctags on this machine")
    else:
        for tree in given[1:]:
            main(given[0], pathlib.Path(tree).resolve(), show=shown[0] if shown else 0)

"""Extraction against independent parsers: `ast`, the TypeScript compiler, Ruby's own parser, kopyt.

Their answers for the samples are checked in: the compiler's in `tests/data/truth/definitions.json` (made by
`definitions.cjs`), those for Ruby (by `definitions.rb`) and Kotlin (`bench/definitions_kotlin.py`) in
`others.json`. Where the extension's packages are installed they are computed here too, and those for the
extension's own sources.
"""

import ast
import json
import os
import random
import shutil
import subprocess
import sysconfig
import warnings
from collections import Counter
from pathlib import Path

import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "tests" / "data" / "truth"
SAMPLES = TRUTH / "samples"
PACKAGES = ROOT / "vscode-extension" / "node_modules"


def python_definitions(source):
    """(qualname, kind, async, first line, last line) in text order, from `ast`."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _visit(ast.parse(source), [], False, found)
    return sorted(found, key=lambda item: item[3])


def _visit(node, scope, in_class, found):
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        is_class = isinstance(node, ast.ClassDef)
        kind = "class" if is_class else "method" if in_class else "function"
        is_async = isinstance(node, ast.AsyncFunctionDef)
        for decorator in node.decorator_list:
            _visit(decorator, scope, in_class, found)
        children = [child for child in children if child not in node.decorator_list]
        scope, in_class = [*scope, node.name], is_class
        found.append((".".join(scope), kind, is_async, node.lineno, node.end_lineno))
    elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Lambda):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            path = ".".join([*scope, targets[0].id])
            found.append((path, "lambda", False, node.lineno, node.end_lineno))
    for child in children:
        _visit(child, scope, in_class, found)


def standard_library():
    folder = Path(sysconfig.get_path("stdlib"))
    # The tests of Python itself are full of text that no other parser takes; `bench/truth.py` reads them too.
    left_out = {"site-packages", "lib2to3", "test", "tests", "idlelib"}
    files = [p for p in sorted(folder.rglob("*.py")) if not left_out & set(p.parts)]
    return random.Random(7).sample(files, 150)


def test_python_against_ast_on_the_standard_library():
    right = expected = found = ends = skipped = 0
    for path in standard_library():
        source = path.read_bytes()
        try:
            truth = python_definitions(source)
        except (SyntaxError, ValueError, RecursionError):
            skipped += 1
            continue
        symbols = extract(source.removeprefix(b"\xef\xbb\xbf"), language_of("a.py"))
        ours = Counter(
            (s.qualname, s.kind, s.is_async, r.definition.start.line + 1)
            for s, r in zip(symbols.symbols, symbols.ranges, strict=True)
        )
        theirs = Counter(item[:4] for item in truth)
        right += (ours & theirs).total()
        expected += theirs.total()
        found += ours.total()
        lines = {(s.qualname, r.definition.start.line + 1): r.definition.end.line + 1
                 for s, r in zip(symbols.symbols, symbols.ranges, strict=True)}  # fmt: skip
        ends += sum(lines.get((item[0], item[3])) == item[4] for item in truth)
    print(
        f"python: {expected} definitions, precision {right / found:.4f}, recall {right / expected:.4f}, "
        f"end lines {ends / expected:.4f}, {skipped} files skipped"
    )
    assert expected > 2000
    assert right / found >= 0.998
    assert right / expected >= 0.998
    assert ends / expected >= 0.998


def test_ordinals_count_definitions_of_one_name():
    source = b"if x:\n    def f(): pass\nelse:\n    def f(): pass\nclass A:\n    def f(self): pass\n"
    symbols = extract(source, language_of("a.py")).symbols
    assert [(s.qualname, s.ordinal) for s in symbols] == [("f", 0), ("f", 1), ("A", 0), ("A.f", 0)]


def folded(definitions):
    """The compiler's list without overload signatures that an implementation in the same scope follows."""
    kept, scopes = [], {}
    holders = []
    for at, (qualname, *_) in enumerate(definitions):
        path = qualname.rpartition(".")[0]
        while path and path not in scopes:
            path = path.rpartition(".")[0]
        holders.append(scopes.get(path))  # an interface and a class of one name are two scopes
        scopes[qualname] = at
    implemented = set()
    for holder, definition in reversed(list(zip(holders, definitions, strict=True))):
        qualname, kind = definition[:2]
        if kind in {"function", "method"}:
            implemented.add((holder, qualname))
        elif kind in {"overload", "method_sig"} and (holder, qualname) in implemented:
            continue
        kept.append(tuple(definition))
    return kept[::-1]


def ours(path):
    symbols = extract(path.read_bytes(), language_of(path.name))
    return symbols, [
        (s.qualname, s.kind, r.definition.start.line + 1, r.definition.end.line + 1)
        for s, r in zip(symbols.symbols, symbols.ranges, strict=True)
    ]


@pytest.mark.parametrize("name", ["shop.ts", "view.tsx", "old.js", "crlf.jsx"])
def test_samples_against_the_typescript_compiler(name):
    truth = json.loads((TRUTH / "definitions.json").read_text("utf-8"))
    symbols, definitions = ours(SAMPLES / name)
    assert not symbols.partial
    assert definitions == folded(truth[name])


def compiled(files):
    done = subprocess.run(
        ["node", str(TRUTH / "definitions.cjs"), *map(str, files)],
        env=os.environ | {"NODE_PATH": str(PACKAGES)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(
    not (PACKAGES / "typescript").is_dir() or shutil.which("node") is None,
    reason="needs node and the extension's packages",
)
def test_the_compiler_itself():
    samples = sorted(SAMPLES.iterdir())
    sources = [p for p in (ROOT / "vscode-extension").rglob("*.ts") if "node_modules" not in p.parts]
    sources = [p for p in sources if not p.name.endswith(".d.ts")]
    truth = compiled([*samples, *sources])
    checked_in = json.loads((TRUTH / "definitions.json").read_text("utf-8"))
    assert {p.name: truth[str(p)] for p in samples} == checked_in
    right = expected = found = 0
    for path in sources:
        symbols, definitions = ours(path)
        if symbols.partial or truth[str(path)] is None:
            continue
        theirs = Counter(folded([tuple(d) for d in truth[str(path)]]))
        right += (Counter(definitions) & theirs).total()
        expected += theirs.total()
        found += len(definitions)
    print(f"typescript, the extension: {expected} definitions, {found} found, {right} right")
    assert expected > 0
    assert right / found >= 0.99
    assert right / expected >= 0.99


@pytest.mark.parametrize("name", ["ruby/shop.rb", "kotlin/shop.kt"])
def test_samples_against_other_parsers_of_their_languages(name):
    """Of the two only Ruby's own parser tells last lines; `bench/truth.py` reads whole projects by both."""
    truth = json.loads((TRUTH / "others.json").read_text("utf-8"))[Path(name).name]
    symbols, definitions = ours(TRUTH / name)
    starts = [place.name.start.line + 1 for place in symbols.ranges]
    if len(truth[0]) == 3:
        definitions = [
            (d[0].replace("`", ""), d[1], line) for d, line in zip(definitions, starts, strict=True)
        ]
    assert not symbols.partial
    assert definitions == [tuple(definition) for definition in truth]


@pytest.mark.skipif(shutil.which("ruby") is None, reason="needs Ruby")
def test_ruby_itself():
    sample = TRUTH / "ruby" / "shop.rb"
    program = ["ruby", str(TRUTH / "definitions.rb"), str(sample)]
    done = subprocess.run(program, capture_output=True, check=True, timeout=60)
    answer = json.loads(done.stdout)[str(sample)]
    assert answer == json.loads((TRUTH / "others.json").read_text("utf-8"))["shop.rb"]

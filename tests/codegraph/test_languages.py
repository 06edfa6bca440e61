import subprocess
import sys
from pathlib import Path

import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import LANGUAGES, language_named, language_of, setting_of
from mnemolens.core.settings import SETTINGS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "python"),
        ("a/b.pyi", "python"),
        ("A.PY", "python"),
        ("a.ts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.mts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.js", "javascript"),
        ("a.jsx", "javascript"),
        ("a.cjs", "javascript"),
    ],
)
def test_language_by_file_name(path, name):
    assert language_of(path).name == name


@pytest.mark.parametrize("path", ["a.md", "py", ".py", "a.py/b", "Makefile", "", "a.pyc"])
def test_no_language(path):
    assert language_of(path) is None


@pytest.mark.parametrize(
    ("lsp_id", "name"),
    [("python", "python"), ("typescriptreact", "tsx"), ("javascriptreact", "javascript"), ("tsx", "tsx")],
)
def test_language_by_id(lsp_id, name):
    assert language_named(lsp_id).name == name


def test_no_language_by_id():
    assert language_named("markdown") is None


def test_every_rule_names_a_node_type_of_some_grammar():
    for rules in {id(language.rules): language.rules for language in LANGUAGES}.values():
        kinds = set()
        for language in LANGUAGES:
            if language.rules is rules:
                kinds |= {language.ts.node_kind_for_id(k) for k in range(language.ts.node_kind_count)}
        assert set(rules) <= kinds


def test_a_grammar_is_loaded_when_it_is_first_needed():
    code = (
        "import sys; from mnemolens.codegraph.languages import language_of; language_of('a.py');"
        "assert not [m for m in sys.modules if m.startswith('tree_sitter_')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_language_without_its_wheel_is_reported_and_never_fatal():
    code = """
import sys
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *rest: None if name == "tree_sitter_rust" else find(name, *rest)
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.languages import language_named, language_of, table_of
from mnemolens.engine.worker import extract_named, extract_safely
assert language_of("a.rs") is None and language_named("rust") is None
assert table_of("a.rs").name == "rust"
assert Document("fn f() {}", language_of("a.rs")).symbols.symbols == ()
symbols, reason = extract_safely(extract_named, b"fn f() {}", "rust")
assert symbols is None
assert reason == "cannot be parsed: the package tree-sitter-rust is not installed", reason
assert extract_safely(extract_named, b"def f(): pass", "python")[1] is None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("path", "name", "setting"),
    [
        ("a.go", "go", "go"),
        ("b/go.mod", "gomod", "go"),
        ("a.tsx", "tsx", "typescript"),
        ("a.rs", "rust", "rust"),
        ("A.java", "java", "java"),
        ("a.c", "c", "c"),
        ("a.h", "cpp", "cpp"),
        ("a.hpp", "cpp", "cpp"),
        ("A.cs", "csharp", "csharp"),
        ("a.rake", "ruby", "ruby"),
        ("a.php", "php", "php"),
        ("build.gradle.kts", "kotlin", "kotlin"),
    ],
)
def test_the_setting_that_brings_a_language(path, name, setting):
    assert language_of(path).name == name
    assert setting_of(name) == setting


def test_every_language_has_its_choice_and_every_choice_a_language():
    choices = next(s.choices for s in SETTINGS if s.key == "index.languages")
    assert {setting_of(language.name) for language in LANGUAGES} == set(choices)
    assert len({e for language in LANGUAGES for e in language.extensions}) == sum(
        len(language.extensions) for language in LANGUAGES
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("module example.com/shop\n\ngo 1.22\n", "example.com/shop"),
        ('// ours\nmodule "shop" // here\n', "shop"),
        ("module\texample.com/shop/v2\nrequire a.b/module v1.0.0\n", "example.com/shop/v2"),
        ("go 1.22\n", None),
        ("", None),
    ],
)
def test_a_go_mod_names_its_module(text, path):
    symbols = extract(text.encode(), language_of("go.mod"))
    assert not symbols.partial
    assert symbols.symbols == ()
    assert [item.alias for item in symbols.imports] == ([path] if path else [])


def test_the_worked_example_in_the_map_is_the_table_itself():
    shown = (ROOT / "server" / "ARCHITECTURE.md").read_text("utf-8")
    table = (ROOT / "server" / "mnemolens" / "codegraph" / "languages" / "java.py").read_text("utf-8")
    assert f"```python\n{table}```" in shown
    assert table.count("\n") < 60

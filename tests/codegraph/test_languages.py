import subprocess
import sys

import pytest

from mnemolens.codegraph.languages import LANGUAGES, language_named, language_of


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

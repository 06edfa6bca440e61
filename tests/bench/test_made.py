"""The project that the figures are taken in is what they say it is."""

import ast

import pytest

from bench.made import FUNCTION_LINES, LONG_FILE, WIDE_FILE, make_project


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("made"), 1000)


def test_it_has_as_many_functions_as_asked_for(made):
    trees = [ast.parse(path.read_text()) for path in made.root.rglob("*.py")]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len(made.definitions) == 1000
    assert {node.name for node in functions} == {spot.name for spot in made.definitions}


def test_every_spot_is_where_it_says(made):
    texts = {
        path.relative_to(made.root).as_posix(): path.read_text().split("\n")
        for path in made.root.rglob("*.py")
    }
    for spot in made.definitions + made.calls:
        assert texts[spot.file][spot.line][spot.column :].startswith(f"{spot.name}(")


def test_its_two_large_files_have_the_lengths_in_the_figures_names(made):
    for file, lines in ((WIDE_FILE, 2000), (LONG_FILE, 5000)):
        length = len((made.root / file).read_text().split("\n"))
        assert lines <= length < lines + 2 * FUNCTION_LINES


def test_every_called_name_is_defined_here_or_imported_from_where_it_is_defined(made):
    home = {spot.name: spot.file.removesuffix(".py").replace("/", ".") for spot in made.definitions}
    for path in made.root.rglob("*.py"):
        tree = ast.parse(path.read_text())
        here = path.relative_to(made.root).as_posix().removesuffix(".py").replace("/", ".")
        known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                assert all(home[alias.name] == node.module for alias in node.names)
                known |= {alias.name for alias in node.names}
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert called <= known, here


def test_the_same_numbers_give_the_same_text(made, tmp_path):
    again = make_project(tmp_path, 1000)
    assert again.definitions == made.definitions
    assert (tmp_path / LONG_FILE).read_text() == (made.root / LONG_FILE).read_text()

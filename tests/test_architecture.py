"""The layers, read from the imports: what may stand on what, and what may be imported where."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import mnemolens

PACKAGE = Path(mnemolens.__file__).parent

FLOORS = {
    "core": 0,
    "store": 1,
    "codegraph": 2,
    "linking": 2,
    "ranking": 2,
    "search": 2,
    "engine": 3,
    "api": 4,
    "cli": 4,
    "lsp": 4,
    "mcp": 4,
}
PURE = {"codegraph", "linking", "ranking", "search"}
STARTS_OTHER_SURFACES = {("cli", "lsp", "mnemolens.lsp.server"), ("cli", "mcp", "mnemolens.mcp.server")}
"""`mnemolens serve` and `mnemolens mcp` are commands: the one way from surface to surface."""


class Import(NamedTuple):
    module: str  # the importing module, dotted
    imported: str  # what it imports, dotted

    @property
    def layer(self) -> str:
        return f"{self.module}.".split(".")[1]

    @property
    def target(self) -> str:
        return f"{self.imported}.".split(".")[1]

    @property
    def package(self) -> str:
        return self.imported.partition(".")[0]


def imports_of(module: str, source: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide what is imported"
            assert node.module is not None
            yield Import(module, node.module)
            if node.module == "mnemolens":
                for alias in node.names:
                    yield Import(module, f"mnemolens.{alias.name}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "__import__",
            "importlib.import_module",
        }:
            first = node.args[0]
            yield Import(module, str(first.value) if isinstance(first, ast.Constant) else "?")


def all_imports() -> list[Import]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(("mnemolens", *parts)).removesuffix(".__init__")
        found += imports_of(module, path.read_text(encoding="utf-8"))
    return found


IMPORTS = all_imports()
OWN = [found for found in IMPORTS if found.package == "mnemolens" and found.target in FLOORS]


def test_reads_the_whole_package():
    assert {found.layer for found in IMPORTS} >= {"core", "store", "codegraph", "engine", "lsp", "cli"}
    assert len(OWN) > 100


def test_every_package_has_its_floor():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= set(FLOORS)


def test_imports_run_downward():
    wrong = [
        f"{found.module} imports {found.imported}"
        for found in OWN
        if found.layer in FLOORS
        and found.layer != found.target
        and FLOORS[found.layer] <= FLOORS[found.target]
        and (found.layer, found.target, found.imported) not in STARTS_OTHER_SURFACES
    ]
    assert wrong == []


def test_pure_layers_do_not_reach_the_disk_through_the_store():
    wrong = [
        f"{found.module} imports {found.imported}"
        for found in OWN
        if found.layer in PURE and found.target == "store"
    ]
    assert wrong == []


def test_only_the_language_server_knows_the_protocol():
    users = {found.layer for found in IMPORTS if found.package in {"pygls", "lsprotocol"}}
    assert users == {"lsp"}


def test_only_the_agents_surface_knows_its_protocol():
    assert {found.layer for found in IMPORTS if found.package in {"mcp", "mcp_types"}} == {"mcp"}


def test_at_most_one_module_imports_kuzu():
    users = {found.module for found in IMPORTS if found.package == "kuzu"}
    assert len(users) <= 1
    assert all(module.startswith("mnemolens.store.") for module in users)


def test_multiprocessing_is_banned():
    users = {found.module for found in IMPORTS if found.package == "multiprocessing"}
    sources = {
        path.name
        for path in PACKAGE.rglob("*.py")
        if "ProcessPoolExecutor" in path.read_text(encoding="utf-8")
    }
    assert (users, sources) == (set(), set())


def test_core_needs_little():
    foreign = {
        found.package
        for found in IMPORTS
        if found.layer == "core"
        and found.package not in sys.stdlib_module_names
        and found.package != "mnemolens"
    }
    assert foreign <= {"pydantic", "pydantic_core", "yaml", "ulid", "re2"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os.path, kuzu", ["os.path", "kuzu"]),
        ("from pygls.lsp import server", ["pygls.lsp"]),
        ("def f():\n    import multiprocessing", ["multiprocessing"]),
        ("from mnemolens import store", ["mnemolens", "mnemolens.store"]),
        ("import importlib\nimportlib.import_module('kuzu')", ["importlib", "kuzu"]),
    ],
)
def test_sees_every_form_of_import(source, expected):
    assert [found.imported for found in imports_of("m", source)] == expected

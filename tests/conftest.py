"""Every test runs apart from the user's own cache, settings and git configuration; if asked, without kuzu."""

import importlib.util
import os
import runpy
from pathlib import Path

import pytest

from warm import WarmServers

WITHOUT_KUZU = Path(__file__).parent / "data" / "without_kuzu"

DEAREST_FIRST = ("lsp", "mcp", "api", "store", "engine", "cli")
"""Folders whose files take long: begun last, one would keep one worker busy when the others are done."""


def _rank(path):
    folder = path.parent.name
    return DEAREST_FIRST.index(folder) if folder in DEAREST_FIRST else len(DEAREST_FIRST)


def _has_kuzu():
    try:
        return importlib.util.find_spec("kuzu") is not None
    except ModuleNotFoundError:  # it is blocked
        return False


def pytest_addoption(parser):
    words = "as where kuzu can't be imported, in other processes too; tests about the graph are left out"
    parser.addoption("--without-kuzu", action="store_true", help=words)


def pytest_configure(config):
    if config.getoption("--without-kuzu"):
        runpy.run_path(str(WITHOUT_KUZU / "sitecustomize.py"))
        paths = [str(WITHOUT_KUZU), os.environ.get("PYTHONPATH")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: _rank(item.path))
    if not _has_kuzu():
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("graph")])
        items[:] = [item for item in items if not item.get_closest_marker("graph")]


@pytest.fixture(scope="session", autouse=True)
def apart(tmp_path_factory):
    """Points what the product reads of its surroundings at a folder of the test run."""
    own = {
        "MNEMOLENS_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "MNEMOLENS_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    before = {name: value for name, value in os.environ.items() if name.startswith(("MNEMOLENS_", "GIT_"))}
    before |= {name: os.environ[name] for name in ("COLUMNS", "LINES") if name in os.environ}
    for name in before:
        del os.environ[name]
    os.environ.update(own)
    yield
    for name in own:
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def warm():
    """Starts language servers that are imported already."""
    servers = WarmServers("mnemolens.lsp.server")
    yield servers
    servers.close()

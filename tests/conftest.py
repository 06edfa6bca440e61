"""Every test runs apart from the user's own cache, settings and git configuration."""

import os

import pytest


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
    for name in before:
        del os.environ[name]
    os.environ.update(own)
    yield
    for name in own:
        del os.environ[name]
    os.environ.update(before)

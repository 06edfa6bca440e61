"""A small project in a folder of its own, and backends on it that are closed in the end."""

import pytest

from mnemolens import CodeGraph, KuzuBackend

AUTH = '''\
"""Tokens."""


class TokenError(Exception):
    """The token can't be trusted."""


def validate_token(token, key):
    return token == key


def sign(token, key):
    return f"{token}.{key}"
'''
UTILS = """\
def validate_input(form):
    return all(form.values())
"""
MAIN = """\
from src.auth import validate_token


def main():
    return validate_token("a", "a")
"""


@pytest.fixture
def project(tmp_path):
    """`src/auth.py`, `src/utils.py` and `src/main.py`, in a folder without git."""
    folder = tmp_path / "project"
    for name, text in {"auth": AUTH, "utils": UTILS, "main": MAIN}.items():
        file = folder / "src" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def make_backend(project):
    """Makes backends on the project; all are closed in the end."""
    made = []

    def make(*arguments, **options):
        backend = KuzuBackend(*arguments, **{"root": project, **options})
        made.append(backend)
        return backend

    yield make
    for backend in made:
        backend.close()


@pytest.fixture
def backend(make_backend):
    """A backend on the project, whose code nobody has indexed yet."""
    backend = make_backend()
    backend.initialize()
    return backend


@pytest.fixture
def indexed(backend):
    """A backend that knows the project's code."""
    CodeGraph(backend).index("src")
    return backend

"""Editors and folders for the language server's tests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

pytest.register_assert_rewrite("editors")

from editors import PATIENCE, Editor, TestClient, make_repository  # noqa: E402  after the rewriting is asked for
from warm import WarmServers  # noqa: E402


@pytest_asyncio.fixture
async def editors(warm: WarmServers) -> AsyncIterator[Callable[..., Editor]]:
    """Makes editors; each one's server is shut down at the end, and its messages are looked through."""
    made: list[Editor] = []

    def make(kind: str = "visual-studio-code") -> Editor:
        editor = Editor(TestClient(), kind, warm.command("serve"))
        made.append(editor)
        return editor

    yield make
    for editor in made:
        server = editor.client._server
        if server is None:
            continue
        if server.returncode is None:
            await asyncio.wait_for(editor.client.shutdown_session(), PATIENCE)
        await editor.client.stop()
    for editor in made:
        editor.assert_nothing_unexpected()


@pytest.fixture(params=["visual-studio-code", "neovim"])
def editor(request: pytest.FixtureRequest, editors: Callable[..., Editor]) -> Editor:
    """An editor of each kind, not started yet."""
    return editors(request.param)


@pytest.fixture
def vscode(editors: Callable[..., Editor]) -> Editor:
    return editors("visual-studio-code")


@pytest.fixture
def neovim(editors: Callable[..., Editor]) -> Editor:
    return editors("neovim")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with two modules, one calling the other."""
    return make_repository(tmp_path / "project")

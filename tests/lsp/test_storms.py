"""Many files change at once, by git: hovers are answered meanwhile, and the end state equals a rebuild."""

import asyncio
import subprocess

import pytest
from lsprotocol import types

from editors import uri

MODULES = 40
ON_THE_BRANCH = 4 + 36 + 12
"""Symbols: of the two files that were there, of the modules that are left, and those that are new."""
CHANGED, CREATED, DELETED = (
    types.FileChangeType.Changed,
    types.FileChangeType.Created,
    types.FileChangeType.Deleted,
)


def git(folder, *words):
    done = ["git", "-C", folder, "-c", "user.name=Ana", "-c", "user.email=ana@example.org", *words]
    subprocess.run(done, check=True, capture_output=True)


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def module(number, more=""):
    return f'def step_{number}(rows):\n    """Step {number}."""\n    return rows[{number}:]\n{more}'


def tell(editor, kind, *paths):
    events = [types.FileEvent(uri(path), kind) for path in paths]
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


async def everything(editor):
    """What can be asked of the folder: numbers, and each memory's places and verdicts."""
    status = (await editor.run("status"))["folders"][0]
    found = {"files": status["files"], "symbols": status["symbols"], "verdicts": status["verdicts"]}
    for memory in (await editor.run("memory.list"))["memories"]:
        anchors = (await editor.run("memory.get", {"id": memory["id"]}))["anchors"]
        places = sorted((one["verdict"], one["at"] and one["at"]["id"]) for one in anchors)
        found[memory["title"]] = memory["verdict"], places
    return found


async def after_the_storm(editor, symbols):
    """Everything, once so many symbols are known and two looks agree; a rebuild changes nothing of it."""

    async def known():
        return (await editor.run("status"))["folders"][0]["symbols"] == symbols

    await editor.until(known)
    seen, now = None, await everything(editor)
    while now != seen:
        await asyncio.sleep(1.1)
        seen, now = now, await everything(editor)
    await editor.run("index.rebuild")
    assert await everything(editor) == now
    return now


@pytest.fixture
def branches(repository):
    """On `feature` every tenth module is gone, a third has another body, a third a function more."""
    (repository / "area").mkdir()
    files = [repository / "area" / f"module{number}.py" for number in range(MODULES)]
    for number, path in enumerate(files):
        path.write_text(module(number))
    commit(repository, "all of it")
    git(repository, "switch", "-q", "-c", "feature")
    for number, path in enumerate(files):
        if number % 10 == 9:
            path.unlink()
        elif number % 3 == 0:
            path.write_text(module(number).replace("rows[", "list(rows)["))
        elif number % 3 == 1:
            path.write_text(module(number, f"\n\ndef added_{number}():\n    return {number}\n"))
    commit(repository, "the branch")
    git(repository, "switch", "-q", "main")
    return files


async def test_after_storms_all_is_as_if_indexed_anew(vscode, repository, branches):
    await vscode.start(repository)
    await vscode.indexed(files=MODULES + 2)
    for number in range(0, MODULES, 4):
        await vscode.capture(f"note {number}", branches[number], 0, 5)
    open_one = repository / "billing.py"
    await vscode.capture("the provider repeats calls", open_one, 3, 5)
    vscode.open(open_one)
    hovers = []
    calm = asyncio.Event()

    async def hover():
        while not calm.is_set():
            hovers.append(await vscode.hover_text(open_one, 3, 5) or "")
            await asyncio.sleep(0.01)

    hovering = asyncio.create_task(hover())

    git(repository, "switch", "-q", "feature")
    for _ in range(25):  # a thousand events, most of them for nothing
        tell(vscode, CHANGED, *branches)
    switched = await after_the_storm(vscode, ON_THE_BRANCH)
    assert switched["files"] == MODULES - 4 + 2
    assert switched["note 4"] == ("fresh", [("fresh", "area/module4.py::step_4")])

    area, moved = repository / "area", repository / "moved"
    area.rename(moved)
    (moved / "last.py").write_text("def last():\n    return 0\n")
    tell(vscode, DELETED, area)
    tell(vscode, CREATED, moved)
    renamed = await after_the_storm(vscode, ON_THE_BRANCH + 1)
    assert renamed["note 4"] == ("fresh", [("fresh", "moved/module4.py::step_4")])

    moved.rename(area)
    (area / "last.py").unlink()
    tell(vscode, DELETED, moved)
    tell(vscode, CREATED, area)
    begun = [path for path in branches[::3] if path.exists()]
    for path in begun:
        path.write_text(f"def of_{path.stem}():\n    return 0\n\n\n{path.read_text()}")
    git(repository, "stash", "-q")
    git(repository, "stash", "pop", "-q")
    tell(vscode, CHANGED, *branches, repository / ".git" / "index")
    stashed = await after_the_storm(vscode, ON_THE_BRANCH + len(begun))
    assert stashed["note 4"] == ("fresh", [("fresh", "area/module4.py::step_4")])

    calm.set()
    await hovering  # not cancelled: the client would stumble over the answer of a request that it forgot
    assert len(hovers) > 10
    assert all("the provider repeats calls" in text for text in hovers)

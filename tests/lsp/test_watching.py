"""Files that change on disk: told by the client, watched by ourselves, renamed."""

import asyncio
import shutil

import pytest
from lsprotocol import types

from editors import make_repository, uri
from repositories import git

CHANGED, CREATED, DELETED = (
    types.FileChangeType.Changed,
    types.FileChangeType.Created,
    types.FileChangeType.Deleted,
)


def without_watching(caps):
    caps.workspace.did_change_watched_files = None


def tell(editor, *events):
    changes = [types.FileEvent(uri(path), kind) for path, kind in events]
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))


async def symbols(editor):
    return (await editor.run("status"))["folders"][0]["symbols"]


def watchers(editor):
    """{registration id: glob pattern}."""
    return {
        name: found.register_options["watchers"][0]["globPattern"]
        for name, found in editor.client.registrations.items()
        if found.method == "workspace/didChangeWatchedFiles"
    }


async def test_one_watch_of_everything_serves_all_folders(vscode, repository, tmp_path):
    other = make_repository(tmp_path / "other")
    await vscode.start(repository, other)
    await vscode.indexed(files=2)
    await vscode.until(lambda: watchers(vscode))
    assert list(watchers(vscode).values()) == ["**/*"]
    methods = [found.method for found in vscode.client.registrations.values()]
    assert methods.count("workspace/didChangeConfiguration") == 1


async def test_a_watch_for_each_folder_where_the_client_can(vscode, repository, tmp_path):
    def with_relative_patterns(caps):
        caps.workspace.did_change_watched_files.relative_pattern_support = True

    other = make_repository(tmp_path / "other")
    await vscode.start(repository, other, capabilities=with_relative_patterns)
    await vscode.until(lambda: len(watchers(vscode)) == 2)
    patterns = [{"baseUri": uri(folder), "pattern": "**/*"} for folder in (repository, other)]
    found = list(watchers(vscode).values())
    assert sorted(found, key=str) == sorted(patterns, key=str)
    gone = types.WorkspaceFoldersChangeEvent(added=[], removed=[types.WorkspaceFolder(uri(other), "x")])
    vscode.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(gone))
    await vscode.until(lambda: len(watchers(vscode)) == 1)
    assert list(watchers(vscode).values()) == [{"baseUri": uri(repository), "pattern": "**/*"}]


@pytest.mark.parametrize("watching", ["by the client", "by ourselves"])
async def test_files_are_followed(editors, repository, watching):
    editor = editors("visual-studio-code")
    by_client = watching == "by the client"
    await editor.start(repository, capabilities=None if by_client else without_watching)
    await editor.indexed(files=2)
    if not by_client:
        assert not any("files" in name for name in editor.client.registrations)
    editor.open(repository / "shop.py")
    memory = (await editor.capture("a note", repository / "billing.py", 3, 5))["memory"]
    before = await symbols(editor)

    (repository / "new.py").write_text("def a(): pass\ndef b(): pass\n")
    if by_client:
        tell(editor, (repository / "new.py", CREATED))
    await editor.indexed(files=3)
    assert await symbols(editor) == before + 2

    (repository / "new.py").write_text("def a(): pass\n")
    if by_client:
        tell(editor, (repository / "new.py", CHANGED))

    async def one_less():
        return await symbols(editor) == before + 1

    await editor.until(one_less)

    # A move: the note follows the function it is on, by its equal body.
    (repository / "pay").mkdir()
    shutil.move(repository / "billing.py", repository / "pay" / "bills.py")
    if by_client:
        tell(editor, (repository / "billing.py", DELETED), (repository / "pay" / "bills.py", CREATED))

    async def moved():
        detail = await editor.run("memory.get", {"id": memory["id"]})
        return [anchor["at"] and anchor["at"]["id"] for anchor in detail["anchors"]] == [
            "pay/bills.py::charge"
        ]

    await editor.until(moved)
    shutil.rmtree(repository / "pay")
    if by_client:
        tell(editor, (repository / "pay", DELETED))

    async def lost():
        return (await editor.run("memory.get", {"id": memory["id"]}))["memory"]["verdict"] == "lost"

    await editor.until(lost)


async def test_a_folder_that_goes_and_comes_back_is_read_anew(neovim, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "pay.py").write_text("def charge(): pass\n")
    await neovim.start(folder, capabilities=without_watching)
    await neovim.indexed(files=1)
    await asyncio.sleep(0.5)  # until the watch stands
    shutil.rmtree(folder)
    await neovim.indexed(files=0)
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text("def first(): pass\ndef second(): pass\n")
    await neovim.indexed(files=1)
    assert await symbols(neovim) == 2


async def test_renamed_in_the_editor(vscode, repository):
    def can_rename(caps):
        caps.workspace.file_operations = types.FileOperationClientCapabilities(did_rename=True)

    await vscode.start(repository, capabilities=can_rename)
    registered = vscode.result.capabilities.workspace.file_operations.did_rename
    assert registered.filters[0].pattern.glob == "**/*"
    await vscode.indexed(files=2)
    memory = (await vscode.capture("a note", repository / "billing.py", 3, 5))["memory"]
    (repository / "billing.py").rename(repository / "bills.py")
    rename = types.FileRename(uri(repository / "billing.py"), uri(repository / "bills.py"))
    vscode.client.workspace_did_rename_files(types.RenameFilesParams([rename]))

    async def moved():
        detail = await vscode.run("memory.get", {"id": memory["id"]})
        return [anchor["at"] and anchor["at"]["file"] for anchor in detail["anchors"]] == ["bills.py"]

    await vscode.until(moved)


async def test_odd_events(vscode, repository, tmp_path):
    await vscode.start(repository)
    await vscode.indexed(files=2)
    outside = tmp_path / "outside.py"
    tell(vscode, (outside, CREATED), ("untitled:x", CHANGED), (repository / "never.py", DELETED))
    tell(vscode, (repository, CHANGED), (repository / ".git" / "HEAD", CHANGED))
    tell(vscode)
    await asyncio.sleep(0.3)
    assert (await vscode.run("status"))["folders"][0]["files"] == 2


def without_registration(caps):
    caps.workspace.did_change_watched_files.dynamic_registration = False


async def test_a_client_that_cannot_watch_misses_nothing(editors, repository):
    """Folders made, renamed and gone, a case-only rename, links in a circle, a git checkout."""
    for path, name in (("Case.py", "big"), ("pkg/in/deep.py", "deep"), ("stay.py", "stay")):
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(f"def {name}(given):\n    return [{name!r}, given, len(given)]\n")
    (repository / "pkg" / "loop").symlink_to(repository)
    (repository / "self").symlink_to(repository / "self")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "more")
    editor = editors("visual-studio-code")
    await editor.start(repository, capabilities=without_registration)
    await editor.indexed(files=5)
    notes = {
        path: (await editor.capture(f"note {number}", repository / path, 0, 5))["memory"]["id"]
        for number, path in enumerate(("Case.py", "pkg/in/deep.py", "stay.py"))
    }

    def stands(path, where):
        async def look():
            detail = await editor.run("memory.get", {"id": notes[path]})
            return [anchor["at"] and anchor["at"]["id"] for anchor in detail["anchors"]] == [where]

        return editor.until(look)

    await stands("stay.py", "stay.py::stay")
    (repository / "new" / "below").mkdir(parents=True)
    (repository / "new" / "below" / "one.py").write_text("def one(): pass\n")
    (repository / "new" / "loop").symlink_to(repository / "new")
    await editor.indexed(files=6)
    (repository / "pkg").rename(repository / "lib")
    await stands("pkg/in/deep.py", "lib/in/deep.py::deep")
    (repository / "Case.py").rename(repository / "case.py")
    await stands("Case.py", "case.py::big")
    shutil.rmtree(repository / "new")
    await editor.indexed(files=5)

    git(repository, "add", ".")
    git(repository, "commit", "-qm", "moved")
    git(repository, "mv", "stay.py", "gone.py")
    for number in range(20):
        (repository / f"made{number}.py").write_text(f"def made{number}(): pass\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "made")
    await editor.indexed(files=25)
    await stands("stay.py", "gone.py::stay")
    git(repository, "checkout", "-q", "HEAD~1")
    await editor.indexed(files=5)
    await stands("stay.py", "stay.py::stay")
    git(repository, "checkout", "-q", "HEAD~1")
    await stands("pkg/in/deep.py", "pkg/in/deep.py::deep")
    await stands("Case.py", "Case.py::big")
    followed = (await editor.run("status"))["folders"][0]
    await editor.run("index.rebuild")
    rebuilt = (await editor.run("status"))["folders"][0]
    assert (followed["files"], followed["symbols"]) == (rebuilt["files"], rebuilt["symbols"])
    assert (followed["files"], followed["skipped"]) == (5, rebuilt["skipped"])

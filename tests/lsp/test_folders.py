"""Which folder a document or a command belongs to: several, nested, linked, none, coming and going."""

import shutil
import sys

import pytest
from lsprotocol import types

from editors import BILLING, make_repository, uri
from mnemolens.lsp.uris import path_of_uri


def folders_changed(editor, added=(), removed=()):
    event = types.WorkspaceFoldersChangeEvent(
        added=[types.WorkspaceFolder(uri(path), "x") for path in added],
        removed=[types.WorkspaceFolder(uri(path), "x") for path in removed],
    )
    params = types.DidChangeWorkspaceFoldersParams(event)
    editor.client.workspace_did_change_workspace_folders(params)


async def test_several_folders(editor, tmp_path):
    one, two = make_repository(tmp_path / "one"), make_repository(tmp_path / "two")
    await editor.start(one, two)
    status = await editor.indexed(files=2)
    assert sorted(folder["root"] for folder in status["folders"]) == [str(one), str(two)]

    message = await editor.refusal("memory.capture", {"content": "where?"})
    assert message.startswith("root: several folders are open")
    assert str(one) in message
    for command, argument in [("memory.get", {"id": "m"}), ("memory.list", {}), ("index.rebuild", {})]:
        assert (await editor.refusal(command, argument)).startswith("root: ")

    by_path = (await editor.run("memory.capture", {"content": "in one", "root": str(one)}))["memory"]
    by_uri = (await editor.run("memory.capture", {"content": "in two", "root": uri(two)}))["memory"]
    by_file = (await editor.capture("on two", two / "billing.py", 3, 5))["memory"]
    listed = await editor.run("memory.list", {"root": str(two)})
    assert {memory["id"] for memory in listed["memories"]} == {by_uri["id"], by_file["id"]}
    listed = await editor.run("memory.list", {"root": str(one)})
    assert [memory["id"] for memory in listed["memories"]] == [by_path["id"]]
    assert (await editor.run("index.rebuild", {"root": str(one)}))["files"] == 2
    assert len((await editor.run("status", {"root": str(one)}))["folders"]) == 1
    message = await editor.refusal("memory.list", {"root": str(tmp_path)})
    assert message.startswith("root: ")
    assert str(two) in message

    editor.open(two / "billing.py")
    [lens] = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri(two / "billing.py")))
    )
    lens = await editor.client.code_lens_resolve_async(lens)
    assert lens.command.arguments[0] == {"ids": [by_file["id"]], "root": str(two)}


async def test_a_nested_folder_owns_its_files(vscode, tmp_path):
    outer = make_repository(tmp_path / "outer")
    inner = make_repository(outer / "inner")
    await vscode.start(outer, inner)
    await vscode.indexed(files=2)
    vscode.open(inner / "billing.py")
    await vscode.capture("of the inner one", inner / "billing.py", 3, 5)
    assert (await vscode.run("memory.list", {"root": str(inner)}))["total"] == 1
    assert (await vscode.run("memory.list", {"root": str(outer)}))["total"] == 0
    assert await vscode.lenses(inner / "billing.py") == {3: "1 memory"}


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
async def test_a_symlinked_root(neovim, repository, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(repository)
    await neovim.start(link)
    await neovim.indexed(files=2)
    neovim.open(link / "billing.py")
    assert (await neovim.run("status"))["folders"][0]["root"] == str(link)
    captured = await neovim.capture("a note", link / "billing.py", 3, 5)
    assert captured["links"][0]["target"]["id"] == "billing.py::charge"
    assert await neovim.lenses(link / "billing.py") == {3: "1 memory"}
    # The same file by its real path.
    assert (await neovim.hover_text(repository / "billing.py", 3, 5)).startswith("**a note**")
    assert (await neovim.run("memory.list", {"root": str(link)}))["total"] == 1
    assert (await neovim.run("memory.list", {"root": str(repository)}))["total"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
async def test_one_file_that_is_open_twice(neovim, repository, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(repository)
    through, real = link / "billing.py", repository / "billing.py"
    await neovim.start(link)
    await neovim.indexed(files=2)
    neovim.open(through)
    await neovim.capture("a note", through, 3, 5)
    neovim.open(real)
    neovim.change(real, ((0, 0, 0, 0), "# a line above\n"))
    await neovim.until(lambda: neovim.hover(real, 4, 5))
    neovim.close(real)
    await neovim.until(lambda: neovim.hover(through, 3, 5))
    neovim.change(through, ((0, 0, 0, 0), "# one\n# two\n"))
    assert (await neovim.hover_text(through, 5, 5)).startswith("**a note**")
    neovim.close(through)

    async def closed():
        return await neovim.hover(through, 5, 5) is None

    await neovim.until(closed)

    async def as_on_disk():
        return await neovim.lenses(through) == {3: "1 memory"}

    await neovim.until(as_on_disk)


@pytest.mark.skipif(sys.platform == "win32", reason="an open folder can't be moved there")
async def test_a_folder_that_was_deleted_stays_so(vscode, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "billing.py").write_text(BILLING)
    await vscode.start(folder)
    await vscode.indexed(files=1)
    vscode.open(folder / "billing.py")
    memory_id = (await vscode.capture("a note", folder / "billing.py", 3, 5))["memory"]["id"]
    shutil.rmtree(folder)
    for command, argument in (
        ("memory.capture", {"content": "late", "uri": uri(folder / "billing.py")}),
        ("memory.update", {"id": memory_id, "content": "late"}),
    ):
        with pytest.raises(Exception, match="does not exist any more") as caught:
            await vscode.run(command, argument)
        assert caught.value.code == -32803
        assert str(folder) in caught.value.message
    [opened] = (await vscode.run("memory.open", {"id": memory_id}))["uris"]
    assert "a note" in path_of_uri(opened).read_text(), "it can be read, in a folder of its own"
    await vscode.until(lambda: vscode.client.shown_documents)
    vscode.client.shown_documents.clear()
    assert not folder.exists()
    await vscode.until(lambda: any("A command failed" in m.message for m in vscode.client.log_messages))
    vscode.client.log_messages.clear()


async def test_no_root_at_all(neovim, tmp_path):
    lone = tmp_path / "lone.py"
    lone.write_text(BILLING)
    await neovim.start()
    neovim.open(lone)
    assert await neovim.hover(lone, 3, 5) is None
    assert (await neovim.run("status"))["folders"] == []
    assert await neovim.refusal("memory.list") == "root: no folder is open; open one first"
    assert (await neovim.refusal("memory.capture", {"content": "x", "uri": uri(lone)})).startswith("uri: ")


async def test_a_lone_file_opens_its_repository(editor, repository):
    await editor.start()
    editor.open(repository / "billing.py")
    status = await editor.indexed(files=2)
    assert [folder["root"] for folder in status["folders"]] == [str(repository)]
    await editor.capture("a note", repository / "billing.py", 3, 5)
    assert await editor.lenses(repository / "billing.py") == {3: "1 memory"}


async def test_a_file_outside_the_roots(vscode, repository, tmp_path):
    other = make_repository(tmp_path / "other")
    await vscode.start(repository)
    await vscode.indexed(files=2)
    vscode.open(other / "billing.py")
    assert await vscode.hover(other / "billing.py", 3, 5) is None
    assert await vscode.lenses(other / "billing.py") == {}
    message = await vscode.refusal("memory.capture", {"content": "x", "uri": uri(other / "billing.py")})
    assert message.startswith("uri: ")
    assert "outside the open folders" in message
    assert (await vscode.run("status"))["folders"][0]["memories"] == 0


async def test_folders_come_and_go(vscode, tmp_path):
    one, two = make_repository(tmp_path / "one"), make_repository(tmp_path / "two")
    await vscode.start(one)
    await vscode.indexed(files=2)
    # Opened, and changed, before its folder is there.
    vscode.open(two / "billing.py")
    vscode.change(two / "billing.py", ((0, 0, 0, 0), "# one more line\n"))
    folders_changed(vscode, added=[two])
    await vscode.until(lambda: vscode.run("status"))
    captured = await vscode.capture("a note", two / "billing.py", 4, 5)
    assert captured["links"][0]["target"]["id"] == "billing.py::charge"
    assert await vscode.lenses(two / "billing.py") == {4: "1 memory"}
    watched = [name for name in vscode.client.registrations if "files" in name]

    folders_changed(vscode, removed=[two])
    assert await vscode.lenses(two / "billing.py") == {}
    assert [folder["root"] for folder in (await vscode.run("status"))["folders"]] == [str(one)]
    folders_changed(vscode, added=[two], removed=[one])
    await vscode.until(lambda: vscode.lenses(two / "billing.py"))
    assert await vscode.lenses(two / "billing.py") == {4: "1 memory"}
    assert [folder["root"] for folder in (await vscode.run("status"))["folders"]] == [str(two)]
    assert len(watched) >= 1


async def test_a_folder_that_is_not_there(vscode, tmp_path):
    await vscode.start(tmp_path / "gone", "vscode-vfs://github/x/y")
    assert await vscode.messages() == [f"The folder {tmp_path / 'gone'} does not exist."]
    assert (await vscode.run("status"))["folders"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX names")
async def test_odd_names(neovim, tmp_path):
    folder = make_repository(tmp_path / "a b#50% ü😀")
    names = ["a b", "50%", "a#b", "ü😀名", "c++ (x)", "a%20b"]
    for name in names:
        (folder / f"{name}.py").write_text(BILLING)
    await neovim.start(folder)
    await neovim.indexed(files=8)
    for name in names:
        # As VS Code writes it: more is encoded than must be.
        there = uri(folder / f"{name}.py").replace("(", "%28").replace(")", "%29").replace("+", "%2B")
        neovim.open(there, BILLING)
        captured = await neovim.capture(f"a note on {name}", there, 3, 5)
        target = captured["links"][0]["target"]
        assert (target["file"], target["qualname"]) == (f"{name}.py", "charge")
        assert await neovim.lenses(there) == {3: "1 memory"}
        assert (await neovim.hover_text(there, 3, 5)).startswith("**a note on ")
        [opened] = (await neovim.run("memory.open", {"id": captured["memory"]["id"]}))["uris"]
        assert opened.isascii()
        await neovim.until(lambda: neovim.client.shown_documents)
        neovim.client.shown_documents.clear()


async def test_a_drive_letter_of_another_system(neovim, repository):
    await neovim.start(repository)
    neovim.open("file:///c%3A/project/a.py", "def f(): pass\n")
    assert await neovim.hover("file:///c%3A/project/a.py", 0, 5) is None
    message = await neovim.refusal("memory.capture", {"content": "x", "uri": "file:///c%3A/project/a.py"})
    assert message.startswith("uri: file:///c%3A/project/a.py lies outside")


async def test_a_subfolder_of_a_repository(vscode, repository):
    package = repository / "package"
    package.mkdir()
    (package / "inside.py").write_text(BILLING)
    await vscode.start(package)
    await vscode.indexed(files=1)
    vscode.open(package / "inside.py")
    captured = await vscode.capture("a note", package / "inside.py", 3, 5)
    assert captured["links"][0]["target"]["id"] == "package/inside.py::charge"
    assert (repository / ".git" / "mnemolens").is_dir()
    message = await vscode.refusal("memory.capture", {"content": "x", "uri": uri(repository / "shop.py")})
    assert message.startswith("uri: ")

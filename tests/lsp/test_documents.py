"""Open documents over the wire: encodings, line ends, several changes at once; memories as documents."""

import asyncio

import pytest
from lsprotocol import types

from mnemolens.lsp.uris import path_of_uri

# Line 3 holds, before the name `charge`, a tab, an emoji, two CJK characters and a form feed.
ODD = (
    "# a form feed: \f and \u2028 end no line\r\n"
    '"""名前 😀"""\r\n'
    "if 1:\r\n"
    '\t"😀名前\f"; x = 1; charge = lambda a: a\r\n'
    "\tcharge(x)\r\n"
)
BEFORE_NAME = '\t"😀名前\f"; x = 1; '
UNITS = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_in_every_encoding(vscode, repository, encoding):
    path = repository / "odd.py"
    await vscode.start(repository, encodings=[encoding])
    assert vscode.result.capabilities.position_encoding == encoding
    await vscode.indexed(files=2)
    vscode.open(path, ODD)
    at = UNITS[encoding](BEFORE_NAME)

    captured = await vscode.capture("a note", path, 3, at + 1)
    target = captured["links"][0]["target"]
    assert (target["id"], target["kind"]) == ("odd.py::charge", "lambda")
    hover = await vscode.hover(path, 3, at)
    assert hover.range == types.Range(types.Position(3, at), types.Position(3, at + 6))
    assert await vscode.hover(path, 3, at - 1) is None
    assert await vscode.lenses(path) == {3: "1 memory"}

    # Two changes in one message: the second one's place means the text after the first.
    wide = UNITS[encoding]("'😀😀' ")
    vscode.change(path, ((3, 1, 3, 1), "'😀😀' "), ((3, at + wide, 3, at + wide + 6), "pay"))
    assert await vscode.hover(path, 3, at) is None
    vscode.change(path, ((3, at + wide, 3, at + wide + 3), "charge"))
    vscode.save(path)
    hover = await vscode.hover(path, 3, at + wide)
    assert hover.range.start == types.Position(3, at + wide)
    vscode.change(path, ((2**31 - 1, 0, 2**31 - 1, 0), "# at the end"), ((0, 0, 0, 0), "\r"))
    assert await vscode.lenses(path) == {4: "1 memory"}
    vscode.change(path, (None, "def other():\n    pass\n"))
    assert await vscode.lenses(path) == {}


async def test_an_unknown_encoding_means_utf_16(neovim, repository):
    await neovim.start(repository, encodings=["utf-7"])
    assert neovim.result.capabilities.position_encoding == "utf-16"


async def test_close_falls_back_to_the_disk(editor, repository):
    path = repository / "billing.py"
    await editor.start(repository)
    await editor.indexed(files=2)
    editor.open(path)
    await editor.capture("a note", path, 3, 5)
    editor.change(path, ((3, 4, 3, 10), "renamed"))
    shop = editor.open(repository / "shop.py")
    assert await editor.hover(shop, 4, 13) is None
    editor.close(path)

    async def on_disk():
        return await editor.hover(shop, 4, 13)

    assert (await editor.until(on_disk)).contents.value.startswith("**a note**")


async def test_a_big_document_is_parsed_beside_the_requests(vscode, repository):
    path = repository / "big.py"
    text = "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(5_000))
    await vscode.start(repository)
    await vscode.indexed(files=2)
    vscode.open(path, text)
    await vscode.run("status")

    async def known():
        preview = await vscode.run(
            "memory.preview",
            {"content": "x", "uri": path.as_uri(), "position": {"line": 19_996, "character": 5}},
        )
        return [link["target"]["qualname"] for link in preview["links"]] == ["f4999"]

    await vscode.until(known)


async def test_a_memory_is_a_document_that_saves_back(editor, repository):
    path = repository / "billing.py"
    await editor.start(repository)
    await editor.indexed(files=2)
    editor.open(path)
    memory = (await editor.capture("first words", path, 3, 5))["memory"]
    opened = await editor.run("memory.open", {"id": memory["id"]})
    [there] = opened["uris"]
    file = path_of_uri(there)
    assert file == repository / ".git" / "mnemolens" / "open" / f"{memory['id']}.md"
    text = file.read_text()
    assert text.endswith("first words\n")
    if editor.client.capabilities.window.show_document is not None:
        await editor.until(lambda: editor.client.shown_documents)
        assert [shown.uri for shown in editor.client.shown_documents] == [there]
        editor.client.shown_documents.clear()

    editor.open(there, text, "markdown")
    changed = text.replace("first words\n", "second words\n")
    editor.change(there, (None, changed))
    file.write_text(changed)
    editor.save(there, changed)

    async def content():
        found = await editor.run("memory.get", {"id": memory["id"]})
        return found["memory"]["content"].strip() == "second words"

    await editor.until(content)

    broken = changed.replace("title:", "title: [")
    file.write_text(broken)
    editor.save(there)  # without the text: it is read from the disk
    [message] = await editor.messages()
    assert message.startswith("The memory was not saved: ")
    assert await content()
    editor.close(there)
    [message] = await editor.messages()
    assert str(file) in message, "what is not stored is kept"
    assert file.read_text() == broken


async def test_documents_survive_a_lone_surrogate(vscode, repository):
    path = repository / "cut.py"
    await vscode.start(repository)
    vscode.open(path, "x = '\ud83d'\ndef f(): pass\n")
    vscode.change(path, ((0, 5, 0, 6), "\ude00"))
    captured = await vscode.capture("note \ud83d", path, 1, 5)
    assert captured["memory"]["content"] == "note \ufffd"
    assert captured["links"][0]["target"]["id"] == "cut.py::f"


async def test_other_schemes_are_left_alone(neovim, repository):
    await neovim.start(repository)
    for there in (
        "untitled:Untitled-1",
        "git:/project/billing.py?%7B%22ref%22%3A%22%22%7D",
        "vscode-notebook-cell:/project/a.ipynb#W0sZmlsZQ%3D%3D",
        "vscode-vfs://github/x/y/billing.py",
        "not a uri",
    ):
        neovim.open(there, "def f(): pass\n")
        neovim.change(there, ((0, 0, 0, 0), "\n"))
        neovim.save(there)
        assert await neovim.hover(there, 0, 5) is None
        assert await neovim.lenses(there) == {}
        assert await neovim.actions(there, 0, 5) == []
        message = await neovim.refusal("memory.capture", {"content": "x", "uri": there})
        assert message.startswith("uri: must be a file: URI")
        neovim.close(there)
    assert (await neovim.run("status"))["folders"][0]["memories"] == 0


async def test_a_file_that_vanished(vscode, repository):
    path = repository / "billing.py"
    await vscode.start(repository)
    await vscode.indexed(files=2)
    vscode.open(path)
    memory = (await vscode.capture("a note", path, 3, 5))["memory"]
    await asyncio.to_thread(path.unlink)
    vscode.close(path)
    gone = types.FileEvent(path.as_uri(), types.FileChangeType.Deleted)
    vscode.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([gone]))

    async def lost():
        found = await vscode.run("memory.get", {"id": memory["id"]})
        return found["memory"]["verdict"] == "lost"

    await vscode.until(lost)
    assert await vscode.hover(path, 3, 5) is None

"""The main job over the wire, as both editors: capture, lens, hover, edit, find again."""

from lsprotocol import types

NOTE = "Retry must stay idempotent\nThe payment provider double-charges when a request is sent twice."


async def test_capture_hover_lens_edit_and_find_again(editor, editors, repository):
    billing, shop = repository / "billing.py", repository / "shop.py"
    await editor.start(repository)
    await editor.indexed(files=2)
    editor.open(billing)
    editor.open(shop)
    assert await editor.hover(billing, 3, 5) is None
    assert await editor.lenses(billing) == {}

    captured = await editor.capture(NOTE, billing, 3, 6, author="Ana")
    memory = captured["memory"]
    assert memory["title"] == "Retry must stay idempotent"
    assert (memory["verdict"], memory["status"], memory["author"]) == ("fresh", "active", "Ana")
    assert [link["target"]["id"] for link in captured["links"]] == ["billing.py::charge"]
    assert captured["links"][0]["context"] == "captured_here"
    assert captured["warnings"] == []

    found = await editor.hover(billing, 3, 5)
    assert found.range == types.Range(types.Position(3, 4), types.Position(3, 10))
    assert found.contents.kind == types.MarkupKind.Markdown
    assert found.contents.value == (
        "**Retry must stay idempotent** · fresh  \n"
        "The payment provider double-charges when a request is sent twice.  \n"
        "*on `charge()` · by Ana, just now*"
    )
    call = await editor.hover(shop, 4, 13)
    assert call.range == types.Range(types.Position(4, 11), types.Position(4, 17))
    assert call.contents.value == found.contents.value
    # `checkout` has no memory of its own, but calls what has one.
    assert (await editor.hover_text(shop, 3, 5)).endswith("*on `charge()`, called here · by Ana, just now*")
    assert await editor.hover(billing, 4, 10) is None  # inside the docstring

    assert await editor.lenses(billing) == {3: "1 memory"}
    editor.change(billing, ((0, 0, 0, 0), "# one\n# two\n"))
    assert await editor.lenses(billing) == {5: "1 memory"}
    assert await editor.hover_text(billing, 5, 5) == found.contents.value
    assert await editor.hover(billing, 3, 5) is None
    editor.change(billing, ((0, 0, 2, 0), ""))
    editor.save(billing)
    assert await editor.lenses(billing) == {3: "1 memory"}

    await editor.client.shutdown_session()
    again = editors(editor.kind)
    await again.start(repository)
    again.open(billing)
    await again.indexed(files=2)
    assert await again.lenses(billing) == {3: "1 memory"}
    detail = await again.run("memory.get", {"id": memory["id"]})
    assert detail["memory"]["content"] == NOTE
    assert [anchor["at"]["id"] for anchor in detail["anchors"]] == ["billing.py::charge"]


async def test_lens_refresh_only_where_the_client_can(editor, repository):
    await editor.start(repository)
    await editor.indexed(files=2)
    editor.open(repository / "billing.py")
    await editor.capture("one", repository / "billing.py", 3, 5)
    if editor.kind == "neovim":
        assert editor.client.capabilities.workspace.code_lens is None
    else:
        await editor.until(lambda: editor.client.refreshes >= 1)
    await editor.run("status")
    assert (editor.client.refreshes > 0) is (editor.kind == "visual-studio-code")


async def test_nothing_is_written_before_the_first_capture(vscode, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("def f(): pass\n")
    await vscode.start(folder)
    await vscode.indexed(files=1)
    vscode.open(folder / "a.py")
    vscode.change(folder / "a.py", ((0, 0, 0, 0), "\n"))
    await vscode.hover(folder / "a.py", 1, 4)
    await vscode.run("memory.preview", {"content": "f is odd"})
    assert [path.name for path in folder.iterdir()] == ["a.py"]
    await vscode.capture("f is odd")
    assert sorted(path.name for path in folder.iterdir()) == [".mnemolens", "a.py"]

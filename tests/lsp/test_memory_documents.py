"""Memories edited as documents in a real editor, through crashes, conflicts, encodings and full disks."""

from pathlib import Path

import pytest

from mnemolens.lsp.uris import path_of_uri


async def opened(editor, memory_id: str) -> Path:
    """Opens a memory as a document; its file."""
    [there] = (await editor.run("memory.open", {"id": memory_id}))["uris"]
    path = path_of_uri(there)
    await shown(editor)
    return path


async def shown(editor) -> None:
    """The editor was asked to show a document, where it can."""
    window = editor.client.capabilities.window
    if window is not None and window.show_document is not None:
        await editor.until(lambda: editor.client.shown_documents)
        editor.client.shown_documents.clear()


async def content(editor, memory_id: str) -> str:
    return (await editor.run("memory.get", {"id": memory_id}))["memory"]["content"].strip()


async def becomes(editor, memory_id: str, words: str) -> None:
    async def look() -> bool:
        return await content(editor, memory_id) == words

    await editor.until(look)


def write_and_save(editor, path: Path, text: str, encoding: str = "utf-8") -> None:
    """What a user's Ctrl+S does."""
    editor.change(path, (None, text))
    path.write_bytes(text.encode(encoding))
    editor.save(path)


async def killed(editor) -> None:
    editor.client._server.kill()
    await editor.client._server.wait()


@pytest.fixture
async def desk(vscode, repository):
    """An editor with a memory, "first", open as a document: (editor, id, path)."""
    await vscode.start(repository)
    memory = (await vscode.capture("first", repository / "billing.py", 3, 5, title="T"))["memory"]
    path = await opened(vscode, memory["id"])
    vscode.open(path, language="markdown")
    return vscode, memory["id"], path


async def test_an_edit_that_failed_once_is_stored_when_it_is_right(desk):
    editor, one, path = desk
    good = path.read_text().replace("first", "second")
    write_and_save(editor, path, good.replace("importance: 0.5", "importance: 5"))
    [message] = await editor.messages()
    assert message.startswith("The memory was not saved: line 7: importance ")
    write_and_save(editor, path, good)
    await becomes(editor, one, "second")
    editor.close(path)
    await editor.until(lambda: list(path.parent.iterdir()) == [])


async def test_saved_while_the_server_was_down(desk, editors, repository):
    editor, one, path = desk
    await killed(editor)
    path.write_text(path.read_text().replace("first", "second"))
    again = editors()
    await again.start(repository)
    again.open(path, language="markdown")
    await becomes(again, one, "second")
    again.close(path)
    await again.until(lambda: not path.exists())


async def test_saved_while_the_server_was_down_and_never_shown_again(desk, editors, repository):
    editor, one, path = desk
    await killed(editor)
    path.write_text(path.read_text().replace("first", "second"))
    again = editors("neovim")
    await again.start(repository)
    await becomes(again, one, "second")


async def test_a_long_id_after_a_restart(desk, editors, repository):
    editor, _, _ = desk
    long = "x" * 150
    await editor.capture("first", id=long, title="Long")
    path = await opened(editor, long)
    await killed(editor)
    again = editors()
    await again.start(repository)
    again.open(path, language="markdown")
    write_and_save(again, path, path.read_text().replace("first", "second"))
    await becomes(again, long, "second")


async def test_a_stale_document_brings_no_old_text_back(desk, editors, repository):
    editor, one, path = desk
    await killed(editor)
    again = editors("neovim")
    await again.start(repository)
    again.open(path, language="markdown")
    stale = path.read_text()
    await again.run("memory.update", {"id": one, "content": "newer"})
    write_and_save(again, path, stale.replace("tags: []", "tags: [t]"))

    async def tagged() -> bool:
        return (await again.run("memory.get", {"id": one}))["memory"]["tags"] == ["t"]

    await again.until(tagged)
    assert await content(again, one) == "newer"


async def test_both_versions_survive_a_conflict(desk):
    editor, one, path = desk
    mine = path.read_text().replace("first", "mine")
    await editor.run("memory.update", {"id": one, "content": "by an agent"})
    write_and_save(editor, path, mine)
    [message] = await editor.messages()
    assert message.startswith("The memory was not saved: the content was changed meanwhile by ")
    assert await content(editor, one) == "by an agent"
    lines = path.read_text().split("\n")
    assert "mine" in lines
    assert "by an agent" in lines
    editor.change(path, (None, path.read_text()))  # the editor reloads what changed on disk
    write_and_save(editor, path, mine.replace("mine", "of both"))
    await becomes(editor, one, "of both")


async def test_a_document_that_nobody_edits_follows_its_memory(desk):
    editor, one, path = desk
    await editor.run("memory.update", {"id": one, "content": "by an agent"})
    await editor.until(lambda: path.read_text().endswith("---\n\nby an agent\n"))


async def test_another_encoding(desk):
    editor, one, path = desk
    write_and_save(editor, path, path.read_text().replace("first", "café naïve"), "latin-1")
    await becomes(editor, one, "café naïve")
    editor.close(path)
    await editor.until(lambda: not path.exists())


async def test_bytes_that_are_no_text_are_refused(desk):
    editor, one, path = desk
    editor.close(path)
    await editor.until(lambda: not path.exists())
    await opened(editor, one)
    broken = path.read_bytes().replace(b"first", b"caf\xe9")
    path.write_bytes(broken)
    editor.save(path)
    [message] = await editor.messages()
    assert "UTF-8" in message
    assert await content(editor, one) == "first"
    assert path.read_bytes() == broken


async def test_save_and_close_in_one_breath(desk):
    editor, one, path = desk
    write_and_save(editor, path, path.read_text().replace("first", "second"))
    editor.close(path)
    await becomes(editor, one, "second")
    await editor.until(lambda: not path.exists())


async def test_what_is_closed_without_saving_is_gone(desk):
    editor, one, path = desk
    editor.change(path, (None, path.read_text().replace("first", "second")))
    editor.close(path)
    await editor.until(lambda: not path.exists())
    assert await content(editor, one) == "first"


async def test_a_store_that_cannot_be_written_can_be_read(desk, editors, repository, tmp_path):
    editor, one, path = desk
    store = path.parent.parent
    editor.close(path)
    await editor.until(lambda: not any(path.parent.iterdir()))
    aside = tmp_path / "aside"
    (store / "open").rmdir()
    (store / "open").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    again = editors()
    await again.start(repository, environment={"TMPDIR": str(tmp_path / "tmp")})
    (store / "journal").rename(aside)
    (store / "journal").write_text("in the way")
    path = await opened(again, one)
    assert path.is_relative_to(tmp_path / "tmp")
    assert "first" in path.read_text()
    again.open(path, language="markdown")
    write_and_save(again, path, path.read_text().replace("first", "second"))
    [message] = await again.messages()
    assert message.startswith("The memory was not saved: ")
    (store / "journal").unlink()
    aside.rename(store / "journal")
    again.save(path)
    await becomes(again, one, "second")
    again.close(path)
    await again.until(lambda: not path.exists())
    again.client.log_messages.clear()  # the tick could not read the journal, and said so

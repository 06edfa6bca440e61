"""Settings over the wire: pulled, pushed, from the repository's file; wrong ones are told once."""

import asyncio

import pytest
from lsprotocol import types

from editors import make_repository

FILE = ".mnemolens.yaml"


async def a_note(editor, repository):
    editor.open(repository / "billing.py")
    await editor.capture("a note", repository / "billing.py", 3, 5)


def push(editor, settings):
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))


async def test_pulled(editor, repository):
    await editor.start(repository, settings={"hover": {"enabled": False}})
    await editor.indexed(files=2)
    await a_note(editor, repository)
    assert await editor.hover(repository / "billing.py", 3, 5) is None
    assert await editor.lenses(repository / "billing.py") == {3: "1 memory"}

    editor.client.set_configuration({"lens.enabled": False}, section="mnemolens")
    push(editor, None)
    await editor.until(lambda: editor.hover(repository / "billing.py", 3, 5))
    assert await editor.lenses(repository / "billing.py") == {}


async def test_pushed_and_given_at_the_start(vscode, repository):
    def without_pull(caps):
        caps.workspace.configuration = False

    await vscode.start(
        repository, capabilities=without_pull, options={"settings": {"mnemolens": {"hover.enabled": False}}}
    )
    await a_note(vscode, repository)
    assert await vscode.hover(repository / "billing.py", 3, 5) is None
    push(vscode, {"mnemolens": {"hover": {"enabled": True}}})
    assert await vscode.hover(repository / "billing.py", 3, 5) is not None
    push(vscode, {"hover": {"enabled": False}})
    assert await vscode.hover(repository / "billing.py", 3, 5) is None
    push(vscode, "nonsense")
    push(vscode, {"mnemolens": ["hover"]})
    first, second = await vscode.messages(2)
    assert "'nonsense'" in first
    assert "mnemolens" in second
    assert "['hover']" in second
    assert await vscode.hover(repository / "billing.py", 3, 5) is None, "the earlier settings stay"
    push(vscode, [])  # an empty object of Lua
    assert await vscode.hover(repository / "billing.py", 3, 5) is not None


@pytest.mark.parametrize("wrong", [[1], "hover", 5, True])
async def test_settings_that_are_no_object_are_told_once(vscode, tmp_path, wrong):
    folders = [make_repository(tmp_path / name) for name in ("one", "two")]
    await vscode.start(*folders, settings=wrong)
    [message] = await vscode.messages()
    assert "mnemolens must be an object" in message
    assert repr(wrong) in message
    push(vscode, None)
    await vscode.run("status")
    vscode.client.set_configuration({"hover": {"enabled": False}}, section="mnemolens")
    push(vscode, None)
    await a_note(vscode, folders[0])

    async def hidden():
        return await vscode.hover(folders[0] / "billing.py", 3, 5) is None

    await vscode.until(hidden)


@pytest.mark.parametrize("options", ["commandLinks", {"settings": [1]}, {"settings": {"mnemolens": "x"}}])
async def test_options_that_are_no_object_are_told_once(neovim, repository, options):
    await neovim.start(repository, options=options)
    await neovim.indexed(files=2)
    [message] = await neovim.messages()
    assert "must be an object" in message


async def test_the_repositorys_file_is_followed(vscode, repository):
    (repository / FILE).write_text("lens:\n  enabled: false\n")
    await vscode.start(repository)
    await vscode.indexed(files=2)
    await a_note(vscode, repository)
    assert await vscode.lenses(repository / "billing.py") == {}
    await asyncio.to_thread(
        (repository / FILE).write_text, "lens: {enabled: true}\nindex: {exclude: [shop.py]}\n"
    )
    await vscode.until(lambda: vscode.lenses(repository / "billing.py"))
    await vscode.indexed(files=1)
    await asyncio.to_thread((repository / FILE).unlink)
    await vscode.indexed(files=2)


async def test_the_editor_wins_over_the_file_and_the_environment_over_both(neovim, repository):
    (repository / FILE).write_text("hover: {enabled: false}\nlens: {enabled: false}\n")
    await neovim.start(
        repository,
        settings={"hover": {"enabled": True}, "lens": {"enabled": True}},
        environment={"MNEMOLENS_LENS__ENABLED": "false"},
    )
    await neovim.indexed(files=2)
    await a_note(neovim, repository)
    assert await neovim.hover(repository / "billing.py", 3, 5) is not None
    assert await neovim.lenses(repository / "billing.py") == {}


async def test_wrong_values_are_told_once_and_the_last_good_ones_stay(vscode, repository):
    (repository / FILE).write_text("hover: {maxItems: 1}\nstore: {path: /tmp/elsewhere}\n")
    await vscode.start(repository, settings={"lens": {"enabled": "maybe"}})
    await vscode.indexed(files=2)
    messages = await vscode.messages(2)
    assert len([text for text in messages if "store.path" in text and FILE in text]) == 1
    assert len([text for text in messages if "lens.enabled" in text]) == 1
    assert len(messages) == 2
    await a_note(vscode, repository)
    assert await vscode.lenses(repository / "billing.py") == {3: "1 memory"}

    push(vscode, None)
    await vscode.run("status")
    await asyncio.to_thread((repository / FILE).write_text, "hover: {maxItems: [\n")
    [message] = await vscode.messages()
    assert FILE in message
    await vscode.capture("another note", repository / "billing.py", 3, 5)
    text = await vscode.hover_text(repository / "billing.py", 3, 5)
    assert text.endswith("*and 1 more memory*")  # maxItems is still 1


async def test_a_broken_file_never_kills_the_server(neovim, repository):
    (repository / FILE).write_text("just text\n")
    await neovim.start(repository)
    await neovim.indexed(files=2)
    assert all(FILE in message for message in await neovim.messages())
    await asyncio.to_thread((repository / FILE).write_bytes, b"\x00\xff")
    assert all(FILE in message for message in await neovim.messages())
    await asyncio.to_thread((repository / FILE).write_text, "index: {exclude: [shop.py]}\n")
    await neovim.indexed(files=1)


async def test_the_store_moves_where_the_editor_says(vscode, repository, tmp_path):
    store = tmp_path / "kept elsewhere"
    await vscode.start(repository, settings={"store": {"path": str(store)}})
    await vscode.indexed(files=2)
    await a_note(vscode, repository)
    assert list(store.rglob("*.jsonl"))
    assert not (repository / ".git" / "mnemolens").exists()
    vscode.client.set_configuration({}, section="mnemolens")
    push(vscode, None)

    async def moved():
        return (await vscode.run("status"))["folders"][0]["memories"] == 0

    await vscode.until(moved)
    assert await vscode.lenses(repository / "billing.py") == {}

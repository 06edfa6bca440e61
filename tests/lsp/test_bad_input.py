"""Bad input over the wire: a clear message or null, nothing lost, and the server stays up."""

import json
import os
import sys

import pytest

from editors import BILLING, uri
from mnemolens.lsp.uris import path_of_uri


@pytest.fixture
async def ready(neovim, repository):
    await neovim.start(repository)
    await neovim.indexed(files=2)
    neovim.open(repository / "billing.py")
    return neovim


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


async def test_missing_and_wrong_arguments(ready, repository):
    there = {"uri": uri(repository / "billing.py")}
    for command, argument, start in [
        ("memory.capture", None, "content: is missing"),
        ("memory.capture", {"content": ""}, "content: "),
        ("memory.capture", {"content": " \n\t"}, "content: "),
        ("memory.capture", {"content": 5}, "content: "),
        ("memory.capture", {"content": "x", "importance": 7}, "importance: "),
        ("memory.capture", {"content": "x", "type": "fact"}, "type: "),
        ("memory.capture", {"content": "x", "tag": "y"}, "tag: is not an argument"),
        ("memory.capture", {"content": "x", "position": {"line": 0, "character": 0}}, "uri: is missing"),
        (
            "memory.capture",
            {"content": "x", **there, "position": {"line": "0"}},
            "position.character: is missing",
        ),
        ("memory.capture", "x", "arguments: "),
        ("memory.preview", {}, "content: is missing"),
        ("memory.get", {}, "id: is missing"),
        ("memory.get", {"id": "nope"}, "id: "),
        ("memory.get", {"id": "x" * 5_000}, "id: "),
        ("store.export", {"path": str(repository / ("x" * 5_000))}, "path: "),
        ("memory.update", {"id": "nope", "title": "x"}, "id: "),
        ("memory.forget", {"id": "nope"}, "id: "),
        ("memory.restore", {"id": "nope"}, "id: "),
        ("memory.done", {"id": "nope"}, "id: "),
        ("memory.access", {"ids": ["nope"]}, "id"),
        ("memory.confirm", {"id": "nope"}, "id: "),
        ("memory.reanchor", {"id": "nope", **there}, "id: "),
        ("memory.link", {"id": "nope", **there}, "id: "),
        ("memory.unlink", {"id": "nope", **there}, "id: "),
        ("memory.open", {"id": "nope"}, "id: "),
        ("memory.open", {}, "id: is missing"),
        ("memory.list", {"limit": 0}, "limit: "),
        ("memory.list", {"verdict": "stale"}, "verdict: "),
        ("memory.list", {"root": "/nowhere"}, "root: "),
        ("index.rebuild", {"files": []}, "files: is not an argument"),
        ("status", {"verbose": True}, "verbose: is not an argument"),
        ("memory.purge", {"id": "nope"}, "id: "),
        ("recall", {"limit": 0}, "limit: "),
        ("context", {}, "uri: is missing"),
        ("nonsense", {}, "command: "),
    ]:
        message = await ready.refusal(command, *([] if argument is None else [argument]))
        assert message.startswith(start), (command, argument, message)
        assert len(message) < 1_100
    assert "nope" in await ready.refusal("memory.get", {"id": "nope"})
    assert (await ready.run("memory.list"))["total"] == 0


async def test_sizes(ready, repository):
    message = await ready.refusal("memory.capture", {"content": "x" * 20_000_000})
    assert message.startswith("content: ")
    assert "1,000,000" in message
    memory = (await ready.capture("y" * 1_000_000, repository / "billing.py", 3, 5))["memory"]
    assert (
        await ready.refusal("memory.update", {"id": memory["id"], "content": "x" * 1_000_001})
    ).startswith("content: ")
    detail = await ready.run("memory.get", {"id": memory["id"]})
    assert len(detail["memory"]["content"]) == 1_000_000
    text = await ready.hover_text(repository / "billing.py", 3, 5)
    assert len(text) < 2000
    argument = {"content": "deep", "metadata": {"deep": nested(300)}}
    call = {"command": "mnemolens.memory.capture", "arguments": [argument]}
    error = await ready.raw("workspace/executeCommand", call)
    assert error.code == -32602
    ready.client.log_messages.clear()
    deep = nested(50)
    assert (await ready.capture("not so deep", metadata={"deep": deep}))["memory"]["metadata"] == {
        "deep": deep
    }
    assert (await ready.run("memory.list"))["total"] == 2


async def test_malformed_messages_are_answered(ready, repository):
    client = ready.client
    there = {"uri": uri(repository / "billing.py")}
    for params, words in [
        ({"textDocument": there}, "position"),
        ({"textDocument": there, "position": {"line": -1, "character": 0}}, "line"),
        ({"textDocument": there, "position": {"line": "a", "character": 0}}, "line"),
        ({"position": {"line": 1, "character": 0}}, "textDocument"),
        ([], ""),
        (None, ""),
    ]:
        error = await ready.raw("textDocument/hover", params)
        assert error.code == -32602, params
        assert words.lower() in error.message.replace("_", "").lower(), (params, error.message)
    error = await ready.raw("textDocument/hover", {"textDocument": there})
    assert error.message == "textDocument/hover: position is missing"
    error = await ready.raw("mnemolens/unknown", {})
    assert error.code == -32601
    assert (await ready.raw("workspace/executeCommand", {"arguments": []})).code == -32602

    # A notification that makes no sense is dropped; a broken body too.
    for body in (
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{}}}',
        b'{"jsonrpc":"2.0","method":"$/unknown","params":{}}',
        b'{"jsonrpc":"2.0","method":',
        b"[]",
        b'"x"',
        b"{}",
        b"\xff\xfe",
    ):
        ready.send(body)
    assert (await ready.run("status"))["folders"][0]["files"] == 2
    client.log_messages.clear()

    metadata = {"jsonrpc": "2.0", "id": 1, "method": "exit", "inner": {"jsonrpc": "2.0", "method": "exit"}}
    await ready.run("memory.capture", {"content": "looks like a message", "metadata": metadata})
    # Read from the journal: the client's library would take it for a message.
    [segment] = (repository / ".git" / "mnemolens" / "journal").glob("*.jsonl")
    [put] = [json.loads(line) for line in segment.read_text().splitlines() if "looks like" in line]
    assert put["data"]["meta"] == metadata


async def test_a_corrupt_journal_line_is_skipped_and_kept(editors, repository):
    first = editors()
    await first.start(repository)
    await first.indexed(files=2)
    ids = [
        (await first.capture(f"note {n}", repository / "billing.py", 3, 5))["memory"]["id"] for n in range(3)
    ]
    await first.client.shutdown_session()
    [segment] = (repository / ".git" / "mnemolens" / "journal").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if ids[1].encode() in line)
    lines[at] = lines[at].replace(b"note 1", b"note X")
    segment.write_bytes(b"".join(lines) + b'{"torn')

    second = editors()
    await second.start(repository)
    await second.indexed(files=2)
    status = await second.run("status")
    assert status["journal"]["skipped"] >= 1
    listed = await second.run("memory.list")
    assert {memory["content"] for memory in listed["memories"]} >= {"note 0", "note 2"}
    await second.capture("note 3")
    assert b"note X" in segment.read_bytes()
    second.client.log_messages = [m for m in second.client.log_messages if "journal" not in m.message]


async def test_sources_that_are_no_clean_utf8(ready, repository):
    files = {
        "bom.py": b"\xef\xbb\xbfdef with_bom():\n    pass\n",
        "latin.py": b"# caf\xe9\ndef in_latin():\n    pass\n",
        "cut.py": b"def cut_off():\n    x = '\xf0\x9f\x98",
        "binary.py": b"\x00\x01def f(): pass",
        "empty.py": b"",
        "deep.py": b"(" * 5000 + b"\ndef lost(): pass\n",
        "broken.py": b"def half(:\n  class\n",
    }
    for name, data in files.items():
        (repository / name).write_bytes(data)
    report = await ready.run("index.rebuild")
    assert report["files"] >= 6
    for name, symbol in [("bom.py", "with_bom"), ("latin.py", "in_latin"), ("cut.py", "cut_off")]:
        stored = await ready.run("memory.capture", {"content": f"about `{symbol}`"})
        assert [link["target"]["id"] for link in stored["links"]] == [f"{name}::{symbol}"]
    ready.open(repository / "bom.py", "\ufeffdef with_bom():\n    pass\n")
    assert "with" in await ready.hover_text(repository / "bom.py", 0, 8)
    for name in files:
        ready.open(repository / name)
        assert await ready.hover(repository / name, 0, 0) is None
        ready.close(repository / name)
    skipped = {found["file"] for found in (await ready.run("status"))["folders"][0]["skipped"]}
    assert "binary.py" in skipped


async def test_hostile_text_in_a_real_hover(vscode, repository):
    await vscode.start(repository, options={"commandLinks": True})
    await vscode.indexed(files=2)
    vscode.open(repository / "billing.py")
    await vscode.capture(
        "[Click](command:workbench.action.terminal.new) <img src=x onerror=alert(1)>\n\n# big\n\n```\nx",
        repository / "billing.py",
        3,
        5,
        author="](command:evil)",
    )
    text = await vscode.hover_text(repository / "billing.py", 3, 5)
    assert r"\[Click\]" in text
    assert r"\<img" in text or "&lt;img" in text
    assert text.count("](command:mnemolens.memory.") == 3
    assert "](command:workbench" not in text.replace(r"\]", "")
    assert "](command:evil" not in text.replace(r"\]", "")


async def test_ids_with_odd_characters(ready, repository):
    memory_id = 'a/b %#?"é😀../..'
    stored = await ready.capture("odd", repository / "billing.py", 3, 5, id=memory_id)
    assert stored["memory"]["id"] == memory_id
    [there] = (await ready.run("memory.open", {"id": memory_id}))["uris"]
    assert path_of_uri(there).parent == repository / ".git" / "mnemolens" / "open"
    await ready.until(lambda: ready.client.shown_documents)
    ready.client.shown_documents.clear()
    assert (await ready.run("memory.get", {"id": memory_id}))["memory"]["content"] == "odd"


async def test_memories_that_can_not_be_read_are_missed_aloud(vscode, repository):
    journal = repository / ".git" / "mnemolens" / "journal"
    refused = journal / "aaaaaaaaaa.jsonl"
    refused.mkdir(parents=True)  # root may read any file, but nobody can read a folder as one
    (journal / "bbbbbbbbbb.jsonl").mkdir()
    await vscode.start(repository)
    await vscode.indexed(files=2)
    [message] = await vscode.messages()
    assert str(refused) in message
    assert "1 more" in message
    assert "chmod" in message
    status = await vscode.run("status")
    unreadable, other = status["journal"]["unreadable"]
    assert unreadable["file"] == str(refused)
    assert "can't be read" in unreadable["reason"]
    assert other["file"].endswith("bbbbbbbbbb.jsonl")
    journal.rename(journal.with_name("aside"))

    async def readable():
        return (await vscode.run("status"))["journal"]["unreadable"] == []

    await vscode.until(readable)
    assert list(vscode.client.messages) == [], "told once"


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
async def test_a_store_that_can_not_be_listed_is_missed_aloud(vscode, repository):
    store = repository / ".git" / "mnemolens"
    store.mkdir()
    (store / "journal").symlink_to("journal")  # a circle
    await vscode.start(repository)
    await vscode.indexed(files=2)
    [message] = await vscode.messages()
    assert str(store / "journal") in message
    [unreadable] = (await vscode.run("status"))["journal"]["unreadable"]
    assert unreadable["file"] == str(store / "journal")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders there")
async def test_what_is_no_file_is_not_read(ready, repository):
    pipe = repository / "pipe.py"
    os.mkfifo(pipe)  # reading it would wait for a writer for ever
    assert await ready.hover(pipe, 0, 0) is None
    assert await ready.lenses(pipe) == {}
    assert (await ready.refusal("memory.capture", {"content": "x", "uri": uri(pipe)})).startswith("uri: ")
    assert (await ready.run("status"))["folders"][0]["memories"] == 0


async def test_a_store_that_can_not_be_written(vscode, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "billing.py").write_text(BILLING)
    store = tmp_path / "a file"
    store.write_text("not a folder")
    await vscode.start(folder, settings={"store": {"path": str(store)}})
    await vscode.indexed(files=1)
    with pytest.raises(Exception, match="a file") as caught:
        await vscode.run("memory.capture", {"content": "x"})
    assert caught.value.code == -32803
    assert (await vscode.run("memory.list"))["total"] == 0
    await vscode.until(lambda: any("A command failed" in m.message for m in vscode.client.log_messages))
    vscode.expect_logged("A command failed")

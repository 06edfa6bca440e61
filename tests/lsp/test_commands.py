"""Every command over the wire: what it takes, what it answers."""

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editors import uri

MEMORY_KEYS = {
    "id", "type", "title", "content", "tags", "metadata", "importance", "pinned", "status", "weight", "layer",
    "verdict", "accessCount", "createdAt", "accessedAt", "sessionId", "agentId", "author", "parentId",
    "expiresAt", "dueAt", "trigger", "born", "tokenCount", "contentHash",
}  # fmt: skip
PLACE_KEYS = {"kind", "file", "qualname", "ordinal", "id", "range"}


@pytest.fixture
async def ready(neovim, repository):
    await neovim.start(repository)
    await neovim.indexed(files=2)
    neovim.open(repository / "billing.py")
    neovim.open(repository / "shop.py")
    return neovim


async def test_what_is_advertised(ready):
    assert set(ready.result.capabilities.execute_command_provider.commands) == {
        *(
            f"mnemolens.memory.{name}"
            for name in (
                "capture", "preview", "get", "list", "update", "forget", "restore", "done", "access",
                "due", "snooze", "notNow", "confirm", "undoMove", "reanchor", "link", "unlink", "open",
                "purge",
            )
        ),
        "mnemolens.recall",
        "mnemolens.context",
        "mnemolens.suggestion.refuse",
        "mnemolens.sessions",
        "mnemolens.agents",
        "mnemolens.session.forget",
        "mnemolens.session.restore",
        "mnemolens.conflicts",
        "mnemolens.clusters",
        "mnemolens.graph.neighbors",
        "mnemolens.graph.query",
        *(f"mnemolens.store.{name}" for name in ("export", "import", "restore")),
        *(f"mnemolens.import.{name}" for name in ("preview", "run", "undo")),
        "mnemolens.index.rebuild",
        "mnemolens.linking.resume",
        "mnemolens.status",
    }  # fmt: skip


async def test_shapes(ready, repository):
    answer = await ready.capture(
        "see `refund`",
        repository / "billing.py",
        3,
        5,
        title="A title",
        type="prospective",
        tags=["b", "a"],
        importance=0.9,
        metadata={"snake_case": {"camelCase": [1, None, "x"]}},
        sessionId="s1",
        agentId="g1",
        author="Ana",
        expiresAt="2099-01-01T00:00:00+02:00",
        dueAt="2098-01-01T00:00:00Z",
        trigger={"on": "merge", "branch": "main"},
    )
    assert set(answer) == {"memory", "links", "warnings"}
    memory = answer["memory"]
    assert set(memory) == MEMORY_KEYS
    assert memory["metadata"] == {"snake_case": {"camelCase": [1, None, "x"]}}
    assert memory["expiresAt"] == "2098-12-31T22:00:00Z"
    assert memory["dueAt"] == "2098-01-01T00:00:00Z"
    assert memory["trigger"] == {"on": "merge", "branch": "main"}
    assert sorted(memory["tags"]) == ["a", "b"]
    assert (memory["sessionId"], memory["agentId"], memory["importance"]) == ("s1", "g1", 0.9)
    assert memory["createdAt"].endswith("Z")
    assert set(memory["born"]) == {"commit", "branch"}
    links = {link["target"]["id"]: link for link in answer["links"]}
    assert set(links) == {"billing.py::charge", "billing.py::Payment.refund"}
    named = links["billing.py::Payment.refund"]
    assert set(named) == {"target", "relevance", "context", "evidence", "timestamp", "candidate"}
    assert set(named["target"]) == PLACE_KEYS
    assert named["evidence"]["field"] == "content"
    assert (named["evidence"]["start"], named["evidence"]["end"]) in {(4, 12), (5, 11)}
    assert links["billing.py::charge"]["target"]["range"] == {
        "start": {"line": 3, "character": 0},
        "end": {"line": 5, "character": 32},
    }
    detail = await ready.run("memory.get", {"id": memory["id"]})
    assert set(detail) == {"memory", "links", "anchors", "edges", "history"}
    anchor = next(found for found in detail["anchors"] if found["context"] == "captured_here")
    assert {"id", "birth", "at", "verdict", "stage", "score", "candidates"} <= set(anchor)
    assert set(anchor["birth"]) == PLACE_KEYS | {"commit", "branch"}
    assert anchor["birth"]["branch"] == "main"
    assert detail["history"][0]["op"] == "memory.put"
    assert set(detail["history"][0]) == {"clock", "op", "by", "fields"}


async def test_preview_stores_nothing(ready, repository):
    argument = {
        "content": "about `charge`",
        "uri": uri(repository / "shop.py"),
        "position": {"line": 3, "character": 5},
    }
    answer = await ready.run("memory.preview", argument)
    assert set(answer) == {"links", "warnings"}
    assert {link["target"]["id"] for link in answer["links"]} == {"shop.py::checkout", "billing.py::charge"}
    assert (await ready.run("memory.list"))["total"] == 0
    assert not (repository / ".git" / "mnemolens").exists()


async def test_a_duplicate_is_the_earlier_memory(ready, repository):
    first = await ready.capture("same words", repository / "billing.py", 3, 5)
    again = await ready.capture("  same\n words ", repository / "billing.py", 4, 5)
    assert again["duplicateOf"] == first["memory"]["id"]
    assert again["memory"]["id"] == first["memory"]["id"]
    elsewhere = await ready.capture("same words", repository / "shop.py", 3, 5)
    assert elsewhere["memory"]["id"] != first["memory"]["id"]
    assert len(elsewhere["warnings"]) == 1
    assert (await ready.run("memory.list"))["total"] == 2


async def test_list(ready, repository):
    billing, shop = repository / "billing.py", repository / "shop.py"
    one = (await ready.capture("one", billing, 3, 5, tags=["x"]))["memory"]["id"]
    two = (await ready.capture("two", billing, 10, 10, type="episodic"))["memory"]["id"]
    three = (await ready.capture("three", shop, 3, 5))["memory"]["id"]

    async def ids(**argument):
        page = await ready.run("memory.list", argument)
        assert page["total"] >= len(page["memories"])
        return [memory["id"] for memory in page["memories"]]

    assert await ids() == [three, two, one]
    assert set(await ids(uri=uri(billing))) == {one, two}
    assert await ids(uri=uri(billing), position={"line": 3, "character": 5}) == [one]
    assert await ids(type="episodic") == [two]
    assert await ids(tags=["x"]) == [one]
    assert await ids(text="thre") == [three]
    assert await ids(verdict="lost") == []
    assert await ids(limit=1) == [three]
    assert await ids(limit=1, offset=2) == [one]
    page = await ready.run("memory.list", {"limit": 2})
    assert page["total"] == 3
    await ready.run("memory.forget", {"id": three})
    assert await ids() == [two, one]
    assert await ids(includeForgotten=True) == [three, two, one]


async def test_update_forget_restore_done(ready, repository):
    memory_id = (await ready.capture("about nothing", repository / "billing.py", 3, 5))["memory"]["id"]
    answer = await ready.run(
        "memory.update",
        {"id": memory_id, "title": "T", "content": "about `checkout`", "tags": ["t"], "pinned": True,
         "dueAt": "2098-01-01T00:00:00Z", "metadata": {"k": 1}},
    )  # fmt: skip
    assert set(answer) == {"memory", "links"}
    memory = answer["memory"]
    assert (memory["title"], memory["content"], memory["tags"], memory["pinned"]) == (
        "T",
        "about `checkout`",
        ["t"],
        True,
    )
    assert memory["dueAt"] == "2098-01-01T00:00:00Z"
    assert {link["target"]["id"] for link in answer["links"]} == {"billing.py::charge", "shop.py::checkout"}
    cleared = (await ready.run("memory.update", {"id": memory_id, "dueAt": None}))["memory"]
    assert (cleared["dueAt"], cleared["title"]) == (None, "T")

    forgotten = await ready.run("memory.forget", {"id": memory_id})
    assert forgotten["memory"]["status"] == "forgotten"
    assert await ready.lenses(repository / "billing.py") == {}
    assert (await ready.run("memory.restore", {"id": memory_id}))["memory"]["status"] == "active"
    assert await ready.lenses(repository / "billing.py") == {3: "1 memory"}
    assert (await ready.run("memory.done", {"id": memory_id}))["memory"]["status"] == "done"
    assert (await ready.run("memory.restore", {"id": memory_id}))["memory"]["status"] == "active"


async def test_access_counts_once_a_minute(ready):
    one = (await ready.capture("one"))["memory"]["id"]
    two = (await ready.capture("two"))["memory"]["id"]
    assert (await ready.run("memory.get", {"id": one}))["memory"]["accessCount"] == 0
    answer = await ready.run("memory.access", {"ids": [one, one]})
    assert [(memory["id"], memory["accessCount"]) for memory in answer["memories"]] == [(one, 1)]
    answer = await ready.run("memory.access", {"ids": [two, one]})
    assert [(memory["id"], memory["accessCount"]) for memory in answer["memories"]] == [(two, 1), (one, 1)]
    message = await ready.refusal("memory.access", {"ids": [one, "nope"]})
    assert "nope" in message


async def test_confirm_and_reanchor(ready, repository):
    billing = repository / "billing.py"
    memory_id = (await ready.capture("a note", billing, 3, 5))["memory"]["id"]
    ready.change(
        billing,
        ((4, 0, 6, 0), '    """Other."""\n    a = 1\n    b = [a, a]\n    return {a: b, b: [x for x in b]}\n'),
    )
    ready.save(billing)

    async def verdict():
        return (await ready.run("memory.get", {"id": memory_id}))["memory"]["verdict"]

    assert await verdict() == "drifted"
    assert (await ready.lenses(billing))[3] == "1 memory · 1 drifted"
    titles = {action["title"]: action for action in await ready.actions(billing, 3, 5)}
    assert "Still true: a note" in titles
    answer = await ready.run("memory.confirm", {"id": memory_id})
    assert set(answer) == {"memory", "anchors"}
    assert answer["memory"]["verdict"] == "fresh"
    assert await verdict() == "fresh"

    answer = await ready.run(
        "memory.reanchor",
        {"id": memory_id, "uri": uri(repository / "shop.py"), "position": {"line": 3, "character": 6}},
    )
    assert set(answer) == {"memory", "links"}
    assert [link["target"]["id"] for link in answer["links"]] == ["shop.py::checkout"]
    answer = await ready.run("memory.reanchor", {"id": memory_id, "candidate": "billing.py::Payment"})
    assert [link["target"]["id"] for link in answer["links"]] == ["billing.py::Payment"]
    assert "candidate" in await ready.refusal(
        "memory.reanchor", {"id": memory_id, "candidate": "billing.py::gone"}
    )


async def test_link_and_unlink(ready, repository):
    one = (await ready.capture("one", repository / "billing.py", 3, 5))["memory"]["id"]
    two = (await ready.capture("two"))["memory"]["id"]
    there = {"uri": uri(repository / "shop.py"), "position": {"line": 3, "character": 6}}
    answer = await ready.run("memory.link", {"id": one, **there})
    assert {link["target"]["id"] for link in answer["links"]} == {"billing.py::charge", "shop.py::checkout"}
    assert await ready.lenses(repository / "shop.py") == {3: "1 memory"}
    answer = await ready.run("memory.unlink", {"id": one, **there})
    assert {link["target"]["id"] for link in answer["links"]} == {"billing.py::charge"}

    answer = await ready.run(
        "memory.link", {"id": one, "targetId": two, "edgeType": "SAME_TOPIC", "weight": 0.5}
    )
    [edge] = answer["edges"]
    assert (edge["sourceId"], edge["targetId"], edge["weight"]) == (one, two, 0.5)
    assert edge["createdAt"].endswith("Z")
    assert (await ready.run("memory.unlink", {"id": one, "targetId": two, "edgeType": edge["type"]}))[
        "edges"
    ] == []
    assert "nope" in await ready.refusal("memory.link", {"id": one, "targetId": "nope"})


async def test_open_by_id_ids_and_place(ready, repository):
    one = (await ready.capture("one", repository / "billing.py", 3, 5))["memory"]["id"]
    two = (await ready.capture("two", repository / "billing.py", 3, 5))["memory"]["id"]
    by_ids = (await ready.run("memory.open", {"ids": [one, two]}))["uris"]
    assert [there.rpartition("/")[2] for there in by_ids] == [f"{one}.md", f"{two}.md"]
    place = {"uri": uri(repository / "billing.py"), "position": {"line": 3, "character": 5}}
    by_place = (await ready.run("memory.open", place))["uris"]
    assert sorted(by_place) == sorted(by_ids)
    nothing = {"uri": uri(repository / "shop.py"), "position": {"line": 3, "character": 5}}
    assert (await ready.refusal("memory.open", nothing)).startswith("position: ")
    assert (await ready.run("memory.get", {"id": one}))["memory"]["accessCount"] >= 1
    await ready.until(lambda: len(ready.client.shown_documents) == 4)
    ready.client.shown_documents.clear()


async def test_code_actions(editor, repository):
    billing = repository / "billing.py"
    options = {"captureCommand": "mnemolens.capture"} if editor.kind == "visual-studio-code" else None
    await editor.start(repository, options=options)
    await editor.indexed(files=2)
    editor.open(billing)
    memory_id = (await editor.capture("a note", billing, 3, 5))["memory"]["id"]
    found = await editor.actions(billing, 3, 4, 3, 10)
    titles = {action["title"]: action["command"] for action in found}
    assert titles["Open memory: a note"] == {
        "title": "Open memory: a note",
        "command": "mnemolens.memory.open",
        "arguments": [{"id": memory_id, "root": str(repository)}],
    }
    assert titles["Forget memory: a note"]["command"] == "mnemolens.memory.forget"
    if options:
        command = titles["Remember something about charge()"]
        assert (command["command"], command["arguments"]) == (
            "mnemolens.capture",
            [{"uri": uri(billing), "position": {"line": 3, "character": 4}}],
        )
    else:
        command = titles["Remember the selected text on charge()"]
        answer = await editor.run(command["command"].removeprefix("mnemolens."), *command["arguments"])
        assert answer["memory"]["content"] == "charge"
        assert [link["target"]["id"] for link in answer["links"]] == ["billing.py::charge"]
    # No light bulb at every line: only what needs a hand comes unasked.
    assert await editor.actions(billing, 3, 4, trigger_kind=types.CodeActionTriggerKind.Automatic) == []
    only = await editor.actions(billing, 3, 4, 3, 10, only=["mnemolens.memory"])
    assert {action["kind"] for action in only} == {"mnemolens.memory"}
    assert await editor.actions(billing, 3, 4, only=["quickfix"]) == []


async def test_the_selected_text_is_what_there_is(neovim, repository):
    """Line numbers are the client's: what lies outside the text is none of it, however far."""
    billing = repository / "billing.py"
    await neovim.start(repository)
    await neovim.indexed(files=2)
    neovim.open(billing, "def charge(a):\r\n    return a\r\n")

    async def selected(*where):
        found = await neovim.actions(billing, *where)
        arguments = [action["command"]["arguments"][0] for action in found if "Remember" in action["title"]]
        return [argument["content"] for argument in arguments]

    last = 2**31 - 1
    assert await selected(0, 4, last, last) == ["charge(a):\n    return a\n"]
    assert await selected(0, 4, 0, last) == ["charge(a):"]
    assert await selected(last, 0, last, last) == []
    assert await selected(1, 4, 0, 4) == []
    neovim.change(billing, (None, "x = 1\n" * 100_000))
    assert await selected(0, 0, last, 0) == [], "too long to be a memory"
    assert await selected(99_998, 0, last, 0) == ["x = 1\nx = 1\n"]


async def test_a_secret_is_stored_where_that_is_asked_for(ready, repository):
    secret = "the deploy key is AKIA" + "Z7QX3MN5RT2WPL4K"  # made up
    with pytest.raises(JsonRpcException) as caught:
        await ready.run("memory.capture", {"content": secret})
    assert caught.value.message.startswith("content: ")
    found = {"field": "content", "kind": "AWS access key", "start": 18, "end": 38}
    assert caught.value.data == {"field": "content", "reason": "secret", "secrets": [found]}
    assert (await ready.run("memory.list"))["total"] == 0
    captured = await ready.capture(secret, repository / "billing.py", 3, 5, allowSecret=True)
    assert captured["memory"]["content"] == secret
    memory_id = (await ready.capture("a note"))["memory"]["id"]
    change = {"id": memory_id, "content": f"{secret} too"}
    assert (await ready.refusal("memory.update", change)).startswith("content: ")
    changed = await ready.run("memory.update", {**change, "allowSecret": True})
    assert changed["memory"]["content"] == f"{secret} too"


async def test_status(ready, repository):
    await ready.capture("a note", repository / "billing.py", 3, 5)
    (repository / "binary.py").write_bytes(b"\0\0")
    status = await ready.run("status")
    assert set(status) == {"version", "folders", "journal"}
    [folder] = status["folders"]
    assert set(folder) == {
        "root", "files", "symbols", "memories", "verdicts", "skipped", "skippedTotal", "indexing", "graph",
        "indexStopped", "restore", "meaning", "linksDue", "partial", "partialTotal",
    }  # fmt: skip
    assert (folder["root"], folder["files"], folder["memories"]) == (str(repository), 2, 1)
    assert folder["verdicts"] == {"fresh": 1}
    assert folder["indexing"] is None
    assert set(folder["graph"]) == {"state", "slot", "reason"}
    assert status["journal"]["segments"] == 1
    assert status["journal"]["skipped"] == 0
    assert status["journal"]["unreadable"] == []
    assert folder["indexStopped"] is False
    report = await ready.run("index.rebuild")
    assert set(report) == {"files", "symbols", "seconds"}
    [skipped] = (await ready.run("status"))["folders"][0]["skipped"]
    assert skipped["file"] == "binary.py"
    assert skipped["reason"]


async def test_a_name_in_two_places_is_linked_by_a_code_action(neovim, repository):
    for name in ("one.py", "two.py"):
        (repository / name).write_text("def settle():\n    return 1\n")
    await neovim.start(repository)
    await neovim.indexed(files=4)
    await neovim.capture("`settle` is slow")
    neovim.open(repository / "one.py")
    titles = {one["title"]: one["command"] for one in await neovim.actions(repository / "one.py", 0, 5)}
    for title, here in (
        ("Not about settle(): `settle` is slow", []),
        ("Link to settle(): `settle` is slow", [False]),
    ):
        command = titles[title]
        answer = await neovim.run(command["command"].removeprefix("mnemolens."), *command["arguments"])
        found = [link["candidate"] for link in answer["links"] if link["target"]["id"] == "one.py::settle"]
        assert found == here


async def test_a_file_that_is_gone_has_no_code_actions(ready, repository):
    assert await ready.actions(repository / "gone.py", 0, 0) == []

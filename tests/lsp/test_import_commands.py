"""The importers over the wire: preview, run, undo."""

import pytest

from editors import BILLING, uri

TODOS = BILLING.replace(
    "def charge(amount):", "# TODO(ana): never retry\n# on a timeout\ndef charge(amount):"
).replace("        return charge(-1)", "        return charge(-1)  # FIXME: only half of it")
AGENTS = "# Money\n\nAmounts are in cents.\n\n## Refunds\n\nAsk Ana first.\n"


@pytest.fixture
async def ready(neovim, repository):
    (repository / "billing.py").write_text(TODOS)
    (repository / "AGENTS.md").write_text(AGENTS)
    await neovim.start(repository)
    await neovim.indexed(files=2)
    return neovim


async def test_an_import_at_the_start_waits_for_the_code(neovim, repository):
    (repository / "billing.py").write_text(TODOS)
    await neovim.start(repository)
    assert (await neovim.run("import.preview"))["counts"]["new"] == 2
    assert (await neovim.run("import.run"))["stored"] == 2


async def titles(editor):
    return sorted(memory["title"] for memory in (await editor.run("memory.list"))["memories"])


async def test_a_preview_stores_nothing(ready, repository):
    answer = await ready.run("import.preview")
    assert set(answer) == {"items", "counts", "gone", "refused"}
    assert [(item["file"], item["line"], item["title"]) for item in answer["items"]] == [
        ("AGENTS.md", 3, "Money"),
        ("AGENTS.md", 7, "Refunds"),
        ("billing.py", 4, "never retry on a timeout"),
        ("billing.py", 13, "only half of it"),
    ]
    todo = answer["items"][2]
    assert {key: todo[key] for key in ("action", "source", "label", "type", "author", "symbol")} == {
        "action": "new",
        "source": "todo",
        "label": "TODO",
        "type": "prospective",
        "author": "ana",
        "symbol": "billing.py::charge",
    }
    assert answer["counts"] == {
        "new": 4, "edited": 0, "known": 0, "forgotten": 0, "gone": 0, "refused": 0,
    }  # fmt: skip
    assert await titles(ready) == []
    assert not (repository / ".git" / "mnemolens").exists()


async def test_run_again_and_undo(ready, repository):
    done = await ready.run("import.run")
    assert (done["stored"], done["updated"], done["refused"]) == (4, 0, [])
    here = {"uri": uri(repository / "billing.py"), "position": {"line": 5, "character": 5}}
    (found,) = (await ready.run("memory.list", here))["memories"]
    assert (found["content"], found["author"]) == ("never retry on a timeout", "ana")
    assert (found["sessionId"], found["verdict"]) == (done["sessionId"], "fresh")

    again = await ready.run("import.run")
    assert again == {"sessionId": None, "stored": 0, "updated": 0, "refused": []}

    back = await ready.run("import.undo", {"sessionId": done["sessionId"]})
    assert back == {"forgotten": 4, "reverted": 0}
    assert await titles(ready) == []
    assert (await ready.run("import.run"))["stored"] == 0  # what was taken back is not offered again


async def test_only_what_was_picked(ready):
    items = (await ready.run("import.preview"))["items"]
    picked = [item["id"] for item in items if item["title"] in {"Refunds", "only half of it"}]
    assert (await ready.run("import.run", {"ids": picked}))["stored"] == 2
    assert await titles(ready) == ["Refunds", "only half of it"]
    assert (await ready.run("import.run", {"ids": []}))["sessionId"] is None


async def test_one_file(ready, repository):
    there = {"uri": uri(repository / "billing.py")}
    assert (await ready.run("import.preview", there))["counts"]["new"] == 2
    assert (await ready.run("import.preview", {"uri": uri(repository / "AGENTS.md")}))["counts"]["new"] == 2
    assert (await ready.run("import.run", there))["stored"] == 2
    assert (await ready.run("import.preview"))["counts"]["new"] == 2


async def test_one_source(ready):
    assert (await ready.run("import.run", {"sources": ["agents"]}))["stored"] == 2
    assert await titles(ready) == ["Money", "Refunds"]
    counts = (await ready.run("import.preview", {"sources": ["todo"]}))["counts"]
    assert (counts["new"], counts["gone"]) == (2, 0)


async def test_unsaved_text_counts(ready, repository):
    path = repository / "shop.py"
    ready.open(path, "# NOTE: of the open text\n")
    items = (await ready.run("import.preview", {"uri": uri(path)}))["items"]
    assert [item["title"] for item in items] == ["of the open text"]


async def test_an_edit_is_followed_and_taken_back(ready, repository):
    await ready.run("import.run")
    path = repository / "billing.py"
    text = TODOS.replace("only half of it", "only half of it, in euros")
    path.write_text(text)
    ready.open(path, text)
    counts = (await ready.run("import.preview"))["counts"]
    assert (counts["new"], counts["edited"]) == (0, 1)
    done = await ready.run("import.run")
    assert (done["stored"], done["updated"]) == (0, 1)
    assert "only half of it, in euros" in await titles(ready)
    back = await ready.run("import.undo", {"sessionId": done["sessionId"]})
    assert back == {"forgotten": 0, "reverted": 1}
    assert "only half of it" in await titles(ready)


async def test_what_is_gone_from_the_code_is_named(ready, repository):
    await ready.run("import.run", {"sources": ["todo"]})
    ready.open(repository / "billing.py", BILLING)
    preview = await ready.run("import.preview")
    listed = (await ready.run("memory.list"))["memories"]
    assert sorted(preview["gone"]) == sorted(memory["id"] for memory in listed)


async def test_secrets_are_refused_by_their_place(ready, repository):
    key = "AKIA" + "Q3EGRJZ5KX7NWB2M"
    ready.open(repository / "shop.py", f"\n# TODO: rotate {key}\n")
    done = await ready.run("import.run")
    assert done["stored"] == 4
    (refused,) = done["refused"]
    assert (refused["file"], refused["line"], refused["source"]) == ("shop.py", 2, "todo")
    assert [secret["field"] for secret in refused["secrets"]] == ["content", "title"]
    assert key not in str(await ready.run("import.preview"))
    store = repository / ".git" / "mnemolens"
    assert key.encode() not in b"".join(p.read_bytes() for p in store.rglob("*") if p.is_file())


@pytest.mark.parametrize(
    ("command", "arguments", "field"),
    [
        ("import.preview", {"sources": []}, "sources"),
        ("import.preview", {"sources": ["jira"]}, "sources.0"),
        ("import.run", {"ids": "all"}, "ids"),
        ("import.undo", {}, "sessionId"),
        ("import.undo", {"sessionId": "import-none"}, "sessionId"),
    ],
)
async def test_refusals(ready, command, arguments, field):
    assert (await ready.refusal(command, arguments)).startswith(f"{field}: ")

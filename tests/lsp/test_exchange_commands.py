"""Export, import, purge and the daily copy, over the wire."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from editors import uri


@pytest.fixture
async def ready(neovim, repository):
    await neovim.start(repository)
    await neovim.indexed(files=2)
    return neovim


async def test_out_and_in_again(ready, editors, repository, tmp_path):
    await ready.capture("Never retry", repository / "billing.py", 3, 5, tags=["pay"])
    await ready.capture("Ask Ana first")
    path = tmp_path / "memories.jsonl"
    out = await ready.run("store.export", {"path": str(path)})
    assert out == {"memories": 2, "path": str(path), "format": "jsonl"}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["memory"]["content"] for line in lines} == {"Never retry", "Ask Ana first"}

    other = tmp_path / "other"
    shutil.copytree(repository, other, ignore=shutil.ignore_patterns("mnemolens"))
    editor = editors("neovim")
    await editor.start(other)
    await editor.indexed(files=2)
    dry = await editor.run("store.import", {"path": uri(path), "dryRun": True})
    assert (dry["memories"], dry["new"]) == (2, 2)
    assert (await editor.run("memory.list"))["total"] == 0
    assert not (other / ".git" / "mnemolens").exists()
    first = await editor.run("store.import", {"path": str(path)})
    assert first == {
        "memories": 2, "new": 2, "updated": 0, "unchanged": 0,
        "skipped": [], "skippedTotal": 0, "warnings": [],
    }  # fmt: skip
    again = await editor.run("store.import", {"path": str(path)})
    assert (again["new"], again["unchanged"]) == (0, 2)
    here = {"uri": uri(other / "billing.py"), "position": {"line": 3, "character": 5}}
    (found,) = (await editor.run("memory.list", here))["memories"]
    assert (found["content"], found["tags"], found["verdict"]) == ("Never retry", ["pay"], "fresh")


async def test_at_the_start_a_line_of_code_is_not_known_yet(neovim, repository, tmp_path):
    path = tmp_path / "least.jsonl"
    path.write_text('{"memory": {"content": "Never retry"}, "at": {"file": "billing.py", "line": 6}}')
    await neovim.start(repository)
    done = await neovim.run("store.import", {"path": str(path)})
    assert (done["new"], done["warnings"]) == (1, [])
    (found,) = (await neovim.run("memory.list"))["memories"]
    (link,) = (await neovim.run("memory.get", {"id": found["id"]}))["links"]
    assert link["target"]["id"] == "billing.py::charge"


async def test_markdown(ready, tmp_path):
    await ready.capture("Never retry")
    path = tmp_path / "memories.md"
    out = await ready.run("store.export", {"path": str(path), "format": "markdown"})
    assert (out["memories"], out["format"]) == (1, "markdown")
    assert "Never retry" in path.read_text()


async def test_a_secret_is_skipped_unless_allowed(ready, tmp_path):
    path = tmp_path / "in.jsonl"
    key = "AKIA" + "Q3EGRJZ5KX7NWB2M"
    path.write_text(json.dumps({"memory": {"content": f"use {key}"}}) + "\n")
    report = await ready.run("store.import", {"path": str(path)})
    assert (report["new"], [one["line"] for one in report["skipped"]]) == (0, [1])
    assert key not in json.dumps(report)
    assert (await ready.run("store.import", {"path": str(path), "allowSecret": True}))["new"] == 1


@pytest.mark.parametrize(
    ("command", "arguments", "field"),
    [
        ("store.export", {}, "path"),
        ("store.export", {"path": "memories.jsonl"}, "path"),
        ("store.export", {"path": "/no/such/folder/at/all.jsonl"}, "path"),
        ("store.export", {"path": "/tmp/x", "format": "csv"}, "format"),
        ("store.import", {"path": "/no/such/file.jsonl"}, "path"),
        ("store.import", {"path": "http://example.org/x"}, "path"),
        ("store.restore", {}, "root"),
        ("memory.purge", {"id": "nobody"}, "id"),
    ],
)
async def test_refusals(ready, command, arguments, field):
    assert (await ready.refusal(command, arguments)).startswith(f"{field}: ")


async def test_purge(ready, repository):
    kept = (await ready.capture("Keep this"))["memory"]["id"]
    gone = (await ready.capture("Nobody must read this", repository / "billing.py", 3, 5))["memory"]["id"]
    answer = await ready.run("memory.purge", {"id": gone})
    assert set(answer) == {"removed", "pending"}
    assert len(answer["removed"]) == 1  # the one segment there is
    assert answer["pending"] == []
    store = repository / ".git" / "mnemolens"
    assert b"Nobody must read" not in b"".join(p.read_bytes() for p in store.rglob("*") if p.is_file())
    assert (await ready.refusal("memory.get", {"id": gone})).startswith("id: ")
    listed = await ready.run("memory.list", {"includeForgotten": True})
    assert [memory["id"] for memory in listed["memories"]] == [kept]


@pytest.mark.graph
async def test_a_purged_memory_leaves_the_graph(ready):
    gone = (await ready.capture("Nobody must read this"))["memory"]["id"]
    count = {"cypher": "MATCH (m:SemanticMemory) RETURN count(m)"}
    assert (await ready.run("graph.query", count))["rows"] == [[1]]
    await ready.run("memory.purge", {"id": gone})
    assert (await ready.run("graph.query", count))["rows"] == [[0]]


class TestDailyCopy:
    @pytest.fixture
    def data(self, tmp_path: Path) -> Path:
        return tmp_path / "data"

    @pytest.fixture
    def committed(self, repository: Path) -> Path:
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "First")
        return repository

    async def started(self, editors, folder, data):
        editor = editors("neovim")
        await editor.start(folder, environment={"MNEMOLENS_DATA_DIR": str(data)})
        await editor.indexed(files=2)
        return editor

    async def copied(self, editor, data):
        return await editor.until(lambda: list(data.glob("copies/*/*.jsonl")))

    async def test_a_fresh_clone_is_offered_the_copy(self, editors, committed, data, tmp_path):
        first = await self.started(editors, committed, data)
        await first.capture("Never retry", committed / "billing.py", 3, 5)
        (copy,) = await self.copied(first, data)
        assert (await first.run("status"))["folders"][0]["restore"] is None

        clone = tmp_path / "clone"
        shutil.copytree(committed, clone, ignore=shutil.ignore_patterns("mnemolens"))
        second = await self.started(editors, clone, data)

        async def offer():
            return (await second.run("status"))["folders"][0]["restore"]

        assert await second.until(offer) == {"day": copy.stem, "path": str(copy)}
        assert not (clone / ".git" / "mnemolens").exists()  # never by itself
        report = await second.run("store.restore")
        assert (report["memories"], report["new"]) == (1, 1)
        assert await offer() is None
        here = {"uri": uri(clone / "billing.py"), "position": {"line": 3, "character": 5}}
        assert (await second.run("memory.list", here))["total"] == 1
        assert (await second.refusal("store.restore")).startswith("root: ")

    async def test_without_memories_there_is_no_copy(self, editors, committed, data):
        editor = await self.started(editors, committed, data)
        await asyncio.sleep(1.2)  # the tick has come round
        status = await editor.run("status")
        assert status["folders"][0]["restore"] is None
        assert not data.exists()


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True)

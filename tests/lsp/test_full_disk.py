"""A disk that is really full: a small tmpfs, filled to its last byte. Skipped where none may be mounted."""

import json
import subprocess
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

LONG = "double-charges" * 200  # 2,800 characters


class SmallDisk:
    """A file system of a few pages."""

    def __init__(self, place: Path, kilobytes: int) -> None:
        self.place = place
        self._ballast = place / "ballast"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=700", "tmpfs", place],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")

    def fill(self) -> None:
        """Takes all that is left."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def free(self) -> None:
        self._ballast.unlink()

    def unmount(self) -> None:
        subprocess.run(["umount", "-l", self.place], check=True)


@pytest.fixture
def small_disk(tmp_path):
    made = []

    def make(kilobytes):
        made.append(SmallDisk(tmp_path / f"disk{len(made)}", kilobytes))
        return made[-1]

    yield make
    for disk in made:
        disk.unmount()


@pytest.fixture
def committed(repository):
    """The repository with a commit, without which no daily copies are made."""
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    for command in (("add", "."), (*who, "commit", "-q", "-m", "First")):
        subprocess.run(["git", "-C", repository, *command], check=True)
    return repository


async def contents(editor):
    return sorted(memory["content"] for memory in (await editor.run("memory.list"))["memories"])


async def refused(editor, command, arguments):
    """The message of the one error that a full disk is answered with."""
    with pytest.raises(JsonRpcException) as caught:
        await editor.run(command, arguments)
    return caught.value.message


async def test_the_store(editors, repository, small_disk):
    disk = small_disk(64)
    path = repository / "billing.py"
    editor = editors("neovim")
    await editor.start(repository, environment={"MNEMOLENS_STORE__PATH": str(disk.place / "store")})
    await editor.indexed(files=2)
    editor.open(path)
    one = (await editor.capture("Never retry", path, 3, 5))["memory"]["id"]
    acknowledged = ["Never retry"]
    message = ""
    for number in range(100):
        text = f"{number} {LONG}"
        try:
            await editor.capture(text)
        except JsonRpcException as error:
            message = error.message
            break
        acknowledged.append(text)
    disk.fill()
    assert "No space left on device" in message
    assert "nothing was stored" in message
    assert 1 < len(acknowledged) < 60
    for command, arguments in (
        ("memory.capture", {"content": LONG}),
        ("memory.update", {"id": one, "content": LONG}),
    ):
        assert "nothing was stored" in await refused(editor, command, arguments)
    assert await contents(editor) == sorted(acknowledged)
    recalled = await editor.run("recall", {"query": "retry", "record": True})
    assert [found["memory"]["id"] for found in recalled["memories"]] == [one]
    assert "Never retry" in await editor.hover_text(path, 3, 5)
    disk.free()
    await editor.capture("Again")
    assert await contents(editor) == sorted([*acknowledged, "Again"])
    later = editors("neovim")
    await later.start(repository, environment={"MNEMOLENS_STORE__PATH": str(disk.place / "store")})
    await later.indexed(files=2)
    assert await contents(later) == sorted([*acknowledged, "Again"])
    status = (await later.run("status"))["journal"]
    assert status["skipped"] == 0
    editor.expect_logged("No space left on device")


@pytest.mark.graph
async def test_the_cache(editors, repository, small_disk):
    disk = small_disk(16)
    disk.fill()
    path = repository / "billing.py"
    editor = editors("neovim")
    await editor.start(repository, environment={"MNEMOLENS_CACHE_DIR": str(disk.place / "cache")})
    await editor.indexed(files=2)
    editor.open(path)
    await editor.capture("Never retry", path, 3, 5)
    assert "Never retry" in await editor.hover_text(path, 3, 5)
    answer = await editor.run("graph.query", {"cypher": "MATCH (f:CodeFunction) RETURN count(*)"})
    assert answer["rows"] == [[3]]
    (folder,) = (await editor.run("status"))["folders"]
    assert folder["graph"]["state"] == "ready"
    assert folder["graph"]["slot"] is None
    assert "cache folder can't be used" in folder["graph"]["reason"]
    assert (folder["files"], folder["memories"]) == (2, 1)
    editor.expect_logged("the graph can't be")


@pytest.mark.graph
async def test_the_graph_alone(editors, repository, small_disk):
    disk = small_disk(600)
    editor = editors("neovim")
    await editor.start(repository, environment={"MNEMOLENS_CACHE_DIR": str(disk.place / "cache")})
    await editor.indexed(files=2)
    disk.fill()
    answer = await editor.run("graph.query", {"cypher": "MATCH (f:CodeFunction) RETURN count(*)"})
    assert answer["rows"] == [[3]]
    (folder,) = (await editor.run("status"))["folders"]
    assert (folder["graph"]["state"], folder["graph"]["slot"]) == ("ready", None)
    assert "the disk is full" in folder["graph"]["reason"]
    editor.expect_logged("the disk is full")


async def test_the_daily_copies_and_an_export(editors, committed, small_disk):
    disk = small_disk(16)
    editor = editors("neovim")
    await editor.start(committed, environment={"MNEMOLENS_DATA_DIR": str(disk.place / "data")})
    await editor.indexed(files=2)
    disk.fill()
    await editor.capture(LONG)

    def told():
        return [log for log in editor.client.log_messages if "daily copy" in log.message]

    await editor.until(told)
    target = disk.place / "out.jsonl"
    message = await refused(editor, "store.export", {"path": str(target)})
    assert message.startswith("path: ")
    assert "No space left" in message
    assert not target.exists()
    assert await contents(editor) == [LONG]
    disk.free()
    assert (await editor.run("store.export", {"path": str(target)}))["memories"] == 1
    assert json.loads(target.read_text().splitlines()[0])["memory"]["content"] == LONG
    assert len(told()) == 1
    editor.expect_logged("the daily copy can't be written")

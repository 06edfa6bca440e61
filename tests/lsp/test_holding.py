"""What the client says while a folder's memories are read: it waits, in order, and finds them."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest

from editors import make_repository, uri
from mnemolens.core.clock import ManualClock
from mnemolens.core.errors import StoreError
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.server import create_server

CAPTURE, LIST = "mnemolens.memory.capture", "mnemolens.memory.list"
CAPS = {"workspace": {"configuration": True}}


class Wire:
    """A server in this process, and what it sent."""

    def __init__(self):
        self.server = create_server(ManualClock())
        self.server.protocol.set_writer(self, include_headers=False)
        self.sent = []

    def write(self, data):
        self.sent.append(json.loads(data))

    def close(self):
        pass

    def request(self, id_, method, params=None):
        self.server.protocol.handle_message({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def notify(self, method, params):
        self.server.protocol.handle_message({"jsonrpc": "2.0", "method": method, "params": params})

    def command(self, id_, name, **argument):
        self.request(id_, "workspace/executeCommand", {"command": name, "arguments": [argument]})

    def initialize(self, *folders):
        named = [{"uri": uri(folder), "name": folder.name} for folder in folders]
        params = {"processId": None, "rootUri": None, "capabilities": CAPS, "workspaceFolders": named}
        self.request(0, "initialize", params)

    @property
    def answers(self):
        return {message["id"]: message for message in self.sent if "method" not in message}

    def asked(self, method):
        return [message for message in self.sent if message.get("method") == method]

    async def until(self, found):
        async with asyncio.timeout(60):
            while not found():  # noqa: ASYNC110 - not all that is waited for is sent
                await asyncio.sleep(0.005)


@pytest.fixture
async def wire():
    found = Wire()
    yield found
    found.server.close()


@pytest.fixture
def slow_store(monkeypatch):
    """Reading a store ends when this is set; where the event holds an error, with that."""
    ended = threading.Event()
    ended.error = None
    read = Workspace.open

    def opened(*arguments):
        assert ended.wait(60)
        if ended.error is not None:
            raise ended.error
        return read(*arguments)

    monkeypatch.setattr(Workspace, "open", opened)
    yield ended
    ended.set()


async def test_initialize_is_answered_while_memories_are_read(wire, slow_store, tmp_path):
    root = make_repository(tmp_path / "one")
    slow_store.set()
    wire.initialize(root)
    wire.command(1, CAPTURE, content="The bank counts a retry twice.", root=str(root))
    await wire.until(lambda: 1 in wire.answers)
    wire.server.close()

    slow_store.clear()
    later = Wire()
    later.initialize(root)
    assert "capabilities" in later.answers[0]["result"]
    later.notify("initialized", {})
    later.command(1, LIST, root=str(root))
    later.command(2, LIST, root=str(root), text="nothing of that kind")
    await asyncio.sleep(0.05)
    assert list(later.answers) == [0]
    slow_store.set()
    await later.until(lambda: 2 in later.answers)
    assert list(later.answers) == [0, 1, 2]
    stored = wire.answers[1]["result"]["memory"]["id"]
    assert [memory["id"] for memory in later.answers[1]["result"]["memories"]] == [stored]
    later.server.close()


async def test_an_answer_is_not_held(wire, slow_store, tmp_path):
    first, second = make_repository(tmp_path / "one"), make_repository(tmp_path / "two")
    slow_store.set()
    wire.initialize(first)
    wire.notify("initialized", {})
    await wire.until(lambda: wire.asked("workspace/configuration"))
    slow_store.clear()
    event = {"added": [{"uri": uri(second), "name": "two"}], "removed": []}
    wire.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    wire.request(1, "mnemolens/nothing")
    asked = wire.asked("workspace/configuration")[0]
    wire.server.protocol.handle_message({"jsonrpc": "2.0", "id": asked["id"], "result": [None]})
    await wire.until(lambda: wire.server.started)
    assert 1 not in wire.answers
    slow_store.set()
    await wire.until(lambda: 1 in wire.answers)
    assert [folder.given.name for folder in wire.server.folders] == ["one", "two"]


async def test_a_store_that_can_not_be_read_is_told_and_holds_nobody(wire, slow_store, tmp_path):
    root = make_repository(tmp_path / "one")
    slow_store.error = StoreError("it lies on a disk that is gone")
    wire.initialize(root)
    wire.command(1, LIST)
    slow_store.set()
    await wire.until(lambda: 1 in wire.answers)
    (shown,) = wire.asked("window/showMessage")
    assert "it lies on a disk that is gone" in shown["params"]["message"]
    assert "no folder is open" in wire.answers[1]["error"]["message"]


async def test_a_store_that_is_set_while_its_folder_opens_is_the_one_that_is_read(wire, slow_store, tmp_path):
    root, first, second = make_repository(tmp_path / "one"), tmp_path / "first", tmp_path / "second"

    def answer(number, store):
        asked = wire.asked("workspace/configuration")[number]["id"]
        settings = {"store": {"path": str(store)}}
        wire.server.protocol.handle_message({"jsonrpc": "2.0", "id": asked, "result": [settings]})

    slow_store.set()
    wire.initialize(root)
    wire.notify("initialized", {})
    wire.notify("workspace/didChangeConfiguration", {"settings": None})
    await wire.until(lambda: len(wire.asked("workspace/configuration")) == 2)
    slow_store.clear()
    answer(0, first)
    await wire.until(lambda: not list(wire.server.folders))  # it is opened anew, with the first
    answer(1, second)
    wire.command(1, CAPTURE, content="The bank counts a retry twice.", root=str(root))
    await asyncio.sleep(0.05)
    assert 1 not in wire.answers
    slow_store.set()
    await wire.until(lambda: 1 in wire.answers)
    assert list(second.glob("**/*.jsonl"))
    assert not first.exists()
    assert not (root / ".git" / "mnemolens").exists()


async def test_a_text_that_is_opened_first_is_shown_to_its_folder(wire, slow_store, tmp_path):
    root = make_repository(tmp_path / "one")
    path = root / "shop.py"
    wire.initialize()
    document = {"uri": uri(path), "languageId": "python", "version": 1, "text": "def sell():\n    pass\n"}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    place = {"line": 0, "character": 5}
    wire.command(1, CAPTURE, content="Sold goods can't be returned.", uri=uri(path), position=place)
    slow_store.set()
    await wire.until(lambda: 1 in wire.answers)
    assert wire.answers[1]["result"]["links"][0]["target"]["qualname"] == "sell"


async def test_the_end_does_not_wait_for_memories_to_be_read(wire, slow_store, tmp_path):
    root = make_repository(tmp_path / "one")
    wire.initialize(root)
    wire.notify("initialized", {})
    wire.command(1, LIST, root=str(root))
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri(root / "shop.py")}})
    wire.request(2, "shutdown")
    await wire.until(lambda: len(wire.answers) == 3)
    assert wire.answers[2]["result"] is None
    assert "shutting down" in wire.answers[1]["error"]["message"]
    assert not slow_store.is_set()


async def test_the_end_waits_for_what_is_to_be_stored(wire, slow_store, tmp_path):
    root = make_repository(tmp_path / "one")
    wire.initialize(root)
    wire.notify("initialized", {})
    wire.command(1, CAPTURE, content="The bank counts a retry twice.", root=str(root))
    wire.request(2, "shutdown")
    await asyncio.sleep(0.05)
    assert list(wire.answers) == [0]
    slow_store.set()
    await wire.until(lambda: len(wire.answers) == 3)
    assert wire.answers[1]["result"]["memory"]["content"] == "The bank counts a retry twice."
    assert wire.answers[2]["result"] is None


def test_what_was_said_before_the_client_hung_up_is_done(tmp_path):
    root = make_repository(tmp_path / "one")
    folders = [{"uri": uri(root), "name": "one"}]
    listing = {"command": LIST, "arguments": [{}]}
    said = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "workspaceFolders": folders}},
        {"id": 2, "method": "workspace/executeCommand", "params": listing},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in said]
    done = subprocess.run(
        [sys.executable, "-m", "mnemolens", "serve"],
        input=b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    answer = json.loads(done.stdout.rpartition(b"\r\n\r\n")[2])
    assert (answer["id"], answer["result"]["memories"]) == (2, [])

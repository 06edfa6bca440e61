"""What our protocol object does that pygls's does not, seen from the messages it is given and sends."""

import asyncio
import json

import pytest
from lsprotocol import types

from mnemolens.core.clock import ManualClock
from mnemolens.lsp.server import create_server

SLOW, QUICK, FAILING = "test.slow", "test.quick", "test.failing"


class Wire:
    """A server in this process, and what it sent."""

    def __init__(self):
        self.server = create_server(ManualClock())
        self.sent = []
        self.release = asyncio.Event()
        self.ended = []
        self.server.protocol.set_writer(self, include_headers=False)

        @self.server.command(SLOW)
        async def slow(ls, _params):  # noqa: ARG001  pygls tells the server by this name
            try:
                await self.release.wait()
                self.ended.append("done")
            except asyncio.CancelledError:
                self.ended.append("cancelled")
                raise
            return {"slow": True}

        @self.server.command(QUICK)
        def quick(ls, _params):  # noqa: ARG001  pygls tells the server by this name
            return {"quick": True}

        @self.server.command(FAILING)
        async def failing(ls, _params):  # noqa: ARG001  pygls tells the server by this name
            raise asyncio.CancelledError

        self.request(0, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert 0 in self.answers

    def write(self, data):
        self.sent.append(json.loads(data))

    def close(self):
        pass

    @property
    def answers(self):
        return {message["id"]: message for message in self.sent if "method" not in message}

    def request(self, id_, method, params=None):
        self.server.protocol.handle_message({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def run(self, id_, command):
        self.request(id_, "workspace/executeCommand", {"command": command})

    def notify(self, method, params):
        self.server.protocol.handle_message({"jsonrpc": "2.0", "method": method, "params": params})

    async def settle(self):
        for _ in range(20):
            await asyncio.sleep(0)

    @property
    def kept(self):
        return len(self.server.protocol._request_futures)


@pytest.fixture
async def wire():
    found = Wire()
    yield found
    found.server.close()


async def test_what_was_handled_is_forgotten(wire):
    await wire.settle()
    kept = wire.kept
    document = {"uri": "file:///x.py", "languageId": "python", "version": 1, "text": "a"}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    for version in range(50):
        change = {"textDocument": {"uri": "file:///x.py", "version": version}, "contentChanges": []}
        wire.notify("textDocument/didChange", change)
        wire.run(version + 1, QUICK)
    wire.release.set()
    wire.run("last", SLOW)
    await wire.settle()
    assert wire.answers[50]["result"] == {"quick": True}
    assert wire.answers["last"]["result"] == {"slow": True}
    assert wire.kept == kept


async def test_shutdown_lets_running_requests_end(wire):
    for id_ in range(1, 21):
        wire.run(id_, SLOW)
    await wire.settle()
    wire.request(21, "shutdown")
    await wire.settle()
    wire.release.set()
    await asyncio.wait_for(_answered(wire, 21), 60)
    assert wire.answers[21]["result"] is None
    assert "error" not in wire.answers[21]
    assert [wire.answers[id_].get("result") for id_ in range(1, 21)] == [{"slow": True}] * 20
    assert list(wire.answers)[-1] == 21
    assert wire.server.protocol.was_shut_down


async def test_shutdown_cancels_what_does_not_end(wire, monkeypatch):
    monkeypatch.setattr("mnemolens.lsp.features.lifecycle.FINISH_SECONDS", 0.05)
    for id_ in range(1, 6):
        wire.run(id_, SLOW)
    await wire.settle()
    wire.request(6, "shutdown")
    await asyncio.wait_for(_answered(wire, 6), 60)
    assert "error" not in wire.answers[6]
    codes = {wire.answers[id_]["error"]["code"] for id_ in range(1, 6)}
    assert codes == {types.LSPErrorCodes.RequestCancelled}
    assert wire.ended == ["cancelled"] * 5


async def test_the_exit_code_is_that_of_an_end_in_order_even_where_closing_fails(wire, monkeypatch):
    def broken():
        raise OSError("the disk is full")

    monkeypatch.setattr(wire.server, "close", broken)
    wire.request(1, "shutdown")
    await asyncio.wait_for(_answered(wire, 1), 60)
    monkeypatch.undo()
    wire.server.protocol.exited = True
    assert wire.server.exit_code == 0


async def test_a_request_after_shutdown_is_answered(wire):
    wire.request(1, "shutdown")
    await asyncio.wait_for(_answered(wire, 1), 60)
    wire.run(2, QUICK)
    assert wire.answers[2]["error"]["code"] == types.ErrorCodes.InvalidRequest


async def test_cancelling_a_request_reaches_the_command(wire):
    wire.run(1, SLOW)
    await wire.settle()
    wire.notify("$/cancelRequest", {"id": 1})
    await wire.settle()
    assert wire.answers[1]["error"]["code"] == types.LSPErrorCodes.RequestCancelled
    assert wire.ended == ["cancelled"]


async def test_a_command_that_was_cancelled_within_is_answered(wire):
    wire.run(1, FAILING)
    await wire.settle()
    assert wire.answers[1]["error"]["code"] == types.LSPErrorCodes.RequestCancelled


async def test_an_unknown_command_is_named(wire):
    wire.run(1, "no.such")
    assert wire.answers[1]["error"]["code"] == types.ErrorCodes.InvalidParams
    assert "no.such" in wire.answers[1]["error"]["message"]


async def _answered(wire, id_):
    while id_ not in wire.answers:  # noqa: ASYNC110  the answer is no event
        await asyncio.sleep(0.01)

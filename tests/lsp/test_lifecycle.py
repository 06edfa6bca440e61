"""Beginning and end of a server: stdin's end, signals, a client that dies, exit codes, TCP, progress."""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress

import pytest
from lsprotocol import types
from pytest_lsp import client_capabilities

from editors import make_repository, uri

SERVE = [sys.executable, "-m", "mnemolens", "serve"]


def message(method, params, message_id=None):
    content = {"jsonrpc": "2.0", "method": method, "params": params}
    if message_id is not None:
        content["id"] = message_id
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def initialize(folder, pid=None):
    folders = [{"uri": uri(folder), "name": "x"}]
    params = {"processId": pid, "rootUri": None, "capabilities": {}, "workspaceFolders": folders}
    return message("initialize", params, 1) + message("initialized", {})


def capture(content, message_id=2):
    argument = {"content": content}
    return message(
        "workspace/executeCommand",
        {"command": "mnemolens.memory.capture", "arguments": [argument]},
        message_id,
    )


class Raw:
    """A server driven by bytes."""

    def __init__(self, process):
        self.process = process

    @classmethod
    async def start(cls, *arguments, **options):
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *(arguments or SERVE), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, **options
            )
        )

    def send(self, data):
        self.process.stdin.write(data)

    async def answer(self, message_id):
        while True:
            found = await asyncio.wait_for(read(self.process.stdout), 60)
            if found.get("id") == message_id and "method" not in found:
                return found

    async def ended(self):
        return await asyncio.wait_for(self.process.wait(), 60)


async def read(stream):
    length = 0
    while (line := await stream.readline()).strip():
        if line.lower().startswith(b"content-length"):
            length = int(line.split(b":")[1])
    return json.loads(await stream.readexactly(length))


def stored(folder):
    journal = folder / ".git" / "mnemolens" / "journal"
    return b"".join(segment.read_bytes() for segment in journal.glob("*.jsonl"))


async def begun(folder, **options):
    server = await Raw.start(**options)
    server.send(initialize(folder, os.getpid()))
    await server.answer(1)
    server.send(capture("before the end"))
    assert "result" in await server.answer(2)
    return server


async def test_exit_after_shutdown_is_0(repository):
    server = await begun(repository)
    server.send(message("shutdown", None, 3))
    assert (await server.answer(3))["result"] is None
    server.send(message("exit", None))
    assert await server.ended() == 0


async def test_exit_without_shutdown_is_1(repository):
    server = await begun(repository)
    server.send(message("exit", None))
    assert await server.ended() == 1


async def test_the_end_of_stdin_flushes(repository):
    server = await begun(repository)
    server.send(capture("the very last", 3))
    server.process.stdin.close()
    assert await server.ended() == 0
    assert b"before the end" in stored(repository)


async def test_the_end_of_stdin_before_anything():
    server = await Raw.start()
    server.process.stdin.close()
    assert await server.ended() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_signals(repository, number):
    server = await begun(repository)
    server.process.send_signal(number)
    code = await server.ended()
    assert code == (0 if number != signal.SIGKILL else -signal.SIGKILL)
    assert b"before the end" in stored(repository)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
async def test_a_client_that_dies_and_leaves_stdin_open(repository):
    client = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])  # noqa: ASYNC220  returns at once
    server = await Raw.start()
    server.send(initialize(repository, client.pid))
    await server.answer(1)
    await asyncio.sleep(1.5)
    assert server.process.returncode is None
    client.kill()
    client.wait()
    assert await server.ended() == 0


async def test_a_client_process_that_can_not_be_seen_is_no_reason_to_end(repository):
    gone = subprocess.Popen([sys.executable, "-c", ""])  # noqa: ASYNC220  returns at once
    gone.wait()
    server = await Raw.start()
    server.send(initialize(repository, gone.pid))
    await server.answer(1)
    await asyncio.sleep(1.5)
    server.send(message("shutdown", None, 3))
    await server.answer(3)
    server.send(message("exit", None))
    assert await server.ended() == 0


NOISY = """
import sys
from mnemolens.lsp import server
make = server.create_server
def noisy(*arguments):
    print("noise")
    return make(*arguments)
server.create_server = noisy
from mnemolens.cli.main import main
sys.exit(main(["serve"]))
"""


async def test_what_prints_does_not_speak_into_the_protocol(repository):
    server = await Raw.start(sys.executable, "-c", NOISY)
    server.send(initialize(repository))
    assert "capabilities" in (await server.answer(1))["result"]
    server.process.stdin.close()
    await server.ended()


async def over_tcp():
    """A server on a port, and the connection with it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdin": asyncio.subprocess.DEVNULL, "stderr": asyncio.subprocess.DEVNULL}
    process = await asyncio.create_subprocess_exec(*SERVE, "--tcp", f"127.0.0.1:{port}", **quiet)
    for _ in range(500):
        with suppress(ConnectionError):
            return process, *await asyncio.open_connection("127.0.0.1", port)
        await asyncio.sleep(0.04)
    pytest.fail("nobody listens")


async def test_tcp(repository):
    process, reader, writer = await over_tcp()
    writer.write(initialize(repository))
    found = await asyncio.wait_for(read(reader), 60)
    assert found["result"]["serverInfo"]["name"] == "mnemolens"
    writer.write(message("shutdown", None, 3))
    while found.get("id") != 3:
        found = await asyncio.wait_for(read(reader), 60)
    writer.write(message("exit", None))
    assert await asyncio.wait_for(process.wait(), 60) == 0
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize("where", ["between messages", "in a message"])
async def test_a_client_over_tcp_that_is_gone_without_a_word_ends_the_server(repository, where):
    process, reader, writer = await over_tcp()
    writer.write(initialize(repository))
    await asyncio.wait_for(read(reader), 60)
    if where == "in a message":
        writer.write(capture("half of this comes")[:-20])
        await writer.drain()
    at_once = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
    writer.transport.abort()
    assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_two_servers_on_one_repository_see_each_other(editors, repository):
    one, two = editors("visual-studio-code"), editors("neovim")
    await one.start(repository)
    await two.start(repository)
    await one.indexed(files=2)
    await two.indexed(files=2)
    two.open(repository / "billing.py")
    await one.capture("from the one", repository / "billing.py", 3, 5)
    await two.until(lambda: two.lenses(repository / "billing.py"))
    await two.capture("from the other", repository / "billing.py", 3, 5)

    async def both():
        return (await one.run("memory.list"))["total"] == 2

    await one.until(both)


async def test_rebuild_reports_progress_under_the_clients_token(editor, repository):
    await editor.start(repository)
    await editor.indexed(files=2)
    params = types.ExecuteCommandParams("mnemolens.index.rebuild", work_done_token="my-token")
    editor.client.progress_reports["my-token"] = []
    answer = await editor.client.workspace_execute_command_async(params)
    assert answer["files"] == 2
    await editor.until(lambda: editor.client.progress_reports["my-token"])
    kinds = [report.kind for report in editor.client.progress_reports["my-token"]]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


async def test_a_long_index_shows_progress_and_can_be_cancelled(vscode, tmp_path):
    folder = make_repository(tmp_path / "project")
    for number in range(400):
        (folder / f"m{number}.py").write_text(
            "".join(f"def f{number}_{n}(a):\n    return a\n\n\n" for n in range(400))
        )
    await vscode.start(folder)
    tokens = await vscode.until(
        lambda: [t for t, reports in vscode.client.progress_reports.items() if reports]
    )
    vscode.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(tokens[0]))
    reports = vscode.client.progress_reports[tokens[0]]
    await vscode.until(lambda: reports[-1].kind == "end")
    assert reports[0].title == "Mnemolens: project"
    whole = reports[-1].message == "402 files, 160004 symbols"  # on a machine that is too quick for us
    assert whole or "mnemolens.index.rebuild" in reports[-1].message

    async def idle():
        return (await vscode.run("status"))["folders"][0]["indexing"] is None

    await vscode.until(idle)
    stopped = (await vscode.run("status"))["folders"][0]["indexStopped"]
    assert stopped is not whole
    if not whole:
        [message] = await vscode.messages()
        assert "mnemolens.index.rebuild" in message

    # What is open is known all the same, and what was not read, once it is asked about.
    for number in range(20, 400):  # to read all of it would take long
        (folder / f"m{number}.py").unlink()
    vscode.open(folder / "billing.py")
    assert await vscode.hover(folder / "billing.py", 3, 5) is None
    notes = [
        (await vscode.capture("the provider repeats", folder / file, line, 5))["memory"]["id"]
        for file, line in (("billing.py", 3), ("m19.py", 0))
    ]
    assert "the provider repeats" in await vscode.hover_text(folder / "billing.py", 3, 5)
    assert (await vscode.run("index.rebuild"))["files"] == 22
    known = (await vscode.run("status"))["folders"][0]
    assert (known["files"], known["symbols"], known["indexStopped"]) == (22, 8004, False)
    assert "the provider repeats" in await vscode.hover_text(folder / "billing.py", 3, 5)
    for note in notes:
        assert (await vscode.run("memory.get", {"id": note}))["memory"]["verdict"] == "fresh"


def test_the_recorded_clients_differ():
    """The two kinds of editor are worth testing apart."""
    code, neovim = client_capabilities("visual-studio-code"), client_capabilities("neovim")
    assert code.workspace.code_lens is not None
    assert neovim.workspace.code_lens is None

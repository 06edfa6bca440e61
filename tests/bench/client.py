"""A language client that only measures: one thread, which writes, then reads until the answer is there."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}, "codeLens": {}},
    "window": {"workDoneProgress": True},
    "workspace": {
        "codeLens": {"refreshSupport": True},
        "configuration": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceFolders": True,
    },
}


class ServerError(Exception):
    """The server answered with an error, or is gone."""


class Client:
    """A server process and the conversation with it.

    Args:
        command: the server's, after the interpreter.
        environment: added to our own.
        patience: seconds until a server that is still there is killed.

    Attributes:
        started_at: reading of `time.perf_counter` when the process was started.
        waiting: what `send_command` sent and is not answered yet.
    """

    def __init__(self, command: list[str], environment: dict[str, str], patience: float = 900.0) -> None:
        self.started_at = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if os.environ.get("BENCH_STDERR") is None else None,
            env={**os.environ, **environment},
        )
        if self._process.stderr is not None:
            threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True).start()
        self._last_words: list[str] = []
        self._patience = threading.Timer(patience, self._process.kill)
        self._patience.daemon = True
        self._patience.start()
        self._number = 0
        self.waiting: set[int] = set()

    def _drain(self, stream: Any) -> None:
        for line in stream:
            self._last_words = [*self._last_words[-19:], line.decode(errors="replace")]

    def initialize(self, root: Path) -> None:
        """Begin; returns when the server has been told that it may work."""
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
                "capabilities": CAPABILITIES,
            },
        )
        self.notify("initialized", {})

    def request(self, method: str, params: Any) -> Any:
        """The result. The server's own requests are answered on the way."""
        self._number += 1
        number = self._number
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                if "id" in message:
                    self._answer(message)
                continue
            if "error" in message:
                raise ServerError(f"{method}: {message['error']}")
            self.waiting.discard(message["id"])
            if message["id"] == number:
                return message["result"]

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def command(self, name: str, **argument: Any) -> Any:
        return self.request("workspace/executeCommand", {"command": name, "arguments": [argument]})

    def send_command(self, name: str, **argument: Any) -> None:
        """A command whose answer comes while others are waited for."""
        self._number += 1
        self.waiting.add(self._number)
        params = {"command": name, "arguments": [argument]}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "workspace/executeCommand"}
        self._send({**message, "params": params})

    def resident_megabytes(self) -> float | None:
        """The server's memory now; None where the system does not tell."""
        try:
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), None)

    def processor_seconds(self) -> float:
        """What the server's process used until now; 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self._process.stdin.close()
            self._process.wait(timeout=10)
        except (ServerError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._patience.cancel()

    def _answer(self, message: dict) -> None:
        result = None
        if message["method"] == "workspace/configuration":
            result = [None] * len(message["params"]["items"])
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _send(self, message: dict) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict:
        length = 0
        while (line := self._process.stdout.readline()) != b"\r\n":
            if not line:
                code = self._process.wait()
                raise ServerError(f"the server ended with code {code}\n{''.join(self._last_words)}")
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self._process.stdout.read(length))

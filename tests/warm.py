"""Servers that start warm: one process has the program imported, and forks for each server that a test wants.

To import the program is four fifths of the processor time of most tests of the language server. A server that
starts here is a process of its own like any other and runs the same function to its end; only its modules are
there already. What is started in the place of `python -m mnemolens` is a small process that hands on its
stdin, stdout, stderr, environment and folder, and ends with the server's exit code; to kill it kills
the server a moment later. Tests of how a process begins and ends start the real one.
"""

import gc
import importlib
import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
from contextlib import suppress

ASK = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as host:
    host.connect("\\0" + sys.argv[1])
    socket.send_fds(host, [b"!"], [0, 1, 2])
    host.sendall(json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    for descriptor in 0, 1, 2:
        os.close(descriptor)
    code = host.recv(1)
os._exit(code[0] if code else 70)
"""


class WarmServers:
    """The process that forks: started when it is first needed, ended by `close` or when this process ends."""

    def __init__(self, module: str) -> None:
        """`module`: what servers import in any case."""
        self._module = module
        self._name = f"mnemolens-{secrets.token_hex(8)}"
        self._host: subprocess.Popen | None = None

    def command(self, *arguments: str) -> list[str]:
        """What to start in the place of `python -W error -m mnemolens` with these arguments."""
        if not hasattr(os, "pidfd_open"):  # elsewhere than on Linux servers start cold
            return [sys.executable, "-W", "error", "-m", "mnemolens", *arguments]
        if self._host is None:
            self._start()
        assert self._host.poll() is None, self._host.stderr.read()
        return [sys.executable, "-I", "-S", "-c", ASK, self._name, *arguments]

    def _start(self) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("\0" + self._name)
            listener.listen(64)
            descriptor = listener.fileno()
            command = [sys.executable, "-W", "error", __file__, str(descriptor), self._module]
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)  # as servers have them
            self._host = subprocess.Popen(command, pass_fds=[descriptor], **pipes)

    def close(self) -> None:
        """End; servers that still run are killed."""
        if self._host is not None:
            self._host.communicate()
            self._host = None


class Host:
    """Forks whenever somebody asks, until stdin ends."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        self._selector.register(listener, selectors.EVENT_READ)
        self._servers: dict[int, tuple[int, socket.socket]] = {}  # pidfd -> the process and who asked for it

    def next_server(self) -> list[str] | None:
        """The program's arguments, in a child each time; None in the parent, in the end."""
        while True:
            for key, _ in self._selector.select():
                if key.fd == sys.stdin.fileno():
                    for handle in self._servers:
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                    return None
                if key.fileobj is self._listener:
                    arguments = self._fork()
                    if arguments is not None:
                        return arguments
                elif key.fd in self._servers:
                    self._ended(key.fd)
                elif key.data in self._servers:  # who asked is gone
                    signal.pidfd_send_signal(key.data, signal.SIGKILL)
                    self._selector.unregister(key.fileobj)

    def _fork(self) -> list[str] | None:
        asker, _ = self._listener.accept()
        _, pipes, _, _ = socket.recv_fds(asker, 1, 3)
        with asker.makefile("rb") as stream:
            request = stream.readline()
        if not request.endswith(b"\n"):  # killed before it could ask
            asker.close()
            for pipe in pipes:
                os.close(pipe)
            return None
        arguments, folder, environment = json.loads(request)
        process = os.fork()
        if process == 0:
            asker.close()
            self._forget_others()
            for target, pipe in enumerate(pipes):
                os.dup2(pipe, target)
                os.close(pipe)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            return arguments
        for pipe in pipes:
            os.close(pipe)
        handle = os.pidfd_open(process)
        self._servers[handle] = process, asker
        self._selector.register(handle, selectors.EVENT_READ)
        self._selector.register(asker, selectors.EVENT_READ, handle)
        return None

    def _ended(self, handle: int) -> None:
        process, asker = self._servers.pop(handle)
        _, status = os.waitpid(process, 0)
        self._selector.unregister(handle)
        os.close(handle)
        with suppress(KeyError):
            self._selector.unregister(asker)
        with asker, suppress(OSError):
            asker.send(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))

    def _forget_others(self) -> None:
        self._selector.close()
        self._listener.close()
        for handle, (_, asker) in self._servers.items():
            os.close(handle)
            asker.close()
        self._servers.clear()


def run() -> int:
    """Import the program and fork; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who runs the tests is interrupted, and ends us
    from mnemolens.cli.main import main

    importlib.import_module(sys.argv[2])
    importlib.import_module("anyio._backends._asyncio")  # deferred by whoever uses it
    if "pygls" in sys.modules:
        sys.modules["pygls.protocol"].default_converter()  # resolves all types of the protocol
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        arguments = Host(listener).next_server()
    if arguments is None:
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.unfreeze()
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run())

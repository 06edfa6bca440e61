"""Where a run takes place: a folder for its files, servers with caches of their own, made projects to serve.

Owns what the subjects share of talking to a server. Measures nothing.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client import Client
from made import LONG_FILE, WIDE_FILE, Made, Spot, make_memories, make_project
from measure import say

HERE = Path(__file__).parent
SERVER = ["-m", "mnemolens", "serve"]
WATCHED = [str(HERE / "watched.py")]


@dataclass(frozen=True)
class Project:
    """A made project that holds memories, and the caches that its servers share.

    Attributes:
        held: the functions that a memory was captured on.
    """

    made: Made
    held: list[Spot]
    environment: dict[str, str]

    @property
    def root(self) -> Path:
        return self.made.root

    @property
    def functions(self) -> int:
        return len(self.made.definitions)

    def ordinary_files(self) -> list[str]:
        """All but the two large ones."""
        files = dict.fromkeys(spot.file for spot in self.made.definitions)
        return [file for file in files if file not in {WIDE_FILE, LONG_FILE}]


class Lab:
    """One run's place.

    Attributes:
        quick: fewer measurements, smaller projects.
        times: how often what is quick is measured.
    """

    def __init__(self, work: Path, *, quick: bool) -> None:
        self.work = work
        self.quick = quick
        self.times = 60 if quick else 200
        self._caches = 0
        self._projects: dict[int, Project] = {}

    def environment(self) -> dict[str, str]:
        """That of a server which has seen nothing yet; nothing is written outside this run's folder."""
        self._caches += 1
        folder = self.work / f"cache{self._caches}"
        return {
            "XDG_CACHE_HOME": str(folder),
            "LOCALAPPDATA": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "HOME": str(folder),
            # An installed package is compiled, whatever this shell says: else each process would do it again.
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.work / "compiled"),
        }

    def project(self, functions: int, memories: int) -> Project:
        """A project of that size; the same one whenever it is asked for again."""
        if functions not in self._projects:
            root = self.work / f"made{functions}"
            root.mkdir()
            say(f"making {functions:,} functions and {memories:,} memories …")
            made = make_project(root, functions)
            environment = self.environment()
            with environ(environment):
                held = make_memories(made, memories)
            self._projects[functions] = Project(made, held, environment)
        return self._projects[functions]

    def forget(self, project: Project) -> None:
        """Free the disk of a project that nobody asks for again."""
        self._projects.pop(project.functions, None)
        shutil.rmtree(project.root, ignore_errors=True)

    @contextmanager
    def serving(
        self, root: Path, environment: dict[str, str], command: list[str] = SERVER
    ) -> Iterator[Client]:
        """A server whose index of `root` is complete."""
        client = Client(command, environment)
        try:
            client.initialize(root)
            wait_for_index(client)
            yield client
        finally:
            client.close()


@contextmanager
def environ(more: dict[str, str]) -> Iterator[None]:
    """This process's environment with more in it."""
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def status(client: Client) -> dict[str, Any]:
    """The folder's."""
    return client.command("mnemolens.status")["folders"][0]


def wait_for_index(client: Client) -> dict[str, Any]:
    """The folder's status once its index is complete."""
    while True:
        folder = status(client)
        if folder["indexing"] is None and folder["files"]:
            return folder
        time.sleep(0.01)


def open_document(client: Client, path: Path) -> None:
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
    client.notify("textDocument/didOpen", {"textDocument": document})


def at(root: Path, spot: Spot) -> dict[str, Any]:
    """Where a name stands, as parameters of a request."""
    position = {"line": spot.line, "character": spot.column + 2}
    return {"textDocument": {"uri": (root / spot.file).as_uri()}, "position": position}


def change(uri: str, version: int, line: int, start: int, end: int, text: str) -> dict[str, Any]:
    """One content change within a line."""
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{"range": span, "text": text}],
    }


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]

"""A repository, and the program run in it: in this process where that is enough, else as users run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from mnemolens.cli.main import main

SOURCES = {
    "shop/pay.py": """\
import time


class Payment:
    def charge(self, amount):
        for attempt in range(3):
            if self.send(amount):
                return True
            time.sleep(attempt)
        return False

    def send(self, amount):
        return amount > 0


def refund(payment):
    return -payment.amount
""",
    "shop/stock.py": "def reserve(sku, count):\n    return sku, count\n",
    "notes.txt": "no code\n",
}
CHARGE, REFUND = 6, 17
"""Lines inside of these functions."""


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line on stderr."""
        [line] = self.err.splitlines()
        assert line.startswith("mnemolens: ")
        return line


class Shell:
    """The command line in one folder."""

    def __init__(self, folder: Path, capsys):
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        """Runs the command in this process."""
        self._capsys.readouterr()
        code = main(list(arguments))
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def remember(self, *arguments: str) -> str:
        """Remembers; the new memory's id."""
        ran = self("remember", "--json", *arguments)
        assert ran.code == 0, ran.err
        return ran.json["memory"]["id"]

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        """Starts the real program."""
        command = [sys.executable, "-m", "mnemolens", *arguments]
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder}
        return subprocess.Popen(command, **{**piped, **options})

    def process(self, *arguments: str, stdin: bytes = b"", env=None) -> Ran:
        """Runs the real program."""
        done = subprocess.run(
            [sys.executable, "-m", "mnemolens", *arguments],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            env={**os.environ, **(env or {})},
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def shell(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "project"
    for name, text in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    subprocess.run(["git", "-C", folder, "config", "user.name", "Ana"], check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    return Shell(folder, capsys)

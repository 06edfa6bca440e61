"""The command line."""

import re
import subprocess
import sys

import pytest

from mnemolens import __version__
from mnemolens.cli.main import main


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mnemolens {__version__}\n"


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "mnemolens", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"mnemolens \d+\.\d+\.\d+\n", done.stdout)


def test_version_needs_no_heavy_import():
    script = """
import sys
from mnemolens.cli.main import main
assert main(["--version"]) == 0
heavy = {"pygls", "lsprotocol", "pydantic", "tree_sitter", "kuzu", "rich", "asyncio"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["recal"], "recall"),
        (["recall", "--frobnicate"], "--frobnicate"),
        (["show"], "ID"),
        (["remember", "x", "--importance", "2"], "--importance"),
        (["remember", "x", "--type", "vague"], "vague"),
        (["serve", "--tcp", "nowhere"], "HOST:PORT"),
        (["serve", "--tcp", "h:99999"], "HOST:PORT"),
        (["serve", "--tcp"], "--tcp"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_change(arguments, named, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("mnemolens: ")
    assert named in line


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert "recall" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["remember", "-h"]])
def test_the_help_names_no_type_of_a_switch(arguments, capsys):
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "--help" in out
    assert "<bool>" not in out


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "example.org", "[::]"])
def test_only_this_machine_is_served(host, capsys):
    assert main(["serve", "--tcp", f"{host}:5000"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "127.0.0.1" in line
    assert "--allow-remote" in line


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:5000", ("127.0.0.1", 5000)),
        ("[::1]:1", ("::1", 1)),
        ("localhost:2", ("localhost", 2)),
        (":3", ("127.0.0.1", 3)),
    ],
)
def test_addresses(address, expected, monkeypatch):
    served = []
    monkeypatch.setattr("mnemolens.lsp.server.serve_tcp", lambda host, port: served.append((host, port)) or 0)
    assert main(["serve", "--tcp", address]) == 0
    assert served == [expected]

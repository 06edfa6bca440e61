"""The command line."""

import re
import subprocess
import sys

import pytest

from mnemolens import __version__
from mnemolens.cli.main import main


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
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
try:
    main(["--version"])
except SystemExit:
    print(sorted({"pygls", "lsprotocol", "pydantic", "tree_sitter", "kuzu"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["serve", "--tcp", "nowhere"], ["serve", "--tcp", "h:99999"], ["serve", "--tcp"]],
)
def test_wrong_use(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "mnemolens" in capsys.readouterr().err


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

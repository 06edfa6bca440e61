"""`mnemolens index`: totals, and one symbol a line. Expected lines are counted by hand."""

import json
import subprocess
import sys

import pytest

from mnemolens.cli.main import main

SOURCE = """\
import functools


@functools.cache
def twice(n):
    return n * 2


class Shop:
    @property
    def open(self):
        return True

    @open.setter
    def open(self, value):
        pass


half = lambda n: n / 2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "shop.py").write_text(SOURCE)
    (tmp_path / "top.ts").write_text("export function f(): void {\n}\n")
    (tmp_path / "binary.py").write_bytes(b"\0")
    return tmp_path


def test_one_symbol_a_line(folder, capsys):
    assert main(["index", str(folder), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(set(row) == {"file", "qualname", "kind", "startLine", "endLine", "ordinal"} for row in rows)
    assert [tuple(row.values()) for row in rows] == [
        ("src/shop.py", "twice", "function", 5, 6, 0),
        ("src/shop.py", "Shop", "class", 9, 16, 0),
        ("src/shop.py", "Shop.open", "method", 11, 12, 0),
        ("src/shop.py", "Shop.open", "method", 15, 16, 1),
        ("src/shop.py", "half", "lambda", 19, 19, 0),
        ("top.ts", "f", "function", 1, 2, 0),
    ]


def test_files_are_relative_to_the_folder(folder, capsys):
    subprocess.run(["git", "init", "-q", folder], check=True)
    assert main(["index", str(folder / "src"), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["file"] for row in rows} == {"shop.py"}


def test_totals_and_what_was_left_out(folder, capsys):
    assert main(["index", str(folder)]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("2 files, 6 symbols in ")
    assert [line.split(": ")[1] for line in rest] == ["binary.py"]
    assert sorted(path.name for path in folder.iterdir()) == ["binary.py", "src", "top.ts"]


def test_the_repositorys_settings_count_and_wrong_ones_are_told(folder, capsys):
    (folder / ".mnemolens.yaml").write_text("index: {exclude: [src]}\nstore: {path: /tmp}\n")
    assert main(["index", str(folder), "--json"]) == 0
    captured = capsys.readouterr()
    assert [json.loads(line)["file"] for line in captured.out.splitlines()] == ["top.ts"]
    [line] = captured.err.splitlines()
    assert line.startswith("mnemolens: ")
    assert "store.path" in line


def test_no_such_folder(tmp_path, capsys):
    assert main(["index", str(tmp_path / "nope")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "nope") in line


def test_a_reader_that_has_had_enough(folder):
    for number in range(300):
        names = "".join(f"def some_function_{number}_{n}(): pass\n" for n in range(30))
        (folder / f"m{number}.py").write_text(names)
    command = [sys.executable, "-m", "mnemolens", "index", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0

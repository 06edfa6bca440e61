"""What the package offers, what loading it costs, and the demo."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import mnemolens


def loaded_by(code):
    """The modules that a fresh interpreter has after `code`, of those that are not its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names)


def test_importing_the_package_loads_nothing():
    before = loaded_by("")
    assert loaded_by("import mnemolens; mnemolens.__version__") - before == {"mnemolens"}


def test_the_api_loads_neither_protocol_nor_database():
    found = loaded_by("from mnemolens import KuzuBackend, CodeGraph, MemoryEntry, MemoryQuery, MemoryType")
    assert {"pygls", "lsprotocol", "kuzu", "typer", "rich"}.isdisjoint(found)


def test_all_names_are_there():
    for name in mnemolens.__all__:
        assert getattr(mnemolens, name) is not None
        assert name in dir(mnemolens)
    assert {"KuzuBackend", "MemoryEntry", "MemoryType", "MemoryQuery", "CodeGraph"} <= set(mnemolens.__all__)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = mnemolens.Nothing
    with pytest.raises(ImportError):
        exec("from mnemolens import Nothing")


@pytest.mark.parametrize("name", [name for name in mnemolens.__all__ if name != "__version__"])
def test_everything_is_documented(name):
    thing = getattr(mnemolens, name)
    assert thing.__doc__
    methods = [value for key, value in vars(thing).items() if callable(value) and not key.startswith("_")]
    assert all(method.__doc__ for method in methods)


ROOT = Path(__file__).resolve().parents[2]


def run_example(number, capsys):
    """What an example of the README, or then of the reference, prints, line by line."""
    text = "".join((ROOT / name).read_text("utf-8") for name in ("README.md", "server/REFERENCE.md"))
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(examples[number], "example", "exec"), {})
    return capsys.readouterr().out.splitlines()


@pytest.mark.graph
def test_the_example_of_the_readme(tmp_path, monkeypatch, capsys):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "payments.py").write_text("def charge():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    first, second = run_example(0, capsys)
    assert first.startswith("charge() is called twice when the provider times out 20")
    assert second == "pay-1 src/payments.py::charge 0.8"


def test_the_example_of_the_graph(capsys):
    # 1 * .5 * .8, then .4 * .5 * .9
    assert run_example(1, capsys) == [
        "timeout 0.4 1 ['retry']",
        "idempotency 0.18 2 ['retry']",
        "timeout []",
    ]


def test_the_example_of_memories_that_fade(capsys):
    first, second = run_example(2, capsys)
    # .4 * (1 + .2) is below the 0.6 of the preset's active layer
    layers = {"long_term": {"count": 1, "tokens": 30}, "core": {"count": 1, "tokens": 50}}
    assert first == f"['mem_002', 'mem_001'] {layers} 80"
    assert second.startswith("{'mem_001': 1.0, 'mem_002': 0.4")
    assert second.endswith("[]")


def test_the_example_of_vectors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (line,) = run_example(3, capsys)
    assert line.endswith(" Tokens are JWTs, valid for a day")


@pytest.mark.graph
def test_the_demo(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "mnemolens.demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    parts = done.stdout.split("\n\n")
    assert "Indexed 2 files: 1 class, 3 functions." in parts[0]
    file, function = "relevance 1.0  (metadata_file_match)", "relevance 0.8  (content_name_match)"
    assert f"→ file src/utils.py  {file}" in parts[1]
    assert f"→ function validate_token  {function}" in parts[2]
    mixed = [line.strip() for line in parts[3].splitlines() if "→" in line]
    assert mixed == [
        f"→ file src/auth.py  {file}",
        "→ class SessionStore  relevance 0.8  (content_class_match)",
        f"→ function validate_input  {function}",
        f"→ function validate_token  {function}",
    ]
    assert [line.strip() for line in parts[4].splitlines() if "→" in line] == mixed
    assert "→ no link" in parts[5]
    assert f"→ function charge_card  {function}" in parts[6]
    assert "How to add a login (score: 1.0, metadata_file_match)" in parts[7]
    assert "→ no link" in parts[8]

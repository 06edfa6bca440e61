"""`mnemolens cypher`, and what `doctor` says of the graph."""

import subprocess
import sys

import pytest

kuzu = pytest.importorskip("kuzu", reason="there is no kuzu for this Python")

FUNCTIONS = "MATCH (f:CodeFunction) RETURN f.function_id, f.start_line ORDER BY f.function_id"


def test_for_programs(shell):
    ran = shell("cypher", FUNCTIONS, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "columns": ["f.function_id", "f.start_line"],
        "rows": [
            ["shop/pay.py::Payment.charge", 5],
            ["shop/pay.py::Payment.send", 12],
            ["shop/pay.py::refund", 16],
            ["shop/stock.py::reserve", 1],
        ],
    }


def test_for_people(shell):
    lines = shell("cypher", f"{FUNCTIONS} LIMIT 1").out.splitlines()
    assert [line.split() for line in lines] == [
        ["f.function_id", "f.start_line"],
        ["shop/pay.py::Payment.charge", "5"],
    ]


def test_memories_and_parameters(shell):
    one = shell.remember("Never twice", "--at", "shop/pay.py::charge", "--importance", "0.8")
    query = "MATCH (m:SemanticMemory) WHERE m.memory_id = $id AND m.importance > $least RETURN m.title"
    ran = shell("cypher", query, "--param", f"id={one}", "--param", "least=0.7", "--json")
    assert ran.json["rows"] == [["Never twice"]]
    ran = shell("cypher", query, "--param", f"id={one}", "--param", "least=0.9")
    assert (ran.code, ran.out, ran.error) == (1, "", "mnemolens: no rows")


def test_more_rows_than_the_limit(shell):
    ran = shell("cypher", FUNCTIONS, "--limit", "2", "--json")
    assert len(ran.json["rows"]) == 2
    assert "--limit" in ran.error


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("CREATE (m:CodeFile {file_id: 'x'})",), "CREATE"),
        (("MATCH (m",), "QUERY"),
        (("MATCH (f:CodeFile) RETURN f.nope",), "nope"),
        ((FUNCTIONS, "--param", "nosign"), "--param"),
        (("",), "QUERY"),
    ],
)
def test_queries_that_are_none(shell, arguments, named):
    ran = shell("cypher", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.error


def test_doctor_finds_the_graph_in_step(shell):
    [found] = [one for one in shell("doctor", "--json").json["findings"] if one["part"] == "graph"]
    assert found["level"] == "fine"
    assert "2 files" in found["text"]


def test_doctor_makes_a_damaged_graph_anew(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_CACHE_DIR", str(tmp_path / "cache"))
    assert shell("cypher", FUNCTIONS).code == 0
    [file] = (tmp_path / "cache" / "graphs").glob("*/0.kuzu")
    file.write_bytes(b"no graph at all " * 4096)
    ran = shell("doctor", "--json")
    [found] = [one for one in ran.json["findings"] if one["part"] == "graph"]
    assert ran.code == 0
    assert found["level"] == "fine"
    assert "anew" in found["text"]
    assert len(shell("cypher", FUNCTIONS, "--json").json["rows"]) == 4


@pytest.mark.usefixtures("shell")
def test_without_kuzu():
    script = """
import sys
sys.modules["kuzu"] = None
from mnemolens.cli.main import main
print(main(["doctor"]))
sys.exit(main(["cypher", "MATCH (f:CodeFile) RETURN f.file_id"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    *_, graph, code = done.stdout.splitlines()
    assert graph.startswith("graph     note")
    assert code == "0"
    [line] = done.stderr.splitlines()
    assert "kuzu" in line


def test_a_parameter_of_another_kind_is_named_as_it_was_given(shell):
    query = "MATCH (m) WHERE m.memory_id = $id RETURN m.title"
    assert shell("cypher", query, "--param", "id=1").error == "mnemolens: --param id: memory_id is a text"

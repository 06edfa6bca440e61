"""Without the graph database everything but Cypher works."""

import sys

import pytest

from mnemolens import CodeGraph, GraphUnavailable, MemoryEntry
from mnemolens.demo import main


@pytest.fixture(autouse=True)
def blocked(monkeypatch):
    monkeypatch.setitem(sys.modules, "kuzu", None)


def test_only_cypher_is_missing(backend):
    assert CodeGraph(backend).index().files == 3
    backend.store_memory(MemoryEntry(id="m", content="validate_token", session_id="s"))
    assert [memory.id for memory in backend.retrieve_memories()] == ["m"]
    for _ in range(2):
        with pytest.raises(GraphUnavailable, match="the graph is off: kuzu"):
            backend.connection.execute("MATCH (m:SemanticMemory) RETURN m.memory_id")
    graph = backend.get_stats()["graph"]
    assert graph["state"] == "off"
    assert "kuzu" in graph["reason"]
    assert backend.delete_session("s") == 1


def test_the_demo_says_so(capsys):
    assert main() == 1
    assert "The graph can't be asked here: the graph is off: kuzu" in capsys.readouterr().out

"""What stands around a symbol, in the engine: memories that count, and edges between them."""

from datetime import timedelta

import pytest

from folders import Folder

CODE = "def charge():\n    return 1\n\n\ndef pay():\n    return charge()\n"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"billing.py": CODE})
    yield made
    made.close()


def around(folder, needle, depth=1):
    position = folder.find("billing.py", needle)
    return folder.run(folder.workspace.neighbours("billing.py", position, depth, folder.now))


def test_forgotten_and_expired_memories_are_left_out(folder):
    kept = folder.remember("kept", "billing.py", "charge")
    forgotten = folder.remember("forgotten", "billing.py", "charge")
    folder.commit(folder.workspace.forget(forgotten, folder.now))
    folder.remember("expired", "billing.py", "charge", expires_at=folder.now + timedelta(hours=1))
    folder.clock.advance(7200)
    assert [node.view.memory.id for node in around(folder, "charge").memories] == [kept]


def test_memories_further_away_are_told_with_their_distance(folder):
    near = folder.remember("on the caller", "billing.py", "pay")
    far = folder.remember("on the callee", "billing.py", "charge")
    found = {node.view.memory.id: node.depth for node in around(folder, "pay").memories}
    assert found == {near: 1, far: 2}


def test_edges_between_memories_that_are_both_there(folder):
    one = folder.remember("one", "billing.py", "charge")
    two = folder.remember("two", "billing.py", "charge")
    elsewhere = folder.remember("elsewhere")
    for target in (two, elsewhere):
        folder.commit(folder.workspace.link(one, target_id=target, edge_type="CONTRADICTS", now=folder.now))
    edges = [edge for edge in around(folder, "charge").edges if edge.source == one]
    assert {(edge.target, edge.type) for edge in edges} == {
        ("billing.py::charge", "RELATES_TO"),
        (two, "CONTRADICTS"),
    }

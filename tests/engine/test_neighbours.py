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
    key = folder.workspace.code.target("billing.py", position)
    return folder.run(folder.workspace.around.look(key, depth, folder.now))


def test_forgotten_and_expired_memories_are_left_out(folder):
    kept = folder.remember("kept", "billing.py", "charge")
    forgotten = folder.remember("forgotten", "billing.py", "charge")
    folder.commit(folder.workspace.writing.forget(forgotten, folder.now))
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
        folder.commit(
            folder.workspace.attaching.link(one, target_id=target, edge_type="CONTRADICTS", now=folder.now)
        )
    edges = [edge for edge in around(folder, "charge").edges if edge.source == one]
    assert {(edge.target, edge.type) for edge in edges} == {
        ("billing.py::charge", "RELATES_TO"),
        (two, "CONTRADICTS"),
    }


SHAPES = {
    "shapes.py": "class Shape:\n    pass\n\n\nclass Square(Shape):\n    pass\n",
    "more/round.py": "from shapes import Shape as Form\n\n\nclass Circle(Form):\n    pass\n",
    "more/dotted.py": "import shapes\n\n\nclass Oval(shapes.Shape):\n    pass\n",
    "other.py": "class Shape:\n    pass\n\n\nclass Ghost(Shape):\n    pass\n",
    "base.ts": "export default class Base {}\nexport interface Named {}\n",
    "derived.ts": "import Root, { Named as It } from './base';\nclass Leaf extends Root implements It {}\n",
}


def inheriting(folder, file, needle, depth=1):
    position = folder.find(file, needle)
    key = folder.workspace.code.target(file, position)
    found = folder.run(folder.workspace.around.look(key, depth, folder.now))
    return {(edge.source, edge.target) for edge in found.edges if edge.type == "INHERITS"}


def test_derived_classes_and_bases_and_no_namesakes(tmp_path):
    folder = Folder(tmp_path, SHAPES)
    shape = "shapes.py::Shape"
    assert inheriting(folder, "shapes.py", "Shape") == {
        ("shapes.py::Square", shape),
        ("more/round.py::Circle", shape),
        ("more/dotted.py::Oval", shape),
    }
    assert inheriting(folder, "shapes.py", "Square") == {("shapes.py::Square", shape)}
    assert inheriting(folder, "shapes.py", "Square", depth=2) == inheriting(folder, "shapes.py", "Shape")
    assert inheriting(folder, "base.ts", "Base") == {("derived.ts::Leaf", "base.ts::Base")}
    assert inheriting(folder, "base.ts", "Named") == {("derived.ts::Leaf", "base.ts::Named")}
    folder.close()

"""What stands around a symbol, and Cypher, over the wire."""

import pytest
from pygls.exceptions import JsonRpcException

from editors import SERVE, uri

SHAPES = """import abc


class Shape(abc.ABC):
    def area(self):
        return 0


class Square(Shape):
    def area(self):
        return side() * side()


def side():
    return 2
"""


@pytest.fixture
async def ready(neovim, repository):
    (repository / "shapes.py").write_text(SHAPES)
    await neovim.start(repository)
    await neovim.indexed(files=3)
    return neovim


def at(repository, file, line, character=5):
    return {"uri": uri(repository / file), "position": {"line": line, "character": character}}


def edges(answer):
    return {(edge["source"], edge["type"], edge["target"]) for edge in answer["edges"]}


async def test_neighbours_of_a_function(ready, repository):
    memory = (await ready.capture("Never retry", repository / "billing.py", 3, 5))["memory"]
    answer = await ready.run("graph.neighbors", at(repository, "billing.py", 3))
    assert set(answer) == {"nodes", "edges", "truncated"}
    assert answer["truncated"] is False
    first = answer["nodes"][0]
    assert (first["id"], first["kind"], first["depth"]) == ("billing.py::charge", "function", 0)
    assert first["range"]["start"] == {"line": 3, "character": 0}
    assert {(node["id"], node["depth"]) for node in answer["nodes"]} == {
        ("billing.py::charge", 0),
        ("billing.py::Payment.refund", 1),
        ("shop.py::checkout", 1),
        ("billing.py", 1),
        (memory["id"], 1),
    }
    assert edges(answer) == {
        ("billing.py::Payment.refund", "CALLS", "billing.py::charge"),
        ("shop.py::checkout", "CALLS", "billing.py::charge"),
        ("billing.py", "CONTAINS", "billing.py::charge"),
        (memory["id"], "RELATES_TO", "billing.py::charge"),
    }
    calls = {edge["source"]: edge for edge in answer["edges"] if edge["type"] == "CALLS"}
    assert calls["shop.py::checkout"]["count"] == 1
    assert calls["shop.py::checkout"]["confidence"] == "import"
    (relates,) = (edge for edge in answer["edges"] if edge["type"] == "RELATES_TO")
    assert relates["relevance"] == 1
    (node,) = (node for node in answer["nodes"] if node["kind"] == "memory")
    assert {key: node[key] for key in ("title", "type", "verdict")} == {
        "title": "Never retry",
        "type": "semantic",
        "verdict": "fresh",
    }


async def test_neighbours_of_a_class(ready, repository):
    found = edges(await ready.run("graph.neighbors", at(repository, "shapes.py", 8, 7)))
    assert found == {
        ("shapes.py::Square", "INHERITS", "shapes.py::Shape"),
        ("shapes.py::Square", "CONTAINS", "shapes.py::Square.area"),
        ("shapes.py", "CONTAINS", "shapes.py::Square"),
    }


async def test_neighbours_of_a_file(ready, repository):
    found = edges(await ready.run("graph.neighbors", {"uri": uri(repository / "shop.py")}))
    assert found == {("shop.py", "IMPORTS", "billing.py"), ("shop.py", "CONTAINS", "shop.py::checkout")}


async def test_each_step_goes_on_from_the_last(ready, repository):
    here = at(repository, "shop.py", 3)
    near = await ready.run("graph.neighbors", here)
    far = await ready.run("graph.neighbors", {**here, "depth": 2})
    assert "billing.py::Payment.refund" not in {node["id"] for node in near["nodes"]}
    depths = {node["id"]: node["depth"] for node in far["nodes"]}
    assert (depths["billing.py::charge"], depths["billing.py::Payment.refund"]) == (1, 2)


async def test_unsaved_text_counts(ready, repository):
    path = repository / "shop.py"
    ready.open(path, "def lonely():\n    pass\n")
    answer = await ready.run("graph.neighbors", at(repository, "shop.py", 0))
    assert edges(answer) == {("shop.py", "CONTAINS", "shop.py::lonely")}


async def test_too_many_are_cut_off(ready, repository):
    (repository / "many.py").write_text("".join(f"def f{n}():\n    pass\n\n\n" for n in range(300)))
    await ready.run("index.rebuild")
    answer = await ready.run("graph.neighbors", {"uri": uri(repository / "many.py")})
    assert (len(answer["nodes"]), answer["truncated"]) == (200, True)
    known = {node["id"] for node in answer["nodes"]}
    assert all({edge["source"], edge["target"]} <= known for edge in answer["edges"])


@pytest.mark.parametrize("depth", [0, 4, "2", True])
async def test_wrong_depths(ready, repository, depth):
    refusal = await ready.refusal("graph.neighbors", {**at(repository, "shop.py", 3), "depth": depth})
    assert refusal.startswith("depth: ")


async def test_neighbours_need_a_uri(ready):
    assert await ready.refusal("graph.neighbors", {}) == "uri: is missing"


class TestQueries:
    @pytest.mark.graph
    async def test_code_and_memories(self, ready, repository):
        await ready.capture("Never retry", repository / "billing.py", 3, 5, type="episodic")
        cypher = (
            "MATCH (m:EpisodicMemory)-[:RELATES_TO_FUNCTION_EPISODIC]->(f:CodeFunction) "
            "WHERE f.function_name = $name RETURN m.title AS title, f.function_id AS id"
        )
        answer = await ready.run("graph.query", {"cypher": cypher, "parameters": {"name": "charge"}})
        assert answer == {
            "columns": ["title", "id"],
            "rows": [["Never retry", "billing.py::charge"]],
            "truncated": False,
        }
        (folder,) = (await ready.run("status"))["folders"]
        assert folder["graph"]["state"] == "ready"

    @pytest.mark.graph
    async def test_the_graph_is_kept_without_being_asked(self, ready):
        async def is_ready():
            (folder,) = (await ready.run("status"))["folders"]
            return folder["graph"]["state"] == "ready"

        assert await ready.until(is_ready)

    @pytest.mark.graph
    async def test_a_limit(self, ready):
        cypher = "MATCH (f:CodeFile) RETURN f.file_path ORDER BY f.file_path"
        answer = await ready.run("graph.query", {"cypher": cypher, "limit": 2})
        assert (answer["rows"], answer["truncated"]) == ([["billing.py"], ["shapes.py"]], True)

    @pytest.mark.parametrize(
        ("arguments", "field"),
        [
            ({"cypher": "MATCH (n) DELETE n"}, "cypher"),
            ({"cypher": ""}, "cypher"),
            ({}, "cypher"),
            ({"cypher": "RETURN 1", "limit": 0}, "limit"),
            ({"cypher": "RETURN 1", "limit": 1001}, "limit"),
            ({"cypher": "RETURN 1", "parameters": "x"}, "parameters"),
        ],
    )
    async def test_refusals(self, ready, arguments, field):
        assert (await ready.refusal("graph.query", arguments)).startswith(f"{field}: ")


class TestWithoutKuzu:
    @pytest.fixture(
        params=[
            ("sitecustomize.py", "import sys\nsys.modules['kuzu'] = None\n", "kuzu is not installed"),
            ("kuzu.py", "raise ImportError('wrong system')\n", "kuzu can't be imported (wrong system)"),
        ],
        ids=["absent", "broken"],
    )
    async def blocked(self, request, editors, repository, tmp_path):
        """An editor, and why its server has no graph."""
        name, text, reason = request.param
        (tmp_path / "blocked").mkdir()
        (tmp_path / "blocked" / name).write_text(text)
        editor = editors("neovim")
        editor.command = SERVE  # what is imported is what this is about
        await editor.start(repository, environment={"PYTHONPATH": str(tmp_path / "blocked")})
        await editor.indexed(files=2)
        return editor, reason

    async def test_it_says_why(self, blocked):
        editor, reason = blocked
        refusal = await editor.refusal("graph.query", {"cypher": "RETURN 1"})
        assert refusal == f"cypher: the graph is off: {reason}"
        (folder,) = (await editor.run("status"))["folders"]
        assert folder["graph"] == {"state": "off", "slot": None, "reason": reason}

    async def test_everything_else_works(self, blocked, repository, tmp_path):
        editor, _ = blocked
        path = repository / "billing.py"
        editor.open(path)
        with pytest.raises(JsonRpcException):
            await editor.run("graph.query", {"cypher": "RETURN 1"})
        one = (await editor.capture("Never retry", path, 3, 5, sessionId="s"))["memory"]["id"]
        assert "Never retry" in await editor.hover_text(path, 3, 5)
        assert await editor.lenses(path) == {3: "1 memory"}
        editor.change(path, ((0, 0, 0, 0), "\n"))
        assert "Never retry" in await editor.hover_text(path, 4, 5)
        assert edges(await editor.run("graph.neighbors", at(repository, "shop.py", 3))) >= {
            ("shop.py::checkout", "CALLS", "billing.py::charge")
        }
        out = {"path": str(tmp_path / "out.jsonl")}
        assert (await editor.run("store.export", out))["memories"] == 1
        assert (await editor.run("store.import", out))["unchanged"] == 1
        assert await editor.run("session.forget", {"sessionId": "s"}) == {"forgotten": 1}
        assert (await editor.run("memory.restore", {"id": one}))["memory"]["status"] == "active"
        assert (await editor.run("memory.purge", {"id": one}))["pending"] == []
        assert (await editor.run("memory.list"))["total"] == 0

"""A whole day of a folder in which the graph is started but kuzu is not there, or can't be imported."""

import logging
import sys

import pytest

from folders import Folder
from mnemolens.core.errors import GraphUnavailable
from mnemolens.core.settings_model import IndexSettings, Settings
from mnemolens.core.views import GraphState
from mnemolens.engine.requests import ListRequest, RecallRequest
from mnemolens.engine.status import status_of
from mnemolens.store import graph as graph_store

FILES = {
    "pay.py": "# TODO: never retry\ndef charge():\n    return 1\n\n\ndef refund():\n    return charge()\n",
    "shop.py": "from pay import charge\n\n\ndef buy():\n    return charge()\n",
}


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "kuzu", None)
    return "kuzu is not installed"


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """What is imported as kuzu in the graph's process needs a library that is not there."""
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "kuzu.py").write_text("raise ImportError('libkuzu.so: cannot open\\nshared object file')\n")
    monkeypatch.setenv("PYTHONPATH", str(fake))
    return "kuzu can't be imported (libkuzu.so: cannot open shared object file)"


@pytest.fixture(params=["absent", pytest.param("broken", marks=pytest.mark.graph)])
def reason(request):
    graph_store._say_once.cache_clear()
    return request.getfixturevalue(request.param)


@pytest.fixture
def folder(reason, tmp_path):
    assert "kuzu" in reason
    made = Folder(tmp_path / "project", FILES)
    made.loop.run_until_complete(started(made))
    yield made
    made.close()


async def started(folder):
    folder.workspace.graph.keep()


def refused(folder):
    with pytest.raises(GraphUnavailable) as caught:
        folder.run(folder.workspace.graph.query("MATCH (n) RETURN n"))
    return str(caught.value)


def test_it_says_why_at_every_query(folder, reason):
    assert refused(folder) == refused(folder) == f"the graph is off: {reason}"
    assert status_of(folder.workspace).graph == GraphState("off", None, reason)


def test_it_is_said_once_and_warns_nobody(reason, tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="mnemolens.store.graph")
    for name in ("one", "two"):
        made = Folder(tmp_path / name, {"a.py": "def f():\n    pass\n"})
        made.run(started(made))
        assert refused(made) == f"the graph is off: {reason}"
        made.close()
    ours = (record for record in caplog.records if record.name.startswith("mnemolens"))
    told = [(record.levelname, record.message) for record in ours]
    assert told == [("INFO", f"no graph is kept: {reason}; everything but Cypher works")]


def test_everything_else_works(folder, tmp_path):
    workspace = folder.workspace
    folder.open("pay.py")
    one = folder.remember("Ask Ana first", "pay.py", "refund", session_id="s")
    two = folder.remember("charge() double-charges", type="episodic")
    assert folder.titles("pay.py", "refund") == ["Ask Ana first", "charge() double-charges"]  # it calls it
    assert folder.lenses("pay.py") == {1: "1 memory", 5: "1 memory"}
    assert [
        found.view.memory.id for found in workspace.recall.recall(RecallRequest("ana"), folder.now).memories
    ] == [one]

    folder.edit("pay.py", [])
    folder.write_seen("shop.py", FILES["shop.py"] + "\n\ndef sell():\n    return buy()\n")
    folder.pass_time(5)
    workspace.apply_settings(Settings(index=IndexSettings(exclude=["nothing/"])))
    folder.run(workspace.build_index(rebuild=True))
    key = workspace.code.target("shop.py", folder.find("shop.py", "buy():"))
    around = folder.run(workspace.around.look(key, 1, folder.now))
    assert {node.place.qualname for node in around.code} >= {"charge", "sell"}

    out = tmp_path / "out.jsonl"
    assert folder.run(workspace.exchange.export(out, "jsonl", folder.now)).memories == 2
    assert folder.run(workspace.exchange.import_file(out, folder.now)).unchanged == 2
    run = folder.run(workspace.importing.run(folder.now))
    assert folder.commit(run).stored == 1
    assert folder.commit(workspace.sessions.forget_session("s")) == 1
    folder.commit(workspace.writing.restore(one, folder.now))
    assert folder.run(workspace.exchange.purge(two)).pending == ()
    assert sorted(
        view.memory.title for view in workspace.listing.page(ListRequest(), folder.now).memories
    ) == [
        "Ask Ana first",
        "never retry",
    ]
    assert "kuzu" in refused(folder)
    assert status_of(workspace).graph.state == "off"

    again = folder.restart()
    folder.run(started(folder))
    assert again.listing.page(ListRequest(), folder.now).total == 2


def test_the_status_says_so_before_anybody_asked(absent, tmp_path):
    folder = Folder(tmp_path / "unasked", FILES)
    assert status_of(folder.workspace).graph == GraphState("off", None, absent)
    folder.close()

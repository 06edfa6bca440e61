"""What use does to memories: accesses, and a stronger connection of those that were used at once."""

import pytest

from folders import Folder
from mnemolens.core.errors import NotFound
from mnemolens.engine.memory_graph import MOST_TOGETHER
from mnemolens.engine.requests import ListRequest, RecallRequest

FILES = {
    "pay.py": "def charge():\n    return 1\n\n\ndef bill():\n    return charge()\n",
    "far.py": "def audit():\n    return 2\n",
}


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path, FILES)
    folder.open("pay.py")
    yield folder
    folder.close()


def together(folder, memory_id):
    edges = folder.workspace.memory_graph.edges_of(memory_id, "CO_ACTIVATED")
    return {frozenset((edge.source_id, edge.target_id)): pytest.approx(edge.weight) for edge in edges}


def lines(folder):
    files = (folder.workspace.layout.store / "journal").glob("*.jsonl")
    return [line for file in files for line in file.read_text("utf-8").splitlines()]


def test_memories_used_at_once_are_connected(folder):
    a, b, c = (folder.remember(f"Memory {name}") for name in "abc")
    before = len(lines(folder))
    folder.run(folder.workspace.journaling.access([a, b, c], folder.now))
    assert len(lines(folder)) == before + 2  # the accesses, and that they came together
    assert together(folder, a) == {frozenset((a, b)): 0.1, frozenset((a, c)): 0.1}
    folder.run(folder.workspace.journaling.access([b, a], folder.now))
    assert together(folder, b) == {frozenset((a, b)): 0.2, frozenset((b, c)): 0.1}
    counts = [folder.workspace.show.detail(one, folder.now).view.memory.access_count for one in (a, b, c)]
    assert counts == [2, 2, 1]
    folder.restart()
    assert together(folder, a) == {frozenset((a, b)): 0.2, frozenset((a, c)): 0.1}


def test_the_connection_ends_at_1(folder):
    a, b = folder.remember("Memory a"), folder.remember("Memory b")
    for _ in range(12):
        folder.workspace.journaling.access_sync([a, b], folder.now)
    assert together(folder, a) == {frozenset((a, b)): 1.0}


def test_one_alone_is_connected_with_nothing(folder):
    a, b = folder.remember("Memory a"), folder.remember("Memory b")
    folder.run(folder.workspace.journaling.access([a], folder.now))
    folder.workspace.journaling.access_sync([a, a], folder.now)
    folder.commit(folder.workspace.writing.forget(b, folder.now))
    folder.workspace.journaling.access_sync([a, b], folder.now)
    folder.commit(folder.workspace.writing.restore(b, folder.now))
    assert together(folder, a) == {}


def test_of_many_the_first_are_connected(folder):
    ids = [folder.remember(f"Memory {number}") for number in range(MOST_TOGETHER + 3)]
    folder.workspace.journaling.access_sync(ids, folder.now)
    assert len(together(folder, ids[0])) == MOST_TOGETHER - 1
    assert together(folder, ids[-1]) == {}
    assert folder.workspace.show.detail(ids[-1], folder.now).view.memory.access_count == 1


def recall_and_record(folder, query=None, at=None):
    """As a recall that is recorded does; what came."""
    place = {} if at is None else {"file": "pay.py", "position": folder.find("pay.py", at)}
    view = folder.workspace.recall.recall(RecallRequest(query, **place), folder.now)
    folder.workspace.journaling.access_sync(view.ids, folder.now, view.on_their_own)
    return {found.view.memory.title: found.only_together for found in view.memories}


def count(folder, memory_id):
    return folder.workspace.show.view(memory_id, folder.now).memory.access_count


def test_what_came_only_by_having_been_together_comes_no_closer(folder):
    a = folder.remember("Never retry", "pay.py", "charge")
    b = folder.remember("Ask Ana", "far.py", "audit")
    both = frozenset((a, b))
    for _ in range(3):
        folder.workspace.journaling.access_sync([a, b], folder.now)
    assert together(folder, a) == {both: 0.3}  # three times .1
    for _ in range(4):
        assert recall_and_record(folder, at="charge") == {"Never retry": False, "Ask Ana": True}
    assert together(folder, a) == {both: 0.3}
    assert (count(folder, a), count(folder, b)) == (7, 7)  # both were brought to mind all the same
    assert recall_and_record(folder, "ana retry") == {"Never retry": False, "Ask Ana": False}
    assert together(folder, a) == {both: 0.4}
    assert recall_and_record(folder, "ana", at="charge") == {"Never retry": False, "Ask Ana": False}
    assert together(folder, a) == {both: 0.5}  # the words found it here
    folder.workspace.journaling.access_sync([a, b], folder.now)  # as opening both does
    assert together(folder, a) == {both: 0.6}


def test_what_the_code_leads_to_as_well_comes_closer(folder):
    a = folder.remember("Never bill twice", "pay.py", "bill")
    b = folder.remember("Never retry", "pay.py", "charge")
    for _ in range(9):
        folder.workspace.journaling.access_sync([a, b], folder.now)
    assert recall_and_record(folder, at="bill") == {"Never bill twice": False, "Never retry": False}
    assert together(folder, a) == {frozenset((a, b)): 1.0}  # ten times .1


def test_what_such_a_memory_leads_to_comes_no_closer_either(folder):
    a = folder.remember("Never retry", "pay.py", "charge")
    b, c = folder.remember("Ask Ana"), folder.remember("Ana is away in May")
    for _ in range(10):
        folder.workspace.journaling.access_sync([a, b], folder.now)
    folder.commit(folder.workspace.attaching.link(b, target_id=c, edge_type="SAME_TOPIC", now=folder.now))
    lit = {"Never retry": False, "Ask Ana": True, "Ana is away in May": True}
    assert recall_and_record(folder, at="charge") == lit
    assert together(folder, c) == {}
    folder.commit(folder.workspace.attaching.link(a, target_id=c, edge_type="CAUSED_BY", now=folder.now))
    assert recall_and_record(folder, at="charge") == {**lit, "Ask Ana": False, "Ana is away in May": False}
    assert together(folder, c) == {frozenset((a, c)): 0.1, frozenset((b, c)): 0.1}


def test_an_unknown_id_counts_nothing(folder):
    a = folder.remember("Memory a")
    before = lines(folder)
    with pytest.raises(NotFound):
        folder.run(folder.workspace.journaling.access([a, "nobody"], folder.now))
    assert lines(folder) == before


def test_reading_writes_nothing(folder):
    a = folder.remember("Never retry", "pay.py", "charge")
    b = folder.remember("Ask Ana", "pay.py", "charge")
    before = lines(folder)
    at = folder.find("pay.py", "charge")
    assert len(folder.hover("pay.py", "charge").items) == 2
    assert folder.lenses("pay.py")
    folder.workspace.actions.at("pay.py", at, folder.now)
    folder.workspace.listing.page(ListRequest(file="pay.py", position=at), folder.now)
    folder.workspace.recall.recall(RecallRequest(file="pay.py", position=at), folder.now)
    folder.workspace.show.detail(a, folder.now)
    folder.workspace.memory_graph.clusters()
    folder.pass_time(5)
    assert lines(folder) == before
    assert together(folder, b) == {}

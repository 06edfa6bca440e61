"""Memories that others supersede or contradict: they say so wherever they are shown, and stand behind."""

from pathlib import Path

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.requests import ListRequest, RecallRequest

FILES = {"pay.py": "def charge():\n    return 1\n\n\ndef refund():\n    return 2\n"}


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path, FILES)
    folder.open("pay.py")
    yield folder
    folder.close()


@pytest.fixture
def notes(folder):
    """An older memory that would be shown first, and a newer one."""
    return [
        folder.remember("Never retry: it double-charges", "pay.py", "charge", importance=0.9),
        folder.remember("Retries are safe now", "pay.py", "charge", importance=0.5),
    ]


def link(folder, source, target, kind):
    return folder.commit(
        folder.workspace.attaching.link(source, target_id=target, edge_type=kind, now=folder.now)
    )


def words(folder, memory_id):
    return [one.words for one in folder.workspace.show.detail(memory_id, folder.now).view.relations]


def test_without_edges_the_weightier_is_first(folder, notes):
    assert folder.titles("pay.py", "charge") == ["Never retry: it double-charges", "Retries are safe now"]
    assert words(folder, notes[0]) == []
    assert "relations" not in JsonForm(folder.workspace).memory(
        folder.workspace.show.detail(notes[0], folder.now).view
    )


def test_a_superseded_memory_says_so_and_stands_behind_its_successor(folder, notes):
    old, new = notes
    link(folder, new, old, "SUPERSEDES")
    hover = folder.hover("pay.py", "charge")
    assert [item.memory_id for item in hover.items] == [new, old]
    assert [one.words for one in hover.items[1].relations] == ["superseded by “Retries are safe now”"]
    assert hover.items[0].relations == ()
    workspace, at = folder.workspace, folder.find("pay.py", "charge")
    page = workspace.listing.page(ListRequest(file="pay.py", position=at), folder.now)
    assert [view.memory.id for view in page.memories] == [new, old]
    for request in (
        RecallRequest(file="pay.py", position=at),
        RecallRequest(query="retries"),
        RecallRequest(),
    ):
        first, second = workspace.recall.recall(request, folder.now).memories
        assert (first.view.memory.id, second.view.memory.id) == (new, old)
        assert second.why[-1] == "superseded by “Retries are safe now”"
        assert second.truth == pytest.approx(first.truth / 2)
        assert second.score == pytest.approx(second.view.weight * second.activation * second.truth)
    json = JsonForm(workspace).memory(workspace.show.detail(old, folder.now).view)
    assert json["relations"] == [{"kind": "supersededBy", "id": new, "title": "Retries are safe now"}]


def test_a_memory_that_is_open_as_a_document_says_so(folder, notes):
    old, new = notes
    link(folder, new, old, "SUPERSEDES")
    (opened,) = folder.run(folder.workspace.opened.open([old], folder.now))
    assert "superseded by “Retries are safe now”" in Path(opened.path).read_text("utf-8")


def test_an_own_memory_stands_behind_a_successor_that_is_only_around(folder, notes):
    old, _ = notes
    around = folder.remember("All of this file moves to Stripe", "pay.py", "\n")
    link(folder, around, old, "SUPERSEDES")
    request = RecallRequest(file="pay.py", position=folder.find("pay.py", "charge"))
    order = [found.view.memory.id for found in folder.workspace.recall.recall(request, folder.now).memories]
    assert order.index(around) < order.index(old)


def test_a_hover_shows_a_successor_first_that_is_on_what_is_called(tmp_path):
    code = "def retry():\n    return 1\n\n\ndef charge():\n    return retry()\n"
    folder = Folder(tmp_path, {"pay.py": code})
    folder.open("pay.py")
    old = folder.remember("Never twice", "pay.py", "charge")
    new = folder.remember("Twice is fine", "pay.py", "retry")
    link(folder, new, old, "SUPERSEDES")
    assert [item.memory_id for item in folder.hover("pay.py", "charge").items] == [new, old]
    folder.close()


def test_both_sides_of_a_contradiction_say_so(folder, notes):
    old, new = notes
    link(folder, old, new, "CONTRADICTS")
    assert words(folder, old) == ["contradicts “Retries are safe now”"]
    assert words(folder, new) == ["contradicts “Never retry: it double-charges”"]
    # Neither is known to be wrong: nothing moves.
    assert folder.titles("pay.py", "charge") == ["Never retry: it double-charges", "Retries are safe now"]


def test_what_comes_for_its_contradiction_says_so_once(folder):
    first = folder.remember("Never retry", "pay.py", "charge")
    other = folder.remember("Refunds are slow", "pay.py", "refund")
    link(folder, first, other, "CONTRADICTS")
    request = RecallRequest(file="pay.py", position=folder.find("pay.py", "charge"))
    found = {
        one.view.memory.id: one.why for one in folder.workspace.recall.recall(request, folder.now).memories
    }
    assert found[other].count("contradicts “Never retry”") == 1


def test_what_is_forgotten_supersedes_and_contradicts_nothing(folder, notes):
    old, new = notes
    link(folder, new, old, "SUPERSEDES")
    link(folder, old, new, "CONTRADICTS")
    folder.commit(folder.workspace.writing.forget(new, folder.now))
    assert words(folder, old) == []
    folder.commit(folder.workspace.writing.restore(new, folder.now))
    assert len(words(folder, old)) == 2
    folder.commit(folder.workspace.writing.update(new, {"expires_at": folder.later(hours=1)}, folder.now))
    folder.clock.advance(3600)
    assert words(folder, old) == []


def test_unlinking_takes_it_back_and_a_restart_does_not(folder, notes):
    old, new = notes
    link(folder, new, old, "SUPERSEDES")
    folder.restart()
    assert words(folder, old) == ["superseded by “Retries are safe now”"]
    folder.commit(folder.workspace.attaching.unlink(new, target_id=old, edge_type="SUPERSEDES"))
    assert words(folder, old) == []


def test_memories_can_not_supersede_each_other(folder, notes):
    old, new = notes
    third = folder.remember("A third one")
    link(folder, new, old, "SUPERSEDES")
    link(folder, third, new, "SUPERSEDES")
    for source, target in ((old, new), (old, third)):
        with pytest.raises(InvalidArgument, match=r"targetId: .*supersedes this one already"):
            folder.workspace.attaching.link(source, target_id=target, edge_type="SUPERSEDES", now=folder.now)
    link(folder, new, old, "SUPERSEDES")  # again is no ring


def test_a_long_title_is_cut(folder, notes):
    old, _ = notes
    long = folder.remember("word " * 40, title="word " * 40)
    link(folder, long, old, "SUPERSEDES")
    (said,) = words(folder, old)
    assert said.endswith("…”")
    assert len(said) < 90

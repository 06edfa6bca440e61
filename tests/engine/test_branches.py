"""Which memories come from other branches, and when a branch counts as merged: on histories made by hand."""

import asyncio
import logging
from datetime import timedelta

import pytest

from folders import START, Folder
from mnemolens.core.clock import ManualClock
from mnemolens.core.events import (
    AnchorConfirm,
    AnchorPut,
    BirthRecord,
    Event,
    Place,
    memory_fields,
    put_memory,
)
from mnemolens.core.memories import Birth, CodeState
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.branches import Branches
from mnemolens.engine.requests import ListRequest, RecallRequest
from mnemolens.store.git import read_head
from mnemolens.store.layout import find_layout
from mnemolens.store.merge import MergedState
from repositories import commit, git, init


class Notes:
    """Memories born where HEAD is when they are written."""

    def __init__(self, folder):
        self.folder = folder
        self.layout = find_layout(folder)
        self.state = MergedState()
        self.branches = Branches(self.layout, self.state)
        self.count = 0

    def put(self, data):
        self.count += 1
        event = Event(f"e{self.count:04}", f"17723664{self.count:05}-0000-aaaaaaaaaa", data)
        self.branches.note(self.state.apply([event]))

    def write(self, name, trigger=None, created_at=START):
        born = read_head(self.layout)
        fields = {
            "type": "prospective",
            "title": name,
            "content": name,
            "created_at": created_at,
            "born": born,
            "trigger": trigger,
        }
        self.put(put_memory(name, {key: value for key, value in fields.items() if value is not None}))
        birth = Birth(
            CodeState(SymbolKey("a.py", "f"), "1" * 16, "2" * 16, "", born.commit),
            "function",
            "def f()",
            3,
            ("", ""),
            "",
            born.branch,
            1,
        )
        self.put(AnchorPut(anchor=f"anchor of {name}", memory=name, birth=BirthRecord.of(birth)))

    def confirm(self, name):
        where = {"place": Place(file="a.py", qualname="f", ordinal=0)}
        head = read_head(self.layout).commit
        self.put(AnchorConfirm(anchor=f"anchor of {name}", commit=head, **where))

    def look(self):
        return self.branches.look_blocking(read_head(self.layout))

    def origin(self, name):
        self.look()
        return self.branches.other_branch(self.state.memory(name))

    def merged(self, name):
        self.look()
        return self.branches.is_merged(name)


@pytest.fixture
def notes(tmp_path):
    init(tmp_path / "repo", at="2026-03-01T00:00:00Z")  # before the notes
    return Notes(tmp_path / "repo")


def test_a_note_is_marked_where_its_commit_is_not_in_the_history(notes):
    notes.write("old")
    git(notes.folder, "checkout", "-q", "-b", "feature/x")
    commit(notes.folder)
    notes.write("new")
    assert notes.origin("new") is None
    git(notes.folder, "checkout", "-q", "main")
    assert notes.origin("new") == "feature/x"
    assert notes.origin("old") is None
    git(notes.folder, "checkout", "-q", "feature/x")
    assert notes.origin("new") is None


def test_a_merge_takes_the_mark_away(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    assert notes.origin("new") == "side"
    git(notes.folder, "merge", "-q", "--no-ff", "-m", "m", "side")
    assert notes.origin("new") is None


def test_an_amended_commit_is_no_other_branch(notes):
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "commit", "-q", "--amend", "--allow-empty", "-m", "amended")
    assert notes.origin("new") is None
    git(notes.folder, "checkout", "-q", "-b", "side")
    assert notes.origin("new") == "main"


def test_a_note_from_a_detached_head_names_its_commit(notes):
    git(notes.folder, "checkout", "-q", "--detach")
    last = commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    assert notes.origin("new") == f"commit {last[:7]}"


def test_a_confirmed_note_is_of_here_too(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    assert notes.origin("new") == "side"
    notes.confirm("new")
    assert notes.origin("new") is None


def test_settings_say_what_becomes_of_them(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    notes.look()
    memory = notes.state.memory("new")
    told = {}
    for mode in ("mark", "hide", "show"):
        notes.branches.configure(Settings(memory={"other_branches": mode}))
        told[mode] = (notes.branches.other_branch(memory), notes.branches.hides(memory))
    assert told == {"mark": ("side", False), "hide": ("side", True), "show": (None, False)}


def test_no_commit_no_mark(tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    notes = Notes(folder)
    notes.write("first")
    assert notes.origin("first") is None
    commit(folder)
    assert notes.origin("first") is None


def test_without_git(tmp_path):
    notes = Notes(tmp_path)
    notes.write("plain")
    assert notes.origin("plain") is None


def test_in_a_shallow_clone_nothing_is_marked(notes, tmp_path, caplog):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    commit(notes.folder, "elsewhere")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{notes.folder}", "shallow")
    shallow = Notes(tmp_path / "shallow")
    shallow.put(put_memory("new", memory_fields(notes.state.memory("new"))))
    assert shallow.origin("new") is None
    assert [record.message for record in caplog.records] == [
        "this clone is shallow: which notes come from other branches is not known"
    ]


def test_during_a_rebase_marks_stay_as_they_are(notes):
    (notes.folder / "a").write_text("1")
    base = commit(notes.folder)
    (notes.folder / "a").write_text("2")
    commit(notes.folder)
    notes.write("on main")
    git(notes.folder, "checkout", "-q", "-b", "side", base)
    (notes.folder / "a").write_text("3")
    commit(notes.folder)
    assert notes.origin("on main") == "main"
    git(notes.folder, "rebase", "-q", "main", check=False)  # HEAD is at main's commit, with a conflict
    assert notes.origin("on main") == "main"
    git(notes.folder, "rebase", "--abort")
    assert notes.origin("on main") == "main"


def test_silent_git_is_told_once_and_asked_again_for_another_head(notes, caplog, monkeypatch, tmp_path):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    path = tmp_path / "empty"
    path.mkdir()
    with monkeypatch.context() as without:
        without.setenv("PATH", str(path))
        assert notes.origin("new") is None
        assert notes.look() is False
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    said = "git can't be run (No such file or directory): notes from other branches are not marked"
    assert [record.message for record in told] == [f"{said}; all notes follow their code"]
    assert notes.branches.trouble.startswith("git can't be run")
    commit(notes.folder, "elsewhere")
    assert notes.origin("new") == "side"
    assert notes.branches.trouble == ""


def test_switching_there_and_back_asks_nothing(notes, monkeypatch, tmp_path):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    assert notes.origin("new") == "side"
    git(notes.folder, "checkout", "-q", "side")
    assert notes.origin("new") is None
    git(notes.folder, "checkout", "-q", "main")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert notes.origin("new") == "side"


def test_off_the_loop(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("new")
    git(notes.folder, "checkout", "-q", "main")
    head = read_head(notes.layout)
    assert asyncio.run(notes.branches.look(head)) is True
    assert asyncio.run(notes.branches.look(head)) is False
    assert notes.branches.other_branch(notes.state.memory("new")) == "side"


# Merged


def test_a_branch_is_merged_when_its_commits_are_in_the_history(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("later", {"on": "merge"})
    assert not notes.merged("later")
    git(notes.folder, "checkout", "-q", "main")
    assert not notes.merged("later")
    git(notes.folder, "merge", "-q", "side")  # a fast-forward
    assert notes.merged("later")


def test_a_branch_without_commits_of_its_own_is_not_merged(notes):
    now = ManualClock(START).now() + timedelta(days=1000)  # after the branches were made
    git(notes.folder, "checkout", "-q", "-b", "side")
    notes.write("later", {"on": "merge"}, created_at=now)
    git(notes.folder, "checkout", "-q", "main")
    assert not notes.merged("later")


def test_the_branch_may_be_named(notes):
    git(notes.folder, "branch", "release")
    notes.write("later", {"on": "merge", "branch": "release"})
    assert not notes.merged("later")
    git(notes.folder, "checkout", "-q", "release")
    commit(notes.folder)
    assert not notes.merged("later")  # on the branch itself
    git(notes.folder, "checkout", "-q", "main")
    assert not notes.merged("later")
    git(notes.folder, "merge", "-q", "--no-ff", "-m", "m", "release")
    assert notes.merged("later")


def test_a_branch_deleted_after_its_merge(notes):
    git(notes.folder, "checkout", "-q", "-b", "side")
    commit(notes.folder)
    notes.write("later", {"on": "merge"})
    git(notes.folder, "checkout", "-q", "main")
    git(notes.folder, "merge", "-q", "--no-ff", "-m", "m", "side")
    git(notes.folder, "branch", "-q", "-d", "side")
    assert notes.merged("later")


# In a workspace

CODE = "def pay(order):\n    return provider.post(order)\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text(CODE)
    init(tmp_path / "repo", at="2026-03-01T00:00:00Z")
    made = Folder(tmp_path / "repo")
    yield made
    made.close()


def switch(folder, *arguments):
    git(folder.root, "checkout", "-q", *arguments)
    folder.pass_time(1)


def test_a_foreign_memory_is_marked_and_ranks_lower(folder):
    old = folder.remember("Never retry", "a.py", "pay")
    switch(folder, "-b", "side")
    commit(folder.root)
    folder.pass_time(1)
    new = folder.remember("Retry once", "a.py", "pay", importance=0.6)
    folder.open("a.py")
    assert [item.memory_id for item in folder.hover("a.py", "pay").items] == [new, old]
    before = folder.workspace.refreshing.generation
    switch(folder, "main")
    assert folder.workspace.refreshing.generation > before
    items = folder.hover("a.py", "pay").items
    assert [(item.memory_id, item.from_branch) for item in items] == [(old, None), (new, "side")]
    page = folder.workspace.listing.page(ListRequest(), folder.now)
    assert {view.memory.id: view.from_branch for view in page.memories} == {old: None, new: "side"}
    recalled = folder.workspace.recall.recall(RecallRequest(query="retry"), folder.now).memories
    assert [ranked.view.memory.id for ranked in recalled] == [old, new]
    assert recalled[1].why[-1] == "from branch side"
    assert recalled[1].truth == pytest.approx(0.7)


def test_hidden_ones_stay_in_the_list_alone(folder):
    switch(folder, "-b", "side")
    commit(folder.root)
    folder.pass_time(1)
    new = folder.remember("Retry once", "a.py", "pay")
    folder.open("a.py")
    folder.workspace.apply_settings(Settings(memory={"other_branches": "hide"}))
    assert folder.hover("a.py", "pay") is not None
    switch(folder, "main")
    assert folder.hover("a.py", "pay") is None
    assert folder.lenses("a.py") == {}
    assert folder.workspace.recall.recall(RecallRequest(query="retry"), folder.now).memories == ()
    for request in (ListRequest(), ListRequest(file="a.py", position=folder.find("a.py", "pay"))):
        page = folder.workspace.listing.page(request, folder.now)
        assert [view.memory.id for view in page.memories] == [new]

"""Where a note goes when its code is gone, and where it must not go."""

import subprocess

import pytest

from folders import Folder
from mnemolens.core.settings import Settings
from mnemolens.engine.requests import CaptureRequest, ListRequest

PAY = '''def pay(order, customer):
    """Takes the money."""
    total = sum(line.price for line in order.lines)
    receipt = provider.post("/pay", total=total, customer=customer)
    ledger.append((customer, total, receipt.id))
    return receipt
'''
NOTE = "Retry must stay idempotent"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"a.py": PAY})
    yield made
    made.close()


def at(folder, memory_id):
    anchor = folder.workspace.show.detail(memory_id, folder.now).anchors[0]
    return anchor.at.id if anchor.at else anchor.verdict


class TestCopies:
    def test_a_copy_that_stood_there_all_along_is_no_move(self, folder):
        folder.write_seen("legacy/copy.py", PAY)
        memory_id = folder.remember(NOTE, "a.py", "total")
        folder.open("a.py")
        folder.open("a.py", "")
        folder.pass_time(3)
        assert at(folder, memory_id) == "lost"
        candidates = folder.workspace.show.detail(memory_id, folder.now).anchors[0].candidates
        assert [candidate.place.id for candidate in candidates] == ["legacy/copy.py::pay"]
        folder.open("a.py")
        assert at(folder, memory_id) == "a.py::pay"
        assert folder.lenses("legacy/copy.py") == {}

    def test_nor_when_the_original_goes_while_no_server_runs(self, folder):
        folder.write_seen("legacy/copy.py", PAY)
        memory_id = folder.remember(NOTE, "a.py", "total")
        folder.pass_time(1)
        folder.close()
        folder.write("a.py", "import os\n")
        folder.workspace = folder.start()
        assert at(folder, memory_id) == "lost"
        folder.restart()
        assert at(folder, memory_id) == "lost"

    def test_an_edited_original_does_not_hand_its_note_to_an_old_copy(self, folder):
        folder.write_seen("legacy/copy.py", PAY)
        memory_id = folder.remember(NOTE, "a.py", "total")
        folder.write_seen("a.py", PAY.replace("sum(", "max("))
        folder.write_seen("a.py", "import os\n")
        assert at(folder, memory_id) == "lost"

    def test_a_move_in_two_steps_is_a_move(self, folder):
        memory_id = folder.remember(NOTE, "a.py", "total")
        folder.write_seen("b.py", PAY)
        folder.write_seen("a.py", "import os\n")
        assert at(folder, memory_id) == "b.py::pay"

    def test_of_equal_short_methods_the_neighbour_is_not_taken(self, tmp_path):
        methods = [
            f"    def {name}(self):\n        return self.x\n" for name in ("one", "two", "three", "four")
        ]
        folder = Folder(tmp_path, {"a.py": "class A:\n" + "".join(methods)})
        memory_id = folder.remember("x is cached", "a.py", "def two")
        del methods[1]
        folder.write_seen("a.py", "class A:\n" + "".join(methods))
        assert at(folder, memory_id) == "lost"
        folder.close()

    def test_a_short_method_renamed_in_its_place_is_followed(self, tmp_path):
        text = "class A:\n" + "".join(
            f"    def {n}(self):\n        return self.{n}\n" for n in ("one", "two")
        )
        folder = Folder(tmp_path, {"a.py": text})
        memory_id = folder.remember("x is cached", "a.py", "def two")
        folder.write_seen("a.py", text.replace("def two", "def second"))
        assert at(folder, memory_id) == "a.py::A.second"
        folder.close()


class TestScope:
    def test_code_that_is_there_but_not_indexed_is_not_lost(self, tmp_path):
        folder = Folder(tmp_path, {"gen/g.py": PAY, "src/g.py": PAY})
        memory_id = folder.remember(NOTE, "gen/g.py", "total")
        folder.close()
        index = Settings().index.model_copy(update={"exclude": ("gen/",)})
        folder.settings = Settings().model_copy(update={"index": index})
        folder.workspace = folder.start()
        assert at(folder, memory_id) == "unanchored"
        assert folder.lenses("src/g.py") == {}
        folder.open("gen/g.py")
        assert at(folder, memory_id) == "gen/g.py::pay"
        folder.run(folder.workspace.sources.close_document("gen/g.py"))
        assert at(folder, memory_id) == "unanchored"
        folder.close()

    def test_a_memory_lost_from_a_file_is_listed_with_the_file(self, folder):
        memory_id = folder.remember(NOTE, "a.py", "total")
        folder.write_seen("a.py", "import os\n")
        page = folder.workspace.listing.page(ListRequest(file="a.py"), folder.now)
        assert [view.memory.id for view in page.memories] == [memory_id]


class TestTheTextOnDisk:
    def test_a_capture_in_a_closed_file_reads_it_anew(self, folder):
        folder.write("a.py", "def earlier():\n    return 1\n\n\n" + PAY)
        view = folder.capture(NOTE, "a.py", "total")
        assert [link.target.id for link in view.links] == ["a.py::pay"]

    def test_a_file_that_nobody_announced_is_read(self, folder):
        folder.write("new.py", PAY)
        view = folder.capture(NOTE, "new.py", "total")
        assert [link.target.id for link in view.links] == ["new.py::pay"]


class TestRenames:
    @pytest.mark.parametrize("position", [True, False])
    def test_an_editors_rename_carries_function_and_file_notes(self, folder, position):
        where = folder.find("a.py", "total") if position else None
        request = CaptureRequest(NOTE, file="a.py", position=where)
        memory_id = folder.commit(folder.workspace.writing.capture(request, folder.now)).view.memory.id
        (folder.root / "a.py").rename(folder.root / "b.py")
        pairs = [(folder.root / "a.py", folder.root / "b.py")]
        folder.run(folder.workspace.files_renamed(pairs))
        assert at(folder, memory_id) == ("b.py::pay" if position else "b.py")
        folder.restart()
        assert at(folder, memory_id) == ("b.py::pay" if position else "b.py")

    def test_a_renamed_folder_carries_what_is_in_it(self, tmp_path):
        folder = Folder(tmp_path, {"old/deep/a.py": PAY})
        memory_id = folder.commit(
            folder.workspace.writing.capture(CaptureRequest(NOTE, file="old/deep/a.py"), folder.now)
        ).view.memory.id
        (tmp_path / "old").rename(tmp_path / "new")
        folder.run(folder.workspace.files_renamed([(tmp_path / "old", tmp_path / "new")]))
        assert at(folder, memory_id) == "new/deep/a.py"
        folder.close()


def test_nothing_is_judged_in_the_middle_of_a_git_operation(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    folder = Folder(tmp_path, {"a.py": PAY})
    memory_id = folder.remember(NOTE, "a.py", "total")
    lock = tmp_path / ".git" / "index.lock"
    lock.touch()
    (tmp_path / "a.py").unlink()
    folder.run(folder.workspace.files_changed([tmp_path / "a.py"]))
    folder.write("b.py", PAY)
    folder.run(folder.workspace.files_changed([tmp_path / "b.py"]))
    folder.pass_time(3)
    assert at(folder, memory_id) == "a.py::pay"
    folder.write("a.py", PAY)
    (tmp_path / "b.py").unlink()
    lock.unlink()
    folder.pass_time(1)
    assert at(folder, memory_id) == "a.py::pay"
    assert folder.workspace.show.detail(memory_id, folder.now).anchors[0].stage == "place"
    folder.close()


def test_an_index_that_was_stopped_shows_what_it_read(tmp_path):
    folder = Folder(tmp_path, {"a.py": PAY})
    memory_id = folder.remember(NOTE, "a.py", "total")
    folder.close()
    folder = Folder(tmp_path, indexed=False)
    folder.open("a.py")
    assert folder.titles("a.py", "pay(") == [NOTE], "also before any index run"
    assert folder.verdict(memory_id) == "fresh"
    folder.close()

"""Notes in unusual repositories, and where git itself fails: real git, or a stand-in on PATH."""

import logging
import os
from pathlib import Path

import pytest

from folders import Folder
from mnemolens.engine.requests import ListRequest
from repositories import commit, git, init

PAY = '''def pay(order, customer):
    """Takes the money."""
    total = sum(line.price for line in order.lines)
    receipt = provider.post("/pay", total=total, customer=customer)
    ledger.append((customer, total, receipt.id))
    return receipt
'''
EDITED = PAY.replace("= sum(", "= fsum(")
OLD = "2026-03-01T00:00:00Z"


def at(folder, memory_id):
    """(place or None, verdict) of the memory's only anchor."""
    (found,) = folder.workspace.show.detail(memory_id, folder.now).anchors
    return found.at.id if found.at else None, found.verdict


def changed(folder, *names):
    folder.run(folder.workspace.files_changed([folder.root / name for name in names]))
    folder.pass_time(1)


def branch_of(folder, memory_id):
    return folder.workspace.show.detail(memory_id, folder.now).view.from_branch


@pytest.fixture
def opened():
    """Opens folders, and closes them again."""
    made = []

    def make(root, files=None):
        folder = Folder(root, files)
        made.append(folder)
        return folder

    yield make
    for folder in made:
        folder.close()


class TestSubmodules:
    @pytest.fixture
    def outer(self, tmp_path):
        """A repository with another one in `vendor/lib`, which has a branch `side` where `pay` moved."""
        lib = tmp_path / "lib"
        lib.mkdir()
        (lib / "pay.py").write_text(PAY)
        init(lib, at=OLD)
        git(lib, "checkout", "-q", "-b", "side")
        git(lib, "mv", "pay.py", "money.py")
        (lib / "money.py").write_text(EDITED)
        commit(lib, "moved")
        git(lib, "checkout", "-q", "main")
        root = tmp_path / "outer"
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        git(root, "submodule", "--quiet", "add", str(lib), "vendor/lib")
        git(root / "vendor" / "lib", "fetch", "-q", "origin", "side:side")
        commit(root, "with lib", at=OLD)
        return root

    def test_a_note_on_its_code_follows_what_is_checked_out_in_it(self, opened, outer):
        folder = opened(outer)
        one = folder.remember("Retry must stay idempotent", "vendor/lib/pay.py", "total")
        folder.pass_time(1)
        git(outer / "vendor" / "lib", "checkout", "-q", "side")
        changed(folder, "vendor/lib/pay.py", "vendor/lib/money.py")
        assert at(folder, one) == ("vendor/lib/money.py::pay", "fresh")
        git(outer / "vendor" / "lib", "checkout", "-q", "main")
        changed(folder, "vendor/lib/pay.py", "vendor/lib/money.py")
        assert at(folder, one) == ("vendor/lib/pay.py::pay", "fresh")
        folder.write_seen("vendor/lib/pay.py", "def pay(order, customer):\n    return gone\n")
        assert at(folder, one) == ("vendor/lib/pay.py::pay", "drifted")

    def test_a_submodule_that_is_not_checked_out_loses_its_note_for_as_long(self, opened, outer):
        folder = opened(outer)
        one = folder.remember("Retry must stay idempotent", "vendor/lib/pay.py", "total")
        folder.pass_time(1)
        git(outer, "submodule", "--quiet", "deinit", "-f", "vendor/lib")
        changed(folder, "vendor/lib/pay.py")
        assert at(folder, one) == (None, "lost")
        git(outer, "submodule", "--quiet", "update", "--init")
        changed(folder, "vendor/lib/pay.py")
        assert at(folder, one) == ("vendor/lib/pay.py::pay", "fresh")

    def test_its_branches_are_not_the_outer_repository_s(self, opened, outer):
        """What is opened says whose history counts: the outer one's commits are not in the submodule's."""
        folder = opened(outer)
        one = folder.remember("Retry must stay idempotent", "vendor/lib/pay.py", "total")
        git(outer / "vendor" / "lib", "checkout", "-q", "side")
        changed(folder, "vendor/lib/pay.py", "vendor/lib/money.py")
        assert branch_of(folder, one) is None
        git(outer, "checkout", "-q", "-b", "feature")
        commit(outer, "the other lib")
        folder.pass_time(1)
        two = folder.remember("Fast sums", "vendor/lib/money.py", "total")
        git(outer, "checkout", "-q", "main")
        folder.pass_time(1)
        assert (branch_of(folder, one), branch_of(folder, two)) == (None, "feature")

    def test_opened_by_itself_it_has_notes_and_branches_of_its_own(self, opened, outer):
        folder = opened(outer / "vendor" / "lib")
        git(folder.root, "checkout", "-q", "side")
        changed(folder, "pay.py", "money.py")
        one = folder.remember("Fast sums", "money.py", "total")
        git(folder.root, "checkout", "-q", "main")
        changed(folder, "pay.py", "money.py")
        assert branch_of(folder, one) == "side"
        other = opened(outer)
        assert other.workspace.listing.page(ListRequest(), other.now).memories == ()


def test_a_file_with_a_link_in_its_place_is_followed_to_where_it_went(opened, tmp_path):
    folder = opened(tmp_path, {"app/pay.py": PAY})
    one = folder.remember("Retry must stay idempotent", "app/pay.py", "total")
    folder.pass_time(1)
    (tmp_path / "app/pay.py").rename(tmp_path / "money.py")
    (tmp_path / "app/pay.py").symlink_to("../money.py")
    changed(folder, "app/pay.py", "money.py")
    assert at(folder, one) == ("money.py::pay", "fresh")


class TestCase:
    def test_git_renames_a_file_by_case_alone(self, opened, tmp_path):
        root = tmp_path / "repo"
        root.mkdir()
        (root / "pay.py").write_text(PAY)
        init(root, at=OLD)
        git(root, "config", "core.ignorecase", "true")
        folder = opened(root)
        one = folder.remember("Retry must stay idempotent", "pay.py", "total")
        folder.pass_time(1)
        git(root, "checkout", "-q", "-b", "side")
        git(root, "mv", "-f", "pay.py", "Pay.py")
        commit(root, "case")
        changed(folder, "pay.py", "Pay.py")
        assert at(folder, one) == ("Pay.py::pay", "fresh")
        for branch, place in (("main", "pay.py::pay"), ("side", "Pay.py::pay"), ("main", "pay.py::pay")):
            git(root, "checkout", "-q", branch)
            changed(folder, "pay.py", "Pay.py")
            assert at(folder, one) == (place, "fresh")

    @pytest.mark.parametrize(("old", "new"), [("a.py", "A.py"), ("lib/a.py", "Lib/a.py")])
    def test_a_disk_that_takes_both_cases_for_one_name(self, opened, tmp_path, monkeypatch, old, new):
        """There every spelling is the same file to whoever asks for it, and only one is listed."""
        folder = opened(tmp_path / "code", {old: PAY})
        one = folder.remember("Retry must stay idempotent", old, "total")
        folder.pass_time(1)
        (folder.root / old).unlink()
        folder.write(new, PAY)
        for spelling in {old, "A.PY", "lib/A.PY", "Lib/A.PY"}:  # as such a disk would answer
            (folder.root / spelling).parent.mkdir(exist_ok=True)
            os.link(folder.root / new, folder.root / spelling)
        names, listed = set(new.split("/")), Path.iterdir
        monkeypatch.setattr(Path, "iterdir", lambda at: [one for one in listed(at) if one.name in names])
        changed(folder, old, new)
        assert at(folder, one) == (f"{new}::pay", "fresh")


def no_commits(root):
    git(root, "init", "-q", "-b", "main")


def detached(root):
    init(root, at=OLD)
    git(root, "checkout", "-q", "--detach")


def shallow(root):
    origin = root.with_name("origin")
    root.rename(origin)
    init(origin, at=OLD)
    commit(origin)
    git(origin.parent, "clone", "-q", "--depth", "1", origin.as_uri(), root.name)


def rebasing(root):
    """In the middle of a rebase of main onto side, which stopped at a conflict in another file."""
    base = init(root, at=OLD)
    (root / "notes.txt").write_text("main")
    commit(root)
    git(root, "checkout", "-q", "-b", "side", base)
    (root / "notes.txt").write_text("side")
    commit(root)
    git(root, "checkout", "-q", "main")
    git(root, "rebase", "-q", "side", check=False)
    assert (root / ".git" / "rebase-merge").exists()


@pytest.mark.parametrize("state", [no_commits, detached, shallow, rebasing])
def test_whatever_state_the_repository_is_in_notes_follow(opened, tmp_path, state):
    root = tmp_path / "repo"
    root.mkdir()
    (root / "pay.py").write_text(PAY)
    state(root)
    folder = opened(root)
    one = folder.remember("Retry must stay idempotent", "pay.py", "total")
    folder.pass_time(1)
    (root / "pay.py").unlink()
    folder.write("lib/money.py", EDITED)
    changed(folder, "pay.py", "lib/money.py")
    assert (at(folder, one), branch_of(folder, one)) == (("lib/money.py::pay", "fresh"), None)
    (root / "lib" / "money.py").rename(root / "again.py")  # while no server runs
    folder.restart()
    folder.pass_time(1)
    assert (at(folder, one), branch_of(folder, one)) == (("again.py::pay", "fresh"), None)


CASES = {
    "missing": None,
    "broken": "echo oh no >&2; exit 3",
    "slow": "exec sleep 30",
}


class TestGitItself:
    @pytest.fixture(params=CASES)
    def repo(self, request, tmp_path, monkeypatch):
        """A repository on a branch of its own, once git has gone."""
        root = tmp_path / "repo"
        root.mkdir()
        (root / "pay.py").write_text(PAY)
        init(root, at=OLD)
        programs = tmp_path / "bin"
        programs.mkdir()
        script = CASES[request.param]
        if script is not None:
            (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
            (programs / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:/bin" if script else str(programs))
        monkeypatch.setattr("mnemolens.store.git_history.not_in_history.__defaults__", (0.2,))
        return root

    def test_notes_follow_and_one_line_says_what_is_missing(self, opened, repo, caplog):
        caplog.set_level(logging.WARNING)
        folder = opened(repo)
        one = folder.remember("Retry must stay idempotent", "pay.py", "total")
        folder.pass_time(1)
        (repo / "pay.py").unlink()
        folder.write("lib/money.py", EDITED)
        changed(folder, "pay.py", "lib/money.py")
        assert at(folder, one) == ("lib/money.py::pay", "fresh")
        head = repo / ".git" / "refs" / "heads"
        (head / "side").write_text("1" * 40 + "\n")
        (repo / ".git" / "HEAD").write_text("ref: refs/heads/side\n")
        for _ in range(3):
            folder.pass_time(1)
        assert at(folder, one) == ("lib/money.py::pay", "fresh")
        assert branch_of(folder, one) is None
        told = [record.getMessage() for record in caplog.records if "git" in record.getMessage()]
        assert len(told) == 1
        assert "notes from other branches are not marked; all notes follow their code" in told[0]

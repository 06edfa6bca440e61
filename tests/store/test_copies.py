"""Daily copies of CONTRACT §3: whose they are, how many, and that a purge reaches them."""

import os
import stat
import subprocess
import sys
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from mnemolens.core.clock import SystemClock
from mnemolens.core.errors import StoreError
from mnemolens.core.events import MemoryForget
from mnemolens.store import copies as copies_module
from mnemolens.store.copies import Copies, data_dir, offer, remove_from_copies, repository_key
from mnemolens.store.journal import Journal
from mnemolens.store.layout import find_layout
from mnemolens.store.locks import FileLock

NOW = datetime(2026, 11, 30, 22, 30, tzinfo=UTC)
LINE = b'{"memory":{"id":"m1","content":"one"},"anchors":[]}\n'
OTHER = b'{"memory":{"id":"m2","content":"two m1"},"anchors":[]}\n'


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=Ana", "-c", "user.email=a@b.c", *arguments],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def commit(folder, text):
    (folder / "file.txt").write_text(text)
    git(folder, "add", "file.txt")
    git(folder, "commit", "-qm", text)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("upstream")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "first")
    commit(folder, "second")
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def clone(upstream, folder, *options):
    git(upstream, "clone", "-q", *options, upstream.as_uri(), str(folder))
    return folder


def key(folder, **options):
    return repository_key(find_layout(folder), **options)


class TestKey:
    def test_it_is_the_same_in_every_clone_worktree_and_branch(self, upstream, tmp_path):
        first, second = clone(upstream, tmp_path / "a"), clone(upstream, tmp_path / "b")
        commit(second, "third")
        git(second, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "c"))
        (second / "sub").mkdir()
        found = {key(first), key(second), key(tmp_path / "c"), key(second / "sub")}
        assert len(found) == 1
        (one,) = found
        assert one is not None
        assert all(char in "0123456789abcdef-" for char in one)

    def test_another_origin_or_another_history_is_another_repository(self, upstream, tmp_path):
        first, second, third = (clone(upstream, tmp_path / name) for name in "abc")
        git(second, "remote", "set-url", "origin", "https://elsewhere.example/shop")
        git(third, "checkout", "-q", "--orphan", "new")
        commit(third, "another beginning")
        assert len({key(first), key(second), key(third)}) == 3

    def test_who_asks_is_no_part_of_it(self, upstream, tmp_path):
        folder = clone(upstream, tmp_path / "a")
        keys = set()
        for url in (
            "https://example.com/ana/shop.git",
            "https://ana:token@example.com/ana/shop.git",
            "https://example.com/ana/shop/",
        ):
            git(folder, "remote", "set-url", "origin", url)
            keys.add(key(folder))
        assert len(keys) == 1

    def test_there_is_none_without_commits_in_shallow_clones_and_without_git(self, upstream, tmp_path):
        (tmp_path / "empty").mkdir()
        git(tmp_path / "empty", "init", "-q")
        (tmp_path / "plain").mkdir()
        shallow = clone(upstream, tmp_path / "shallow", "--depth", "1")
        assert key(tmp_path / "empty") is None
        assert key(tmp_path / "plain") is None
        assert key(shallow) is None
        git(shallow, "fetch", "-q", "--unshallow")
        assert key(shallow) == key(clone(upstream, tmp_path / "full"))

    def test_git_that_is_missing_or_takes_too_long_gives_none(self, upstream, tmp_path, monkeypatch):
        folder = clone(upstream, tmp_path / "a")
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        assert key(folder) is None
        monkeypatch.undo()
        slow = tmp_path / "bin" / "git"
        slow.parent.mkdir()
        slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
        slow.chmod(0o755)
        monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
        assert key(folder, timeout=0.2) is None

    def test_a_hooks_surroundings_do_not_mislead(self, upstream, tmp_path, monkeypatch):
        folder = clone(upstream, tmp_path / "a")
        expected = key(folder)
        (tmp_path / "other").mkdir()
        git(tmp_path / "other", "init", "-q")
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
        assert key(folder) == expected


class TestCopies:
    def make(self, copies, now, *lines):
        return copies.make(lambda: lines or (LINE,), now)

    def test_one_a_day_and_the_newest_seven_are_kept(self, data, tmp_path):
        copies = Copies(data, "k", tmp_path / "store")
        for day in range(10):
            now = NOW + timedelta(days=day)
            assert copies.is_due(now)
            made = self.make(copies, now, LINE, OTHER)
            assert not copies.is_due(now + timedelta(hours=1))
            assert made.path.read_bytes() == LINE + OTHER
        assert [copy.day for copy in copies.all()] == [
            date(2026, 12, 3) + timedelta(days=n) for n in range(7)
        ]
        assert copies.all()[-1].path.name == "2026-12-09.jsonl"

    def test_the_day_is_that_of_the_clock_in_utc(self, data, tmp_path):
        copies = Copies(data, "k", tmp_path / "store")
        self.make(copies, datetime.fromisoformat("2026-11-30T23:59:00-05:00"))
        assert copies.all()[0].day == date(2026, 12, 1)

    @pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
    def test_files_and_folders_are_the_users_alone(self, data, tmp_path):
        before = os.umask(0)
        try:
            self.make(Copies(data, "k", tmp_path / "store"), NOW)
        finally:
            os.umask(before)
        paths = [data, *data.rglob("*")]
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in paths}
        assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
        assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}

    def test_nothing_to_copy_makes_no_copy(self, data, tmp_path):
        copies = Copies(data, "k", tmp_path / "store")
        assert copies.make(lambda: iter(()), NOW) is None
        assert copies.all() == []

    def test_a_copy_that_fails_leaves_those_that_are_there(self, data, tmp_path):
        copies = Copies(data, "k", tmp_path / "store")
        self.make(copies, NOW)

        def broken():
            yield OTHER
            raise OSError(28, "No space left on device")

        with pytest.raises(StoreError, match="No space left"):
            copies.make(broken, NOW)
        assert [copy.path.read_bytes() for copy in copies.all()] == [LINE]
        assert list(data.rglob("*.tmp")) == []

    def test_other_files_there_are_left_alone(self, data, tmp_path):
        copies = Copies(data, "k", tmp_path / "store")
        self.make(copies, NOW)
        for name in ("notes.txt", "2026-99-99.jsonl", "x.jsonl"):
            (copies.folder / name).write_text("mine")
        for day in range(1, 9):
            self.make(copies, NOW + timedelta(days=day))
        assert {"notes.txt", "2026-99-99.jsonl", "x.jsonl"} < {path.name for path in copies.folder.iterdir()}
        assert len(copies.all()) == 7


class TestPurge:
    def test_a_purged_memory_is_taken_out_of_all_copies_of_its_store(self, data, tmp_path):
        store = tmp_path / "store"
        copies, renamed = Copies(data, "k", store), Copies(data, "old-origin", store)
        for days in range(3):
            copies.make(lambda: (LINE, b"not json\n", OTHER), NOW + timedelta(days=days))
        renamed.make(lambda: (LINE,), NOW)
        (copies.folder / "2026-11-30.tmp").write_bytes(LINE)
        removed = remove_from_copies(data, store, ["m1"])
        assert len(removed) == 4
        assert {copy.path.read_bytes() for copy in copies.all()} == {b"not json\n" + OTHER}
        assert b'"one"' not in b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
        assert remove_from_copies(data, store, ["m1"]) == ()

    def test_another_stores_memory_of_the_same_id_stays(self, data, tmp_path):
        mine, other = Copies(data, "k", tmp_path / "store"), Copies(data, "o", tmp_path / "other")
        for copies in (mine, other):
            copies.make(lambda: (LINE,), NOW)
        remove_from_copies(data, tmp_path / "store", ["m1"])
        assert other.all()[0].path.read_bytes() == LINE
        assert mine.all()[0].path.read_bytes() == b""

    def test_without_a_data_folder_there_is_nothing_to_do(self, data, tmp_path):
        assert remove_from_copies(data, tmp_path, ["m1"]) == ()
        assert not data.exists()

    def test_a_copy_that_is_being_written_is_waited_for(self, data, tmp_path):
        """Its lines were read before the purge: it must not bring the text back afterwards."""
        store = tmp_path / "store"
        copies = Copies(data, "k", store)
        reading, purged = threading.Event(), threading.Event()

        def lines():
            yield LINE
            reading.set()
            purged.wait(0.5)  # the purge does not get in between
            yield OTHER

        thread = threading.Thread(target=copies.make, args=(lines, NOW))
        thread.start()
        assert reading.wait(10)
        remove_from_copies(data, store, ["m1"])
        purged.set()
        thread.join()
        assert [copy.path.read_bytes() for copy in copies.all()] == [OTHER]

    def test_a_folder_that_stays_locked_is_an_error_that_says_so(self, data, tmp_path, monkeypatch):
        copies = Copies(data, "k", tmp_path / "store")
        copies.make(lambda: (LINE,), NOW)
        monkeypatch.setattr(copies_module, "_LOCK_SECONDS", 0.1)
        lock = FileLock.try_acquire(copies.folder / ".lock")
        with pytest.raises(StoreError, match="still in the daily copies"):
            remove_from_copies(data, tmp_path / "store", ["m1"])
        lock.release()
        assert len(remove_from_copies(data, tmp_path / "store", ["m1"])) == 1


class TestOffer:
    def test_a_clone_without_a_store_is_offered_the_newest_copy(self, upstream, data, tmp_path):
        first = clone(upstream, tmp_path / "a")
        copies = Copies(data, key(first), find_layout(first).store)
        for days in range(2):
            copies.make(lambda: (LINE,), NOW + timedelta(days=days))
        again = find_layout(clone(upstream, tmp_path / "b"))
        assert offer(again) == copies.all()[1]
        assert not again.store.exists()

    def test_nothing_is_offered_where_there_is_a_store_or_no_copy(self, upstream, data, tmp_path):
        folder = clone(upstream, tmp_path / "a")
        layout = find_layout(folder)
        assert offer(layout) is None
        assert not data.exists()
        Copies(data, key(folder), layout.store).make(lambda: (LINE,), NOW)
        assert offer(layout) is not None
        journal = Journal(layout.store, layout.base, SystemClock())
        journal.append([MemoryForget(memory="m")]).result(timeout=60)
        journal.close()
        assert offer(layout) is None

    def test_nothing_is_offered_without_git_or_to_a_shallow_clone(self, upstream, data, tmp_path):
        Copies(data, key(clone(upstream, tmp_path / "a")), tmp_path).make(lambda: (LINE,), NOW)
        (tmp_path / "plain").mkdir()
        assert offer(find_layout(tmp_path / "plain")) is None
        assert offer(find_layout(clone(upstream, tmp_path / "s", "--depth", "1"))) is None


def test_the_data_folder_is_the_users_or_what_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("MNEMOLENS_DATA_DIR", str(tmp_path))
    assert data_dir() == tmp_path
    monkeypatch.delenv("MNEMOLENS_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert data_dir() == Path(tmp_path / "xdg" / "mnemolens")

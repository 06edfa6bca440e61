import stat
import subprocess
import sys

import pytest

from mnemolens.core.errors import StoreError
from mnemolens.store.opened import OpenedFolder, Shown, digest


def test_a_document_is_private_whole_and_removed_when_closed(tmp_path):
    folder = OpenedFolder(tmp_path / "open")
    path = folder.write("a.md", "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    folder.close("a.md")
    assert list(path.parent.iterdir()) == []


def test_a_document_that_says_the_same_is_left_alone(tmp_path):
    folder = OpenedFolder(tmp_path)
    path = folder.write("a.md", "same")
    before = path.stat()
    folder.write("a.md", "same")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_kept_while_another_window_holds_it(tmp_path):
    one, other = OpenedFolder(tmp_path), OpenedFolder(tmp_path)
    path = one.write("a[1].md", "text")
    other.write("a[1].md", "text")
    one.close("a[1].md")
    assert path.exists()
    other.close("a[1].md")
    assert list(tmp_path.iterdir()) == []


def test_a_window_that_was_killed_holds_nothing(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from mnemolens.store.opened import OpenedFolder;"
        "OpenedFolder(Path(sys.argv[1])).write('a.md', 'text'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert (tmp_path / "a.md").exists()
    folder = OpenedFolder(tmp_path)
    folder.write("a.md", "text")
    folder.close("a.md")
    assert list(tmp_path.iterdir()) == []


def test_closing_what_is_not_held_removes_nothing(tmp_path):
    (tmp_path / "a.md").write_text("text")
    OpenedFolder(tmp_path).close("a.md")
    assert (tmp_path / "a.md").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "open").write_text("a file is in the way")
    with pytest.raises(StoreError, match=r"a\.md"):
        OpenedFolder(tmp_path / "open").write("a.md", "text")


def test_what_a_document_was_written_from_outlives_the_process(tmp_path):
    shown = Shown("é/1", {"title": "x", "tags": ["a"]}, digest(b"text"))
    OpenedFolder(tmp_path).write_shown("a.md", shown)
    assert OpenedFolder(tmp_path).read_shown("a.md") == shown
    [record] = tmp_path.iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    for damaged in ("", "[]", "{}", '{"memory": 1, "fields": {}, "seen": ""}', "\xff"):
        record.write_text(damaged, "latin-1")
        assert OpenedFolder(tmp_path).read_shown("a.md") is None


def test_a_document_goes_with_what_it_was_written_from_and_stays_with_it(tmp_path):
    folder = OpenedFolder(tmp_path)
    for keep in (True, False):
        path = folder.write("a.md", "text")
        folder.write_shown("a.md", Shown("a", {}, ""))
        folder.close("a.md", keep=keep)
        assert folder.held == ()
        assert sorted(one.name for one in tmp_path.iterdir()) == ([".a.md.shown", "a.md"] if keep else [])
    folder.write("a.md", "text")
    folder.write_shown("a.md", Shown("a", {}, ""))
    OpenedFolder(tmp_path).remove(path)
    assert not path.exists()
    assert folder.read_shown("a.md") is None


def test_only_a_process_holds_a_document(tmp_path):
    others = tmp_path / ".a.md.b.md", tmp_path / ".a.md.0123.tmp"
    for other in others:
        other.write_text("not a marker")
    folder = OpenedFolder(tmp_path)
    folder.write("a.md", "text")
    folder.close("a.md")
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_a_document_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    folder = OpenedFolder(tmp_path)
    folder.write("old.md", "text")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for name in ("new.md", "old.md"):
        with pytest.raises(StoreError, match="No space left on device"):
            folder.write(name, "other")
    assert folder.held == ("old.md",)
    assert folder.read("old.md") == b"text"
    assert sorted(path.name for path in tmp_path.glob("*.*") if path.name[0] != ".") == ["old.md"]
    assert not list(tmp_path.glob(".*.tmp"))

import stat
import subprocess
import sys

import pytest

from mnemolens.core.errors import StoreError
from mnemolens.store.opened import OpenedFolder


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

"""File locks: exclusive, released with their holder, and known not to be trusted on network file systems."""

import os
import subprocess
import sys

import pytest

from mnemolens.store import locks
from mnemolens.store.locks import FileLock, LockUnavailable, locks_trusted


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "a.lock"
    held = FileLock.try_acquire(path)
    assert held is not None
    assert FileLock.try_acquire(path) is None
    held.release()
    held.release()
    with FileLock.try_acquire(path) as again:
        assert again is not None
        assert FileLock.try_acquire(path) is None
    assert FileLock.try_acquire(path) is not None
    assert path.read_bytes() == b""


def test_another_process_is_kept_out_and_its_death_lets_go(tmp_path):
    path = tmp_path / "a.lock"
    program = """
import sys
from pathlib import Path
from mnemolens.store.locks import FileLock
held = FileLock.try_acquire(Path(sys.argv[1]))
print(held is not None, flush=True)
sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "True\n"
        assert FileLock.try_acquire(path) is None
    finally:
        process.kill()
        process.communicate()
    assert FileLock.try_acquire(path) is not None


def test_a_lock_that_cannot_be_made_says_so(tmp_path):
    with pytest.raises(LockUnavailable):
        FileLock.try_acquire(tmp_path / "missing" / "a.lock")


@pytest.mark.skipif(os.name == "nt", reason="flock")
def test_a_file_system_without_locks_says_so(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(LockUnavailable):
        FileLock.try_acquire(tmp_path / "a.lock")


@pytest.mark.skipif(os.name == "nt", reason="an open file can't be removed there")
def test_a_lock_file_replaced_meanwhile_is_not_ours(tmp_path, monkeypatch):
    path = tmp_path / "a.lock"
    real = locks._lock

    def lock_late(descriptor):
        path.unlink()
        path.touch()
        return real(descriptor)

    monkeypatch.setattr(locks, "_lock", lock_late)
    assert FileLock.try_acquire(path) is None


MOUNTS = """\
/dev/vda1 / ext4 rw 0 0
server:/home /mnt/home nfs4 rw 0 0
/dev/vdb1 /mnt/home/local xfs rw 0 0
host /mnt/with\\040blank 9p rw 0 0
me@host:/x /mnt/ssh fuse.sshfs rw 0 0
share /mnt/vm virtiofs rw 0 0
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "trusted"),
    [
        ("/tmp", True),
        ("/mnt/home", False),
        ("/mnt/home/me/project", False),
        ("/mnt/home/local/project", True),
        ("/mnt/homeless", True),
        ("/mnt/with blank/x", False),
        ("/mnt/ssh/x", False),
        ("/mnt/vm/x", False),
    ],
)
def test_the_file_system_decides_on_trust(tmp_path, monkeypatch, folder, trusted):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    monkeypatch.setattr(locks, "_MOUNTS", mounts)
    assert locks_trusted(locks.Path(folder)) is trusted


def test_without_a_mount_table_locks_are_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_MOUNTS", tmp_path / "missing")
    assert locks_trusted(tmp_path)

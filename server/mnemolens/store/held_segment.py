"""The segment that this process appends to: taken from whoever let it go, or made; and its folders.

Which one is to be taken, and what is written to it, is `journal.py`'s.
"""

import contextlib
import os
import secrets
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolens.core.errors import StoreError
from mnemolens.store.locks import FileLock, LockUnavailable
from mnemolens.store.segments import Header
from mnemolens.store.whole import sync_folder

_WRITER_CHARACTERS: Final = string.ascii_lowercase + string.digits
_WRITER_LENGTH: Final = 10
_APPEND: Final = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)


@dataclass(slots=True)
class HeldSegment:
    """The segment this process appends to; only the journal thread touches it.

    Attributes:
        size: where the next byte goes.
        torn: the last line has no newline, ours after a failed write or that of a holder that was killed.
        unsynced: something was written without fsync.
    """

    writer: str
    path: Path
    descriptor: int
    lock: FileLock | None
    size: int
    torn: bool = False
    unsynced: bool = False

    def is_ours(self) -> bool:
        """Whether the file is still there and nobody else wrote to it."""
        opened = os.fstat(self.descriptor)
        try:
            return os.path.samestat(opened, self.path.stat()) and opened.st_size == self.size
        except (FileNotFoundError, NotADirectoryError):
            return False

    def release(self) -> None:
        """Close the file and let go of the lock."""
        os.close(self.descriptor)
        if self.lock is not None:
            self.lock.release()

    def write(self, block: bytes) -> None:
        """Writes the block at the end; `size` stays, so that `cut` takes away what got there of it."""
        _write_all(self.descriptor, block)

    def begin(self, base: str) -> None:
        """Writes the header of an empty segment."""
        self.size = _write_all(self.descriptor, Header(base=base).line() + b"\n")

    def cut(self) -> None:
        """Takes a half-written block away again."""
        size = self.size
        try:
            os.ftruncate(self.descriptor, size)
        except OSError:  # then its torn line stays, and the next append ends it
            self.size = os.fstat(self.descriptor).st_size
            self.torn = self.torn or self.size > size

    def reopened(self) -> "HeldSegment | None":
        """The segment, rewritten meanwhile, open to go on appending; None, and unlocked, where that fails."""
        again = open_segment(self.path, self.lock)
        if again is None and self.lock is not None:
            self.lock.release()
        return again


def open_segment(path: Path, lock: FileLock | None) -> HeldSegment | None:
    """An existing segment, open to go on appending.

    Args:
        path: its file.
        lock: what this process holds of it.

    Returns:
        None where it can't be opened or read; the lock is still held then.
    """
    try:
        descriptor = os.open(path, _APPEND)
    except OSError:
        return None
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and _last_byte(descriptor, size) != b"\n"
    except OSError:
        os.close(descriptor)
        return None
    return HeldSegment(path.stem, path, descriptor, lock, size, torn=torn)


def make_segment(folder: Path, base: str, *, trusted: bool) -> HeldSegment:
    """A fresh segment, locked before it can be seen.

    Args:
        folder: where segments lie.
        base: written into its header.
        trusted: locks can be trusted there; else nobody takes the segment once we let it go.

    Raises:
        OSError: it can't be written.
    """
    while True:
        writer = "".join(secrets.choice(_WRITER_CHARACTERS) for _ in range(_WRITER_LENGTH))
        path = folder / f"{writer}.jsonl"
        lock: FileLock | None = None
        if trusted:
            try:
                lock = FileLock.try_acquire(folder / f"{writer}.lock")
            except LockUnavailable:
                trusted = False
            else:
                if lock is None:
                    continue
        try:
            descriptor = os.open(path, _APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if lock is not None:
                lock.release()
            continue
        break
    held = HeldSegment(writer, path, descriptor, lock, 0)
    try:
        held.size = _write_all(descriptor, Header(base=base, once=lock is None).line() + b"\n")
        os.fsync(descriptor)
        sync_folder(folder)
    except OSError:
        # Before the lock is let go, or another process might take what is about to vanish. Windows
        # refuses, and an empty segment stays for whoever comes next.
        for made in (path, path.with_suffix(".lock")):
            with contextlib.suppress(OSError):
                made.unlink(missing_ok=True)
        held.release()
        raise
    return held


def make_folders(store: Path, journal: Path, owner: Path | None) -> None:
    """Makes the store's folder and `journal/` in it, closed to others, and unseen by git.

    Args:
        store: the store's folder.
        journal: where segments lie, in it.
        owner: the folder whose memories these are, see `Journal`.

    Raises:
        StoreError: the owner is gone.
        OSError: they can't be made.
    """
    if owner is not None and not owner.is_dir():
        raise StoreError(
            f"the folder {owner} does not exist any more; nothing was stored: "
            "open the project where it is now"
        )
    is_new = not store.exists()
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (is_new or store.name == ".mnemolens") and not _is_git_dir(store.parent):
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(store / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                _write_all(descriptor, b"*\n")
            finally:
                os.close(descriptor)
    if not journal.exists():
        journal.mkdir(mode=0o700, exist_ok=True)
        sync_folder(store)
        sync_folder(store.parent)


def _write_all(descriptor: int, data: bytes) -> int:
    """Write all of `data`; returns its length."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    return len(data)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()

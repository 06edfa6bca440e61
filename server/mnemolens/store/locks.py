"""Advisory file locks between processes, and whether they can be trusted where a file lies.

A lock belongs to the open file, so two holders inside one process exclude each other too, and the system
releases it when its process ends, however it ends. Never waits for a lock.
"""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_NETWORK: Final = frozenset({"9p", "afs", "ceph", "cifs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"})
_SHARED: Final = frozenset({"virtiofs", "vboxsf", "prl_fs", "fakeowner"})
_MOUNTS: Final = Path("/proc/self/mounts")


class LockUnavailable(Exception):
    """The file system has no locks, or the lock file can't be made."""


class FileLock:
    """A held lock. Release it with `release`, by leaving a `with` block, or by ending the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def try_acquire(cls, path: Path) -> Self | None:
        """Take the lock on `path`, which is created (0600) if it does not exist.

        Returns:
            The held lock, or None if somebody else holds it.

        Raises:
            LockUnavailable: locking does not work here.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LockUnavailable(str(error)) from error
        try:
            if _lock(descriptor) and _is_still(descriptor, path):
                held, descriptor = cls(descriptor), -1
            else:
                held = None
        except OSError as error:
            raise LockUnavailable(str(error)) from error
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return held

    def release(self) -> None:
        """Let go; again is harmless. The file stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def locks_trusted(folder: Path) -> bool:
    """Whether locks on files in `folder` keep other processes out, those of other machines included.

    On Linux the file system's type decides. Elsewhere the answer is True: a lock that fails says so.
    """
    kind = _file_system(folder)
    return kind is None or not (kind in _NETWORK or kind in _SHARED or kind.startswith("fuse.sshfs"))


def _file_system(folder: Path) -> str | None:
    """The type of the file system that holds `folder`, by its deepest mount point; None where unknown."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    path = os.path.realpath(folder)
    best, kind = "", None
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        # Blanks and backslashes in mount points are written as three octal digits.
        point = fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # of two on one point the later hides the earlier
            best, kind = point, fields[2]
    return kind


def _is_still(descriptor: int, path: Path) -> bool:
    """Whether `path` is the opened file: somebody may have removed it meanwhile, and made another."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

"""Where a process keeps its graph file: slots, taken by lock, so that windows never wait for each other.

Owns the folder `graphs/<worktree>/` in the cache: `<slot>.kuzu`, whose name a held `<slot>.lock` reserves,
and whatever the database puts beside it. Where the folder can't be used (read-only, full, locks that can't be
trusted) a slot in the system's temporary folder takes its place. Knows no database.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from mnemolens.store.locks import FileLock, LockUnavailable, locks_trusted

UNUSED_AFTER: Final = timedelta(days=14)
MAX_SLOTS: Final = 64
_TEMPORARY: Final = "mnemolens-graph-"


class NoSlot(Exception):
    """No folder can hold a graph file; says why in words."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A reserved place for one graph file.

    Attributes:
        number: None for a temporary one.
        file: the graph file; need not exist.
        lock: held until `release`.
        reason: why it is a temporary one, in words; None otherwise.
    """

    number: int | None
    file: Path
    lock: FileLock
    reason: str | None = None

    @property
    def new_file(self) -> Path:
        """Where a graph is built before it takes its place."""
        return self.file.with_name(f"{self.file.stem}.new")

    def clear(self) -> None:
        """Removes the graph file and all that lies beside it, the lock file not.

        Raises:
            OSError: something can't be removed.
        """
        self._remove_all_but(None)

    def accept(self) -> None:
        """The new file takes its place; nothing stays beside it.

        Raises:
            OSError: it can't be moved.
        """
        self._remove_all_but(self.new_file)
        self.new_file.replace(self.file)

    def release(self) -> None:
        """Lets go of the slot; a temporary one is removed."""
        if self.number is None:
            self.lock.release()
            shutil.rmtree(self.file.parent, ignore_errors=True)
            return
        with suppress(OSError):
            os.utime(_lock_file(self.file.parent, self.number))
        self.lock.release()

    def _remove_all_but(self, kept: Path | None) -> None:
        lock = self.file.with_suffix(".lock")
        for path in sorted(self.file.parent.glob(f"{self.file.stem}.*")):
            if path in {lock, kept}:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def take_slot(folder: Path, *, above: int = -1) -> Slot:
    """The lowest free slot of a folder, which is made; a temporary one where the folder can't be used.

    Args:
        folder: `graphs/<worktree>` in the cache.
        above: only slots of a higher number: the lower ones turned out to be unusable.

    Raises:
        NoSlot: not even a temporary one can be had.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not locks_trusted(folder):
            return temporary_slot("locks can't be trusted in the cache folder")
        for number in range(above + 1, MAX_SLOTS):
            lock = FileLock.try_acquire(_lock_file(folder, number))
            if lock is not None:
                with suppress(OSError):
                    os.utime(_lock_file(folder, number))
                return Slot(number, folder / f"{number}.kuzu", lock)
    except (OSError, LockUnavailable) as error:
        return temporary_slot(f"the cache folder can't be used ({_in_words(error)})")
    return temporary_slot(f"all {MAX_SLOTS} slots of the cache folder are in use")


def temporary_slot(reason: str) -> Slot:
    """A slot of its own in the system's temporary folder.

    Raises:
        NoSlot: there is no such folder either.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY))
        lock = FileLock.try_acquire(folder / "0.lock")
    except (OSError, LockUnavailable) as error:
        raise NoSlot(f"{reason}, nor can the temporary folder ({_in_words(error)})") from error
    if lock is None:
        raise NoSlot(f"{reason}, and the temporary folder is taken")
    return Slot(None, folder / "0.kuzu", lock, reason)


def sweep(graphs: Path, now: datetime) -> None:
    """Removes slots that nobody used for 14 days, of all worktrees; what can't be removed stays.

    What dead processes left in the system's temporary folder goes after a day.

    Args:
        graphs: `graphs` in the cache.
        now: aware.
    """
    oldest = (now - UNUSED_AFTER).timestamp()
    with suppress(OSError):
        for lock in graphs.glob("*/*.lock"):
            _sweep_slot(lock, oldest)
        for folder in graphs.iterdir():
            with suppress(OSError):
                folder.rmdir()  # only an empty one goes
    _sweep_temporaries((now - timedelta(days=1)).timestamp())


def clear_free(graphs: Path) -> None:
    """Removes the graph files of all slots that nobody holds: what was purged must not stay in them."""
    with suppress(OSError):
        for lock in graphs.glob("*/*.lock"):
            _sweep_slot(lock, float("inf"))
    _sweep_temporaries(float("inf"))


def _sweep_slot(lock: Path, oldest: float) -> None:
    with suppress(OSError, LockUnavailable):
        if lock.stat().st_mtime >= oldest:
            return
        held = FileLock.try_acquire(lock)
        if held is not None:
            with held:
                Slot(int(lock.stem), lock.with_suffix(".kuzu"), held).clear()
                lock.unlink(missing_ok=True)


def _sweep_temporaries(oldest: float) -> None:
    with suppress(OSError):
        for lock in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*/0.lock"):
            _sweep_temporary(lock, oldest)


def _sweep_temporary(lock: Path, oldest: float) -> None:
    with suppress(OSError, LockUnavailable):
        if lock.stat().st_mtime >= oldest or (hasattr(os, "getuid") and lock.stat().st_uid != os.getuid()):
            return
        held = FileLock.try_acquire(lock)
        if held is not None:
            with held:
                shutil.rmtree(lock.parent, ignore_errors=True)


def _lock_file(folder: Path, number: int) -> Path:
    return folder / f"{number}.lock"


def _in_words(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error)

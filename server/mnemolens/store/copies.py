"""Daily copies of the merged journal in the user's data folder, for a clone that has no store (CONTRACT §3).

Owns where the copies of a repository lie, how many there are and who may write them; one copy is the lines of
an export (`engine/exchange.py`). Restoring is an import that the user starts. Runs git and does file I/O:
call it off the event loop.
"""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple

import platformdirs
from pydantic_core import from_json

from mnemolens.core.errors import StoreError
from mnemolens.core.ids import short_hash
from mnemolens.store.layout import Layout
from mnemolens.store.locks import FileLock, LockUnavailable
from mnemolens.store.purge import segments_in
from mnemolens.store.whole import write_whole

DATA_VARIABLE: Final = "MNEMOLENS_DATA_DIR"
KEPT: Final = 7
"""How many copies of a repository are kept."""

_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl", re.ASCII)
_GIT_PLACES: Final = frozenset(
    {"GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_WORK_TREE"}
)
_STORES: Final = "stores"
_LOCK_SECONDS: Final = 10.0
_PAUSE: Final = 0.05
_USER_INFO: Final = re.compile(r"(?<=://)[^/@]*@")


class Copy(NamedTuple):
    """One daily copy.

    Attributes:
        path: an export in JSON Lines, as `import` takes it.
        day: the day it was made, UTC.
    """

    path: Path
    day: date


def data_dir() -> Path:
    """The user's data folder for copies; `MNEMOLENS_DATA_DIR` overrides."""
    override = os.environ.get(DATA_VARIABLE)
    return Path(override) if override else platformdirs.user_data_path("mnemolens", appauthor=False)


def repository_key(layout: Layout, timeout: float = 10.0) -> str | None:
    """What is the same in all clones of a repository: its first commits, and where it came from.

    Args:
        layout: of a worktree.
        timeout: seconds that git may take, for each of two questions.

    Returns:
        A file name; None without git, without a commit, and in a shallow clone, whose first commits are not
        the repository's.
    """
    if layout.git_dir is None or layout.common_dir is None or (layout.common_dir / "shallow").exists():
        return None
    found = _git(layout, timeout, "rev-list", "--max-parents=0", "HEAD")
    roots = sorted((found or "").split())
    if not roots:
        return None
    url = _git(layout, timeout, "config", "--get", "remote.origin.url") or ""
    return f"{short_hash(*roots)}-{short_hash(_plain(url))}"


def offer(layout: Layout, timeout: float = 10.0) -> Copy | None:
    """The newest copy of this repository, where it has no store of its own; else None.

    It is for the user to accept: nothing is restored here.
    """
    if segments_in(layout.store / "journal") or layout.older:
        return None
    key = repository_key(layout, timeout)
    copies = [] if key is None else Copies(data_dir(), key, layout.store).all()
    return copies[-1] if copies else None


class Copies:
    """The copies of one repository.

    Args:
        data: the user's data folder; may not exist yet.
        key: the repository's (`repository_key`).
        store: the store's folder, noted beside the copies so that a purge finds them under any key.
    """

    def __init__(self, data: Path, key: str, store: Path) -> None:
        self.folder = data / "copies" / key
        self._store = store

    def all(self) -> list[Copy]:
        """The copies, oldest first."""
        return _copies_in(self.folder)

    def is_due(self, now: datetime) -> bool:
        """Whether today has no copy yet."""
        return not self._path(now).exists()

    def make(self, lines: Callable[[], Iterable[bytes]], now: datetime) -> Copy | None:
        """Write today's copy, and remove what is older than the newest seven.

        Args:
            lines: gives the lines of an export, newlines included; asked only while no purge can come in
                between. No lines, no copy.
            now: which day it is.

        Raises:
            StoreError: it can't be written; the copies there are stay.
        """
        try:
            copies = self.folder.parent
            copies.parent.parent.mkdir(parents=True, exist_ok=True)
            for folder in (copies.parent, copies, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            with _locked(self.folder):
                # First, so that a purge whose event the lines may lack finds this folder and waits for us.
                self._note_store()
                iterator = iter(lines())
                first = next(iterator, None)
                if first is None:
                    return None
                path = self._path(now)
                write_whole(path, _chain(first, iterator), temporary=path.with_suffix(".tmp"))
                for old in self.all()[:-KEPT]:
                    old.path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"the daily copy can't be written to {self.folder}: {error.strerror}") from error
        return Copy(path, _day(now))

    def _path(self, now: datetime) -> Path:
        return self.folder / f"{_day(now).isoformat()}.jsonl"

    def _note_store(self) -> None:
        known = _stores_of(self.folder)
        store = str(self._store)
        if store not in known:
            text = "".join(f"{line}\n" for line in (*known, store))
            write_whole(self.folder / _STORES, [text.encode("utf-8", "surrogateescape")])


def remove_from_copies(data: Path, store: Path, memories: Collection[str]) -> tuple[str, ...]:
    """Take purged memories out of every copy that was made of a store.

    Args:
        data: the user's data folder.
        store: the store's folder.
        memories: ids of the purged memories.

    Returns:
        Names of the copies that held one.

    Raises:
        StoreError: a copy can't be rewritten; the message names it.
    """
    removed: list[str] = []
    try:
        folders = sorted(folder for folder in (data / "copies").iterdir() if folder.is_dir())
    except OSError:
        return ()
    for folder in folders:
        if str(store) not in _stores_of(folder):
            continue
        try:
            with _locked(folder):
                for left in folder.glob("*.tmp"):
                    left.unlink(missing_ok=True)
                for path in (copy.path for copy in _copies_in(folder)):
                    if any(_is_of(raw, memories) for raw in _lines(path)):
                        write_whole(
                            path,
                            (raw for raw in _lines(path) if not _is_of(raw, memories)),
                            temporary=path.with_suffix(".tmp"),
                        )
                        removed.append(path.name)
        except OSError as error:
            raise StoreError(
                f"the memory is still in the daily copies in {folder}: {error.strerror}"
            ) from error
    return tuple(removed)


def _copies_in(folder: Path) -> list[Copy]:
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            match = _NAME.fullmatch(path.name)
            with contextlib.suppress(ValueError):
                if match is not None:
                    found.append(Copy(path, date.fromisoformat(match[1])))
    return sorted(found, key=lambda copy: copy.day)


def _stores_of(folder: Path) -> list[str]:
    try:
        return (folder / _STORES).read_bytes().decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _is_of(raw: bytes, memories: Collection[str]) -> bool:
    """Whether an export's line is one of these memories; a line that can't be read is, if it names one."""
    try:
        memory = from_json(raw).get("memory") or {}
        return memory.get("id") in memories
    except (ValueError, AttributeError):
        return any(memory.encode("utf-8", "replace") in raw for memory in memories)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep others from writing copies there; goes on without where locks don't work."""
    until = time.monotonic() + _LOCK_SECONDS
    lock: FileLock | None = None
    try:
        while (lock := FileLock.try_acquire(folder / ".lock")) is None:
            if time.monotonic() > until:
                raise TimeoutError(0, "another process is writing there")
            time.sleep(_PAUSE)
    except LockUnavailable:
        lock = None
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _plain(url: str) -> str:
    """The address without who asks, so that another user name or token names the same repository."""
    return _USER_INFO.sub("", url.strip()).rstrip("/").removesuffix(".git")


def _git(layout: Layout, timeout: float, *arguments: str) -> str | None:
    """What git says; None where it fails, is not there, or takes too long."""
    # A hook that we run under may point git at another repository.
    inherited = {name: value for name, value in os.environ.items() if name not in _GIT_PLACES}
    try:
        done = subprocess.run(
            ["git", f"--git-dir={layout.git_dir}", "--no-replace-objects", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
            env={**inherited, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode != 0:
        return None
    return done.stdout.decode("utf-8", "replace").strip()

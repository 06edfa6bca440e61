"""The folder of memories that are open as documents: `open/<name>.md` in the store.

Owns the files: written whole or not at all, private to the user, kept while any process holds them. Beside
each document stands what it was written from, `.<name>.md.shown`, so that any later process can tell what the
user changed. What stands in documents is `engine/opened.py`'s. Does file I/O: call it off the event loop.
"""

import hashlib
import json
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mnemolens.core.errors import StoreError
from mnemolens.core.ids import new_ulid
from mnemolens.store.locks import FileLock, LockUnavailable
from mnemolens.store.whole import write_whole

_MARKER = re.compile(r"[0-9a-z]{26}")
_VERSION = 1


class Shown(NamedTuple):
    """What a document was written from, or was last stored as.

    Attributes:
        memory_id: whose document it is.
        fields: the memory's fields, as `engine/opened.py` shows them.
        seen: `digest` of the document's bytes when they said the same; "" when they never did.
    """

    memory_id: str
    fields: dict[str, Any]
    seen: str


def digest(data: bytes) -> str:
    """Tells a document's bytes from others'."""
    return hashlib.sha256(data).hexdigest()


class OpenedFolder:
    """One store's folder of opened memories.

    A process that has a document open holds the lock on a marker beside it, `.<document>.<process>`; a marker
    that can be locked was left by a process that has ended.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._me = new_ulid().lower()
        self._markers: dict[str, FileLock | None] = {}

    @classmethod
    def private(cls) -> "OpenedFolder":
        """A new folder outside any store, for when the store can't be written.

        Raises:
            StoreError: it can't be made either.
        """
        try:
            return cls(Path(tempfile.mkdtemp(prefix="mnemolens-")))
        except OSError as error:
            raise StoreError(f"no temporary folder can be made: {error.strerror}") from error

    def write(self, name: str, text: str) -> Path:
        """Writes a document and holds it; one that says the same already is left as it is.

        Raises:
            StoreError: the folder can't be written; the document is as it was.
        """
        path = self.folder / name
        data = text.encode()
        anew = not self.holds(name)
        try:
            # No further parents: a project that was deleted must not come back for a document's sake.
            self.folder.parent.mkdir(mode=0o700, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.hold(name)
            if self.read(name) != data:
                write_whole(path, (data,))
        except OSError as error:
            if anew:
                self._let_go(name, remove=False)
            raise StoreError(f"the memory can't be written to {path}: {error.strerror}") from error
        return path

    def read(self, name: str) -> bytes | None:
        """A document's bytes; None where there is none, or it can't be read."""
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            return None

    def hold(self, name: str) -> None:
        """Keeps a document until it is closed."""
        if name not in self._markers:
            self._markers[name] = self._mark(name)

    def holds(self, name: str) -> bool:
        """Whether this process has the document open."""
        return name in self._markers

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the documents that this process has open."""
        return tuple(self._markers)

    def write_shown(self, name: str, shown: Shown) -> None:
        """Keeps what a document was written from.

        Raises:
            StoreError: the folder can't be written.
        """
        path = self._shown_path(name)
        record = {"v": _VERSION, "memory": shown.memory_id, "fields": shown.fields, "seen": shown.seen}
        try:
            write_whole(path, (json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"),))
        except OSError as error:
            raise StoreError(f"{path} can't be written: {error.strerror}") from error

    def read_shown(self, name: str) -> Shown | None:
        """What a document was written from; None where nobody knows."""
        try:
            record = json.loads(self._shown_path(name).read_bytes())
            memory_id, fields, seen = record["memory"], record["fields"], record["seen"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not (isinstance(memory_id, str) and isinstance(fields, dict) and isinstance(seen, str)):
            return None
        return Shown(memory_id, fields, seen)

    def close(self, name: str, *, keep: bool = False) -> None:
        """Lets go of a document; the last to hold it removes it.

        Args:
            name: the document's.
            keep: leave it for later: it holds what is stored nowhere else.
        """
        if name in self._markers:
            self._let_go(name, remove=not keep)

    def left_behind(self) -> tuple[Path, ...]:
        """The documents that nobody holds: whoever had them open was killed, or left them on purpose."""
        found = sorted(self.folder.glob("*.md")) if self.folder.is_dir() else []
        return tuple(
            path for path in found if path.name not in self._markers and not self._held_elsewhere(path.name)
        )

    def remove(self, path: Path) -> None:
        """Removes a document that nobody holds."""
        with suppress(OSError):
            path.unlink(missing_ok=True)
            self._shown_path(path.name).unlink(missing_ok=True)

    def _let_go(self, name: str, *, remove: bool) -> None:
        marker = self._markers.pop(name, None)
        if marker is not None:
            marker.release()
        with suppress(OSError):
            self._marker_path(name).unlink(missing_ok=True)
            if remove and not self._held_elsewhere(name):
                self.remove(self.folder / name)

    def _marker_path(self, name: str) -> Path:
        return self.folder / f".{name}.{self._me}"

    def _shown_path(self, name: str) -> Path:
        return self.folder / f".{name}.shown"

    def _mark(self, name: str) -> FileLock | None:
        try:
            return FileLock.try_acquire(self._marker_path(name))
        except LockUnavailable:
            return None

    def _held_elsewhere(self, name: str) -> bool:
        for marker in self.folder.glob(f".{_literal(name)}.*"):
            if not _MARKER.fullmatch(marker.name[len(name) + 2 :]):
                continue
            try:
                lock = FileLock.try_acquire(marker)
            except LockUnavailable:
                return True
            if lock is None:
                return True
            lock.release()
            marker.unlink(missing_ok=True)
        return False


def _literal(name: str) -> str:
    """The name as a glob pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)

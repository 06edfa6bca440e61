"""The folder of memories that are open as documents: `open/<name>.md` in the store.

Owns the files: written whole or not at all, private to the user, kept while any process holds them. What
stands in them is `engine/opened.py`'s. Does file I/O: call it off the event loop.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mnemolens.core.errors import StoreError
from mnemolens.core.ids import new_ulid
from mnemolens.store.locks import FileLock, LockUnavailable


class OpenedFolder:
    """One store's folder of opened memories.

    A process that has a document open holds the lock on a marker beside it, `.<document>.<process>`; a marker
    that can be locked was left by a process that has ended.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._me = new_ulid().lower()
        self._markers: dict[str, FileLock | None] = {}

    def write(self, name: str, text: str) -> Path:
        """Writes a document and holds it; one that says the same already is left as it is.

        Raises:
            StoreError: the folder can't be written.
        """
        path = self.folder / name
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if name not in self._markers:
                self._markers[name] = self._mark(name)
            if self._says(path, text):
                return path
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(temporary).replace(path)
        except OSError as error:
            raise StoreError(f"the memory can't be written to {path}: {error.strerror}") from error
        return path

    def close(self, name: str) -> None:
        """Lets go of a document; the last to hold it removes it."""
        if name not in self._markers:
            return
        marker = self._markers.pop(name)
        if marker is not None:
            marker.release()
        with suppress(OSError):
            self._marker_path(name).unlink(missing_ok=True)
            if not self._held_elsewhere(name):
                (self.folder / name).unlink(missing_ok=True)

    def close_all(self) -> None:
        """Lets go of every document."""
        for name in tuple(self._markers):
            self.close(name)

    def left_behind(self) -> tuple[Path, ...]:
        """The documents that nobody holds: whoever had them open was killed."""
        found = sorted(self.folder.glob("*.md")) if self.folder.is_dir() else []
        return tuple(
            path for path in found if path.name not in self._markers and not self._held_elsewhere(path.name)
        )

    def remove(self, path: Path) -> None:
        """Removes a document that nobody holds."""
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def _marker_path(self, name: str) -> Path:
        return self.folder / f".{name}.{self._me}"

    def _mark(self, name: str) -> FileLock | None:
        try:
            return FileLock.try_acquire(self._marker_path(name))
        except LockUnavailable:
            return None

    def _held_elsewhere(self, name: str) -> bool:
        for marker in self.folder.glob(f".{_literal(name)}.*"):
            try:
                lock = FileLock.try_acquire(marker)
            except LockUnavailable:
                return True
            if lock is None:
                return True
            lock.release()
            marker.unlink(missing_ok=True)
        return False

    @staticmethod
    def _says(path: Path, text: str) -> bool:
        try:
            return path.read_text("utf-8") == text
        except (OSError, ValueError):
            return False


def _literal(name: str) -> str:
    """The name as a glob pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)

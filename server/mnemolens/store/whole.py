"""Files that are written whole or not at all: a temporary file beside them, fsync, rename.

Whoever is killed in between leaves the old file as it was. Owns no format.
"""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_BUFFER: Final = 1 << 20
"""Each write in between would keep the event loop from its turn, see `core/turns.py`."""
_RETRIES: Final = 20
_PAUSE: Final = 0.05


def write_whole(path: Path, chunks: Iterable[bytes], *, temporary: Path | None = None) -> int:
    """Write a file for the user alone (0600); until it is complete and on disk, the old one stands.

    Args:
        path: where it shall stand; its folder exists.
        chunks: what it holds; if they raise, nothing is changed.
        temporary: the name to write under, for a writer that finds what it left when it was killed; by
            default one that nobody else has.

    Returns:
        How many bytes it holds.

    Raises:
        OSError: it can't be written; the old file stands.
    """
    if temporary is None:
        temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    else:
        temporary.unlink(missing_ok=True)
    size = 0
    try:
        with os.fdopen(os.open(temporary, _FLAGS, 0o600), "wb", buffering=_BUFFER) as file:
            for chunk in chunks:
                size += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        _rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return size


def sync_folder(folder: Path) -> None:
    """Make new names in `folder` last. Windows has no such thing, and does not need it."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EINVAL, errno.ENOTSUP}:  # not every file system can
            raise


def _rename(source: Path, target: Path) -> None:
    """Rename over `target`; on Windows as soon as nobody reads it."""
    for _ in range(_RETRIES if os.name == "nt" else 0):
        try:
            source.replace(target)
        except PermissionError:
            time.sleep(_PAUSE)
        else:
            return
    source.replace(target)

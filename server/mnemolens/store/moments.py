"""When something was last done for a folder, by whichever process: the time of an empty file in the cache.

Losing it costs nothing but doing that once more.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


class Moment:
    """One such time.

    Args:
        file: which keeps it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def last(self) -> datetime | None:
        """When it was last done; None where that is not known."""
        try:
            return datetime.fromtimestamp(self._file.stat().st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            return None

    def note(self, now: datetime) -> None:
        """It was done; where that can't be kept, nothing happens."""
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.touch(mode=0o600)
            os.utime(self._file, (now.timestamp(), now.timestamp()))

"""When something was last done for a folder, by whichever process: the time of an empty file in the cache.

Losing it costs nothing but doing that once more.
"""

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mnemolens.core.ids import short_hash


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

    def is_first(self, now: datetime, within: timedelta) -> bool:
        """Whether nobody did it within that time; of several who ask at once one is told so, and does it."""
        last = self.last()
        if last is None:
            try:
                self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file.touch(mode=0o600, exist_ok=False)
            except FileExistsError:
                return False
            except OSError:
                return True
        elif abs(now - last) < within:
            return False
        self.note(now)
        return True


class Moments:
    """Such times by what was done.

    Args:
        folder: which keeps their files.
        owner: what they belong to; others' may be in the folder too.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self._folder = folder
        self._owner = owner

    def of(self, *what: str) -> Moment:
        """When that was last done."""
        return Moment(self._folder / short_hash(self._owner, *what))

"""A line on stderr that counts up while long work is done, where stderr is a terminal. Owns nothing else."""

import sys
import time

_FIRST_SECONDS = 0.4
_EACH_SECONDS = 0.1


class Progress:
    """Shown only for work that takes long enough to be noticed."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _FIRST_SECONDS
        self._shown = False

    def show(self, done: int, total: int) -> None:
        """Takes (files done, files in all), as the indexer tells them."""
        if not sys.stderr.isatty():
            return
        if done >= total:
            self.clear()
        elif (now := time.monotonic()) >= self._next:
            sys.stderr.write(f"\rreading code: {done} of {total} files")
            sys.stderr.flush()
            self._next, self._shown = now + _EACH_SECONDS, True

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

"""Gives way to other threads in one that makes many short calls into the system.

CPython's lock goes to whoever asks first once it is free. A thread that lets go of it for each file or row
has it back before the one that waits is awake, and the waiting one may only demand it after a whole switch
interval in which nothing happened: the event loop was held for 200 ms while a thread read small pieces.
"""

import threading
import time
from typing import Final

_WORK_SECONDS: Final = 0.003
_PAUSE_SECONDS: Final = 0.0002
"""Long enough for the one that waits to wake up."""


class Turns:
    """The turns of one piece of work: call `give` at each of its steps."""

    def __init__(self) -> None:
        self._end = time.perf_counter() + _WORK_SECONDS

    def give(self) -> None:
        """Pauses for a moment, after some milliseconds of work; the main thread never does."""
        if time.perf_counter() >= self._end:
            if threading.current_thread() is not threading.main_thread():
                time.sleep(_PAUSE_SECONDS)
            self._end = time.perf_counter() + _WORK_SECONDS

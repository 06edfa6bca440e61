"""Watches the client's process, for clients that die without closing our stdin.

Gives an answer, takes no action. A process that can't be seen from the start (another machine, another
container) is taken to live on: the end of stdin will tell.
"""

import os
import select
import sys


class ParentWatch:
    """Tells whether the process of `initialize`'s processId is gone."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid if pid is not None and pid > 0 else None
        self._handle = None if self._pid is None else _open(self._pid)
        self._is_parent = self._pid is not None and sys.platform != "win32" and os.getppid() == self._pid

    def is_gone(self) -> bool:
        """Whether the process has ended since."""
        if self._is_parent:
            return os.getppid() != self._pid
        return self._handle is not None and _has_ended(self._handle)


if sys.platform == "win32":  # os.kill(pid, 0) would end the process here
    import ctypes

    _SYNCHRONIZE = 0x100000

    def _open(pid: int) -> int | None:
        return ctypes.windll.kernel32.OpenProcess(_SYNCHRONIZE, False, pid) or None

    def _has_ended(handle: int) -> bool:
        return ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == 0

elif sys.platform == "linux":

    def _open(pid: int) -> int | None:
        try:
            return os.pidfd_open(pid)
        except OSError:
            return None

    def _has_ended(handle: int) -> bool:
        return bool(select.select([handle], [], [], 0)[0])

else:

    def _open(pid: int) -> int | None:
        return None if _has_ended(pid) else pid

    def _has_ended(handle: int) -> bool:
        try:
            os.kill(handle, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False

"""Our side of the graph's process: starts it, asks it one thing at a time, ends it."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mnemolens.store.graph_frames import STOPPED, read_frame, write_frame
from mnemolens.store.graph_schema import Row

PATIENCE_SECONDS = 60.0
"""So long an answer may take of which nothing else is known."""

_END_SECONDS = 3.0
_LOOK_SECONDS = 0.5


class ProcessEnded(Exception):
    """The process is gone, and with it what it was asked; how, is in words.

    Attributes:
        by_itself: whether it said by its exit code that it had to end over what it was asked.
        overdue: whether it was ended because no answer came in time.
    """

    def __init__(self, words: str, *, by_itself: bool = False, overdue: bool = False) -> None:
        super().__init__(words)
        self.by_itself = by_itself
        self.overdue = overdue


class DatabaseError(Exception):
    """The database says no.

    Attributes:
        kind: "refused" for a query that is wrong, too long or too large; "locked"; "failed"; "missing" where
            there is no database at all.
    """

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind


class GraphProcess:
    """A running process. Belongs to one thread, but for `kill`.

    Whatever it is asked, a watch ends it where no answer comes: it may be stuck altogether.

    Args:
        command: how it is started, for tests.

    Raises:
        DatabaseError: there is no database that it could run.
        ProcessEnded: it does not start.
    """

    def __init__(self, command: list[str] | None = None) -> None:
        self._exit_code: int | None = None
        self._latest: float | None = None
        self._overdue = False
        self._ended_for_good = threading.Event()
        try:
            self._process = subprocess.Popen(
                command or [sys.executable, "-P", "-m", "mnemolens.store.graph_entry"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise ProcessEnded(f"the graph's process can't be started ({error.strerror})") from error
        threading.Thread(target=self._watch, name="mnemolens-graph-watch", daemon=True).start()
        try:
            with self._within(PATIENCE_SECONDS):
                self._answer(lambda _: None)
        except DatabaseError:
            self.close()
            raise

    def call(
        self,
        operation: str,
        *arguments: Any,
        seconds: float = PATIENCE_SECONDS,
        on_rows: Callable[[list[Row]], None] | None = None,
    ) -> Any:
        """Asks one thing.

        Args:
            operation: a method of `graph_database`'s desk.
            arguments: its.
            seconds: how long that may take; then the process is ended.
            on_rows: takes the rows of an answer, portion by portion.

        Raises:
            DatabaseError: the database says no.
            ProcessEnded: the process is gone.
        """
        assert self._process.stdin is not None
        with self._within(seconds):
            try:
                write_frame(self._process.stdin, (operation, *arguments))
            except (OSError, ValueError):
                raise self._ended() from None
            return self._answer(on_rows or (lambda _: None))

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._exit_code

    def kill(self) -> None:
        """Ends it at once, from any thread."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Lets it close its file and end; kills it where it takes long."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._wait()

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        self._latest = time.monotonic() + seconds
        try:
            yield
        finally:
            self._latest = None

    def _watch(self) -> None:
        while not self._ended_for_good.wait(_LOOK_SECONDS):
            latest = self._latest
            if latest is not None and time.monotonic() > latest:
                self._overdue = True
                self.kill()
                return

    def _answer(self, on_rows: Callable[[list[Row]], None]) -> Any:
        assert self._process.stdout is not None
        while True:
            try:
                answer = read_frame(self._process.stdout)
            except (EOFError, OSError, ValueError):
                raise self._ended() from None
            if answer[0] == "rows":
                on_rows(answer[1])
                # Between two portions whoever else wants the interpreter gets it.
                time.sleep(0)
            elif answer[0] == "error":
                raise DatabaseError(answer[1], answer[2])
            else:
                return answer[1]

    def _ended(self) -> ProcessEnded:
        code = self._wait()
        words = "did not answer" if self._overdue else f"ended (exit code {code})"
        return ProcessEnded(f"the graph's process {words}", by_itself=code == STOPPED, overdue=self._overdue)

    def _wait(self) -> int:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._ended_for_good.set()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._exit_code = code
        return code

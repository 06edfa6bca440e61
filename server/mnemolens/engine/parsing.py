"""Worker processes that parse, and what happens when one of them dies or hangs.

Owns the processes and one thread for each. A file on which a worker dies or takes too long is answered
with the reason, and the worker is started again for the rest. It knows nothing of files, paths or caches:
`engine/indexer.py`.

Not `multiprocessing`: its workers, however they are started, inherit the protocol's standard input and
output and outlive a killed server. These have pipes of their own and end when the pipe does.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, NamedTuple, Self

from mnemolens.engine.worker import READY, read_frame, write_frame

TIME_LIMIT = 10.0
"""Seconds of processor time for one file; the longest allowed by default (1.5 MB) takes under four."""

_PATIENCE = 6
"""How many times that on the clock, for a niced process on a busy machine, and for one that does not work."""

_OUT_OF_TIME = getattr(signal, "SIGPROF", 0)
_START_LIMIT = 30.0
_GROUP_FILES = 16
_GROUP_BYTES = 256 * 1024
_MAX_WORKERS = 8


class Job(NamedTuple):
    """A text to parse. `number` is the caller's, and comes back in the answer."""

    number: int
    source: bytes
    language: str


class Parsed(NamedTuple):
    """The answer to a job: `data` as `store.symbols.encode` gives it, or the reason why there is none.

    Attributes:
        unstarted: no worker can be started here; the job was not tried.
    """

    job: Job
    data: bytes | None
    reason: str | None
    unstarted: bool = False


def worker_count() -> int:
    """One fewer than the processors that this process may use, at least 1, at most 8."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(_MAX_WORKERS, processors - 1))


class ParserPool:
    """Worker processes behind a queue. `close` must be called; a context manager does.

    Args:
        count: how many processes; each is started when there is work for it.
        extractor: "module:function" for the worker, None for the real one.
        time_limit: seconds of processor time for one file.
    """

    def __init__(
        self, count: int | None = None, *, extractor: str | None = None, time_limit: float = TIME_LIMIT
    ) -> None:
        arguments = [str(time_limit), *([extractor] if extractor else [])]
        # -P: a `marshal.py` in the folder we were started in is not ours
        command = [sys.executable, "-P", "-m", "mnemolens.engine.worker", *arguments]
        self._desk = _Desk(command, time_limit)
        self._workers = [_Worker(self._desk, number) for number in range(count or worker_count())]
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, job: Job) -> None:
        """Queue a job. Never blocks: it is for the caller to keep what is on the way within bounds."""
        self._desk.jobs.put(job)
        if self._started < len(self._workers):
            self._workers[self._started].start()
            self._started += 1

    def next_answer(self, timeout: float) -> Parsed | None:
        """The next answer, in any order; None when there is none for `timeout` seconds."""
        for worker in self._workers[: self._started]:
            worker.stop_if_late()
        try:
            return self._desk.answers.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """End the processes, at once, whatever they are doing."""
        self._desk.closed.set()
        for worker in self._workers[: self._started]:
            self._desk.jobs.put(None)
            worker.kill()
        for worker in self._workers[: self._started]:
            worker.join()


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the pool and its workers share."""

    command: list[str]
    time_limit: float
    jobs: queue.Queue[Job | None] = field(default_factory=queue.Queue)
    answers: queue.SimpleQueue[Parsed] = field(default_factory=queue.SimpleQueue)
    closed: threading.Event = field(default_factory=threading.Event)

    def take(self) -> list[Job]:
        """Some jobs, at least one; none when the pool is closed."""
        first = self.jobs.get()
        if first is None or self.closed.is_set():
            return []
        group, size = [first], len(first.source)
        while len(group) < _GROUP_FILES and size < _GROUP_BYTES:
            try:
                job = self.jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self.jobs.put(None)
                break
            group.append(job)
            size += len(job.source)
        return group


class _Worker:
    """One process, and the thread that talks to it."""

    def __init__(self, desk: _Desk, number: int) -> None:
        self._desk = desk
        self._thread = threading.Thread(target=self._run, name=f"mnemolens-parser-{number}", daemon=True)
        self._lock = threading.Lock()  # guards the process against being replaced while it is killed
        self._process: subprocess.Popen[bytes] | None = None
        self._deadline: float | None = None
        self._was_late = False

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def kill(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def stop_if_late(self) -> None:
        deadline = self._deadline
        if deadline is not None and time.monotonic() > deadline:
            self._deadline = None
            self._was_late = True
            self.kill()

    def _run(self) -> None:
        try:
            while group := self._desk.take():
                self._parse(deque(group))
        finally:
            self._end_process()

    def _parse(self, jobs: deque[Job]) -> None:
        """Answer all of the jobs, with as many processes as that takes."""
        answers = self._desk.answers
        suspect: Job | None = None
        while jobs and not self._desk.closed.is_set():
            pipes = self._pipes()
            if pipes is None:
                for job in jobs:
                    answers.put(Parsed(job, None, "the parser process does not start", unstarted=True))
                return
            try:
                self._exchange(pipes, jobs)
            except (EOFError, OSError, ValueError):
                timed_out, reason = self._epitaph()
                if timed_out or jobs[0] is suspect:
                    answers.put(Parsed(jobs.popleft(), None, reason))
                else:
                    # it may have been killed for another's sake: only a second death is the file's fault
                    suspect = jobs[0]

    def _exchange(self, pipes: tuple[IO[bytes], IO[bytes]], jobs: deque[Job]) -> None:
        requests, replies = pipes
        self._deadline = time.monotonic() + self._desk.time_limit * _PATIENCE
        write_frame(requests, [(job.source, job.language) for job in jobs])
        while jobs:
            self._deadline = time.monotonic() + self._desk.time_limit * _PATIENCE
            data, reason = read_frame(replies)
            self._desk.answers.put(Parsed(jobs.popleft(), data, reason))
        self._deadline = None

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]] | None:
        """Of the running process, started if there is none; None when it does not start."""
        if self._process is None:
            low = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
            hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)
            try:
                with self._lock:
                    if self._desk.closed.is_set():
                        return None
                    self._process = subprocess.Popen(
                        self._desk.command,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        creationflags=low | hidden,
                    )
                assert self._process.stdout is not None
                self._deadline = time.monotonic() + _START_LIMIT
                if read_frame(self._process.stdout) != READY:
                    raise EOFError("not our worker")  # noqa: TRY301 - handled like any other end
            except (EOFError, OSError, ValueError):
                self._end_process()
                return None
            finally:
                self._deadline = None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _epitaph(self) -> tuple[bool, str]:
        """End the process that failed; whether it took too long, and why it failed, for the user."""
        self._deadline = None
        late, self._was_late = self._was_late, False
        code = self._end_process()
        if late or code == -_OUT_OF_TIME:
            return True, f"parsing it took longer than {self._desk.time_limit:g} s"
        return False, f"the parser stopped on it (exit code {code})"

    def _end_process(self) -> int | None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        try:
            return process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

"""The server as it is, with a watchdog in it that measures how long the event loop is held.

    python tests/bench/watched.py        (in the place of `mnemolens serve`)

It answers one request more, `bench/holds`: what was measured since the request before it.
"""

import asyncio
import gc
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from mnemolens.lsp import server
from mnemolens.lsp.language_server import MnemolensServer

BEAT = 0.002
LONG = 0.02
"""Holds that are worth being told of: what the loop did then is noted."""
LOOK = 0.005
IDLE = {"threading.py", "thread.py", "queue.py", "selectors.py", "subprocess.py"}
"""Where threads stand that wait for something to do."""


class Hold(NamedTuple):
    """One long hold.

    Attributes:
        work: seconds of processor time that this process used meanwhile, in whatever thread, at most `late`
            less what the loop's thread waited for a processor.
        late: seconds by the clock; on a busy machine others have the processor for the rest.
        own: of the work, what the loop's own thread did.
        where: what the loop's thread was seen doing, the most often seen first, and how often; where most of
            the work was others', what these did, looks for garbage included.
    """

    work: float
    late: float
    own: float
    where: str


class Watchdog:
    """A beat on the loop; how much it is late is how long somebody held the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._main = threading.get_ident()
        self._schedule = _open_schedule(threading.get_native_id())
        self._due = 0.0
        self._seen: Counter[str] = Counter()
        self._beside: Counter[str] = Counter()
        self._begun = time.perf_counter()
        self._late: list[tuple[float, float]] = []
        self._long: list[Hold] = []
        self._telling = False  # the answer is being written, which is the watchdog's own work
        self._next()
        gc.callbacks.append(self._collected)
        threading.Thread(target=self._look, daemon=True).start()

    def take(self) -> dict[str, Any]:
        """What was measured since the last call: seconds, (work, lateness) of each late beat, the longest."""
        now = time.perf_counter()
        longest = sorted(self._long, reverse=True)[:5]
        taken = {"seconds": now - self._begun, "late": self._late, "long": longest}
        self._begun, self._late, self._long = now, [], []
        self._telling = True
        return taken

    def _next(self) -> None:
        self._due = time.perf_counter() + BEAT
        self._used = time.thread_time(), time.process_time(), _waited(self._schedule)
        self._loop.call_later(BEAT, self._beat)

    def _beat(self) -> None:
        late = time.perf_counter() - self._due
        if late > BEAT and not self._telling:
            own, work = time.thread_time() - self._used[0], time.process_time() - self._used[1]
            work = max(0.0, min(work, late - (_waited(self._schedule) - self._used[2])))
            self._late.append((work, late))
            if late > LONG:
                doing = self._seen if own > work / 2 else self._beside
                # Unlike `most_common` no loop over what the other thread adds to: an error ends all beats.
                often = sorted(doing.items(), key=lambda one: -one[1])[:3]
                seen = ", ".join(f"{times} × {where}" for where, times in often)
                self._long.append(Hold(work, late, own, seen))
        self._seen, self._beside = Counter(), Counter()
        self._telling = False
        self._next()

    def _look(self) -> None:
        """From another thread: where the loop's thread is while the beat is late, and what others do."""
        own = threading.get_ident()
        while True:
            time.sleep(LOOK)
            if time.perf_counter() - self._due <= LOOK:
                continue
            for thread, frame in sys._current_frames().items():
                if thread == self._main:
                    self._seen[_where(frame)] += 1
                elif thread != own and Path(frame.f_code.co_filename).name not in IDLE:
                    self._beside[_where(frame)] += 1

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        """The garbage collector begins or ends a look, in whatever thread."""
        if phase == "start":
            self._collecting = time.perf_counter()
        elif (took := time.perf_counter() - self._collecting) > LOOK:
            self._beside[f"garbage of generation {info['generation']} for {took * 1000:.0f} ms"] += 1


def _open_schedule(thread: int) -> int | None:
    """Where Linux says how long a thread of this process ran and waited; None on other systems."""
    try:
        return os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY)
    except OSError:
        return None


def _waited(schedule: int | None) -> float:
    """Seconds that the thread was ready to run while others had all processors."""
    return 0.0 if schedule is None else int(os.pread(schedule, 100, 0).split()[1]) / 1e9


def _where(frame: FrameType | None) -> str:
    """The innermost function, the innermost ones of ours, and the outermost: whose task it is."""
    names: list[str] = []
    while frame is not None:
        code = frame.f_code
        if not names or f"{os.sep}mnemolens{os.sep}" in code.co_filename:
            names.append(f"{Path(code.co_filename).name}:{code.co_name}")
        frame = frame.f_back
    return " < ".join([*names[:3], "…", *names[-2:]] if len(names) > 6 else names)


def main() -> int:
    create = server.create_server

    def watched() -> MnemolensServer:
        made = create()
        dogs: list[Watchdog] = []

        @made.feature("bench/holds")
        def holds(_ls: MnemolensServer, _params: Any) -> dict[str, Any]:
            if not dogs:
                dogs.append(Watchdog())
            return dogs[0].take()

        return made

    server.create_server = watched
    return server.serve_stdio()


if __name__ == "__main__":
    sys.exit(main())

"""Long work beside requests: in a thread that gives its pieces to the event loop, or on the loop in slices.

Owns the hand-over between the two: the thread waits until the loop has taken a piece, so the loop is never
flooded; cancelling the task stops the thread at its next step. Threads are daemons: they never hold up the
end of the process. Owns how long a slice is, too, and that what slices make is not looked at as a whole.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from typing import Protocol, TypeVar
from weakref import WeakSet

_T = TypeVar("_T")


SLICE_SECONDS = 0.008
PAUSE_SECONDS = 0.001
"""Between slices the thread that reads requests must get its turn."""


FREEZE_AFTER_SECONDS = 0.02
"""Of slices while no garbage is collected (`loading.bulk_load`): what they made is then left out of later
looks for garbage. To look at what 20 ms of work make takes some 5 ms, whatever thread it comes to, and the
collector does not see how much there is: it counts what was made less what went, so that symbols which take
the place of others count as nothing."""

_sliced_since_freeze = 0.0

_had_a_slice: "WeakSet[asyncio.AbstractEventLoop]" = WeakSet()
"""Loops that gave a slice in this round: between two slices, whosever they are, requests get their turn."""


class Slices:
    """Work on the loop, cut into slices: `await pause()` wherever it may be cut.

    However many works there are, a round of the loop holds the slice of one.

    Args:
        seconds: a slice's length; else `SLICE_SECONDS`.
        pause: seconds between two slices, at least; else `PAUSE_SECONDS`.
    """

    def __init__(self, seconds: float | None = None, pause: float | None = None) -> None:
        self._seconds = SLICE_SECONDS if seconds is None else seconds
        self._pause = PAUSE_SECONDS if pause is None else pause
        self._end = time.perf_counter() + self._seconds

    @property
    def used_up(self) -> bool:
        """Whether others should get their turn now."""
        return time.perf_counter() >= self._end

    async def pause(self) -> None:
        """Let others in, if this slice is used up."""
        if not self.used_up:
            return
        _freeze_after_much(self._seconds)
        loop = asyncio.get_running_loop()
        if loop not in _had_a_slice:
            _had_a_slice.add(loop)
            loop.call_soon(_had_a_slice.discard, loop)  # in the next round
        await asyncio.sleep(self._pause)
        while loop in _had_a_slice:  # noqa: ASYNC110 - whoever comes first in the next round
            await asyncio.sleep(PAUSE_SECONDS)
        self._end = time.perf_counter() + self._seconds


def _freeze_after_much(slice_seconds: float) -> None:
    global _sliced_since_freeze  # noqa: PLW0603 - the collector is global too
    if gc.isenabled():
        return
    _sliced_since_freeze += slice_seconds
    if _sliced_since_freeze >= FREEZE_AFTER_SECONDS:
        _sliced_since_freeze = 0.0
        gc.collect(0)  # what is garbage by now would be kept for ever
        gc.freeze()


def at_once(steps: Generator[None, None, _T]) -> _T:
    """Goes all steps without a pause, and answers what they come to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            answer: _T = end.value
            return answer


async def in_slices(steps: Generator[None, None, _T]) -> _T:
    """Goes all steps in slices that let other requests in between, and answers what they come to."""
    slices = Slices()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            answer: _T = end.value
            return answer
        await slices.pause()


class Abandoned(Exception):
    """Raised in the thread when the task that waited for it was cancelled."""


class Post(Protocol):
    """Calls something where the results are wanted, and returns when it has been done."""

    def __call__(self, callback: Callable[[], None], /) -> None:
        """Raises what `callback` raises, or `Abandoned`."""
        ...


def here(callback: Callable[[], None], /) -> None:
    """The `Post` of work that runs on the caller's own thread."""
    callback()


async def in_thread(work: Callable[[Post, threading.Event], _T], name: str) -> _T:
    """Run `work(post, stop)` in a thread of its own.

    Args:
        work: is given a `Post` to this loop, and an event that is set when it should end.
        name: the thread's.

    Raises:
        Exception: what `work` raises.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[_T] = loop.create_future()
    stop = threading.Event()

    post = _poster(loop, stop)

    def settle(result: _T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is None:
            outcome.set_result(result)  # type: ignore[arg-type]  # it is work's result when there is no error
        else:
            outcome.set_exception(error)

    def main() -> None:
        result, failure = None, None
        try:
            result = work(post, stop)
        except BaseException as error:  # noqa: BLE001 - raised again in the task
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=main, name=name, daemon=True).start()
    try:
        return await outcome
    finally:
        stop.set()


def _poster(loop: asyncio.AbstractEventLoop, stop: threading.Event) -> Post:
    def post(callback: Callable[[], None], /) -> None:
        taken: Future[None] = Future()

        def call() -> None:
            try:
                callback()
            except BaseException as error:  # noqa: BLE001 - raised again in the thread
                taken.set_exception(error)
            else:
                taken.set_result(None)

        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(call)
        while not stop.is_set() and not loop.is_closed():
            with suppress(TimeoutError):
                return taken.result(timeout=0.2)
        raise Abandoned

    return post

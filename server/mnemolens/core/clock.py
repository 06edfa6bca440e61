"""Clocks: the one that tells the time, and the hybrid logical one that orders events.

A hybrid clock reading is text, `<13-digit ms>-<4 hex>-<writer>`, and readings compare as text: first by wall
time in milliseconds, then by a counter, then by the writer's name. Does not decide who the writer is
(`store/journal.py`).
"""

import re
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

MAX_AHEAD_MS: Final = 24 * 60 * 60 * 1000
"""A reading further ahead of our wall clock than this orders its event, but does not move our clock."""

_MAX_MS: Final = 9_999_999_999_999
_MAX_COUNTER: Final = 0xFFFF
_READING = re.compile(r"([0-9]{13})-([0-9a-f]{4})-([a-z0-9]{10})", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Tells the time; injected at the top so that tests decide what time it is."""

    def now(self) -> datetime:
        """The current time, aware and UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time, aware and UTC."""
        return datetime.now(UTC)


class ManualClock:
    """A clock for tests: stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """The time it was set to."""
        return self._now

    def set(self, moment: datetime) -> None:
        """Move to `moment`, forwards or backwards."""
        self._now = moment.astimezone(UTC)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`, which may be negative."""
        self._now += timedelta(seconds=seconds)


def is_reading(text: str) -> bool:
    """Whether `text` is a hybrid clock reading."""
    return _READING.fullmatch(text) is not None


def reading_writer(reading: str) -> str:
    """The name of the segment that wrote the event with this reading."""
    return reading[19:]


def reading_time(reading: str) -> datetime:
    """The wall time of a reading, to the millisecond."""
    return _EPOCH + timedelta(milliseconds=int(reading[:13]))


def reading_at(moment: datetime, writer: str, counter: int = 0) -> str:
    """The reading of an event that happened at a moment that is known, such as an imported one."""
    return f"{_ms_of(moment):013d}-{counter:04x}-{writer}"


class HybridClock:
    """Gives each event a reading later than all that were seen before. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._ms = 0
        self._counter = 0

    def tick(self, writer: str) -> str:
        """The reading for a new event of `writer`."""
        wall = self._wall_ms()
        with self._lock:
            if wall > self._ms:
                self._ms, self._counter = wall, 0
            elif self._counter < _MAX_COUNTER:
                self._counter += 1
            else:
                self._ms, self._counter = min(self._ms + 1, _MAX_MS), 0
            return f"{self._ms:013d}-{self._counter:04x}-{writer}"

    def observe(self, readings: Iterable[str]) -> None:
        """Take note of events' readings, so that later ticks come after them."""
        limit = f"{min(self._wall_ms() + MAX_AHEAD_MS, _MAX_MS):013d}~"  # "~" sorts after every counter
        latest = max((reading for reading in readings if reading <= limit), default=None)
        match = None if latest is None else _READING.fullmatch(latest)
        if match is None:
            return
        ms, counter = int(match[1]), int(match[2], 16)
        with self._lock:
            self._ms, self._counter = max((self._ms, self._counter), (ms, counter))

    def _wall_ms(self) -> int:
        return _ms_of(self._clock.now())


def _ms_of(moment: datetime) -> int:
    return max(0, min((moment - _EPOCH) // timedelta(milliseconds=1), _MAX_MS))


def age(then: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits: `2 days ago`; a time to come is `just now`."""
    seconds = (now - then).total_seconds()
    for name, length in (
        ("year", 31_556_952),
        ("month", 2_629_746),
        ("day", 86_400),
        ("hour", 3600),
        ("minute", 60),
    ):
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"

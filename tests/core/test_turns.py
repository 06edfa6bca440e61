import threading

import pytest

from mnemolens.core import turns
from mnemolens.core.turns import Turns


class Clock:
    """Each call of `perf_counter` finds it a millisecond later."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def perf_counter(self) -> float:
        self.now += 0.001
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(turns, "time", made)
    return made


def work(steps: int) -> None:
    given = Turns()
    for _ in range(steps):
        given.give()


def test_a_thread_pauses_every_few_milliseconds(clock):
    thread = threading.Thread(target=work, args=(40,))
    thread.start()
    thread.join()
    assert 5 <= len(clock.pauses) <= 15
    assert all(0 < seconds < 0.001 for seconds in clock.pauses)


def test_the_main_thread_never_does(clock):
    work(40)
    assert clock.pauses == []

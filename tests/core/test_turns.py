import threading
import time

import pytest

from mnemolens.core.turns import Turns


@pytest.fixture
def pauses(monkeypatch):
    taken = []
    monkeypatch.setattr("mnemolens.core.turns.time.sleep", taken.append)
    return taken


def work(milliseconds: int, turns: Turns) -> None:
    for _ in range(milliseconds):
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        turns.give()


def in_a_thread(milliseconds: int) -> None:
    thread = threading.Thread(target=lambda: work(milliseconds, Turns()))
    thread.start()
    thread.join()


def test_a_thread_pauses_every_few_milliseconds(pauses):
    in_a_thread(2)
    assert len(pauses) <= 1  # where the machine held it up in between
    in_a_thread(40)
    assert 5 <= len(pauses) <= 15
    assert all(seconds > 0 for seconds in pauses)


def test_the_main_thread_never_does(pauses):
    work(10, Turns())
    assert pauses == []

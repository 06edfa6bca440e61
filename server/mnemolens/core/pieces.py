"""Long lists, sorted and freed piece by piece: each in one go keeps the interpreter from all other threads.

To sort 40,000 events takes 80 ms, to free them and what they hold as long, and the event loop waits for it.
"""

from collections.abc import Callable, Iterator
from heapq import merge
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

_RUN: Final = 2_000
"""So many are sorted in one go: some 3 ms."""


def taken(values: list[_T]) -> Iterator[_T]:
    """The values in their order; each leaves the list as it is given."""
    values.reverse()
    while values:
        yield values.pop()


def in_order(values: list[_T], key: Callable[[_T], Any]) -> Iterator[_T]:
    """The values as `sorted` gives them; they leave the list."""
    runs = []
    while values:
        runs.append(iter(sorted(values[-_RUN:], key=key)))
        del values[-_RUN:]
    return merge(*reversed(runs), key=key)

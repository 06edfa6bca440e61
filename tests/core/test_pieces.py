"""Long lists, sorted and emptied piece by piece."""

import random
from operator import itemgetter

from mnemolens.core.pieces import in_order, taken


def test_what_is_taken_leaves_the_list():
    values = list("abcd")
    some = taken(values)
    assert next(some) == "a"
    assert sorted(values) == ["b", "c", "d"]
    assert list(some) == ["b", "c", "d"]
    assert values == []


def test_in_order_is_sorted_and_keeps_equal_ones_in_their_order():
    dice = random.Random(7)
    values = [(dice.randrange(50), number) for number in range(9_001)]
    expected = sorted(values)  # by both, which for equal first ones is the order in which they came
    given = list(values)
    assert list(in_order(given, itemgetter(0))) == expected
    assert given == []


def test_nothing():
    assert list(taken([])) == list(in_order([], itemgetter(0))) == []

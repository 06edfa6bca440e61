"""The order that memories are shown in: own before neighbours', rank falling, id."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.memories import VERDICTS
from mnemolens.ranking.order import TRUTH, after_successors, order_key, rank, truth


@pytest.mark.parametrize(
    ("verdict", "factor"),
    [
        ("fresh", 1),
        ("moved", 0.95),
        ("drifted", 0.8),
        ("ambiguous", 0.6),
        ("unanchored", 0.6),
        ("lost", 0.3),
    ],
)
def test_how_far_each_verdict_is_believed(verdict, factor):
    assert TRUTH[verdict] == factor
    assert rank(0.5, 0.8, truth(verdict)) == pytest.approx(0.4 * factor)


def test_an_old_note_that_is_true_beats_a_new_one_that_is_lost():
    assert rank(0.4, 0.8, truth("fresh")) > rank(1.0, 0.8, truth("lost"))


def test_own_first_then_rank_then_id():
    shown = [("own-strong", 0.9, True), ("a", 0.4, True), ("b", 0.4, True), ("neighbour", 0.95, False)]
    mixed = [shown[3], shown[2], shown[0], shown[1]]
    assert sorted(mixed, key=lambda m: order_key(m[0], m[1], own=m[2])) == shown


memories = st.lists(
    st.tuples(
        st.text(max_size=4), st.floats(0, 1), st.floats(0, 1), st.sampled_from(VERDICTS), st.booleans()
    ),
    unique_by=lambda m: m[0],
    max_size=12,
)


@given(memories, st.randoms())
@settings(max_examples=200, deadline=None)
def test_the_order_is_total(cases, random):
    keys = [order_key(i, rank(w, r, truth(v)), own=own) for i, w, r, v, own in cases]
    shuffled = list(keys)
    random.shuffle(shuffled)
    assert sorted(shuffled) == sorted(keys)
    assert all(a < b for a, b in pairwise(sorted(keys)))


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(VERDICTS))
def test_rank_is_bounded_by_each_of_its_parts(weight, relevance, verdict):
    assert 0 <= rank(weight, relevance, truth(verdict)) <= min(weight, relevance, TRUTH[verdict])


def test_a_superseded_memory_is_believed_half_as_far():
    assert truth("fresh", superseded=True) == 0.5
    assert truth("drifted", superseded=True, other_branch=True) == pytest.approx(0.8 * 0.7 * 0.5)


@pytest.mark.parametrize(
    ("ordered", "newer", "expected"),
    [
        ("abc", {}, "abc"),
        ("abc", {"a": "c"}, "bca"),  # c supersedes a
        ("abcd", {"a": "c"}, "bcad"),  # right behind it
        ("abc", {"a": "b", "b": "c"}, "cba"),
        ("abc", {"a": "bc"}, "bca"),
        ("abc", {"a": "x"}, "abc"),  # x is not among them
        ("abc", {"c": "a"}, "abc"),
        ("abcd", {"a": "b", "b": "a", "c": "d"}, "abdc"),  # a and b are a ring
        ("ab", {"a": "a"}, "ab"),
    ],
)
def test_a_memory_stands_behind_those_that_supersede_it(ordered, newer, expected):
    assert "".join(after_successors(ordered, str, lambda one: newer.get(one, ""))) == expected


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True), st.dictionaries(*[st.sampled_from("abcdefgh")] * 2)
)
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_in_any_order(ordered, newer):
    found = after_successors(ordered, str, lambda one: newer.get(one, ""))
    assert sorted(found) == sorted(ordered)
    for older, one in newer.items():
        if older in ordered and one in ordered and not _is_ring(newer, ordered, one, older):
            assert found.index(one) < found.index(older)


def _is_ring(newer, among, start, goal):
    seen = set()
    while start in among and start not in seen and start != goal:
        seen.add(start)
        start = newer.get(start)
    return start == goal

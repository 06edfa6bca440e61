"""Exact search among vectors. Expected cosines are worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.errors import InvalidArgument
from mnemolens.search.vectors import MAX_DIMENSION, VectorIndex, index_of, unit


def index(**vectors) -> VectorIndex:
    made = VectorIndex(len(next(iter(vectors.values()))))
    made.put(vectors.items())
    return made


def test_the_nearest_come_first_with_their_cosine():
    found = index(east=[1, 0], north=[0, 2], between=[3, 3], west=[-1, 0]).nearest([5, 0])
    assert [near.key for near in found] == ["east", "between", "north", "west"]
    assert [near.score for near in found] == pytest.approx([1, math.sqrt(0.5), 0, -1], abs=1e-6)


def test_at_most_top_k_and_equal_ones_by_key():
    found = index(c=[1, 0], a=[2, 0], d=[1, 0], b=[3, 0]).nearest([1, 0], 3)
    assert [near.key for near in found] == ["a", "b", "c"]
    assert index(a=[1, 0]).nearest([1, 0], 0) == ()


def test_a_filter_does_not_cost_places():
    many = VectorIndex(2)
    many.put((f"{n:03}", [1, n / 100]) for n in range(200))
    found = many.nearest([1, 0], 3, lambda key: int(key) % 50 == 49)
    assert [near.key for near in found] == ["049", "099", "149"]


def test_a_vector_is_replaced_and_removed():
    made = index(a=[1, 0], b=[0, 1], c=[1, 1])
    made.put([("a", [0, -1])])
    made.remove("b")
    made.remove("never there")
    assert [near.key for near in made.nearest([0, 1])] == ["c", "a"]
    assert ("b" in made, "a" in made, len(made)) == (False, True, 2)


def test_empty_index_finds_nothing():
    assert VectorIndex(3).nearest([1, 2, 3]) == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, 2, 3], "has 3 numbers, but the vectors here have 2"),
        ([], "not empty"),
        ([0, 0], "all zeros"),
        ([float("nan"), 1], "not finite"),
        ([float("inf"), 1], "not finite"),
        (["one", "two"], "list of numbers"),
        ([[1, 2]], "list of numbers"),
        ({"a": 1}, "list of numbers"),
        (None, "list of numbers"),
        ([10**400, 1], "list of numbers"),
        ([1.0] * (MAX_DIMENSION + 1), "at most"),
    ],
)
def test_what_is_no_vector_is_refused_by_name(values, words):
    made = index(a=[1, 0])
    with pytest.raises(InvalidArgument, match=words) as refused:
        made.nearest(values)
    assert refused.value.field == "queryEmbedding"
    with pytest.raises(InvalidArgument, match=words):
        made.put([("new", [1, 1]), ("bad", values)])
    assert "new" not in made


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_length_does_not_matter(size):
    assert unit([3 * size, 4 * size]).tolist() == pytest.approx([0.6, 0.8])


def test_rows_of_the_store_are_taken_as_they_are():
    made = index_of(["a", "b"], np.array([[1, 0], [0, 1]], dtype=np.float32))
    made.put([("c", [1, 1])])
    assert [near.key for near in made.nearest([1, 0.1])] == ["a", "c", "b"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=30),
    st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any),
    st.integers(1, 12),
)
def test_agrees_with_cosines_computed_one_by_one(vectors, query, top_k):
    made = VectorIndex(3)
    made.put((str(n), vector) for n, vector in enumerate(vectors))

    def cosine(vector):
        length = math.sqrt(sum(x * x for x in vector)) * math.sqrt(sum(x * x for x in query))
        return sum(x * y for x, y in zip(vector, query, strict=True)) / length

    found = made.nearest(query, top_k)
    best = sorted(map(cosine, vectors), reverse=True)[:top_k]
    assert [near.score for near in found] == pytest.approx(best, abs=1e-5)
    assert all(near.score == pytest.approx(cosine(vectors[int(near.key)]), abs=1e-5) for near in found)

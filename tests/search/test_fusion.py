"""Two rankings put together. Expected values are worked out by hand."""

import pytest

from mnemolens.search.fusion import fused


def test_each_ranking_counts_from_its_best():
    found = fused({"a": 4, "b": 2}, {"b": 0.8, "c": 0.4}, 0.5)
    assert found == pytest.approx({"a": 0.5, "b": 0.25 + 0.5, "c": 0.25})


def test_one_ranking_alone():
    assert fused({"a": 4}, {}, 0.6) == pytest.approx({"a": 0.4})
    assert fused({}, {"a": 0.5, "b": 0.25}, 0.6) == pytest.approx({"a": 0.6, "b": 0.3})
    assert fused({}, {}) == {}


def test_what_points_away_is_no_use():
    assert fused({}, {"a": -0.5}, 0.5) == {"a": 0.0}


def test_words_that_cover_little_of_a_question_count_for_less():
    # The best find is worth 7 of 40, half of the share from which it counts in full.
    found = fused({"a": 7.0, "b": 3.5}, {"b": 0.5}, 0.5, whole=40)
    assert found == pytest.approx({"a": 0.25, "b": 0.125 + 0.5})
    assert fused({"a": 20.0}, {}, 0.5, whole=40) == pytest.approx({"a": 0.5})

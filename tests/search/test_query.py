"""The language of queries."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.search.query import Filters, read_day, read_query
from mnemolens.search.words import stem


def test_filters_phrases_and_words():
    query = read_query('retry type:procedural tag:"two words" "double charge" file:pay.py verdict:drifted')
    assert query.words == ("retry", "double", "charge")
    assert query.phrases == ("double charge",)
    assert query.filters == Filters(
        types=frozenset({"procedural"}),
        tags=frozenset({"two words"}),
        files=frozenset({"pay.py"}),
        verdicts=frozenset({"drifted"}),
    )


def test_a_filter_by_the_beginning_of_its_value_and_layers_as_people_write_them():
    assert read_query("type:proc").filters.types == {"procedural"}
    assert read_query("layer:long-term").filters.layers == {"long_term"}


def test_times():
    filters = read_query("after:2026-02 before:2026-03-15 x").filters
    assert (filters.after, filters.before) == (
        datetime(2026, 2, 1, tzinfo=UTC),
        datetime(2026, 3, 15, tzinfo=UTC),
    )
    assert read_day("2026-03-01T12:30:00+02:00") == datetime(2026, 3, 1, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("type:nonsense", ("type", "nonsense")),
        ("after:yesterday", ("yesterday",)),
        ("http://example.org", ("http", "example", "org")),
        ("std::vector", ("std", "vector")),
        ("a* NEAR(b, 3) OR ^c", ("near", "b", "3", "c")),
        ('unclosed "quote', ("unclosed", "quote")),
        ('"', ()),
        ('""', ()),
        ("*", ()),
        ("-x:", ("x",)),
    ],
)
def test_all_else_is_text(text, words):
    query = read_query(text)
    assert query.words == words
    assert not query.filters
    assert query.phrases == ()


@pytest.mark.parametrize("text", ["", "   ", "\x00", "?!"])
def test_an_empty_query_asks_for_nothing(text):
    assert not read_query(text)


def test_a_filter_alone_is_a_query():
    assert read_query("tag:payments")
    assert read_query("tag:payments").words == ()


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet=st.sampled_from('abtype:tag"*()^- \n支付🔥\x00'), max_size=40))
def test_no_query_is_wrong(text):
    query = read_query(text)
    wanted, numbers = query.wanted(as_typed=True)
    assert len(wanted) == len(numbers)
    assert all(one.term for one in wanted)


def test_of_an_endless_query_the_beginning_counts():
    assert len(read_query("word" * 10 + " x1" * 1_000_000).words) <= 64


@pytest.mark.parametrize(
    ("text", "needed", "helps"),
    [
        ("\u652f\u4ed8\u670d\u52a1", ["\u652f\u4ed8", "\u670d\u52a1"], ["\u4ed8\u670d"]),
        ("\u91cd\u590d\u6263", ["\u91cd\u590d", "\u590d\u6263"], []),
        ("\u30ad\u30e3\u30c3\u30b7", ["\u30ad\u30e3", "\u30e3\u30c3", "\u30c3\u30b7"], []),
        ("\uac00", ["\uac00"], []),
        ("\u30ac", ["\u30ac"], []),
    ],
)
def test_which_pairs_of_a_script_without_spaces_are_needed(text, needed, helps):
    wanted, _ = read_query(text).wanted()
    assert [one.term for one in wanted if one.needed] == needed
    assert [one.term for one in wanted if not one.needed] == helps
    if len(text) == 1:  # also as the first of a pair
        assert wanted[0].beginning == text


def test_a_word_is_asked_for_with_what_is_used_in_its_place():
    wanted, _ = read_query("erase quarkonium").wanted()
    assert stem("delete") in wanted[0].synonyms
    assert wanted[1].synonyms == ()

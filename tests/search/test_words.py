"""What search takes for a word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.search.words import MAX_TERM, joined, spots, stem, terms_of, words_of_query


@pytest.mark.parametrize(
    "forms",
    [
        "retry retries retried retrying",
        "charge charges charged charging",
        "commit commits committed committing",
        "resolve resolver resolves",
        "path paths",
        "class classes",
        "box boxes",
        "connect connection connections",
        "Größe grösse GRÖSSE",
        "café cafe CAFÉ",
    ],
)
def test_forms_of_a_word_are_one(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["charge change", "user use", "post past", "status stat", "process proc"])
def test_other_words_stay_apart(pair):
    one, other = pair.split()
    assert stem(one) != stem(other)


def test_a_name_is_its_parts_and_itself():
    assert set(terms_of("retryPayment()")) == {stem("retry"), stem("payment"), "retrypayment"}
    assert joined("retry_payment") == joined("retryPayment") == joined("RETRY_PAYMENT") == "retrypayment"


def test_scripts_beside_each_other_do_not_run_together():
    assert terms_of("函数resolve会") == ["函数", "数", stem("resolve"), "会"]


def test_scripts_without_spaces_are_pairs():
    assert terms_of("支付服务") == ["支付", "付服", "服务", "务"]
    assert terms_of("ไทย") == ["ไท", "ทย", "ย"]


def test_an_emoji_is_a_word():
    assert terms_of("🔥") == ["🔥"]


def test_a_line_of_base64_is_cut():
    assert max(map(len, terms_of("Qk0" * 5_000 + "a" * 5_000))) <= MAX_TERM


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("How does retryPayment work?", ("retry", "payment", "work")),
        ("HTTP_client http", ("http", "client")),
        ("the", ("the",)),
        ("", ()),
        ("?!", ()),
        ("Größe ändern", ("größe", "ändern")),
    ],
)
def test_words_of_a_query(query, words):
    assert words_of_query(query) == words


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_where_terms_stand_agrees_with_which_there_are(text):
    found = list(spots(text, set(terms_of(text))))
    assert sorted(spot.term for spot in found) == sorted(terms_of(text))
    assert all(0 <= spot.start < spot.end <= len(text) for spot in found)

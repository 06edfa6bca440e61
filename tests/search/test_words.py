"""What search takes for a word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.search.words import MAX_TERM, folded, joined, spots, stem, terms_of, words_of_query


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("M\u00fcller", "Mu\u0308ller"),  # composed, and as a Mac writes it
        ("caf\u00e9", "cafe\u0301"),
        ("\u00c9cole", "E\u0301cole"),
        ("\u30c6\u30b9\u30c8", "\uff83\uff7d\uff84"),  # wide and narrow katakana
        ("\u30ac\u30b9", "\u30ab\u3099\u30b9"),
        ("\uac00\uaca9", "\u1100\u1161\u1100\u1167\u11a8"),  # hangul
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd"),  # with and without points
        ("\u0645\u062d\u0645\u062f", "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f"),
    ],
)
def test_a_word_is_the_same_however_its_letters_are_written(one, other):
    assert terms_of(one) == terms_of(other)
    assert terms_of(one)


def test_a_terminals_colours_are_part_of_no_word():
    text = "\x1b[31mred\x1b[0m"
    assert terms_of(text) == ["red"]
    assert [(spot.start, spot.end) for spot in spots(text, {"red"})] == [(5, 8)]


def test_vowel_signs_are_part_of_a_word():
    assert terms_of("\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902") == [
        folded("\u0939\u093f\u0928\u094d\u0926\u0940"),
        folded("\u092e\u0947\u0902"),
    ]


def test_accents_alone_are_no_word():
    assert terms_of("\u0301 _\u0301 1\u0301\u0302") == ["1"]


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
@given(
    st.text(max_size=60)
    | st.text(
        alphabet="aE1_\u0301\u0308\u05c1\u05e9\u1100\u1161\uff83\uff9e\u30ab\u3099\u0939\u093f \u0e33\u0e01"
    )
)
def test_where_terms_stand_agrees_with_which_there_are(text):
    found = list(spots(text, set(terms_of(text))))
    assert sorted(spot.term for spot in found) == sorted(terms_of(text))
    assert all(0 <= spot.start < spot.end <= len(text) for spot in found)

"""Which words stand for one another."""

import pytest

from mnemolens.search.synonyms import synonyms
from mnemolens.search.words import stem


@pytest.mark.parametrize(
    "pair",
    ["delete erase", "folder directory", "sends transmitted", "kill stop", "raise throw", "start boot"],
)
def test_words_used_for_one_another(pair):
    one, other = map(stem, pair.split())
    assert other in synonyms(one)
    assert one in synonyms(other)


def test_no_word_stands_for_itself_or_for_what_shares_a_group_with_a_group_of_it():
    assert stem("stop") not in synonyms(stem("stop"))
    assert stem("shut") in synonyms(stem("end"))  # `close shut end`
    assert stem("shut") not in synonyms(stem("halt"))


def test_other_words_have_none():
    assert synonyms(stem("idempotent")) == ()

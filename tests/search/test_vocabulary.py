"""The known words by how they begin."""

import pytest

from mnemolens.search.vocabulary import Vocabulary

WORDS = ["redo", "red", "reach", "re", "r", "read", "recall", "bar", "zoë", ""]


@pytest.mark.parametrize("letters", ["", "r", "re", "red", "redo", "redone", "b", "x"])
def test_those_that_begin_so_in_order(letters):
    known = Vocabulary()
    for word in WORDS[:5]:
        known.add(word)
    known.beginning_with(letters)
    for word in WORDS[5:]:
        known.add(word)
    assert known.beginning_with(letters) == sorted(word for word in WORDS if word.startswith(letters))

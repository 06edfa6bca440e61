"""Long texts in pieces, and what was read of them remembered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core import long_texts
from mnemolens.core.long_texts import LONG, pieces, remembered
from mnemolens.core.memory_text import count_tokens


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=" \n\r\tabA9_.é変😀", max_size=60))
def test_pieces_are_the_text_in_whole_lines(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "PIECE", 5)
        found = list(pieces(text))
    assert "".join(found) == text
    assert all(piece for piece in found)
    assert all(piece.endswith("\n") for piece in found[:-1])
    assert not any(piece.startswith("\n") for piece in found[1:])


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=" \n\r\tabA9_.é変😀", max_size=60))
def test_tokens_are_counted_alike_in_pieces(text):
    whole = count_tokens(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_texts, "PIECE", 5)
        assert count_tokens(text) == whole


def test_only_a_long_text_is_remembered_and_only_the_last_few():
    read = []

    @remembered
    def length(text):
        read.append(text[0])
        return len(text)

    assert [length("a" * LONG), length("a" * LONG)] == [LONG, LONG]
    assert read == ["a", "a"]
    read.clear()
    long = [letter * (LONG + 1) for letter in "bcdefghij"]
    assert [length(text) for text in (long[0], long[0])] == [LONG + 1] * 2
    assert read == ["b"]
    for text in long:
        length(text)
    read.clear()
    length(long[0])
    assert read == ["b"]

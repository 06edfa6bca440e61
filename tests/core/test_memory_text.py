"""Token estimates: the documented heuristic, and what any estimate must keep."""

import math
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.memory_text import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   ", 0),
        ("word", 1),
        ("two words", 2),
        ("idempotent", 2),
        ("load_config()", 2 + 1 + 2),
        ("2026", 2),
        ("记忆管理", 4),
        ("使用 JWT 认证", 5),
        ("한국어", 3),
        ("память", 3),
        ("a\n\n\nb", 3),
        ("👍", 2),
        ("a" + "\n" * 33, 4),
        (" " * 1_600, 100),
    ],
)
def test_by_hand(text, tokens):
    assert count_tokens(text) == tokens


def test_english_is_about_four_characters_a_token():
    text = (
        "The payment provider double-charges when a request is retried, so every retry must stay idempotent. "
    )
    assert 3.5 < len(text * 20) / count_tokens(text * 20) < 6


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_more_text_never_costs_less_and_joining_at_a_line_costs_no_more_than_one(first, second):
    together = count_tokens(first + "\n" + second)
    assert together >= max(count_tokens(first), count_tokens(second))
    assert together <= count_tokens(first) + count_tokens(second) + 1


def the_rule(character):
    """What kind of run a character belongs to, as the module's text has it."""
    code = ord(character)
    if character.isspace():
        return "space"
    if character.isascii():
        return "latin" if character.isalpha() else "digit" if character.isdigit() else "mark"
    if 0xC0 <= code <= 0x24F:
        return "latin"
    if 0x2E80 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7AF:
        return "one"
    return "letters" if character.isalpha() else "other"


@given(
    st.text(
        alphabet="abcdefgé12345_-(. \n\t\u043f\u0430\u043c\u8bb0\u5fc6\ud55c\U0001f44d\u20ac", max_size=40
    )
)
@settings(max_examples=300, deadline=None)
def test_every_run_costs_what_the_rule_says(text):
    cost = 0
    for rule, characters in groupby(text, the_rule):
        run = "".join(characters)
        per_token = {"latin": 6, "digit": 3, "mark": 1, "one": 1, "letters": 2, "other": 0.5}
        if rule == "space":
            cost += run.startswith("\n") + (len(run) - run.startswith("\n")) // 16
        else:
            cost += math.ceil(len(run) / per_token[rule])
    assert count_tokens(text) == cost

from datetime import UTC, datetime

import pytest

from mnemolens.core.memories import Memory
from mnemolens.engine.capture import first_line, title_of
from mnemolens.engine.show import EXCERPT, excerpt

LONG = "the provider double-charges when the key changes between two attempts of one call"


@pytest.mark.parametrize(
    ("content", "title", "rest"),
    [
        ("Retry must stay idempotent", "Retry must stay idempotent", ""),
        ("Retry must stay idempotent.", "Retry must stay idempotent.", ""),
        ("# Retry twice\n\nand no more", "Retry twice", "and no more"),
        (f"Retry must stay idempotent: {LONG}", "Retry must stay idempotent", LONG),
        (f"Retry must stay idempotent. {LONG}\nmore", "Retry must stay idempotent", f"{LONG}\nmore"),
        (
            f"In every case {LONG}",
            "In every case the provider double-charges when the key changes between two…",
            "attempts of one call",
        ),
        ("See: nothing " + "x" * 90, "See: nothing…", "x" * 90),
        ("**Retry** must stay", "**Retry** must stay", ""),
        ("1. Retry\n2. Give up", "Retry", "2. Give up"),
        ("\n---\n- first point\n- second", "first point", None),
    ],
)
def test_title_and_excerpt_say_everything_once(content, title, rest):
    assert title_of(content) == title
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    memory = Memory("m", "semantic", title, content, moment, moment)
    if rest is not None:
        assert excerpt(memory) == rest


def test_a_title_of_its_own_leaves_the_content_whole():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert excerpt(Memory("m", "semantic", "Payments", LONG, moment, moment)) == LONG


def test_an_excerpt_is_bounded():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    shown = excerpt(Memory("m", "semantic", "Payments", "word " * 1000, moment, moment))
    assert len(shown) <= EXCERPT + 2
    assert shown.endswith(" …")


def test_an_excerpt_looks_at_the_beginning_alone(monkeypatch):
    looked_at = []

    def watched(text):
        looked_at.append(len(text))
        return first_line(text)

    monkeypatch.setattr("mnemolens.engine.show.first_line", watched)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    shown = excerpt(Memory("m", "semantic", "Payments", "word " * 200_000, moment, moment))
    assert max(looked_at) < 10_000
    assert shown.startswith("word word")
    assert shown.endswith("word …")

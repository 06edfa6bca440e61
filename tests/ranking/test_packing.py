"""Packing into a budget: the seed's own lists, and what must hold for any memories."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.ranking.packing import LAYERS, Item, Shares, pack, pack_strictly

GOLDEN = json.loads((Path(__file__).parent.parent / "data/ranking/golden_seed2.json").read_text("utf-8"))
MEMORIES = [Item(one["id"], one["weight"], one["layer"], one["token_count"]) for one in GOLDEN["memories"]]


def keys(items):
    return [item.key for item in items]


@pytest.mark.parametrize("budget", GOLDEN["retrieve"])
def test_the_seeds_packing(budget):
    assert keys(pack_strictly(MEMORIES, int(budget))) == GOLDEN["retrieve"][budget]["ids"]


@pytest.mark.parametrize("budget", GOLDEN["retrieve"])
def test_what_passing_over_and_carrying_over_gain(budget):
    found = pack(MEMORIES, int(budget))
    expected = GOLDEN["retrieve"][budget]["continue_with_carryover_variant"]
    assert {"n": len(found), "tokens": sum(item.tokens for item in found)} == expected


def test_a_huge_memory_blocks_nobody():
    items = [
        Item("huge", 1.0, "core", 10_000),
        Item("small", 0.9, "core", 10),
        Item("note", 0.6, "active", 10),
    ]
    assert keys(pack(items, 100)) == ["small", "note"]
    assert keys(pack_strictly(items, 100)) == ["note"]


def test_a_single_memory_may_have_the_whole_budget():
    items = [Item("only", 1.0, "core", 50)]
    assert keys(pack(items, 100)) == ["only"]
    assert keys(pack(items, 49)) == []
    assert keys(pack_strictly(items, 100)) == []  # core's share is 40


def test_what_a_layer_leaves_goes_to_the_next():
    items = [Item("a", 0.6, "active", 60), Item("b", 0.3, "long_term", 20), Item("c", 0.25, "long_term", 20)]
    assert keys(pack(items, 100)) == ["a", "b", "c"]  # active: 40 + 35, then 15 + 20, then the rest
    assert keys(pack_strictly(items, 100)) == ["b"]


def test_equal_weights_are_ordered_by_key():
    items = [Item(key, 0.5, "active", 1) for key in "bca"]
    assert keys(pack(items, 10)) == ["a", "b", "c"]


def test_shares_come_from_the_settings():
    budget = {"core_ratio": 0.1, "active_ratio": 0.2, "long_term_ratio": 0.3, "archive_ratio": 0.4}
    settings_, notices = resolve_settings(SettingsSources(editor={"memory": {"budget": budget}}))
    assert notices == ()
    assert Shares.from_settings(settings_).of(99) == {"core": 9, "active": 19, "long_term": 29, "archive": 39}


packed = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(LAYERS), st.integers(0, 60)), max_size=20)


@given(packed, st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_nothing_that_still_fits_is_left_out(rows, budget):
    items = [Item(f"m{at:02}", *row) for at, row in enumerate(rows)]
    taken = pack(items, budget)
    left = budget - sum(item.tokens for item in taken)
    assert left >= 0
    assert all(item.tokens > left for item in items if item not in taken)
    strictly = pack_strictly(items, budget)
    assert sum(item.tokens for item in strictly) <= budget

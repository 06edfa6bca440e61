"""The decay weight: the seed's own figures, and what must hold for any memory."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.memories import MEMORY_KINDS, Memory
from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.ranking.decay import DecayParams, decayed, layer_of, type_factor, weight

GOLDEN = json.loads((Path(__file__).parent.parent / "data/ranking/golden_seed2.json").read_text("utf-8"))
LARGE = DecayParams(rate=0.0002, core_min=0.85, active_min=0.6, long_term_min=0.3)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    type: str = "semantic"
    importance: float = 0.5
    created_at: datetime = NOW
    accessed_at: datetime = NOW
    access_count: int = 0
    status: str = "active"


@pytest.mark.parametrize(
    ("name", "params"),
    [("default", DecayParams()), ("large_codebase_config", LARGE), ("memories", DecayParams())],
)
def test_the_seeds_weights_and_layers(name, params):
    for case in GOLDEN[name]:
        got = decayed(
            case["base_importance"],
            case["age_hours"],
            case["hours_since_access"],
            case["access_count"],
            params,
        )
        assert got == pytest.approx(case["weight"], abs=1e-12)
        assert layer_of(got, params) == case["layer"]


def test_weight_by_hand():
    # semantic, 1000 h old, accessed 200 h ago, 9 times: .5 * (e^-0.1 + .5 * log(10)/log(100) + 0)
    facts = Facts(
        created_at=NOW - timedelta(hours=1000), accessed_at=NOW - timedelta(hours=200), access_count=9
    )
    assert weight(facts, NOW) == pytest.approx(0.5 * (0.9048374180359595 + 0.25))


def test_a_journaled_memory_has_the_facts():
    memory = Memory("m", "semantic", "t", "c", created_at=NOW, accessed_at=NOW, importance=0.5)
    assert weight(memory, NOW) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("kind", "status", "factor"),
    [
        ("working", "active", 300),
        ("episodic", "active", 10),
        ("semantic", "active", 1),
        ("procedural", "active", 1),
        ("prospective", "active", 0),
        ("prospective", "done", 10),
        ("semantic", "done", 1),
    ],
)
def test_how_fast_each_type_fades(kind, status, factor):
    assert type_factor(kind, status) == factor
    facts = Facts(
        type=kind,
        status=status,
        created_at=NOW - timedelta(hours=200),
        accessed_at=NOW - timedelta(hours=200),
    )
    assert weight(facts, NOW) == pytest.approx(0.5 * 2.718281828459045 ** (-0.0001 * factor * 200))


def test_a_prospective_memory_does_not_fade_until_it_is_done():
    old = NOW - timedelta(days=3650)
    waiting = Facts(type="prospective", created_at=old, accessed_at=old)
    assert weight(waiting, NOW) == pytest.approx(0.5)


def test_a_threshold_belongs_to_the_layer_above():
    assert [layer_of(w) for w in (1, 0.8, 0.7999, 0.5, 0.4999, 0.2, 0.1999, 0)] == [
        "core",
        "core",
        "active",
        "active",
        "long_term",
        "long_term",
        "archive",
        "archive",
    ]


def test_a_clock_that_went_back_counts_as_now():
    future = Facts(created_at=NOW + timedelta(days=4000), accessed_at=NOW + timedelta(days=4000))
    assert weight(future, NOW) == weight(Facts(), NOW)


def test_a_naive_time_is_local_time():
    local = NOW.astimezone().replace(tzinfo=None)
    old = Facts(created_at=NOW - timedelta(days=90), accessed_at=NOW)
    naive = Facts(created_at=local - timedelta(days=90), accessed_at=local)
    assert weight(naive, NOW) == pytest.approx(weight(old, NOW), abs=0.0002)  # a DST change is an hour


def test_the_ends_of_time():
    first = datetime.min.replace(tzinfo=UTC)
    assert weight(Facts(created_at=first, accessed_at=first, type="working"), NOW) == 0.0
    last = datetime.max.replace(tzinfo=UTC)
    assert weight(Facts(created_at=last, accessed_at=last), NOW) == pytest.approx(0.6)


@pytest.mark.parametrize("count", [-1, -(10**6)])
def test_a_negative_count_is_none(count):
    assert weight(Facts(access_count=count), NOW) == weight(Facts(), NOW)


def test_a_huge_count_gives_the_whole_boost_and_no_more():
    old = NOW - timedelta(hours=1000)
    huge = Facts(access_count=10**400, created_at=old, accessed_at=old)
    assert weight(huge, NOW) == pytest.approx(0.5 * (0.9048374180359595 + 0.5))


hours = st.floats(-1e7, 1e9)
facts = st.tuples(st.floats(0, 1), hours, hours, st.integers(-10, 10**30))


@given(facts, st.sampled_from(MEMORY_KINDS), st.floats(0, 10))
@settings(max_examples=300, deadline=None)
def test_weight_is_always_0_to_1(case, kind, rate):
    importance, age, since, count = case
    assert 0 <= decayed(importance, age, since, count, DecayParams(rate=rate), type_factor(kind)) <= 1


@given(facts, st.floats(0, 1e6), st.sampled_from(MEMORY_KINDS))
@settings(max_examples=300, deadline=None)
def test_an_older_memory_never_weighs_more(case, later, kind):
    importance, age, since, count = case
    params, factor = DecayParams(), type_factor(kind)
    now = decayed(importance, age, since, count, params, factor)
    assert decayed(importance, age + later, since + later, count, params, factor) <= now


@given(facts, st.integers(0, 1000), st.floats(0, 1e6))
@settings(max_examples=300, deadline=None)
def test_use_never_makes_lighter(case, more, sooner):
    importance, age, since, count = case
    params = DecayParams()
    before = decayed(importance, age, since, count, params)
    assert decayed(importance, age, since - sooner, count + more, params) >= before


def test_parameters_come_from_the_settings():
    values = {
        "memory": {
            "decay": {"rate": 0.5},
            "layers": {"core_min": 0.9, "active_min": 0.7, "long_term_min": 0.1},
            "reinforcement": {"access_boost_max": 0.1, "recency_window": 2, "recency_bonus": 0.3},
        }
    }
    settings_, notices = resolve_settings(SettingsSources(editor=values))
    assert notices == ()
    assert DecayParams.from_settings(settings_) == DecayParams(0.5, 0.1, 2, 0.3, 0.9, 0.7, 0.1)
    assert DecayParams.from_settings(resolve_settings(SettingsSources())[0]) == DecayParams()

"""`TimeDecayMemoryManager` and `HierarchicalRetriever`: the documented examples, golden values, bad input."""

import json
import math
import threading
import time
from pathlib import Path

import pytest

from mnemolens import HierarchicalRetriever, InvalidArgument, MemoryLayer, MemoryTrace, TimeDecayMemoryManager

DATA = Path(__file__).parent.parent / "data"
GOLDEN = json.loads((DATA / "ranking/golden_seed2.json").read_text("utf-8"))
NOW = GOLDEN["now"]
LARGE = {
    "decay_rate": 0.0002,
    "layer_thresholds": {"core_min": 0.85, "active_min": 0.6, "long_term_min": 0.3},
}
NOT_A_NUMBER, INFINITE = math.nan, math.inf


def trace(number=0, **fields):
    given = {"created_at": NOW, "last_accessed": NOW, "token_count": 10, **fields}
    return MemoryTrace(**{"id": f"m{number}", "content": f"memory {number}", **given})


def aged(case, **fields):
    """A golden memory as it is at `NOW`."""
    return MemoryTrace(
        id=case.get("id", "m"),
        content="",
        created_at=NOW - case["age_hours"] * 3600,
        last_accessed=NOW - case["hours_since_access"] * 3600,
        access_count=case["access_count"],
        base_importance=case["base_importance"],
        token_count=case.get("token_count", 0),
        **fields,
    )


def manager_of(*memories, config=None):
    manager = TimeDecayMemoryManager(config, clock=lambda: NOW)
    for memory in memories:
        manager.add_memory(memory)
    return manager


@pytest.fixture(scope="module")
def two_hundred():
    return manager_of(*map(aged, GOLDEN["memories"]))


# What the seed prints ---------------------------------------------------------------------------------------


def test_the_printed_example():
    manager = TimeDecayMemoryManager(config={"decay_rate": 0.0001, "recency_window": 168})

    memory = MemoryTrace(
        id="mem_001",
        content="项目使用 JWT 进行认证，token 有效期 24 小时",
        base_importance=0.9,
        token_count=50,
        metadata={"type": "design_decision", "module": "auth"},
    )
    assert manager.add_memory(memory) == "mem_001"

    manager.access_memory("mem_001")
    retrieved = manager.retrieve(token_budget=50000)
    weights = manager.update_all_weights()

    assert retrieved == [memory]
    assert memory.access_count == 1
    assert weights == {"mem_001": 1.0}  # .9 * (1 + .5 * log(2)/log(100) + .2) = 1.15 is clamped
    assert manager.get_layer(weights["mem_001"]) is MemoryLayer.CORE


@pytest.mark.parametrize(("name", "config"), [("default", None), ("large_codebase_config", LARGE)])
def test_the_golden_weights(name, config):
    manager = TimeDecayMemoryManager(config)
    for case in GOLDEN[name]:
        weight = manager.calculate_weight(aged(case), now=NOW)
        assert weight == pytest.approx(case["weight"], abs=1e-9)
        assert manager.get_layer(case["weight"]).value == case["layer"]


def test_the_golden_memories(two_hundred):
    weights = two_hundred.update_all_weights()
    assert weights == pytest.approx({one["id"]: one["weight"] for one in GOLDEN["memories"]}, abs=1e-9)
    layers = {}
    for memory in two_hundred.memories.values():
        count = layers.setdefault(two_hundred.get_layer(weights[memory.id]).value, [0, 0])
        count[0] += 1
        count[1] += memory.token_count
    assert layers == GOLDEN["layer_counts"]
    assert sum(weight == 1.0 for weight in weights.values()) == 27
    assert GOLDEN["defect_probes"]["weights_saturated_at_1.0_of_200"] == 27


@pytest.mark.parametrize("budget", [int(budget) for budget in GOLDEN["retrieve"]])
def test_the_golden_retrieval(two_hundred, budget):
    golden = GOLDEN["retrieve"][str(budget)]
    assert [one.id for one in two_hundred.retrieve(budget, strict_layers=True)] == golden["ids"]
    retriever = HierarchicalRetriever(two_hundred)
    for embedding, ids in ((None, golden["ids"]), ([0.1] * 8, golden["reranked_ids"])):
        found, stats = retriever.retrieve_with_context("jwt auth", embedding, budget, strict_layers=True)
        assert [one.id for one in found] == ids
        assert stats.pop("retrieval_time_ms") >= 0
        assert stats == golden["stats"]


@pytest.mark.parametrize("budget", [int(budget) for budget in GOLDEN["retrieve"]])
def test_what_does_not_fit_is_passed_over(two_hundred, budget):
    found = two_hundred.retrieve(budget)
    expected = GOLDEN["retrieve"][str(budget)]["continue_with_carryover_variant"]
    assert {"n": len(found), "tokens": sum(one.token_count for one in found)} == expected


@pytest.mark.parametrize(
    ("name", "rate", "core_min"), [("memory_config", 0.0001, 0.8), ("large_codebase_config", 0.0002, 0.85)]
)
def test_the_printed_configurations_load_unchanged(name, rate, core_min):
    manager = TimeDecayMemoryManager.from_file(DATA / f"settings/{name}.yaml")
    assert manager.config["decay_rate"] == rate
    assert manager.config["layer_thresholds"]["core_min"] == core_min
    assert manager.config["budget_ratios"] == {
        "core": 0.4,
        "active": 0.35,
        "long_term": 0.2,
        "archive": 0.05,
    }
    assert manager.config["min_weight"] == manager.config["cleanup_threshold"] == 0.01


def test_the_preset_is_the_printed_configuration():
    loaded = TimeDecayMemoryManager.from_file(DATA / "settings/large_codebase_config.yaml")
    assert TimeDecayMemoryManager({"preset": "large_codebase"}).config == loaded.config
    assert TimeDecayMemoryManager(LARGE).config == loaded.config
    assert TimeDecayMemoryManager({"preset": "large_codebase", "decay_rate": 1}).config["decay_rate"] == 1


# What the probes of its defects show ------------------------------------------------------------------------


def test_thresholds_may_be_given_in_part():
    assert GOLDEN["defect_probes"]["partial_threshold_config"] == "KeyError 'active_min'"
    manager = TimeDecayMemoryManager({"layer_thresholds": {"core_min": 0.9}})
    assert [manager.get_layer(weight).value for weight in (0.9, 0.89, 0.5, 0.2, 0.1)] == [
        "core",
        "active",
        "active",
        "long_term",
        "archive",
    ]


def test_a_negative_count_counts_as_none():
    assert GOLDEN["defect_probes"]["access_count=-1"] == "ValueError('math domain error')"
    manager = TimeDecayMemoryManager()
    assert manager.calculate_weight(trace(access_count=-1, base_importance=0.5), now=NOW) == 0.6


def test_a_time_ahead_counts_as_now():
    assert "OverflowError" in GOLDEN["defect_probes"]["future_created_at(-1e7h)"]
    manager = TimeDecayMemoryManager()
    ahead = NOW + 1e7 * 3600
    coming = trace(created_at=ahead, last_accessed=ahead, base_importance=0.5)
    assert manager.calculate_weight(coming, now=NOW) == 0.6
    assert coming.age_hours(NOW) == coming.hours_since_access(NOW) == 0.0


def test_a_huge_memory_does_not_block_its_layer():
    assert GOLDEN["defect_probes"]["huge_single_core_memory_blocks_layer"] == []
    manager = manager_of(trace(1, token_count=100_000), trace(2, token_count=10))
    assert [one.id for one in manager.retrieve(1000)] == ["m2"]
    assert manager.retrieve(1000, strict_layers=True) == []


def test_a_budget_that_nobody_else_wants_is_used():
    assert GOLDEN["defect_probes"]["one_50_token_core_memory_budget_100"] == []
    manager = manager_of(trace(1, token_count=50))
    assert [one.id for one in manager.retrieve(100)] == ["m1"]
    assert manager.retrieve(100, strict_layers=True) == []
    assert manager.retrieve(49) == []


def test_when_an_unused_memory_sinks():
    """Its half-life, and the hours until it is in the archive, and until its removal is offered."""
    probes, manager = GOLDEN["defect_probes"], manager_of()
    assert manager.calculate_weight(
        aged({**_UNUSED, "age_hours": probes["half_life_hours_for_rate_0.0001"]}), NOW
    ) == pytest.approx(0.5)
    for hours, layer, offered in (
        (probes["hours_until_B=1_weight<0.2_no_access"] - 1, "long_term", False),
        (probes["hours_until_B=1_weight<0.2_no_access"] + 1, "archive", False),
        (probes["hours_until_B=1_weight<0.01_no_access"] - 1, "archive", False),
        (probes["hours_until_B=1_weight<0.01_no_access"] + 1, "archive", True),
    ):
        memory = aged({**_UNUSED, "age_hours": hours})
        manager.add_memory(memory)
        assert manager.get_layer(manager.calculate_weight(memory)).value == layer
        assert manager.cleanup_candidates() == ([memory] if offered else [])
        assert manager.retrieve() == ([] if offered else [memory])  # min_weight is as high
        assert manager.retrieve(strict_layers=True) == [memory]


_UNUSED = {"base_importance": 1.0, "hours_since_access": 1e6, "access_count": 0, "token_count": 1}


def test_rates_and_half_lives_of_the_printed_files_differ_41_fold(tmp_path):
    probes = GOLDEN["defect_probes"]
    file = tmp_path / "memory.yaml"
    for hours in (168, 84):
        file.write_text(f"memory: {{decay: {{half_life: {hours}}}}}")
        rate = TimeDecayMemoryManager.from_file(file).config["decay_rate"]
        assert rate == pytest.approx(probes[f"rate_for_half_life_{hours}h"])
    assert probes["rate_for_half_life_168h"] / 0.0001 == pytest.approx(41, abs=0.5)


# The rest ---------------------------------------------------------------------------------------------------


def test_the_clock_is_read_once_a_call():
    readings = []

    def clock():
        readings.append(NOW)
        return NOW

    manager = TimeDecayMemoryManager(clock=clock)
    for number in range(20):
        manager.add_memory(trace(number))
    for call in (
        manager.retrieve,
        manager.update_all_weights,
        manager.cleanup_candidates,
        lambda: manager.access_memory("m3"),
        lambda: HierarchicalRetriever(manager).retrieve_with_context("memory"),
    ):
        readings.clear()
        call()
        assert len(readings) == 1
    readings.clear()
    manager.retrieve(now=NOW + 1)
    assert readings == []


def test_the_clock_of_a_trace_is_the_systems():
    memory = MemoryTrace(id="m", content="")
    assert memory.created_at == pytest.approx(time.time(), abs=60)
    assert 0 <= memory.age_hours() < 0.1
    assert trace(created_at=NOW - 7200).age_hours(NOW) == 2.0


def test_every_access_counts():
    manager = manager_of(trace(1, last_accessed=NOW - 99))
    assert manager.access_memory("m1").access_count == 1
    assert manager.access_memory("m1", now=NOW + 5).access_count == 2
    assert manager.memories["m1"].last_accessed == NOW + 5
    assert manager.access_memory("nobody") is None


def test_the_preview_is_the_first_100_characters():
    assert trace(content="记忆" * 80).content_preview == "记忆" * 50


@pytest.mark.parametrize(
    ("kind", "done", "factor"),
    [
        ("working", False, 300),
        ("episodic", False, 10),
        ("procedural", False, 1),
        (None, False, 1),
        ("prospective", False, 0),
        ("prospective", True, 10),
    ],
)
def test_types_fade_at_their_own_pace(kind, done, factor):
    memory = aged({**_UNUSED, "base_importance": 0.5, "age_hours": 100}, memory_type=kind, done=done)
    assert manager_of().calculate_weight(memory) == pytest.approx(0.5 * math.exp(-0.0001 * factor * 100))


def test_ratios_decide_what_a_layer_gets():
    config = {"budget_ratios": {"core": 0, "active": 0, "long_term": 0, "archive": 1}}
    forgotten = trace(2, base_importance=0.1)
    manager = manager_of(trace(1), forgotten, config=config)
    assert manager.retrieve(10, strict_layers=True) == [forgotten]


def test_a_query_moves_what_suits_it_to_the_front():
    auth = trace(1, content="JWT tokens are checked by auth", base_importance=0.3)
    other = trace(2, content="The build needs Node 20", base_importance=0.9)
    retriever = HierarchicalRetriever(manager_of(auth, other))
    assert [one.id for one in retriever.retrieve_with_context("")[0]] == ["m2", "m1"]
    assert [one.id for one in retriever.retrieve_with_context("jwt auth")[0]] == ["m1", "m2"]
    assert [one.id for one in retriever.retrieve_with_context("node")[0]] == ["m2", "m1"]


def test_embeddings_are_compared_where_both_are_there():
    near = trace(1, embedding=[0.9, 0.1], base_importance=0.3)
    far = trace(2, embedding=[-1.0, 0.0], base_importance=0.9)
    longer = trace(3, embedding=[1.0, 0.0, 0.0], base_importance=0.2)
    retriever = HierarchicalRetriever(manager_of(near, far, longer))
    found, _ = retriever.retrieve_with_context("", [1.0, 0.0])
    assert [one.id for one in found] == ["m1", "m2", "m3"]
    with pytest.raises(InvalidArgument, match="query_embedding: holds a number that is not finite"):
        retriever.retrieve_with_context("", [1.0, NOT_A_NUMBER])


def test_threads_share_a_manager():
    manager = manager_of(trace(0))

    def work(first):
        for number in range(first, first + 50):
            manager.add_memory(trace(number))
            manager.access_memory("m0")
            manager.retrieve(100)
            manager.update_all_weights()
            manager.remove_memory(f"m{number}")

    threads = [threading.Thread(target=work, args=(first,)) for first in (100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert manager.memories["m0"].access_count == 150
    assert list(manager.memories) == ["m0"]
    assert manager.remove_memory("m100") == 0


# Bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"decay_rate": -1}, "config.decay_rate"),
        ({"decay_rate": NOT_A_NUMBER}, "config.decay_rate"),
        ({"decay_rate": "fast"}, "config.decay_rate"),
        ({"access_boost_max": 2}, "config.access_boost_max"),
        ({"recency_window": INFINITE}, "config.recency_window"),
        ({"recency_bonus": -0.1}, "config.recency_bonus"),
        ({"layer_thresholds": {"core_min": 0.4}}, "config.layer_thresholds"),
        ({"layer_thresholds": {"core": 0.9}}, "config.layer_thresholds.core"),
        ({"layer_thresholds": {"active_min": 1.5}}, "config.layer_thresholds.active_min"),
        ({"layer_thresholds": 0.8}, "config.layer_thresholds"),
        ({"budget_ratios": {"core": 0.5}}, "config.budget_ratios"),
        ({"budget_ratios": {"core": -0.4, "archive": 0.85}}, "config.budget_ratios.core"),
        ({"min_weight": 1.1}, "config.min_weight"),
        ({"cleanup_threshold": True}, "config.cleanup_threshold"),
        ({"preset": "huge"}, "config.preset"),
        ({"decay": 0.1}, "config.decay"),
        ([], "config"),
    ],
)
def test_bad_configurations(config, field):
    with pytest.raises(InvalidArgument) as caught:
        TimeDecayMemoryManager(config)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"base_importance": 1.1}, "base_importance"),
        ({"base_importance": -0.1}, "base_importance"),
        ({"base_importance": NOT_A_NUMBER}, "base_importance"),
        ({"access_count": -1}, "access_count"),
        ({"access_count": 1.5}, "access_count"),
        ({"token_count": -1}, "token_count"),
        ({"created_at": INFINITE}, "created_at"),
        ({"last_accessed": None}, "last_accessed"),
        ({"id": ""}, "id"),
        ({"content": None}, "content"),
        ({"metadata": None}, "metadata"),
        ({"memory_type": "vague"}, "memory_type"),
        ({"embedding": [NOT_A_NUMBER]}, "embedding"),
    ],
)
def test_bad_memories_are_not_added(fields, field):
    manager = manager_of()
    with pytest.raises(InvalidArgument) as caught:
        manager.add_memory(trace(**fields))
    assert caught.value.field == field
    assert manager.memories == {}


def test_a_memory_that_was_spoiled_later_is_named():
    manager = manager_of(trace(1), trace(2))
    manager.memories["m2"].base_importance = NOT_A_NUMBER
    with pytest.raises(InvalidArgument, match="base_importance"):
        manager.update_all_weights()
    manager.memories["m2"].base_importance = "much"
    with pytest.raises(InvalidArgument, match="base_importance"):
        manager.retrieve()


def test_other_bad_arguments(tmp_path):
    manager = manager_of(trace())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("memory: {decay: {rate: -1}}")
    for field, call in {
        "token_budget": lambda: manager.retrieve(-1),
        "now": lambda: manager.retrieve(now=NOT_A_NUMBER),
        "weight": lambda: manager.get_layer(NOT_A_NUMBER),
        "query": lambda: HierarchicalRetriever(manager).retrieve_with_context(None),
        "memory": lambda: manager.add_memory("m"),
        "path": lambda: TimeDecayMemoryManager.from_file(tmp_path / "missing.yaml"),
        "memory.decay.rate": lambda: TimeDecayMemoryManager.from_file(wrong),
    }.items():
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert caught.value.field == field
    with pytest.raises(InvalidArgument, match="token_budget"):
        manager.retrieve(1.5)
    assert manager.retrieve(0) == []


def test_a_memory_larger_than_any_budget_is_passed_over():
    vast, small = trace(1, token_count=10**30), trace(2, token_count=5)
    assert manager_of(vast, small).retrieve(50_000) == [small]
    assert manager_of(vast, small).retrieve(10**31) == [vast, small]

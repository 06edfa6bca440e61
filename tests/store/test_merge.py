"""The merge of CONTRACT §3's table: what events mean, in whatever order they arrive."""

import random
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.events import (
    AnchorAlias,
    AnchorConfirm,
    AnchorDrop,
    AnchorPut,
    AnchorUnalias,
    BirthRecord,
    EdgeDrop,
    EdgePut,
    Event,
    EvidenceRecord,
    LinkAllow,
    LinkDrop,
    MemoryAccess,
    MemoryDone,
    MemoryForget,
    MemoryPurge,
    MemoryPut,
    MemoryRestore,
    MemoryTogether,
    NodeDrop,
    NodePut,
    Place,
    SuggestionRefuse,
    put_memory,
)
from mnemolens.core.memories import Birth, CodeState, HistoryEntry, MemoryEdge, Origin
from mnemolens.core.symbols import SymbolKey
from mnemolens.store.edge_columns import NO_EDGE
from mnemolens.store.merge import MergedState

BORN = datetime(2026, 9, 21, tzinfo=UTC)
KEY = SymbolKey("src/pay.py", "charge")
OTHER = SymbolKey("src/bill.py", "charge")
A, B = "aaaaaaaaaa", "bbbbbbbbbb"


def birth(key=KEY, body="b1"):
    return BirthRecord.of(
        Birth(
            CodeState(key, "f1", body, "AA", "c1"),
            "function",
            "def charge()",
            9,
            ("", ""),
            "def …",
            "main",
            1,
        )
    )


def at(tick, data, writer=A, counter=0):
    """The event that `writer` wrote `tick` milliseconds after the start."""
    clock = f"{1_790_000_000_000 + tick:013d}-{counter:04x}-{writer}"
    return Event(f"E{tick:010d}{counter:04d}{writer}", clock, data)


def time_of(tick):
    return datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC) + timedelta(milliseconds=tick)


def create(memory="m1", **fields):
    values = {"type": "semantic", "title": "T", "content": "C", "created_at": BORN} | fields
    return put_memory(memory, values)


def merged(*events):
    state = MergedState()
    state.apply(events)
    return state


class TestMemories:
    def test_a_memory_is_what_its_first_event_says(self):
        state = merged(
            at(
                1,
                put_memory(
                    "m1",
                    {
                        "type": "prospective",
                        "title": "Retry",
                        "content": "must stay idempotent",
                        "created_at": BORN,
                        "importance": 0.9,
                        "pinned": True,
                        "session_id": "s",
                        "agent_id": "g",
                        "author": "Ana",
                        "parent_id": "p",
                        "expires_at": BORN + timedelta(days=1),
                        "due_at": BORN + timedelta(days=2),
                        "trigger": {"on": "open"},
                        "born": Origin("c1", "main"),
                        "token_count": 4,
                        "content_hash": "0123456789abcdef",
                    },
                    metadata={"file": "a.py", "z": [1]},
                    tags_add=["zeta", "alpha"],
                ),
            )
        )
        memory = state.memory("m1")
        assert memory.type == "prospective"
        assert (memory.title, memory.content) == ("Retry", "must stay idempotent")
        assert (memory.created_at, memory.accessed_at, memory.access_count) == (BORN, BORN, 0)
        assert memory.tags == ("zeta", "alpha")
        assert memory.metadata == {"file": "a.py", "z": [1]}
        assert (memory.importance, memory.pinned, memory.status) == (0.9, True, "active")
        assert (memory.session_id, memory.agent_id, memory.author, memory.parent_id) == ("s", "g", "Ana", "p")
        assert memory.expires_at == BORN + timedelta(days=1)
        assert memory.due_at == BORN + timedelta(days=2)
        assert memory.trigger == {"on": "open"}
        assert memory.born == Origin("c1", "main")
        assert (memory.token_count, memory.content_hash) == (4, "0123456789abcdef")

    def test_the_newest_wins_for_each_field_alone(self):
        first, title, content = (
            at(1, create()),
            at(2, put_memory("m1", {"title": "T2"}), A),
            at(3, put_memory("m1", {"content": "C2"}), B),
        )
        for order in ((first, title, content), (content, first, title), (content, title, first)):
            memory = merged(*order).memory("m1")
            assert (memory.title, memory.content) == ("T2", "C2")

    def test_null_clears_a_field(self):
        state = merged(at(1, create(parent_id="p", importance=0.9)))
        state.apply([at(2, put_memory("m1", {"parent_id": None, "importance": None}))])
        assert state.memory("m1").parent_id is None
        assert state.memory("m1").importance == 0.5  # the default of CONTRACT §4

    def test_the_newest_wins_for_each_metadata_key_and_tag(self):
        state = merged(
            at(4, put_memory("m1", {}, metadata={"a": None}, tags_remove=["x"])),
            at(1, put_memory("m1", {}, metadata={"a": 1, "b": 1}, tags_add=["x", "y"])),
            at(3, put_memory("m1", {}, metadata={"b": 3}, tags_add=["x", "y"]), B),
            at(2, put_memory("m1", {}, metadata={"b": 2}, tags_remove=["y"])),
            at(0, create()),
        )
        assert state.memory("m1").metadata == {"b": 3}
        assert state.memory("m1").tags == ("y",)

    def test_of_two_equal_clocks_the_writer_decides(self):
        one, two = at(5, put_memory("m1", {"title": "a"}), A), at(5, put_memory("m1", {"title": "b"}), B)
        assert merged(at(1, create()), one, two).memory("m1").title == "b"
        assert merged(at(1, create()), two, one).memory("m1").title == "b"

    def test_an_edit_without_its_creation_is_not_readable_yet(self):
        state = merged(at(2, put_memory("m1", {"title": "T2"})))
        assert state.memory("m1") is None
        assert list(state.memories()) == []
        assert state.apply([at(1, create())]) == {"m1"}
        assert state.memory("m1").title == "T2"

    def test_values_of_a_wrong_kind_count_as_not_given(self):
        raw = {
            "type": "visual",
            "title": "T",
            "content": "C",
            "created_at": "2026-09-21T00:00:00Z",
            "importance": "high",
            "pinned": 1,
            "due_at": "tomorrow",
            "trigger": [],
            "born": 3,
            "token_count": True,
            "session_id": 5,
            "mood": "new in a later version",
        }
        memory = merged(at(1, MemoryPut(memory="m1", set=raw))).memory("m1")
        assert (memory.type, memory.importance, memory.pinned) == ("episodic", 0.5, False)
        assert (memory.due_at, memory.trigger, memory.born) == (None, None, Origin())
        assert (memory.token_count, memory.session_id) == (0, None)
        # sha256 of "C"
        assert memory.content_hash == "6b23c0d5f35d1b11"

    def test_the_status_is_the_newest(self):
        state = merged(at(1, create()), at(3, MemoryForget(memory="m1")), at(2, MemoryDone(memory="m1")))
        assert state.memory("m1").status == "forgotten"
        assert list(state.memories()) == ["m1"]
        state.apply([at(4, MemoryRestore(memory="m1"))])
        assert state.memory("m1").status == "active"
        state.apply([at(5, MemoryDone(memory="m1"))])
        assert state.memory("m1").status == "done"

    def test_a_put_never_resurrects(self):
        state = merged(at(1, create()), at(2, MemoryForget(memory="m1")), at(3, create(title="T3")))
        assert state.memory("m1").status == "forgotten"
        assert state.memory("m1").title == "T3"

    def test_a_purge_is_terminal_wherever_it_arrives(self):
        events = [
            at(1, create()),
            at(2, MemoryPurge(memory="m1")),
            at(3, create()),
            at(4, MemoryRestore(memory="m1")),
            at(5, AnchorPut(anchor="a1", memory="m1", birth=birth())),
            at(6, EdgePut(source="m1", target="m2", type="T", weight=1)),
            at(7, MemoryAccess(counts={"m1": 1}, at=BORN)),
            at(8, create("m2")),
        ]
        for shift in range(len(events)):
            state = merged(*events[shift:], *events[:shift])
            assert state.memory("m1") is None
            assert state.is_purged("m1")
            assert list(state.memories()) == ["m2"]
            assert state.anchors_of("m1") == ()
            assert state.anchor("a1") is None
            assert state.edges_of("m1") == state.edges_of("m2") == ()
            assert state.history("m1") == ()

    def test_accesses_are_the_maximum_in_a_segment_and_the_sum_over_segments(self):
        state = merged(
            at(1, create()),
            at(2, MemoryAccess(counts={"m1": 1}, at=BORN + timedelta(days=1)), A),
            at(9, MemoryAccess(counts={"m1": 5}, at=BORN + timedelta(days=3)), A),
            at(5, MemoryAccess(counts={"m1": 3, "m2": 7}, at=BORN + timedelta(days=4)), A),
            at(4, MemoryAccess(counts={"m1": 2}, at=BORN + timedelta(days=2)), B),
        )
        assert state.memory("m1").access_count == 7
        assert state.memory("m1").accessed_at == BORN + timedelta(days=4)

    def test_history_tells_the_life_of_a_memory(self):
        state = merged(
            at(3, MemoryForget(memory="m1", by="Ben")),
            at(1, create(author="Ana")),
            at(6, MemoryAccess(counts={"m1": 1}, at=BORN)),
            at(5, AnchorAlias.of("a1", CodeState(OTHER, "", "", "")), B),
            at(4, AnchorPut(anchor="a1", memory="m1", birth=birth(), by="Ben")),
            at(2, put_memory("m1", {"title": "x"}, metadata={"k": 1}, tags_add=["t"], by="agent")),
        )
        told = [(entry.op, entry.by, entry.fields) for entry in state.history("m1")]
        assert told == [
            ("memory.put", "Ana", ("type", "title", "content", "created_at", "author")),
            ("memory.put", "agent", ("title", "metadata", "tags")),
            ("memory.forget", "Ben", ("status",)),
            ("anchor.put", "Ben", ("anchors",)),
            ("anchor.alias", "", ("anchors",)),
        ]
        assert isinstance(state.history("m1")[0], HistoryEntry)
        assert state.history("m1")[0].clock == at(1, None).clock


class TestAnchors:
    def test_an_anchor_is_its_birth_and_its_places(self):
        seen = CodeState(OTHER, "f2", "b2", "BB", "c2")
        confirmed = CodeState(KEY, "f3", "b3", "CC", None)
        evidence = EvidenceRecord(field="content", start=0, end=6, rule="call", text="charge")
        state = merged(
            at(3, AnchorConfirm.of("a1", confirmed)),
            at(2, AnchorAlias.of("a1", seen)),
            at(
                1,
                AnchorPut(
                    anchor="a1",
                    memory="m1",
                    birth=birth(),
                    context="content_name_match",
                    relevance=0.8,
                    rule="call",
                    evidence=evidence,
                ),
            ),
            at(0, create()),
        )
        (anchor,) = state.anchors_of("m1")
        assert anchor == state.anchor("a1")
        assert (anchor.id, anchor.memory_id) == ("a1", "m1")
        assert anchor.birth == birth().birth()
        assert (anchor.context, anchor.relevance) == ("content_name_match", 0.8)
        assert anchor.evidence == evidence.evidence()
        assert anchor.aliases == (seen,)
        assert anchor.confirmations == (confirmed,)
        assert anchor.created_at == time_of(1)
        assert anchor.refused == frozenset()

    def test_aliases_stand_oldest_first_and_the_newest_word_on_a_place_wins(self):
        third = SymbolKey("c.py", "charge")
        state = merged(
            at(1, AnchorPut(anchor="a1", memory="m1", birth=birth())),
            at(5, AnchorAlias.of("a1", CodeState(third, "", "b", ""))),
            at(2, AnchorAlias.of("a1", CodeState(OTHER, "", "old", ""))),
            at(3, AnchorAlias.of("a1", CodeState(OTHER, "", "new", "")), B),
        )
        assert [(alias.key, alias.body_hash) for alias in state.anchor("a1").aliases] == [
            (OTHER, "new"),
            (third, "b"),
        ]

    def test_an_unalias_stands_until_a_user_chooses_the_place(self):
        put = at(1, AnchorPut(anchor="a1", memory="m1", birth=birth()))
        alias = at(2, AnchorAlias.of("a1", CodeState(OTHER, "", "", "")))
        refusal = at(3, AnchorUnalias(anchor="a1", place=Place.of(OTHER)))
        for order in ((put, alias, refusal), (refusal, alias, put)):
            anchor = merged(*order).anchor("a1")
            assert anchor.aliases == ()
            assert anchor.refused == {OTHER}
        found = at(4, AnchorAlias.of("a1", CodeState(OTHER, "", "x", "")), B)  # by a window that knew nothing
        assert merged(found, put, alias, refusal).anchor("a1").aliases == ()
        place = Place.of(OTHER)
        chosen = at(5, AnchorAlias(anchor="a1", place=place, body_hash="y", chosen=True))
        for order in ((found, put, alias, refusal, chosen), (chosen, refusal, found, alias, put)):
            anchor = merged(*order).anchor("a1")
            assert [alias.body_hash for alias in anchor.aliases] == ["y"]
            assert anchor.refused == frozenset()
        later = at(6, AnchorUnalias(anchor="a1", place=place))
        assert merged(put, chosen, later).anchor("a1").refused == {OTHER}

    def test_a_drop_is_terminal(self):
        put, drop = at(5, AnchorPut(anchor="a1", memory="m1", birth=birth())), at(1, AnchorDrop(anchor="a1"))
        for order in ((put, drop), (drop, put)):
            state = merged(*order)
            assert state.anchor("a1") is None
            assert state.anchors_of("m1") == ()
            assert state.is_anchor_dropped("a1")
        assert not merged(put).is_anchor_dropped("a1")

    def test_supersedes_drops_the_other_in_the_same_event(self):
        old = at(1, AnchorPut(anchor="a1", memory="m1", birth=birth()))
        new = at(2, AnchorPut(anchor="a2", memory="m1", birth=birth(OTHER), supersedes="a1"))
        for order in ((old, new), (new, old)):
            assert [anchor.id for anchor in merged(*order).anchors_of("m1")] == ["a2"]

    def test_of_two_births_of_one_anchor_the_earlier_counts(self):
        early = at(1, AnchorPut(anchor="a1", memory="m1", birth=birth(body="early")), B)
        late = at(2, AnchorPut(anchor="a1", memory="m1", birth=birth(body="late")), A)
        for order in ((early, late), (late, early)):
            assert merged(*order).anchor("a1").birth.state.body_hash == "early"

    def test_later_words_on_an_anchor_touch_its_memory(self):
        state = merged(at(1, AnchorPut(anchor="a1", memory="m1", birth=birth())))
        here = CodeState(KEY, "", "", "")
        assert state.anchors_of("m1")[0].confirmations == ()
        assert state.apply([at(2, AnchorConfirm.of("a1", here))]) == {"m1"}
        assert state.anchors_of("m1")[0].confirmations == (here,)
        assert state.apply([at(3, AnchorDrop(anchor="a1"))]) == {"m1"}
        assert state.anchors_of("m1") == ()


class TestRefusals:
    def test_a_link_is_dropped_until_it_is_allowed_again(self):
        drop = LinkDrop(memory="m1", evidence="charge()", name="src/pay.py::charge")
        allow = LinkAllow(memory="m1", evidence="charge()", name="src/pay.py::charge")
        state = merged(at(2, drop))
        assert state.link_dropped("m1", "charge()", "src/pay.py::charge")
        assert not state.link_dropped("m1", "charge()", "other")
        assert not state.link_dropped("m1", "charge", "src/pay.py::charge")
        assert not state.link_dropped("m2", "charge()", "src/pay.py::charge")
        state.apply([at(1, allow)])
        assert state.link_dropped("m1", "charge()", "src/pay.py::charge")
        state.apply([at(3, allow)])
        assert not state.link_dropped("m1", "charge()", "src/pay.py::charge")

    def test_a_refused_suggestion_stays_refused(self):
        state = merged(at(1, SuggestionRefuse(memory="m1", place=Place.of(KEY))))
        assert state.suggestion_refused("m1", KEY)
        assert not state.suggestion_refused("m1", OTHER)
        assert not state.suggestion_refused("m2", KEY)


class TestEdges:
    def test_an_edge_is_what_was_last_put(self):
        state = merged(
            at(3, EdgePut(source="m1", target="m2", type="CAUSED_BY", weight=0.3), B),
            at(2, EdgePut(source="m1", target="m2", type="CAUSED_BY", weight=0.9)),
            at(1, EdgePut(source="m2", target="m1", type="CAUSED_BY", weight=0.2, created_at=BORN)),
        )
        expected = (
            MemoryEdge("m2", "m1", "CAUSED_BY", 0.2, BORN),  # put before the other was at all
            MemoryEdge("m1", "m2", "CAUSED_BY", 0.3, time_of(3)),
        )
        assert state.edges_of("m1") == expected
        assert state.edges_of("m2") == expected

    def test_a_newer_drop_wins_and_an_older_does_not(self):
        put = EdgePut(source="m1", target="m2", type="T", weight=1)
        drop = EdgeDrop(source="m1", target="m2", type="T")
        assert merged(at(2, drop), at(1, put)).edges_of("m1") == ()
        assert len(merged(at(2, put), at(1, drop)).edges_of("m1")) == 1

    def test_an_edge_older_than_its_nodes_last_drop_is_dead(self):
        state = merged(
            at(5, NodeDrop(node="m2")),
            at(4, EdgePut(source="m1", target="m2", type="T", weight=1)),
            at(6, NodePut(node="m2", meta={"k": 1})),
        )
        assert state.edges_of("m1") == ()
        assert state.node("m2") == {"k": 1}
        state.apply([at(7, EdgePut(source="m1", target="m2", type="T", weight=0.5))])
        assert [edge.weight for edge in state.edges_of("m2")] == [0.5]

    def test_a_node_is_what_was_last_put(self):
        state = merged(at(1, NodePut(node="n", meta={"k": 1})), at(2, NodePut(node="n", meta={"j": 2})))
        assert state.node("n") == {"j": 2}
        state.apply([at(3, NodeDrop(node="n"))])
        assert state.node("n") is None
        assert state.node("unknown") is None

    def test_each_id_is_told_once_though_events_come_in_between(self):
        memories = [at(tick, MemoryPut(memory=f"m{tick}", set={"title": "t"})) for tick in range(1500)]
        nodes = [at(tick, NodePut(node=f"n{tick}", meta={})) for tick in range(1500)]
        state = merged(*memories, *nodes, at(1, NodePut(node="m7", meta={})))
        told = []
        for one in state.known_ids():
            told.append(one)
            if len(told) == 1:  # what was a memory is a node, too, from now on
                state.apply([at(2, NodePut(node=f"m{tick}", meta={})) for tick in range(1500)])
        assert sorted(told) == sorted(f"{kind}{tick}" for kind in "mn" for tick in range(1500))

    def test_recalls_together_add_up_and_are_capped_on_reading(self):
        events = [at(tick, MemoryTogether(memories=("m2", "m1", "m3"), rate=0.25)) for tick in range(1, 4)]
        state = merged(*events, *events)
        assert state.edges_of("m3") == (
            MemoryEdge("m1", "m3", "CO_ACTIVATED", 0.75, time_of(1), together=3),
            MemoryEdge("m2", "m3", "CO_ACTIVATED", 0.75, time_of(1), together=3),
        )
        state.apply([at(9, MemoryTogether(memories=("m1", "m2"), rate=0.5))])
        assert [edge.weight for edge in state.edges_of("m1")] == [1.0, 0.75]

    def test_the_order_of_recalls_does_not_show_in_the_last_digit(self):
        # In floating point .1 + .2 + .3 is not .3 + .2 + .1.
        events = [at(tick, MemoryTogether(memories=("m1", "m2"), rate=tick / 10)) for tick in (1, 2, 3)]
        weights = {merged(*order).edges_of("m1")[0].weight for order in permutations(events)}
        assert weights == {0.6}

    def test_a_put_says_the_weight_at_that_moment_and_later_recalls_add_to_it(self):
        events = [
            at(1, MemoryTogether(memories=("m1", "m2"), rate=0.5)),
            at(2, EdgePut(source="m2", target="m1", type="CO_ACTIVATED", weight=0.25)),
            at(3, MemoryTogether(memories=("m1", "m2"), rate=0.5)),
        ]
        assert [edge.weight for edge in merged(*events).edges_of("m1")] == [0.75]
        events.append(at(4, EdgeDrop(source="m1", target="m2", type="CO_ACTIVATED")))
        assert merged(*events).edges_of("m1") == ()

    def test_all_ends_are_touched(self):
        state = MergedState()
        assert state.apply([at(1, EdgePut(source="m1", target="m2", type="T", weight=1))]) == {"m1", "m2"}
        assert state.apply([at(2, NodeDrop(node="m2"))]) == {"m1", "m2"}
        assert state.apply([at(3, MemoryTogether(memories=("m1", "m3"), rate=0.1))]) == {"m1", "m3"}
        assert state.apply([at(4, MemoryPurge(memory="m3"))]) == {"m1", "m3"}


# In any order, any number of times, in any portions ----------------------------------------------

IDS = ("m1", "m2", "m3")
ANCHORS = ("a1", "a2")
PLACES = (KEY, OTHER)

memory_ids = st.sampled_from(IDS)
anchor_ids = st.sampled_from(ANCHORS)
places = st.sampled_from(PLACES)
states = st.builds(CodeState, places, st.just("f"), st.sampled_from(["b1", "b2"]), st.just(""))
small = st.sampled_from(["x", "y", None])
weights = st.floats(0, 1)
moments = st.integers(0, 5).map(lambda days: BORN + timedelta(days=days))

payloads = st.one_of(
    st.builds(lambda m, title: create(m, title=title), memory_ids, st.sampled_from(["T", "U"])),
    st.builds(
        lambda m, fields, meta, on, off: put_memory(m, fields, metadata=meta, tags_add=on, tags_remove=off),
        memory_ids,
        st.dictionaries(st.sampled_from(["title", "content", "parent_id"]), small, max_size=2),
        st.dictionaries(st.sampled_from(["k", "j"]), small, max_size=2),
        st.lists(st.sampled_from(["s", "t"]), max_size=2),
        st.lists(st.sampled_from(["s", "t"]), max_size=2),
    ),
    st.builds(lambda m: MemoryForget(memory=m), memory_ids),
    st.builds(lambda m: MemoryRestore(memory=m), memory_ids),
    st.builds(lambda m: MemoryDone(memory=m), memory_ids),
    st.builds(lambda m: MemoryPurge(memory=m), st.just("m3")),
    st.builds(
        lambda counts, when: MemoryAccess(counts=counts, at=when),
        st.dictionaries(memory_ids, st.integers(1, 9), min_size=1),
        moments,
    ),
    st.builds(
        lambda ms, rate: MemoryTogether(memories=ms, rate=rate), st.lists(memory_ids, min_size=2), weights
    ),
    st.builds(
        lambda a, m, body, old: AnchorPut(anchor=a, memory=m, birth=birth(body=body), supersedes=old),
        anchor_ids,
        memory_ids,
        st.sampled_from(["b1", "b2"]),
        st.sampled_from([None, None, "a2"]),
    ),
    st.builds(lambda a: AnchorDrop(anchor=a), st.just("a2")),
    st.builds(AnchorAlias.of, anchor_ids, states),
    st.builds(AnchorUnalias.of, anchor_ids, states),
    st.builds(AnchorConfirm.of, anchor_ids, states),
    st.builds(lambda m, e: LinkDrop(memory=m, evidence=e, name="n"), memory_ids, st.sampled_from(["x", "y"])),
    st.builds(
        lambda m, e: LinkAllow(memory=m, evidence=e, name="n"), memory_ids, st.sampled_from(["x", "y"])
    ),
    st.builds(
        lambda s, t, kind, weight: EdgePut(source=s, target=t, type=kind, weight=weight),
        memory_ids,
        memory_ids,
        st.sampled_from(["CAUSED_BY", "CO_ACTIVATED"]),
        weights,
    ),
    st.builds(
        lambda s, t, kind: EdgeDrop(source=s, target=t, type=kind),
        memory_ids,
        memory_ids,
        st.sampled_from(["CAUSED_BY", "CO_ACTIVATED"]),
    ),
    st.builds(lambda m, value: NodePut(node=m, meta={"k": value}), memory_ids, small),
    st.builds(lambda m: NodeDrop(node=m), memory_ids),
    st.builds(lambda m, place: SuggestionRefuse(memory=m, place=Place.of(place)), memory_ids, places),
)


@st.composite
def event_lists(draw):
    """Events of two writers whose clocks often show the same millisecond and counter."""
    drawn = draw(st.lists(st.tuples(st.integers(0, 6), st.sampled_from([A, B]), payloads), max_size=25))
    counters: dict[tuple[int, str], int] = {}
    events = []
    for tick, writer, data in drawn:
        counter = counters.get((tick, writer), 0)
        counters[tick, writer] = counter + 1
        events.append(at(tick, data, writer, counter))
    return events


def seen(state):
    """All that can be read of a state."""
    return {
        "memories": {one: state.memory(one) for one in IDS},
        "ids": sorted(state.memories()),
        "purged": [state.is_purged(one) for one in IDS],
        "anchors": {one: state.anchors_of(one) for one in IDS},
        "anchor": {one: (state.anchor(one), state.is_anchor_dropped(one)) for one in ANCHORS},
        "edges": {one: state.edges_of(one) for one in IDS},
        "nodes": {one: state.node(one) for one in IDS},
        "links": [state.link_dropped(one, text, "n") for one in IDS for text in "xy"],
        "suggestions": [state.suggestion_refused(one, place) for one in IDS for place in PLACES],
        "history": {one: state.history(one) for one in IDS},
        "order": {
            one: (list(memory.metadata), memory.tags)
            for one in IDS
            if (memory := state.memory(one)) is not None
        },
    }


@given(event_lists(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_order_of_arrival_does_not_matter(events, shuffler):
    shuffled = list(events)
    shuffler.shuffle(shuffled)
    assert seen(merged(*shuffled)) == seen(merged(*events))


@given(event_lists(), st.integers(0, 20))
@settings(max_examples=50, deadline=None)
def test_a_look_at_all_edges_sees_each_once_as_its_ends_do(events, first):
    state = MergedState()
    for portion in (events[:first], events[first:]):
        state.apply(portion)
        edges = (edge for one in IDS for edge in state.edges_of(one) if edge.source_id == one)
        expected = sorted((edge.source_id, edge.target_id, edge.weight) for edge in edges)
        beside = {
            one: [
                (other, edge.weight)
                for edge in state.edges_of(one)
                for other in {edge.source_id, edge.target_id} - {one} or {one}
                if state.is_node(other)
            ]
            for one in IDS
        }
        assert {one: list(state.neighbours_of(one)) for one in IDS} == beside
        assert state.holds_memories == bool(list(state.memories()))
        everything = state.all_edges()
        names = list(everything.numbers)
        rows = zip(everything.sources, everything.targets, everything.weights, strict=True)
        found = [(names[one], names[two], weight) for one, two, weight in rows if weight != NO_EDGE]
        assert sorted(found) == expected


@given(event_lists(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_hearing_an_event_again_changes_nothing(events, shuffler):
    doubled = events + shuffler.choices(events, k=len(events)) if events else []
    shuffler.shuffle(doubled)
    assert seen(merged(*events, *doubled)) == seen(merged(*events))


@given(event_lists(), st.integers(0, 25), st.integers(0, 25))
@settings(max_examples=100, deadline=None)
def test_portions_do_not_matter_and_what_changes_is_reported(events, first, second):
    state = MergedState()
    for start, end in ((0, first), (first, first + second), (first + second, len(events))):
        before = seen(state)
        touched = state.apply(events[start:end])
        after = seen(state)
        for kind in ("memories", "anchors", "edges", "nodes"):
            changed = {one for one in IDS if before[kind][one] != after[kind][one]}
            assert changed <= touched
    assert seen(state) == seen(merged(*events))


@pytest.mark.parametrize("seed", range(3))
def test_long_histories_merge_alike_in_any_order(seed):
    chance = random.Random(seed)
    events = [at(0, create(f"m{one}")) for one in range(5)]
    for tick in range(1, 2000):
        memory = f"m{chance.randrange(5)}"
        data = chance.choice(
            [
                put_memory(memory, {"title": f"T{tick}"}, tags_add=[f"t{tick % 7}"]),
                put_memory(memory, {}, tags_remove=[f"t{tick % 7}"]),
                MemoryAccess(counts={memory: tick}, at=BORN),
                MemoryTogether(memories=(memory, "m0"), rate=0.1),
            ]
        )
        events.append(at(tick, data, chance.choice([A, B])))
    expected = seen(merged(*events))
    chance.shuffle(events)
    assert seen(merged(*events)) == expected

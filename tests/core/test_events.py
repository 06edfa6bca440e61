"""The line format of CONTRACT §3; checksums in expected lines are gzip's CRC32."""

import json
import zlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.events import (
    MEMORY_FIELDS,
    MODELS,
    AnchorAlias,
    AnchorConfirm,
    AnchorPut,
    AnchorUnalias,
    BirthRecord,
    EdgePut,
    Event,
    EvidenceRecord,
    LinkAllow,
    LinkDrop,
    MemoryAccess,
    MemoryForget,
    MemoryPut,
    MemoryTogether,
    Place,
    Skipped,
    SuggestionRefuse,
    decode_line,
    encode_line,
    memory_fields,
    prepare,
    put_memory,
    read_context,
    read_origin,
    read_time,
    with_paths,
)
from mnemolens.core.memories import Birth, CodeState, Evidence, Memory, Origin
from mnemolens.core.symbols import SymbolKey

ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
CLOCK = "1790000000123-00ff-abcdefghij"
FORGET = (
    b'{"v":1,"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","clock":"1790000000123-00ff-abcdefghij",'
    b'"op":"memory.forget","data":{"memory":"m1"},"sum":"92316426"}'
)
PUT = (
    '{"v":1,"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","clock":"1790000000123-00ff-abcdefghij","op":"memory.put",'
    '"data":{"memory":"m1","set":{"title":"Größe 🐘"},"meta":{"file":null},"tags_add":["a"]},'
    '"sum":"4f25c824"}'
).encode()
KEY = SymbolKey("src/pay.py", "Card.charge", 1)
STATE = CodeState(KEY, "f" * 16, "b" * 16, "AAAA", "c" * 40)
BIRTH = Birth(STATE, "method", "def charge(self)", 42, ("Card.a", ""), "def charge(self): ...", "main", 1)
EVIDENCE = Evidence("content", 3, 9, "call", "charge")


def line_of(text: str) -> bytes:
    """A line with the right checksum around any text."""
    body = text.encode()
    return body + f',"sum":"{zlib.crc32(body):08x}"}}'.encode()


def event_line(op: str, data: str, version: str = "1") -> bytes:
    return line_of(f'{{"v":{version},"id":"{ID}","clock":"{CLOCK}","op":"{op}","data":{data}')


def round_trip(data):
    decoded = decode_line(encode_line(ID, CLOCK, prepare(data)))
    assert isinstance(decoded, Event)
    return decoded.data


def test_the_exact_line():
    assert encode_line(ID, CLOCK, prepare(MemoryForget(memory="m1"))) == FORGET
    put = put_memory("m1", {"title": "Größe 🐘"}, metadata={"file": None}, tags_add=["a"])
    assert encode_line(ID, CLOCK, prepare(put)) == PUT


def test_reading_the_exact_line():
    assert decode_line(FORGET) == Event(ID, CLOCK, MemoryForget(memory="m1"))
    event = decode_line(PUT)
    assert event.data.set == {"title": "Größe 🐘"}
    assert event.data.meta == {"file": None}
    assert event.writer == "abcdefghij"


def test_a_line_made_crlf_by_an_editor_is_read():
    assert isinstance(decode_line(FORGET + b"\r"), Event)


def test_every_op_of_the_contract_has_a_model():
    assert set(MODELS) == {
        *("memory.put", "memory.forget", "memory.restore", "memory.done", "memory.purge"),
        *("memory.access", "memory.together"),
        *("anchor.put", "anchor.drop", "anchor.alias", "anchor.unalias", "anchor.confirm"),
        *("link.drop", "link.allow", "edge.put", "edge.drop", "node.put", "node.drop", "suggestion.refuse"),
    }


@pytest.mark.parametrize("cut", [1, 2, 5, 17, 18, 19, 60, len(FORGET) - 1, len(FORGET)])
def test_a_cut_line_is_skipped(cut):
    assert decode_line(FORGET[:-cut]) == Skipped("torn or corrupt: its checksum does not match")


@given(st.integers(0, len(PUT) - 1), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_a_changed_byte_never_goes_unnoticed(position, change):
    broken = bytearray(PUT)
    broken[position] ^= change
    assert isinstance(decode_line(bytes(broken)), Skipped)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (event_line("memory.dream", '{"memory":"m1"}'), "unknown op 'memory.dream'"),
        (event_line("memory.forget", '{"memory":"m1"}', version="2"), "unknown version '2'"),
        (event_line("memory.forget", "{}"), "memory.forget: wrong or missing memory"),
        (event_line("memory.forget", "null"), "memory.forget: wrong or missing data"),
        (event_line("memory.forget", '{"memory":7}'), "memory.forget: wrong or missing memory"),
        (line_of('{"v":1,"op":"memory.forget","data":{"memory":"m1"}'), "memory.forget: no id or no clock"),
        (line_of('{"v":1,"op":7,"data":{}'), "unknown op '7'"),
        (line_of("{]"), "not JSON"),
    ],
)
def test_lines_that_say_nothing_to_us_are_skipped_with_a_reason(line, reason):
    assert decode_line(line) == Skipped(reason)


def test_invalid_utf8_under_a_right_checksum_is_skipped():
    body = FORGET[:-18].replace(b"m1", b"m\xff")
    assert decode_line(body + f',"sum":"{zlib.crc32(body):08x}"}}'.encode()) == Skipped("not JSON")


def test_fields_of_a_newer_version_are_ignored():
    line = event_line("memory.forget", '{"memory":"m1","why":{"deep":[1]}}')
    assert decode_line(line).data == MemoryForget(memory="m1")
    line = event_line(
        "anchor.unalias", '{"anchor":"a","place":{"file":"f","qualname":"q","ordinal":0,"col":3}}'
    )
    assert decode_line(line).data == AnchorUnalias(anchor="a", place=Place(file="f", qualname="q", ordinal=0))


def test_a_birth_survives_the_journal():
    data = AnchorPut(
        anchor="a1",
        memory="m1",
        birth=BirthRecord.of(BIRTH),
        context="content_name_match",
        relevance=0.8,
        rule="call",
        evidence=EvidenceRecord.of(EVIDENCE),
        supersedes="a0",
    )
    read = round_trip(data)
    assert read == data
    assert read.birth.birth() == BIRTH
    assert read.evidence.evidence() == EVIDENCE


def test_a_birth_record_is_flat_and_complete():
    line = encode_line(ID, CLOCK, prepare(AnchorPut(anchor="a1", memory="m1", birth=BirthRecord.of(BIRTH))))
    assert json.loads(line)["data"]["birth"] == {
        "file": "src/pay.py",
        "qualname": "Card.charge",
        "ordinal": 1,
        "kind": "method",
        "signature": "def charge(self)",
        "full_hash": "f" * 16,
        "body_hash": "b" * 16,
        "fingerprint": "AAAA",
        "token_count": 42,
        "neighbours": ["Card.a", ""],
        "snippet": "def charge(self): ...",
        "commit": "c" * 40,
        "branch": "main",
        "algo": 1,
    }


@pytest.mark.parametrize("model", [AnchorAlias, AnchorUnalias, AnchorConfirm])
def test_a_code_state_survives_the_journal(model):
    read = round_trip(model.of("a1", STATE, by="Ana"))
    assert read.state() == STATE
    assert (read.anchor, read.by) == ("a1", "Ana")


def test_times_are_written_utc():
    at = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    data = round_trip(MemoryAccess(counts={"m1": 3}, at=at))
    assert data.at == at
    put = put_memory("m1", {"created_at": at, "due_at": None})
    assert put.set == {"created_at": "2026-11-30T10:00:00Z", "due_at": None}


MEMORY = Memory(
    id="m1",
    type="prospective",
    title="T",
    content="C",
    created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    accessed_at=datetime(2026, 1, 2, tzinfo=UTC),
    importance=0.25,
    pinned=True,
    author="Ana",
    trigger={"on": "merge", "branch": "main"},
    born=Origin("c" * 40, "main"),
    token_count=3,
    content_hash="0" * 16,
)


def test_all_fields_of_a_memory_can_be_set():
    fields = memory_fields(MEMORY)
    assert set(fields) < set(MEMORY_FIELDS)
    assert "parent_id" not in fields
    put = round_trip(put_memory("m1", fields))
    assert put.set["born"] == {"commit": "c" * 40, "branch": "main"}
    assert read_origin(put.set["born"]) == MEMORY.born
    assert read_time(put.set["created_at"]) == MEMORY.created_at


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("fields", "metadata", "field"),
    [
        ({"status": "done"}, {}, "status"),
        ({"tags": ["a"]}, {}, "tags"),
        ({"content": b"x"}, {}, "content"),
        ({"importance": float("nan")}, {}, "importance"),
        ({}, {"x": float("inf")}, "metadata.x"),
        ({}, {"x": {1, 2}}, "metadata.x"),
        ({}, {"x": nested(65)}, "metadata.x"),
        ({}, {"x": nested(100_000)}, "metadata.x"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(fields, metadata, field):
    with pytest.raises(InvalidArgument) as caught:
        put_memory("m1", fields, metadata=metadata)
    assert caught.value.field == field


def test_the_deepest_metadata_that_is_taken_can_be_read_again():
    assert round_trip(put_memory("m1", {}, metadata={"x": nested(64)})).meta == {"x": nested(64)}


def test_prepare_refuses_what_is_not_json():
    with pytest.raises(ValueError, match="not JSON"):
        prepare(MemoryPut(memory="m1", meta={"x": float("nan")}))


def test_lone_surrogates_become_replacement_characters():
    payload = prepare(put_memory("m\ud800", {"content": "a\udfffb🐘"}))
    assert payload.data.memory == "m\ufffd"
    assert payload.data.set == {"content": "a\ufffdb🐘"}
    assert decode_line(encode_line(ID, CLOCK, payload)).data == payload.data


text = st.text(st.characters(exclude_categories=["Cs"]))
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


@given(text, text, st.dictionaries(text, json_value, max_size=3), st.lists(text, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_text_survives_and_stays_on_one_line(memory, content, metadata, tags):
    data = put_memory(memory, {"content": content}, metadata=metadata, tags_add=tags)
    line = encode_line(ID, CLOCK, prepare(data))
    assert b"\n" not in line
    assert decode_line(line) == Event(ID, CLOCK, data)


def test_odd_values_read_as_nothing():
    assert read_time("yesterday") is None
    assert read_time(5) is None
    assert read_time("2026-01-01T00:00:00") == datetime(2026, 1, 1, tzinfo=UTC)
    assert read_time("0001-01-01T00:00:00+14:00") is None
    assert read_origin(["x"]) == Origin()
    assert read_origin({"commit": 5, "branch": "b"}) == Origin(None, "b")
    assert read_context("content_dream_match") == "content_file_match"
    assert read_context("captured_here") == "captured_here"


def test_paths_can_be_moved():
    def moved(data):
        return with_paths(Event(ID, CLOCK, data), lambda path: f"sub/{path}").data

    assert (
        moved(AnchorPut(anchor="a", memory="m", birth=BirthRecord.of(BIRTH))).birth.file == "sub/src/pay.py"
    )
    for data in (AnchorAlias.of("a", STATE), AnchorUnalias.of("a", STATE), AnchorConfirm.of("a", STATE)):
        assert moved(data).place.file == "sub/src/pay.py"
    assert moved(SuggestionRefuse(memory="m", place=Place.of(KEY))).place.file == "sub/src/pay.py"
    for model in (LinkDrop, LinkAllow):
        named = moved(model(memory="m", evidence="charge()", name=KEY.id))
        assert named.name == "sub/src/pay.py::Card.charge#1"
    assert moved(LinkDrop(memory="m", evidence="pay.py", name="src/pay.py")).name == "sub/src/pay.py"
    other = Event(ID, CLOCK, MemoryForget(memory="m"))
    assert with_paths(other, lambda path: f"sub/{path}") is other


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_are_finite(value):
    with pytest.raises(ValueError, match="finite"):
        EdgePut(source="a", target="b", type="T", weight=value)
    with pytest.raises(ValueError, match="finite"):
        MemoryTogether(memories=("a", "b"), rate=value)

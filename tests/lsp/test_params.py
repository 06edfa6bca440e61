"""Arguments of commands: what fits, and what the error says when something doesn't."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import SymbolKey
from mnemolens.lsp.params import (
    AccessArguments,
    Arguments,
    CaptureArguments,
    IdArguments,
    LinkArguments,
    OpenArguments,
    ReanchorArguments,
    UpdateArguments,
    parse,
    symbol_of_id,
)
from mnemolens.lsp.search_params import ListArguments

HERE = {"line": 1, "character": 2}


def refusal(model, value):
    with pytest.raises(InvalidArgument) as caught:
        parse("mnemolens.x", model, value)
    return caught.value


def test_a_whole_capture():
    given = {
        "content": "x",
        "uri": "file:///a.py",
        "position": HERE,
        "range": {"start": HERE, "end": HERE},
        "title": "t",
        "type": "episodic",
        "tags": ["a"],
        "importance": 1,
        "metadata": {"snake_case": {"camelCase": [1, None]}},
        "sessionId": "s",
        "agentId": "g",
        "author": "Ana",
        "parentId": "p",
        "expiresAt": "2026-11-30T12:00:00Z",
        "dueAt": "2026-11-30T12:00:00+02:00",
        "trigger": {"on": "merge", "branch": "main"},
        "allowSecret": True,
    }
    found = parse("c", CaptureArguments, [given])
    assert (found.session_id, found.agent_id, found.parent_id) == ("s", "g", "p")
    assert found.expires_at == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert found.due_at == datetime(2026, 11, 30, 10, tzinfo=UTC)
    assert found.metadata == {"snake_case": {"camelCase": [1, None]}}
    assert found.trigger.on == "merge"


def test_a_naive_time_is_local():
    found = parse("c", CaptureArguments, [{"content": "x", "dueAt": "2026-07-01T12:00:00"}])
    assert found.due_at == datetime(2026, 7, 1, 12).astimezone()
    assert found.due_at.utcoffset() == timedelta(0)
    other = timezone(timedelta(hours=5))
    assert found.due_at.astimezone(other) == found.due_at


@pytest.mark.parametrize("value", [None, [], [None], [{}], (), [[]]])
def test_nothing_is_fine_where_nothing_is_required(value):
    assert parse("c", Arguments, value) == Arguments()


@pytest.mark.parametrize(
    ("model", "argument", "field", "words"),
    [
        (CaptureArguments, {}, "content", "is missing"),
        (CaptureArguments, {"content": 3}, "content", "string"),
        (CaptureArguments, {"content": None}, "content", "string"),
        (CaptureArguments, {"content": "x", "tag": "a"}, "tag", "content"),
        (CaptureArguments, {"content": "x", "session_id": "a"}, "session_id", "sessionId"),
        (CaptureArguments, {"content": "x", "type": "fact"}, "type", "episodic"),
        (CaptureArguments, {"content": "x", "tags": "a"}, "tags", "list"),
        (CaptureArguments, {"content": "x", "tags": ["a", 1]}, "tags.1", "string"),
        (CaptureArguments, {"content": "x", "importance": 2}, "importance", "less than or equal to 1"),
        (CaptureArguments, {"content": "x", "importance": float("nan")}, "importance", "number"),
        (CaptureArguments, {"content": "x", "importance": "high"}, "importance", "number"),
        (CaptureArguments, {"content": "x", "importance": True}, "importance", "number"),
        (CaptureArguments, {"content": "x", "position": HERE}, "uri", "is missing"),
        (ListArguments, {"uri": "file:///a", "position": {"line": 1}}, "position.character", "is missing"),
        (ListArguments, {"uri": "file:///a", "position": {**HERE, "line": -1}}, "position.line", "greater"),
        (CaptureArguments, {"content": "x", "uri": "file:///a", "position": [1, 2]}, "position", "dict"),
        (CaptureArguments, {"content": "x", "dueAt": "tomorrow"}, "dueAt", "ISO 8601"),
        (CaptureArguments, {"content": "x", "dueAt": 17}, "dueAt", "2026-11-30T12:00:00Z"),
        (CaptureArguments, {"content": "x", "trigger": {"on": "save"}}, "trigger.on", "change"),
        (UpdateArguments, {"id": "m", "trigger": {"on": "open", "to": 1}}, "trigger.to", "on, branch"),
        (CaptureArguments, {"content": "x", "metadata": ["a"]}, "metadata", "dict"),
        (IdArguments, {}, "id", "is missing"),
        (IdArguments, {"id": ""}, "id", "at least 1"),
        (IdArguments, {"id": 7}, "id", "string"),
        (ListArguments, {"limit": 0}, "limit", "greater"),
        (ListArguments, {"limit": 1001}, "limit", "1000"),
        (ListArguments, {"limit": "5"}, "limit", "integer"),
        (ListArguments, {"verdict": "stale"}, "verdict", "drifted"),
        (UpdateArguments, {"id": "m", "content": None}, "content", "null"),
        (UpdateArguments, {"id": "m", "pinned": None}, "pinned", "null"),
        (AccessArguments, {"ids": []}, "ids", "at least 1"),
        (AccessArguments, {}, "ids", "is missing"),
        (ReanchorArguments, {"id": "m"}, "uri", "candidate"),
        (ReanchorArguments, {"id": "m", "uri": "file:///a", "candidate": "a.py::f"}, "candidate", "uri"),
        (ReanchorArguments, {"id": "m", "candidate": {"qualname": "f"}}, "candidate.file", "is missing"),
        (LinkArguments, {"id": "m"}, "uri", "targetId"),
        (LinkArguments, {"id": "m", "targetId": "n", "uri": "file:///a"}, "targetId", "uri"),
        (OpenArguments, {}, "id", "is missing"),
    ],
)  # fmt: skip
def test_the_error_names_the_field(model, argument, field, words):
    error = refusal(model, [argument])
    assert error.field == field
    assert str(error).startswith(f"{field}: ")
    assert words in str(error)


@pytest.mark.parametrize(
    ("value", "words"),
    [([{}, {}], "one object, not 2"), (["x"], "not str"), ([[1]], "not list"), ([5], "not int")],
)
def test_one_object_is_taken(value, words):
    error = refusal(Arguments, value)
    assert (error.field, words in str(error)) == ("arguments", True)


def test_an_unknown_field_is_told_what_there_is():
    assert str(refusal(IdArguments, [{"id": "m", "ID": "m"}])) == (
        "ID: is not an argument of mnemolens.x, which takes root, id"
    )


def test_update_takes_only_what_was_given():
    found = parse("c", UpdateArguments, [{"id": "m", "parentId": None, "tags": [], "pinned": True}])
    assert found.changes == {"parent_id": None, "tags": [], "pinned": True}


def test_lone_surrogates_are_replaced():
    found = parse("c", CaptureArguments, [{"content": "cut \ud83d", "metadata": {"k\udc00": ["\ud83d"]}}])
    assert found.content == "cut \ufffd"
    assert found.metadata == {"k\ufffd": ["\ufffd"]}


@pytest.mark.parametrize(
    ("symbol", "key"),
    [
        ("a.py", SymbolKey("a.py", "")),
        ("a.py::C.f", SymbolKey("a.py", "C.f")),
        ("a.py::C.f#2", SymbolKey("a.py", "C.f", 2)),
        ("src/a.ts::#private", SymbolKey("src/a.ts", "#private")),
        ("src/a.ts::C.#p#1", SymbolKey("src/a.ts", "C.#p", 1)),
    ],
)
def test_symbol_ids(symbol, key):
    assert symbol_of_id(symbol) == key
    assert key.id == symbol


def test_a_candidate_is_a_place_or_its_id():
    place = {
        "kind": "function",
        "file": "a.py",
        "qualname": "f",
        "ordinal": 1,
        "id": "a.py::f#1",
        "range": None,
        "score": 0.7,
    }
    key = SymbolKey("a.py", "f", 1)
    assert parse("c", ReanchorArguments, [{"id": "m", "candidate": place}]).candidate_key == key
    assert parse("c", ReanchorArguments, [{"id": "m", "candidate": "a.py::f#1"}]).candidate_key == key


def test_an_empty_table_of_lua_is_an_empty_object():
    assert parse("c", CaptureArguments, [{"content": "x", "metadata": []}]).metadata == {}

"""The secret gate against texts labelled by hand (tests/data/secrets/README.md)."""

import json
import logging
import random
import string
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolens.core.errors import InvalidArgument
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.secrets import SecretFound, find_secrets, refuse_secrets, request_fields, secrets_in

DATA = Path(__file__).parents[1] / "data" / "secrets"


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


SECRETS = [(row["kind"], row["reversed"][::-1], row["start"], row["end"]) for row in lines("secrets.jsonl")]
CLEAN = [(row["why"], row["text"]) for row in lines("clean.jsonl")]
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz1A2"  # joined here, so that no scanner reads it
HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def test_labelled_set_is_large_enough():
    assert len({text for _, text, _, _ in SECRETS}) >= 60
    assert len({text for _, text in CLEAN}) >= 60


@pytest.mark.parametrize(("kind", "text", "start", "end"), SECRETS)
def test_finds_the_secret_with_its_kind_and_span(kind, text, start, end):
    assert [tuple(found) for found in find_secrets(text)] == [(kind, start, end)]


@pytest.mark.parametrize(("why", "text"), CLEAN)
def test_lets_pass_what_only_looks_like_one(why, text):
    assert find_secrets(text) == (), why


def test_precision_and_recall():
    found = sum(bool(find_secrets(text)) for _, text, _, _ in SECRETS)
    wrong = sum(bool(find_secrets(text)) for _, text in CLEAN)
    precision, recall = found / (found + wrong), found / len(SECRETS)
    print(f"precision {precision:.3f}, recall {recall:.3f} on {len(SECRETS)} secrets and {len(CLEAN)} others")
    assert precision >= 0.98
    assert recall >= 0.98


@pytest.mark.parametrize(("kind", "text", "start", "end"), SECRETS[::6])
def test_finds_it_anywhere_in_a_longer_text(kind, text, start, end):
    before = "# Notes 🙂\r\n\r\nİstanbul is where the server stands.\n\n"
    found = find_secrets(f"{before}{text}\n\nThat was all. Ask Ana.\n")
    assert [tuple(one) for one in found] == [(kind, start + len(before), end + len(before))]


def test_finds_all_in_text_order():
    text = f'password = "hunter2"\nthen {TOKEN}\nand postgres://app:s3cr3t@db.acme.io/x'
    assert [found.kind for found in find_secrets(text)] == [
        "password",
        "GitHub token",
        "connection string with a password",
    ]
    starts = [found.start for found in find_secrets(text)]
    assert starts == [text.index("hunter2"), text.index("ghp_"), text.index("s3cr3t@")]


PIECES = (
    *("password", "token", "api_key", " = ", ": ", "=", "'", '"', "hunter2", "://", "user:", "pw1!", "@"),
    *("host", "-----", "BEGIN PRIVATE KEY-----", "-----END", "\n", "AbCd12345678", "Bearer ", "Basic ", "."),
    *("eyJ", "sk-", "Q~", ":AA", "Private-Lines: 1", "curl -u ", "Server=a;", "is "),
)


class TestGate:
    def test_names_field_kind_and_span_and_never_the_secret(self):
        with pytest.raises(SecretFound) as caught:
            refuse_secrets({"title": "Deploy", "content": f"use {TOKEN} to push"})
        error = caught.value
        assert isinstance(error, InvalidArgument)
        assert error.field == "content"
        assert error.secrets == (("content", "GitHub token", 4, 44),)
        assert "GitHub token" in str(error)
        assert "characters 4 to 44" in str(error)
        assert "allowSecret" in str(error)
        assert "aB3dE5" not in f"{error}{error!r}{error.args}{error.secrets}"

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"title": f"Push with {TOKEN}"}, "title"),
            ({"tags": ["deploy", TOKEN]}, "tags[1]"),
            ({"metadata": {"deploy": {"keys": ["a", TOKEN]}}}, "metadata.deploy.keys[1]"),
            ({"metadata": {"db": {"password": "hunter2"}}}, "metadata.db.password"),
            ({"metadata": {"apiKey": HEX}}, "metadata.apiKey"),
            ({"metadata": {TOKEN: 1}}, "metadata"),
            ({"metadata": {TOKEN: {"deep": TOKEN}}}, "metadata"),
            ({"sessionId": TOKEN}, "sessionId"),
        ],
    )
    def test_looks_into_every_field(self, fields, field):
        with pytest.raises(SecretFound) as caught:
            refuse_secrets(fields)
        assert caught.value.field == field
        assert "aB3dE5" not in str(caught.value)
        assert "hunter2" not in str(caught.value)

    def test_lets_a_memory_without_secrets_pass(self):
        refuse_secrets(
            {
                "title": "Retry must stay idempotent",
                "content": "no API key here; it is in process.env.STRIPE_KEY",
                "tags": ["payments", "a3f5c1d2e4b6a7980f1e2d3c4b5a69788796a5b4"],
                "metadata": {"password": None, "token": 3, "secret": True, "key": ["id", 1.5], "apiKey": ""},
                "author": None,
            }
        )

    def test_every_text_of_a_capture_is_looked_at(self):
        names = {"title", "author", "session_id", "agent_id", "parent_id", "id"}
        for name in names:
            request = CaptureRequest("fine", **{name: f"x {TOKEN}"})
            assert [found.kind for found in secrets_in(request_fields(request))] == ["GitHub token"], name
        texts = CaptureRequest(
            TOKEN, tags=(TOKEN,), metadata={"a": TOKEN}, trigger={"on": "merge", "branch": TOKEN}
        )
        assert [found.field for found in secrets_in(request_fields(texts))] == [
            "content",
            "tags[0]",
            "metadata.a",
            "trigger.branch",
        ]

    def test_deep_metadata_is_no_trouble(self):
        value = TOKEN
        for _ in range(5_000):
            value = [value]
        assert [found.kind for found in secrets_in({"metadata": value})] == ["GitHub token"]

    def test_many_secrets_make_a_short_message(self):
        with pytest.raises(SecretFound) as caught:
            refuse_secrets({"content": f"{TOKEN} " * 200})
        assert len(caught.value.secrets) == 200
        assert len(str(caught.value)) < 400
        assert "and 197 more" in str(caught.value)

    def test_nothing_is_logged(self, caplog):
        caplog.set_level(logging.DEBUG)
        with pytest.raises(SecretFound):
            refuse_secrets({"content": TOKEN})
        assert caplog.records == []


@given(st.lists(st.sampled_from([*PIECES, *string.printable, "\u0130", "🔑", "é"]), max_size=40))
def test_any_text(pieces):
    text = "".join(pieces)
    found = find_secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def _long_texts():
    """(what, text): a million characters, or a fifth of that where much is looked at closely."""
    letters = "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=1_000_000))
    million = {
        "letters": letters,
        "one letter": "a" * 1_000_000,
        "keys": "key" * 333_333,
        "address without an end": "http://a:" + "b@" * 500_000,
        "headers": "-----BEGIN PRIVATE KEY-----\n" * 35_000,
        "key lines": "-----BEGIN PRIVATE KEY-----\n" + "AbCd1234" * 125_000,
        "web tokens": "eyJaaaaaaaa." * 83_000,
        "parts of web tokens": "eyJ" + "a" * 4_000 + ("." + "eyJ" + "a" * 4_000) * 250,
        "ampersands": "token=" + "&a" * 500_000,
        "non-ASCII": "İ" * 300_000 + "密码 password 🔑" * 10_000,
    }
    closely = {
        "assignments": "password=",
        "spaces after names": "token" + " " * 50,
        "quotes": "secret='",
        "open quotes": 'password="' + "a1" * 45,
        "addresses": "://a:",
        "PuTTY": "Private-Lines: 1\n",
        "dashes": "-us",
        "tildes": "8Q~",
        "authorization": "Authorization: ",
        "flags": "curl -u a:",
        "types": "password: " + "A." * 20,
        "connections": "host=a password=" + "b" * 84,
    }
    yield from million.items()
    for what, piece in closely.items():
        yield what, piece * (200_000 // len(piece))


@pytest.mark.parametrize(("what", "text"), [pytest.param(*case, id=case[0]) for case in _long_texts()])
def test_a_long_text_of_anything_comes_to_an_end(what, text):
    # No timing is asserted: a pattern that backtracks would take hours on one of these.
    found = find_secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found), what

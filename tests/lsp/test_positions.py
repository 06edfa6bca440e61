"""Positions in the three encodings. Expected values are counted by hand."""

import pytest
from lsprotocol import types

from mnemolens.core.symbols import Position, Range
from mnemolens.core.text import TextChange
from mnemolens.lsp.positions import Positions, whole_text

LINES = [
    "def charge():",
    "x = '😀' + y",  # the emoji: 4 bytes, 2 UTF-16 units, 1 code point
    "名前 = 1",  # each of the two: 3 bytes, 1 unit, 1 code point
    "\tname\r\n",
    "a\fb\vc\u2028d",  # U+2028: 3 bytes, 1 unit, 1 code point; none of the three ends a line
]


def line_text(line):
    return LINES[line].encode() if line < len(LINES) else b""


@pytest.mark.parametrize(
    ("encoding", "line", "character", "column"),
    [
        ("utf-8", 1, 13, 13),
        ("utf-16", 1, 11, 13),
        ("utf-32", 1, 10, 13),
        ("utf-8", 2, 6, 6),
        ("utf-16", 2, 2, 6),
        ("utf-32", 2, 2, 6),
        ("utf-8", 3, 1, 1),
        ("utf-16", 3, 1, 1),
        ("utf-32", 3, 1, 1),
        ("utf-8", 4, 8, 8),
        ("utf-16", 4, 6, 8),
        ("utf-32", 4, 6, 8),
    ],
)
def test_goes_both_ways(encoding, line, character, column):
    positions = Positions.of(encoding)
    assert positions.from_client(types.Position(line, character), line_text) == Position(line, column)
    assert positions.to_client(Position(line, column), line_text) == types.Position(line, character)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-8", 8), ("utf-16", 6)])
def test_inside_a_character_is_its_start(encoding, character):
    found = Positions.of(encoding).from_client(types.Position(1, character), line_text)
    assert found == Position(1, 5)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_beyond_the_end_is_the_end(encoding):
    positions = Positions.of(encoding)
    assert positions.from_client(types.Position(0, 2**31 - 1), line_text) == Position(0, 13)
    assert positions.from_client(types.Position(3, 99), line_text) == Position(3, 5)
    assert positions.from_client(types.Position(77, 4), line_text) == Position(77, 0)


def test_ranges():
    span = Range(Position(1, 13), Position(2, 6))
    there = types.Range(types.Position(1, 11), types.Position(2, 2))
    assert Positions("utf-16").range_to_client(span, line_text) == there
    assert Positions("utf-16").range_from_client(there, line_text) == span


def test_a_change_keeps_the_clients_units():
    span = types.Range(types.Position(1, 11), types.Position(1, 12))
    change = types.TextDocumentContentChangePartial(range=span, text="z")
    assert Positions("utf-32").change_from_client(change) == TextChange("z", (1, 11), (1, 12), "utf-32")
    whole = types.TextDocumentContentChangeWholeDocument(text="new")
    assert Positions("utf-8").change_from_client(whole).start is None


@pytest.mark.parametrize("encoding", [None, "utf-7"])
def test_an_unknown_encoding_is_the_protocols_own(encoding):
    assert Positions.of(encoding).encoding == "utf-16"


def test_lone_surrogates_are_replaced_and_pairs_joined():
    assert whole_text("a\ud83d b") == "a\ufffd b"
    assert whole_text("\ude00") == "\ufffd"
    assert whole_text("😀 é") == "😀 é"
    assert whole_text("\ud83d\ude00") == "😀"

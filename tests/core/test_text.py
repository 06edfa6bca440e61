import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.symbols import Position
from mnemolens.core.text import (
    BinarySource,
    Text,
    TextChange,
    column_from_units,
    decode_source,
    to_bytes,
)

ENCODINGS = ["utf-8", "utf-16", "utf-32"]
characters = st.sampled_from([*"ab \t", "\n", "\r", "\r\n", "\f", "\v", "\u2028", "ä", "語", "🙂", "e\u0301"])
texts = st.lists(characters, max_size=30).map("".join)


def test_only_newline_carriage_return_and_both_end_a_line():
    text = Text("a\nb\r\nc\rd\fe\vf\u2028g\x85h\n")
    assert [text.line(n).decode() for n in range(text.line_count)] == [
        "a",
        "b",
        "c",
        "d\fe\vf\u2028g\x85h",
        "",
    ]


def test_lines_and_offsets():
    text = Text("über\r\n🙂x\n")
    assert text.line_starts == (0, 7, 13)
    assert text.offset(Position(1, 4)) == 11
    assert text.position(11) == Position(1, 4)
    assert text.end == Position(2, 0)


@pytest.mark.parametrize(
    ("position", "offset"),
    [((-1, 5), 0), ((0, -3), 0), ((0, 99), 2), ((1, 99), 6), ((9, 0), 6), ((2, 0), 6)],
)
def test_positions_outside_are_clamped(position, offset):
    # Line 0 is "ab" and a CRLF, line 1 is "cd" without an end.
    assert Text("ab\r\ncd").offset(Position(*position)) == offset


def test_offsets_outside_are_clamped():
    assert Text("ab\ncd").position(-4) == Position(0, 0)
    assert Text("ab\ncd").position(99) == Position(1, 2)
    assert Text("ab").line(7) == b""


# "a🙂é語b": UTF-8 columns 0 1 5 7 10, UTF-16 units 0 1 3 4 5, UTF-32 units 0 1 2 3 4.
@pytest.mark.parametrize(
    ("encoding", "units"),
    [("utf-8", [0, 1, 5, 7, 10, 11]), ("utf-16", [0, 1, 3, 4, 5, 6]), ("utf-32", [0, 1, 2, 3, 4, 5])],
)
def test_columns_in_each_encoding(encoding, units):
    text = Text("a🙂é語b")
    columns = [0, 1, 5, 7, 10, 11]
    assert [text.to_units(Position(0, c), encoding) for c in columns] == units
    assert [text.from_units(0, u, encoding).column for u in units] == columns


def test_a_column_inside_a_character_means_its_start():
    text = Text("a🙂b")
    assert text.from_units(0, 2, "utf-16") == Position(0, 1)
    assert [text.from_units(0, c, "utf-8").column for c in range(7)] == [0, 1, 1, 1, 1, 5, 6]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_units_outside_are_clamped(encoding):
    text = Text("é🙂\nx")
    assert text.from_units(0, 99, encoding) == Position(0, 6)
    assert text.from_units(0, -1, encoding) == Position(0, 0)
    assert text.from_units(5, 3, encoding) == Position(1, 1)
    assert text.from_units(-1, 3, encoding) == Position(0, 0)
    assert text.to_units(Position(5, 3), encoding) == 0


@given(texts, st.integers(0, 40), st.integers(0, 40), st.sampled_from(ENCODINGS))
@settings(max_examples=200, deadline=None)
def test_units_and_columns_are_inverse_at_characters(text, line, units, encoding):
    made = Text(text)
    position = made.from_units(line, units, encoding)
    again = made.from_units(position.line, made.to_units(position, encoding), encoding)
    assert again == position
    made.data[: made.offset(position)].decode("utf-8")  # never inside a character


@given(texts, st.integers(-2, 60), st.integers(-2, 60), texts)
@settings(max_examples=300, deadline=None)
def test_an_edit_gives_the_line_table_of_the_new_text(before, start, end, replacement):
    text = Text(before)
    edited, edit = text.edit(start, end, replacement.encode())
    low, high = sorted((min(max(start, 0), len(text)), min(max(end, 0), len(text))))
    assert edited.data == text.data[:low] + replacement.encode() + text.data[high:]
    assert edited.line_starts == Text(edited.data).line_starts
    assert (edit.start, edit.old_end, edit.new_end) == (low, high, low + len(replacement.encode()))
    assert edit.start_position == text.position(low)
    assert edit.old_end_position == text.position(high)
    assert edit.new_end_position == edited.position(edit.new_end)


@given(
    texts,
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), texts), max_size=5),
    st.sampled_from(ENCODINGS),
)
@settings(max_examples=200, deadline=None)
def test_changes_in_order_are_what_a_plain_string_would_do(before, changes, encoding):
    """Against a model that works on code points."""
    text, plain = Text(before), before
    for line, character, new in changes:
        position = text.from_units(line, character, encoding)
        at = len(text.data[: text.offset(position)].decode())
        plain = plain[:at] + new + plain[at:]
        text, _ = text.apply(TextChange(new, (line, character), (line, character), encoding))
        assert str(text) == plain


def test_a_change_without_range_replaces_everything():
    text, edit = Text("old\ntext").apply(TextChange("new"))
    assert text.data == b"new"
    assert (edit.start, edit.old_end, edit.new_end) == (0, 8, 3)


@given(st.text(alphabet="aé€\U0001f600", max_size=8), st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_a_utf16_column_is_the_start_of_the_character_that_holds_it(line, character):
    starts, units = [], 0
    for char in line:
        starts.append(units)
        units += 2 if ord(char) > 0xFFFF else 1
    before = sum(1 for at, start in enumerate(starts) if ([*starts, units])[at + 1] <= character)
    assert column_from_units(line.encode(), character, "utf-16") == len(line[:before].encode())


def test_a_reversed_range_is_taken_the_right_way_round():
    assert Text("abcdef").apply(TextChange("X", (0, 4), (0, 2)))[0].data == b"abXef"


def test_lone_surrogates_keep_their_width():
    assert to_bytes("a\ud83db") == b"a?b"


@pytest.mark.parametrize(
    ("raw", "data", "noted"),
    [
        (b"plain", b"plain", False),
        (b"\xef\xbb\xbfx", b"x", True),
        (b"caf\xe9", "café".encode(), True),
        (b"", b"", False),
    ],
)
def test_decode_source(raw, data, noted):
    source = decode_source(raw)
    assert source.data == data
    assert bool(source.notes) == noted


@pytest.mark.parametrize("raw", [b"a\0b", "text".encode("utf-16")])
def test_binary_is_refused(raw):
    with pytest.raises(BinarySource):
        decode_source(raw)

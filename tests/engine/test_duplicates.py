"""Contents that a person would call the same (CONTRACT §4), found without reading each text as a whole."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.engine import duplicates
from mnemolens.engine.duplicates import SameContent

CONTENTS = st.text(alphabet=" \n\r\tabcé\u0301e", min_size=1, max_size=14).filter(str.strip)


def normalised(text):
    """NFC, line ends as LF, trimmed, runs of white space joined."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return " ".join(unicodedata.normalize("NFC", lines).split())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.none() | CONTENTS), max_size=12), CONTENTS)
def test_they_are_found_after_any_changes(changes, content):
    table, now = SameContent(), {}
    for number, text in changes:
        table.note(str(number), text)
        now[str(number)] = text
    found = {one for one, text in now.items() if text and normalised(text) == normalised(content)}
    assert table.same_as(content) == found


def test_a_long_text_is_read_only_where_another_begins_and_ends_like_it(monkeypatch):
    read = []

    def noted(text):
        read.append(text)
        return text

    monkeypatch.setattr(duplicates, "normalised_hash", noted)
    table = SameContent()
    table.note("1", "the first words are alike " + "x" * 1000 + " and so are the last")
    table.note("2", "these are not")
    assert table.same_as("something else altogether") == frozenset()
    assert read == []
    table.same_as("the first words are alike " + "y" * 1000 + " and so are the last")
    assert len(read) == 2

"""Whatever is typed into the samples, an open document's symbols are those of a full extraction."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.core.text import TextChange
from mutations import Typing, check_damaged, damaged

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name for path in SAMPLES.iterdir())
PIECES = [
    "x", "(", ")", "{", "}", "\n", "    ", " ", "🙂", "ä", '"', "#", "//", "/*", "*/", "\r\n", ";", "= 1", "",
    "f()", "class A {\n}\n", "#else\n", "#endif\n", "/// doc\n", "end\n", "type T struct{ T }\n", "A_B(x)",
]  # fmt: skip


@st.composite
def changes(draw, text):
    """One change: a piece or a line of the text itself put in, or something taken out, anywhere."""
    lines = text.split("\n")
    first = draw(st.integers(0, len(lines) - 1))
    at = (first, draw(st.integers(0, len(lines[first]))))
    to = at
    if draw(st.booleans()):
        last = min(first + draw(st.integers(0, 3)), len(lines) - 1)
        to = max(at, (last, draw(st.integers(0, len(lines[last])))))
    piece = draw(st.sampled_from(PIECES) | st.sampled_from(lines).map(lambda line: line + "\n"))
    return TextChange(piece, at, to, draw(st.sampled_from(["utf-8", "utf-16", "utf-32"])))


def settle(document):
    while document.pending:
        document.parse_slice(1)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_incremental_is_what_a_full_extraction_gives(name, data):
    text, language = (SAMPLES / name).read_text("utf-8"), language_of(name)
    if data.draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    document = Document(text, language)
    for batch in data.draw(st.lists(st.lists(changes(text), min_size=1, max_size=2), min_size=1, max_size=4)):
        document.apply(batch)
        settle(document)
        full = extract(document.text.data, language)
        assert document.symbols.partial == full.partial
        if not full.partial:
            assert document.symbols == full
            assert document.symbols.ranges == full.ranges
    document.apply([TextChange(text)])
    settle(document)
    assert document.symbols == extract(text.encode(), language)
    assert document.symbols.ranges == extract(text.encode(), language).ranges


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_read_all_the_same(name):
    """A handful of what `bench/fuzz.py` does with real sources for as long as it is told to."""
    sources = [(SAMPLES / other).read_bytes() for other in NAMES]
    for seed in range(12):
        random = Random(seed)
        raw = damaged((SAMPLES / name).read_bytes(), random.choice(sources), random)
        check_damaged(raw, language_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_typing_in_the_sample_moves_nothing_that_nobody_typed_in(name):
    for seed in range(2):
        typing = Typing((SAMPLES / name).read_text("utf-8"), language_of(name), Random(seed))
        for _ in range(6):
            typing.edit()
        typing.make_whole()

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import parse_fixture
from mnemolens.codegraph.document import LARGE_BYTES, Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.core.symbols import Position
from mnemolens.core.text import TextChange

PYTHON = language_named("python")

SOURCE = '''\
"""A shop."""
import os
from a.b import c as d


class Cart(Base):
    """What is 🛒 bought."""

    limit = 3

    def add(self, item, *more):
        # größer
        self.items.append(item)
        return check(item)

    async def pay(self):
        def inner(x):
            return x

        return await inner(self.total())
    # trailing


def check(item):
    if item:
        return os.path.join(item, "x")
    return None


key = lambda value: value.key
'''

LINES = [
    "def f(a, b=1):",
    "    def g(self):",
    "        return f(1)",
    "    return x",
    "class A(B, c.D):",
    "    pass",
    "    x = 1",
    "if y:",
    "else:",
    "k = lambda q: q()",
    "# größe 🙂",
    "    '''doc'''",
    "'''doc'''",
    '"""',
    "    # note",
    "@deco(1)",
    "    @property",
    "",
    "x = (",
    ")",
    "from . import z",
    "\f",
    "async def h(): await f()",
    "global_ = '🙂' + f()",
]
PIECES = [
    "x", "(", ")", ":", "\n", "    ", " ", "🙂", "ä", "def f(): pass\n", '"', "#", "\r\n", "\r", "async ", "_", "= 1",
    "", "class A:\n    def f(self): pass\n",
]  # fmt: skip


@st.composite
def texts(draw):
    if draw(st.booleans()):
        return SOURCE
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    return end.join(draw(st.lists(st.sampled_from(LINES), max_size=25)))


@st.composite
def changes(draw):
    at = (draw(st.integers(0, 36)), draw(st.integers(0, 20)))
    to = at if draw(st.booleans()) else (at[0] + draw(st.integers(0, 3)), draw(st.integers(0, 20)))
    text = draw(st.sampled_from(PIECES) | st.sampled_from(LINES).map(lambda line: line + "\n"))
    return TextChange(text, at, to, draw(st.sampled_from(["utf-8", "utf-16", "utf-32"])))


def assert_same(document):
    full = extract(document.text.data, PYTHON)
    assert document.symbols == full
    assert document.symbols.ranges == full.ranges


@settings(max_examples=150, deadline=None)
@given(texts(), st.lists(st.lists(changes(), min_size=1, max_size=3), min_size=1, max_size=6), st.booleans())
def test_incremental_is_what_a_full_extraction_gives(text, batches, sliced):
    document = Document(text, PYTHON)
    whole = not document.symbols.partial
    assert_same(document)
    for batch in batches:
        document._slow = sliced
        document.apply(batch)
        while document.pending:
            document.parse_slice(0.01)
        broken = extract(document.text.data, PYTHON).partial
        assert document.symbols.partial == broken
        if not broken or not whole:
            assert_same(document)
        whole = whole or not broken
    # Whatever was broken, a whole text is read exactly.
    document.apply([TextChange(SOURCE)])
    while document.pending:
        document.parse_slice(0.01)
    assert_same(document)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SOURCE) - 1), st.sampled_from(PIECES)), min_size=1, max_size=5))
def test_breaking_and_undoing_gives_the_same(edits):
    document = Document(SOURCE, PYTHON)
    before = document.symbols
    for at, piece in edits:
        line, column = SOURCE[:at].count("\n"), at - SOURCE.rfind("\n", 0, at) - 1
        document.apply([TextChange(piece, (line, column), (line, column), "utf-32")])
        end = document.text.position(
            document.text.offset(document.text.from_units(line, column, "utf-32")) + len(piece.encode())
        )
        document.apply(
            [TextChange("", (line, column), tuple(end), "utf-8")] if False else [TextChange(SOURCE)]
        )
        assert document.symbols == before
        assert document.symbols.ranges == before.ranges

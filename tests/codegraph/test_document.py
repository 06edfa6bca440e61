import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import parse_fixture
from mnemolens.codegraph.document import LARGE_BYTES, Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.core.symbols import Position, Range
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
    "x", "(", ")", ":", "\n", "    ", " ", "🙂", "ä", "def f(): pass\n", '"', "#", "\r\n", "\r", "async ",
    "_", "= 1", "", "class A:\n    def f(self): pass\n",
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


def settle(document):
    while document.pending:  # a busy machine makes any parse slow
        document.parse_slice(1)


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
        full = extract(document.text.data, PYTHON)
        assert document.symbols.partial == full.partial
        # Of a text that never was whole, a parse in slices may recover something else than one in one go.
        if not full.partial or not (whole or sliced):
            assert_same(document)
        whole = whole or not full.partial
    # Whatever was broken, a whole text is read exactly.
    document.apply([TextChange(SOURCE)])
    while document.pending:
        document.parse_slice(0.01)
    assert_same(document)


@settings(max_examples=100, deadline=None)
@given(texts(), st.lists(st.tuples(st.lists(changes(), min_size=1, max_size=3), st.booleans()), max_size=6))
def test_changes_that_are_put_off_come_to_what_the_same_changes_at_once_do(text, batches):
    document, at_once = Document(text, PYTHON), Document(text, PYTHON)
    for batch, asked in batches:
        document.apply(batch, later=True)
        at_once.apply(batch)
        if asked:
            settle(at_once)
            assert document.catch_up()
    if all(asked for _, asked in batches):
        assert (document.symbols, document.symbols.ranges) == (at_once.symbols, at_once.symbols.ranges)
    document.apply([TextChange(SOURCE)], later=True)
    assert document.pending
    assert document.catch_up()
    assert_same(document)


TS_SOURCE = """\
import { pay } from "./pay";
/** A 🛒. */
export class Cart<T> extends Base implements Open {
  /** Adds. */
  add(item: T, ...more: T[]): void { this.items.push(item); }
  handler = async () => { await pay(`${this.total()} €`); };
}
function over(a: string): void;
function over(a: any) { return a; }
const api = { get: () => 1, put() { return over(2); } };
interface Open { open(): void }
export default api;
"""
TS_PIECES = [
    "x", "(", ")", "{", "}", "`", '"', "/* ", "*/", "/** doc */\n", "\n", " ", "🙂", "function f() {}\n",
    "=> ", ";", "export ", "async ", "class A { f() {} }\n", "// c\n", "const a = () => 1;\n", ": T",
    "@d() ", "", "\r\n",
]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 60), st.integers(0, 8), st.sampled_from(TS_PIECES)),
        min_size=1,
        max_size=6,
    )
)
def test_typescript_too(edits):
    language = language_named("typescript")
    document = Document(TS_SOURCE, language)
    for line, column, length, piece in edits:
        document.apply([TextChange(piece, (line, column), (line, column + length))])
        settle(document)
        full = extract(document.text.data, language)
        assert document.symbols.partial == full.partial
        if not full.partial:
            assert document.symbols == full
            assert document.symbols.ranges == full.ranges
    document.apply([TextChange(TS_SOURCE)])
    settle(document)
    assert document.symbols == extract(TS_SOURCE.encode(), language)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        # No lone "\r": before a "\n" it makes one line end, into which no position points.
        st.tuples(st.integers(0, len(SOURCE) - 1), st.sampled_from([p for p in PIECES if p != "\r"])),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_typed_and_deleted_leaves_everything_as_it_was(edits):
    document = Document(SOURCE, PYTHON)
    before = document.symbols
    for at, piece in edits:
        start = document.text.position(len(SOURCE[:at].encode()))
        document.apply([TextChange(piece, start, start, "utf-8")])
        settle(document)
        end = document.text.position(len((SOURCE[:at] + piece).encode()))
        document.apply([TextChange("", start, end, "utf-8")])
        settle(document)
        assert str(document.text) == SOURCE
        assert document.symbols == before
        assert document.symbols.ranges == before.ranges


def opened(fixture):
    files, cursor = parse_fixture(fixture)
    (text,) = files.values()
    return Document(text, PYTHON), cursor[1] if cursor else None


def typed(document, position, text):
    document.apply([TextChange(text, position, position, "utf-8")])
    settle(document)


def test_a_syntax_error_keeps_the_last_good_symbols_and_moves_their_ranges():
    document, cursor = opened("""
        def charge(amount):
            return $0amount


        def refund(amount):
            return -amount
        """)
    typed(document, cursor, "(\n\n")
    assert document.symbols.partial
    assert [s.qualname for s in document.symbols.symbols] == ["charge", "refund"]
    charge, refund = document.symbols.ranges
    assert charge.definition == Range(Position(0, 0), Position(3, 6))
    assert refund.definition == Range(Position(6, 0), Position(7, 18))
    assert refund.name == Range(Position(6, 4), Position(6, 10))
    assert document.name_at(Position(6, 5)) == 1
    document.apply([TextChange("", (1, 11), (3, 0), "utf-8")])
    settle(document)
    assert not document.symbols.partial
    assert document.symbols.ranges == extract(document.text.data, PYTHON).ranges


def test_a_stray_triple_quote_orphans_nothing():
    document, cursor = opened("""
        def a():
            $0return 1

        def b():
            return 2
        """)
    typed(document, cursor, '"""')
    assert document.symbols.partial
    assert [s.qualname for s in document.symbols.symbols] == ["a", "b"]


def test_what_a_broken_text_has_from_the_start_is_recovered():
    document, _ = opened("""
        def a(:
            pass

        def b():
            return 2
        """)
    assert document.symbols.partial
    assert "b" in [s.qualname for s in document.symbols.symbols]


def test_unchanged_definitions_stay_the_same_objects():
    document, cursor = opened("""
        class A:
            def a(self):
                return $01

            def b(self):
                return 2

        def c():
            return 3
        """)
    before = document.symbols.symbols
    typed(document, cursor, "4")
    after = document.symbols.symbols
    assert [x is y for x, y in zip(before, after, strict=True)] == [False, False, True, True]


def test_an_edit_that_changes_no_structure_leaves_the_symbols_equal():
    document, cursor = opened("""
        $0def a():
            return 1
        """)
    before = document.symbols
    typed(document, cursor, "# a comment\n")
    assert document.symbols == before
    assert document.symbols.ranges[0].definition.start == Position(1, 0)


def test_a_large_text_is_read_in_slices():
    source = "".join(f"def f{n}(x):\n    return x + {n}\n\n" for n in range(LARGE_BYTES // 32))
    document = Document(source, PYTHON)
    assert document.pending
    assert document.symbols.partial
    slices = 0
    while not document.parse_slice(1):
        slices += 1
    assert slices > 1
    assert not document.pending
    assert_same(document)
    document._slow = True
    document.apply([TextChange("\n\n", (0, 0), (0, 0))])
    assert document.pending
    assert document.symbols.ranges[0].definition.start == Position(2, 0)
    document.apply([TextChange("def g(): pass\n", (0, 0), (0, 0))])
    while not document.parse_slice(1):
        pass
    assert document.symbols.symbols[0].qualname == "g"
    assert_same(document)


def test_a_file_of_an_unknown_type_is_text_only():
    document = Document("hello\n", None)
    document.apply([TextChange("x", (0, 0), (0, 0))])
    assert str(document.text) == "xhello\n"
    assert document.symbols.symbols == ()
    assert not document.symbols.partial
    assert document.reference_at(Position(0, 0)) is None


@pytest.mark.parametrize(
    ("fixture", "name", "receiver"),
    [
        ("cha$0rge(1)", "charge", ""),
        ("charge$0(1)", "charge", ""),
        ("self.items.ad$0d(1)", "add", "self.items"),
        ("self.it$0ems.add(1)", "items", "self"),
        ("se$0lf.items.add(1)", "self", ""),
        ("super().ad$0d(1)", "add", "super()"),
        ("Shop().ad$0d(1)", "add", "Shop()"),
        ("f(1).ad$0d(1)", "add", "f()"),
        ("f[1].ad$0d(1)", "add", None),
        ("from shop import cha$0rge", "charge", ""),
        ("from shop import cha$0rge as pay", "pay", ""),
    ],
)
def test_reference_at(fixture, name, receiver):
    document, cursor = opened(fixture)
    reference = document.reference_at(cursor)
    assert (reference.name, reference.receiver, reference.scope) == (name, receiver, -1)


@pytest.mark.parametrize(
    "fixture",
    [
        "f(na$0me=1)",
        "def na$0me(): pass",
        "from sh$0op import x",
        "from .sh$0op import x",
        "'te$0xt'",
        "# te$0xt",
        "f($0)",
        "1$02",
        "$0",
    ],
)
def test_no_reference_at(fixture):
    document, cursor = opened(fixture)
    assert document.reference_at(cursor) is None


def test_the_scope_of_a_reference_is_the_innermost_definition():
    document, cursor = opened("""
        class A:
            def a(self):
                def inner():
                    return ch$0eck()
        """)
    assert document.symbols.symbols[document.reference_at(cursor).scope].qualname == "A.a.inner"
    assert document.symbols.symbols[document.symbol_at(cursor)].qualname == "A.a.inner"
    assert document.symbol_at(Position(0, 0)) == 0
    assert document.name_at(Position(1, 9)) == 1
    assert document.name_at(Position(1, 11)) is None


def test_a_busy_machine_makes_no_text_slow(monkeypatch):
    ticks = itertools.count(step=10)  # whenever the clock is asked, others have had ten seconds
    monkeypatch.setattr("mnemolens.codegraph.document.perf_counter", lambda: next(ticks))
    document = Document(SOURCE, PYTHON)
    assert not document.pending
    for column in range(4):
        document.apply([TextChange("x", (0, 3 + column), (0, 3 + column))])
        assert not document.pending


def test_a_huge_text_stays_one_that_is_read_in_slices(monkeypatch):
    monkeypatch.setattr("mnemolens.codegraph.document.HUGE_BYTES", 100)
    document = Document(SOURCE, PYTHON)
    document.apply([TextChange("x", (0, 3), (0, 3))])
    settle(document)
    document.apply([TextChange("x", (0, 3), (0, 3))])
    assert document.pending
    settle(document)
    assert_same(document)


@pytest.mark.parametrize("text", ["\n", "\n\n", "x = 1\n", "", "# c\n"])
def test_ranges_follow_at_once_what_is_not_parsed_yet(text):
    document = Document(SOURCE, PYTHON)
    for at in ((0, 0), (5, 0), (12, 8), (18, 0)):
        document._slow = True
        document.apply([TextChange(text, at, at)])
        assert document.pending
        ahead = document.symbols.ranges
        settle(document)
        assert [r.name for r in ahead] == [r.name for r in document.symbols.ranges]


TYPEDEF = """\
/* trees */
typedef struct tree {
    struct tree *left;
} tree_type;
"""


def test_a_struct_in_a_typedef_stays_while_something_above_is_typed():
    document = Document(TYPEDEF, language_named("c"))
    kept = [("tree_type", "type"), ("tree", "struct")]
    assert [(s.qualname, s.kind) for s in document.symbols.symbols] == kept
    document.apply([TextChange("x", (0, 3), (0, 3))])
    assert [(s.qualname, s.kind) for s in document.symbols.symbols] == kept


@pytest.mark.parametrize(("line", "column", "name"), [(1, 16, "tree"), (3, 4, "tree_type")])
def test_a_name_behind_its_body_and_a_name_in_that_body_are_both_found(line, column, name):
    document = Document(TYPEDEF, language_named("c"))
    assert document.symbols.symbols[document.name_at(Position(line, column))].name == name


def test_symbols_that_are_known_already_are_the_same_objects():
    known = extract(SOURCE.encode(), PYTHON)
    document = Document(SOURCE.replace("limit = 3", "limit = 4"), PYTHON, symbols=known)
    assert document.symbols == extract(str(document.text).encode(), PYTHON)
    same = [one is other for one, other in zip(known.symbols, document.symbols.symbols, strict=True)]
    assert same.count(False) == 1  # the class, whose text changed
    assert known.symbols[same.index(False)].qualname == "Cart"


def test_a_document_that_was_let_go_can_still_be_read():
    many = "".join(f"class C{n}:\n    def pay(self):\n        return {n}\n" for n in range(600))
    document = Document(many, PYTHON)
    for _ in document.letting_go():
        pass
    document.apply([TextChange("y = 1\n", (0, 0), (0, 0))])
    while not document.parse_slice():
        pass
    assert document.symbols == extract(b"y = 1\n" + many.encode(), PYTHON)
    assert list(Document("", None).letting_go()) == []

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.codegraph import comments
from mnemolens.codegraph.comments import LONG_RUN, difference, may_be_long, shortened
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.tokens import identifiers_of, state_from_snippet
from mnemolens.core.symbols import Position
from mnemolens.core.text import Text, TextChange

PYTHON = language_named("python")
TYPESCRIPT = language_named("typescript")
HASH = PYTHON.line_comments
SLASHES = TYPESCRIPT.line_comments


def short_runs():
    """Makes runs of three comments long ones, so that small examples hold many."""
    return patch.multiple(comments, LONG_RUN=3, _KEPT=1, _FAR=12)


def cut(source, what=HASH):
    with short_runs():
        result = shortened(source.encode(), what)
    assert len(result) == len(source.encode())
    return result.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x\n# a\n# b\n# c\ny\n", "x\n# a\n   \n   \ny\n"),
        ("x\n# a\n\n  # bc\n\t# d\ny\n", "x\n# a\n\n      \n    \ny\n"),
        ("x\r\n# a\r\n# b\r\n# c\r\ny", "x\r\n# a\r\n   \r\n   \r\ny"),
        ("x\n# a\n# b\n# c", "x\n# a\n   \n   "),
        ("x\n# a\n# b\ny\n# c\n# d\n", "x\n# a\n# b\ny\n# c\n# d\n"),
        ("x\n# a\n# b\ny # c\n# d\n", "x\n# a\n# b\ny # c\n# d\n"),
        ("x\n# a\n# größe\n# c\ny\n", "x\n# a\n         \n   \ny\n"),
        ('x\n# a\n# "b"\n# it\'s\ny\n', "x\n# a\n     \n      \ny\n"),
        ("x\n# a\n# {b}\n# c\ny\n", "x\n# a\n     \n   \ny\n"),
    ],
)
def test_all_but_the_first_line_of_a_long_run_become_blank(source, expected):
    assert cut(source) == expected


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        ('x = """\n# a\n# b\n# """\ny\n', '# """'),  # ends a string that may be around it
        ("x = '''\n# a\n# b\n# '''\ny\n", "# '''"),
        ('x = "\\\n# a\\\n# b\\\n# c\\\n# d"\ny\n', '# b\\\n# c\\\n# d"'),  # each is part of the one before
        ('x = "\\\r\n# a\\\r\n# b\\\r\n# c"\r\n', '# b\\\r\n# c"'),
        ('f"""\n# a\n# {b}\n# {c}\n"""\n', "# {b}\n# {c}"),  # code in a string
        ('rf"""\n# a\n# {b\n# }\n"""\n', "# {b\n# }"),
    ],
)
def test_a_line_that_may_be_more_than_a_comment_stays(source, stays):
    assert stays in cut(source)


@pytest.mark.parametrize("line", ["// `", "// ${b}", "// */", "// /*", "// <b>", "// b\\"])
def test_lines_of_typescript_that_stay(line):
    assert cut(f"x\n// a\n// b\n{line}\n// c\n", SLASHES).count(line) == 1


def test_short_runs_and_other_languages_are_left_alone():
    short = b"x\n" + b"# a\n" * (LONG_RUN - 1)
    assert shortened(short, HASH) is short
    assert shortened(short + b"# a\n", None) == short + b"# a\n"
    assert shortened(short + b"# a\n", HASH) == b"x\n# a\n" + b"   \n" * (LONG_RUN - 1)


def test_a_docstring_keeps_what_looks_like_comments():
    title = "\n".join(f"    # heading {n}" for n in range(LONG_RUN + 5))
    source = f'def f():\n    """Text.\n\n{title}\n    """\n    return """\n{title}\n"""\n'
    symbols = extract(source.encode(), PYTHON)
    plain = extract(source.encode(), replace(PYTHON, line_comments=None))
    assert symbols == plain
    assert symbols.symbols[0].docstring.count("# heading") == LONG_RUN + 5
    document = Document(source, PYTHON)
    while document.pending:
        document.parse_slice()
    assert document.symbols == plain


def test_snippets_are_read_the_same():
    source = "def f(x):\n    return x\n" + "    # old = f(x)\n" * (LONG_RUN + 5) + "    g(x)\n"
    short = "def f(x):\n    return x\n    g(x)\n"
    assert state_from_snippet(source, PYTHON) == state_from_snippet(short, PYTHON)
    assert identifiers_of(source, PYTHON) == {"def", "f", "x", "return", "g"}


def test_an_identifier_behind_a_long_run_is_found():
    document = Document("def f(): pass\n" + "# old\n" * (LONG_RUN + 5) + "f()\n", PYTHON)
    while document.pending:
        document.parse_slice()
    assert document.reference_at(Position(LONG_RUN + 6, 0)).name == "f"


BLOCKS = [
    "def f(a):\n    return h(1)",
    "def g(b):\n    # first\n    x = 1\n    # last",
    "class A:\n    def g(self):\n        pass\n    # c\n    # d",
    "if y:\n    z()\n# a\n# b\n# c\nelse:\n    w()",
    "x = [\n# a\n# b\n# c\n]",
    'def d():\n    """\n    # a\n    # b\n    # c\n    """',
    's = """\n# a\n# {b}\n# it\'s\n# d"""',
    'f"""\n# a\n# {b()}\n# {c()}\n# d"""',
    's = "\\\n# a\\\n# b\\\n# c\\\n# d"',
    "x = 1 + \\\n    2",
    "@deco\n# a\n# b\n# c\ndef e(): pass",
    "",
    "  ",
    "\f",
    "# a",
    "    # c",
    "        # it's",
    "# {",
    "# }",
    "# \\",
    '# """',
    "#",
    "# a\n# b\n# c",
    "    # ü\n\n    # b\n# c\n    # d",
]
LINES = [
    "    def g(b):", "    return h(1)", "    pass", "class A:", '"""', "'''", 'f"""', "x = (", ")", "else:",
    's = "\\', '"', "# {k(1)}", "# '''",
]  # fmt: skip
PIECES = [
    "#",
    "# x\n",
    "\n",
    " ",
    '"""',
    "'''",
    "\\",
    "{",
    "",
    "def q(): pass\n",
    "\r\n",
    "\r",
    "# a\n# b\n# c\n",
]


@st.composite
def texts(draw):
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    return "\n".join(draw(st.lists(st.sampled_from(BLOCKS), max_size=12))).replace("\n", end)


@st.composite
def changes(draw):
    at = (draw(st.integers(0, 30)), draw(st.integers(0, 12)))
    to = at if draw(st.booleans()) else (at[0] + draw(st.integers(0, 4)), draw(st.integers(0, 12)))
    text = draw(st.sampled_from(PIECES) | st.sampled_from(LINES).map(lambda line: line + "\n"))
    return TextChange(text, at, to, "utf-8")


@settings(max_examples=300, deadline=None)
@given(texts())
def test_no_symbol_changes(text):
    plain = extract(text.encode(), replace(PYTHON, line_comments=None))
    with short_runs():
        found = extract(text.encode(), PYTHON)
    assert found.partial == plain.partial
    if not plain.partial:
        assert found == plain
        assert found.ranges == plain.ranges


@settings(max_examples=200, deadline=None)
@given(texts(), st.lists(st.lists(changes(), min_size=1, max_size=3), min_size=1, max_size=6), st.booleans())
def test_incremental_is_what_a_full_extraction_gives(text, batches, sliced):
    with short_runs():
        document = Document(text, PYTHON)
        for batch in batches:
            document._slow = sliced
            document.apply(batch)
            while document.pending:
                document.parse_slice(0.01)
            full = extract(document.text.data, PYTHON)
            assert document.symbols.partial == full.partial
            if not full.partial:
                assert document.symbols == full
                assert document.symbols.ranges == full.ranges


@settings(max_examples=200, deadline=None)
@given(texts(), changes())
def test_a_run_that_an_edit_makes_long_is_noticed(text, change):
    with short_runs():
        before = Text(text.replace("\r\n", "\n").replace("\r", "\n"))
        after, edit = before.apply(change)
        if shortened(before.data, HASH) is before.data and shortened(after.data, HASH) is not after.data:
            assert may_be_long(after, edit, HASH)


def test_no_edit_in_ordinary_text_makes_a_run_long():
    text = Text("def f():\n    # a\n    pass\n" * 40)
    after, edit = text.apply(TextChange("# b\n", (50, 0), (50, 0)))
    assert not may_be_long(after, edit, HASH)
    assert not may_be_long(after, edit, None)


@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 39), st.binary(min_size=1, max_size=1))))
def test_where_two_texts_differ(first, changed):
    second = bytearray(first)
    for at, byte in changed:
        if at < len(second):
            second[at : at + 1] = byte
    places = [at for at, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    assert difference(first, bytes(second)) == ((places[0], places[-1] + 1) if places else None)


def test_the_parser_sees_no_long_run():
    source = "def f(x):\n    return x\n" + "# x\n" * 5000
    assert PYTHON.parse(source.encode()).root_node.descendant_count < 100
    document = Document(source, PYTHON)
    while document.pending:
        document.parse_slice()
    for line, text in ((1, "#"), (2000, "#"), (2000, "# new\n"), (2000, "\n")):
        document.apply([TextChange(text, (line, 0), (line, 0))])
        while document.pending:
            document.parse_slice()
        assert document._tree.root_node.descendant_count < 100

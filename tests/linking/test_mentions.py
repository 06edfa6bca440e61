"""What a text mentions: which rule, where exactly, marked or not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.linking import Rule, mentions
from mnemolens.linking.mentions import MAX_MENTIONS, SCAN_LIMIT, shape_of


def said(content):
    return [(m.rule, m.text, m.marked) for m in mentions("", content)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("call `load` now", [("code_span", "load", True)]),
        ("call ``load`` now", [("code_span", "load", True)]),
        ("call load() now", [("call", "load", True)]),
        ("call `load(path)` now", [("code_span", "load", True)]),
        ("call `.load()` now", [("code_span", "load", True)]),
        ("Class.method here", [("dotted", "Class.method", False)]),
        ("Class.method() here", [("call", "Class.method", True)]),
        ("Class#method here", [("dotted", "Class#method", False)]),
        ("(*Client).Do retries", [("receiver", "Client).Do", True)]),
        ("func (c *Client) Do(r Request) stops", [("receiver", "Client) Do", True)]),
        ("func (c Client) Do stops", [("receiver", "Client) Do", True)]),
        ("func (q *Queue[T]) Push stops", [("receiver", "Queue[T]) Push", True)]),
        ("Queue[int].Push stops", [("receiver", "Queue[int].Push", True)]),
        (
            "Cache[string, []store.Item].Get",
            [("receiver", "Cache[string, []store.Item].Get", True), ("dotted", "store.Item", False)],
        ),
        (
            "Cache[string, Order].Get",
            [("receiver", "Cache[string, Order].Get", True), ("capitalised", "Order", False)],
        ),
        ("new Shelf<string>.take()", [("receiver", "Shelf<string>.take", True)]),
        ("rows[urlopen].size", [("word", "urlopen", False)]),
        ("main.main.func1()", [("call", "main.main", True)]),
        ("main.load.func2.1(0xc0)", [("call", "main.load", True)]),
        ("main.(*Server).Stop.func1()", [("receiver", "Server).Stop", True)]),
        ("the retry\\_count is", [("snake_case", "retry_count", False)]),
        ("\\_\\_init\\_\\_", [("snake_case", "__init__", False)]),
        ("my\\_mod.do\\_it()", [("call", "my_mod.do_it", True)]),
        ("Class.\\_method", [("dotted", "Class._method", False)]),
        ("`retry\\_count`", [("code_span", "retry_count", True)]),
        ("[do\\_it](a.py)", [("markdown_link", "do_it", True), ("path", "a.py", False)]),
        ("my\\_file.py", [("path", "my_file.py", False)]),
        ("src\\_own\\auth.py", [("path", "src\\_own\\auth.py", False)]),
        ("(see Foo_a) bar_b", [("snake_case", "Foo_a", False), ("snake_case", "bar_b", False)]),
        ("(by *Foo_a*) bar_b", [("snake_case", "Foo_a", False), ("snake_case", "bar_b", False)]),
        ("load_config", [("snake_case", "load_config", False)]),
        ("_private", [("snake_case", "_private", False)]),
        ("loadConfig", [("camel_case", "loadConfig", False)]),
        ("an HTTPAdapter", [("pascal_case", "HTTPAdapter", False)]),
        ("a Kubelet of ours", [("capitalised", "Kubelet", False)]),
        ("urlopen of ours", [("word", "urlopen", False)]),
        ("MAX_SIZE", [("snake_case", "MAX_SIZE", False)]),
        ("src/auth.py", [("path", "src/auth.py", False)]),
        ("src/auth.py:42.", [("path", "src/auth.py", False)]),
        ("(see auth.py)", [("path", "auth.py", False)]),
        ("my-file.test.ts!", [("path", "my-file.test.ts", False)]),
        ("..\\src\\auth.py", [("path", "..\\src\\auth.py", False)]),
        ("C:\\src\\auth.py", [("path", "C:\\src\\auth.py", False)]),
        (":func:`load`", [("role", "load", True)]),
        (":py:meth:`~pkg.Class.method`", [("role", "pkg.Class.method", True)]),
        (":class:`the class <pkg.Class>`", [("role", "pkg.Class", True)]),
        ("函数resolve_redirects会", [("snake_case", "resolve_redirects", False)]),
        ("`gro\u0308\u00dfe()`", [("code_span", "gr\u00f6\u00dfe", True)]),
        ("\x1b[1;31mload\x1b[0m() \x1b[31mload_it()\x1b[0m", [("call", "load_it", True)]),
        ("urlopen\u0301 and load_it\u0308 and \u0301do_it", []),
        ("`größe`", [("code_span", "größe", True)]),
        ("`函数()`", [("code_span", "函数", True)]),
        ("a.py::load", [("symbol_id", "load", True)]),
        ("a.py::C::load and", [("symbol_id", "C::load", True)]),
        ("[load](a.py#L3)", [("markdown_link", "load", True), ("path", "a.py", False)]),
        ("file:///x/a.py", [("path", "file:///x/a.py", True)]),
        ("", []),
    ],
)
def test_rules(content, expected):
    assert said(content) == expected


@pytest.mark.parametrize(
    "content",
    [
        "get load update close test run main index",
        "Load the list. Update it, then close.",
        "the URL and the API of HTTP",
        "https://example.com/src/auth.py?load_config=1",
        "load_config@example.com",
        "see www: http://a_b.c_d/load_config",
        "fix it, run it, ab cd efg",
        "--dry_run and --urlopen",
        "urlopen=3 and dry_run=4",
        "préload_config naïve_urlopen",
        "charge(s) process(es) load(ed)",
        "urlopen-like things",
        "e.g. this, i.e. that",
        "`git commit -m load`",
        "```\nload urlopen Kubelet\n```",
        "~~~text\nopen(x) print(y) [].get(z)\n~~~",
    ],
)
def test_nothing_is_meant(content):
    assert [m for m in said(content) if m[0] != "dotted"] == []


def test_a_span_ends_with_its_paragraph():
    assert said("a ` b\n\nload ` c") == []


def test_a_stray_backtick_marks_nothing_behind_it():
    assert said("it's ``` load and `close` ok") == [("code_span", "close", True)]


def test_a_fence_left_open_reaches_to_the_end():
    assert said("```py\nload_config()\nclose") == [("call", "load_config", True)]


def test_stack_traces_carry_their_file():
    found = mentions("", '  File "/x/a.py", line 3, in load\n    at Foo.bar (src/b.ts:1:2)')
    assert [(m.rule, m.text, m.scope) for m in found] == [
        ("path", "/x/a.py", None),
        ("stack_trace", "load", "/x/a.py"),
        ("path", "src/b.ts", None),
        ("stack_trace", "Foo.bar", "src/b.ts"),
    ]


def test_imports_carry_their_module():
    found = mentions("", "from a.b import load, close and import { get, set } from './api/client'")
    assert [(m.text, m.scope) for m in found] == [
        ("load", "a.b"),
        ("close", "a.b"),
        ("get", "./api/client"),
        ("set", "./api/client"),
    ]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("load_config", "snake_case"),
        ("__init__", "snake_case"),
        ("MAX_SIZE", "snake_case"),
        ("fetchUser", "camel_case"),
        ("HTTPAdapter", "pascal_case"),
        ("Session", "capitalised"),
        ("load", "word"),
        ("URL", ""),
        ("x", ""),
        ("_", ""),
    ],
)
def test_shapes(name, shape):
    assert shape_of(name) == shape


PIECES = st.sampled_from(
    [
        *(
            "`",
            "``",
            "```\n",
            "\n\n",
            " ",
            "load",
            "load_config",
            "Class.method",
            "()",
            "(",
            "src/a.py",
            ":3",
        ),
        *("::", "é", "函数", "[", "](", ")", "http://", "@", ":func:", "<", ">", 'File "', '", line 3, in '),
        *("from a import b", "\\"),
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=80), st.text(max_size=20))
@settings(max_examples=300, deadline=None)
def test_spans_are_code_points_of_the_field(content, title):
    texts = {"title": title, "content": content}
    for mention in mentions(title, content):
        assert texts[mention.field][mention.start : mention.end] == mention.text
        assert mention.text


@given(st.lists(PIECES, max_size=10).map("".join), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_text_before_moves_spans_only(content, shift):
    before = [(m.rule, m.text, m.marked, m.start + shift + 2) for m in mentions("", content)]
    after = [(m.rule, m.text, m.marked, m.start) for m in mentions("", "." * shift + "\n\n" + content)]
    assert before == after


def test_many_costly_rules_read_less_of_a_long_text():
    text = f"TICKET-first {'a' * 19_000} TICKET-last"
    cheap = Rule(r"TICKET-(\w+)")
    costly = tuple(Rule(f"(a?){{200}}a{{200}}b{number}") for number in range(49))

    def found(*rules):
        return [m.text for m in mentions("", text, rules) if m.rule == "custom"]

    assert found(cheap) == ["first", "last"]
    assert found(cheap, costly[0]) == ["first", "last"]
    assert found(cheap, *costly) == ["first"]


def test_a_pattern_of_bytes_names_nothing_behind_the_end():
    found = mentions("", "函数é x", (Rule(r"\C"),))
    assert [m.text for m in found] == list("函数é x")


def test_huge_texts_are_bounded():
    text = "a_b() " * 100_000
    found = mentions("", text)
    assert len(found) == MAX_MENTIONS
    assert all(m.end <= SCAN_LIMIT for m in mentions("", "x " * 500_000 + "load_config"))


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "a.", "a/", "`", "` `` ```", "[", "[a](b", "at a ", "at a (b", 'File "', "import { a ", "a@"),
        *("a@b.", "a:", "\\", "```\n", "\n \n", "_", "f(", "a#b", ":a:`b`", "from a import b,", "http"),
        *("1a.py", "::a", "<a", "(*a", "(a *", "func (", "func (a A[", "func (a *A) b("),
    ],
)
def test_a_megabyte_of_anything_is_read_to_its_end(piece):
    """Reading that grows faster than the text would take minutes here, and so stop the whole run."""
    lead = "load_config() "
    found = mentions("", lead + piece * (1_000_000 // len(piece)))
    assert found[0].text == "load_config"
    assert len(found) <= MAX_MENTIONS

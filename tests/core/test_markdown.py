"""Memory text in Markdown, rendered by an independent CommonMark and GFM renderer with links and HTML on."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mnemolens.core.markdown import coded, escape, fence, inline_code, link, visible

RENDERER = MarkdownIt("gfm-like", {"html": True, "linkify": True})
PLAIN_BLOCKS = {"p", "br"}


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []
        self.hrefs = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.hrefs += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, _data):
        self.tags.append("comment")

    def handle_decl(self, _decl):
        self.tags.append("declaration")

    def handle_pi(self, _data):
        self.tags.append("instruction")

    def unknown_decl(self, _data):
        self.tags.append("unknown")


def page(markdown):
    parsed = _Page()
    parsed.feed(RENDERER.render(markdown))
    parsed.close()
    return parsed


def words(text):
    return text.split()


HOSTILE = [
    "[click](command:workbench.action.terminal.new)",
    "<command:evil>",
    "<https://evil.example>",
    "https://evil.example and www.evil.example and evil.example/x",
    "mail me: a.b@evil.example or mailto:a@b.example",
    "![x](https://evil.example/a.png)",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<!-- hidden --> <?php x ?> <![CDATA[x]]>",
    "&#91;x&#93;(command:evil) &lt;b&gt; &amp;",
    "[a]: command:evil\n\n[a]",
    "[x][a]\n\n[a]: command:evil",
    "# heading\n## more\nSetext\n===\nSetext\n---",
    "> quote\n- item\n* item\n+ item\n1. one\n2) two",
    "    indented code\n\tand tab",
    "```\nfence\n```\n~~~\nfence\n~~~",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "**bold** __bold__ *it* _it_ ~~no~~ snake_case __init__ _x_",
    "***\n---\n___\n* * *",
    "back\\slash \\[x\\](command:evil) \\",
    "`code` ``co`de`` `",
    "$(sync~spin) $x$ $$y$$",
    "auth.py and src/auth.py:12, load.config, //host.example/x, http:/x",
    "xmpp:a@b.example ftp://x.example command:evil file:///etc/passwd",
    "a@b @c.d e.f@g a.b@evil.com evil.com",
    "www.- www.-x",
    "- [ ] task\n- [x] done",
    "[^1] and\n\n[^1]: note",
    "trailing  \nspaces\\\nand backslash",
    "emoji 👨‍👩‍👧 ok, 漢字。と、العربية",
    "\n\nleading and trailing\n\n",
    "1986. A year\n3) x\n12345678901. too long",
    "=\n-\n+\n#",
    "<a href='x'\n>y</a>",
    "a  b\tc",
]


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("auth.py", "a"),
        ("https://evil.example", "a"),
        ("a.b@evil.com", "a"),
        ("[x](command:evil)", "a"),
        ("<b>x</b>", "b"),
        ("![x](https://evil.example/a.png)", "img"),
    ],
)
def test_the_renderer_would_make_these_live(text, tag):
    assert tag in page(text).tags


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_words_only(text):
    shown = page(escape(text))
    assert set(shown.tags) <= PLAIN_BLOCKS
    assert words(shown.text) == words(text)


ALPHABET = st.sampled_from(
    [*"[]()<>!#*_`~|\\&:;/.@=+-$'\"{}^0123 \n\t", "a", "b", "www.", "http://", "command:", "é", "漢", "x.py"]
)


@given(st.lists(ALPHABET, max_size=30).map("".join) | st.text(max_size=60))
@example("www.\\a.py")
@settings(max_examples=400, deadline=None)
def test_no_text_becomes_more_than_words(text):
    for shown in (page(escape(text)), page(escape(text, one_line=True))):
        assert set(shown.tags) <= PLAIN_BLOCKS
        assert words(shown.text) == words(visible(text))


@given(st.lists(ALPHABET, max_size=20).map("".join))
@settings(max_examples=200, deadline=None)
def test_no_text_reaches_out_of_the_place_it_is_put_in(text):
    shown = page(
        f"**{escape(text, one_line=True)}** · end\n\n---\n\n*{inline_code(text)}* — [Open](command:ours)"
    )
    assert shown.hrefs == ["command:ours"]
    assert shown.tags.count("hr") == 1
    assert "h1" not in shown.tags
    assert "h2" not in shown.tags


@given(st.lists(ALPHABET, max_size=20).map("".join))
@settings(max_examples=200, deadline=None)
def test_code_shows_exactly_its_text(text):
    block = page(fence(text, "python"))
    assert block.tags == ["pre", "code"]
    assert block.text.rstrip("\n") == visible(text).rstrip("\n")
    span = page(f"x {inline_code(text)} y")
    assert set(span.tags) <= {"p", "code"}
    assert words(span.text) == ["x", *words(visible(text)), "y"]


def test_line_breaks_and_paragraphs_are_kept():
    assert RENDERER.render(escape("one\ntwo\n\nthree")) == "<p>one<br />\ntwo</p>\n<p>three</p>\n"


def test_identifiers_and_sentences_stay_readable():
    assert escape("Retry must stay idempotent: see load_config() (2 times), then stop.") == (
        "Retry must stay idempotent: see load_config() (2 times), then stop."
    )


def test_an_address_of_nothing_is_no_address():
    # marked, which VS Code renders hovers with, takes `www.-` for an address; markdown-it does not.
    assert escape("www.- x") == "www\\.- x"


def test_indentation_is_shown():
    assert page(escape("a\n    b")).text.split("\n")[1] == "\u00a0\u00a0\u00a0\u00a0b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("a\x00b\x07c\x7f", "abc"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("pay\u200dment", "payment"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
        ("a\r\nb\rc\u2028d\x0ce", "a\nb\nc\nd\ne"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_is_not_seen_is_left_out(text, shown):
    assert visible(text) == shown


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_visible_text_is_final_and_can_be_sent(text):
    once = visible(text)
    assert visible(once) == once
    once.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" + " " * 1_000_000 + "b", "a" + " " * 1_000_000 + "b"),
        ("a\n" * 3 + "b" + "\t" * 1_000_000, "a  \na  \na  \nb"),
        ("é" + "\u200d" * 1_000_000 + "é", "é" + "\u200d" * 1_000_000 + "é"),
        ("é" + "\u200d" * 1_000_000 + "b", "éb"),
    ],
    ids=["inner spaces", "trailing tabs", "joiners within a script", "joiners before ASCII"],
)
def test_the_longest_memory_of_one_run_is_escaped_before_anybody_notices(text, shown):
    # Work that grows with the square of a run's length would take hours here.
    assert escape(text) == shown


@given(st.text(alphabet="aé\u200c\u200d\n", max_size=12))
@settings(max_examples=200, deadline=None)
def test_joiners_stay_only_between_characters_beyond_ascii(text):
    parts = re.split("([\u200c\u200d]+)", text)
    expected = "".join(
        part
        for at, part in enumerate(parts)
        if at % 2 == 0 or (parts[at - 1][-1:] > "\x7f" and parts[at + 1][:1] > "\x7f")
    )
    assert visible(text) == expected


def test_fence_is_longer_than_any_inside():
    assert fence("a\n`````\nb") == "``````\na\n`````\nb\n``````"
    assert fence("x", "py`\nthon") == "```python\nx\n```"


def test_empty_text_is_nothing():
    assert escape("") == ""
    assert escape(" \n\t\n") == ""
    assert inline_code(" \n") == ""


def test_link_has_our_target_and_any_label():
    shown = page(link("a](command:evil) <b>`", 'command:mnemolens.memory.open?["x y")(<>\\]'))
    assert shown.hrefs == ["command:mnemolens.memory.open?%5B%22x%20y%22%29%28%3C%3E%5C%5D"]
    assert shown.text.strip() == "a](command:evil) <b>`"


@pytest.mark.parametrize("target", ["javascript:alert(1)", "http://x", " command:x", "COMMAND:x", ""])
def test_link_refuses_other_schemes(target):
    with pytest.raises(ValueError, match="no link to"):
        link("x", target)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("on `retry()`, called here", "on `retry()`, called here"),
        ("in a_b.py", r"in a_b\.py"),
        ("linked to “a*b”", r"linked to “a\*b”"),
        ("one ` alone", r"one \` alone"),
        ("`a` `b`", "`a` `b`"),
        ("", ""),
    ],
)
def test_coded_words(words, shown):
    assert coded(words) == shown

"""A hover's text: the contract's shape, and memory text that stays text."""

import json
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest

from mnemolens.core.symbols import Position, Range, SymbolKey
from mnemolens.core.views import HoverItem, HoverView
from mnemolens.lsp.hover_text import age, markdown_hover, plain_hover

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OURS = {"mnemolens.memory.open", "mnemolens.memory.confirm", "mnemolens.memory.forget"}


def an_item(**fields):
    given = {
        "memory_id": "m1",
        "title": "Retry must stay idempotent",
        "verdict": "fresh",
        "edited": False,
        "excerpt": "The payment provider double-charges when asked twice.",
        "on": "charge()",
        "recalled": 4,
        "author": "Ana",
        "created_at": NOW - timedelta(days=2),
        "own": True,
        "why": "",
    }
    return HoverItem(**{**given, **fields})


def a_view(*items, hidden=0):
    return HoverView(Range(Position(0, 0), Position(0, 1)), SymbolKey("a.py", "charge"), items, hidden)


def test_the_contracts_shape():
    assert markdown_hover(a_view(an_item()), None, NOW) == (
        "**Retry must stay idempotent** · fresh  \n"
        "The payment provider double-charges when asked twice.  \n"
        "*on `charge()` · recalled 4 times · by Ana, 2 days ago*"
    )


def test_links_only_where_asked_for():
    text = markdown_hover(a_view(an_item(memory_id='odd ")id')), "/a b", NOW)
    foot = text.splitlines()[-1]
    assert foot.startswith("*on `charge()` · recalled 4 times · by Ana, 2 days ago* — [Open](command:")
    links = re.findall(r"\[([A-Za-z ]+)\]\(command:([a-z.]+)\?([^)]*)\)", foot)
    assert [(label, command) for label, command, _ in links] == [
        ("Open", "mnemolens.memory.open"),
        ("Still true", "mnemolens.memory.confirm"),
        ("Forget", "mnemolens.memory.forget"),
    ]
    for _, _, query in links:
        assert json.loads(unquote(query)) == [{"id": 'odd ")id', "root": "/a b"}]
    assert "command:" not in markdown_hover(a_view(an_item()), None, NOW)


def test_plain_text():
    view = a_view(an_item(title="a *b*", excerpt="<i>x</i>\n\nsecond"), hidden=2)
    assert plain_hover(view, NOW) == (
        "a *b* · fresh\n<i>x</i>\nsecond\n"
        "on charge() · recalled 4 times · by Ana, 2 days ago\n\nand 2 more memories"
    )


@pytest.mark.parametrize(
    ("fields", "first", "last"),
    [
        ({"verdict": "drifted"}, "· drifted: the code has changed since", "2 days ago*"),
        ({"verdict": "ambiguous"}, "· ambiguous: several places match", "2 days ago*"),
        ({"edited": True}, "· fresh, edited since", "2 days ago*"),
        ({"author": None, "recalled": 0}, "· fresh", "*on `charge()` · 2 days ago*"),
        ({"author": None, "recalled": 1}, "· fresh", "*on `charge()` · recalled once · 2 days ago*"),
        (
            {"own": False, "why": "on `retry()`, called here", "recalled": 0},
            "· fresh",
            "*on `retry()`, called here · by Ana, 2 days ago*",
        ),
        (
            {"own": False, "why": "linked to “a*b”", "recalled": 0},
            "· fresh",
            r"*linked to “a\*b” · by Ana, 2 days ago*",
        ),
        ({"on": "a`b"}, "· fresh", "*on ``a`b`` · recalled 4 times · by Ana, 2 days ago*"),
    ],
)
def test_variants(fields, first, last):
    lines = markdown_hover(a_view(an_item(**fields)), None, NOW).split("  \n")
    assert lines[0].endswith(first)
    assert lines[-1].endswith(last)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-100, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3600, "1 hour ago"),
        (86_399, "23 hours ago"),
        (86_400, "1 day ago"),
        (29 * 86_400, "29 days ago"),
        (31 * 86_400, "1 month ago"),
        (364 * 86_400, "11 months ago"),
        (366 * 86_400, "1 year ago"),
        (800 * 86_400, "2 years ago"),
    ],
)
def test_age(seconds, words):
    assert age(NOW - timedelta(seconds=seconds), NOW) == words


def test_a_long_memory_is_cut_with_an_ellipsis():
    lines = "\n".join(f"line {number}" for number in range(1, 20))
    shown = markdown_hover(a_view(an_item(excerpt=lines)), None, NOW).split("  \n")
    assert shown[1:-1] == ["line 1", "line 2", "line 3", "line 4", "line 5", "line 6 …"]
    shown = markdown_hover(a_view(an_item(excerpt="x" * 5000)), None, NOW).split("  \n")
    assert shown[1] == "x" * 400 + " …"
    shown = markdown_hover(a_view(an_item(title="t" * 5000)), None, NOW).split("  \n")
    assert shown[0] == "**" + "t" * 199 + "…** · fresh"


def test_an_empty_excerpt_takes_no_line():
    assert len(markdown_hover(a_view(an_item(excerpt=" \n\n")), None, NOW).split("  \n")) == 2


def test_several_memories_and_those_left_out():
    text = markdown_hover(a_view(an_item(title="one"), an_item(title="two"), hidden=1), None, NOW)
    blocks = text.split("\n\n---\n\n")
    assert [block.split("**")[1] for block in blocks[:2]] == ["one", "two"]
    assert blocks[2] == "*and 1 more memory*"


HOSTILE = [
    "[Open](command:workbench.action.terminal.new)",
    "<a href='command:workbench.action.quit'>x</a>",
    "<command:workbench.action.quit>",
    "![x](https://evil.example/track.png)",
    "** · fresh\n\n[x](command:evil)",
    "*\n\n# heading\n\n---\n\n[x](command:evil)",
    "`` ` ``` [x](command:evil)",
    "[x]: command:evil\n[x]",
    "<script>alert(1)</script>",
    "https://evil.example www.evil.example a@evil.example",
    "\\[x\\](command:evil)",
    "a\r\n\r\n> [x](command:evil)",
    "\u202egnp.exe\u2066",
]


def live_part(text):
    """The text without what a backslash makes plain, and without the code spans of the foot."""
    *rest, foot = text.split("  \n")
    foot = re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", foot)
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", "  \n".join((*rest, foot)))


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("field", ["title", "excerpt", "author", "on", "why"])
def test_memory_text_stays_text(field, hostile):
    item = an_item(**{field: hostile, "own": False})
    text = markdown_hover(a_view(item), "/root", NOW)
    assert len(text.split("\n\n---\n\n")) == 1
    live = live_part(text)
    links = re.findall(r"\]\(([a-z]+):([A-Za-z.]*)", live)
    assert len(links) == 3
    assert {(scheme, name) for scheme, name in links} <= {("command", name) for name in OURS}
    assert not re.search(r"<[A-Za-z/!?]", live)
    assert not re.search(r"(?m)^\s*(#|>|---|\[[^\]]*\]:)", live)
    assert not re.search(r"(https?|ftp)://|www\.", live)
    assert "\u202e" not in text
    assert text.count("\n\n") == 0

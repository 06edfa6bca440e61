"""Names for the inverted index, and whether a text still says what it said."""

from dataclasses import replace
from importlib import import_module

import pytest

from mnemolens.core.memories import Evidence
from mnemolens.linking import evidence_holds, match, names_in, names_in_metadata, names_of_file


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("load_config then `get`", {"load_config", "get"}),
        ("Class.method and pkg.mod.func()", {"Class", "method", "pkg", "mod", "func"}),
        ("see src/auth.py:42", {"auth.py"}),
        ("tests/a.py::TestX::test_y", {"a.py", "TestX", "test_y"}),
        ("from pkg.mod import load", {"pkg.mod", "load"}),
        ("get load update close the list", set()),
        ("", set()),
    ],
)
def test_names_in(text, names):
    assert names_in(text) >= names
    assert names_in(text) - names <= {"src", "tests"}


def test_names_in_metadata():
    metadata = {"file": "/x/a.py:3", "files": ["src\\b.ts", 3], "file_path": None}
    assert names_in_metadata(metadata) == {"a.py", "b.ts"}
    assert names_in_metadata({"files": "c.py, d/e.py"}) == {"c.py", "e.py"}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("src/auth.py", {"auth.py", "auth"}),
        ("src/net/__init__.py", {"__init__.py", "net"}),
        ("web/api/index.ts", {"index.ts", "api"}),
        ("web/a.test.ts", {"a.test.ts", "a"}),
    ],
)
def test_names_of_file(path, names):
    assert names_of_file(path) == names


SHOP = {
    "src/pay.py::charge": "function",
    "src/pay.py::load_all": "function",
    "src/pay.py::Payment": "class",
    "src/pay.py::Payment.retry": "method",
}
NOTES = [
    ("", "charge() twice", {}),
    ("`charge`", "", {}),
    ("", "Payment.retry and load_all", {}),
    ("", "see src/pay.py", {}),
    ("", "src/pay.py::charge", {}),
    ("", "from pay import charge", {}),
    ("", "", {"file": "src/pay.py"}),
    ("", "", {"files": "x.py; src/pay.py"}),
]


@pytest.mark.parametrize(("title", "content", "metadata"), NOTES)
def test_whatever_links_is_also_found_by_its_name(listed, title, content, metadata):
    code = listed(SHOP)
    found = match(title, content, metadata, code)
    assert found
    names = names_in(f"{title}\n{content}") | names_in_metadata(metadata)
    for m in found:
        lookups = {m.target.name} if m.target.qualname else names_of_file(m.target.file)
        assert lookups & names


@pytest.mark.parametrize(("title", "content", "metadata"), NOTES)
def test_evidence_holds_while_the_text_says_it_wherever(listed, title, content, metadata):
    for m in match(title, content, metadata, listed(SHOP)):
        assert evidence_holds(m.evidence, title, content, metadata)
        moved = f"Some words before.\n\n{content}" if content else content
        assert evidence_holds(m.evidence, title, moved, metadata)
        assert not evidence_holds(m.evidence, "", "", {})
        assert not evidence_holds(
            m.evidence, "other", "charges, loads and surcharge", {"file": "src/other.py"}
        )


def evidence(field, rule, text):
    return Evidence(field, 0, len(text), rule, text)


@pytest.mark.parametrize(
    ("was", "content", "holds"),
    [
        (evidence("content", "code_span", "charge"), "we charge a fee", False),
        (evidence("content", "code_span", "charge"), "we charge() a fee", True),
        (evidence("content", "call", "charge"), "`charge` a fee", True),
        (evidence("content", "snake_case", "load_all"), "reload_all", False),
        (evidence("content", "snake_case", "load_all"), "`load_all`", True),
        (evidence("content", "code_span", "load_all"), "load_all", False),
        (evidence("content", "path", "src/pay.py"), "lib/src/pay.py", False),
        (evidence("title", "snake_case", "load_all"), "load_all", False),
        (evidence("metadata.file", "metadata", "src/pay.py"), "src/pay.py", False),
        (evidence("nonsense", "x", "load_all"), "load_all", False),
    ],
)
def test_evidence_after_an_edit(was, content, holds):
    assert evidence_holds(was, "", content, {}) is holds


def test_a_long_note_is_read_once_for_all_of_its_links(monkeypatch):
    mentions = import_module("mnemolens.linking.mentions")
    readers = []

    class Watched(mentions._Reader):
        def __init__(self, field, text):
            readers.append(field)
            super().__init__(field, text)

    monkeypatch.setattr(mentions, "_Reader", Watched)
    content = " ".join(f"`watched_{number}()`" for number in range(200))
    for number in range(200):
        name = f"watched_{number}"
        at = content.index(f"{name}(")
        held = Evidence("content", at, at + len(name), "code_span", name)
        assert evidence_holds(held, "a title of its own", content, {})
        assert not evidence_holds(replace(held, text="unwatched"), "a title of its own", content, {})
    assert readers == ["content"]

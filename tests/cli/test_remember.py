"""`mnemolens remember`: where a memory is stored, what it says of it, and what it refuses."""

import json
import re
from datetime import datetime

import pytest


def labels(links):
    return [link["target"]["id"] for link in links if not link["candidate"]]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("shop/pay.py:6", "shop/pay.py::Payment.charge"),
        ("shop/pay.py:5", "shop/pay.py::Payment.charge"),  # the line of `def` itself
        ("shop/pay.py:5:1", "shop/pay.py::Payment"),  # its first column is still the class's
        ("shop/pay.py:6:", "shop/pay.py::Payment.charge"),  # as compilers print it
        ("shop/pay.py:4", "shop/pay.py::Payment"),
        ("shop/pay.py:1", "shop/pay.py"),
        ("shop/pay.py", "shop/pay.py"),
        ("./shop/../shop/pay.py:17", "shop/pay.py::refund"),
        ("shop/pay.py::Payment.send", "shop/pay.py::Payment.send"),
        ("shop/pay.py::send", "shop/pay.py::Payment.send"),
        ("shop/pay.py::Payment", "shop/pay.py::Payment"),
        ("notes.txt:1", "notes.txt"),
    ],
)
def test_places(shell, place, expected):
    ran = shell("remember", "Something to know", "--at", place, "--json")
    assert ran.code == 0, ran.err
    assert labels(ran.json["links"]) == [expected]


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("shop/nope.py", "shop/nope.py"),
        ("shop/pay.py:0", "line 0"),
        ("shop/pay.py:99", "17 lines"),
        ("shop/pay.py::chrage", "charge"),
        ("shop", "shop"),
        ("", "file"),
    ],
)
def test_places_that_are_none(shell, place, named):
    ran = shell("remember", "x", "--at", place)
    assert (ran.code, ran.out) == (2, "")
    assert "--at" in ran.error
    assert named in ran.error
    assert not (shell.folder / ".git" / "mnemolens").exists()


def test_a_place_outside(shell, tmp_path):
    (tmp_path / "other.py").write_text("x = 1\n")
    ran = shell("remember", "x", "--at", "../other.py")
    assert ran.code == 2
    assert "--root" in ran.error


def test_what_it_says(shell):
    ran = shell("remember", "Never call refund() twice", "--at", "shop/pay.py::charge")
    assert ran.code == 0
    first, *rest = ran.out.splitlines()
    assert first.startswith("Remembered on Payment.charge() in shop/pay.py  ")
    assert rest == ["  as “Never call refund() twice”", "  also links refund() in shop/pay.py"]


def test_all_fields(shell):
    ran = shell(
        "remember", "Text", "--title", "Title", "--type", "procedural", "--tag", "a", "--tag", "b",
        "--importance", "0.9", "--file", "shop/stock.py", "--session", "s1", "--agent", "claude",
        "--expires", "2099-01-02", "--json",
    )  # fmt: skip
    memory = ran.json["memory"]
    assert memory["content"] == "Text"
    assert memory["title"] == "Title"
    assert memory["type"] == "procedural"
    assert memory["tags"] == ["a", "b"]
    assert memory["importance"] == 0.9
    assert memory["metadata"] == {"file": "shop/stock.py"}
    assert memory["sessionId"] == "s1"
    assert memory["agentId"] == "claude"
    assert memory["author"] == "Ana"
    assert memory["expiresAt"].startswith("2099-01-0")
    assert memory["born"]["branch"] == "main"
    assert labels(ran.json["links"]) == ["shop/stock.py"]


def test_a_reminder(shell):
    ran = shell(
        "remember", "Drop this fallback", "--at", "shop/pay.py::charge", "--type", "prospective",
        "--due", "2099-01-02T18:00:00", "--trigger", "change", "--json",
    )  # fmt: skip
    memory = ran.json["memory"]
    assert datetime.fromisoformat(memory["dueAt"]) == datetime(2099, 1, 2, 18).astimezone()
    assert memory["trigger"] == {"on": "change"}
    shown = shell("show", memory["id"]).out
    assert re.search(r"due +2099-01-02 18:00", shown)
    assert re.search(r"due on +change", shown)
    assert shell("remember", "Text", "--due", "soon").code == 2
    ran = shell("remember", "Text", "--trigger", "never")
    assert ran.code == 2
    assert "--trigger" in ran.error


def test_stdin(shell):
    ran = shell.process("remember", "-", "--json", stdin="Zeile eins – ü\nline two\n".encode())
    assert ran.json["memory"]["content"] == "Zeile eins – ü\nline two\n"
    ran = shell.process("remember", "-", stdin=b"\xff\xfe")
    assert ran.code == 2
    assert "UTF-8" in ran.error
    ran = shell.process("remember", "-", stdin=b" \n")
    assert ran.code == 2
    assert "TEXT" in ran.error


def test_a_dry_run_stores_nothing(shell):
    ran = shell("remember", "About refund()", "--at", "shop/pay.py::charge", "--dry-run")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Would be remembered on Payment.charge() in shop/pay.py",
        "  also links refund() in shop/pay.py",
    ]
    ran = shell("remember", "About refund()", "--at", "shop/pay.py::charge", "--dry-run", "--json")
    assert set(ran.json) == {"links", "warnings"}
    assert not (shell.folder / ".git" / "mnemolens").exists()


def test_the_same_again(shell):
    one = shell.remember("Idempotent", "--at", "shop/pay.py::charge")
    ran = shell("remember", "Idempotent ", "--at", "shop/pay.py:7", "--json")
    assert ran.json["memory"]["id"] == ran.json["duplicateOf"] == one
    ran = shell("remember", "Idempotent", "--at", "shop/pay.py:7")
    assert ran.out.startswith("Already remembered on Payment.charge()")
    ran = shell("remember", "Idempotent", "--at", "shop/pay.py::refund")
    assert ran.out.startswith("Remembered on refund()")
    assert one in ran.error


def test_our_own_hover_pasted_back_is_the_memory_that_it_shows(shell):
    one = shell.remember("It may be called twice.", "--title", "Idempotent", "--at", "shop/pay.py::charge")
    hover = "**Idempotent** · fresh\nIt may be called twice.\n*on `Payment.charge()` · just now*"
    for more in ((), ("--dry-run",)):
        ran = shell("remember", hover, "--at", "shop/pay.py::refund", "--json", *more)
        assert ran.json["duplicateOf"] == ran.json["memory"]["id"] == one
    assert len(shell("list", "--json").json["memories"]) == 1


def test_from_below_and_from_elsewhere(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(shell.folder / "shop")
    one = shell.remember("From below", "--at", "pay.py::refund")
    monkeypatch.chdir(tmp_path)
    assert shell("show", one).code == 1
    ran = shell("show", one, "--root", str(shell.folder), "--json")
    assert labels(ran.json["links"]) == ["shop/pay.py::refund"]
    two = shell.remember("From elsewhere", "--root", "project", "--at", "shop/pay.py:17")
    ran = shell("show", two, "--root", "project", "--json")
    assert labels(ran.json["links"]) == ["shop/pay.py::refund"]
    three = shell.remember("Its path from here", "--root", "project", "--at", "project/shop/pay.py:17")
    assert labels(shell("show", three, "--root", "project", "--json").json["links"]) == [
        "shop/pay.py::refund"
    ]


def test_no_such_folder(shell):
    ran = shell("remember", "x", "--root", "nope")
    assert ran.code == 2
    assert "nope" in ran.error


def test_without_git(tmp_path, shell, monkeypatch):
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def f():\n    return 1\n")
    monkeypatch.chdir(plain)
    assert shell("recall").code == 1
    assert [path.name for path in plain.iterdir()] == ["a.py"]
    shell.remember("About f", "--at", "a.py::f")
    assert (plain / ".mnemolens" / "journal").is_dir()


def test_a_store_that_cannot_be_written(shell):
    (shell.folder / ".git" / "mnemolens").write_text("in the way")
    ran = shell("remember", "x")
    assert ran.code == 2
    assert "nothing was stored" in ran.error


def test_text_that_a_shell_lets_through(shell):
    text = "--flag 'quotes' \\ $HOME `x` [red]not markup[/red] \x1b[31mred 支付"
    one = shell.remember("--", text)
    assert shell("show", one, "--json").json["memory"]["content"] == text
    shown = shell("show", one).out
    assert "[red]not markup[/red]" in shown
    assert "\x1b" not in shown
    assert json.dumps(text, ensure_ascii=False) in shell("show", one, "--json").out


def test_says_what_is_known_in_almost_the_same_words(shell):
    text = "The provider charges twice when a request that timed out is sent again with another key"
    first = shell("remember", text, "--title", "Twice", "--json").json["memory"]["id"]
    ran = shell("remember", f"{text}, sadly")
    assert f"  says almost the same as “Twice”  {first[-8:]}" in ran.out.splitlines()


def test_offers_the_code_that_a_note_may_be_about(shell):
    (shell.folder / "ledger.py").write_text(
        "def close_books(month):\n    return archive_invoices(month, sealed=True)\n"
    )
    ran = shell("remember", "At the end of a month invoices are archived, and the books sealed and closed")
    assert "  may be about close_books() in ledger.py: link it?" in ran.out.splitlines()
    assert "links" not in ran.out.replace("link it?", "")
    plain = shell("remember", "Nothing in common with any of it")
    assert "may be about" not in plain.out

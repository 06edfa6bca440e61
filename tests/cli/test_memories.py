"""`list`, `show`, `edit`, `forget`, `restore`, `done`, `confirm`, `link`, `unlink`."""

import sys

import pytest


@pytest.fixture
def three(shell):
    """Ids of three memories: on charge(), on reserve(), on nothing."""
    return (
        shell.remember("Retry must stay idempotent", "--at", "shop/pay.py::charge", "--tag", "payment"),
        shell.remember(
            "Counts are eventually consistent", "--at", "shop/stock.py::reserve", "--session", "s1"
        ),
        shell.remember("Ask Ana first", "--type", "procedural", "--agent", "claude", "--tag", "payment"),
    )


def ids(ran):
    return [memory["id"] for memory in ran.json["memories"]]


def editor(tmp_path, monkeypatch, program, name="EDITOR"):
    """Sets an editor: a Python program that gets the document's path."""
    script = tmp_path / "editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{program}\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(name, f"{sys.executable} {script} --wait")


class TestList:
    def test_newest_first(self, shell, three):
        ran = shell("list", "--json")
        assert ids(ran) == list(reversed(three))
        assert ran.json["total"] == 3

    def test_a_table(self, shell, three):
        lines = shell("list").out.splitlines()
        assert lines[0].split() == ["id", "title", "on", "verdict", "type", "tags", "when"]
        assert [line.split()[0] for line in lines[1:]] == [one[-8:] for one in reversed(three)]
        assert "Payment.charge()" in lines[3]
        assert "fresh" in lines[3]

    def test_it_says_where_a_search_found_what_is_not_in_the_title(self, shell, three):
        shell.remember("First line\nand further down the zebra", "--title", "Other")
        assert len(three) == 3
        for query, said in {
            "zebra": "First line and further down the zebra",
            "payment": "tagged payment",
            "stock": "on stock",
        }.items():
            head, *rows = shell("list", "--text", query).out.splitlines()
            assert head.split()[-1] == "found"
            assert rows[0].rstrip().endswith(said)
        assert shell("list", "--text", "idempotent").out.split("\n")[0].split()[-1] == "when"

    @pytest.mark.parametrize(
        ("arguments", "found"),
        [
            (("--tag", "payment"), [2, 0]),
            (("--type", "procedural"), [2]),
            (("--verdict", "fresh"), [1, 0]),
            (("--verdict", "unanchored"), [2]),
            (("--session", "s1"), [1]),
            (("--agent", "claude"), [2]),
            (("--text", "counts eventually"), [1]),
            (("--at", "shop/pay.py"), [0]),
            (("--at", "shop/pay.py:6"), [0]),
            (("--at", "shop/stock.py::reserve"), [1]),
            (("--at", "notes.txt"), []),
            (("--limit", "1"), [2]),
            (("--limit", "1", "--offset", "1"), [1]),
        ],
    )
    def test_filters(self, shell, three, arguments, found):
        assert ids(shell("list", "--json", *arguments)) == [three[one] for one in found]

    def test_forgotten_ones_are_shown_when_asked_for(self, shell, three):
        shell("forget", three[0])
        assert three[0] not in ids(shell("list", "--json"))
        assert three[0] in ids(shell("list", "--json", "--all"))
        assert "(forgotten)" in shell("list", "--all").out

    def test_what_is_left_is_said(self, shell, three):
        assert len(three) == 3
        assert "2 more" in shell("list", "--limit", "1").error

    def test_none(self, shell):
        ran = shell("list")
        assert (ran.code, ran.out) == (0, "")
        assert "no memories yet" in ran.error

    def test_wrong_limit(self, shell):
        ran = shell("list", "--limit", "0")
        assert ran.code == 2
        assert ran.error.startswith("mnemolens: --limit: ")


class TestIds:
    def test_the_end_or_the_beginning_is_enough(self, shell, three):
        for part in (three[0], three[0][-8:], three[0][-4:].lower()):
            assert shell("show", part, "--json").json["memory"]["id"] == three[0]

    def test_none_of_that_id(self, shell, three):
        assert three
        for part in ("nope", three[0][-3:], ""):
            ran = shell("show", part)
            assert (ran.code, ran.out) == (1, "")
            assert "no memory" in ran.error

    def test_several(self, shell, three):
        ran = shell("show", three[0][:5])
        assert ran.code == 2
        assert all(one in ran.error for one in three)


class TestShow:
    def test_for_people(self, shell, three):
        out = shell("show", three[0]).out
        for said in ("Retry must stay idempotent · fresh", three[0], "tags payment", "by Ana", "branch main",
                     "on Payment.charge() shop/pay.py:5 fresh"):  # fmt: skip
            assert said in out

    def test_the_history_is_in_words(self, shell, three):
        shell("link", three[0], "--to", three[1])
        shell("forget", three[0])
        lines = [line.strip() for line in shell("show", three[0]).out.splitlines()]
        told = [line.removeprefix("just now").strip() for line in lines if line.startswith("just now")]
        assert told == [
            "captured by Ana", "put on code by Ana", "related to another memory by Ana", "forgotten by Ana",
        ]  # fmt: skip

    def test_for_programs(self, shell, three):
        answer = shell("show", three[0], "--json").json
        assert set(answer) == {"memory", "links", "anchors", "edges", "history"}
        assert answer["anchors"][0]["at"]["qualname"] == "Payment.charge"

    def test_lost(self, shell, three):
        (shell.folder / "shop" / "stock.py").write_text("")
        assert "was on reserve() shop/stock.py lost" in shell("show", three[1]).out


class TestStatus:
    def test_forget_and_restore(self, shell, three):
        ran = shell("forget", three[0], three[1][-8:])
        assert ran.code == 0
        assert ran.out.splitlines() == [
            f"Forgotten: {title}; `mnemolens restore {one[-8:]}` brings it back"
            for title, one in zip(
                ("Retry must stay idempotent", "Counts are eventually consistent"), three, strict=False
            )
        ]
        assert ids(shell("list", "--json")) == [three[2]]
        ran = shell("restore", three[0], "--json")
        assert ran.json["memory"]["status"] == "active"
        assert ran.json["memory"]["verdict"] == "fresh"
        assert ids(shell("list", "--json")) == [three[2], three[0]]

    def test_done(self, shell, three):
        assert shell("done", three[2], "--json").json["memory"]["status"] == "done"

    def test_where_one_is_unknown_none_is_changed(self, shell, three):
        assert shell("forget", three[0], "nope").code == 1
        assert len(ids(shell("list", "--json"))) == 3


class TestConfirm:
    def test_accepts_the_code_as_it_is(self, shell, three):
        path = shell.folder / "shop" / "stock.py"
        path.write_text("def reserve(sku, count):\n    for one in sku:\n        one.take(count)\n")
        assert shell("show", three[1], "--json").json["memory"]["verdict"] == "drifted"
        ran = shell("confirm", three[1])
        assert ran.out == "Still true: Counts are eventually consistent · fresh\n"
        assert shell("show", three[1], "--json").json["memory"]["verdict"] == "fresh"

    def test_on_no_code(self, shell, three):
        ran = shell("confirm", three[2])
        assert ran.code == 2
        assert "no code" in ran.error


class TestLinks:
    def test_to_code_and_away(self, shell, three):
        ran = shell("link", three[2], "--at", "shop/pay.py::refund", "--relevance", "0.7", "--json")
        assert [(one["target"]["qualname"], one["relevance"]) for one in ran.json["links"]] == [
            ("refund", 0.7)
        ]
        ran = shell("unlink", three[2], "--at", "shop/pay.py::refund")
        assert ran.out == f"{three[2][-8:]} is linked to nothing now\n"

    def test_to_a_memory_and_away(self, shell, three):
        ran = shell(
            "link", three[0], "--to", three[1][-8:], "--type", "CONTRADICTS", "--weight", "0.5", "--json"
        )
        [edge] = ran.json["edges"]
        assert (edge["sourceId"], edge["targetId"], edge["type"], edge["weight"]) == (
            three[0], three[1], "CONTRADICTS", 0.5,
        )  # fmt: skip
        assert "CONTRADICTS" in shell("show", three[0]).out
        ran = shell("unlink", three[0], "--to", three[1], "--type", "CONTRADICTS", "--json")
        assert ran.json["edges"] == []

    def test_a_memory_is_named_by_its_title_from_both_ends(self, shell, three):
        ran = shell("link", three[0], "--to", three[1], "--type", "CAUSED_BY")
        assert f"CAUSED_BY → Counts are eventually consistent  {three[1][-8:]} (1)" in ran.out
        assert f"CAUSED_BY ← Retry must stay idempotent  {three[0][-8:]} (1)" in shell("show", three[1]).out

    def test_what_is_not_linked_so_is_not_unlinked(self, shell, three):
        ran = shell("unlink", three[0], "--to", three[1])
        assert ran.code == 2
        assert ran.error == "mnemolens: --to: there is no link of type SAME_TOPIC"
        shell("link", three[0], "--to", three[1], "--type", "CONTRADICTS")
        ran = shell("unlink", three[0], "--to", three[1])
        assert ran.code == 2
        assert ran.error == "mnemolens: --type: there is no link of type SAME_TOPIC; its type is CONTRADICTS"
        assert "CONTRADICTS" in shell("show", three[0]).out

    @pytest.mark.parametrize("arguments", [(), ("--at", "shop/pay.py", "--to", "x")])
    def test_one_of_both_is_needed(self, shell, three, arguments):
        ran = shell("link", three[0], *arguments)
        assert ran.code == 2
        assert "--to" in ran.error

    @pytest.mark.parametrize(
        ("arguments", "flag"),
        [(("--to", "{0}"), "--to"), (("--at", "shop/pay.py", "--relevance", "3"), "--relevance")],
    )
    def test_wrong(self, shell, three, arguments, flag):
        ran = shell("link", three[0], *(one.format(*three) for one in arguments))
        assert ran.code == 2
        assert ran.error.startswith(f"mnemolens: {flag}: ")


class TestEdit:
    def test_what_is_saved_is_stored(self, shell, three, tmp_path, monkeypatch):
        editor(tmp_path, monkeypatch, "path.write_text(path.read_text().replace('idempotent', 'quiet'))")
        ran = shell("edit", three[0])
        assert ran.code == 0, ran.err
        assert ran.out.startswith("Saved: Retry must stay quiet")
        memory = shell("show", three[0], "--json").json["memory"]
        assert memory["content"].strip() == "Retry must stay quiet"
        assert not list((shell.folder / ".git" / "mnemolens" / "open").glob("*.md"))

    def test_visual_comes_before_editor(self, shell, three, tmp_path, monkeypatch):
        editor(tmp_path, monkeypatch, "path.write_text(path.read_text() + 'more')", "VISUAL")
        monkeypatch.setenv("EDITOR", "false")
        assert shell("edit", three[0]).code == 0

    def test_unchanged(self, shell, three, tmp_path, monkeypatch):
        editor(tmp_path, monkeypatch, "")
        assert shell("edit", three[0]).out == "Nothing changed\n"

    def test_an_editor_that_fails_stores_nothing(self, shell, three, tmp_path, monkeypatch):
        editor(tmp_path, monkeypatch, "path.write_text('x')\nsys.exit(3)")
        ran = shell("edit", three[0])
        assert (ran.code, ran.out) == (1, "")
        assert "3" in ran.error

    def test_what_cannot_be_stored_is_kept(self, shell, three, tmp_path, monkeypatch):
        editor(tmp_path, monkeypatch, "path.write_text(path.read_text().replace('semantic', 'vague'))")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr("tempfile.tempdir", None)
        ran = shell("edit", three[0])
        assert ran.code == 2
        assert "vague" in ran.error
        [kept] = tmp_path.glob("mnemolens-*.md")
        assert str(kept) in ran.error
        assert "type: vague" in kept.read_text()

    def test_no_such_editor(self, shell, three, monkeypatch):
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", "no-such-program -x")
        ran = shell("edit", three[0])
        assert ran.code == 2
        assert "EDITOR" in ran.error
        assert "no-such-program" in ran.error

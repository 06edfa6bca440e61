"""`mnemolens import --comments`, `--agents`, `--undo`."""

import pytest


@pytest.fixture
def project(shell):
    path = shell.folder / "shop" / "pay.py"
    text = path.read_text().replace("    def send(", "    # TODO(bo): retry once\n    def send(")
    path.write_text(text + "    # FIXME: in cents\n")
    (shell.folder / "shop" / "stock.py").write_text(
        "# HACK: counts twice\ndef reserve(sku):\n    return sku\n"
    )
    (shell.folder / "AGENTS.md").write_text("# Money\n\nAmounts are in cents.\n")
    return shell


def titles(shell):
    return sorted(memory["title"] for memory in shell("list", "--json").json["memories"])


def test_a_preview_stores_nothing(project):
    ran = project("import", "--comments", "--agents", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    *rows, last = ran.out.splitlines()
    assert last == "Would be imported: 4 new, 0 edited since, 0 known already"
    assert [row.split()[-1] for row in rows[1:]] == [
        "AGENTS.md:3", "shop/pay.py:12", "shop/pay.py:19", "shop/stock.py:1",
    ]  # fmt: skip
    answer = project("import", "--agents", "--dry-run", "--json").json
    assert [item["title"] for item in answer["items"]] == ["Money"]
    assert not (project.folder / ".git" / "mnemolens").exists()


def test_import_again_and_undo(project):
    ran = project("import", "--comments", "--agents")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Imported: 4 new, 0 edited since")
    assert titles(project) == ["Money", "counts twice", "in cents", "retry once"]
    ran = project("recall", "--at", "shop/pay.py::Payment.send", "--json")
    assert [found["memory"]["title"] for found in ran.json["memories"]] == ["retry once"]
    again = project("import", "--comments", "--agents", "--json").json
    assert again == {"sessionId": None, "stored": 0, "updated": 0, "refused": []}

    assert project("import", "--undo", "--dry-run").out.startswith("Would be taken back: 4 forgotten")
    assert len(titles(project)) == 4
    assert project("import", "--undo").out == "Taken back: 4 forgotten, 0 as they were before\n"
    assert titles(project) == []
    ran = project("import", "--undo")
    assert (ran.code, ran.out) == (1, "")
    assert "take back" in ran.error
    assert project("import", "--comments", "--json").json["stored"] == 0  # it was taken back on purpose
    left_out = ", 3 left out since you forgot them (`mnemolens restore`)"
    assert project("import", "--comments").out == f"Imported: 0 new, 0 edited since{left_out}\n"


def test_undo_takes_the_last_one_only(project):
    assert project("import", "--comments", "shop/stock.py", "--json").json["stored"] == 1
    path = project.folder / "shop" / "stock.py"
    path.write_text(path.read_text().replace("counts twice", "counts twice at night"))
    assert project("import", "--comments", "shop", "--json").json["updated"] == 1
    assert titles(project) == ["counts twice at night", "in cents", "retry once"]
    undone = project("import", "--undo", "--json").json
    assert (undone["forgotten"], undone["reverted"]) == (2, 1)
    assert titles(project) == ["counts twice"]
    assert project("import", "--undo", "--json").json["forgotten"] == 1
    assert titles(project) == []


@pytest.mark.parametrize(
    ("places", "found"),
    [
        (["shop/pay.py"], ["in cents", "retry once"]),
        (["shop"], ["counts twice", "in cents", "retry once"]),
        (["."], ["Money", "counts twice", "in cents", "retry once"]),
        (["AGENTS.md", "shop/stock.py"], ["Money", "counts twice"]),
    ],
)
def test_only_some_files(project, places, found):
    answer = project("import", "--comments", "--agents", *places, "--dry-run", "--json").json
    assert sorted(item["title"] for item in answer["items"]) == found


def test_a_secret_is_left_out_and_named(project):
    key = "AKIA" + "Q3EGRJZ5KX7NWB2M"
    (project.folder / "shop" / "stock.py").write_text(f"# TODO: rotate {key}\n")
    ran = project("import", "--comments")
    assert ran.code == 1
    assert ran.out.startswith("Imported: 2 new")
    assert "shop/stock.py:1" in ran.error
    assert key not in ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "FILE"),
        (("a.jsonl", "b.jsonl"), "FILE"),
        (("--comments", "nope.py"), "nope.py"),
        (("--comments", "/"), "outside"),
        (("--comments", "--undo"), "--undo"),
        (("--comments", "--allow-secret"), "--allow-secret"),
        (("--undo", "shop"), "--undo"),
    ],
)
def test_wrong_use(project, arguments, named):
    ran = project("import", *arguments)
    assert ran.code == 2
    assert named in ran.error

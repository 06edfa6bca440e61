"""`mnemolens export`, `import`, `purge`."""

import json
import shlex
import subprocess

import pytest


@pytest.fixture
def noted(shell):
    shell.remember("Retry must stay idempotent", "--at", "shop/pay.py::charge", "--tag", "payment")
    shell.remember("Counts are eventually consistent", "--at", "shop/stock.py::reserve")
    return shell


def contents(shell):
    return sorted(memory["content"] for memory in shell("list", "--json").json["memories"])


def test_what_is_exported_can_be_imported_elsewhere(noted, tmp_path):
    ran = noted.process("export")
    assert (ran.code, ran.err) == (0, "")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [set(line) for line in lines] == [{"memory", "anchors", "links", "edges", "history"}] * 2
    (tmp_path / "all.jsonl").write_text(ran.out)
    other = tmp_path / "other"
    (other / "shop").mkdir(parents=True)
    (other / "shop" / "pay.py").write_text((noted.folder / "shop" / "pay.py").read_text())
    arguments = ("import", str(tmp_path / "all.jsonl"), "--root", str(other))
    dry = noted(*arguments, "--dry-run")
    assert (dry.code, dry.out) == (0, "Would be imported: 2 new, 0 updated, 0 unchanged\n")
    assert not (other / ".mnemolens").exists()
    assert noted(*arguments).out == "Imported: 2 new, 0 updated, 0 unchanged\n"
    again = noted(*arguments, "--json").json
    assert (again["new"], again["updated"], again["unchanged"], again["skipped"]) == (0, 0, 2, [])
    ran = noted("recall", "--root", str(other), "--at", str(other / "shop" / "pay.py:6"), "--json")
    assert [found["memory"]["content"] for found in ran.json["memories"]] == ["Retry must stay idempotent"]


def test_to_a_file_and_for_people(noted, tmp_path):
    ran = noted("export", "--format", "markdown", "--output", str(tmp_path / "all.md"))
    assert (ran.code, ran.out) == (0, "")
    assert "2 memories" in ran.error
    assert "Retry must stay idempotent" in (tmp_path / "all.md").read_text()


def test_the_least_form_and_lines_that_are_none(noted, tmp_path):
    file = tmp_path / "some.jsonl"
    rows = [
        {"memory": {"content": "Refunds are rare"}, "at": {"file": "shop/pay.py", "qualname": "refund"}},
        {"memory": {"content": "key ghp_16C7e42F292c6912E7710c838347Ae178B4a"}},
        {"memory": {"type": "semantic"}},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = noted("import", str(file))
    assert ran.code == 1
    assert ran.out == "Imported: 1 new, 0 updated, 0 unchanged\n"
    told = ran.err.splitlines()
    assert [line.split(": ")[:3] for line in told] == [
        ["mnemolens", "skipped", "line 2"],
        ["mnemolens", "skipped", "line 3"],
    ]
    assert "GitHub token" in told[0]
    assert "ghp_" not in ran.err
    assert contents(noted) == [
        "Counts are eventually consistent",
        "Refunds are rare",
        "Retry must stay idempotent",
    ]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("import", "nope.jsonl"), "nope.jsonl"),
        (("import", "notes.txt"), "notes.txt"),
        (("export", "--format", "xml"), "xml"),
        (("export", "--output", "no/such/folder/x"), "folder"),
    ],
)
def test_wrong_use(noted, arguments, named):
    ran = noted(*arguments)
    assert ran.code == 2
    assert named in ran.error


def test_purge_leaves_nothing(noted):
    one = noted("list", "--json").json["memories"][1]["id"]
    ran = noted("purge", one[-8:])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Purged: Retry must stay idempotent\n"
    store = noted.folder / ".git" / "mnemolens"
    assert [path for path in store.rglob("*") if path.is_file() and b"idempotent" in path.read_bytes()] == []
    assert contents(noted) == ["Counts are eventually consistent"]
    assert noted("purge", one, "--json").json == {"removed": [], "pending": []}
    ran = noted("purge", "nope")
    assert (ran.code, ran.out) == (1, "")
    assert "nope" in ran.error


def test_a_secret_is_refused_and_can_be_allowed(shell):
    text = "key ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    ran = shell("remember", text)
    assert ran.code == 2
    assert "--allow-secret" in ran.error
    assert "ghp_" not in ran.error
    assert shell("remember", text, "--allow-secret").code == 0


def test_what_is_remembered_here_is_offered_to_a_clone(shell, tmp_path):
    """The daily copy is made, and its restoring told, where no editor ever ran."""
    address = "https://git.example.org/shop.git"
    git = ("git", "-C", shell.folder, "-c", "user.email=ana@example.org")
    subprocess.run([*git, "remote", "add", "origin", address], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Sell"], check=True)
    shell.remember("Retry must stay idempotent", "--at", "shop/pay.py::charge")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", shell.folder, clone], check=True)
    at_clone = ("--root", str(clone))
    assert shell("status", "--json", *at_clone).json["folders"][0]["restore"] is None  # of another origin
    subprocess.run(["git", "-C", clone, "remote", "set-url", "origin", address], check=True)
    offered = shell("status", "--json", *at_clone).json["folders"][0]["restore"]
    assert offered["path"] in shell("status", *at_clone).out
    told = shell("list", *at_clone).error
    assert told == shell("recall", "retry", *at_clone).error.removesuffix("; `mnemolens remember` makes one")
    assert not (clone / ".git" / "mnemolens").exists()
    restore = shlex.split(told.split("`")[1])
    assert restore == ["mnemolens", "import", offered["path"]]
    assert shell(*restore[1:], *at_clone).out == "Imported: 1 new, 0 updated, 0 unchanged\n"
    assert shell("status", "--json", *at_clone).json["folders"][0]["restore"] is None


def test_a_purge_of_nothing_says_so(noted):
    assert noted("purge", "NOPE", "--yes").error == "mnemolens: no memory 'NOPE'"

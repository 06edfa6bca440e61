"""`mnemolens track OLD NEW`: folders and revisions, every definition's fate, and that of memories."""

import json
import shutil
import subprocess

import pytest

CHARGE = """\
def charge(order, provider):
    for attempt in range(3):
        answer = provider.send(order.amount, order.currency)
        if answer.accepted:
            return answer.receipt
        provider.wait(attempt * 2)
    raise RuntimeError(order.number)
"""
INVOICE = """\
def invoice(customer, lines):
    total = sum(line.price * line.count for line in lines)
    text = [customer.name, customer.street, customer.town]
    return text, total
"""
REFUND = """\
def refund(payment, ledger):
    with ledger.lock:
        ledger.entries.append((payment.number, -payment.amount))
    return ledger.balance
"""


def git(folder, *arguments):
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(shell):
    """The shell in a repository of one commit, which is tagged."""
    for path in list(shell.folder.iterdir()):
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not (shell.folder / ".git").exists():
        git(shell.folder, "init", "-q")
    (shell.folder / "pay.py").write_text(CHARGE + INVOICE + REFUND)
    git(shell.folder, "add", "-A")
    git(shell.folder, "commit", "-qm", "one")
    git(shell.folder, "tag", "one")
    return shell


def go_on(folder):
    (folder / "pay.py").write_text(INVOICE.replace("return text, total", "return text, total, None"))
    (folder / "provider.py").write_text(CHARGE.replace("charge", "collect") + "def new(): pass\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "two")


def place(file, qualname, ordinal=0):
    return {"file": file, "qualname": qualname, "ordinal": ordinal}


def rows(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


def test_every_definition_between_two_revisions(repository):
    go_on(repository.folder)
    ran = repository("track", "one", "HEAD", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = rows(ran)
    assert all({"fate", "old", "new", "stage", "score"} <= set(row) for row in found)
    assert [(row["fate"], row["old"], row["new"]) for row in found] == [
        ("moved", place("pay.py", "charge"), place("provider.py", "collect")),
        ("kept", place("pay.py", "invoice"), place("pay.py", "invoice")),
        ("lost", place("pay.py", "refund"), None),
        ("added", None, place("provider.py", "new")),
    ]
    assert [row.get("changed") for row in found] == [False, True, None, None]


def test_two_folders_without_git(shell, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, text in ((old, CHARGE), (new, CHARGE.replace("charge", "collect"))):
        folder.mkdir()
        (folder / "pay.py").write_text(text)
    [row] = rows(shell("track", str(old), str(new), "--json"))
    assert (row["fate"], row["new"]) == ("renamed", place("pay.py", "collect"))
    assert row["score"] >= 0.75


def test_what_would_become_of_memories(repository):
    kept = repository.remember("Retry must stay idempotent", "--at", "pay.py::charge")
    gone = repository.remember("Ask Ana before touching this", "--at", "pay.py::refund")
    edited = repository.remember("Prices are net", "--at", "pay.py::invoice")
    go_on(repository.folder)
    notes = {
        row["memory"]: row for row in rows(repository("track", "one", "HEAD", "--json")) if "memory" in row
    }
    assert set(notes) == {kept, gone, edited}
    assert (notes[kept]["verdict"], notes[kept]["new"]) == ("fresh", place("provider.py", "collect"))
    assert (notes[gone]["verdict"], notes[gone]["new"]) == ("lost", None)
    assert (notes[edited]["verdict"], notes[edited]["edited"]) == ("fresh", True)


def rename_folder(folder, old, new):
    git(folder, "mv", old, new)
    git(folder, "commit", "-qm", f"{old} is {new}")


def test_memories_on_files_and_classes_go_with_a_renamed_folder(repository):
    folder = repository.folder
    (folder / "shop").mkdir()
    (folder / "shop" / "cart.py").write_text("class Cart:\n    def add(self, line):\n        return line\n")
    (folder / "shop" / "notes.md").write_text("Carts are emptied at night.\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "shop")
    expected = {
        repository.remember("About the file", "--at", "shop/cart.py"): ("store/cart.py", ""),
        repository.remember("About no code", "--at", "shop/notes.md"): ("store/notes.md", ""),
        repository.remember("About the class", "--at", "shop/cart.py::Cart"): ("store/cart.py", "Cart"),
    }
    rename_folder(folder, "shop", "store")
    found = rows(repository("track", "HEAD~1", "HEAD", "--json"))
    assert {row["memory"]: row["new"] for row in found if "memory" in row} == {
        memory: place(*where) for memory, where in expected.items()
    }
    assert {row["verdict"] for row in found if "memory" in row} == {"fresh"}
    assert all(row["new"]["qualname"] for row in found if "fate" in row)


def test_a_memory_whose_code_had_moved_before_is_found_on_both_sides(repository):
    memory = repository.remember("Retry must stay idempotent", "--at", "pay.py::charge")
    rename_folder(repository.folder, "pay.py", "money.py")
    rename_folder(repository.folder, "money.py", "cash.py")
    [note] = [
        row for row in rows(repository("track", "HEAD~1", "HEAD", "--json")) if row.get("memory") == memory
    ]
    assert (note["old"], note["new"]) == (place("money.py", "charge"), place("cash.py", "charge"))


def test_a_revision_and_itself(repository):
    ran = repository("track", "one", "HEAD")
    assert (ran.code, ran.out.strip()) == (0, "3 kept")


def test_a_shallow_clone_says_why_a_revision_is_not_there(repository, tmp_path):
    go_on(repository.folder)
    git(tmp_path, "clone", "-q", "--depth", "1", repository.folder.as_uri(), "shallow")
    ran = repository("track", "HEAD~1", "HEAD", "--root", str(tmp_path / "shallow"))
    assert ran.code == 2
    assert "git fetch --unshallow" in ran.error


def test_a_submodule_is_another_repository(repository, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "far.py").write_text(REFUND)
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "far")
    git(repository.folder, "-c", "protocol.file.allow=always", "submodule", "add", inner.as_uri(), "inner")
    git(repository.folder, "commit", "-qm", "inner")
    assert repository("track", "one", "HEAD").out.strip() == "3 kept"


def test_people_see_what_changed(repository):
    repository.remember("Retry must stay idempotent", "--at", "pay.py::charge")
    go_on(repository.folder)
    out = repository("track", "one", "HEAD").out
    assert "1 kept (1 edited), 1 moved, 1 lost, 1 added" in out
    assert "provider.py::collect" in out
    assert "Retry must stay idempotent" in out


def test_nothing_is_checked_out_or_written(repository):
    go_on(repository.folder)
    before = sorted(path.as_posix() for path in repository.folder.rglob("*"))
    repository("track", "HEAD", "one", "--json")
    assert sorted(path.as_posix() for path in repository.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nowhere", "HEAD", "OLD: nowhere is neither a folder nor a revision"),
        ("HEAD", "nowhere", "NEW: nowhere is neither a folder nor a revision"),
        ("", "HEAD", "OLD: it is empty"),
        ("HEAD", " ", "NEW: it is empty"),
        (".", "./", "NEW: ./ is the same folder as ."),
        ("./shop/", "HEAD", "OLD: ./shop/ is a folder and HEAD is none"),
        ("--output=x", "HEAD", "--output"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(repository, old, new, said):
    (repository.folder / "shop").mkdir()
    ran = repository("track", old, new)
    assert ran.code == 2
    assert said in ran.error


def test_a_folder_without_git_has_no_revisions(shell, tmp_path):
    ran = shell("track", "one", "two", "--root", str(tmp_path))
    assert ran.code == 2
    assert "git" in ran.error


def test_without_git_folders_can_still_be_compared(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    ran = repository("track", "one", "HEAD")
    assert (ran.code, "git can't be run" in ran.error) == (2, True)

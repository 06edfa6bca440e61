"""What git's history says, on histories made by hand; and every way in which git can be silent."""

from datetime import UTC, datetime

import pytest

from mnemolens.store.git_history import (
    GitSilent,
    branch_then,
    is_rebasing,
    is_shallow,
    not_in_history,
    tips,
)
from mnemolens.store.layout import find_layout
from repositories import commit, git, init

NOWHERE = "1234567890" * 4


@pytest.fixture
def repo(tmp_path):
    init(tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def fork(repo):
    """main: one - two; side: one - three - four."""
    one = git(repo, "rev-parse", "HEAD")
    two = commit(repo, "two")
    git(repo, "checkout", "-q", "-b", "side", one)
    three, four = commit(repo, "three"), commit(repo, "four")
    return {"one": one, "two": two, "three": three, "four": four}


def test_commits_of_another_branch_are_not_in_the_history(repo, fork):
    layout = find_layout(repo)
    everything = fork.values()
    assert not_in_history(layout, everything, fork["four"]) == {fork["two"]}
    assert not_in_history(layout, everything, fork["two"]) == {fork["three"], fork["four"]}
    assert not_in_history(layout, everything, fork["one"]) == {fork["two"], fork["three"], fork["four"]}
    assert not_in_history(layout, [], fork["four"]) == frozenset()


def test_a_commit_that_is_nowhere_is_in_no_history(repo, fork):
    found = not_in_history(find_layout(repo), [NOWHERE, fork["one"], "0" * 40], fork["two"])
    assert found == {NOWHERE, "0" * 40}


def test_a_merge_brings_a_branch_into_the_history(repo, fork):
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "side")
    assert not_in_history(find_layout(repo), fork.values(), git(repo, "rev-parse", "HEAD")) == frozenset()


def test_where_branches_are(repo, fork):
    layout = find_layout(repo)
    assert tips(layout, ["main", "side", "nobody's"]) == {"main": fork["two"], "side": fork["four"]}
    assert tips(layout, []) == {}


def test_a_remote_branch_counts_where_there_is_none_here(tmp_path, repo, fork):
    git(tmp_path, "clone", "-q", str(repo), "clone")  # has `side` checked out
    assert tips(find_layout(tmp_path / "clone"), ["main"]) == {"main": fork["two"]}


def test_where_a_branch_was(repo):
    layout = find_layout(repo)
    git(repo, "reflog", "expire", "--expire=now", "--all")
    assert branch_then(layout, "main", datetime.now(UTC)) is None
    first = commit(repo, "first", at="2026-03-01T01:00:00Z")
    last = commit(repo, "last", at="2026-03-01T02:00:00Z")
    assert branch_then(layout, "main", datetime(2026, 3, 1, 1, 30, tzinfo=UTC)) == first
    assert branch_then(layout, "main", datetime(2026, 3, 1, 2, 30, tzinfo=UTC)) == last
    assert branch_then(layout, "main", datetime(2026, 3, 1, 0, 30, tzinfo=UTC)) is None
    assert branch_then(layout, "nobody's", datetime.now(UTC)) is None


@pytest.mark.usefixtures("fork")
def test_a_shallow_clone(tmp_path, repo):
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert is_shallow(find_layout(tmp_path / "shallow"))
    assert not is_shallow(find_layout(repo))
    plain = tmp_path / "plain"
    plain.mkdir()
    assert not is_shallow(find_layout(plain))


def test_a_rebase_under_way(repo):
    (repo / "a").write_text("1")
    base = commit(repo, "a")
    (repo / "a").write_text("2")
    commit(repo, "b")
    git(repo, "checkout", "-q", "-b", "side", base)
    (repo / "a").write_text("3")
    commit(repo, "c")
    layout = find_layout(repo)
    assert not is_rebasing(layout)
    git(repo, "rebase", "-q", "main", check=False)  # stops at the conflict
    assert is_rebasing(layout)
    git(repo, "rebase", "--abort")
    assert not is_rebasing(layout)


def test_git_that_is_missing(repo, fork, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitSilent, match="git can't be run"):
        not_in_history(find_layout(repo), [fork["one"]], fork["two"])


@pytest.mark.parametrize(
    ("script", "words"),
    [("exec sleep 5", "did not answer within 0.2 s"), ("echo broken >&2; exit 3", "git says: broken")],
)
def test_git_that_is_slow_or_broken(repo, fork, monkeypatch, tmp_path, script, words):
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/bin:/usr/bin")
    with pytest.raises(GitSilent, match=words):
        not_in_history(find_layout(repo), [fork["one"]], fork["two"], timeout=0.2)


def test_a_repository_named_by_the_environment_is_not_asked(repo, fork, monkeypatch, tmp_path):
    init(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert not_in_history(find_layout(repo), fork.values(), fork["two"]) == {fork["three"], fork["four"]}


def test_a_damaged_repository(repo, fork):
    (repo / ".git" / "HEAD").write_text("")
    with pytest.raises(GitSilent, match="git says: "):
        not_in_history(find_layout(repo), [fork["one"]], fork["two"])

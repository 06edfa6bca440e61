"""What HEAD says, compared with git itself, and odd states that must never raise."""

import os
import subprocess

import pytest

from mnemolens.core.memories import Origin
from mnemolens.store.git import author_name, git_busy, read_head
from mnemolens.store.layout import find_layout


def git(folder, *arguments):
    identity = ["-c", "user.name=Ana", "-c", "user.email=a@example.org"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_commit_and_branch(repo):
    assert read_head(find_layout(repo)) == Origin(git(repo, "rev-parse", "HEAD"), "main")
    git(repo, "checkout", "-q", "-b", "feature/a#b")
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    assert read_head(find_layout(repo)) == Origin(git(repo, "rev-parse", "HEAD"), "feature/a#b")


def test_packed_references(repo):
    git(repo, "branch", "main-old")
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    git(repo, "tag", "-a", "-m", "t", "v1")
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "heads" / "main").exists()
    assert read_head(find_layout(repo)) == Origin(git(repo, "rev-parse", "HEAD"), "main")


def test_a_detached_head_has_no_branch(repo):
    git(repo, "checkout", "-q", "--detach")
    assert read_head(find_layout(repo)) == Origin(git(repo, "rev-parse", "HEAD"), None)


def test_an_unborn_branch_has_no_commit(tmp_path):
    git(tmp_path, "init", "-q", "-b", "trunk")
    assert read_head(find_layout(tmp_path)) == Origin(None, "trunk")


def test_a_linked_worktree_has_a_head_of_its_own(repo):
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "-q", "-b", "other", str(linked))
    git(linked, "commit", "-q", "--allow-empty", "-m", "there")
    assert read_head(find_layout(linked)) == Origin(git(linked, "rev-parse", "HEAD"), "other")
    assert read_head(find_layout(repo)).branch == "main"


def test_a_symbolic_branch_is_followed(repo):
    git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    (repo / ".git" / "HEAD").write_text("ref: refs/heads/alias\n")
    assert read_head(find_layout(repo)) == Origin(git(repo, "rev-parse", "main"), "alias")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xff\xfe",
        b"deadbeef\n",
        b"ref: \n",
        b"ref: refs/heads/.invalid\n",
        b"ref: ../../etc/passwd\n",
        b"ref: refs/heads/../../config\n",
        b"x" * 100_000,
    ],
)
def test_an_odd_head_says_nothing(repo, head):
    layout = find_layout(repo)
    (repo / ".git" / "HEAD").write_bytes(head)
    assert read_head(layout) == Origin()


@pytest.mark.parametrize("content", [b"", b"zzz\n", b"ref: ../../x\n", b"ref: refs/heads/main\n"])
def test_an_odd_branch_file_gives_no_commit(repo, content):
    (repo / ".git" / "refs" / "heads" / "main").write_bytes(content)
    assert read_head(find_layout(repo)) == Origin(None, "main")


def test_a_head_that_vanishes_says_nothing(repo):
    layout = find_layout(repo)
    (repo / ".git" / "HEAD").unlink()
    assert read_head(layout) == Origin()


def test_without_git_there_is_nothing(tmp_path):
    layout = find_layout(tmp_path)
    assert read_head(layout) == Origin()
    assert not git_busy(layout)


def test_git_is_busy_while_the_index_is_locked(repo):
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "-q", str(linked))
    (repo / ".git" / "worktrees" / "linked" / "index.lock").touch()
    assert git_busy(find_layout(linked))
    assert not git_busy(find_layout(repo))


def test_the_authors_name_is_gits(repo, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    assert author_name(find_layout(repo)) is None
    git(repo, "config", "user.name", "Ana Lüdke")
    assert author_name(find_layout(repo)) == "Ana Lüdke"


def test_without_a_git_program_there_is_no_author(repo, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert author_name(find_layout(repo)) is None


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_git_that_hangs_is_given_up(repo, monkeypatch, tmp_path):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    assert author_name(find_layout(repo), timeout=0.2) is None

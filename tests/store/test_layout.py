"""Where things lie (CONTRACT §3): compared with what git itself says, and for folders without git."""

import os
import subprocess
from pathlib import Path

import pytest

from mnemolens.core.clock import SystemClock
from mnemolens.core.events import MemoryForget
from mnemolens.store.journal import Journal
from mnemolens.store.layout import OlderStore, find_layout


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_CACHE_DIR", str(tmp_path / "cache"))


def git(folder, *arguments):
    identity = ["-c", "user.name=Ana", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
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
    (folder / "sub" / "deep").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("a = 1\n")
    git(folder, "add", "a.py")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def write_into(layout):
    journal = Journal(
        layout.store, layout.base, SystemClock(), root=layout.top.as_posix(), older=layout.older
    )
    journal.append([MemoryForget(memory=layout.top.name)]).result(timeout=60)
    journal.close()


def says_git(folder):
    """Top level and common dir, as git has them."""
    top, common = git(
        folder, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"
    ).split("\n")
    return Path(top), Path(common)


class TestGit:
    @pytest.mark.parametrize("inside", ["", "sub", "sub/deep"])
    def test_a_repository(self, repo, inside):
        layout = find_layout(repo / inside)
        assert (layout.top, layout.common_dir) == says_git(repo / inside)
        assert layout.in_git
        assert layout.store == repo / ".git" / "mnemolens"
        assert (layout.prefix, layout.base, layout.older) == (inside, "", ())
        assert layout.opened == repo / inside

    def test_a_linked_worktree_shares_the_store_but_not_its_id(self, repo):
        linked = repo.parent / "linked"
        git(repo, "worktree", "add", "-q", str(linked))
        layout = find_layout(linked)
        assert (layout.top, layout.common_dir) == says_git(linked)
        assert layout.store == find_layout(repo).store
        assert layout.git_dir == repo / ".git" / "worktrees" / "linked"
        assert layout.worktree_id != find_layout(repo).worktree_id
        assert layout.cache_dir == find_layout(repo).cache_dir == repo.parent / "cache"

    def test_a_submodule_is_a_repository_of_its_own(self, repo, tmp_path):
        outer = tmp_path / "outer"
        outer.mkdir()
        git(outer, "init", "-q", "-b", "main")
        git(outer, "submodule", "--quiet", "add", str(repo), "inner")
        layout = find_layout(outer / "inner")
        assert (layout.top, layout.common_dir) == says_git(outer / "inner")
        assert layout.store == outer / ".git" / "modules" / "inner" / "mnemolens"

    def test_a_repository_with_its_git_dir_elsewhere(self, tmp_path):
        folder = tmp_path / "work"
        folder.mkdir()
        git(folder, "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
        layout = find_layout(folder)
        assert layout.store == tmp_path / "elsewhere.git" / "mnemolens"
        assert layout.top == folder

    def test_a_worktree_of_a_bare_repository(self, repo, tmp_path):
        bare, work = tmp_path / "bare.git", tmp_path / "work"
        git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
        git(bare, "worktree", "add", "-q", str(work), "main")
        layout = find_layout(work)
        assert (layout.top, layout.common_dir) == says_git(work) == (work, bare)
        assert find_layout(work, "/notes").base == bare.as_posix()

    def test_an_empty_dot_git_is_none(self, repo):
        (repo / "sub" / ".git").mkdir()
        assert find_layout(repo / "sub").top == repo == says_git(repo / "sub")[0]

    @pytest.mark.parametrize("content", [b"gitdir: ../gone/.git\n", b"nonsense", b"", b"\xff\xfe\x00"])
    def test_a_broken_pointer_is_no_repository_and_no_error(self, repo, content):
        (repo / "sub" / ".git").write_bytes(content)
        layout = find_layout(repo / "sub")
        assert not layout.in_git
        assert layout.store == repo / "sub" / ".mnemolens"

    def test_git_status_never_shows_the_store(self, repo):
        write_into(find_layout(repo))
        assert git(repo, "status", "--porcelain") == ""
        git(repo, "clean", "-fdxq")
        assert (repo / ".git" / "mnemolens" / "journal").is_dir()


class TestFolders:
    def test_without_git_the_opened_folder_holds_the_store(self, tmp_path):
        folder = tmp_path / "plain"
        folder.mkdir()
        layout = find_layout(folder)
        assert not layout.in_git
        assert (layout.git_dir, layout.common_dir) == (None, None)
        assert (layout.top, layout.store, layout.prefix) == (folder, folder / ".mnemolens", "")
        assert list(folder.iterdir()) == []

    def test_a_store_is_found_upward(self, tmp_path):
        outer = tmp_path / "plain"
        inner = outer / "lib" / "x"
        inner.mkdir(parents=True)
        write_into(find_layout(outer))
        layout = find_layout(inner)
        assert (layout.top, layout.store, layout.prefix) == (outer, outer / ".mnemolens", "lib/x")
        assert layout.older == ()

    def test_a_lone_settings_folder_is_no_store(self, tmp_path):
        (tmp_path / "plain" / "x").mkdir(parents=True)
        (tmp_path / "plain" / ".mnemolens").mkdir()
        assert find_layout(tmp_path / "plain" / "x").top == tmp_path / "plain" / "x"

    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
    def test_a_strangers_store_above_does_not_count(self, tmp_path):
        outer = tmp_path / "shared"
        inner = outer / "mine"
        inner.mkdir(parents=True)
        write_into(find_layout(outer))
        os.chown(outer / ".mnemolens", 12345, -1)
        assert find_layout(inner).top == inner
        assert find_layout(outer).top == outer
        # In a container, root sees a user's folder with the user's store in it.
        os.chown(inner, 12345, -1)
        assert find_layout(inner).top == outer

    def test_an_older_store_is_still_read_after_git_init(self, tmp_path):
        top = tmp_path / "repo"
        sub = top / "sub"
        sub.mkdir(parents=True)
        write_into(find_layout(sub))
        git(top, "init", "-q")
        layout = find_layout(sub)
        assert layout.store == top / ".git" / "mnemolens"
        assert layout.older == (OlderStore(sub / ".mnemolens", sub.as_posix()),)
        assert find_layout(top).older == ()

    def test_a_missing_folder_is_no_error(self, tmp_path):
        assert find_layout(tmp_path / "gone").top == tmp_path / "gone"


class TestStorePath:
    def test_the_setting_overrides(self, repo, tmp_path):
        layout = find_layout(repo / "sub", str(tmp_path / "notes"))
        assert layout.store == tmp_path / "notes"
        assert layout.base == repo.as_posix()
        assert find_layout(repo / "sub", "notes").store == repo / "notes"

    def test_home_is_expanded(self, repo, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
        assert find_layout(repo, "~/notes").store == tmp_path / "home" / "notes"

    def test_worktrees_of_one_repository_share_a_base_there(self, repo):
        linked = repo.parent / "linked"
        git(repo, "worktree", "add", "-q", str(linked))
        assert find_layout(linked, "/notes").base == find_layout(repo, "/notes").base


class TestPaths:
    def test_stored_paths_are_relative_to_the_top(self, repo):
        layout = find_layout(repo / "sub")
        assert layout.file_of(repo / "sub" / "x y" / "ä#%.py") == "sub/x y/ä#%.py"
        assert layout.file_of(repo / "a.py") == "a.py"
        assert layout.file_of(repo / "sub" / ".." / "a.py") == "a.py"
        assert layout.file_of(repo.parent / "other.py") is None
        assert layout.file_of(Path(f"{repo}-other") / "a.py") is None

    def test_and_back(self, repo):
        layout = find_layout(repo / "sub")
        assert layout.path_of("sub/b.py") == repo / "sub" / "b.py"
        assert layout.path_of("a.py") == repo / "a.py"
        assert layout.path_of("../x.py") == repo.parent / "x.py"

    def test_what_lies_in_the_opened_folder(self, repo):
        layout = find_layout(repo / "sub")
        assert layout.contains("sub/b.py")
        assert not layout.contains("a.py")
        assert not layout.contains("subway/b.py")
        whole = find_layout(repo)
        assert whole.contains("a.py")
        assert not whole.contains("../a.py")
        assert not whole.contains("/a.py")

    @pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
    def test_a_symlinked_root_keeps_the_editors_spelling(self, repo, tmp_path):
        link = tmp_path / "link"
        link.symlink_to(repo / "sub")
        layout = find_layout(link)
        assert layout.opened == link
        assert (layout.root, layout.top, layout.prefix) == (repo / "sub", repo, "sub")
        assert layout.store == repo / ".git" / "mnemolens"
        assert layout.file_of(link / "b.py") == layout.file_of(repo / "sub" / "b.py") == "sub/b.py"
        assert layout.path_of("sub/b.py") == link / "b.py"
        assert layout.path_of("a.py") == repo / "a.py"
        assert layout.worktree_id == find_layout(repo).worktree_id

    @pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
    def test_another_spelling_of_the_same_file(self, repo, tmp_path):
        link = tmp_path / "link"
        link.symlink_to(repo)
        assert find_layout(repo).file_of(link / "a.py") == "a.py"

    def test_a_relative_folder(self, repo, monkeypatch):
        monkeypatch.chdir(repo)
        assert find_layout(Path("sub")).opened == repo / "sub"


def test_the_cache_is_the_users_unless_told_otherwise(repo, monkeypatch):
    monkeypatch.delenv("MNEMOLENS_CACHE_DIR")
    assert find_layout(repo).cache_dir.name == "mnemolens"
    assert not str(find_layout(repo).cache_dir).startswith(str(repo))


def test_the_owner_of_a_store_is_the_folder_that_it_lies_in(repo, tmp_path):
    assert find_layout(repo / "sub").owner == repo / ".git"
    assert find_layout(repo, "notes/memories").owner == repo
    assert find_layout(repo, str(tmp_path / "elsewhere")).owner is None
    plain = tmp_path / "plain"
    plain.mkdir()
    assert find_layout(plain).owner == plain


def test_the_owner_of_a_linked_worktree_s_store_is_the_repository(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "beside")
    assert find_layout(tmp_path / "linked").owner == repo / ".git"

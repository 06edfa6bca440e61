"""Which files are indexed. Where git has a say, git itself is asked."""

import os
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemolens.store.files import FileFinder, FoundFile, Skipped


def finder(folder: Path, top: Path | None = None, **options) -> FileFinder:
    return FileFinder(folder, top or folder, lambda path: path.endswith((".py", ".ts")), **options)


def write(folder: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def found(scan) -> list[str]:
    return sorted(file.path for file in scan.files)


def git(folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout.decode()


def as_git_sees_it(folder: Path) -> list[str]:
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted(path for path in listed if path.endswith((".py", ".ts")))


class TestWalk:
    def test_lists_files_of_wanted_languages_with_their_stamps(self, tmp_path):
        write(tmp_path, "a.py", "deep/er/b.ts", "c.md", "Makefile", text="12345")
        os.utime(tmp_path / "a.py", ns=(5, 1_700_000_000_123_456_789))

        scan = finder(tmp_path).scan()

        assert found(scan) == ["a.py", "deep/er/b.ts"]
        assert scan.skipped == ()
        (a,) = [file for file in scan.files if file.path == "a.py"]
        assert (a.size, a.mtime_ns) == (5, 1_700_000_000_123_456_789)
        assert a.ctime_ns == (tmp_path / "a.py").stat().st_ctime_ns

    def test_an_empty_file_is_a_file(self, tmp_path):
        write(tmp_path, "__init__.py", text="")
        assert found(finder(tmp_path).scan()) == ["__init__.py"]

    def test_paths_are_relative_to_the_top_level(self, tmp_path):
        write(tmp_path, "services/pay/a.py", "services/b.py", "other/c.py")
        assert found(finder(tmp_path / "services", tmp_path).scan()) == ["services/b.py", "services/pay/a.py"]

    def test_a_folder_outside_the_top_level_is_an_error(self, tmp_path):
        with pytest.raises(ValueError, match="subpath"):
            finder(tmp_path, tmp_path / "top")

    def test_names_with_spaces_hashes_percent_and_emoji(self, tmp_path):
        names = ["a b.py", "#c.py", "d%20e.py", "ü/😀.py"]
        write(tmp_path, *names)
        assert found(finder(tmp_path).scan()) == sorted(names)

    def test_other_peoples_code_and_build_output_are_left_out(self, tmp_path):
        write(tmp_path, "node_modules/x/i.ts", ".venv/lib/a.py", "venv/b.py", "lib/site-packages/c.py")
        write(tmp_path, "pkg/__pycache__/d.py", ".git/hooks/e.py", "pkg/node_modules/f.ts", ".mnemolens/g.py")
        write(tmp_path, "my-env/pyvenv.cfg", "my-env/lib/h.py", "src/i.py")
        scan = finder(tmp_path).scan()
        assert found(scan) == ["src/i.py"]
        assert scan.skipped == ()

    def test_a_negated_exclude_brings_a_skipped_folder_back_but_never_git(self, tmp_path):
        write(tmp_path, "node_modules/i.ts", ".git/e.py")
        assert found(finder(tmp_path, exclude=["!node_modules/", "!.git"]).scan()) == ["node_modules/i.ts"]

    def test_too_large_a_file_is_skipped_with_the_setting_to_change(self, tmp_path):
        write(tmp_path, "fits.py", text="x" * 10)
        write(tmp_path, "large.py", text="x" * 11)
        scan = finder(tmp_path, max_file_bytes=10).scan()
        assert found(scan) == ["fits.py"]
        assert scan.skipped == (Skipped("large.py", "11 bytes, more than index.maxFileBytes (10)"),)

    def test_links_are_not_followed_and_a_loop_ends(self, tmp_path):
        write(tmp_path, "src/a.py")
        (tmp_path / "src" / "loop").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "b.py").symlink_to("src/a.py")
        (tmp_path / "dangling.py").symlink_to("nowhere.py")
        (tmp_path / "notes.md").symlink_to("src/a.py")
        scan = finder(tmp_path).scan()
        assert found(scan) == ["src/a.py"]
        assert {item.file for item in scan.skipped} == {"src/loop", "b.py", "dangling.py"}
        assert {item.reason for item in scan.skipped} == {"symbolic link"}

    def test_the_folder_itself_may_be_reached_by_a_link(self, tmp_path):
        write(tmp_path, "real/a.py")
        (tmp_path / "link").symlink_to("real", target_is_directory=True)
        assert found(finder(tmp_path / "link").scan()) == ["a.py"]

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_that_cannot_be_read_is_skipped(self, tmp_path):
        write(tmp_path, "a.py", "secret/b.py")
        (tmp_path / "secret").chmod(0)
        try:
            scan = finder(tmp_path).scan()
        finally:
            (tmp_path / "secret").chmod(0o700)
        assert found(scan) == ["a.py"]
        assert [item.file for item in scan.skipped] == ["secret"]

    def test_a_folder_that_cannot_be_listed_is_skipped_with_the_systems_words(self, tmp_path, monkeypatch):
        write(tmp_path, "a.py", "secret/b.py")
        list_folder = os.scandir

        def refuse(path):
            if str(path).endswith("secret"):
                raise PermissionError(13, "Permission denied", str(path))
            return list_folder(path)

        monkeypatch.setattr(os, "scandir", refuse)
        scan = finder(tmp_path).scan()
        assert found(scan) == ["a.py"]
        assert scan.skipped == (Skipped("secret", "folder cannot be read: Permission denied"),)

    def test_a_file_that_is_removed_during_the_walk_is_not_there(self, tmp_path, monkeypatch):
        write(tmp_path, "a.py", "b.py")
        list_folder = os.scandir

        @contextmanager
        def list_then_remove(path):
            with list_folder(path) as listing:
                entries = list(listing)
            (tmp_path / "b.py").unlink()
            yield entries

        monkeypatch.setattr(os, "scandir", list_then_remove)
        scan = finder(tmp_path).scan()
        assert (found(scan), scan.skipped) == (["a.py"], ())

    def test_a_missing_folder_is_skipped(self, tmp_path):
        scan = finder(tmp_path / "gone").scan()
        assert scan.files == ()
        assert scan.skipped == (Skipped(".", "folder cannot be read: No such file or directory"),)

    @pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
    def test_names_that_are_no_utf8_are_skipped(self, tmp_path):
        write(tmp_path, "good.py")
        try:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9")).mkdir()
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9/in.py")).write_text("")
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).write_text("")
        except OSError:
            pytest.skip("the file system refuses such names")
        scan = finder(tmp_path).scan()
        assert found(scan) == ["good.py"]
        reason = "its name is not valid UTF-8"
        assert set(scan.skipped) == {Skipped(r"caf\xe9.py", reason), Skipped(r"d\xe9", reason)}

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
    def test_pipes_and_sockets_are_no_files(self, tmp_path, monkeypatch):
        os.mkfifo(tmp_path / "pipe.py")
        monkeypatch.chdir(tmp_path)  # a socket's path may be 107 bytes long
        with socket.socket(socket.AF_UNIX) as endpoint:
            endpoint.bind("socket.py")
            scan = finder(tmp_path).scan()
            assert (scan.files, scan.skipped) == ((), ())
            assert finder(tmp_path).examine("pipe.py") is None

    def test_a_tree_deeper_than_the_recursion_limit(self, tmp_path):
        deepest = tmp_path
        for _ in range(300):
            deepest /= "d"
        deepest.mkdir(parents=True)
        (deepest / "a.py").write_text("")
        assert found(finder(tmp_path).scan()) == ["d/" * 300 + "a.py"]


class TestIgnoreRules:
    def test_at_every_level_the_deeper_file_wins(self, tmp_path):
        write(
            tmp_path, "a.gen.py", "sub/a.gen.py", "sub/b.py", "sub/deep/a.gen.py", "local.py", "sub/local.py"
        )
        write(tmp_path, ".gitignore", text="*.gen.py\n/local.py\n")
        write(tmp_path, "sub/.gitignore", text="!a.gen.py\n")
        write(tmp_path, "sub/deep/.gitignore", text="*.py\n")
        assert found(finder(tmp_path).scan()) == ["sub/a.gen.py", "sub/b.py", "sub/local.py"]

    def test_hold_without_git_and_above_the_opened_folder(self, tmp_path):
        write(tmp_path, "sub/a.py", "sub/gen/b.py", "sub/c_pb2.py")
        write(tmp_path, ".gitignore", text="gen/\n")
        write(tmp_path, "sub/.gitignore", text="*_pb2.py\n")
        assert found(finder(tmp_path / "sub", tmp_path).scan()) == ["sub/a.py"]

    def test_an_ignored_folder_that_is_opened_itself_is_indexed(self, tmp_path):
        write(tmp_path, "build/a.py")
        write(tmp_path, ".gitignore", text="build\n")
        assert found(finder(tmp_path / "build", tmp_path).scan()) == ["build/a.py"]

    def test_the_repositorys_own_excludes(self, tmp_path):
        git(tmp_path, "init", "-q")
        write(tmp_path, "a.py", "scratch.py", "sub/scratch.py")
        write(tmp_path, ".git/info/exclude", text="scratch.py\n")
        write(tmp_path, "sub/.gitignore", text="!scratch.py\n")
        scan = finder(tmp_path, common_dir=tmp_path / ".git").scan()
        assert found(scan) == as_git_sees_it(tmp_path) == ["a.py", "sub/scratch.py"]

    def test_index_exclude_wins_over_every_ignore_file(self, tmp_path):
        write(tmp_path, "a.py", "gen/b.py", "kept/c.py", "x/gen/d.py")
        write(tmp_path, ".gitignore", text="!gen/\nkept/\n")
        assert found(finder(tmp_path, exclude=["/gen/", "!kept/"]).scan()) == [
            "a.py",
            "kept/c.py",
            "x/gen/d.py",
        ]

    def test_byte_order_mark_and_line_ends(self, tmp_path):
        write(tmp_path, "a.py", "b.py", "c.py")
        (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.py\r\nb.py\r\n")
        assert found(finder(tmp_path).scan()) == ["c.py"]

    def test_broken_patterns_match_nothing(self, tmp_path):
        write(tmp_path, "a.py", "b.py")
        (tmp_path / ".gitignore").write_bytes(b"[\n!\n\\\n/\n[z-a]\n\xff\xfe\n***\x00\nb.py\n")
        assert found(finder(tmp_path).scan()) == ["a.py"]

    def test_an_ignore_file_that_is_a_folder(self, tmp_path):
        write(tmp_path, "a.py", ".gitignore/b.py")
        assert found(finder(tmp_path).scan()) == [".gitignore/b.py", "a.py"]

    def test_as_git_on_patterns_that_are_easily_got_wrong(self, tmp_path):
        git(tmp_path, "init", "-q")
        write(tmp_path, "foo/bar.py", "foo/keep.py", "x/foo/bar.py", "dir/a.py", "dir/b/c.py", "dir/b/d.py")
        write(
            tmp_path, "re/a.py", "re/keep/b.py", "out/deep/er/a.py", "w h/a.py", "q1.py", "q2.py", "!bang.py"
        )
        write(tmp_path, "#hash.py", "name", "star/a.py", "star/b/c.py", "logs.py/in.py", "abc/x/def/a.py")
        lines = [
            "foo/*",
            "!foo/keep.py",
            "/dir/**",
            "!/dir/b/",
            "!/dir/b/d.py",
            "*.ts",
            "re/*",
            "!re/keep",
            "out/**/er",
            "w\\ h/",
            "q[1].py",
            "\\!bang.py",
            "\\#hash.py",
            "logs.py/",
            "**/star/*.py",
            "abc/**/def/",
            "trailing.py   ",
        ]
        write(tmp_path, ".gitignore", text="\n".join(lines) + "\n")
        write(tmp_path, "trailing.py")
        ours = found(finder(tmp_path, common_dir=tmp_path / ".git").scan())
        assert ours == as_git_sees_it(tmp_path)
        assert "foo/keep.py" in ours
        assert "re/keep/b.py" in ours
        assert "q2.py" in ours

    segment = st.sampled_from(["a", "b", "a.py", "b.py", "*", "*.py", "a*", "**", "?", "[ab]", "?.py"])
    pattern = st.builds(
        lambda negated, rooted, parts, ended: f"{negated}{rooted}{'/'.join(parts)}{ended}",
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", "/"]),
        st.lists(segment, min_size=1, max_size=3),
        st.sampled_from(["", "", "/"]),
    )

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(top=st.lists(pattern, max_size=5), below=st.lists(pattern, max_size=3))
    def test_as_git_on_any_patterns(self, tmp_path_factory, top, below):
        folder = tmp_path_factory.getbasetemp() / "any-patterns"
        if not folder.exists():
            folder.mkdir()
            git(folder, "init", "-q")
            write(folder, "a.py", "b.py", "c.py", "a/a.py", "a/b.py", "a/b/a.py", "a/b/c.py", "a/a/b/b.py")
            write(folder, "b/a.py", "b/a/a.py", "b/a/b.py", "b/a/b/a.py", "ab/a.py", "d.py/a.py", "c/b/a.py")
        write(folder, ".gitignore", text="\n".join(top) + "\n")
        write(folder, "a/.gitignore", text="\n".join(below) + "\n")
        ours = finder(folder, common_dir=folder / ".git")
        assert found(ours.scan()) == as_git_sees_it(folder)


class TestRepositoriesBelow:
    def test_a_clone_below_starts_its_rules_anew(self, tmp_path):
        git(tmp_path, "init", "-q")
        write(tmp_path, ".gitignore", text="gen.py\n")
        write(tmp_path, "gen.py", "a.py")
        inner = tmp_path / "third" / "inner"
        inner.mkdir(parents=True)
        git(inner, "init", "-q")
        write(inner, "gen.py", "scratch.py", "b.py")
        write(inner, ".git/info/exclude", text="scratch.py\n")
        write(inner, ".gitignore", text="b.py\n")
        scan = finder(tmp_path, common_dir=tmp_path / ".git").scan()
        assert found(scan) == ["a.py", "third/inner/gen.py"]

    def test_an_ignored_clone_is_left_out(self, tmp_path):
        git(tmp_path, "init", "-q")
        write(tmp_path, ".gitignore", text="third/\n")
        (tmp_path / "third").mkdir()
        git(tmp_path / "third", "init", "-q")
        write(tmp_path, "third/a.py")
        assert found(finder(tmp_path, common_dir=tmp_path / ".git").scan()) == []

    def test_another_worktree_of_the_same_repository_is_left_out(self, tmp_path):
        git(tmp_path, "init", "-q")
        write(tmp_path, "a.py")
        git(tmp_path, "add", "a.py")
        git(tmp_path, "commit", "-q", "-m", "one")
        git(tmp_path, "worktree", "add", "-q", "trees/feature", "-b", "feature")
        scan = finder(tmp_path, common_dir=tmp_path / ".git").scan()
        assert found(scan) == ["a.py"]
        assert scan.skipped == (Skipped("trees/feature", "another worktree of a repository that is indexed"),)
        assert finder(tmp_path, common_dir=tmp_path / ".git").ignored("trees/feature/a.py")

        inside = tmp_path / "trees" / "feature"
        git(inside, "worktree", "add", "-q", "fix", "-b", "fix")
        scan = finder(inside, common_dir=tmp_path / ".git").scan()
        assert found(scan) == ["a.py"]
        assert [item.file for item in scan.skipped] == ["fix"]

    def test_side_by_side_in_a_folder_that_is_no_repository(self, tmp_path):
        main = tmp_path / "main"
        main.mkdir()
        git(main, "init", "-q")
        write(main, "a.py")
        git(main, "add", "a.py")
        git(main, "commit", "-q", "-m", "one")
        git(main, "worktree", "add", "-q", str(tmp_path / "feature"), "-b", "feature")
        scan = finder(tmp_path).scan()
        assert found(scan) == ["main/a.py"]
        assert [item.file for item in scan.skipped] == ["feature"]

    def test_a_submodule_is_indexed(self, tmp_path):
        origin, top = tmp_path / "origin", tmp_path / "top"
        origin.mkdir()
        top.mkdir()
        git(origin, "init", "-q")
        write(origin, "lib.py")
        git(origin, "add", "lib.py")
        git(origin, "commit", "-q", "-m", "one")
        git(top, "init", "-q")
        git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin), "vendor/lib")
        assert (top / "vendor/lib/.git").is_file()
        assert found(finder(top, common_dir=top / ".git").scan()) == ["vendor/lib/lib.py"]

    def test_a_git_file_that_leads_nowhere_changes_nothing(self, tmp_path):
        write(tmp_path, "sub/a.py", "other/b.py")
        write(tmp_path, "sub/.git", text="gitdir: /nowhere\n")
        write(tmp_path, "other/.git", text="\0 nonsense")
        assert found(finder(tmp_path).scan()) == ["other/b.py", "sub/a.py"]


class TestSingleFiles:
    def test_the_same_answers_as_the_walk(self, tmp_path):
        write(tmp_path, "a.py", "gen/b.py", "sub/c.py", "sub/d_pb2.py", "node_modules/e.ts", "f.md", "v/g.py")
        write(tmp_path, ".gitignore", text="gen/\n")
        write(tmp_path, "sub/.gitignore", text="*_pb2.py\n")
        write(tmp_path, "v/pyvenv.cfg")
        (tmp_path / "link").symlink_to("sub", target_is_directory=True)
        ask = finder(tmp_path)
        kept = {
            str(p.relative_to(tmp_path)): ask.ignored(str(p.relative_to(tmp_path)))
            for p in tmp_path.rglob("*.*")
        }
        assert {path for path, ignored in kept.items() if not ignored} == {"a.py", "sub/c.py"}
        assert ask.ignored("link/c.py")
        assert found(finder(tmp_path).scan()) == ["a.py", "sub/c.py"]

    def test_a_file_need_not_exist(self, tmp_path):
        write(tmp_path, ".gitignore", text="gen/\n")
        ask = finder(tmp_path)
        assert not ask.ignored("new/module.py")
        assert ask.ignored("gen/module.py")
        assert ask.examine("new/module.py") is None

    def test_outside_the_opened_folder_is_ignored(self, tmp_path):
        write(tmp_path, "in/a.py", "in-side/a.py", "b.py")
        ask = finder(tmp_path / "in", tmp_path)
        assert [ask.ignored(path) for path in ("in/a.py", "in-side/a.py", "b.py")] == [False, True, True]
        assert ask.covers("in/a.py")
        assert not ask.covers("in-side/a.py")

    def test_rules_are_read_anew_when_told_to(self, tmp_path):
        write(tmp_path, "a.py")
        ask = finder(tmp_path)
        assert not ask.ignored("a.py")
        write(tmp_path, ".gitignore", text="a.py\n")
        ask.forget()
        assert ask.ignored("a.py")

    def test_examine_says_what_the_walk_would(self, tmp_path):
        write(tmp_path, "a.py", text="12345")
        write(tmp_path, "large.py", text="1234567")
        (tmp_path / "link.py").symlink_to("a.py")
        (tmp_path / "folder.py").mkdir()
        ask = finder(tmp_path, max_file_bytes=6)
        status = (tmp_path / "a.py").stat()
        assert ask.examine("a.py") == FoundFile("a.py", 5, status.st_mtime_ns, status.st_ctime_ns)
        assert ask.examine("large.py") == Skipped("large.py", "7 bytes, more than index.maxFileBytes (6)")
        assert ask.examine("link.py") == Skipped("link.py", "symbolic link")
        assert ask.examine("folder.py") is None
        assert ask.examine("a.py/below.py") is None

    def test_one_folder_with_the_rules_it_has_now(self, tmp_path):
        write(tmp_path, "sub/a.py", "sub/deep/b.py", "sub/deep/pyvenv.cfg")
        ask = finder(tmp_path)
        assert found(ask.scan()) == ["sub/a.py"]
        (tmp_path / "sub/deep/pyvenv.cfg").unlink()
        assert found(ask.scan_below("sub/deep")) == ["sub/deep/b.py"]
        write(tmp_path, "sub/deep/.gitignore", text="b.py\n")
        assert found(ask.scan_below("sub/deep")) == []

    def test_one_folder(self, tmp_path):
        write(tmp_path, "a.py", "sub/b.py", "sub/deep/c.py", "gen/d.py", "subs/e.py")
        write(tmp_path, ".gitignore", text="gen/\n")
        ask = finder(tmp_path)
        assert found(ask.scan_below("sub")) == ["sub/b.py", "sub/deep/c.py"]
        assert found(ask.scan_below("gen")) == []
        assert found(ask.scan_below("a.py")) == []
        assert found(ask.scan_below("nowhere")) == []

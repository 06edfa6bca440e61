"""Which files of a folder are indexed: the walk, the ignore rules, and why a file was left out.

Owns the reading of `.gitignore` files and of `.git/info/exclude`. It reads no source text: whether a file is
binary is found by whoever reads it. It knows no language either: the caller says which names it wants.

Decisions, and why:

- Symbolic links below the folder are not followed. What they point at either is indexed at its real place, so
  that a second place would make every name in it ambiguous, or it lies outside the folder.
- A linked git worktree of a repository that is indexed anyway is left out, for the same reason. Other
  repositories below the folder (submodules, clones) belong to the project; as in git their ignore rules start
  anew at their top.
- `SKIPPED_FOLDERS`, and folders that hold a `pyvenv.cfg`, are other people's code or build output. A negated
  pattern in `index.exclude` or in an ignore file (`!node_modules/`) brings one back; version control's own
  folders never.
- git's index is not read: a file that is tracked although an ignore rule names it is left out too.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from mnemolens.core.turns import Turns
from mnemolens.store.spelling import is_spelt_otherwise

DEFAULT_MAX_FILE_BYTES = 1_500_000

VERSION_CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})

SKIPPED_FOLDERS = frozenset(
    {
        "node_modules",
        "bower_components",
        ".yarn",
        ".pnpm-store",
        "site-packages",
        ".venv",
        "venv",
        "virtualenv",
        ".tox",
        ".nox",
        ".eggs",
        "__pycache__",
        "__pypackages__",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".next",
        ".nuxt",
        ".svelte-kit",
        ".mnemolens",
    }
)
"""Names of folders that are left out unless a negated pattern names them."""


class FoundFile(NamedTuple):
    """A file to index.

    Attributes:
        path: POSIX, relative to the top level.
        size: bytes.
        mtime_ns: time of the last change of its content, as the file system says it.
        ctime_ns: time of the last change of its inode (on Windows: of its creation), so that content which
            was put back under an old time is seen.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


class Skipped(NamedTuple):
    r"""A file or folder that would have been indexed, and why it was not.

    Attributes:
        file: POSIX, relative to the top level; bytes that are no UTF-8 are written `\xNN`.
        reason: for the user to read.
    """

    file: str
    reason: str


class Scan(NamedTuple):
    """What one walk found, both in the order of their paths' folders."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]


_SPECIAL = (".git", ".gitignore", "pyvenv.cfg")

_BAD_NAME = "its name is not valid UTF-8"

_LITERAL = re.compile(r"(!?)([\w.+@~-][\w.+@~ -]*[\w.+@~-]|[\w.+@~-])(/?)", re.ASCII)
_SUFFIX = re.compile(r"(!?)\*(\.[\w.+@~-]+)(/?)", re.ASCII)


class _Pattern(NamedTuple):
    order: int
    ignores: bool
    folders_only: bool


class IgnoreRules:
    """The patterns of one ignore file.

    A pattern is asked about the entry itself only, never about the folders above it: the walk does not enter
    an ignored folder. That is how git decides, and it makes plain names and `*.ext`, nearly all patterns that
    there are, a look-up; the rest is pathspec's translation.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._names: dict[str, list[_Pattern]] = {}
        self._suffixes: dict[str, list[_Pattern]] = {}
        self._others: list[tuple[_Pattern, re.Pattern[str]]] = []
        for order, raw in enumerate(lines):
            self._add(order, raw.rstrip("\r\n"))
        self._endings = tuple(self._suffixes)

    def _add(self, order: int, line: str) -> None:
        for shape, table in ((_LITERAL, self._names), (_SUFFIX, self._suffixes)):
            if plain := shape.fullmatch(line):
                pattern = _Pattern(order, not plain[1], bool(plain[3]))
                table.setdefault(plain[2], []).append(pattern)
                return
        if not (bare := line.rstrip(" ")).endswith("\\"):
            line = bare
        # pathspec reads `a/**/` as `a/`; to git it is `a/**`, folders only
        folders_only = line.endswith("/")
        try:
            translated = GitIgnoreSpecPattern(line.removesuffix("/"))
        except (GitIgnorePatternError, re.error):
            return  # git takes such a line to match nothing
        if translated.include is not None and isinstance(translated.regex, re.Pattern):
            self._others.append((_Pattern(order, translated.include, folders_only), translated.regex))

    def __bool__(self) -> bool:
        return bool(self._names or self._suffixes or self._others)

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """What the last pattern that matches says.

        Args:
            path: POSIX, relative to the folder of the ignore file, without a slash at the end.
            name: the last part of `path`.
            is_folder: whether the entry is a folder.

        Returns:
            True to ignore the entry, False to keep it, None when no pattern speaks of it.
        """
        last: _Pattern | None = None
        for pattern in self._candidates(path, name):
            if (is_folder or not pattern.folders_only) and (last is None or pattern.order > last.order):
                last = pattern
        return None if last is None else last.ignores

    def _candidates(self, path: str, name: str) -> Iterator[_Pattern]:
        yield from self._names.get(name, ())
        if name.endswith(self._endings):
            for ending, patterns in self._suffixes.items():
                if name.endswith(ending):
                    yield from patterns
        for pattern, regex in self._others:
            # the group `ps_d` has matched where pathspec means a folder above the entry
            if (found := regex.search(path)) and found.groupdict().get("ps_d") is None:
                yield pattern


class _Rule(NamedTuple):
    """Rules, and the length of the prefix that makes a path relative to their folder."""

    prefix: int
    rules: IgnoreRules


_Chain = tuple[_Rule, ...]  # the deepest first


class FileFinder:
    """Finds the files to index in one opened folder, and answers for single files.

    Not thread-safe: each thread has its own, or a lock around it.

    Args:
        folder: the opened folder, absolute and real. It is walked even where a rule of a folder above ignores
            it.
        top: the top level that paths are relative to: `folder` or a folder above it.
        wanted: whether a file of this path is in a language that is indexed.
        exclude: patterns in `.gitignore` form, relative to `top`; they win over every ignore file.
        max_file_bytes: longer files are skipped.
        common_dir: the repository's common git folder, for `info/exclude` and to know its other worktrees.

    Raises:
        ValueError: `folder` is not inside `top`.
    """

    def __init__(
        self,
        folder: Path,
        top: Path,
        wanted: Callable[[str], bool],
        *,
        exclude: Sequence[str] = (),
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
        common_dir: Path | None = None,
    ) -> None:
        relative = folder.relative_to(top).as_posix()
        self.folder, self.top = folder, top
        self._start = "" if relative == "." else relative
        self._top = os.fspath(top)
        self._wanted = wanted
        self._exclude = IgnoreRules(exclude)
        self._max = max_file_bytes
        self._common = common_dir
        self._chains: dict[str, _Chain | None] = {}
        self._skipped: list[Skipped] = []

    def forget(self) -> None:
        """Read the ignore files anew from now on: to call when one has changed."""
        self._chains.clear()

    def scan(self) -> Scan:
        """Walk the folder. What is wrong with an entry is never raised: it is skipped with the reason."""
        self.forget()
        return self._scan(self._start)

    def scan_below(self, folder: str) -> Scan:
        """Walk one folder below the opened one; empty when it is gone, ignored or no folder.

        Args:
            folder: POSIX, relative to the top level.
        """
        for known in [path for path in self._chains if f"{path}/".startswith(f"{folder}/")]:
            del self._chains[known]
        if self._chain(folder) is None or not Path(self._absolute(folder)).is_dir():
            return Scan((), ())
        return self._scan(folder)

    def covers(self, path: str) -> bool:
        """Whether a file lies in the opened folder."""
        return not self._start or path.startswith(f"{self._start}/")

    def _scan(self, start: str) -> Scan:
        self._skipped = []
        files: list[FoundFile] = []
        folders = [start]
        turns = Turns()
        while folders:
            below = self._list_folder(folders.pop(), files, turns)
            below.reverse()
            folders += below
        skipped, self._skipped = tuple(self._skipped), []
        return Scan(tuple(files), skipped)

    def ignored(self, path: str) -> bool:
        """Whether the rules leave `path` out, by its name and the folders above it; it need not exist.

        Args:
            path: a file, POSIX, relative to the top level.
        """
        parent, _, name = path.rpartition("/")
        chain = self._chain(parent)
        return chain is None or not self._wanted(path) or self._ruled_out(path, name, chain, is_folder=False)

    def examine(self, path: str) -> FoundFile | Skipped | None:
        """What a walk would say of one file now; None when it is gone or ignored.

        Args:
            path: POSIX, relative to the top level.
        """
        if self.ignored(path):
            return None
        try:
            status = os.lstat(self._absolute(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            return Skipped(printable(path), _reason(error))
        if stat.S_ISLNK(status.st_mode):
            return Skipped(printable(path), "symbolic link")
        if not stat.S_ISREG(status.st_mode) or is_spelt_otherwise(self.top, path):
            return None
        return self._judge(path, status)

    def _absolute(self, path: str) -> str:
        return f"{self._top}/{path}" if path else self._top

    def _judge(self, path: str, status: os.stat_result) -> FoundFile | Skipped:
        if not _is_utf8(path):
            return Skipped(printable(path), _BAD_NAME)
        if status.st_size > self._max:
            return Skipped(path, f"{status.st_size} bytes, more than index.maxFileBytes ({self._max})")
        return FoundFile(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def _list_folder(self, folder: str, files: list[FoundFile], turns: Turns) -> list[str]:
        """Add the folder's files to `files`; the folders to enter."""
        try:
            with os.scandir(self._absolute(folder)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(folder or ".", f"folder cannot be read: {_reason(error)}")
            return []
        chain = self._chains[folder] = self._open_chain(folder, {entry.name for entry in entries})
        if chain is None:
            return []
        below: list[str] = []
        prefix = f"{folder}/" if folder else ""
        for entry in entries:
            path = prefix + entry.name
            turns.give()
            try:
                if entry.is_symlink():
                    self._note_link(path, entry, chain)
                elif entry.is_dir(follow_symlinks=False):
                    if not self._ruled_out(path, entry.name, chain, is_folder=True):
                        below.append(path)
                elif self._wanted(path) and not self._ruled_out(path, entry.name, chain, is_folder=False):
                    self._add_file(path, entry, files)
            except FileNotFoundError:
                continue  # it was removed since the folder was listed
            except OSError as error:
                self._skip(path, _reason(error))
        return [path for path in below if self._is_nameable(path)]

    def _add_file(self, path: str, entry: "os.DirEntry[str]", files: list[FoundFile]) -> None:
        if not entry.is_file(follow_symlinks=False):
            return  # a pipe, a socket, a device
        verdict = self._judge(path, entry.stat(follow_symlinks=False))
        if isinstance(verdict, Skipped):
            self._skipped.append(verdict)
        else:
            files.append(verdict)

    def _note_link(self, path: str, entry: "os.DirEntry[str]", chain: _Chain) -> None:
        is_folder = entry.is_dir()
        if not is_folder and not self._wanted(path):
            return
        # to git a link is a file, which `build/` does not name; to the reader of the skip list it is a folder
        if not self._ruled_out(path, entry.name, chain, is_folder=is_folder):
            self._skip(path, "symbolic link")

    def _skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(printable(path), reason))

    def _is_nameable(self, path: str) -> bool:
        if not _is_utf8(path):
            self._skip(path, _BAD_NAME)
            return False
        return True

    def _ruled_out(self, path: str, name: str, chain: _Chain, *, is_folder: bool) -> bool:
        if is_folder and name in VERSION_CONTROL_FOLDERS:
            return True
        if (verdict := self._exclude.verdict(path, name, is_folder=is_folder)) is not None:
            return verdict
        for prefix, rules in chain:
            if (verdict := rules.verdict(path[prefix:], name, is_folder=is_folder)) is not None:
                return verdict
        return is_folder and name in SKIPPED_FOLDERS

    def _chain(self, folder: str) -> _Chain | None:
        """The rules that hold in a folder, None for one that is not entered."""
        if folder in self._chains:
            return self._chains[folder]
        chain: _Chain | None = None
        if folder == self._start:
            chain = self._probe_chain(folder)
        elif not self._start or folder.startswith(f"{self._start}/"):
            parent, _, name = folder.rpartition("/")
            above = self._chain(parent)
            if (
                above is not None
                and not self._ruled_out(folder, name, above, is_folder=True)
                and not Path(self._absolute(folder)).is_symlink()
            ):
                chain = self._probe_chain(folder)
        self._chains[folder] = chain
        return chain

    def _probe_chain(self, folder: str) -> _Chain | None:
        here = Path(self._absolute(folder))
        chain = self._open_chain(folder, {name for name in _SPECIAL if (here / name).exists()})
        self._skipped = []
        return chain

    def _open_chain(self, folder: str, names: set[str]) -> _Chain | None:
        """The rules for what stands in `folder`, which holds entries `names`; None where it is left out."""
        if folder == self._start:
            above = self._chain_above()
        else:
            if "pyvenv.cfg" in names:
                return None
            above = self._chains.get(folder.rpartition("/")[0]) or ()
            if ".git" in names:
                git = _git_folders(Path(self._top, folder))
                if git is not None:
                    if git.is_linked_worktree and (
                        git.common == self._common or self.folder in git.common.parents
                    ):
                        self._skip(folder, "another worktree of a repository that is indexed")
                        return None
                    above = self._rules_of(folder, git.common / "info" / "exclude")
        own = self._rules_of(folder, Path(self._top, folder, ".gitignore")) if ".gitignore" in names else ()
        return own + above

    def _chain_above(self) -> _Chain:
        """The rules of the repository and of the folders between its top and the opened folder."""
        chain: _Chain = ()
        if self._common is not None:
            chain = self._rules_of("", self._common / "info" / "exclude")
        parts = self._start.split("/") if self._start else []
        for depth in range(len(parts)):
            above = "/".join(parts[:depth])
            chain = self._rules_of(above, Path(self._top, above, ".gitignore")) + chain
        return chain

    def _rules_of(self, folder: str, file: Path) -> _Chain:
        try:
            # git drops a byte order mark here too
            text = file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return ()
        except OSError as error:
            self._skipped.append(
                Skipped(printable(str(file)), f"ignore file cannot be read: {_reason(error)}")
            )
            return ()
        rules = IgnoreRules(text.split("\n"))
        return (_Rule(len(folder) + 1 if folder else 0, rules),) if rules else ()


class _GitFolders(NamedTuple):
    common: Path
    is_linked_worktree: bool


def _git_folders(repository: Path) -> _GitFolders | None:
    """The common git folder of a repository below the opened one; None when its `.git` leads nowhere."""
    git = repository / ".git"
    try:
        if git.is_dir():
            return _GitFolders(git, is_linked_worktree=False) if (git / "HEAD").exists() else None
        pointer = git.read_text("utf-8", "surrogateescape")
        if not pointer.startswith("gitdir:"):
            return None
        own = Path(os.path.normpath(repository / pointer.removeprefix("gitdir:").strip()))
        link = own / "commondir"
        if not link.is_file():
            return _GitFolders(own, is_linked_worktree=False)
        common = Path(os.path.normpath(own / link.read_text("utf-8", "surrogateescape").strip()))
        return _GitFolders(common, is_linked_worktree=True)
    except (OSError, ValueError):
        return None


def printable(path: str) -> str:
    r"""`path` as valid text: bytes that the file system gave and that are no UTF-8 become `\xNN`."""
    if _is_utf8(path):
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__

"""Where things lie: the worktree's top level, the store, the cache; found by reading files, without git.

Creates nothing. What HEAD says is `git.py`'s.
"""

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from mnemolens.core.ids import short_hash

CACHE_VARIABLE: Final = "MNEMOLENS_CACHE_DIR"
_GIT_STORE: Final = "mnemolens"
_FOLDER_STORE: Final = ".mnemolens"
_MAX_POINTER_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class OlderStore:
    """A `.mnemolens/` from before `git init`: still read, never written to.

    Attributes:
        folder: the store's folder.
        origin: absolute POSIX path that the paths in it are relative to.
    """

    folder: Path
    origin: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one opened folder keeps its things.

    Attributes:
        opened: the folder as it was opened: absolute, symbolic links kept, since the editor's URIs have them.
        root: its real path.
        top: real path that stored paths are relative to: the git worktree's top level, or without git the
            folder that holds `.mnemolens/`, or else `root`.
        store: the store's folder; may not exist yet.
        base: for the headers of segments made here.
        in_git: whether there is a worktree.
        git_dir: of this worktree; None without git.
        common_dir: the repository's, shared by its worktrees; None without git.
        worktree_id: 16 hex digits that name this worktree on this machine.
        cache_dir: the user's cache folder for derived things, shared by all worktrees; may not exist yet.
        prefix: POSIX path of the opened folder relative to `top`, "" if they are the same.
        older: stores that are still read.
    """

    opened: Path
    root: Path
    top: Path
    store: Path
    base: str
    in_git: bool
    git_dir: Path | None
    common_dir: Path | None
    worktree_id: str
    cache_dir: Path
    prefix: str
    older: tuple[OlderStore, ...] = ()

    def file_of(self, path: Path) -> str | None:
        """The stored form of a file's path: POSIX, relative to `top`; None for a file outside of it.

        Takes paths below the folder as it was opened, and real ones.
        """
        clean = Path(os.path.normpath(path))
        for start, prefix in ((self.opened, self.prefix), (self.root, self.prefix), (self.top, "")):
            found = _below(clean, start, prefix)
            if found is not None:
                return found
        return _below(Path(os.path.realpath(clean)), self.top, "")

    @property
    def owner(self) -> Path | None:
        """The folder that the store lies in; None where `store.path` names a place elsewhere."""
        places = (self.common_dir, self.top)
        return next((at for at in places if at is not None and self.store.is_relative_to(at)), None)

    def path_of(self, stored: str) -> Path:
        """The path of a stored one, in the opened folder's own spelling where it lies inside."""
        if self.contains(stored):
            return self.opened / stored[len(self.prefix) :].lstrip("/")
        return Path(os.path.normpath(self.top / stored))

    def contains(self, stored: str) -> bool:
        """Whether a stored path lies inside the opened folder, thus in scope."""
        if stored.startswith("../") or stored == ".." or posixpath.isabs(stored):
            return False
        return not self.prefix or stored == self.prefix or stored.startswith(self.prefix + "/")


def find_layout(folder: Path, store_path: str | None = None) -> Layout:
    """Find where `folder` keeps its things.

    Args:
        folder: the opened folder; need not exist.
        store_path: the setting `store.path`: the store's folder, `~` allowed, relative to the top level.
    """
    opened = Path(os.path.normpath(folder.absolute()))
    root = Path(os.path.realpath(opened))
    above = [root, *root.parents]
    git = _find_git(above)
    stores = [place for place in above if _is_store(place, root)]
    if git is not None:
        top, git_dir, common_dir = git
        store, base = common_dir / _GIT_STORE, ""
    else:
        top, git_dir, common_dir = (stores[0] if stores else root), None, None
        store, base = top / _FOLDER_STORE, ""
    if store_path:
        store = Path(os.path.normpath(top / Path(store_path).expanduser()))
        # Such a store may serve several projects: the base tells whose paths are whose. Worktrees of one
        # repository agree on theirs.
        owner = top if common_dir is None else common_dir.parent if common_dir.name == ".git" else common_dir
        base = owner.as_posix()
    older = tuple(
        OlderStore(place / _FOLDER_STORE, place.as_posix())
        for place in stores
        if place / _FOLDER_STORE != store and not (git is None and place != top)
    )
    return Layout(
        opened=opened,
        root=root,
        top=top,
        store=store,
        base=base,
        in_git=git is not None,
        git_dir=git_dir,
        common_dir=common_dir,
        worktree_id=short_hash(top.as_posix()),
        cache_dir=cache_dir(),
        prefix="" if root == top else root.relative_to(top).as_posix(),
        older=older,
    )


def cache_dir() -> Path:
    """The user's cache folder for derived things; `MNEMOLENS_CACHE_DIR` overrides."""
    override = os.environ.get(CACHE_VARIABLE)
    return Path(override) if override else platformdirs.user_cache_path("mnemolens", appauthor=False)


def _find_git(above: list[Path]) -> tuple[Path, Path, Path] | None:
    """Top level, git dir and common dir of the innermost worktree; None outside of any."""
    for place in above:
        dot_git = place / ".git"
        git_dir: Path | None = None
        if dot_git.is_dir():
            git_dir = dot_git
        elif dot_git.is_file():
            target = read_pointer(dot_git)
            if target is None or not target.startswith("gitdir:"):
                return None
            git_dir = _joined(place, target.removeprefix("gitdir:").strip())
            if not (git_dir / "HEAD").exists():
                return None  # a worktree whose repository is gone is not part of an outer repository
        if git_dir is not None and _has_head(git_dir):
            common = read_pointer(git_dir / "commondir")
            return place, git_dir, git_dir if common is None else _joined(git_dir, common)
    return None


def _has_head(git_dir: Path) -> bool:
    """Whether it is a git dir; one whose HEAD is an old-style symbolic link to an unborn branch too."""
    return os.path.lexists(git_dir / "HEAD")


def read_pointer(path: Path) -> str | None:
    """The only line of a small file, None where there is no such file or it is none."""
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_MAX_POINTER_BYTES).strip()) or None
    except (OSError, ValueError):
        return None


def _joined(start: Path, target: str) -> Path:
    return Path(os.path.realpath(start / target))


def _is_store(place: Path, root: Path) -> bool:
    """Whether `place` holds a store made without git; above the opened folder only the user's own count.

    Anybody may put a `.mnemolens/` into a shared folder like /tmp; its memories would show in all below.
    """
    store = place / _FOLDER_STORE
    try:
        if not (store / "journal").is_dir():
            return False
        if place == root or not hasattr(os, "getuid"):
            return True
        return store.stat().st_uid in {os.getuid(), root.stat().st_uid}
    except OSError:
        return False


def _below(path: Path, start: Path, prefix: str) -> str | None:
    try:
        inner = path.relative_to(start).as_posix()
    except ValueError:
        return None
    if inner == ".":
        return prefix
    return f"{prefix}/{inner}" if prefix else inner

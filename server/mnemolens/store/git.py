"""What git says of a worktree, read from its files: HEAD's commit and branch, and whether git is at work.

Never runs git, but for the author's name; never raises: what can't be read is None.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from mnemolens.core.memories import Origin
from mnemolens.store.layout import Layout, read_pointer

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_REF: Final = re.compile(r"refs/[^\s\\]+")
_BRANCHES: Final = "refs/heads/"
_MAX_SYMBOLIC: Final = 5


def read_head(layout: Layout) -> Origin:
    """Commit and branch that are checked out; the branch is None when detached, the commit when unborn.

    Repositories whose references are not files (reftable) give neither.
    """
    if layout.git_dir is None or layout.common_dir is None:
        return Origin()
    text = _head_text(layout.git_dir)
    if text is None:
        return Origin()
    if not text.startswith("ref:"):
        return Origin(text if _COMMIT.fullmatch(text) else None, None)
    name = text.removeprefix("ref:").strip()
    if not _is_ref(name) or name == "refs/heads/.invalid":  # what reftable repositories put there
        return Origin()
    branch = name.removeprefix(_BRANCHES) if name.startswith(_BRANCHES) else None
    return Origin(_resolve(name, layout.git_dir, layout.common_dir), branch)


def git_busy(layout: Layout) -> bool:
    """Whether git is changing the worktree right now: what lies on disk is not settled."""
    return layout.git_dir is not None and (layout.git_dir / "index.lock").exists()


def author_name(layout: Layout, timeout: float = 2.0) -> str | None:
    """The user's name as git has it. Runs git: up to `timeout` seconds, so never on the event loop."""
    folder = layout.top if layout.top.is_dir() else None
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None


def _head_text(git_dir: Path) -> str | None:
    path = git_dir / "HEAD"
    try:
        if path.is_symlink():  # how very old versions of git wrote it
            return f"ref: {path.readlink().as_posix()}"
    except OSError:
        return None
    return read_pointer(path)


def _is_ref(name: str) -> bool:
    return _REF.fullmatch(name) is not None and ".." not in name


def _resolve(name: str, git_dir: Path, common_dir: Path) -> str | None:
    """The commit that a reference stands for, through symbolic ones."""
    for _ in range(_MAX_SYMBOLIC):
        text = None
        for folder in (git_dir, common_dir):
            text = text or read_pointer(folder / name)
        if text is None:
            return _packed(name, common_dir)
        if not text.startswith("ref:"):
            return text if _COMMIT.fullmatch(text) else None
        name = text.removeprefix("ref:").strip()
        if not _is_ref(name):
            return None
    return None


def _packed(name: str, common_dir: Path) -> str | None:
    try:
        packed = (common_dir / "packed-refs").read_bytes()
    except OSError:
        return None
    # One search, not a loop over lines: there may be a hundred thousand, and this is asked every second.
    end = packed.find(b" " + os.fsencode(name) + b"\n")
    if end < 0:
        return None
    text = packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace")
    return text if _COMMIT.fullmatch(text) else None

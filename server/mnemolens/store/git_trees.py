"""The files of a git revision, read from git itself: nothing is checked out, nothing is written.

Runs git, so never on the event loop. A partial clone is not completed: what it lacks is left out.
"""

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemolens.core.errors import InvalidArgument, MnemolensError
from mnemolens.store.git_process import GitSilent, complaint, run_git

TIMEOUT: Final = 120.0
"""Seconds for one call of git."""

_AT_ONCE: Final = 1_000
"""Files that one call of git hands over."""


class TreeFile(NamedTuple):
    """A file of a revision; `blob` names its content, `path` is POSIX and relative to the top level."""

    path: str
    blob: str
    size: int


def find_commit(folder: Path, revision: str, argument: str) -> str:
    """The commit that a revision names.

    Args:
        folder: inside the repository.
        revision: as the user wrote it.
        argument: what the user gave it as.

    Raises:
        InvalidArgument: there is no such revision, or no repository.
        MnemolensError: git is missing or does not answer.
    """
    done = _git(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"])
    found = done.stdout.decode("ascii", "replace").strip()
    if done.returncode == 0 and found:
        return found
    if _git(folder, ["rev-parse", "--git-dir"]).returncode != 0:
        raise InvalidArgument(
            argument,
            f"there is no folder {revision}, and {folder} is in no git repository that has revisions",
        )
    reason = f"{revision} is neither a folder nor a revision that git knows here"
    if _git(folder, ["rev-parse", "--is-shallow-repository"]).stdout.strip() == b"true":
        reason += "; this clone is shallow, `git fetch --unshallow` brings older commits"
    raise InvalidArgument(argument, reason)


def list_files(folder: Path, commit: str) -> list[TreeFile]:
    """The files of a commit, by path; no symbolic links, no submodules.

    Args:
        folder: inside the repository.
        commit: which.

    Raises:
        MnemolensError: git does not answer.
    """
    out = _answer(folder, ["ls-tree", "-r", "-l", "-z", "--full-tree", commit])
    found = []
    for line in out.split(b"\0"):
        head, _, name = line.partition(b"\t")
        parts = head.split()
        if (
            len(parts) != 4 or parts[1] != b"blob" or not parts[0].startswith(b"100")
        ):  # mode, type, hash, size
            continue
        path, size = name.decode("utf-8", "surrogateescape"), parts[3]
        if path.isprintable() and size.isdigit():
            found.append(TreeFile(path, parts[2].decode("ascii"), int(size)))
    return found


def read_blobs(folder: Path, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(blob, its content) of each that there is, in this order.

    Raises:
        MnemolensError: git does not answer.
    """
    for start in range(0, len(blobs), _AT_ONCE):
        asked = "".join(f"{blob}\n" for blob in blobs[start : start + _AT_ONCE])
        out = _answer(folder, ["cat-file", "--batch"], asked.encode("ascii"))
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            parts = out[at:end].split()
            at = end + 1
            if len(parts) == 3:  # hash, type, size; two where there is no such blob
                size = int(parts[2])
                yield parts[0].decode("ascii"), out[at : at + size]
                at += size + 1


def _answer(folder: Path, arguments: Sequence[str], asked: bytes = b"") -> bytes:
    done = _git(folder, arguments, asked)
    if done.returncode != 0:
        raise MnemolensError(complaint(done))
    return done.stdout


def _git(folder: Path, arguments: Sequence[str], asked: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return run_git(folder, arguments, TIMEOUT, asked)
    except GitSilent as error:
        raise MnemolensError(f"{error}; name two folders instead") from None

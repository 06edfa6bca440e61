"""The files of a git revision, read from git itself: nothing is checked out, nothing is written.

Runs git, so never on the event loop. A partial clone is not completed: what it lacks is left out.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mnemolens.core.errors import InvalidArgument, MnemolensError

TIMEOUT: Final = 120.0
"""Seconds for one call of git."""

_AT_ONCE: Final = 1_000
"""Files that one call of git hands over."""

_OF_CALLERS: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
"""Set where git itself started our parent, as in a hook: they would name another repository."""


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
    raise InvalidArgument(argument, f"{revision} is neither a folder nor a revision that git knows here")


def list_files(folder: Path, commit: str, wanted: Callable[[str], bool], most: int) -> list[TreeFile]:
    """The files of a commit, by path.

    Args:
        folder: inside the repository.
        commit: which.
        wanted: whether a file of this path is asked for.
        most: longer files are left out, in bytes.

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
        if path.isprintable() and wanted(path) and size.isdigit() and int(size) <= most:
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
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise MnemolensError(f"git says: {words[-1][:200] if words else f'exit code {done.returncode}'}")
    return done.stdout


def _git(folder: Path, arguments: Sequence[str], asked: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_CALLERS}
    environment |= {
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    command = ["git", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", *arguments]
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            input=asked,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MnemolensError(f"git did not answer within {TIMEOUT:g} s") from None
    except OSError as error:
        raise MnemolensError(
            f"git can't be run ({error.strerror or error}); name two folders instead"
        ) from None

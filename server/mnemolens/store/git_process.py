"""Runs git's own command line, within a time limit: without the network, without locks, asking nobody.

What is asked, and what an answer means, is `git_history.py`'s and `git_trees.py`'s.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_ONLY_HERE: Final = ("-c", "protocol.allow=never", "-c", "core.fsmonitor=false")
"""A partial clone would fetch what is missing: nothing here may use the network or run other programs."""

_OF_CALLERS: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
"""Set where git itself started our parent, as in a hook: they would name another repository."""

_SETTINGS: Final = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


class GitSilent(Exception):
    """Git is missing, broken or too slow; the message says which."""


def run_git(
    folder: Path, arguments: Sequence[str], timeout: float, asked: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Runs git to its end, whatever its exit code is.

    Args:
        folder: where.
        arguments: after "git".
        timeout: in seconds.
        asked: what it reads from its standard input.

    Raises:
        GitSilent: git can't be run, or takes longer.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OF_CALLERS}
    try:
        return subprocess.run(
            ["git", *_ONLY_HERE, *arguments],
            cwd=folder,
            env=environment | _SETTINGS,
            input=asked,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitSilent(f"git did not answer within {timeout:g} s") from None
    except OSError as error:
        raise GitSilent(f"git can't be run ({error.strerror or error})") from None


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git said why it did not do it, in one line."""
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"git says: {words[-1][:200] if words else f'exit code {done.returncode}'}"

"""What git's history says of commits and branches: asks git's own command line, within a time limit.

Runs a program, so never on the event loop. What git can't tell is None; why it can't is `GitSilent`'s text.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mnemolens.store.git_process import GitSilent, complaint, run_git
from mnemolens.store.layout import Layout

TIMEOUT: Final = 3.0
"""Seconds for one question; git takes some hundredths of one, a second on a huge repository."""


def is_shallow(layout: Layout) -> bool:
    """Whether the clone lacks older commits: what is not found in it says nothing."""
    return layout.common_dir is not None and (layout.common_dir / "shallow").exists()


def is_rebasing(layout: Layout) -> bool:
    """Whether a rebase is under way: HEAD is somewhere on its path, and soon elsewhere."""
    found = layout.git_dir
    return found is not None and any((found / name).exists() for name in ("rebase-merge", "rebase-apply"))


def not_in_history(
    layout: Layout, commits: Iterable[str], head: str, timeout: float = TIMEOUT
) -> frozenset[str]:
    """Those of the commits that are neither `head` nor an ancestor of it; a commit that is not there is one.

    One question for all of them. Must not be asked of a shallow clone, where nobody knows.

    Raises:
        GitSilent: git does not answer.
    """
    wanted = set(commits) - {head}
    if not wanted:
        return frozenset()
    there = _existing(layout, wanted, timeout)
    # What is reachable from the commits but not from HEAD holds exactly those that HEAD does not know.
    asked = "".join(f"{commit}\n" for commit in [*sorted(there), f"^{head}"])
    beyond = set(_ask(layout, ["rev-list", "--stdin"], timeout, asked).split()) if there else set()
    return frozenset((wanted - there) | (there & beyond))


def tips(layout: Layout, branches: Iterable[str], timeout: float = TIMEOUT) -> dict[str, str]:
    """{branch: the commit that it is at}, of those that there are, here or as a remote's.

    Raises:
        GitSilent: git does not answer.
    """
    wanted = sorted(set(branches))
    if not wanted:
        return {}
    lines = _ask(layout, ["for-each-ref", "--format=%(refname) %(objectname)"], timeout).splitlines()
    at = dict(line.rsplit(" ", 1) for line in lines if " " in line)
    found = {}
    for branch in wanted:
        remote = (name for name in at if name.startswith("refs/remotes/") and name.endswith(f"/{branch}"))
        commit = at.get(f"refs/heads/{branch}") or next((at[name] for name in sorted(remote)), None)
        if commit is not None:
            found[branch] = commit
    return found


def branch_then(layout: Layout, branch: str, when: datetime, timeout: float = TIMEOUT) -> str | None:
    """Where this clone had a branch at that time; None where its log does not reach back so far.

    Raises:
        GitSilent: git does not answer.
    """
    arguments = ["log", "-g", "--format=%H %gd", "--date=unix", f"refs/heads/{branch}", "--"]
    try:
        lines = _ask(layout, arguments, timeout).splitlines()
    except _Refused:
        return None
    for line in lines:
        commit, _, written = line.partition(" ")
        moment = written.rpartition("@{")[2].rstrip("}")
        if moment.isdecimal() and int(moment) <= when.timestamp():
            return commit
    return None


class _Refused(GitSilent):
    """Git ran and said no."""


def _existing(layout: Layout, commits: set[str], timeout: float) -> set[str]:
    asked = "".join(f"{commit}^{{commit}}\n" for commit in sorted(commits))
    lines = _ask(layout, ["cat-file", "--batch-check=%(objectname)"], timeout, asked).splitlines()
    return {line for line in lines if line in commits}


def _ask(layout: Layout, arguments: list[str], timeout: float, asked: str = "") -> str:
    done = run_git(layout.top, arguments, timeout, asked.encode())
    if done.returncode != 0:
        raise _Refused(complaint(done))
    return done.stdout.decode("utf-8", "replace")


__all__ = [
    "TIMEOUT",
    "GitSilent",
    "branch_then",
    "is_rebasing",
    "is_shallow",
    "not_in_history",
    "tips",
]

"""Real git repositories for tests: no one's configuration counts in them."""

import os
import subprocess


def git(folder, *arguments, check=True, at=None):
    """Runs git in the folder, as if it were `at` (ISO 8601); what it printed."""
    identity = ["-c", "user.name=Ana", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment |= {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at} if at else {}
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=check,
        env=environment,
    )
    return done.stdout.strip()


def init(folder, at=None):
    """A repository on branch main with one commit of whatever is in the folder."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return commit(folder, "one", at)


def commit(folder, message="more", at=None):
    """Commits all there is; the new commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message, at=at)
    return git(folder, "rev-parse", "HEAD")

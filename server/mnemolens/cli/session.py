"""What every command on memories begins with: the folder's workspace with its settings, ids and the time.

Owns how the command line finds the folder, tells what is wrong with settings and keeps a daily copy, and
short forms of ids.
"""

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.settings import Notice, SettingsSources, resolve_settings
from mnemolens.engine import opening
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.workspace import Workspace
from mnemolens.search.query import read_query
from mnemolens.store.copies import Copy
from mnemolens.store.layout import find_layout

SHORT = 8
"""Characters of an id that are shown and enough to name it; its last ones, since ids begin with the time."""

_LEAST = 4


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


@contextmanager
def opened(root: Path | None) -> Iterator[Workspace]:
    """The workspace that a command works on, closed again in the end.

    Args:
        root: the folder given by `--root`; None for the repository (or project) that the current one is in.

    Raises:
        InvalidArgument: there is no such folder.
    """
    workspace = open_folder(find_layout(Path.cwd()).top if root is None else root)
    try:
        yield workspace
    finally:
        workspace.close()


def open_folder(folder: Path, argument: str = "root") -> Workspace:
    """A folder's workspace with its settings; what is wrong with them goes to stderr.

    Args:
        folder: which.
        argument: what the user gave it as.

    Raises:
        InvalidArgument: there is no such folder.
    """
    # What goes wrong is told in words of the command's own: without a handler Python prints log records.
    logging.getLogger("mnemolens").addHandler(logging.NullHandler())
    if not folder.is_dir():
        raise InvalidArgument(argument, f"{folder} is no folder; name one that exists")
    found = opening.open_folder(folder.absolute())
    _tell(found.notices)
    return found.workspace


def memory_id(workspace: Workspace, given: str) -> str:
    """The memory that is meant: by its id, or by the beginning or the end of only one.

    Raises:
        NotFound: there is none.
        InvalidArgument: there are several; the message names them.
    """
    ids = tuple(workspace.state.memories())
    if given in ids:
        return given
    part = given.upper()
    alike = [one for one in ids if one.upper().startswith(part) or one.upper().endswith(part)]
    if len(given) >= _LEAST and len(alike) == 1:
        return alike[0]
    if len(given) >= _LEAST and alike:
        raise InvalidArgument("ID", f"{given} may be {' or '.join(alike[:4])}; write more of it")
    raise NotFound(f"no memory {given!r} here; `mnemolens list` shows which there are")


def short_id(one: str) -> str:
    """An id as it is shown in lists; `memory_id` takes it back."""
    return one if len(one) <= SHORT + _LEAST else one[-SHORT:]


def copy_memories(workspace: Workspace) -> None:
    """Make the daily copy, after something was stored; that it can't be made is told and no failure."""
    try:
        workspace.exchange.copy_of_today(now())
    except StoreError as error:
        _say(str(error))


def nothing_yet(workspace: Workspace) -> str:
    """That a folder has no memories, and how the daily copy of its repository is restored."""
    words = f"no memories yet in {workspace.layout.top}"
    copy = asyncio.run(workspace.exchange.offer())
    if copy is None:
        return words
    return f"{words}; {how_to_restore(copy)}"


def how_to_restore(copy: Copy) -> str:
    """What brings a daily copy back."""
    return f"`mnemolens import {shlex.quote(str(copy.path))}` restores the copy of {copy.day.isoformat()}"


def near_in_meaning(workspace: Workspace, query: str | None) -> dict[str, float]:
    """{memory id: cosine} of what is near to a query in meaning; why that can't be told goes to stderr."""
    found = workspace.embedding.similar_now(read_query(query or "").text)
    reason = workspace.embedding.state.reason
    if reason is not None:
        _say(f"search by meaning: {reason}; searched by words alone")
    return found


def memories_like(incomplete: str) -> Iterator[tuple[str, str]]:
    """(short id, title) of the memories whose id begins or ends with what is typed, for shell completion."""
    settings, _ = resolve_settings(SettingsSources(environment=os.environ))
    workspace = Workspace.open(find_layout(Path.cwd()).top, settings)
    try:
        part = incomplete.upper()
        page = workspace.listing.page(ListRequest(limit=1_000, include_forgotten=True), now())
        for view in page.memories:
            shown = short_id(view.memory.id)
            if shown.upper().startswith(part):
                yield shown, view.memory.title
            elif view.memory.id.upper().startswith(part):
                yield view.memory.id, view.memory.title
    finally:
        workspace.close()


def _tell(notices: tuple[Notice, ...]) -> None:
    for text in dict.fromkeys(notice.message for notice in notices):
        _say(text)


def _say(text: str) -> None:
    print(f"mnemolens: {text}", file=sys.stderr)

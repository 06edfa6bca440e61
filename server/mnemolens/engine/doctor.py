"""Looks at what a folder keeps on disk, repairs what is only derived, and says what it found, in words.

Precious lines are never touched: what can't be read is told with its place and reason. Does file I/O and may
take seconds.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mnemolens.core.clock import Clock
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Memory
from mnemolens.core.views import FolderStatus
from mnemolens.engine.opened import fields_of, file_name, parse
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout
from mnemolens.store.locks import locks_trusted
from mnemolens.store.opened import OpenedFolder
from mnemolens.store.symbols import SymbolCache

Level = Literal["fine", "repaired", "note", "trouble"]

_NAMED = 5
_COSTS = "without it every start parses all files"
"""So many files that could be read only in part are told by name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        part: "journal", "store", "documents", "cache" or "code".
        level: "trouble" where the user has to act.
        text: what it is and, where something is to be done, what.
    """

    part: str
    level: Level
    text: str


def examine(layout: Layout, memories: Mapping[str, Memory], clock: Clock) -> tuple[Finding, ...]:
    """Look at everything that the folder keeps.

    Args:
        layout: where it is.
        memories: by id.
        clock: for the journal and the cache.
    """
    return (
        *_journal(layout, clock),
        *_store(layout),
        *_documents(layout, memories.values()),
        *_cache(layout, clock),
    )


def _journal(layout: Layout, clock: Clock) -> Iterator[Finding]:
    if not (layout.store / "journal").is_dir() and not layout.older:
        yield Finding("journal", "fine", f"nothing is stored yet; it will be in {layout.store}")
        return
    journal = Journal(layout.store, layout.base, clock, root=layout.top.as_posix(), older=layout.older)
    try:
        journal.load()
        segments, events, skipped = journal.stats
    finally:
        journal.close()
    yield Finding(
        "journal", "fine", f"{_counted(segments, 'segment')}, {_counted(events, 'event')} in {layout.store}"
    )
    for older in layout.older:
        yield Finding("journal", "note", f"{older.folder} is from before `git init`; it is still read")
    for line in skipped:
        where = f"{line.file}, line {line.line}" if line.line else line.file
        yield Finding("journal", "trouble", f"{where} is skipped: {line.reason}; it is kept as it is")


def _store(layout: Layout) -> Iterator[Finding]:
    store = layout.store
    if not store.is_dir():
        return
    if not os.access(store / "journal" if (store / "journal").is_dir() else store, os.W_OK):
        yield Finding("store", "trouble", f"{store} can't be written to; nothing can be remembered")
        return
    if not locks_trusted(store):
        yield Finding(
            "store", "note", f"locks can't be relied on in {store}: each process writes its own segment"
        )
    opened_up = [path for path in (store, *store.rglob("*")) if _others_may_look(path)]
    for path in opened_up:
        path.chmod(0o700 if path.is_dir() else 0o600)
    if opened_up:
        text = f"{_counted(len(opened_up), 'file')} of the store could be read by other users; closed to them"
        yield Finding("store", "repaired", text)


def _others_may_look(path: Path) -> bool:
    """Whether permissions are wider than the store's own; never on Windows, which has others."""
    if os.name == "nt":
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    return (
        not stat.S_ISLNK(status.st_mode)
        and status.st_uid == os.getuid()
        and bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    )


def _documents(layout: Layout, memories: Iterable[Memory]) -> Iterator[Finding]:
    folder = OpenedFolder(layout.store / "open")
    left = folder.left_behind()
    if not left:
        return
    by_name = {file_name(memory.id): memory for memory in memories}
    removed = 0
    for path in left:
        memory = by_name.get(path.name)
        if memory is not None and _says_the_same(path, memory):
            folder.remove(path)
            removed += 1
        elif memory is not None:
            text = f"{path} was edited but not saved to {memory.id}; take over what you need and remove it"
            yield Finding("documents", "trouble", text)
        else:
            yield Finding(
                "documents", "trouble", f"{path} belongs to no memory that is known here; remove it"
            )
    if removed:
        count = _counted(removed, "opened memory", "opened memories")
        text = f"{count} left behind by a program that was killed; removed"
        yield Finding("documents", "repaired", text)


def _says_the_same(path: Path, memory: Memory) -> bool:
    try:
        shown = fields_of(memory)
        return all(shown[name] == value for name, value in parse(path.read_text("utf-8")).items())
    except (OSError, ValueError, InvalidArgument):
        return False


def _cache(layout: Layout, clock: Clock) -> Iterator[Finding]:
    file = layout.cache_dir / "symbols.sqlite"
    if not file.exists():
        there = next(path for path in file.parents if path.exists())
        if there.is_dir() and os.access(there, os.W_OK):
            yield Finding("cache", "fine", f"no symbols are cached yet; they will be in {file}")
        else:
            words = f"symbols are not cached: {there} can't be written into"
            yield Finding("cache", "trouble", f"{words}; {_COSTS}")
        return
    aside = file.with_name(f"{file.name}.damaged")
    before = _stamp(aside)
    cache = SymbolCache(file, clock)
    try:
        cache.check()
        known = _counted(len(cache.get_stamps(os.fspath(layout.top))), "file")
    finally:
        cache.close()
    if cache.trouble is not None:
        yield Finding("cache", "trouble", f"{cache.trouble}; {_COSTS}")
    elif _stamp(aside) != before:
        yield Finding("cache", "repaired", f"{file} was damaged: set aside as {aside.name} and begun anew")
    else:
        size = file.stat().st_size / 2**20
        yield Finding("cache", "fine", f"{known} of this folder in {file} ({size:.1f} MB)")


def read_in_part(status: FolderStatus) -> Iterator[Finding]:
    """Files whose code is known only in part, by the code as it was just read."""
    if status.partial_total:
        named = ", ".join(status.partial[:_NAMED])
        more = f" and {status.partial_total - _NAMED} more" if status.partial_total > _NAMED else ""
        text = f"{_counted(status.partial_total, 'file')} could be read only in part: {named}{more}"
        yield Finding("code", "note", text)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"

"""Taking a purged memory's text out of files: which lines of a segment go, and how it is rewritten.

`memory.purge` is terminal, so whatever else the journal says about that memory is void: those lines go. What
is about other memories stays byte for byte, unknown and corrupt lines too, unless they name the purged one.
The purge event itself stays, so that nobody brings the memory back. Who may rewrite what is `journal.py`'s.
"""

import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

from mnemolens.core.events import (
    AnchorPut,
    BirthRecord,
    MemoryPurge,
    NodeDrop,
    Skipped,
    decode_line,
    encode_line,
    prepare,
)
from mnemolens.store.locks import FileLock, LockUnavailable
from mnemolens.store.segments import SEGMENT_NAME, Header
from mnemolens.store.whole import write_whole

_BOM: Final = b"\xef\xbb\xbf"
_OWNER: Final = re.compile(rb'"(?:memory|node)":\s*("(?:[^"\\]|\\.)*")')
"""Of an event the first such key is its own: before it stand only strings, whose quotes are escaped."""
_PURGE_OP: Final = b'"op":"memory.purge"'
_NO_BIRTH: Final = BirthRecord(
    file="",
    qualname="",
    ordinal=0,
    kind="function",
    signature="",
    full_hash="",
    body_hash="",
    fingerprint="",
    token_count=0,
    neighbours=("", ""),
    snippet="",
    commit=None,
    branch=None,
    algo=0,
)


class Cleaned(NamedTuple):
    """Where a purge has been.

    Attributes:
        removed: names of the files that held the text and hold it no more.
        pending: names of the segments that still hold it, since another process holds them.
    """

    removed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


def holds_any(path: Path, purged: Collection[str]) -> bool:
    """Whether the segment holds a line that a purge takes out.

    Raises:
        OSError: it can't be read; a segment that is gone holds nothing.
    """
    try:
        with path.open("rb") as file:
            return any(_kept(raw, purged) != raw for raw in file)
    except FileNotFoundError:
        return False


def clean_segment(path: Path, purged: Collection[str]) -> bool:
    """Rewrite the segment without these memories, as its next generation. Only its holder may do this.

    Args:
        path: the segment.
        purged: ids of purged memories.

    Returns:
        Whether anything had to be taken out; if not, the file was not touched.

    Raises:
        OSError: it can't be rewritten, and is as it was.
    """
    temporary = path.with_suffix(".tmp")
    if not holds_any(path, purged):
        temporary.unlink(missing_ok=True)  # left by a holder that was killed: it may hold the text
        return False
    write_whole(path, _rewritten(path, purged), temporary=temporary)
    return True


def segments_in(folder: Path) -> list[Path]:
    """The segments of a journal folder, in order."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - cheap names
    except OSError:
        return []
    return [folder / name for name in sorted(names) if SEGMENT_NAME.fullmatch(name)]


def remove_document(folder: Path, name: str) -> bool:
    """Remove a memory's document from `open/`, whoever has it open, and what stands beside it.

    Returns:
        Whether there was one.

    Raises:
        OSError: it is there and can't be removed.
    """
    shown = f".{name}.shown"
    half_written = tuple(f".{whole[:100]}." for whole in (name, shown))
    removed = False
    for path in folder.glob("*") if folder.is_dir() else ():
        is_left = path.suffix == ".tmp" and path.name.startswith(half_written)
        if path.name in {name, shown} or is_left:
            path.unlink(missing_ok=True)
            removed = True
    return removed


def _rewritten(path: Path, purged: Collection[str]) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = next(file, b"")
        header = _next_header(first)
        yield header or Header(generation=1).line() + b"\n"
        if header is None:
            yield _ended(_kept(first, purged))
        for raw in file:
            yield _ended(_kept(raw, purged))


def _ended(raw: bytes) -> bytes:
    return raw + b"\n" if raw and not raw.endswith(b"\n") else raw


def _next_header(raw: bytes) -> bytes | None:
    """The header line of the next generation, with all that this one says; None if it is none."""
    line = raw.removeprefix(_BOM).rstrip(b"\r\n")
    if b'"op":' in line:
        return None
    try:
        fields = from_json(line)
        generation = Header.model_validate(fields).generation + 1
    except ValueError:
        return None
    return _json({**fields, "generation": generation}) + b"\n"


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _kept(raw: bytes, purged: Collection[str]) -> bytes:
    """The line as it shall stand; empty when it goes."""
    if _owner(raw) not in purged:
        return raw
    decoded = decode_line(raw.rstrip(b"\n"))
    if isinstance(decoded, Skipped):
        return raw if _PURGE_OP in raw else b""
    data = decoded.data
    if isinstance(data, MemoryPurge | NodeDrop):
        return raw
    if isinstance(data, AnchorPut) and data.supersedes is not None:
        # The event drops the other anchor too, which may be another memory's.
        bare = AnchorPut(anchor=data.anchor, memory=data.memory, birth=_NO_BIRTH, supersedes=data.supersedes)
        line = encode_line(decoded.id, decoded.clock, prepare(bare)) + b"\n"
        return raw if line.rstrip() == raw.rstrip() else line
    return b""


def _owner(raw: bytes) -> str | None:
    """The memory or node that a line is about, also where the line is torn or of an unknown op."""
    found = _OWNER.search(raw)
    if found is None:
        return None
    try:
        owner = from_json(found[1])
    except ValueError:
        return None
    return owner if isinstance(owner, str) else None


def clean_unheld(path: Path, memories: Collection[str]) -> bool:
    """Rewrite a segment if nobody holds it, and it is to be rewritten by others than its maker."""
    try:
        lock = FileLock.try_acquire(path.with_suffix(".lock"))
        if lock is None:
            return False
        try:
            return not _is_once(path) and clean_segment(path, memories)
        finally:
            lock.release()
    except (OSError, LockUnavailable):
        return False


def is_held(path: Path) -> bool:
    """Whether somebody holds the segment."""
    try:
        lock = FileLock.try_acquire(path.with_suffix(".lock"))
    except LockUnavailable:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def _is_once(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"once":true' in file.readline(4096)


def may_hold(path: Path, memories: Collection[str]) -> bool:
    """Whether the segment may hold text of these memories; one that can't be read may."""
    try:
        return holds_any(path, memories)
    except OSError:
        return True

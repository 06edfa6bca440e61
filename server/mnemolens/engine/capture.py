"""Checks what a user wants to store, and turns it into memories and journal events.

Owns the rules of a memory's fields (CONTRACT §4, §9). It reads no code and writes nothing.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.events import MemoryPut, memory_fields, put_memory
from mnemolens.core.ids import content_hash, new_ulid, short_hash
from mnemolens.core.long_texts import remembered
from mnemolens.core.memories import MEMORY_KINDS, Memory, MemoryKind, Origin
from mnemolens.core.memory_text import count_tokens
from mnemolens.engine.requests import CaptureRequest

MAX_CONTENT = 1_000_000
MAX_TITLE = 300
MAX_METADATA = 100_000
TITLE_FROM_CONTENT = 80
WIDE_STOPS = "\u3002\uff1b\uff1a\uff01\uff1f"
DASHES = "-\u2013\u2014"
_CLAUSE_END = re.compile(rf"(?<=.{{12}})(?:[.;:!?]\s|[{WIDE_STOPS}]|\s[{DASHES}]\s)")
_LINE_MARKS = re.compile(r"^(?:(?:[#>*+-]+|\d+[.)])\s+)+")
TRIGGERS = ("change", "open", "merge")


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field is called on the wire, and how its value is checked and brought into form."""

    wire: str
    check: Callable[[str, Any], Any]


def new_memory(request: CaptureRequest, now: datetime, born: Origin, default_author: str | None) -> Memory:
    """The memory that the request asks for.

    Raises:
        InvalidArgument: a field's value is not allowed; names the field.
    """
    content = checked("content", request.content)
    title = checked("title", request.title) if request.title is not None else title_of(content)
    created_at = now if request.created_at is None else checked("created_at", request.created_at)
    return Memory(
        id=checked("id", request.id) if request.id is not None else new_ulid(),
        type=checked("type", request.type),
        title=title or title_of(content),
        content=content,
        created_at=created_at,
        accessed_at=created_at,
        tags=checked("tags", request.tags),
        metadata=checked("metadata", request.metadata),
        importance=checked("importance", request.importance),
        session_id=checked("session_id", request.session_id),
        agent_id=checked("agent_id", request.agent_id),
        author=checked("author", request.author) or default_author,
        parent_id=checked("parent_id", request.parent_id),
        expires_at=checked("expires_at", request.expires_at),
        due_at=checked("due_at", request.due_at),
        trigger=checked("trigger", request.trigger),
        born=born,
        token_count=count_tokens(content),
        content_hash=content_hash(content),
    )


def put_of_new(memory: Memory) -> MemoryPut:
    """The event that stores a new memory."""
    return put_memory(
        memory.id,
        memory_fields(memory),
        metadata=memory.metadata,
        tags_add=memory.tags,
        by=memory.author or memory.agent_id,
    )


def put_of_update(memory: Memory, changes: Mapping[str, Any], by: str | None) -> MemoryPut:
    """The event that changes some fields: only what differs is written, so that edits elsewhere survive.

    Args:
        memory: as it is now.
        changes: {snake_case field: new value}; `metadata` sets the keys given and removes those that are
            None; `tags` replaces all tags; None clears an optional field.
        by: who changes it, for the history.

    Raises:
        InvalidArgument: a field is unknown or its value not allowed; names the field.
    """
    fields: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    for name, raw in changes.items():
        if name not in UPDATABLE:
            raise InvalidArgument(
                wire_name(name), f"can't be changed; {', '.join(map(wire_name, UPDATABLE))} can"
            )
        value = checked(name, raw)
        if name == "tags":
            added = tuple(tag for tag in value if tag not in memory.tags)
            removed = tuple(tag for tag in memory.tags if tag not in value)
        elif name == "metadata":
            meta = {key: new for key, new in value.items() if memory.metadata.get(key) != new}
        elif value != getattr(memory, name):
            fields[name] = value
    if fields.get("title") == "":
        fields["title"] = title_of(fields.get("content", memory.content))
    if "content" in fields:
        fields["token_count"] = count_tokens(fields["content"])
        fields["content_hash"] = content_hash(fields["content"])
        if "title" not in changes and memory.title == title_of(memory.content):
            fields["title"] = title_of(fields["content"])
    return put_memory(memory.id, fields, metadata=meta, tags_add=added, tags_remove=removed, by=by)


def put_of_replacement(old: Memory, new: Memory, by: str | None) -> MemoryPut:
    """The event that makes a memory what a program gave under its id: only what differs is written.

    Where the memory was born, and what no request can say (whether it is pinned), stays as it is.
    """
    fields, known = memory_fields(new), memory_fields(old)
    for name in ("born", "pinned"):
        fields.pop(name, None)
    cleared = dict.fromkeys(CLEARED_BY_REPLACEMENT - fields.keys())
    changes = {name: value for name, value in {**fields, **cleared}.items() if value != known.get(name)}
    meta = {key: value for key, value in new.metadata.items() if old.metadata.get(key) != value}
    meta.update(dict.fromkeys(old.metadata.keys() - new.metadata.keys()))
    return put_memory(
        old.id,
        changes,
        metadata=meta,
        tags_add=[tag for tag in new.tags if tag not in old.tags],
        tags_remove=[tag for tag in old.tags if tag not in new.tags],
        by=by,
    )


def is_empty(put: MemoryPut) -> bool:
    """Whether the event would change nothing."""
    return not (put.set or put.meta or put.tags_add or put.tags_remove)


def title_of(content: str) -> str:
    """A title for content that has none: its first line with words, or what a person would call its point.

    A line that is too long is cut after its first clause, else between two words.
    """
    line = first_line(content)
    if len(line) <= TITLE_FROM_CONTENT:
        return line
    head = line[:TITLE_FROM_CONTENT]
    clause = _CLAUSE_END.search(head)
    if clause is not None:
        return head[: clause.start()].rstrip()
    words, space, _ = head[: TITLE_FROM_CONTENT - 1].rpartition(" ")
    return f"{words if space else head[: TITLE_FROM_CONTENT - 1]}…"


def first_line(content: str) -> str:
    """The first line that holds a letter or digit, without Markdown's marks of headings, quotes and lists."""
    first = next((line for line in content.splitlines() if any(c.isalnum() for c in line)), content)
    return " ".join(_LINE_MARKS.sub("", first.strip()).split()) or content.strip()


@remembered
def normalised_hash(content: str) -> str:
    """Equal for contents that a person would call the same (CONTRACT §4, duplicates)."""
    text = unicodedata.normalize("NFC", content.replace("\r\n", "\n").replace("\r", "\n"))
    return short_hash(" ".join(text.split()))


def checked(name: str, value: Any) -> Any:
    """The field's value in its stored form.

    Raises:
        InvalidArgument: it is not allowed; names the field as on the wire.
    """
    found = _FIELDS[name]
    return found.check(found.wire, value)


def wire_name(name: str) -> str:
    """A field's name in JSON."""
    return _FIELDS[name].wire if name in _FIELDS else name


def _text(wire: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(wire, f"must be a text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(wire, f"holds half a character (a lone surrogate) at {error.start}") from None
    return value


def _content(wire: str, value: Any) -> str:
    text = _text(wire, value)
    if not text.strip():
        raise InvalidArgument(wire, "is empty; write what is to be remembered")
    if len(text) > MAX_CONTENT:
        raise InvalidArgument(wire, f"has {len(text):,} characters; at most {MAX_CONTENT:,} are kept")
    return text


def _title(wire: str, value: Any) -> str:
    text = " ".join(_text(wire, "" if value is None else value).split())
    if len(text) > MAX_TITLE:
        raise InvalidArgument(wire, f"has {len(text):,} characters; at most {MAX_TITLE} are kept")
    return text


def _type(wire: str, value: Any) -> MemoryKind:
    if value not in MEMORY_KINDS:
        raise InvalidArgument(wire, f"{value!r} is not one of {', '.join(MEMORY_KINDS)}")
    return cast("MemoryKind", value)


def _tags(wire: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise InvalidArgument(wire, "must be a list of texts")
    tags = [_text(wire, tag).strip() for tag in value]
    if not all(tags):
        raise InvalidArgument(wire, "holds an empty tag")
    return tuple(dict.fromkeys(tags))


def _importance(wire: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidArgument(wire, f"must be a number from 0 to 1, not {value!r}")
    if not 0 <= value <= 1:
        raise InvalidArgument(wire, f"must be from 0 to 1, not {value}")
    return float(value)


def _metadata(wire: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidArgument(wire, "must be an object with text keys")
    try:
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(wire, f"must be plain JSON ({error})") from None
    if size > MAX_METADATA:
        raise InvalidArgument(wire, f"takes {size:,} bytes; at most {MAX_METADATA:,} are kept")
    return dict(value)


def _flag(wire: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(wire, "must be true or false")
    return value


def _time(wire: str, value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidArgument(wire, "must be a time such as 2026-11-30T09:00:00Z")
    return value.astimezone(UTC)


def _id(wire: str, value: Any) -> str | None:
    """Kept to the letter: whoever gave it asks for it so."""
    if value is None:
        return None
    text = _text(wire, value)
    if not text or len(text) > MAX_TITLE:
        raise InvalidArgument(wire, f"must have 1 to {MAX_TITLE} characters")
    return text


def _author(wire: str, value: Any) -> str | None:
    return None if value is None else _id(wire, _text(wire, value).strip())


def _trigger(wire: str, value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("on") not in TRIGGERS or not set(value) <= {"on", "branch"}:
        raise InvalidArgument(
            wire, f"must be an object with on: {', '.join(TRIGGERS)}, and optionally branch"
        )
    if value.get("branch") is not None:
        _text(f"{wire}.branch", value["branch"])
    return dict(value)


_FIELDS = {
    "id": _Field("id", _id),
    "content": _Field("content", _content),
    "title": _Field("title", _title),
    "type": _Field("type", _type),
    "tags": _Field("tags", _tags),
    "importance": _Field("importance", _importance),
    "metadata": _Field("metadata", _metadata),
    "pinned": _Field("pinned", _flag),
    "session_id": _Field("sessionId", _id),
    "agent_id": _Field("agentId", _id),
    "author": _Field("author", _author),
    "parent_id": _Field("parentId", _id),
    "created_at": _Field("createdAt", _time),
    "expires_at": _Field("expiresAt", _time),
    "due_at": _Field("dueAt", _time),
    "trigger": _Field("trigger", _trigger),
}

CLEARED_BY_REPLACEMENT = frozenset({"session_id", "agent_id", "parent_id", "expires_at", "due_at", "trigger"})
"""Optional fields that a replacement without them clears."""

UPDATABLE = (
    "title",
    "content",
    "type",
    "tags",
    "importance",
    "metadata",
    "pinned",
    "parent_id",
    "expires_at",
    "due_at",
    "trigger",
)

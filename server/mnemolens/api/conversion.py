"""Between the API's values and the engine's, with errors that name fields as a Python program wrote them."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from mnemolens.api.models import (
    CodeLink,
    MemoryEntry,
    MemoryPreview,
    MemoryQuery,
    MemoryType,
    SessionInfo,
    SimilarMemory,
)
from mnemolens.core.errors import InvalidArgument, NotFound
from mnemolens.core.memories import Memory
from mnemolens.core.views import CaptureView, LinkView, SessionView
from mnemolens.engine.listing import MAX_LIMIT
from mnemolens.engine.requests import CaptureRequest, ListRequest

_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_PYTHON_NAMES = {"type": "memory_type", "text": "content_search"}


def capture_request(entry: object, *, allow_secret: bool) -> CaptureRequest:
    """The request that stores an entry; the engine checks its fields.

    Raises:
        InvalidArgument: it is no entry, or something in it is of a kind that the engine is never given.
    """
    if not isinstance(entry, MemoryEntry):
        raise InvalidArgument("memory", f"must be a MemoryEntry, not {type(entry).__name__}")
    text("id", entry.id)
    return CaptureRequest(
        id=entry.id,
        content=entry.content,
        title=entry.title,
        type=_memory_type(entry.memory_type),
        tags=cast("tuple[str, ...]", _list("tags", entry.tags)),
        importance=entry.importance,
        metadata=entry.metadata,
        session_id=entry.session_id,
        agent_id=entry.agent_id,
        author=entry.author,
        parent_id=entry.parent_id,
        expires_at=moment("expires_at", entry.expires_at),
        due_at=moment("due_at", entry.due_at),
        trigger=entry.trigger,
        created_at=moment("created_at", entry.created_at),
        allow_secret=_flag("allow_secret", allow_secret),
    )


def list_request(query: object) -> ListRequest:
    """The request that answers a query, but for a limit above what the engine takes: it has none then.

    Raises:
        InvalidArgument: it is no query, or a field is of the wrong type.
    """
    if not isinstance(query, MemoryQuery):
        raise InvalidArgument("query", f"must be a MemoryQuery, not {type(query).__name__}")
    tags = _list("tags", query.tags)
    least = None if query.min_importance is None else share("min_importance", query.min_importance)
    limit = None if query.limit is None else number("limit", query.limit, 1)
    return ListRequest(
        type=None if query.memory_type is None else _memory_type(query.memory_type),
        tags=tuple(text("tags", tag) for tag in tags),
        session_id=_optional_text("session_id", query.session_id),
        agent_id=_optional_text("agent_id", query.agent_id),
        text=_optional_text("content_search", query.content_search),
        min_importance=least,
        created_after=moment("created_after", query.created_after),
        created_before=moment("created_before", query.created_before),
        include_expired=_flag("include_expired", query.include_expired),
        limit=None if limit is None or limit > MAX_LIMIT else limit,
        offset=number("offset", query.offset, 0),
    )


def entry_of(memory: Memory) -> MemoryEntry:
    """The entry of a memory; nothing in it is shared with the engine but what nobody can change."""
    return MemoryEntry(
        id=memory.id,
        session_id=memory.session_id,
        agent_id=memory.agent_id,
        memory_type=MemoryType(memory.type),
        title=memory.title,
        content=memory.content,
        metadata=_copied(memory.metadata),
        created_at=memory.created_at,
        accessed_at=memory.accessed_at,
        tags=list(memory.tags),
        importance=memory.importance,
        expires_at=memory.expires_at,
        parent_id=memory.parent_id,
        due_at=memory.due_at,
        trigger=_copied(memory.trigger),
        author=memory.author,
        access_count=memory.access_count,
    )


def preview_of(view: CaptureView, memory_id: str) -> MemoryPreview:
    """The preview of the memory of that id; what is stored of it is not like it, but it."""
    return MemoryPreview(
        links=links_of(view.links),
        duplicate_of=view.duplicate_of if view.duplicate_of != memory_id else None,
        similar=[SimilarMemory(*one) for one in view.similar if one.id != memory_id],
        suggestion=None if view.suggestion is None else view.suggestion.target.id,
        warnings=list(view.warnings),
    )


def links_of(views: Iterable[LinkView]) -> list[CodeLink]:
    """Links to code."""
    return [CodeLink(one.target.id, one.target.kind, one.relevance, one.candidate) for one in views]


def session_of(view: SessionView) -> SessionInfo:
    """The info of a session."""
    return SessionInfo(view.id, view.first, view.last, list(view.agents), view.memories)


def in_python(error: Exception) -> Exception:
    """The error with its field named as in Python, `session_id` for `sessionId`; others as they are."""
    if isinstance(error, InvalidArgument):
        name = _HUMP.sub(_lowered, _PYTHON_NAMES.get(error.field, error.field))
        said = str(error).removeprefix(f"{error.field}: ").replace("allowSecret", "allow_secret")
        error.field, error.args = name, (f"{name}: {said}",)
    elif type(error) is NotFound and str(error).startswith("sessionId: "):
        return NotFound(str(error).removeprefix("sessionId: "))
    return error


def _lowered(hump: re.Match[str]) -> str:
    return f"_{hump[0].lower()}"


def text(name: str, value: object) -> str:
    """`value` where it is a text.

    Raises:
        InvalidArgument: it is something else.
    """
    if not isinstance(value, str):
        raise InvalidArgument(name, f"must be a text, not {type(value).__name__}")
    return value


def number(name: str, value: object, least: int) -> int:
    """`value` where it is a whole number, at least `least`.

    Raises:
        InvalidArgument: it is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(name, f"must be a whole number from {least} on, not {value!r}")
    return value


def share(name: str, value: object) -> float:
    """`value` where it is a number from 0 to 1.

    Raises:
        InvalidArgument: it is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidArgument(name, f"must be a number from 0 to 1, not {value!r}")
    return value


def moment(name: str, value: object) -> datetime | None:
    """A time in UTC; a naive one is local time. None stays None.

    Raises:
        InvalidArgument: it is no time.
    """
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidArgument(name, f"must be a datetime, not {type(value).__name__}")
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidArgument(name, f"{value} is out of range") from None


def _memory_type(value: object) -> str:
    known = ", ".join(MemoryType)
    if not isinstance(value, str) or value not in list(MemoryType):
        raise InvalidArgument("memory_type", f"{value!r} is not one of {known}")
    return str(value)


def _optional_text(name: str, value: object) -> str | None:
    return None if value is None else text(name, value)


def _list(name: str, value: object) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        raise InvalidArgument(name, f"must be a list of texts, not {type(value).__name__}")
    return tuple(value)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(name, f"must be True or False, not {value!r}")
    return value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(inner) for inner in value]
    return value

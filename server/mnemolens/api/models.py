"""What programs hand in and get back: memories, queries, sessions. `conversion.py` checks them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from mnemolens.core.ids import new_ulid


class MemoryType(StrEnum):
    """What kind of memory it is, which decides how long it matters."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    PROSPECTIVE = "prospective"
    WORKING = "working"


@dataclass
class MemoryEntry:
    """One memory. Only `content` is needed.

    Naive datetimes are local time; what a backend hands out is aware, in UTC.

    Attributes:
        id: any text of 1 to 300 characters; a fresh ULID where none is given. Storing the same id again is
            an update.
        session_id, agent_id: who remembered it, and in the course of what; None for nobody and nothing.
        memory_type: a `MemoryType`, or its value as text.
        title: one line, at most 300 characters; made from the content where it is empty.
        content: the text, at most 1,000,000 characters.
        metadata: plain JSON with text keys; `file` (also `file_path`, `files`) links the memory to those
            files. A key whose value is None is not kept.
        created_at: None for the moment at which it is stored.
        accessed_at: when it was last used; handed out, and ignored where it is handed in: see
            `KuzuBackend.access_memory`.
        tags: texts; each is kept once.
        importance: 0 to 1.
        expires_at: from then on it is left out everywhere; None for never.
        parent_id: another memory's id, which must be there.
        due_at: when a prospective memory is to be acted on.
        trigger: what brings a prospective memory to mind: `{"on": "change"}`, "open" or "merge", and maybe
            a "branch".
        author: who wrote it; None for the name that git knows.
        access_count: how often it was used; handed out only.
    """

    id: str = field(default_factory=new_ulid)
    session_id: str | None = None
    agent_id: str | None = None
    memory_type: MemoryType = MemoryType.SEMANTIC
    title: str = ""
    content: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    accessed_at: datetime | None = None
    tags: Sequence[str] = field(default_factory=list)
    importance: float = 0.5
    expires_at: datetime | None = None
    parent_id: str | None = None
    due_at: datetime | None = None
    trigger: dict[str, Any] | None = None
    author: str | None = None
    access_count: int = 0


@dataclass(frozen=True)
class MemoryQuery:
    """Which memories to retrieve: those that fulfil all that is given, the newest first.

    Attributes:
        tags: every one of these must be among the memory's tags.
        content_search: every word must stand in title, content or tags, in any case, also within longer
            words.
        min_importance: 0 to 1.
        created_after, created_before: both included. Naive datetimes are local time.
        limit: how many at most; None for all.
        offset: how many to pass over first.
        include_expired: also those whose time is over.
    """

    session_id: str | None = None
    agent_id: str | None = None
    memory_type: MemoryType | None = None
    tags: Sequence[str] | None = None
    content_search: str | None = None
    min_importance: float | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    limit: int | None = None
    offset: int = 0
    include_expired: bool = False


@dataclass(frozen=True)
class SessionInfo:
    """One session, by its memories that are neither deleted nor expired.

    Attributes:
        created_at: when its first memory was made.
        last_accessed: when one of its memories was last made or used.
        agent_ids: in the order of the alphabet.
        memory_count: how many memories it has.
    """

    session_id: str
    created_at: datetime
    last_accessed: datetime
    agent_ids: list[str]
    memory_count: int


@dataclass(frozen=True)
class CodeLink:
    """A link from a memory to code.

    Attributes:
        target: `path::name` of a symbol (`src/pay.py::Order.charge`), or a file's path.
        kind: "function", "method", "class", "file", …
        relevance: 0 to 1.
        candidate: one of several places that may be meant: offered, and no link before somebody makes it one.
    """

    target: str
    kind: str
    relevance: float
    candidate: bool = False


@dataclass(frozen=True)
class SimilarMemory:
    """An earlier memory that says almost the same.

    Attributes:
        likeness: share of the text that both have in common, 0 to 1.
    """

    id: str
    title: str
    likeness: float


@dataclass(frozen=True)
class MemoryPreview:
    """What storing a memory would mean.

    Attributes:
        links: the code it would be on, the most relevant first.
        duplicate_of: id of the memory that says just this already.
        similar: earlier memories that say almost the same, the most alike first.
        suggestion: code that it may be about although it names none, as `CodeLink.target` names it; None
            where nothing is clear. It is never linked by itself: see `KuzuBackend.link_memory`.
        warnings: what else is to be known, in sentences.
    """

    links: list[CodeLink]
    duplicate_of: str | None
    similar: list[SimilarMemory]
    suggestion: str | None
    warnings: list[str]

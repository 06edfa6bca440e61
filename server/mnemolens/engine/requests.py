"""What surfaces ask of the engine: frozen requests, checked by `engine.capture` before anything is stored."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemolens.core.symbols import Position, Range
from mnemolens.search.query import NO_FILTERS, Filters


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """A memory to store.

    Attributes:
        file: path relative to the top level, None for a memory about no place.
        position: where the cursor stands; None with a file means the file itself.
        id: given by programs; an explicit id is always stored.
        created_at: where that was before it is stored; None for now.
        allow_secret: store it although it holds what looks like a password, a key or a token.
    """

    content: str
    file: str | None = None
    position: Position | None = None
    range: Range | None = None
    title: str | None = None
    type: str = "semantic"
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    metadata: dict[str, Any] = field(default_factory=dict)
    session_id: str | None = None
    agent_id: str | None = None
    author: str | None = None
    parent_id: str | None = None
    expires_at: datetime | None = None
    due_at: datetime | None = None
    trigger: dict[str, Any] | None = None
    id: str | None = None
    created_at: datetime | None = None
    allow_secret: bool = False


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to bring to mind: for a place in the code, for words, or for both; for neither all, by rank.

    Attributes:
        file: path relative to the top level; without `position` the file itself is the place.
        token_budget: tokens that all of it together may have; None for the setting `memory.budget.total`.
        layers: only memories of these; empty for all.
        filters: what else they must fulfil, besides what the query itself asks for.
    """

    query: str | None = None
    file: str | None = None
    position: Position | None = None
    token_budget: int | None = None
    limit: int = 20
    layers: tuple[str, ...] = ()
    session_id: str | None = None
    agent_id: str | None = None
    filters: Filters = NO_FILTERS


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which memories to list: by rank where a position is given, else newest first.

    Attributes:
        file: memories linked to this file or anything in it; with `position`, to the symbol there.
        query: words, phrases and filters (`search/query.py`): memories that hold every word are listed.
        best: those that fit the query best first; where none holds every word, those that hold most.
        filters: what else they must fulfil.
        text: as programs ask: every word stands in title, content or a tag, also within a longer word.
        created_after, created_before: times to list from and up to, both included.
        limit: None for all.
    """

    file: str | None = None
    position: Position | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    verdict: str | None = None
    layer: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    query: str | None = None
    best: bool = False
    filters: Filters = NO_FILTERS
    text: str | None = None
    min_importance: float | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    include_forgotten: bool = False
    include_expired: bool = False
    limit: int | None = 100
    offset: int = 0

"""Values of memories: what is stored, where it is anchored, and what it links to.

Records (`Memory`, `Anchor`) are what the journal's merged events say. Everything that depends on
the code as it is in this worktree (`Placement`, `Link`) is derived and never stored.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from mnemolens.core.symbols import SymbolKey, SymbolKind

MemoryKind = Literal["episodic", "semantic", "procedural", "prospective", "working"]
Status = Literal["active", "done", "forgotten"]
Verdict = Literal["fresh", "moved", "drifted", "ambiguous", "unanchored", "lost"]
Layer = Literal["core", "active", "long_term", "archive"]
LinkContext = Literal[
    "captured_here", "metadata_file_match", "content_name_match", "content_class_match", "content_file_match"
]

MEMORY_KINDS: tuple[MemoryKind, ...] = ("episodic", "semantic", "procedural", "prospective", "working")
EDGE_TYPES: tuple[str, ...] = (
    "SHARED_ENTITY",
    "TEMPORAL_SEQUENCE",
    "SAME_TOPIC",
    "CONTRADICTS",
    "SUPERSEDES",
    "CAUSED_BY",
    "CO_ACTIVATED",
    "SCHEMA_INSTANCE",
)
VERDICTS: tuple[Verdict, ...] = ("fresh", "moved", "drifted", "ambiguous", "unanchored", "lost")


@dataclass(frozen=True, slots=True)
class Origin:
    """The git commit and branch of an act; both None without git."""

    commit: str | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory, as the merged journal has it. All times are aware and UTC."""

    id: str
    type: MemoryKind
    title: str
    content: str
    created_at: datetime
    accessed_at: datetime
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    importance: float = 0.5
    pinned: bool = False
    status: Status = "active"
    access_count: int = 0
    session_id: str | None = None
    agent_id: str | None = None
    author: str | None = None
    parent_id: str | None = None
    expires_at: datetime | None = None
    due_at: datetime | None = None
    trigger: dict[str, Any] | None = None
    born: Origin = Origin()
    token_count: int = 0
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class CodeState:
    """What the code at a place looked like at one moment: enough to recognise it again.

    Attributes:
        fingerprint: the 512 smallest 32-bit hashes of distinct token 3-grams, sorted, base64.
        commit: HEAD at that moment.
    """

    key: SymbolKey
    full_hash: str
    body_hash: str
    fingerprint: str
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Birth:
    """An anchor's immutable birth record.

    Attributes:
        neighbours: qualnames of the symbols right before and after, "" at an end.
        snippet: the definition's text up to 16 kB, so that any later version can compute anew.
        algo: version of tokens, hashes and fingerprint.
    """

    state: CodeState
    kind: SymbolKind
    signature: str
    token_count: int
    neighbours: tuple[str, str]
    snippet: str
    branch: str | None
    algo: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a derived link exists.

    Attributes:
        field: "title", "content" or "metadata.<key>".
        start: code point offset in that field's text, `end` exclusive.
        rule: the rule's name ("code_span", "call", "dotted", "snake_case", "path", …).
        text: the matched text.
    """

    field: str
    start: int
    end: int
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """An anchor as the merged journal has it: birth, known places, confirmations.

    Attributes:
        context: "captured_here" for explicit anchors (made by capture, re-anchor, link), else the
            derived link's context.
        evidence: of a derived anchor; it counts only while the memory's text still holds it.
        aliases: known places, oldest first; refused places (unalias) are in `refused`.
    """

    id: str
    memory_id: str
    birth: Birth
    context: LinkContext = "captured_here"
    relevance: float = 1.0
    evidence: Evidence | None = None
    aliases: tuple[CodeState, ...] = ()
    refused: frozenset[SymbolKey] = frozenset()
    confirmations: tuple[CodeState, ...] = ()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryEdge:
    """A directed edge between two memories, keyed (source, target, type).

    Attributes:
        together: how often the two were used together since somebody set the weight, if ever.
    """

    source_id: str
    target_id: str
    type: str
    weight: float
    created_at: datetime
    together: int = 0


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event of a memory's life, as `memory.get` shows it."""

    clock: str
    op: str
    by: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an anchor is in this worktree now, and how sure that is.

    Attributes:
        at: the symbol, None when lost, ambiguous or out of scope.
        stage: which rule placed it: "place", "alias", "shifted" (its name was typed over), or one of the
            tracker's: "full_hash", "body_hash", "parent", "similar"; "" when not placed.
        score: 0..1, certainty of the stage.
        edited: fresh, but edited since it was last confirmed.
        candidates: up to three (place, score), best first, when not placed.
        in_scope: False where the anchor's file lies outside the indexed folder.
    """

    anchor_id: str
    at: SymbolKey | None
    verdict: Verdict
    stage: str = ""
    score: float = 0.0
    edited: bool = False
    candidates: tuple[tuple[SymbolKey, float], ...] = ()
    in_scope: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A derived link from a memory to code.

    Attributes:
        candidate: relevance below .5: offered, but neither in hover nor counted in a lens.
    """

    memory_id: str
    target: SymbolKey
    kind: SymbolKind
    relevance: float
    context: LinkContext
    evidence: Evidence | None = None
    timestamp: datetime | None = None
    candidate: bool = False
    anchor_id: str | None = None

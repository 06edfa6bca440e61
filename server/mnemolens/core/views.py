"""Frozen values that the engine hands to its surfaces, in editor terms: no database row, no protocol type.

Positions are `core.symbols.Position` (0-based line, UTF-8 column); surfaces convert them to their encoding.
Field names become camelCase keys on the wire as they stand.
"""

from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from mnemolens.core.memories import (
    Evidence,
    HistoryEntry,
    Layer,
    LinkContext,
    Memory,
    MemoryEdge,
    Verdict,
)
from mnemolens.core.symbols import Range, SymbolKey, SymbolKind

MAX_RELATED_TITLE: Final = 60
"""Characters of another memory's title in a sentence about one."""


class PlaceView(NamedTuple):
    """A symbol's place (CONTRACT: symbol place). `range` is None where the file can't be read now."""

    kind: SymbolKind
    file: str
    qualname: str
    ordinal: int
    id: str
    range: Range | None

    @property
    def key(self) -> SymbolKey:
        """The identity that this place shows."""
        return SymbolKey(self.file, self.qualname, self.ordinal)

    @property
    def label(self) -> str:
        """What a person calls it: `charge()`, `Payment`, `billing.py`."""
        return place_label(self.key, self.kind)


def place_label(key: SymbolKey, kind: SymbolKind) -> str:
    """What a person calls the symbol: `Payment.charge()`, `Payment`, `billing.py`."""
    if kind == "file":
        return key.name
    called = kind in {"function", "method", "method_sig", "overload", "lambda"}
    return key.qualname + ("()" if called else "")


def origin_words(from_branch: str) -> str:
    """In words where a memory is from: a branch, or "commit 1a2b3c4" (no branch's name has a space)."""
    return f"from {from_branch}" if " " in from_branch else f"from branch {from_branch}"


def recalled_words(count: int) -> str:
    """How often a memory was recalled, in words."""
    return "recalled once" if count == 1 else f"recalled {count} times"


class LinkView(NamedTuple):
    """One link from a memory to code."""

    target: PlaceView
    relevance: float
    context: LinkContext
    evidence: Evidence | None
    timestamp: datetime | None
    candidate: bool


class CandidateView(NamedTuple):
    """A place an anchor may have gone to."""

    place: PlaceView
    score: float


class BirthView(NamedTuple):
    """Where an anchor was born."""

    place: PlaceView
    commit: str | None
    branch: str | None


class AnchorView(NamedTuple):
    """One anchor, and where it is in this worktree."""

    id: str
    context: LinkContext
    birth: BirthView
    at: PlaceView | None
    verdict: Verdict
    edited: bool
    stage: str
    score: float
    candidates: tuple[CandidateView, ...]


class RelationView(NamedTuple):
    """What another memory says of one: that it is superseded, or that the two contradict each other.

    Attributes:
        kind: "superseded by" or "contradicts".
        memory_id: the other one's.
        title: the other one's.
    """

    kind: Literal["superseded by", "contradicts"]
    memory_id: str
    title: str

    @property
    def words(self) -> str:
        """In words: `superseded by “Retries are safe now”`."""
        title = " ".join(self.title.split())
        short = title if len(title) <= MAX_RELATED_TITLE else title[: MAX_RELATED_TITLE - 1].rstrip() + "…"
        return f"{self.kind} “{short}”"


class MemoryView(NamedTuple):
    """A memory with what is derived for it now.

    Attributes:
        from_branch: the branch it was written on, where that is not part of what is checked out.
        relations: which memories supersede it, then which contradict it.
    """

    memory: Memory
    weight: float
    layer: Layer
    verdict: Verdict
    from_branch: str | None = None
    relations: tuple[RelationView, ...] = ()

    @property
    def successors(self) -> frozenset[str]:
        """The memories that supersede it."""
        if not self.relations:
            return frozenset()
        return frozenset(one.memory_id for one in self.relations if one.kind == "superseded by")


class RankedMemory(NamedTuple):
    """A memory that was found, its rank, and the reasons in words.

    Attributes:
        only_together: it came for no other reason than that it was recalled together with another one before.
    """

    view: MemoryView
    score: float
    activation: float
    truth: float
    own: bool
    why: tuple[str, ...]
    path: tuple[PlaceView, ...]
    only_together: bool = False


class MemoryDetail(NamedTuple):
    """All that is known of one memory."""

    view: MemoryView
    links: tuple[LinkView, ...]
    anchors: tuple[AnchorView, ...]
    edges: tuple[MemoryEdge, ...]
    history: tuple[HistoryEntry, ...]


class FieldMatch(NamedTuple):
    """What of a query stands in one field of a memory.

    Attributes:
        field: "title", "tags", "content", "names" (of code it is on) or "docs" (what that says of itself);
            "meaning" where it holds none of the words, but is close in meaning.
        words: as they are spelt there.
        spans: (start, end) in code points; only of the title.
    """

    field: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()


class MatchView(NamedTuple):
    """Why a search found a memory.

    Attributes:
        snippet: the piece of the content where most was found.
        spans: (start, end) in code points, of what was found in the snippet.
    """

    fields: tuple[FieldMatch, ...]
    snippet: str
    spans: tuple[tuple[int, int], ...]


class MemoryPage(NamedTuple):
    """One page of a list, and how many there are in all.

    Attributes:
        matches: parallel to `memories` where a text was searched, else empty.
    """

    memories: tuple[MemoryView, ...]
    total: int
    matches: tuple[MatchView, ...] = ()


class MemoryChange(NamedTuple):
    """A memory after a change, with its links."""

    view: MemoryView
    links: tuple[LinkView, ...]


class SuggestionView(NamedTuple):
    """Code that a memory may be about, by likeness alone: to be offered, never linked unasked."""

    target: PlaceView
    score: float

    @property
    def words(self) -> str:
        """In words, as a sentence."""
        return f"This may be about {self.target.label}."


class SimilarView(NamedTuple):
    """An earlier memory that says almost the same.

    Attributes:
        likeness: share of the text that both have in common, 0..1.
    """

    id: str
    title: str
    likeness: float


class CaptureView(NamedTuple):
    """What a capture stored, or would store (`view` is None in a preview)."""

    view: MemoryView | None
    links: tuple[LinkView, ...]
    duplicate_of: str | None
    warnings: tuple[str, ...]
    suggestion: SuggestionView | None = None
    similar: tuple[SimilarView, ...] = ()


class AnchorChange(NamedTuple):
    """A memory and its anchors after a repair."""

    view: MemoryView
    anchors: tuple[AnchorView, ...]


class LinkChange(NamedTuple):
    """A memory's links and edges after link or unlink."""

    links: tuple[LinkView, ...]
    edges: tuple[MemoryEdge, ...]


class SessionView(NamedTuple):
    """One session, by its memories that are neither forgotten nor expired.

    Attributes:
        memories: how many.
        first: when the first of them was made.
        last: when one of them was last made or used.
    """

    id: str
    memories: int
    agents: tuple[str, ...]
    first: datetime
    last: datetime


class AgentView(NamedTuple):
    """One agent, by its memories; see `SessionView`."""

    id: str
    memories: int
    sessions: tuple[str, ...]
    first: datetime
    last: datetime


class HoverItem(NamedTuple):
    """One memory in a hover: plain text only, for the surface to escape.

    Attributes:
        excerpt: the content's beginning without the title line, "" when the title says it all.
        on: label of the code it is on (`charge()`).
        from_branch: as in `MemoryView`.
        moved: the code was followed here from where the memory was put, which can be undone.
        relations: as in `MemoryView`.
    """

    memory_id: str
    title: str
    verdict: Verdict
    edited: bool
    excerpt: str
    on: str
    recalled: int
    author: str | None
    created_at: datetime
    own: bool
    why: str
    moved: bool = False
    from_branch: str | None = None
    relations: tuple[RelationView, ...] = ()


class HoverView(NamedTuple):
    """What to show for the symbol under the cursor."""

    range: Range
    key: SymbolKey
    items: tuple[HoverItem, ...]
    hidden: int


class LensView(NamedTuple):
    """Where a lens stands. Its title costs a little more: ask `Lenses.title`."""

    range: Range
    key: SymbolKey


class LensTitle(NamedTuple):
    """A resolved lens: `2 memories · 1 drifted`, and the memories it opens."""

    title: str
    memory_ids: tuple[str, ...]


class HintView(NamedTuple):
    """One hint in a file.

    Attributes:
        code: "due", "contradiction" or "drifted".
        message: plain text.
    """

    range: Range
    code: str
    message: str
    memory_id: str


class ActionView(NamedTuple):
    """One thing that can be done here with one memory.

    Attributes:
        act: "confirm", "reanchor", "undoMove", "forget", "open", "done", "snooze", "notNow",
            "link" or "unlink".
        candidate: for "reanchor" the place to put it on; None for where the cursor is.
        repairs: whether something is wrong, so that the user is told unasked.
    """

    title: str
    act: str
    memory_id: str
    candidate: PlaceView | None = None
    repairs: bool = False


class TargetView(NamedTuple):
    """What a capture at a position would be about."""

    key: SymbolKey
    label: str


class OpenedMemory(NamedTuple):
    """A memory written as a document: `path` is absolute.

    Attributes:
        trouble: why the document was left as it was found, "" where it shows the memory.
    """

    memory_id: str
    path: str
    trouble: str = ""


class SavedMemory(NamedTuple):
    """A memory after its document was saved.

    Attributes:
        warnings: sentences about fields that were changed elsewhere meanwhile.
    """

    view: MemoryView
    warnings: tuple[str, ...] = ()


class SkippedFile(NamedTuple):
    """A file that is not indexed, and why, in words."""

    file: str
    reason: str


class Progress(NamedTuple):
    """How far the index is."""

    done: int
    total: int


class GraphState(NamedTuple):
    """The graph database's state in words."""

    state: str
    slot: int | None
    reason: str | None


class MeaningState(NamedTuple):
    """Search by meaning: what it is at.

    Attributes:
        state: "off", "starting", "working", "ready" or "failed".
        model: what makes the vectors.
        made: memories that have a vector.
        due: memories that wait for one.
        reason: why it failed, in words.
    """

    state: str
    model: str | None
    made: int
    due: int
    reason: str | None


class FolderStatus(NamedTuple):
    """What is known of one folder.

    Attributes:
        links_due: memories that still have the links of earlier rules.
        partial: files with a syntax error, or with syntax that the grammar does not know; not all by name.
    """

    root: str
    files: int
    symbols: int
    memories: int
    verdicts: dict[str, int]
    skipped: tuple[SkippedFile, ...]
    skipped_total: int
    indexing: Progress | None
    graph: GraphState
    meaning: MeaningState = MeaningState("off", None, 0, 0, None)
    links_due: int = 0
    partial: tuple[str, ...] = ()
    partial_total: int = 0


class JournalStatus(NamedTuple):
    """The journal in numbers.

    Attributes:
        skipped: lines and whole files that say nothing to us.
        unreadable: those of them that the system would not let us read, by absolute path.
    """

    segments: int
    events: int
    skipped: int
    unreadable: tuple[SkippedFile, ...] = ()


class IndexReport(NamedTuple):
    """What an index run found."""

    files: int
    symbols: int
    seconds: float


class RecallStats(NamedTuple):
    """Figures of one recall. `layers` is {layer: {"count", "tokens"}}."""

    query: str
    total_memories: int
    layers: dict[str, dict[str, int]]
    tokens_used: int
    retrieval_time_ms: float


class RecallView(NamedTuple):
    """What a recall found within its budget."""

    memories: tuple[RankedMemory, ...]
    stats: RecallStats

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the memories, in their order."""
        return tuple(found.view.memory.id for found in self.memories)

    @property
    def on_their_own(self) -> tuple[str, ...]:
        """The ids of those that came for a reason of their own; only these come closer to each other."""
        return tuple(found.view.memory.id for found in self.memories if not found.only_together)


Json = dict[str, Any]

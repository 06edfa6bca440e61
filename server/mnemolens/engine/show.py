"""Builds the frozen views that surfaces show from records and derived tables.

Owns wording-free shapes and the order of memories; words and escaping are the surfaces'.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from mnemolens.core.errors import NotFound
from mnemolens.core.memories import Anchor, Layer, Link, Memory, Placement
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.core.views import (
    AnchorChange,
    AnchorView,
    BirthView,
    CandidateView,
    HoverItem,
    LinkView,
    MemoryChange,
    MemoryDetail,
    MemoryView,
    PlaceView,
    RankedMemory,
    TargetView,
    place_label,
)
from mnemolens.engine.branches import Branches
from mnemolens.engine.capture import DASHES, WIDE_STOPS, first_line
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.standing import Standing
from mnemolens.ranking.decay import DecayParams, layer_of, weight, weights
from mnemolens.ranking.order import after_successors, order_key, rank, truth
from mnemolens.store.merge import MergedState

EXCERPT = 400
"""Characters of content that a hover shows at most."""

EXCERPT_LOOK = 4 * EXCERPT
"""Characters of content that are looked at for it: a title's line and what follows."""


class Show:
    """Views of memories as they are now.

    Attributes:
        decay: parameters of the weight, and thresholds of the layers.
        branches: tells which memories come from another branch; None where nobody asks git.
        standing: tells which memories others supersede or contradict.
    """

    def __init__(self, state: MergedState, links: Links, code: Code) -> None:
        self._state = state
        self._links = links
        self._code = code
        self.decay = DecayParams()
        self.branches: Branches | None = None
        self.standing = Standing(state)

    def known(self, memory_id: str) -> Memory:
        """The memory as it is stored.

        Raises:
            NotFound: no memory has that id.
        """
        memory = self._state.memory(memory_id)
        if memory is None:
            raise NotFound(f"id: no memory {memory_id!r}")
        return memory

    def place(self, key: SymbolKey) -> PlaceView:
        """The symbol's place; a symbol that is gone keeps its names, without a range."""
        kind = self._code.kind(key) or ("function" if key.qualname else "file")
        return PlaceView(kind, key.file, key.qualname, key.ordinal, key.id, self._code.range_of(key))

    def target(self, file: str, position: Position | None) -> TargetView:
        """What a capture at the position would be about."""
        key = self._code.target(file, position)
        return TargetView(key, place_label(key, self._code.kind(key) or "file"))

    def memory(self, memory: Memory, now: datetime) -> MemoryView:
        """The memory with its weight, layer and verdict."""
        return self._memory(memory, weight(memory, now, self.decay), now)

    def layer(self, memory: Memory, now: datetime) -> Layer:
        """The layer that the memory's weight falls into."""
        return layer_of(weight(memory, now, self.decay), self.decay)

    def memories(self, memories: Sequence[Memory], now: datetime) -> list[MemoryView]:
        """The same of several: their weights together take a fraction of what they take one by one."""
        values = weights(memories, now, self.decay)
        return [self._memory(memory, value, now) for memory, value in zip(memories, values, strict=True)]

    def _memory(self, memory: Memory, value: float, now: datetime) -> MemoryView:
        verdict = self._links.verdict_of(memory.id)
        from_branch = self.branches.other_branch(memory) if self.branches is not None else None
        relations = self.standing.of(memory.id, now)
        return MemoryView(memory, value, layer_of(value, self.decay), verdict, from_branch, relations)

    @property
    def hides_some(self) -> bool:
        """Whether the settings ask to leave any memories out."""
        return self.branches is not None and self.branches.mode == "hide"

    def hides(self, memory: Memory) -> bool:
        """Whether the settings ask to leave the memory out where memories show up unasked."""
        return self.branches is not None and self.branches.hides(memory)

    def links(self, links: Iterable[Link]) -> tuple[LinkView, ...]:
        """Links as shown."""
        return tuple(
            LinkView(
                self.place(link.target),
                link.relevance,
                link.context,
                link.evidence,
                link.timestamp,
                link.candidate,
            )
            for link in links
        )

    def anchors(self, memory_id: str) -> tuple[AnchorView, ...]:
        """The memory's anchors, and where they are."""
        placements = self._links.placements_of(memory_id)
        return tuple(
            self._anchor(anchor, placements.get(anchor.id) or Placement(anchor.id, None, "unanchored"))
            for anchor in self._state.anchors_of(memory_id)
        )

    def change(self, memory: Memory, now: datetime) -> MemoryChange:
        """A memory after a change."""
        return MemoryChange(self.memory(memory, now), self.links_of(memory.id))

    def anchor_change(self, memory: Memory, now: datetime) -> AnchorChange:
        """A memory after a repair."""
        return AnchorChange(self.memory(memory, now), self.anchors(memory.id))

    def links_of(self, memory_id: str) -> tuple[LinkView, ...]:
        """The memory's links to code, most relevant first, candidates last."""
        return self.links(self._links.links_of(memory_id))

    def view(self, memory_id: str, now: datetime) -> MemoryView | None:
        """The memory, a forgotten or expired one too; None where there is none of that id."""
        memory = self._state.memory(memory_id)
        return None if memory is None else self.memory(memory, now)

    def detail(self, memory_id: str, now: datetime) -> MemoryDetail:
        """All that is known of a memory.

        Raises:
            NotFound: no memory has that id.
        """
        memory = self.known(memory_id)
        return MemoryDetail(
            self.memory(memory, now),
            self.links_of(memory.id),
            self.anchors(memory.id),
            tuple(self._state.edges_of(memory.id)),
            tuple(self._state.history(memory.id)),
        )

    def ranked_on(self, key: SymbolKey, now: datetime, *, hidden: bool = False) -> list[RankedMemory]:
        """The symbol's own memories, best first; expired ones left out.

        Args:
            key: the symbol.
            now: for weights and expiry.
            hidden: with those from other branches that the settings hide.
        """
        found = []
        for memory_id, link in self._links.on_symbol(key).items():
            memory = self._state.memory(memory_id)
            if memory is None or (memory.expires_at is not None and memory.expires_at <= now):
                continue
            if not hidden and self.hides(memory):
                continue
            found.append(self._ranked(memory, link, now))
        found.sort(key=lambda ranked: order_key(ranked.view.memory.id, ranked.score, own=ranked.own))
        return after_successors(found, lambda one: one.view.memory.id, lambda one: one.view.successors)

    def hover_item(self, ranked: RankedMemory, key: SymbolKey) -> HoverItem:
        """One memory in the hover of a symbol."""
        memory = ranked.view.memory
        placements = self._links.placements_of(memory.id).values()
        return HoverItem(
            memory_id=memory.id,
            title=memory.title,
            verdict=ranked.view.verdict,
            edited=any(p.edited and p.at == key for p in placements),
            excerpt=excerpt(memory),
            on=place_label(key, self._code.kind(key) or "function"),
            recalled=memory.access_count,
            author=memory.author,
            created_at=memory.created_at,
            own=ranked.own,
            why=ranked.why[0] if ranked.why else "",
            moved=self.is_moved(memory.id, key),
            from_branch=ranked.view.from_branch,
            relations=ranked.view.relations,
        )

    def is_moved(self, memory_id: str, key: SymbolKey) -> bool:
        """Whether the memory was put elsewhere, and followed its code to this symbol."""
        placements = self._links.placements_of(memory_id)
        return any(
            (placement := placements.get(anchor.id)) is not None
            and placement.at == key != anchor.birth.state.key
            for anchor in self._state.anchors_of(memory_id)
        )

    def _ranked(self, memory: Memory, link: Link, now: datetime) -> RankedMemory:
        view = self.memory(memory, now)
        believed = truth_of(view)
        place = self.place(link.target)
        return RankedMemory(
            view,
            rank(view.weight, link.relevance, believed),
            link.relevance,
            believed,
            own=True,
            why=(f"on {place.label}",),
            path=(place,),
        )

    def _anchor(self, anchor: Anchor, placement: Placement) -> AnchorView:
        state = anchor.birth.state
        born = PlaceView(
            anchor.birth.kind, state.key.file, state.key.qualname, state.key.ordinal, state.key.id, None
        )
        return AnchorView(
            id=anchor.id,
            context=anchor.context,
            birth=BirthView(born, state.commit, anchor.birth.branch),
            at=self.place(placement.at) if placement.at is not None else None,
            verdict=placement.verdict,
            edited=placement.edited,
            stage=placement.stage,
            score=placement.score,
            candidates=tuple(CandidateView(self.place(key), score) for key, score in placement.candidates),
        )


def truth_of(view: MemoryView) -> float:
    """How far a memory is to be believed here, 0..1."""
    return truth(view.verdict, other_branch=view.from_branch is not None, superseded=bool(view.successors))


def excerpt(memory: Memory) -> str:
    """The content's beginning, less what the title says already; "" when nothing is left."""
    whole = memory.content.strip()
    # The rest is never shown: looking through a megabyte of it at every hover would be felt.
    content = whole[:EXCERPT_LOOK]
    line, told = first_line(content), memory.title.removesuffix("…")
    if line.startswith(told) and first_line(content.partition("\n")[0]) == line:
        rest = line[len(told) :].lstrip(f" .;:!?{DASHES}{WIDE_STOPS}")
        content = f"{rest}\n{content.partition(chr(10))[2]}".strip()
    if len(content) <= EXCERPT and len(whole) <= EXCERPT_LOOK:
        return content
    return f"{content[:EXCERPT].rstrip()} …".lstrip()

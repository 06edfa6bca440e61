"""Views as the JSON that programs see: camelCase keys, times in UTC with Z, ranges in the reader's encoding.

The shapes are the contract's, written out one by one: a view that grows a field does not change them
silently. Keys of user data (metadata, triggers) stay as they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mnemolens.core.memories import MemoryEdge
from mnemolens.core.symbols import Position, Range
from mnemolens.core.text import Encoding, column_to_units
from mnemolens.core.views import (
    AgentView,
    AnchorView,
    CaptureView,
    FolderStatus,
    IndexReport,
    JournalStatus,
    Json,
    LinkView,
    MatchView,
    MemoryDetail,
    MemoryPage,
    MemoryView,
    PlaceView,
    RankedMemory,
    RecallView,
    RelationView,
    SessionView,
)
from mnemolens.engine.context import Sketch
from mnemolens.engine.json_shapes import (
    camel,
    edge_json,
    entry_json,
    link_json,
    memory_json,
    moment,
    place_json,
    standing_json,
)
from mnemolens.engine.workspace import Workspace
from mnemolens.ranking.clusters import Cluster


@dataclass(frozen=True, slots=True)
class JsonForm:
    """Writes the views of one workspace for one reader.

    Attributes:
        encoding: the units that the reader counts characters of a line in.
    """

    workspace: Workspace
    encoding: Encoding = "utf-16"

    def memory(self, view: MemoryView) -> Json:
        """A memory."""
        return {
            **memory_json(view.memory, view),
            **({} if view.from_branch is None else {"fromBranch": view.from_branch}),
            **({"relations": list(map(_relation, view.relations))} if view.relations else {}),
        }

    def place(self, view: PlaceView) -> Json:
        """A symbol place."""
        return place_json(view, None if view.range is None else self.range(view.file, view.range))

    def range(self, file: str, span: Range) -> Json:
        """A range in `file`, in the reader's encoding."""
        return {"start": self._position(file, span.start), "end": self._position(file, span.end)}

    def link(self, view: LinkView) -> Json:
        """A link to code."""
        return link_json(view, self.place(view.target))

    def links(self, views: tuple[LinkView, ...]) -> list[Json]:
        """Links to code."""
        return [self.link(view) for view in views]

    def anchor(self, view: AnchorView) -> Json:
        """An anchor, and where it is now."""
        birth = view.birth
        return {
            "id": view.id,
            "context": view.context,
            "birth": {**self.place(birth.place), "commit": birth.commit, "branch": birth.branch},
            **standing_json(view, self.place),
        }

    def anchors(self, views: tuple[AnchorView, ...]) -> list[Json]:
        """Anchors."""
        return [self.anchor(view) for view in views]

    def capture(self, view: CaptureView) -> Json:
        """What a capture stored; without `memory` what it would store."""
        answer: Json = {"links": self.links(view.links), "warnings": list(view.warnings)}
        if view.view is not None:
            answer = {"memory": self.memory(view.view), **answer}
        if view.duplicate_of is not None:
            answer["duplicateOf"] = view.duplicate_of
        if view.similar:
            answer["similar"] = [
                {"id": one.id, "title": one.title, "likeness": one.likeness} for one in view.similar
            ]
        if view.suggestion is not None:
            target = view.suggestion.target
            answer["suggestion"] = {
                "text": view.suggestion.words,
                "target": self.place(target),
                "score": view.suggestion.score,
            }
        return answer

    def detail(self, view: MemoryDetail) -> Json:
        """All about one memory."""
        return {
            "memory": self.memory(view.view),
            "links": self.links(view.links),
            "anchors": self.anchors(view.anchors),
            "edges": edges(view.edges),
            "history": [entry_json(entry) for entry in view.history],
        }

    def page(self, view: MemoryPage) -> Json:
        """A page of a list."""
        answer: Json = {
            "memories": [self.memory(memory) for memory in view.memories],
            "total": view.total,
        }
        if view.matches:
            answer["matches"] = list(map(_match, view.matches))
        return answer

    def ranked(self, view: RankedMemory) -> Json:
        """A memory that was recalled, and why."""
        return {
            "memory": self.memory(view.view),
            "score": view.score,
            "weight": view.view.weight,
            "activation": view.activation,
            "truth": view.truth,
            "layer": view.view.layer,
            "verdict": view.view.verdict,
            "own": view.own,
            "why": list(view.why),
            "path": [self.place(place) for place in view.path],
        }

    def recall(self, view: RecallView) -> Json:
        """What a recall found."""
        stats = view.stats
        return {
            "memories": [self.ranked(memory) for memory in view.memories],
            "stats": {
                "query": stats.query,
                "totalMemories": stats.total_memories,
                "layers": stats.layers,
                "tokensUsed": stats.tokens_used,
                "retrievalTimeMs": stats.retrieval_time_ms,
            },
        }

    def _position(self, file: str, position: Position) -> Json:
        line = self.workspace.code.line(file, position.line).rstrip(b"\r\n")
        character = column_to_units(line, position.column, self.encoding)
        return {"line": position.line, "character": character}


def _relation(view: RelationView) -> Json:
    return {"kind": camel(view.kind.replace(" ", "_")), "id": view.memory_id, "title": view.title}


def sketch_json(sketch: Sketch) -> Json:
    """A symbol in a few words."""
    return {
        "id": sketch.id,
        "signature": sketch.signature,
        "documentation": sketch.documentation,
        "calls": list(sketch.outline.calls),
        "raises": list(sketch.outline.raises),
        "branches": list(sketch.outline.branches),
    }


def edges(views: tuple[MemoryEdge, ...]) -> list[Json]:
    """Edges between memories."""
    return [edge_json(edge) for edge in views]


def session(view: SessionView) -> Json:
    """A session."""
    return {
        "id": view.id,
        "memories": view.memories,
        "agents": list(view.agents),
        "first": moment(view.first),
        "last": moment(view.last),
    }


def agent(view: AgentView) -> Json:
    """An agent."""
    return {
        "id": view.id,
        "memories": view.memories,
        "sessions": list(view.sessions),
        "first": moment(view.first),
        "last": moment(view.last),
    }


def clusters(found: Iterable[Cluster]) -> list[Json]:
    """Clusters of memories."""
    return [
        {
            "clusterId": one.centroid,
            "centroidId": one.centroid,
            "memberIds": list(one.members),
            "density": one.density,
        }
        for one in found
    ]


def folder_status(status: FolderStatus) -> Json:
    """One folder in numbers."""
    indexing = status.indexing
    return {
        "root": status.root,
        "files": status.files,
        "symbols": status.symbols,
        "memories": status.memories,
        "verdicts": status.verdicts,
        "skipped": [{"file": skipped.file, "reason": skipped.reason} for skipped in status.skipped],
        "skippedTotal": status.skipped_total,
        "partial": list(status.partial),
        "partialTotal": status.partial_total,
        "linksDue": status.links_due,
        "indexing": None if indexing is None else {"done": indexing.done, "total": indexing.total},
        "graph": {
            "state": status.graph.state,
            "slot": status.graph.slot,
            "reason": status.graph.reason,
        },
        "meaning": {
            "state": status.meaning.state,
            "model": status.meaning.model,
            "made": status.meaning.made,
            "due": status.meaning.due,
            "reason": status.meaning.reason,
        },
    }


def journal_status(status: JournalStatus) -> Json:
    """The journal in numbers."""
    return {
        "segments": status.segments,
        "events": status.events,
        "skipped": status.skipped,
        "unreadable": [{"file": one.file, "reason": one.reason} for one in status.unreadable],
    }


def index_report(report: IndexReport) -> Json:
    """What an index run found."""
    return {"files": report.files, "symbols": report.symbols, "seconds": report.seconds}


def _match(view: MatchView) -> Json:
    """Why a search found a memory."""
    return {
        "fields": [
            {"field": one.field, "words": list(one.words), "spans": list(map(list, one.spans))}
            for one in view.fields
        ],
        "snippet": {"text": view.snippet, "spans": list(map(list, view.spans))},
    }

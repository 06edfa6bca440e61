"""The shapes that views and exports share: plain values as JSON, camelCase, times in UTC with Z.

Pure. Written out one by one: a value that grows a field does not change them silently. Whoever writes for a
reader gives the places, since a range depends on that reader (`json_form.py`); an export has none
(`export_lines.py`).
"""

from collections.abc import Callable
from datetime import UTC, datetime

from mnemolens.core.memories import Evidence, HistoryEntry, Memory, MemoryEdge
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import AnchorView, Json, LinkView, MemoryView, PlaceView


def memory_json(memory: Memory, view: MemoryView | None) -> Json:
    """A memory; without what depends on the code and the time where there is no view of it."""
    derived = {} if view is None else {"weight": view.weight, "layer": view.layer, "verdict": view.verdict}
    return {
        "id": memory.id,
        "type": memory.type,
        "title": memory.title,
        "content": memory.content,
        "tags": list(memory.tags),
        "metadata": memory.metadata,
        "importance": memory.importance,
        "pinned": memory.pinned,
        "status": memory.status,
        **derived,
        "accessCount": memory.access_count,
        "createdAt": moment(memory.created_at),
        "accessedAt": moment(memory.accessed_at),
        "sessionId": memory.session_id,
        "agentId": memory.agent_id,
        "author": memory.author,
        "parentId": memory.parent_id,
        "expiresAt": moment(memory.expires_at),
        "dueAt": moment(memory.due_at),
        "trigger": memory.trigger,
        "born": {"commit": memory.born.commit, "branch": memory.born.branch},
        "tokenCount": memory.token_count,
        "contentHash": memory.content_hash,
    }


def key_json(key: SymbolKey) -> Json:
    """A symbol's identity."""
    return {"file": key.file, "qualname": key.qualname, "ordinal": key.ordinal, "id": key.id}


def place_json(place: PlaceView, span: Json | None) -> Json:
    """A symbol place, with its range as its reader counts."""
    return {"kind": place.kind, **key_json(place.key), "range": span}


def link_json(link: LinkView, target: Json) -> Json:
    """A link to code."""
    return {
        "target": target,
        "relevance": link.relevance,
        "context": link.context,
        "evidence": None if link.evidence is None else evidence_json(link.evidence),
        "timestamp": moment(link.timestamp),
        "candidate": link.candidate,
    }


def evidence_json(evidence: Evidence) -> Json:
    """The part of a memory that a link rests on; offsets in code points."""
    return {
        "field": evidence.field,
        "start": evidence.start,
        "end": evidence.end,
        "rule": evidence.rule,
        "text": evidence.text,
    }


def standing_json(anchor: AnchorView, place: Callable[[PlaceView], Json]) -> Json:
    """Where an anchor is now, and how sure that is."""
    return {
        "at": None if anchor.at is None else place(anchor.at),
        "verdict": anchor.verdict,
        "edited": anchor.edited,
        "stage": anchor.stage,
        "score": anchor.score,
        "candidates": [{**place(one.place), "score": one.score} for one in anchor.candidates],
    }


def edge_json(edge: MemoryEdge) -> Json:
    """An edge between two memories."""
    return {
        "sourceId": edge.source_id,
        "targetId": edge.target_id,
        "type": edge.type,
        "weight": edge.weight,
        "createdAt": moment(edge.created_at),
    }


def entry_json(entry: HistoryEntry) -> Json:
    """One entry of a history."""
    return {
        "clock": entry.clock,
        "op": entry.op,
        "by": entry.by,
        "fields": [camel(name) for name in entry.fields],
    }


def camel(name: str) -> str:
    """`created_at` as the wire has it: `createdAt`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def moment(value: datetime | None) -> str | None:
    """ISO 8601 in UTC with Z; a naive time is local."""
    return None if value is None else value.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"

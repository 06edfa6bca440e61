"""Lines of an export, and of the least form that people and programs write, as events for the journal.

What a line's history tells, with event ids and clocks, becomes the same events again: merging them is
merging the other journal, so the newest value wins whoever wrote it, and again changes nothing. (Values that
were edited away are not in the file: the events that set them get the last value, which their older clock
keeps from mattering.) What has no clock (the least form, or a value edited in the file by hand) is stamped as
written by `IMPORTER`, and replaces only what an import wrote before, or the very value that the line's own
history tells of: never an edit made here.
Plans only: reads the merged state and writes nothing. Reading files is `import_file.py`'s.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias, cast

from pydantic import ValidationError

from mnemolens.core.clock import reading_at, reading_time, reading_writer
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.events import (
    MEMORY_FIELDS,
    MODELS,
    AnchorDrop,
    AnchorPut,
    BirthRecord,
    EdgeDrop,
    EdgePut,
    Event,
    EventData,
    MemoryAccess,
    MemoryDone,
    MemoryForget,
    MemoryPut,
    MemoryRestore,
    MemoryTogether,
    NodePut,
    put_memory,
    read_origin,
    read_time,
    with_paths,
)
from mnemolens.core.ids import content_hash, new_ulid, short_hash
from mnemolens.core.memories import Birth, Memory, Origin, Status
from mnemolens.core.memory_text import count_tokens
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import Json
from mnemolens.engine.capture import title_of
from mnemolens.engine.import_shapes import (
    PLACES,
    Entry,
    Skip,
    anchor_fields,
    check,
    entries_of,
    history_tags,
    objects,
    snake,
    snake_keys,
    state_fields,
    texts,
)
from mnemolens.engine.json_shapes import camel
from mnemolens.store.merge import CO_ACTIVATED, MergedState, Stamps

IMPORTER: Final = "imported00"
"""The writer in the clock of a value that came without one."""

_TEXTS: Final = ("id", "title", "session_id", "agent_id", "author", "parent_id")
_CHECKED: Final = {
    "content": "content",
    "title": "title",
    "type": "type",
    "importance": "importance",
    "pinned": "pinned",
    "sessionId": "session_id",
    "agentId": "agent_id",
    "author": "author",
    "parentId": "parent_id",
    "expiresAt": "expires_at",
    "dueAt": "due_at",
    "trigger": "trigger",
}
_TIMES: Final = ("createdAt", "expiresAt", "dueAt")
_STATUS_OPS: Final[Mapping[str, type[MemoryForget | MemoryRestore | MemoryDone]]] = {
    "forgotten": MemoryForget,
    "active": MemoryRestore,
    "done": MemoryDone,
}
_NEVER_CLEARED: Final = frozenset({"type", "title", "content", "created_at"})
"""Fields that every memory has."""
_UNSET: Final[Mapping[str, object]] = {"importance": 0.5, "pinned": False, "born": Origin()}
"""What a memory has where no event says anything."""
_DERIVED: Final = frozenset({"token_count", "content_hash"})

Resolve: TypeAlias = Callable[[str, Json], SymbolKey | None]
"""The symbol that an `at` means in the code here: (file, at) -> key; None where there is no such file."""


class World(NamedTuple):
    """What planning needs to know of the folder.

    Attributes:
        state: the merged journal, up to date.
        moved: path as it was written -> path here.
        resolve: see `Resolve`.
        birth: a new anchor's birth record.
        gate: given texts by their names on the wire, raises InvalidArgument where they must not be stored.
        ids: the memories and nodes that the file tells of.
        written: ids of events of edges that an earlier line of the file has brought.
    """

    state: MergedState
    moved: Mapping[str, str]
    resolve: Resolve
    birth: Callable[[SymbolKey], Birth | None]
    gate: Callable[[Mapping[str, Any]], None]
    ids: frozenset[str]
    written: set[str]


@dataclass(slots=True)
class Plan:
    """What one line means here.

    Attributes:
        memory_id: "" for a line that is about no memory.
        is_new: the memory is not here yet.
        items: for `Journal.adopt`; empty where the line changes nothing.
        edges: edges without a clock, to be put once all memories of the file are known.
        shares: an event of an edge is new to it, and was brought by the line of the other memory.
        warnings: what could not be done as the line says, though the memory is taken.
    """

    memory_id: str
    is_new: bool = False
    items: list[Event | EventData] = field(default_factory=list)
    edges: list[EdgePut] = field(default_factory=list)
    shares: bool = False
    warnings: list[str] = field(default_factory=list)


def plan(line: Json, memory_id: str, world: World, now: datetime) -> Plan:
    """What the line changes here.

    Args:
        line: a JSON object.
        memory_id: as `id_of` says.
        world: the folder it is imported into.
        now: the time of the import.

    Raises:
        Skip: the line can't be taken; says why.
    """
    if world.state.is_purged(memory_id):
        raise Skip(f"the memory {memory_id!r} was purged here and can't come back")
    try:
        return _Planner(line, memory_id, world, now).plan()
    except InvalidArgument as error:
        raise Skip(str(error)) from None


class _Planner:
    """Plans one line."""

    def __init__(self, line: Json, memory_id: str, world: World, now: datetime) -> None:
        self._line = line
        self._id = memory_id
        self._world = world
        self._now = now
        self._raw: Json = line.get("memory") or {}
        self._history = entries_of(line, "history", memory_id, now)
        self._events = entries_of(line, "events", memory_id, now)
        self._winners: dict[tuple[str, str], str] = {}
        self._known = world.state.memory(memory_id)
        self._stamps = world.state.stamps(memory_id)
        self._values = self._checked()
        self._plan = Plan(memory_id, is_new=self._known is None)

    def plan(self) -> Plan:
        if "memory" not in self._line or self._line["memory"] is None:
            self._plan = Plan("")
            metas = [entry.data.get("meta") for entry in self._events]
            self._world.gate({"id": self._id, "metadata": [meta for meta in metas if meta]})
            self._replay()
            return self._plan
        self._find_winners()
        self._replay()
        self._put_clockless()
        self._set_status()
        self._put_anchors()
        self._put_at()
        self._count_accesses()
        self._put_edges()
        return self._plan

    # The record ----------------------------------------------------------------------------------

    def _checked(self) -> dict[str, Any]:
        """The memory's fields that the line gives, checked as a capture's are."""
        values: dict[str, Any] = {}
        raw = dict(self._raw)
        for name in _TIMES:
            if raw.get(name) is not None:
                raw[name] = read_time(raw[name])
                if raw[name] is None:
                    raise Skip(f"{name}: must be a time such as 2026-11-30T09:00:00Z")
        for wire, name in _CHECKED.items():
            if raw.get(wire) is not None:
                value = check(name, raw[wire])
                # What was stored before stays as it is; only what is new here is brought into form.
                values[name] = raw[wire] if self._history and name in _TEXTS else value
        if raw.get("createdAt") is not None:
            values["created_at"] = raw["createdAt"]
        if isinstance(raw.get("born"), dict):
            values["born"] = read_origin(raw["born"])
        if self._line.get("memory") is not None:
            self._complete(values)
        return values

    def _complete(self, values: dict[str, Any]) -> None:
        if "content" not in values and self._known is None:
            raise Skip("content: is missing; it is what the memory says")
        if "content" in values:
            values |= self._derived_of(values["content"])
            if self._known is None:
                values.setdefault("title", "")
            if values.get("title") == "":
                values["title"] = title_of(values["content"])
        values["metadata"] = check("metadata", self._raw.get("metadata"))
        values["tags"] = check("tags", self._raw.get("tags"))
        if self._known is None:
            values.setdefault("type", "semantic")
            values.setdefault("created_at", self._now)
            values.setdefault("importance", 0.5)
            values.setdefault("born", Origin())
        had = self._known
        if had is None or any(getattr(had, name) != value for name, value in values.items()):
            tags = [*values["tags"], *history_tags(self._history)]
            named = {camel(name): value for name, value in values.items()}
            self._world.gate({**named, "id": self._id, "tags": tags})

    def _derived_of(self, content: str) -> dict[str, Any]:
        known = self._known
        if known is not None and known.content == content:
            return {"token_count": known.token_count, "content_hash": known.content_hash}
        return {"token_count": count_tokens(content), "content_hash": content_hash(content)}

    # What the history tells ----------------------------------------------------------------------

    def _find_winners(self) -> None:
        """Which entry wrote each field, metadata key and tag last."""
        for entry in self._history:
            if entry.op == MemoryPut.op:
                for name in entry.fields:
                    self._winners["field", name] = entry.stamp
                for key in texts(entry.data.get("metadata")):
                    self._winners["metadata", key] = entry.stamp
                for tag in (*texts(entry.data.get("tagsAdd")), *texts(entry.data.get("tagsRemove"))):
                    self._winners["tag", tag] = entry.stamp
            elif entry.op in {model.op for model in _STATUS_OPS.values()}:
                self._winners["status", ""] = entry.stamp

    def _replay(self) -> None:
        for entry in (*self._history, *self._events):
            data = self._data_of(entry)
            if data is None:
                continue
            event = with_paths(Event(entry.id, entry.clock, data), self._moved)
            if self._is_dangling(data):
                continue
            if entry.id in self._world.written:
                self._plan.shares = True
            elif not self._world.state.knows(event):
                self._plan.items.append(event)
                if isinstance(data, EdgePut | EdgeDrop):
                    self._world.written.add(entry.id)

    def _is_dangling(self, data: EventData) -> bool:
        """Whether the event is about memories that are neither in the file nor here."""
        if isinstance(data, EdgePut | EdgeDrop):
            ends: tuple[str, ...] = (data.source, data.target)
        elif isinstance(data, MemoryTogether):
            ends = data.memories
        else:
            return False
        return any(one not in self._world.ids and self._world.state.memory(one) is None for one in ends)

    def _data_of(self, entry: Entry) -> EventData | None:
        """What the entry's event said; None where the line does not tell."""
        if entry.op == MemoryPut.op:
            return self._put_of(entry)
        data = {snake(name): snake_keys(name, value) for name, value in entry.data.items()}
        data["by"] = entry.by
        model = MODELS[entry.op]
        if model is AnchorPut and "birth" not in data:
            data |= self._birth_of(data.get("anchor"))
        if "memory" in model.model_fields:
            data["memory"] = self._id
        if "node" in model.model_fields:
            data["node"] = self._id
        if model is NodePut:
            data["meta"] = entry.data.get("meta") or {}
        if model is MemoryAccess:
            counts = entry.data.get("counts")
            data["counts"] = counts if isinstance(counts, dict) and set(counts) == {self._id} else None
        try:
            return model.model_validate(data)
        except ValidationError:
            return None

    def _put_of(self, entry: Entry) -> MemoryPut:
        values = self._values
        fields = {
            name: values.get(name)
            for name in entry.fields
            if name in MEMORY_FIELDS and (name in values or name not in _NEVER_CLEARED)
        }
        meta = {key: values["metadata"].get(key) for key in texts(entry.data.get("metadata"))}
        put = put_memory(
            self._id,
            fields,
            metadata=meta,
            tags_add=texts(entry.data.get("tagsAdd")),
            tags_remove=texts(entry.data.get("tagsRemove")),
            by=entry.by,
        )
        unknown = entry.data.get("set")
        if isinstance(unknown, dict):
            newer = {name: value for name, value in unknown.items() if name not in MEMORY_FIELDS}
            put = put.model_copy(update={"set": {**put.set, **newer}})
        return put

    def _birth_of(self, anchor_id: object) -> dict[str, Any]:
        for anchor in objects(self._line.get("anchors")):
            if anchor.get("id") == anchor_id:
                return anchor_fields(anchor)
        return {}

    # What has no clock ---------------------------------------------------------------------------

    def _put_clockless(self) -> None:
        stamps, known = self._stamps, self._known
        fields = {
            name: value
            for name, value in self._values.items()
            if name in MEMORY_FIELDS
            and name not in _DERIVED
            and value is not None
            and (self._is_needed(name, value) if known is None else getattr(known, name) != value)
            and self._may_set(("field", name), stamps.fields.get(name))
        }
        if "content" in fields or (known is None and ("field", "content") not in self._winners):
            fields |= {name: self._values[name] for name in _DERIVED}
        had = {} if known is None else known.metadata
        meta = {
            key: value
            for key, value in self._values["metadata"].items()
            if had.get(key) != value and self._may_set(("metadata", key), stamps.metadata.get(key))
        }
        tags = tuple(
            tag
            for tag in self._values["tags"]
            if (known is None or tag not in known.tags) and self._may_set(("tag", tag), stamps.tags.get(tag))
        )
        if fields or meta or tags:
            by = self._values.get("author") or self._values.get("agent_id")
            put = put_memory(self._id, fields, metadata=meta, tags_add=tags, by=by)
            self._add(put, _newest(stamps))

    def _is_needed(self, name: str, value: object) -> bool:
        """Whether a new memory needs the value: not where its history never set the field."""
        return ("field", "content") not in self._winners or _UNSET.get(name) != value

    def _set_status(self) -> None:
        status = self._raw.get("status")
        now: Status = "active" if self._known is None else self._known.status
        if (
            isinstance(status, str)
            and status in _STATUS_OPS
            and status != now
            and self._may_set(("status", ""), self._stamps.status)
        ):
            self._add(_STATUS_OPS[status](memory=self._id), self._stamps.status or "")

    def _may_set(self, part: tuple[str, str], here: str | None) -> bool:
        """Whether a value of the line counts though it has no clock of its own.

        Args:
            part: the field, metadata key or tag.
            here: the stamp of the value that is here.
        """
        told = self._winners.get(part)
        if here is None:
            return told is None
        if told is not None:
            return told == here  # the same moment, another value: somebody changed it in the file
        return reading_writer(here[:29]) == IMPORTER

    def _put_anchors(self) -> None:
        """Anchors that the line's history does not tell of; those it tells of but are gone are dropped."""
        told = {str(entry.data.get("anchor")) for entry in self._history if entry.op == AnchorPut.op}
        listed: set[str] = set()
        for raw in objects(self._line.get("anchors")):
            anchor_id = raw.get("id")
            if not isinstance(anchor_id, str) or not anchor_id:
                anchor_id = short_hash(self._id, json.dumps(raw.get("birth"), sort_keys=True))
            listed.add(anchor_id)
            state = self._world.state
            if anchor_id in told or state.anchor(anchor_id) or state.is_anchor_dropped(anchor_id):
                continue
            self._put_anchor(anchor_id, raw)
        replaced = {str(entry.data.get("supersedes")) for entry in self._history if entry.op == AnchorPut.op}
        dropped = {str(entry.data.get("anchor")) for entry in self._history if entry.op == AnchorDrop.op}
        for anchor_id in sorted(told - listed):
            gone = anchor_id in replaced or anchor_id in dropped
            if not gone and not self._world.state.is_anchor_dropped(anchor_id):
                self._add(AnchorDrop(anchor=anchor_id))

    def _put_anchor(self, anchor_id: str, raw: Json) -> None:
        fields = {"anchor": anchor_id, "memory": self._id, **anchor_fields(raw)}
        try:
            put = AnchorPut.model_validate(fields)
        except ValidationError:
            born = raw.get("birth")
            found = self._resolved(born) if isinstance(born, dict) else None
            birth = None if found is None else self._world.birth(found)
            if birth is None:
                self._plan.warnings.append("anchors: one tells too little to be found again; it is left out")
                return
            put = AnchorPut(anchor=anchor_id, memory=self._id, birth=BirthRecord.of(birth))
        self._add(put)
        for model, name in PLACES:
            for place in objects(raw.get(name)):
                try:
                    self._add(model.model_validate({"anchor": anchor_id, **state_fields(place)}))
                except ValidationError:
                    self._plan.warnings.append(f"anchors: one of {name} is no place; it is left out")

    def _put_at(self) -> None:
        at = self._line.get("at")
        if at is None:
            return
        if not isinstance(at, dict) or not isinstance(at.get("file"), str):
            raise Skip('at: must be an object with "file", and "line" or "qualname"')
        if self._world.state.anchors_of(self._id) or self._anchored():
            return
        key = self._resolved(at)
        birth = None if key is None else self._world.birth(key)
        if key is None or birth is None:
            self._plan.warnings.append(f"at: there is no file {at['file']} here; the memory is on no code")
            return
        if at.get("qualname") and not key.qualname:
            self._plan.warnings.append(f"at: {key.file} has no {at['qualname']}; the memory is on the file")
        self._add(AnchorPut(anchor=new_ulid(), memory=self._id, birth=BirthRecord.of(birth)))

    def _anchored(self) -> bool:
        """Whether the memory has, or ever had, an anchor."""
        ops = (entry.op for entry in self._world.state.history(self._id))
        return any(op.startswith("anchor.") for op in ops)

    def _resolved(self, at: Json) -> SymbolKey | None:
        file = at.get("file")
        return self._world.resolve(self._moved(file), at) if isinstance(file, str) else None

    def _count_accesses(self) -> None:
        count = self._raw.get("accessCount")
        told = any(entry.op == MemoryAccess.op for entry in self._events)
        if not isinstance(count, int) or isinstance(count, bool) or count <= 0 or told or self._known:
            return
        at = read_time(self._raw.get("accessedAt")) or self._values["created_at"]
        self._add(MemoryAccess(counts={self._id: count}, at=at))

    def _put_edges(self) -> None:
        told = {
            tuple(str(entry.data.get(name)) for name in ("source", "target", "type"))
            for entry in self._history
            if entry.op in {EdgePut.op, EdgeDrop.op}
        }
        for raw in objects(self._line.get("edges")):
            key = tuple(str(raw.get(name)) for name in ("sourceId", "targetId", "type"))
            if key in told or self._id not in key[:2]:
                continue
            if self._history and key[2] == CO_ACTIVATED:
                continue  # its recalls stand in the line of one of the two
            try:
                edge = EdgePut.model_validate(
                    {
                        "source": raw.get("sourceId"),
                        "target": raw.get("targetId"),
                        "type": raw.get("type"),
                        "weight": raw.get("weight", 1.0),
                        "created_at": raw.get("createdAt"),
                    }
                )
            except ValidationError:
                self._plan.warnings.append("edges: one is no edge; it is left out")
                continue
            self._plan.edges.append(edge)

    def _add(self, data: EventData, after: str = "") -> None:
        """One event without a clock of its own; later than the stamp `after`."""
        created = self._values.get("created_at")
        is_first = self._known is None and isinstance(created, datetime) and created <= self._now
        moment = cast("datetime", created) if is_first else self._now
        if after and reading_at(moment, IMPORTER) <= after[:29]:
            moment = reading_time(after[:29]) + timedelta(milliseconds=1)
        event = Event(new_ulid(), reading_at(moment, IMPORTER), data)
        self._plan.items.append(with_paths(event, self._moved))

    def _moved(self, path: str) -> str:
        return self._world.moved.get(path, path)


def on_same_place(memory: Memory, key: SymbolKey | None, state: MergedState) -> bool:
    """Whether a memory is on the place that a line without an id names: then it is the same memory."""
    explicit = [anchor for anchor in state.anchors_of(memory.id) if anchor.evidence is None]
    if key is None:
        return not explicit
    return any(
        key in {anchor.birth.state.key, *(alias.key for alias in anchor.aliases)} for anchor in explicit
    )


def _newest(stamps: Stamps) -> str:
    found = [*stamps.fields.values(), *stamps.metadata.values(), *stamps.tags.values()]
    return max(found, default="")

"""The journal's events: one model an op, the exact line format, conversions to and from core values.

A line is `{"v":1,"id":<ULID>,"clock":<reading>,"op":…,"data":{…},"sum":"<8 hex>"}`, UTF-8, compact; `sum` is
the CRC32 of the bytes before `,"sum"`. Fields that a newer version added are ignored, ops that it added are
skipped.
What events *mean* together is `store/merge.py`'s; files and locks are `store/journal.py`'s.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeAlias, TypeVar, cast, get_args

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from mnemolens.core.clock import is_reading, reading_writer
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Birth, CodeState, Evidence, LinkContext, Memory, Origin
from mnemolens.core.symbols import SymbolKey, SymbolKind

VERSION: Final = 1

MAX_DEPTH: Final = 64
"""How deep metadata may be nested: well below what the parser takes, so that what is written can be read."""

MEMORY_FIELDS: Final = (
    "type",
    "title",
    "content",
    "importance",
    "created_at",
    "session_id",
    "agent_id",
    "author",
    "parent_id",
    "pinned",
    "expires_at",
    "due_at",
    "trigger",
    "born",
    "token_count",
    "content_hash",
)
"""What `memory.put` may set. Status, tags, metadata and accesses have ways of their own."""


# Records inside events -----------------------------------------------------------------------------


class _Record(BaseModel):
    # Deferred: a short command reads two or three of the twenty ops, and building one takes a millisecond.
    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="constants", defer_build=True)


class Place(_Record):
    """A symbol's identity in JSON."""

    file: str
    qualname: str
    ordinal: int

    @classmethod
    def of(cls, key: SymbolKey) -> Self:
        """The record of a key."""
        return cls(file=key.file, qualname=key.qualname, ordinal=key.ordinal)

    @property
    def key(self) -> SymbolKey:
        """The key of the record."""
        return SymbolKey(self.file, self.qualname, self.ordinal)


class BirthRecord(_Record):
    """`core.memories.Birth`, flat."""

    file: str
    qualname: str
    ordinal: int
    kind: str
    signature: str
    full_hash: str
    body_hash: str
    fingerprint: str
    token_count: int
    neighbours: tuple[str, str]
    snippet: str
    commit: str | None
    branch: str | None
    algo: int

    @classmethod
    def of(cls, birth: Birth) -> Self:
        """The record of a birth."""
        state = birth.state
        return cls(
            file=state.key.file,
            qualname=state.key.qualname,
            ordinal=state.key.ordinal,
            kind=birth.kind,
            signature=birth.signature,
            full_hash=state.full_hash,
            body_hash=state.body_hash,
            fingerprint=state.fingerprint,
            token_count=birth.token_count,
            neighbours=birth.neighbours,
            snippet=birth.snippet,
            commit=state.commit,
            branch=birth.branch,
            algo=birth.algo,
        )

    def birth(self) -> Birth:
        """The birth of the record."""
        return Birth(
            state=CodeState(
                SymbolKey(self.file, self.qualname, self.ordinal),
                self.full_hash,
                self.body_hash,
                self.fingerprint,
                self.commit,
            ),
            kind=cast("SymbolKind", self.kind),
            signature=self.signature,
            token_count=self.token_count,
            neighbours=self.neighbours,
            snippet=self.snippet,
            branch=self.branch,
            algo=self.algo,
        )


class EvidenceRecord(_Record):
    """`core.memories.Evidence` in JSON."""

    field: str
    start: int
    end: int
    rule: str
    text: str

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """The record of an evidence."""
        return cls(
            field=evidence.field,
            start=evidence.start,
            end=evidence.end,
            rule=evidence.rule,
            text=evidence.text,
        )

    def evidence(self) -> Evidence:
        """The evidence of the record."""
        return Evidence(self.field, self.start, self.end, self.rule, self.text)


# One model an op -----------------------------------------------------------------------------------


class _Data(_Record):
    """Common to all ops.

    Attributes:
        by: who did it (an author or an agent), for the history; None when unknown.
    """

    op: ClassVar[str]

    by: str | None = None


class MemoryPut(_Data):
    """Create or edit a memory; build it with `put_memory`, which checks what goes in."""

    op: ClassVar[str] = "memory.put"
    memory: str
    set: dict[str, Any] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict)
    tags_add: tuple[str, ...] = ()
    tags_remove: tuple[str, ...] = ()


class _OfMemory(_Data):
    memory: str


class MemoryForget(_OfMemory):
    """Hide a memory; it can be restored."""

    op: ClassVar[str] = "memory.forget"


class MemoryRestore(_OfMemory):
    """Make a forgotten or done memory active again."""

    op: ClassVar[str] = "memory.restore"


class MemoryDone(_OfMemory):
    """A prospective memory has been acted on."""

    op: ClassVar[str] = "memory.done"


class MemoryPurge(_OfMemory):
    """Remove a memory for good. Terminal."""

    op: ClassVar[str] = "memory.purge"


class MemoryAccess(_Data):
    """Accesses, cumulative in the segment that holds the event; `Journal.access` makes it and keeps count."""

    op: ClassVar[str] = "memory.access"
    counts: dict[str, int]
    at: AwareDatetime


class MemoryTogether(_Data):
    """Memories recalled together; `rate` is added to the CO_ACTIVATED weight of each pair."""

    op: ClassVar[str] = "memory.together"
    memories: tuple[str, ...]
    rate: float = Field(allow_inf_nan=False)


class AnchorPut(_Data):
    """Anchor a memory to a symbol.

    Attributes:
        rule: of a derived anchor, the linker's rule that made it.
        supersedes: the anchor that this one replaces; dropped by this same event.
    """

    op: ClassVar[str] = "anchor.put"
    anchor: str
    memory: str
    birth: BirthRecord
    context: str = "captured_here"
    relevance: float = Field(default=1.0, allow_inf_nan=False)
    rule: str | None = None
    evidence: EvidenceRecord | None = None
    supersedes: str | None = None


class AnchorDrop(_Data):
    """Take an anchor away. Terminal."""

    op: ClassVar[str] = "anchor.drop"
    anchor: str


class _AnchorPlace(_Data):
    anchor: str
    place: Place
    full_hash: str = ""
    body_hash: str = ""
    fingerprint: str = ""
    commit: str | None = None

    @classmethod
    def of(cls, anchor: str, state: CodeState, by: str | None = None) -> Self:
        """The event for the code at a place as it is now."""
        return cls(
            by=by,
            anchor=anchor,
            place=Place.of(state.key),
            full_hash=state.full_hash,
            body_hash=state.body_hash,
            fingerprint=state.fingerprint,
            commit=state.commit,
        )

    def state(self) -> CodeState:
        """What the code looked like."""
        return CodeState(self.place.key, self.full_hash, self.body_hash, self.fingerprint, self.commit)


class AnchorAlias(_AnchorPlace):
    """One more place where the anchor's code is known to be.

    Attributes:
        chosen: a user said so, which takes back a refusal; what was merely found does not.
    """

    op: ClassVar[str] = "anchor.alias"
    chosen: bool = False


class AnchorUnalias(_AnchorPlace):
    """The anchor's code is not there: a standing refusal of that place."""

    op: ClassVar[str] = "anchor.unalias"


class AnchorConfirm(_AnchorPlace):
    """A user looked: the memory is still true of the code as it is now."""

    op: ClassVar[str] = "anchor.confirm"


class _LinkChoice(_Data):
    memory: str
    evidence: str
    name: str


class LinkDrop(_LinkChoice):
    """The text `evidence` of this memory does not mean the symbol with the id `name`: a standing refusal."""

    op: ClassVar[str] = "link.drop"


class LinkAllow(_LinkChoice):
    """Takes a `link.drop` back."""

    op: ClassVar[str] = "link.allow"


class EdgePut(_Data):
    """An edge between two memories, keyed (source, target, type)."""

    op: ClassVar[str] = "edge.put"
    source: str
    target: str
    type: str
    weight: float = Field(allow_inf_nan=False)
    created_at: AwareDatetime | None = None


class EdgeDrop(_Data):
    """Take an edge away."""

    op: ClassVar[str] = "edge.drop"
    source: str
    target: str
    type: str


class NodePut(_Data):
    """A node of the memory graph that has metadata of its own."""

    op: ClassVar[str] = "node.put"
    node: str
    meta: dict[str, Any] = Field(default_factory=dict)


class NodeDrop(_Data):
    """Take a node, and every edge it has so far, out of the memory graph."""

    op: ClassVar[str] = "node.drop"
    node: str


class SuggestionRefuse(_Data):
    """Do not suggest this place for this memory again."""

    op: ClassVar[str] = "suggestion.refuse"
    memory: str
    place: Place


EventData: TypeAlias = (
    MemoryPut
    | MemoryForget
    | MemoryRestore
    | MemoryDone
    | MemoryPurge
    | MemoryAccess
    | MemoryTogether
    | AnchorPut
    | AnchorDrop
    | AnchorAlias
    | AnchorUnalias
    | AnchorConfirm
    | LinkDrop
    | LinkAllow
    | EdgePut
    | EdgeDrop
    | NodePut
    | NodeDrop
    | SuggestionRefuse
)

MODELS: Final[Mapping[str, type[EventData]]] = {model.op: model for model in get_args(EventData)}
"""The model of each op."""


class Event(NamedTuple):
    """One event as it stands in a segment.

    Attributes:
        id: ULID, unique over all segments.
        clock: hybrid clock reading, which orders it.
    """

    id: str
    clock: str
    data: EventData

    @property
    def writer(self) -> str:
        """The segment it was written to."""
        return reading_writer(self.clock)


class Skipped(NamedTuple):
    """A line that is not an event we know; kept in the file, never fatal.

    Attributes:
        reason: one clause, without anything of the line's text but its op and version.
    """

    reason: str


# Lines ---------------------------------------------------------------------------------------------

_SUM_HEAD: Final = b',"sum":"'
_SUM_LENGTH: Final = len(_SUM_HEAD) + 8 + len(b'"}')


class Payload(NamedTuple):
    """An event's data ready to be written, and as every reader will see it."""

    data: EventData
    text: bytes


def prepare(data: EventData) -> Payload:
    """Check that `data` can be written and read again.

    Lone surrogates, which no UTF-8 file can hold, become U+FFFD.

    Raises:
        ValueError: it is not JSON (NaN, an object of another kind) or nested too deeply.
    """
    try:
        text = json.dumps(
            data.model_dump(mode="json", exclude_defaults=True),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
    except RecursionError:
        raise ValueError(f"{data.op}: nested too deeply") from None
    encoded = text.encode("utf-8", "surrogatepass")
    try:
        encoded.decode()
    except UnicodeDecodeError:
        encoded = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return Payload(type(data).model_validate(from_json(encoded)), encoded)


def encode_line(event_id: str, clock: str, payload: Payload) -> bytes:
    """The line of an event, without its newline."""
    head = f'{{"v":{VERSION},"id":"{event_id}","clock":"{clock}","op":"{payload.data.op}","data":'.encode()
    body = head + payload.text
    return body + _SUM_HEAD + f'{zlib.crc32(body):08x}"}}'.encode()


def decode_line(line: bytes) -> Event | Skipped:
    """The event of a line (without its newline), or why there is none."""
    try:
        return _decode(line.removesuffix(b"\r"))  # an editor may have made it CRLF
    except _Unreadable as error:
        return Skipped(str(error))


class _Unreadable(Exception):
    """Why a line is skipped."""


def _decode(line: bytes) -> Event:
    body = line[:-_SUM_LENGTH]
    if line[len(body) :] != _SUM_HEAD + f'{zlib.crc32(body):08x}"}}'.encode():
        raise _Unreadable("torn or corrupt: its checksum does not match")
    try:
        raw = from_json(line)
    except ValueError:
        raise _Unreadable("not JSON") from None
    if not isinstance(raw, dict):
        raise _Unreadable("not an object")
    if raw.get("v") != VERSION:
        raise _Unreadable(f"unknown version {str(raw.get('v'))[:20]!r}")
    op = raw.get("op")
    model = MODELS.get(op) if isinstance(op, str) else None
    if model is None:
        raise _Unreadable(f"unknown op {str(op)[:40]!r}")
    event_id, clock = raw.get("id"), raw.get("clock")
    if not isinstance(event_id, str) or not isinstance(clock, str) or not is_reading(clock):
        raise _Unreadable(f"{op}: no id or no clock")
    try:
        return Event(event_id, clock, model.model_validate(raw.get("data")))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise _Unreadable(f"{op}: wrong or missing {where or 'data'}") from None


# Building and reading `memory.put` -----------------------------------------------------------------


def put_memory(
    memory_id: str,
    fields: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
    tags_add: Iterable[str] = (),
    tags_remove: Iterable[str] = (),
    by: str | None = None,
) -> MemoryPut:
    """A `memory.put` from core values.

    Args:
        memory_id: any string.
        fields: names of `MEMORY_FIELDS` to values as `core.memories.Memory` has them; None clears.
        metadata: keys to set; None removes a key.
        tags_add: tags to put on.
        tags_remove: tags to take off; one that is in both lists stays on.
        by: who does it, for the history.

    Raises:
        InvalidArgument: an unknown field, or a value that can't be stored; names it.
    """
    unknown = [name for name in fields if name not in MEMORY_FIELDS]
    if unknown:
        raise InvalidArgument(unknown[0], "is not a field that can be set")
    values = {name: _to_json(name, value) for name, value in fields.items()}
    meta = {key: _to_json(f"metadata.{key}", value) for key, value in (metadata or {}).items()}
    return MemoryPut(
        memory=memory_id,
        set=values,
        meta=meta,
        tags_add=tuple(tags_add),
        tags_remove=tuple(tags_remove),
        by=by,
    )


def memory_fields(memory: Memory) -> dict[str, Any]:
    """What a memory's first event sets: the fields that `put_memory` takes, those that are None left out."""
    values = {name: getattr(memory, name) for name in MEMORY_FIELDS}
    return {name: value for name, value in values.items() if value is not None}


def read_time(value: object) -> datetime | None:
    """A stored time, aware and UTC; None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_origin(value: object) -> Origin:
    """A stored `born`; an empty one for what is none."""
    if not isinstance(value, dict):
        return Origin()
    commit, branch = value.get("commit"), value.get("branch")
    return Origin(
        commit if isinstance(commit, str) else None,
        branch if isinstance(branch, str) else None,
    )


def read_context(value: str) -> LinkContext:
    """An anchor's context; an unknown one (of a newer version) counts as the weakest derived link."""
    return cast("LinkContext", value) if value in get_args(LinkContext) else "content_file_match"


def _to_json(name: str, value: Any) -> Any:
    """`value` as JSON holds it; checked here so that the error names the field."""
    if isinstance(value, datetime):
        # A naive datetime is local time, which astimezone assumes.
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Origin):
        return {"commit": value.commit, "branch": value.branch}
    if _too_deep(value, MAX_DEPTH):
        raise InvalidArgument(name, f"is nested more than {MAX_DEPTH} deep")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidArgument(name, "is not JSON") from None
    return value


def _too_deep(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list | tuple):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_too_deep(item, depth - 1) for item in inner)


# Paths ---------------------------------------------------------------------------------------------

_D = TypeVar("_D", bound=BaseModel)


def with_paths(event: Event, move: Callable[[str], str]) -> Event:
    """The event with `move` applied to every code path in it; the same object where there is none."""
    data = event.data
    if isinstance(data, AnchorPut):
        moved: EventData = _copy(data, birth=_copy(data.birth, file=move(data.birth.file)))
    elif isinstance(data, AnchorAlias | AnchorUnalias | AnchorConfirm | SuggestionRefuse):
        moved = _copy(data, place=_copy(data.place, file=move(data.place.file)))
    elif isinstance(data, LinkDrop | LinkAllow):
        file, mark, qualname = data.name.partition("::")
        moved = _copy(data, name=move(file) + mark + qualname)
    else:
        return event
    return event._replace(data=moved)


def _copy(model: _D, **changes: object) -> _D:
    return model.model_copy(update=changes)

"""The arguments of every command: one model each, and errors in words that name the field to change.

Unknown fields are refused: a misspelt `tag` that is silently dropped costs an agent more than an error does.
Inside protocol values (positions, ranges, places) unknown fields are let through, as clients add their own.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from lsprotocol import types
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import MemoryKind
from mnemolens.core.symbols import SymbolKey
from mnemolens.lsp.positions import whole_text

MAX_UINT = 2**31 - 1
_NOT_CHANGES = {"root", "id", "allow_secret"}
_ORDINAL = re.compile("[0-9]{1,9}")


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be a time as text, such as 2026-11-30T12:00:00Z")  # noqa: TRY004  pydantic wants it
    try:
        # A naive time is local time, which astimezone takes it for.
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{value[:60]!r} is no ISO 8601 time, such as 2026-11-30T12:00:00Z") from None


def _json_texts(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole_text(str(key)): _json_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_texts(item) for item in value]
    return value


def _lua_object(value: Any) -> Any:
    """An empty list where an object belongs is an empty object: Lua can't tell the two apart."""
    return {} if value == [] else value


Text = Annotated[str, AfterValidator(whole_text)]
Id = Annotated[str, Field(min_length=1), AfterValidator(whole_text)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(lambda value: _json_texts(_lua_object(value)))]


class _Value(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class PositionValue(_Value):
    """An LSP position in the negotiated encoding."""

    line: int = Field(ge=0, le=MAX_UINT)
    character: int = Field(ge=0, le=MAX_UINT)

    @property
    def lsp(self) -> types.Position:
        """As the protocol library has it."""
        return types.Position(self.line, self.character)


class RangeValue(_Value):
    """An LSP range."""

    start: PositionValue
    end: PositionValue

    @property
    def lsp(self) -> types.Range:
        """As the protocol library has it."""
        return types.Range(self.start.lsp, self.end.lsp)


class PlaceValue(_Value):
    """A symbol place as results hold it; only its identity counts."""

    file: Text
    qualname: Text = ""
    ordinal: int = Field(default=0, ge=0, le=MAX_UINT)

    @property
    def key(self) -> SymbolKey:
        """The symbol."""
        return SymbolKey(self.file, self.qualname, self.ordinal)


class TriggerValue(BaseModel):
    """When a prospective memory is due."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    on: Literal["change", "open", "merge"]
    branch: Text | None = None


class Arguments(BaseModel):
    """What every command takes: `root` names the folder where no `uri` does."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)

    root: Text | None = None


class AtArguments(Arguments):
    """Commands about a place."""

    uri: Text | None = None
    position: PositionValue | None = None

    @model_validator(mode="after")
    def _position_needs_uri(self) -> "AtArguments":
        if self.position is not None and self.uri is None:
            raise InvalidArgument("uri", "is missing: a position needs one")
        return self


class CaptureArguments(AtArguments):
    """`memory.capture` and `memory.preview`."""

    content: Text
    range: RangeValue | None = None
    title: Text | None = None
    type: MemoryKind = "semantic"
    tags: list[Text] = Field(default_factory=list)
    importance: Unit = 0.5
    metadata: JsonObject = Field(default_factory=dict)
    session_id: Text | None = None
    agent_id: Text | None = None
    author: Text | None = None
    parent_id: Id | None = None
    expires_at: Moment | None = None
    due_at: Moment | None = None
    trigger: TriggerValue | None = None
    id: Id | None = None
    allow_secret: bool = False


class IdArguments(Arguments):
    """Commands about one memory."""

    id: Id


class SessionArguments(Arguments):
    """`session.forget` and `.restore`; and `import.undo`, since an import is a session too."""

    session_id: Id


class UpdateArguments(IdArguments):
    """`memory.update`: what is given is changed, null clears where nothing is allowed."""

    title: Text | None = None
    content: Text | None = None
    type: MemoryKind | None = None
    tags: list[Text] | None = None
    importance: Unit | None = None
    metadata: JsonObject | None = None
    pinned: bool | None = None
    parent_id: Id | None = None
    expires_at: Moment | None = None
    due_at: Moment | None = None
    trigger: TriggerValue | None = None
    allow_secret: bool = False

    @model_validator(mode="after")
    def _null_only_where_it_clears(self) -> "UpdateArguments":
        clearable = {"title", "parent_id", "expires_at", "due_at", "trigger"}
        for name in self.model_fields_set - clearable - _NOT_CHANGES:
            if getattr(self, name) is None:
                raise InvalidArgument(to_camel(name), "can't be null")
        return self

    @property
    def changes(self) -> dict[str, Any]:
        """The fields that were given, under their names in the engine."""
        given = {name: getattr(self, name) for name in self.model_fields_set - _NOT_CHANGES}
        if self.trigger is not None:
            given["trigger"] = self.trigger.model_dump(exclude_none=True)
        return given


class AccessArguments(Arguments):
    """`memory.access`."""

    ids: list[Id] = Field(min_length=1, max_length=1000)


class ConfirmArguments(IdArguments):
    """`memory.confirm`: one anchor, or all that are placed."""

    anchor_id: Id | None = None


class SnoozeArguments(IdArguments):
    """`memory.snooze`: until then, or for a day."""

    due_at: Moment | None = None


class ReanchorArguments(AtArguments):
    """`memory.reanchor`: to a position, a whole file, or one of the offered candidates."""

    id: Id
    anchor_id: Id | None = None
    candidate: PlaceValue | Text | None = None

    @model_validator(mode="after")
    def _one_target(self) -> "ReanchorArguments":
        if self.uri is None and self.candidate is None:
            raise InvalidArgument("uri", "is missing: name a uri with a position, or a candidate")
        if self.uri is not None and self.candidate is not None:
            raise InvalidArgument("candidate", "can't stand beside a uri")
        return self

    @property
    def candidate_key(self) -> SymbolKey | None:
        """The candidate's symbol; given as a place, or as its id `path::qualname#ordinal`."""
        if self.candidate is None or isinstance(self.candidate, PlaceValue):
            return None if self.candidate is None else self.candidate.key
        return symbol_of_id(self.candidate)


class LinkArguments(AtArguments):
    """`memory.link` and `memory.unlink`: to code, or to another memory."""

    id: Id
    target_id: Id | None = None
    edge_type: Text | None = None
    weight: Unit | None = None
    relevance: Unit | None = None

    @model_validator(mode="after")
    def _one_target(self) -> "LinkArguments":
        if self.uri is None and self.target_id is None:
            raise InvalidArgument("uri", "is missing: name a uri with a position, or a targetId")
        if self.uri is not None and self.target_id is not None:
            raise InvalidArgument("targetId", "can't stand beside a uri")
        return self


class OpenArguments(AtArguments):
    """`memory.open`: one memory, several, or those on a place."""

    id: Id | None = None
    ids: list[Id] | None = Field(default=None, min_length=1, max_length=100)

    @model_validator(mode="after")
    def _something(self) -> "OpenArguments":
        if self.id is None and self.ids is None and self.uri is None:
            raise InvalidArgument("id", "is missing: name an id, ids, or a uri with a position")
        return self

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The memories that were named."""
        return tuple(self.ids or ()) + ((self.id,) if self.id is not None else ())


A = TypeVar("A", bound=Arguments)


def parse(command: str, model: type[A], arguments: Any) -> A:
    """The arguments of one call.

    Args:
        command: the command's id, for messages.
        model: what the command takes.
        arguments: what came: nothing, or a list with one object (or null).

    Raises:
        InvalidArgument: something is missing, wrong or unknown; names it.
    """
    given = [argument for argument in arguments or () if argument is not None]
    if len(given) > 1:
        raise InvalidArgument("arguments", f"{command} takes one object, not {len(given)} values")
    value = _lua_object(given[0]) if given else {}
    if not isinstance(value, dict):
        raise InvalidArgument("arguments", f"{command} takes one object, not {type(value).__name__}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _in_words(command, model, error.errors(include_url=False)) from None


def symbol_of_id(symbol: str) -> SymbolKey:
    """The key of `path::qualname#ordinal`; a bare path is the file's."""
    file, _, rest = symbol.partition("::")
    qualname, mark, ordinal = rest.rpartition("#")
    if mark and _ORDINAL.fullmatch(ordinal):
        return SymbolKey(file, qualname, int(ordinal))
    return SymbolKey(file, rest)


def _in_words(command: str, model: type[Arguments], errors: list[ErrorDetails]) -> InvalidArgument:
    # A missing field explains more than what follows from it, and a union reports each of its members.
    first = min(errors, key=lambda error: error["type"] != "missing")
    field = ".".join(str(part) for part in first["loc"] if part not in {"str", "PlaceValue"}) or "arguments"
    kind = first["type"]
    if kind == "missing":
        return InvalidArgument(field, "is missing")
    if kind == "extra_forbidden":
        whole, fields = command, model.model_fields
        if len(first["loc"]) > 1:  # a trigger is the one argument that refuses unknown fields of its own
            whole, fields = "trigger", TriggerValue.model_fields
        known = ", ".join(info.alias or name for name, info in fields.items())
        return InvalidArgument(field, f"is not an argument of {whole}, which takes {known}")
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return InvalidArgument(field, message[:1].lower() + message[1:])

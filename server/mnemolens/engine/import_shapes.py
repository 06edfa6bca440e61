"""What stands in a line of an export, or of the least form that people and programs write, read as values.

What it means here is `import_lines.py`'s.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, cast, get_args

from mnemolens.core.clock import MAX_AHEAD_MS, is_reading, reading_at
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.events import MODELS, AnchorAlias, AnchorConfirm, AnchorUnalias, MemoryPurge, read_time
from mnemolens.core.ids import short_hash, stable_ulid
from mnemolens.core.symbols import SymbolKind
from mnemolens.core.views import Json
from mnemolens.engine.capture import checked, normalised_hash

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
PLACES: Final[tuple[tuple[type[AnchorAlias | AnchorUnalias | AnchorConfirm], str], ...]] = (
    (AnchorAlias, "aliases"),
    (AnchorUnalias, "refused"),
    (AnchorConfirm, "confirmations"),
)
"""An anchor's lists of places, and the events that make them."""


class Skip(Exception):
    """Why a line is not taken: one clause for the user."""


def paths_of(line: Json) -> Iterator[str]:
    """Every code path that stands in a line."""
    at = line.get("at")
    if isinstance(at, dict) and isinstance(at.get("file"), str):
        yield at["file"]
    for anchor in objects(line.get("anchors")):
        for place in (anchor.get("birth"), *listed(anchor)):
            if isinstance(place, dict) and isinstance(place.get("file"), str):
                yield place["file"]
    for entry in (*objects(line.get("history")), *objects(line.get("events"))):
        data = entry.get("data")
        if not isinstance(data, dict):
            continue
        for place in (data.get("birth"), data.get("place")):
            if isinstance(place, dict) and isinstance(place.get("file"), str):
                yield place["file"]
        if isinstance(data.get("name"), str):
            yield data["name"].partition("::")[0]


def id_of(line: Json) -> str:
    """The id of the line's memory or node: the one given, else one that the line's words determine.

    Raises:
        Skip: there is neither a memory nor a node.
    """
    memory = line.get("memory")
    if memory is None and isinstance(line.get("node"), str):
        return str(line["node"])
    if not isinstance(memory, dict):
        raise Skip('it has no "memory" object')
    given = memory.get("id")
    if given is not None:
        return cast("str", check("id", given))
    content = check("content", memory.get("content"))
    created = read_time(memory.get("createdAt"))
    since = 0 if created is None else max(0, (created - _EPOCH) // timedelta(milliseconds=1))
    at = json.dumps(line.get("at"), sort_keys=True)
    return stable_ulid(since, normalised_hash(content), at)


class Entry(NamedTuple):
    """One entry of a line's history or events."""

    id: str
    clock: str
    op: str
    by: str | None
    fields: tuple[str, ...]
    data: Json

    @property
    def stamp(self) -> str:
        """What orders it among others."""
        return self.clock + self.id


def entries_of(line: Json, key: str, memory_id: str, now: datetime) -> list[Entry]:
    """The entries of a line's list that can be made events again, oldest first.

    Args:
        line: the line.
        key: "history" or "events".
        memory_id: of whom the line tells.
        now: the time of the import.
    """
    limit = reading_at(now + timedelta(milliseconds=MAX_AHEAD_MS), "~")
    found = []
    for raw in objects(line.get(key)):
        clock, op, data = raw.get("clock"), raw.get("op"), raw.get("data")
        if not isinstance(clock, str) or not is_reading(clock) or clock > limit:
            continue  # one far ahead would win against every later edit: it counts as no clock
        if not isinstance(op, str) or op not in MODELS or op == MemoryPurge.op:
            continue
        by, given = raw.get("by"), raw.get("id")
        fields = raw.get("fields")
        found.append(
            Entry(
                given if isinstance(given, str) and given else short_hash(memory_id, clock, op),
                clock,
                op,
                by if isinstance(by, str) and by else None,
                tuple(snake(one) for one in fields if isinstance(one, str))
                if isinstance(fields, list)
                else (),
                data if isinstance(data, dict) else {},
            )
        )
    return sorted(found, key=lambda entry: entry.stamp)


def check(name: str, value: Any) -> Any:
    """The value as a capture checks it.

    Raises:
        Skip: it is not allowed.
    """
    try:
        return checked(name, value)
    except InvalidArgument as error:
        raise Skip(str(error)) from None


def history_tags(entries: Iterable[Entry]) -> Iterator[str]:
    """Every tag that was ever added or removed."""
    for entry in entries:
        yield from texts(entry.data.get("tagsAdd"))
        yield from texts(entry.data.get("tagsRemove"))


def anchor_fields(raw: Json) -> dict[str, Any]:
    """The fields of `anchor.put` that an anchor in a line tells."""
    birth = raw.get("birth")
    fields: dict[str, Any] = {"birth": snake_keys("birth", birth)}
    if isinstance(birth, dict) and str(birth.get("kind")) not in get_args(SymbolKind):
        fields["birth"] = None
    for name in ("context", "relevance"):
        if raw.get(name) is not None:
            fields[name] = raw[name]
    evidence = raw.get("evidence")
    if isinstance(evidence, dict):
        fields["evidence"] = evidence
        fields["rule"] = evidence.get("rule")
    return fields


def state_fields(raw: Json) -> dict[str, Any]:
    """The fields of an anchor's place: the key under `place`, hashes beside it."""
    return {"place": raw, **{snake(name): value for name, value in raw.items()}}


def listed(anchor: Json) -> Iterator[object]:
    """All places in an anchor's lists."""
    for _, name in PLACES:
        yield from objects(anchor.get(name))


def objects(value: object) -> list[Json]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def texts(value: object) -> tuple[str, ...]:
    """The texts of a list; none of anything else."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def snake(name: str) -> str:
    """`createdAt` as `created_at`."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def snake_keys(field_name: str, value: Any) -> Any:
    """The value of a field with its keys, and those within, as events spell them."""
    if isinstance(value, dict) and field_name not in {"counts", "meta"}:
        return {snake(name): snake_keys(name, inner) for name, inner in value.items()}
    return value

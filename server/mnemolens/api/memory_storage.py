"""`MemoryStorage`: memories that are stored with a vector, and found again by vectors near theirs.

The memory is one like any other, kept in the journal; its vector is in the store's `vectors.sqlite`. What
else a `StoredMemory` says (its layer, its own counts and times) stands in the memory's metadata, under a key.
"""

import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from mnemolens.api.backend import KuzuBackend, written
from mnemolens.api.conversion import capture_request, number, share, text
from mnemolens.api.models import MemoryEntry
from mnemolens.api.time_decay import PREVIEW, MemoryLayer
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.ids import content_hash
from mnemolens.search.vectors import VectorIndex, unit
from mnemolens.store.vectors import GIVEN, Floats, Vectors, VectorStore

_KEY: Final = "stored_memory"
_FILE: Final = "vectors.sqlite"
_LAST_SECOND: Final = 253_402_300_800.0
"""The year 10000, which no calendar of ours reaches."""


@dataclass
class StoredMemory:
    """A memory with its vector. Times are seconds since 1970.

    Attributes:
        embedding: what the content means, as finite numbers; kept with single precision.
        layer: "core", "active", "long_term" or "archive", as its owner put it.
        base_importance: 0 to 1.
    """

    id: str
    content: str
    embedding: list[float]
    layer: str
    base_importance: float
    created_at: float
    last_accessed: float
    access_count: int
    token_count: int
    metadata: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON and the like."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A memory from what `to_dict` gave.

        Raises:
            InvalidArgument: a field is missing or unknown; names it.
        """
        names = [one.name for one in fields(cls)]
        for name in data:
            if name not in names:
                raise InvalidArgument(str(name), f"is not one of {', '.join(names)}")
        for name in names:
            if name not in data:
                raise InvalidArgument(name, "is missing")
        return cls(**data)

    def content_hash(self) -> str:
        """16 hex digits that equal contents have in common (of their SHA-256)."""
        return content_hash(self.content)

    @property
    def content_preview(self) -> str:
        """The content's first 100 characters."""
        return self.content[:PREVIEW]


class MemoryStorage:
    """Stores memories with vectors. Synchronous; any number of threads may use one.

    Use it in a `with` block, or call `close`. Nothing is written before the first memory is stored.

    Args:
        path: the store's folder; None for the one that belongs to the current folder's project.
        root: the folder whose code the memories may be about; None for the current folder's top level.
        model: what makes the vectors; those of different models are never compared.

    Raises:
        InvalidArgument: an argument is wrong; names it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        root: str | os.PathLike[str] | None = None,
        model: str = GIVEN,
    ) -> None:
        if not text("model", model):
            raise InvalidArgument("model", "is empty")
        self._backend = KuzuBackend(path, root=root)
        self._vectors = VectorStore(self._backend.path / _FILE)
        self._model = model
        self._lock = threading.RLock()
        self._known: _Known | None = None
        self._seen: tuple[int, int] | None = None  # the file's time and size when it was read

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the store; again is harmless."""
        self._vectors.close()
        self._backend.close()

    def store(self, memory: StoredMemory) -> list[str]:
        """Stores a memory and its vector; one of that id becomes what this says.

        Returns:
            What there is to tell, in sentences that name the other memory's id: that the same content is
            stored under another id, too. Nothing is replaced then but a memory of the same id.

        Raises:
            InvalidArgument: a field is wrong, the vector has another length than those of its model that are
                stored, or the content holds a secret; nothing is stored.
            StoreError: the store can't be written.
        """
        vector = _checked(memory)
        entry = MemoryEntry(
            id=memory.id,
            content=memory.content,
            importance=memory.base_importance,
            created_at=datetime.fromtimestamp(memory.created_at, UTC),
            metadata={**memory.metadata, _KEY: _kept(memory)},
        )
        request = capture_request(entry, allow_secret=False)
        with self._lock:
            known = self._up_to_date()
            if known is not None and known.index.dimension != len(vector):
                raise InvalidArgument(
                    "embedding", f"has {len(vector)} numbers, but those stored have {known.index.dimension}"
                )
            shared = self._backend._open()  # noqa: SLF001 - the classes are one surface
            workspace = shared.workspace

            async def work() -> list[str]:
                view = await written(shared, lambda: workspace.writing.store(request, datetime.now(UTC)))
                return list(view.warnings)

            warnings = shared.call(work)
            self._vectors.put_given(memory.id, vector, self._model)
        return warnings

    def retrieve_by_similarity(
        self, query_embedding: Sequence[float], layer: str | None = None, top_k: int = 20
    ) -> list[StoredMemory]:
        """The memories whose vectors are nearest to the query's, by cosine; every vector is looked at.

        Args:
            query_embedding: as long as the stored ones.
            layer: only memories of this layer; None for all.
            top_k: how many at most.

        Returns:
            The nearest first, equally near ones by id, with their whole content. Deleted and expired ones are
            left out.

        Raises:
            InvalidArgument: an argument is wrong; names it.
            StoreError: the store can't be read.
        """
        unit(query_embedding, "query_embedding")
        most = number("top_k", top_k, 0)
        wanted = None if layer is None else _layer(layer)
        with self._lock:
            known = self._up_to_date()
            if known is None:
                return []
            if len(query_embedding) != known.index.dimension:
                raise InvalidArgument(
                    "query_embedding",
                    f"has {len(query_embedding)} numbers, but those stored have {known.index.dimension}",
                )
            entries: dict[str, MemoryEntry | None] = {}

            def is_wanted(memory_id: str) -> bool:
                if memory_id not in entries:
                    entries[memory_id] = self._backend.get_memory_by_id(memory_id)
                entry = entries[memory_id]
                return entry is not None and wanted in {None, _storage_of(entry).get("layer")}

            near = known.index.nearest(query_embedding, most, is_wanted)
        found = ((entries[one.key], known.vector(one.key)) for one in near)
        return [_stored(entry, vector) for entry, vector in found if entry is not None]

    def _up_to_date(self) -> "_Known | None":
        """All vectors of the model; None where there are none. Read again when anybody has written some."""
        try:
            stat = (self._backend.path / _FILE).stat()
        except OSError:
            return None
        seen = (stat.st_mtime_ns, stat.st_size)
        if seen != self._seen:
            vectors = self._vectors.given(self._model)
            self._known = _Known(vectors) if vectors.memory_ids else None
            self._seen = seen
        return self._known


class _Known:
    """Vectors as they were given, and the index of them."""

    def __init__(self, vectors: Vectors) -> None:
        self.index = VectorIndex(vectors.rows.shape[1])
        self.index.put(zip(vectors.memory_ids, vectors.rows, strict=True))
        self._vectors = vectors
        self._row_of = {memory_id: row for row, memory_id in enumerate(vectors.memory_ids)}

    def vector(self, memory_id: str) -> list[float]:
        values: list[float] = self._vectors.rows[self._row_of[memory_id]].tolist()
        return values


def _kept(memory: StoredMemory) -> dict[str, Any]:
    """What an entry has no field for."""
    names = ("layer", "created_at", "last_accessed", "access_count", "token_count")
    return {name: getattr(memory, name) for name in names}


def _storage_of(entry: MemoryEntry) -> Mapping[str, Any]:
    kept = entry.metadata.get(_KEY)
    return kept if isinstance(kept, Mapping) else {}


def _stored(entry: MemoryEntry, vector: list[float]) -> StoredMemory:
    kept = _storage_of(entry)
    made = entry.created_at.timestamp() if entry.created_at is not None else 0.0
    used = entry.accessed_at.timestamp() if entry.access_count and entry.accessed_at is not None else 0.0
    return StoredMemory(
        id=entry.id,
        content=entry.content,
        embedding=vector,
        layer=str(kept.get("layer", MemoryLayer.ARCHIVE.value)),
        base_importance=entry.importance,
        created_at=float(kept.get("created_at", made)),
        last_accessed=max(float(kept.get("last_accessed", made)), used),
        access_count=int(kept.get("access_count", 0)) + entry.access_count,
        token_count=int(kept.get("token_count", 0)),
        metadata={key: value for key, value in entry.metadata.items() if key != _KEY},
    )


def _checked(memory: object) -> Floats:
    """The vector of a memory all of whose fields are right; text and metadata are the engine's to check."""
    if not isinstance(memory, StoredMemory):
        raise InvalidArgument("memory", f"must be a StoredMemory, not {type(memory).__name__}")
    _layer(memory.layer)
    for name in ("created_at", "last_accessed"):
        value = getattr(memory, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value < _LAST_SECOND:
            raise InvalidArgument(name, f"must be seconds since 1970, not {value!r}")
    for name in ("access_count", "token_count"):
        number(name, getattr(memory, name), 0)
    if not isinstance(memory.metadata, dict):
        raise InvalidArgument("metadata", f"must be a dict, not {type(memory.metadata).__name__}")
    if _KEY in memory.metadata:
        raise InvalidArgument("metadata", f"the key {_KEY!r} is kept for what a StoredMemory says")
    share("base_importance", memory.base_importance)
    unit(memory.embedding)
    return np.asarray(memory.embedding, dtype=np.float32)


def _layer(value: object) -> str:
    if value not in list(MemoryLayer):
        raise InvalidArgument("layer", f"{value!r} is not one of {', '.join(MemoryLayer)}")
    return str(value)

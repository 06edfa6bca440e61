"""What an importer found, and how a memory that came from it is marked.

A `Found` is the same thing again wherever its text stands in its file: its import id is made of the importer,
the file, the words and, among equals, their order. The mark is one metadata key of the memory, so that it is
edited, exported and merged as the memory is.
"""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from mnemolens.core.ids import new_ulid, short_hash
from mnemolens.core.memories import Memory, MemoryKind
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.engine.capture import normalised_hash
from mnemolens.engine.requests import CaptureRequest

Importer = Literal["todo", "agents"]

MARK = "import"
"""The metadata key under which an imported memory says where it came from."""

NO_AUTHOR = "import"
"""Stands for the author where the text names none: whoever runs an import did not write what it finds."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that may become a memory.

    Attributes:
        line: 0-based, where it begins in the file.
        symbol: what it is about; the file's key outside all symbols.
        position: a place in that symbol to capture at; None for the file.
        label: what it is called there: "TODO", "FIXME", …; the heading's path of a section.
        slot: where in the file it belongs, whatever its words: tells an edited text from another one.
        ordinal: 0, 1, 2, … among the same words of this importer in this file.
        details: what else is known, for the memory's metadata.
    """

    importer: Importer
    line: int
    symbol: SymbolKey
    position: Position | None
    type: MemoryKind
    title: str
    content: str
    label: str
    slot: str
    tags: tuple[str, ...]
    importance: float = 0.5
    author: str | None = None
    ordinal: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The file it stands in."""
        return self.symbol.file

    @property
    def text_hash(self) -> str:
        """Equal for the same words, however they are wrapped."""
        return normalised_hash(self.content)

    @property
    def import_id(self) -> str:
        """16 hex digits: the same in every process, and after the text moved within its file."""
        return short_hash(self.importer, self.file, self.label, self.text_hash, str(self.ordinal))

    @property
    def memory_id(self) -> str:
        """The id that its memory gets: two windows that import at once make one memory."""
        return f"{self.importer}-{self.import_id}"

    def metadata(self, batch: str, was: dict[str, Any] | None = None) -> dict[str, Any]:
        """The memory's metadata: the details, and the mark.

        Args:
            batch: the import that writes it.
            was: what an edit replaces, so that it can be undone.
        """
        mark: dict[str, Any] = {
            "id": self.import_id,
            "importer": self.importer,
            "file": self.file,
            "slot": self.slot,
            "hash": self.text_hash,
            "batch": batch,
        }
        if was is not None:
            mark["was"] = was
        return {**self.details, MARK: mark}

    def request(self, batch: str, memory_id: str | None = None) -> CaptureRequest:
        """The capture that stores it, as part of a batch."""
        return CaptureRequest(
            content=self.content,
            file=self.file,
            position=self.position,
            title=self.title,
            type=self.type,
            tags=self.tags,
            importance=self.importance,
            metadata=self.metadata(batch),
            session_id=batch,
            author=self.author or NO_AUTHOR,
            id=memory_id or self.memory_id,
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a memory came from; see `Found.metadata`."""

    id: str
    importer: str
    file: str
    slot: str
    hash: str
    batch: str
    was: dict[str, Any] | None

    @classmethod
    def of(cls, memory: Memory) -> "Mark | None":
        """The memory's mark; None for one that no importer made, or whose mark someone spoilt."""
        mark = memory.metadata.get(MARK)
        if not isinstance(mark, dict):
            return None
        texts = [mark.get(key) for key in ("id", "importer", "file", "slot", "hash", "batch")]
        if not all(isinstance(text, str) for text in texts):
            return None
        was = mark.get("was")
        id_, importer, file, slot, hash_, batch = map(str, texts)
        return cls(id_, importer, file, slot, hash_, batch, was if isinstance(was, dict) else None)


class Ordinals:
    """Counts equals, in the order in which they are shown."""

    def __init__(self) -> None:
        self._seen: Counter[Hashable] = Counter()

    def of(self, *what: str) -> int:
        """How many equals came before."""
        self._seen[what] += 1
        return self._seen[what] - 1


def new_batch() -> str:
    """The session id of one import, by which it is undone as one."""
    return f"import-{new_ulid()}"

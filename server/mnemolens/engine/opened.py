"""Memories as documents: `open/<id>.md`, written to be edited by hand and read back when saved.

Owns the document's form and nothing else: a YAML head between `---` lines, then the content as it is. Saving
compares with the text as it was written, so that only what the user changed is stored.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import yaml

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Memory
from mnemolens.store.opened import OpenedFolder

MAX_NAME = 100
_RULE = "---"
_HEAD_FIELDS = ("title", "type", "tags", "importance", "pinned")


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A memory that was written as a document.

    Attributes:
        shown: the fields as they were written, to tell what the user changed.
    """

    memory_id: str
    path: Path
    shown: dict[str, Any]


def file_name(memory_id: str) -> str:
    """The document's name: the id percent-encoded, hashed where that is over 100 bytes."""
    name = quote(memory_id, safe="")
    if name in {"", ".", ".."}:
        name = name.replace(".", "%2E")
    if len(name) > MAX_NAME:
        name = hashlib.sha256(memory_id.encode()).hexdigest()[:32]
    return f"{name}.md"


def fields_of(memory: Memory) -> dict[str, Any]:
    """The fields that the document shows."""
    return {
        "title": memory.title,
        "type": memory.type,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "pinned": memory.pinned,
        "content": _body(memory.content),
    }


def render(memory: Memory, notes: Iterable[str]) -> str:
    """The document's text.

    Args:
        memory: the memory.
        notes: lines about where it is and whether it is still true, shown as comments in the head.
    """
    shown = fields_of(memory)
    head = yaml.safe_dump(
        {name: shown[name] for name in _HEAD_FIELDS},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=1000,
    )
    comments = "".join(f"# {' '.join(note.split())}\n" for note in notes)
    return f"{_RULE}\n{comments}{head}{_RULE}\n\n{shown['content']}"


def parse(text: str) -> dict[str, Any]:
    """The fields that a saved document holds.

    Raises:
        InvalidArgument: the head is broken; the message says where.
    """
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if lines[0].strip() != _RULE or _RULE not in (line.rstrip() for line in lines[1:]):
        raise InvalidArgument("document", f"must begin with the memory's fields between two {_RULE} lines")
    end = next(at for at, line in enumerate(lines) if at and line.rstrip() == _RULE)
    try:
        head = yaml.safe_load("\n".join(lines[1:end])) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" on line {mark.line + 2}" if mark else ""
        raise InvalidArgument(
            "document", f"the head can't be read{where}: {getattr(error, 'problem', error)}"
        ) from None
    if not isinstance(head, dict):
        raise InvalidArgument("document", "the head must be lines of the form `name: value`")
    unknown = [str(name) for name in head if name not in _HEAD_FIELDS]
    if unknown:
        raise InvalidArgument(unknown[0], f"is no field; {', '.join(_HEAD_FIELDS)} are")
    fields: dict[str, Any] = {name: head[name] for name in _HEAD_FIELDS if name in head}
    if isinstance(fields.get("title"), int | float):
        fields["title"] = str(fields["title"])
    if "tags" in fields:
        tags = fields["tags"] if isinstance(fields["tags"], list) else [fields["tags"]]
        fields["tags"] = [str(tag) for tag in tags if tag is not None]
    fields["content"] = _body("\n".join(lines[end + 1 :]))
    return fields


def changes(document: OpenedDocument, fields: dict[str, Any]) -> dict[str, Any]:
    """What the user changed since the document was written."""
    return {name: value for name, value in fields.items() if document.shown.get(name) != value}


def _body(content: str) -> str:
    """Content as a document's body: no blank lines around it, one newline at its end."""
    return content.replace("\r\n", "\n").strip("\n").rstrip() + "\n"


class OpenedMemories:
    """The memories that this process has open as documents. Does file I/O: call it off the loop."""

    def __init__(self, folder: OpenedFolder) -> None:
        self._folder = folder
        self._shown: dict[Path, OpenedDocument] = {}

    def id_of(self, path: Path) -> str | None:
        """The memory whose document this is, or may have been in another session; None for any other file."""
        shown = self._shown.get(path)
        if shown is not None:
            return shown.memory_id
        if path.parent != self._folder.folder or path.suffix != ".md":
            return None
        return unquote(path.stem)

    def write(self, memory: Memory, notes: Iterable[str]) -> Path:
        """Writes the memory's document.

        Raises:
            StoreError: the folder can't be written.
        """
        path = self._folder.write(file_name(memory.id), render(memory, notes))
        self._shown[path] = OpenedDocument(memory.id, path, fields_of(memory))
        return path

    def read(self, path: Path, memory: Memory, text: str) -> dict[str, Any]:
        """What the user changed in the document's text, as fields of `Workspace.update`.

        Raises:
            InvalidArgument: the document's head is broken.
        """
        shown = self._shown.get(path) or OpenedDocument(memory.id, path, fields_of(memory))
        found = parse(text)
        self._shown[path] = OpenedDocument(memory.id, path, {**shown.shown, **found})
        return changes(shown, found)

    def close(self, path: Path) -> None:
        """Lets go of the document: the memory itself lives in the journal."""
        self._shown.pop(path, None)
        self._folder.close(path.name)

    def close_all(self) -> None:
        """Lets go of all documents."""
        self._shown.clear()
        self._folder.close_all()

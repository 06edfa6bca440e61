"""Memories as documents: `open/<id>.md`, written to be edited by hand and read back when saved.

Owns the document's form and nothing else: a YAML head between `---` lines, then the content as it is; and
what a document that was edited means for a memory that may have changed meanwhile. Reads and writes no file.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import yaml

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Memory

MAX_NAME = 100
_RULE = "---"
_HEAD_FIELDS = ("title", "type", "tags", "importance", "pinned")
_NULL: Final = "tag:yaml.org,2002:null"
_HASHED = re.compile(r"[0-9a-f]{32}")
_OURS: Final = "<<<<<<< your text"
_BETWEEN: Final = "======="
_THEIRS: Final = ">>>>>>> the memory, as changed by "


class Document(NamedTuple):
    r"""A document's text, read.

    Attributes:
        fields: those that it holds, by name.
        lines: the line (1-based) on which each field begins.
        text: the whole text, with `\n` and without a byte order mark.
        body: where in `text` the content begins.
    """

    fields: dict[str, Any]
    lines: dict[str, int]
    text: str
    body: int


class Merged(NamedTuple):
    """What an edited document means for its memory.

    Attributes:
        changes: the fields to store, with their values.
        both: fields that were changed here and, to something else, elsewhere.
    """

    changes: dict[str, Any]
    both: tuple[str, ...]


def file_name(memory_id: str) -> str:
    """The document's name: the id percent-encoded, hashed where that is over 100 bytes."""
    name = quote(memory_id, safe="")
    if name.startswith(".") or not name:  # hidden names are the folder's own
        name = f"%2E{name[1:]}" if name else name
    if len(name) > MAX_NAME:
        name = hashlib.sha256(memory_id.encode()).hexdigest()[:32]
    return f"{name}.md"


def id_in_name(name: str) -> str | None:
    """The id that a document's name spells out; None where the name is none of ours."""
    memory_id = unquote(name.removesuffix(".md"))
    return memory_id if file_name(memory_id) == name else None


def id_of_hash(name: str, known: Iterable[str]) -> str | None:
    """The memory whose id is hashed in a document's name; None where no memory known is meant."""
    if not _HASHED.fullmatch(name.removesuffix(".md")):
        return None
    # An encoded byte takes three characters at most, a character four bytes.
    long = (memory_id for memory_id in known if len(memory_id) * 12 > MAX_NAME)
    return next((memory_id for memory_id in long if file_name(memory_id) == name), None)


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
    """The fields that a saved document holds; see `read_document`."""
    return read_document(text).fields


def read_document(text: str) -> Document:
    """A saved document, read.

    Raises:
        InvalidArgument: the head is broken; the message says on which line.
    """
    text = plain(text)
    lines = text.split("\n")
    if lines[0].rstrip() != _RULE:
        raise _wrong(1, f"the memory's fields must stand here, between two {_RULE} lines")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _RULE), None)
    if end is None:
        raise _wrong(len(lines), f"the head has no end; put a line {_RULE} after the memory's fields")
    fields, found = _read_head("\n".join(lines[1:end]))
    body = sum(len(line) + 1 for line in lines[: end + 1])
    fields["content"] = _body(text[body:])
    found["content"] = min(end + 2, len(lines))
    return Document(fields, found, text, body)


def _read_head(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Fields, and their lines in the document."""
    try:
        return _read_yaml(head)
    except yaml.reader.ReaderError as error:
        line = head.count("\n", 0, error.position) + 2
        raise _wrong(line, f"the character U+{int(error.character):04X} can't stand here") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if "flow" in (getattr(error, "context", None) or ""):  # a bracket or quote that is never closed
            mark = getattr(error, "context_mark", None) or mark
        said = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise _wrong(mark.line + 2 if mark else 2, f"the head can't be read: {said}") from None
    except RecursionError:
        raise _wrong(2, "the head is nested too deep") from None


def _read_yaml(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    fields: dict[str, Any] = {}
    lines: dict[str, int] = {}
    loader = yaml.SafeLoader(head)
    try:
        node = loader.get_single_node()
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise _wrong(_line(node), "the head must be lines of the form `name: value`")
        for key, value in node.value if node is not None else ():
            name, line = str(key.value), _line(key)
            if name not in _HEAD_FIELDS:
                raise _wrong(line, f"{name} is no field; {', '.join(_HEAD_FIELDS)} are")
            if name in lines:
                raise _wrong(line, f"{name} stands on line {lines[name]} already")
            lines[name] = line
            fields[name] = _value(loader, name, value)
    finally:
        loader.dispose()
    return fields, lines


def _value(loader: yaml.SafeLoader, name: str, node: yaml.Node) -> Any:
    """A field's value; texts are taken as they stand there: `title: Yes` is no truth value."""
    if name == "tags":
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return [str(_text(loader, one)) for one in nodes if one.tag != _NULL]
    if name in {"title", "type"}:
        return _text(loader, node)
    try:
        return loader.construct_object(node, deep=True)
    except ValueError as error:  # a date that no calendar has
        raise _wrong(_line(node), f"{name}: {error}") from None


def _text(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode) and node.tag != _NULL:
        return node.value
    return loader.construct_object(node, deep=True)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 2


def _wrong(line: int, message: str) -> InvalidArgument:
    return InvalidArgument("document", f"line {line}: {message}")


def on_its_line(error: InvalidArgument, document: Document) -> InvalidArgument:
    """The error about a field, with the line on which the document has it."""
    line = document.lines.get(error.field)
    if line is None:
        return error
    reason = str(error).removeprefix(f"{error.field}: ")
    return _wrong(line, f"{error.field} {reason}")


def plain(text: str) -> str:
    r"""The text without a byte order mark, its lines ended by `\n`."""
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def merge(base: Mapping[str, Any] | None, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Merged:
    """Compares three ways, field by field.

    Args:
        base: the fields from which the document was edited; None where nobody knows: whatever differs
            may then have been changed on either side.
        mine: the fields of the document.
        theirs: the fields of the memory as it is now.
    """
    changes: dict[str, Any] = {}
    both = []
    for name, value in mine.items():
        known = base is not None and name in base
        was = base[name] if base is not None and known else None
        if alike(name, value, theirs[name]) or (known and alike(name, value, was)):
            continue
        if name == "tags":  # tags are merged one by one, as the journal merges them
            removed = set(was or ()) - set(value)
            added = [tag for tag in value if tag not in (was or ())]
            changes[name] = list(dict.fromkeys([*(t for t in theirs[name] if t not in removed), *added]))
            continue
        changes[name] = value
        if not known or not alike(name, theirs[name], was):
            both.append(name)
    return Merged(changes, tuple(both))


def alike(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field would be stored as the same."""
    if name == "tags":
        return {str(tag).strip() for tag in one} == {str(tag).strip() for tag in other}
    if name == "title" and isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)


def all_alike(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether every field of `some` is as in `others`."""
    return all(name in others and alike(name, value, others[name]) for name, value in some.items())


def with_both(document: Document, theirs: str, by: str) -> str:
    """The document with both versions of its content, where they differ, in the form that git gives them.

    Args:
        document: as it was saved.
        theirs: the memory's content now.
        by: who changed it.
    """
    mine, other = _lines(document.fields["content"]), _lines(_body(theirs))
    start = 0
    while start < min(len(mine), len(other)) and mine[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(mine), len(other)) - start and mine[-1 - end] == other[-1 - end]:
        end += 1
    marked = [
        *mine[:start],
        _OURS,
        *mine[start : len(mine) - end],
        _BETWEEN,
        *other[start : len(other) - end],
        f"{_THEIRS}{' '.join(by.split())}",
        *mine[len(mine) - end :],
    ]
    body = "\n".join(marked) + "\n"
    return f"{document.text[: document.body]}\n{body}"


def refuse_undecided(document: Document, theirs: Mapping[str, Any]) -> None:
    """Refuses a document that still holds both versions of its content, as `with_both` wrote them.

    Raises:
        InvalidArgument: it does; names the line.
    """
    known = set(_lines(theirs["content"]))
    first = document.text.count("\n", 0, document.body) + 1
    for at, line in enumerate(document.text[document.body :].split("\n")):
        if (line.rstrip() == _OURS or line.startswith(_THEIRS)) and line not in known:
            raise _wrong(first + at, "both versions are here; keep what is right, remove this line, and save")


def _lines(content: str) -> list[str]:
    return content.removesuffix("\n").split("\n")


def _body(content: str) -> str:
    """Content as a document's body: no blank lines around it, one newline at its end."""
    return content.replace("\r\n", "\n").strip("\n").rstrip() + "\n"

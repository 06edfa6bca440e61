"""Reading a file that is to be imported: line by line, within bounds, and whether it is one of ours at all.

Does file I/O: call it off the event loop. What a line means is `import_lines.py`'s.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from pydantic_core import from_json

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.views import Json
from mnemolens.engine.import_shapes import Skip, id_of, paths_of

MAX_LINE: Final = 64 * 1024 * 1024
"""Bytes of one line: a memory of the largest size with many anchors takes a tenth of it."""

_BOM: Final = b"\xef\xbb\xbf"
_HEAD: Final = 4096
_SHAPE: Final = 'one object a line is needed, {"memory": {"content": "…"}}, as `export` writes it'


class SkippedLineOfFile(NamedTuple):
    """A line that was not taken; `line` counts from 1."""

    line: int
    reason: str


class ReadLine(NamedTuple):
    """One line of the file.

    Attributes:
        number: from 1.
        id: of its memory or node; "" where it can't be taken.
        data: the object; None where it can't be taken.
        reason: why it can't be taken.
    """

    number: int
    id: str
    data: Json | None
    reason: str = ""


@dataclass(slots=True)
class Survey:
    """What a first look at the whole file finds.

    Attributes:
        ids: of all memories and nodes.
        paths: code paths as they were written, in order.
    """

    ids: set[str] = field(default_factory=set)
    paths: dict[str, None] = field(default_factory=dict)


def survey(path: Path) -> Survey:
    """Look at the whole file once.

    Raises:
        InvalidArgument: it can't be read, or no line of it is a memory; says what it seems to be.
    """
    found = Survey()
    first: ReadLine | None = None
    for line in read_lines(path):
        if line.data is None:
            if not found.ids and first is None and _begins_array(path):
                raise InvalidArgument(
                    "path", f"{path.name} holds no memories: it is one JSON array; {_SHAPE}"
                )
            first = first or line
            continue
        found.ids.add(line.id)
        found.paths.update(dict.fromkeys(paths_of(line.data)))
    if first is not None and not found.ids:
        raise InvalidArgument("path", f"{path.name} holds no memories: {_seems(path, first)}; {_SHAPE}")
    return found


def read_lines(path: Path) -> Iterator[ReadLine]:
    """The lines of the file, blank ones left out.

    Raises:
        InvalidArgument: it can't be read.
    """
    if path.exists() and not path.is_file():
        raise InvalidArgument("path", f"{path} is no file")
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(_bounded(file), 1):
                line = raw.removeprefix(_BOM) if number == 1 else raw
                if len(line) > MAX_LINE:
                    yield ReadLine(number, "", None, f"it is longer than {MAX_LINE:,} bytes")
                elif line.strip():
                    yield _parsed(number, line)
    except OSError as error:
        raise InvalidArgument("path", f"{path} can't be read: {error.strerror}") from None


def _bounded(file: BinaryIO) -> Iterator[bytes]:
    """Lines; of one that is too long only the beginning."""
    while line := file.readline(MAX_LINE + 1):
        yield line
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)
            if not line:
                return


def _parsed(number: int, line: bytes) -> ReadLine:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return ReadLine(number, "", None, f"it is not UTF-8 at byte {error.start + 1}")
    try:
        data = from_json(line)
    except ValueError as error:
        return ReadLine(number, "", None, f"it is not JSON ({str(error)[:80]})")
    if not isinstance(data, dict):
        return ReadLine(number, "", None, f"it is a JSON {_KINDS.get(type(data), 'value')}, not an object")
    try:
        return ReadLine(number, id_of(data), data)
    except Skip as error:
        return ReadLine(number, "", None, str(error))


_KINDS: Final[dict[type, str]] = {list: "array", str: "text", int: "number", float: "number"}


def _seems(path: Path, first: ReadLine) -> str:
    if b"\0" in _head_of(path):
        return "it is a binary file, or not UTF-8"
    return f"line {first.number}: {first.reason}"


def _begins_array(path: Path) -> bool:
    return _head_of(path).removeprefix(_BOM).lstrip().startswith(b"[")


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""

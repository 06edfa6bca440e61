"""What `--at` names: a file, a line of it, or a symbol in it. Reads the file's text to find the line."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import Position
from mnemolens.core.text import BinarySource, Text, decode_source
from mnemolens.engine.workspace import Workspace

_LINE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?:?", re.DOTALL)


class Place(NamedTuple):
    """A place in the code.

    Attributes:
        file: relative to the top level.
        position: None for the file as a whole.
    """

    file: str
    position: Position | None


def place_at(workspace: Workspace, given: str, folders: Sequence[Path] = ()) -> Place:
    """The place that FILE, FILE:LINE (what compilers and grep print, with a column too) or FILE::NAME means.

    Args:
        workspace: whose code it is.
        given: what names the place.
        folders: where the file is looked for first.

    Raises:
        InvalidArgument: there is no such file, line or symbol.
    """
    name, separator, symbol = given.partition("::")
    if separator and symbol:
        file = file_at(workspace, name, folders)
        return Place(file, workspace.glance.find(file, symbol))
    found = _LINE.fullmatch(given)
    if found is None or _path(workspace, given, folders) is not None:
        return Place(file_at(workspace, given, folders), None)
    file = file_at(workspace, found["file"], folders)
    return Place(file, _position(workspace, file, int(found["line"]), int(found["column"] or 0)))


def file_at(workspace: Workspace, given: str, folders: Sequence[Path] = ()) -> str:
    """The file, relative to the top level; looked for below the current folder, then below the workspace's.

    Raises:
        InvalidArgument: there is none, or it lies elsewhere.
    """
    path = _path(workspace, given, folders)
    if path is None:
        raise InvalidArgument("at", f"there is no file {given!r} here or in {workspace.layout.opened}")
    file = workspace.layout.file_of(path)
    if file is None:
        raise InvalidArgument(
            "at", f"{given} lies outside of {workspace.layout.top}; say --root for its folder"
        )
    return file


def _path(workspace: Workspace, given: str, folders: Sequence[Path]) -> Path | None:
    for folder in (*folders, Path.cwd(), workspace.layout.opened, workspace.layout.top):
        path = folder / given
        try:
            if path.is_file():
                return path
        except (OSError, ValueError):
            continue
    return None


def _position(workspace: Workspace, file: str, line: int, column: int) -> Position:
    try:
        text = Text(decode_source(workspace.layout.path_of(file).read_bytes()).data)
    except (OSError, BinarySource) as error:
        raise InvalidArgument("at", f"{file} can't be read as text: {error}") from None
    count = text.line_count
    if count > 1 and not text.line(count - 1):
        count -= 1  # what ends with a newline has no line after it
    if not 1 <= line <= count:
        lines = "1 line" if count == 1 else f"{count} lines"
        raise InvalidArgument("at", f"{file} has {lines}; there is no line {line}")
    content = text.line(line - 1)
    if column:
        return Position(line - 1, min(column - 1, len(content)))
    return Position(line - 1, len(content) - len(content.lstrip()))

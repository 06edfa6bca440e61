"""The open folders, each with its workspace, and which of them a URI or a `root` argument means.

Owns opening and closing of workspaces. A folder is known by the path that the client gave and by its real
path: documents may come through a symbolic link or past it. Does not index and does not read settings.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mnemolens.core.errors import InvalidArgument, OutOfScope
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.uris import path_of_uri

_CACHED_URIS = 4096


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder.

    Attributes:
        uri: as the client writes it, for settings of this folder.
        given: the path as the client gave it.
        real: the path with symbolic links followed, which tells folders apart.
        lazy: made for a single file that was opened without a folder.
    """

    uri: str
    given: Path
    real: Path
    workspace: Workspace
    lazy: bool = False

    def file_of(self, path: Path) -> str | None:
        """The file's path in the workspace; None when it is outside the folder."""
        if not any(path.is_relative_to(folder) for folder in (self.given, self.real)):
            path = Path(os.path.realpath(path))
            if not path.is_relative_to(self.real):
                return None
        return self.workspace.layout.file_of(path)


class Place(NamedTuple):
    """A file in a workspace."""

    workspace: Workspace
    file: str

    @property
    def root(self) -> str:
        """What a command's `root` argument must say to mean this workspace."""
        return str(self.workspace.layout.opened)

    def line_text(self, line: int) -> str | bytes:
        """The text of a line, for positions in it."""
        return self.workspace.code.line(self.file, line)


class Folders:
    """All open folders; of nested ones the innermost owns a file."""

    def __init__(self) -> None:
        self._folders: list[Folder] = []
        self._places: dict[str, Place | None] = {}

    def __iter__(self) -> Iterator[Folder]:
        return iter(tuple(self._folders))

    def __len__(self) -> int:
        return len(self._folders)

    def add(self, folder: Folder) -> None:
        """Take `folder` in; the longest path comes first when looking up."""
        self._folders.append(folder)
        self._folders.sort(key=lambda known: len(known.real.parts), reverse=True)
        self._places.clear()

    def at(self, path: Path) -> Folder | None:
        """The folder that is exactly at `path`."""
        real = Path(os.path.realpath(path))
        return next((folder for folder in self._folders if folder.real == real), None)

    def remove(self, folder: Folder) -> None:
        """Let `folder` go and close its workspace."""
        self._folders.remove(folder)
        self._places.clear()
        folder.workspace.close()

    def close(self) -> None:
        """Close all."""
        while self._folders:
            self.remove(self._folders[-1])

    def locate(self, uri: str) -> Place | None:
        """Where a document belongs; None for other schemes and for files outside every folder."""
        if uri not in self._places:
            if len(self._places) >= _CACHED_URIS:
                self._places.clear()
            self._places[uri] = self._find(uri)
        return self._places[uri]

    def locate_path(self, path: Path) -> Place | None:
        """As `locate`, for a path."""
        for folder in self._folders:
            file = folder.file_of(path)
            if file is not None:
                return Place(folder.workspace, file)
        return None

    def _find(self, uri: str) -> Place | None:
        path = path_of_uri(uri)
        return None if path is None else self.locate_path(path)

    def named(self, uri: str, root: str | None = None) -> Place:
        """Where the document of a command's `uri` argument belongs; in the folder `root` where one is named.

        Raises:
            InvalidArgument: the URI's scheme has no files, or no folder `root` is open.
            OutOfScope: the file is in no open folder, or not in `root`.
        """
        path = path_of_uri(uri)
        if path is None:
            raise InvalidArgument("uri", f"must be a file: URI with an absolute path, not {uri[:200]!r}")
        if root is not None:
            folder = self._rooted(root)
            file = folder.file_of(path)
            place = None if file is None else Place(folder.workspace, file)
        else:
            place = self.locate(uri)
        if place is None:
            raise OutOfScope(f"uri: {uri[:500]} lies outside the open folders; open its folder first")
        return place

    def chosen(self, root: str | None) -> Workspace:
        """The workspace of a command's `root` argument, which may be left out while one folder is open.

        Raises:
            InvalidArgument: no such folder is open, or several are and none was named.
        """
        if root is not None:
            return self._rooted(root).workspace
        if len(self._folders) == 1:
            return self._folders[0].workspace
        if not self._folders:
            raise InvalidArgument("root", "no folder is open; open one first")
        raise InvalidArgument("root", f"several folders are open; name one of {self._names()}")

    def _rooted(self, root: str) -> Folder:
        path = path_of_uri(root) if root[:5].lower() == "file:" else Path(root)
        folder = None
        if path is not None and path.is_absolute():
            real = Path(os.path.realpath(path))
            folder = self.at(path) or next(
                (known for known in self._folders if known.workspace.layout.top == real), None
            )
        if folder is None:
            known = self._names() or "none"
            raise InvalidArgument("root", f"{root[:200]!r} is not an open folder; open are: {known}")
        return folder

    def _names(self) -> str:
        return ", ".join(sorted(str(folder.given) for folder in self._folders))

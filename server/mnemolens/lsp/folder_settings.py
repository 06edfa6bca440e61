"""A folder's settings: reads its layers, resolves them, gives them to its workspace, tells what was wrong.

The rules of merging are `core/settings.py`'s. The client's own settings reach us through
`features/configuration.py`; the repository's file is looked at once a second by the ticker.
"""

import os
from pathlib import Path
from typing import Any

from lsprotocol import types

from mnemolens.core.settings import (
    FILE_NAME,
    RepositoryFile,
    Settings,
    SettingsSources,
    read_repository_file,
    resolve_settings,
)
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer

Signature = tuple[int, int, int]


class FolderSettings:
    """Where the settings of one folder stand.

    Attributes:
        folder: the folder.
    """

    def __init__(self, ls: MnemolensServer, folder: Folder) -> None:
        self.folder = folder
        self._ls = ls
        self._file = FollowedFile(folder.workspace.layout.top / FILE_NAME)

    def file_changed(self) -> bool:
        """Whether the repository's file now says something else; one look at the disk."""
        return self._file.look()

    def apply(self) -> bool:
        """Resolve all layers anew and use them; whether what is indexed may have changed."""
        workspace = self.folder.workspace
        before = workspace.settings
        settings = resolved(self._ls, self.folder.uri, self._file.content, before)
        if settings != before:
            workspace.apply_settings(settings)
            self._ls.lenses_may_have_changed()
        return settings.index != before.index


class FollowedFile:
    """A repository's settings file, followed while others write it.

    Most editors empty a file and then write it: who reads in between finds no settings, and would take them
    for the last good ones. So what has changed counts only once a second look finds it as the first did.

    Attributes:
        content: the file as last read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = self._met = _signature(path)
        self.content = read_repository_file(path)

    def look(self) -> bool:
        """Read the file again if it is another than the one read, and the same as at the last look.

        Returns:
            Whether it was read again.
        """
        before, self._met = self._met, _signature(self._path)
        if self._met == self._read or self._met != before:
            return False
        content = read_repository_file(self._path, self.content)
        if _signature(self._path) != self._met:  # emptied again since
            return False
        self._read = self._met
        self.content = content
        return True


def resolved(
    ls: MnemolensServer, uri: str, file: RepositoryFile | None = None, previous: Settings | None = None
) -> Settings:
    """The settings of the folder `uri`; what is wrong with them is told once.

    Args:
        ls: the server's state.
        uri: the folder, as the client writes it.
        file: the repository's own file; None before it is known where that would be.
        previous: the settings in force.
    """
    editor: dict[str, Any] = ls.editor_settings.get(uri) or ls.editor_settings.get("") or {}
    sources = SettingsSources(repository=file or RepositoryFile(), editor=editor, environment=os.environ)
    settings, notices = resolve_settings(sources, previous)
    for notice in notices:
        kind = types.MessageType.Warning if notice.level == "warning" else types.MessageType.Info
        ls.notice(notice.message, kind)
    return settings


def _signature(path: Path) -> Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

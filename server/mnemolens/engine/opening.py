"""Opens a folder with its settings, for surfaces without an editor: from environment and repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mnemolens.core.settings import FILE_NAME, Notice, SettingsSources, read_repository_file, resolve_settings
from mnemolens.engine.workspace import Workspace


class Opened(NamedTuple):
    """A folder that was opened.

    Attributes:
        notices: what is wrong with its settings.
    """

    workspace: Workspace
    notices: tuple[Notice, ...]


def open_folder(folder: Path, own: Mapping[str, object] | None = None) -> Opened:
    """Opens the folder; nothing is indexed yet.

    Args:
        folder: which; it exists.
        own: settings that outweigh all others.

    Raises:
        OSError: what is stored there can't be read.
    """
    given = dict(own or {})
    # The store's place is in these, and the repository's file may not say it.
    settings, _ = resolve_settings(SettingsSources(environment=os.environ, command_line=given))
    workspace = Workspace.open(folder, settings)
    file = read_repository_file(workspace.layout.top / FILE_NAME)
    sources = SettingsSources(repository=file, environment=os.environ, command_line=given)
    resolved, notices = resolve_settings(sources, settings)  # what was wrong before is told again
    if resolved != settings:
        workspace.apply_settings(resolved)
    return Opened(workspace, notices)

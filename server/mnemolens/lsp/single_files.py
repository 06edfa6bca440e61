"""A file that is opened with no folder at all: its git repository becomes the folder.

Without git there is no folder to speak of: indexing whatever directory the file happens to lie in (a home, a
downloads folder) is nothing anybody asked for, so hovers are null and commands say that no folder is open.
"""

from pathlib import Path

from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.starting import open_folders
from mnemolens.lsp.uris import path_of_uri, uri_of_path


def open_lone_file(ls: MnemolensServer, uri: str) -> None:
    """Open the repository of a file, where the client has opened no folder itself."""
    if any(not folder.lazy for folder in ls.folders) or ls.folders.locate(uri) is not None:
        return
    path = path_of_uri(uri)
    top = None if path is None else repository_of(path)
    if top is not None:
        open_folders(ls, [uri_of_path(top)], lazy=True)


def repository_of(path: Path) -> Path | None:
    """The top level of the git work tree that holds `path`; a repository of the whole home doesn't count."""
    for folder in path.parents:
        if (folder / ".git").exists():
            return None if folder == Path.home() else folder
    return None

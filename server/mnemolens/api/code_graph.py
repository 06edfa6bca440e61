"""Bringing code into the graph: `CodeGraph(backend).index("./src", languages=["python"])`."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from mnemolens.api.backend import KuzuBackend
from mnemolens.api.shared import SharedWorkspace
from mnemolens.codegraph.languages import setting_of
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings import SETTINGS
from mnemolens.core.symbols import CLASS_KINDS

_LANGUAGES = next(setting.choices for setting in SETTINGS if setting.key == "index.languages")


class IndexedCode(NamedTuple):
    """What was found below the folder that was asked for, in the languages that were asked for.

    Attributes:
        seconds: for reading the code and linking all memories to it.
    """

    files: int
    classes: int
    functions: int
    seconds: float


class CodeGraph:
    """The code that a backend's memories are about.

    Args:
        backend: it is initialized if it was not yet.
    """

    def __init__(self, backend: KuzuBackend) -> None:
        if not isinstance(backend, KuzuBackend):
            raise InvalidArgument("backend", f"must be a KuzuBackend, not {type(backend).__name__}")
        self._backend = backend

    def index(
        self,
        path: str | os.PathLike[str] = ".",
        languages: Collection[str] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> IndexedCode:
        """Reads the code as it is on disk now, and links all memories to it, those stored before too.

        What a name means is decided against all code of the backend's root, so all of it is read; only what
        changed since the last time is parsed. Ids (`CodeFile.file_id`) are paths relative to the top level of
        the git worktree, without git to the root. Later backends on the same root know the code without a
        call; call it again when code has changed.

        Args:
            path: a folder or file inside the root: relative to the current folder, or to the root where the
                current folder holds nothing of that name. It decides what is counted.
            languages: as in the setting `index.languages`, such as "python" and "go"; None for all.
            on_progress: told (files done, files in all); it must not call the backend.

        Raises:
            InvalidArgument: there is no such folder inside the root, or no such language.
            StoreError: the backend is closed.
        """
        wanted = _languages(languages)
        shared = self._backend._open()  # noqa: SLF001 - the two classes are one surface
        return shared.call(lambda: _index(shared, path, wanted, on_progress))


async def _index(
    shared: SharedWorkspace,
    path: str | os.PathLike[str],
    languages: frozenset[str] | None,
    on_progress: Callable[[int, int], None] | None,
) -> IndexedCode:
    folder = _inside(shared.place.root, path)
    prefix = shared.workspace.layout.file_of(folder) or ""
    report = await shared.index(on_progress)
    files = classes = functions = 0
    index = shared.workspace.code.index
    for file in index.files():
        found = index.get(file)
        if found is None or not _is_below(file, prefix):
            continue
        if languages is None or setting_of(found.language) in languages:
            kinds = [symbol.kind for symbol in found.symbols]
            files += 1
            in_classes = sum(kind in CLASS_KINDS for kind in kinds)
            classes += in_classes
            functions += len(kinds) - in_classes
    return IndexedCode(files, classes, functions, report.seconds)


def _is_below(file: str, prefix: str) -> bool:
    return not prefix or file == prefix or file.startswith(f"{prefix}/")


def _inside(root: Path, path: object) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InvalidArgument("path", f"must be the path of a folder, not {path!r}")
    given = Path(os.fsdecode(os.fspath(path))).expanduser()
    for start in (Path.cwd(), root):
        found = Path(os.path.realpath(start / given))
        if found.is_relative_to(root) and found.exists():
            return found
    raise InvalidArgument("path", f"there is no {given} in {root}, the root of this backend's code")


def _languages(languages: object) -> frozenset[str] | None:
    if languages is None:
        return None
    if isinstance(languages, str) or not isinstance(languages, Collection):
        raise InvalidArgument("languages", 'must be a list such as ["python"]')
    for language in languages:
        if language not in _LANGUAGES:
            raise InvalidArgument("languages", f"{language!r} is not one of {', '.join(_LANGUAGES)}")
    return frozenset(languages)

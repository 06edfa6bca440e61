"""Which files a written path means: relative, absolute, partial, with a line number, as a URI.

Paths match on whole segments only. Knows nothing of text around the path or of other hints.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from mnemolens.linking.values import SymbolLookup

METADATA_KEYS = ("file", "file_path", "files")
_MAX_LENGTH = 1024
_MAX_SEGMENTS = 64
_MAX_METADATA_PATHS = 200
_POSITION = re.compile(r"(?::\d{1,9}){1,2}(?:-\d{1,9})?$|::.*$|[#?].*$")
_BUNDLED = re.compile(r"^(?:webpack(?:-internal)?|turbopack)://[^/]*/")
_QUOTES = "\"'`<>"
_DRIVE = re.compile(r"^/?[A-Za-z]:(?=/)")
_BETWEEN = re.compile(r"[,;\n]")
_MODULE_ENDINGS = (
    ".py",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".go",
    ".pyi",
    "/__init__.py",
    "/index.ts",
    "/index.js",
)
_INDEX_NAMES = frozenset({"__init__", "index", "mod"})


class Found(NamedTuple):
    """Files that a path may mean.

    Attributes:
        files: best first; several where the path alone does not decide.
        sure: False where only a part of the path was recognised.
    """

    files: tuple[str, ...]
    sure: bool = True


class MetadataPath(NamedTuple):
    """A path in a memory's metadata: its key, where it stands in that string, and its text."""

    key: str
    start: int
    text: str


def metadata_paths(metadata: object) -> Iterator[MetadataPath]:
    """The paths under `file`, `file_path` and `files`; whatever is no string is passed over."""
    if not isinstance(metadata, Mapping):
        return
    left = _MAX_METADATA_PATHS
    for key in METADATA_KEYS:
        for value in _strings(metadata.get(key)):
            at = 0
            for part in (
                _BETWEEN.split(value[: _MAX_LENGTH * 16]) if key == "files" else (value[:_MAX_LENGTH],)
            ):
                text = part.strip()
                if text and left:
                    left -= 1
                    yield MetadataPath(key, at + part.index(text), text)
                at += len(part) + 1


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in value[:_MAX_METADATA_PATHS] if isinstance(item, str))


def find_files(written: str, lookup: SymbolLookup, root: str = "") -> Found:
    """The indexed files that a written path may mean.

    Args:
        written: the path; backslashes, `./`, drive letters, `file://`, `:42` and `#L42` are understood.
        lookup: the code.
        root: absolute path of the worktree's top level, where known: other absolute paths are elsewhere.
    """
    unescaped = without_escapes(written)
    if unescaped != written and (found := find_files(unescaped, lookup, root)).files and found.sure:
        return found
    found = _find(written, lookup, root)
    without_position = _POSITION.sub("", written.strip().strip(_QUOTES))
    return found if found.files or without_position == written else _find(without_position, lookup, root)


def _find(written: str, lookup: SymbolLookup, root: str) -> Found:
    path, absolute = _normalised(written)
    if not path:
        return Found(())
    inside = root.replace("\\", "/").strip("/")
    if absolute and inside and path.startswith(inside + "/"):
        inner = path[len(inside) + 1 :]
        return Found((inner,) if lookup.has_file(inner) else ())
    ending = _ending(path, lookup)
    if path in ending:
        return Found((path,) if "/" in path else (path, *(file for file in ending if file != path)))
    return (
        Found(ending) if ending else _without_leading(path.split("/"), lookup, sure=absolute and not inside)
    )


def _without_leading(parts: list[str], lookup: SymbolLookup, *, sure: bool) -> Found:
    """What the path's last segments mean, the longest first; `sure` says whether a mere base name will do."""
    for skipped in range(1, len(parts)):
        shorter = "/".join(parts[skipped:])
        is_basename = skipped == len(parts) - 1
        if lookup.has_file(shorter):
            return Found((shorter,), sure=sure or not is_basename)
        if not is_basename and (ending := _ending(shorter, lookup)):
            return Found(ending, sure=False)
    return Found(())


def find_modules(parts: tuple[str, ...], lookup: SymbolLookup) -> tuple[str, ...]:
    """The files that a dotted module path means: `requests.sessions` is `…/requests/sessions.py`."""
    path = "/".join(part for part in parts if part)
    if not path:
        return ()
    return tuple(dict.fromkeys(f for ending in _MODULE_ENDINGS for f in _ending(path + ending, lookup)))


def module_parts(file: str) -> tuple[str, ...]:
    """The dotted name of a file's module in parts: without extension, and without `__init__` or `index`."""
    *folders, name = file.split("/")
    stem = name.partition(".")[0]
    return tuple(folders) if stem in _INDEX_NAMES and folders else (*folders, stem)


def without_escapes(written: str) -> str:
    r"""The path without the backslashes that Markdown's editors write before underscores: `my\_file.py`."""
    return written.replace("\\_", "_")


def basename(written: str) -> str:
    """The last segment of a written path."""
    return _normalised(_POSITION.sub("", written.strip()))[0].rpartition("/")[2]


def _ending(path: str, lookup: SymbolLookup) -> tuple[str, ...]:
    found = lookup.files_ending(path)
    return tuple(sorted(f for f in found if f == path or f.endswith("/" + path)))


def _normalised(written: str) -> tuple[str, bool]:
    path = written.strip().strip(_QUOTES).strip()
    if len(path) > _MAX_LENGTH or "\0" in path or "\n" in path:
        return "", False
    path = _BUNDLED.sub("", path)
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    elif "://" in path:
        return "", False
    path = path.replace("\\", "/")
    without_drive = _DRIVE.sub("", path)
    absolute = path.startswith(("/", "~/")) or without_drive != path
    path = without_drive.removeprefix("~")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return ("/".join(parts), absolute) if len(parts) <= _MAX_SEGMENTS else ("", False)

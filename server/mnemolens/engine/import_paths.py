"""Where paths from elsewhere are here: another root, another checkout, another system.

Pure: is told which files there are. A path that exists here as it stands stays, but for a `./` in it.
"""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Final
from urllib.parse import unquote

_DRIVE: Final = re.compile(r"^/?[A-Za-z]:(?=/)")
_FEWEST: Final = 2
"""Segments that must agree before a relative path counts as one of another root."""


def adapted(
    paths: Iterable[str], root: str, exists: Callable[[str], bool], known: Collection[str] = ()
) -> dict[str, str]:
    r"""What each path is here: POSIX, relative to the top level.

    A path that is there stays. `\\` and drive letters become POSIX. Of an absolute path the longest suffix
    that exists here counts, and what that leaves out is left out of paths that don't exist here either.
    Relative paths are those of another root only where none of them exists as it stands.

    Args:
        paths: as they were written.
        root: absolute POSIX path of the top level here.
        exists: whether a relative path is a file here.
        known: files that are here, to recognise the paths of a root further down.
    """
    found: dict[str, str] = {}
    absolute: list[tuple[str, str]] = []
    relative: list[tuple[str, str]] = []
    is_at_home = False
    for path in dict.fromkeys(paths):
        if not path or _exists(path, exists):
            found[path] = posixpath.normpath(path) if path else path
            is_at_home = is_at_home or bool(path)
            continue
        plain = _posix(path)
        inside = plain[len(root) :].lstrip("/") if plain.startswith(f"{root.rstrip('/')}/") else plain
        if inside.startswith("/"):
            absolute.append((path, inside))
        elif _exists(inside, exists):
            found[path] = inside
            is_at_home = True
        else:
            relative.append((path, inside))
    found |= _without_prefix(absolute, exists, 1)
    if is_at_home:
        found |= dict(relative)
    else:
        stripped = _without_prefix(relative, exists, _FEWEST)
        moved = any(stripped[path] != plain for path, plain in relative)
        found |= stripped if moved else _below(relative, known)
    return found


def _exists(path: str, exists: Callable[[str], bool]) -> bool:
    is_inside = not path.startswith("/") and ".." not in path.split("/")
    return is_inside and not _DRIVE.match(path) and exists(path)


def _posix(path: str) -> str:
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    path = path.replace("\\", "/")
    drive = _DRIVE.match(path)
    if drive is not None:
        path = path[drive.end() :]
    path = posixpath.normpath(path)
    return f"/{path.lstrip('/')}" if path.startswith("/") else path


def _without_prefix(
    paths: list[tuple[str, str]], exists: Callable[[str], bool], fewest: int
) -> dict[str, str]:
    """Each path by its longest suffix that exists here, else without what others had in front of theirs."""
    found: dict[str, str] = {}
    prefixes: Counter[str] = Counter()
    for path, plain in paths:
        parts = plain.lstrip("/").split("/")
        for at in range(len(parts) - fewest + 1):
            suffix = "/".join(parts[at:])
            if _exists(suffix, exists):
                found[path] = suffix
                prefixes["/".join(parts[:at])] += 1
                break
    for path, plain in paths:
        if path not in found:
            inner = plain.lstrip("/")
            prefix = max(
                (one for one in prefixes if one and inner.startswith(f"{one}/")),
                key=lambda one: (prefixes[one], len(one)),
                default=None,
            )
            found[path] = inner if prefix is None else inner[len(prefix) + 1 :]
    return found


def _below(paths: list[tuple[str, str]], known: Collection[str]) -> dict[str, str]:
    """Each path below the folder that most of them are below, where there is one."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for file in known:
        by_name[posixpath.basename(file)].append(file)
    votes: Counter[str] = Counter()
    for _, plain in paths:
        for file in by_name[posixpath.basename(plain)]:
            if file.endswith(f"/{plain}"):
                votes[file[: -len(plain)]] += 1
    prefix, count = min(votes.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return {path: prefix + plain if count * 2 >= len(paths) and prefix else plain for path, plain in paths}

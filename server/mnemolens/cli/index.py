"""`mnemolens index [DIR]`: index a folder, and say what was found.

Owns the command's output. Writes nothing into the folder; what it parses stays in the cache for others.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mnemolens.core.settings import (
    FILE_NAME,
    Notice,
    Settings,
    SettingsSources,
    read_repository_file,
    resolve_settings,
)
from mnemolens.core.views import IndexReport, PlaceView
from mnemolens.engine.workspace import Workspace

_PROGRESS_SECONDS = 0.1


def run(folder: Path, *, as_json: bool) -> int:
    """Index `folder`.

    Args:
        folder: the folder; must exist.
        as_json: write one symbol a line to stdout instead of the totals.

    Returns:
        The exit code: 0, or 2 where there is no such folder.
    """
    if not folder.is_dir():
        print(f"mnemolens: {folder} is no folder; name one that exists", file=sys.stderr)
        return 2
    workspace = _open(folder)
    try:
        report = asyncio.run(workspace.build_index(_Progress().show))
        if as_json:
            for row in _rows(workspace):
                print(json.dumps(row))
        else:
            _print_totals(workspace, report)
    finally:
        workspace.close()
    return 0


def _open(folder: Path) -> Workspace:
    settings, notices = resolve_settings(SettingsSources(environment=os.environ))
    workspace = Workspace.open(folder.absolute(), settings)
    file = read_repository_file(workspace.layout.top / FILE_NAME)
    sources = SettingsSources(repository=file, environment=os.environ)
    workspace.apply_settings(_told(*resolve_settings(sources, settings), notices))
    return workspace


def _told(settings: Settings, notices: tuple[Notice, ...], before: tuple[Notice, ...]) -> Settings:
    for text in dict.fromkeys(notice.message for notice in (*before, *notices)):
        print(f"mnemolens: {text}", file=sys.stderr)
    return settings


def _rows(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """One row a symbol: file relative to the folder, lines 1-based and inclusive, decorators excluded."""
    prefix = workspace.layout.prefix
    for place in workspace.symbols():
        if place.range is None:
            continue
        yield {
            "file": place.file[len(prefix) :].lstrip("/") if prefix else place.file,
            "qualname": place.qualname,
            "kind": place.kind,
            "startLine": place.range.start.line + 1,
            "endLine": _last_line(place),
            "ordinal": place.ordinal,
        }


def _last_line(place: PlaceView) -> int:
    """The last line that holds something of the symbol: a range may end at the start of the next."""
    assert place.range is not None
    start, end = place.range
    return end.line + 1 if end.column or end.line == start.line else end.line


def _print_totals(workspace: Workspace, report: IndexReport) -> None:
    print(f"{report.files} files, {report.symbols} symbols in {report.seconds:.2f} s")
    status = workspace.status()
    for skipped in status.skipped:
        print(f"  left out: {skipped.file}: {skipped.reason}")
    if status.skipped_total > len(status.skipped):
        print(f"  and {status.skipped_total - len(status.skipped)} more")


class _Progress:
    """A line on stderr that counts up, where stderr is a terminal."""

    def __init__(self) -> None:
        self._shown = 0.0

    def show(self, done: int, total: int) -> None:
        """Called by the indexer."""
        if not sys.stderr.isatty():
            return
        now = time.monotonic()
        if done >= total:
            sys.stderr.write("\r\x1b[K")
        elif now - self._shown >= _PROGRESS_SECONDS:
            sys.stderr.write(f"\r{done} of {total} files")
            self._shown = now
        sys.stderr.flush()

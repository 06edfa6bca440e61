"""`mnemolens index [DIR]`: index a folder, and say what was found.

Owns the command's output. Writes nothing into the folder; what it parses stays in the cache for others.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import open_folder
from mnemolens.cli.terminal import counted
from mnemolens.core.views import IndexReport, PlaceView
from mnemolens.engine.status import status_of
from mnemolens.engine.workspace import Workspace


def run(folder: Path, *, as_json: bool) -> int:
    """Index `folder`.

    Args:
        folder: the folder.
        as_json: write one symbol a line to stdout instead of the totals.

    Returns:
        The exit code.

    Raises:
        InvalidArgument: there is no such folder.
    """
    workspace = open_folder(folder, "DIR")
    progress = Progress()
    try:
        report = workspace.survey(progress.show)
        progress.clear()
        if as_json:
            for row in _rows(workspace):
                print(json.dumps(row))
        else:
            _print_totals(workspace, report)
    finally:
        workspace.close()
    return 0


def _rows(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """One row a symbol: file relative to the folder, lines 1-based and inclusive, decorators excluded."""
    prefix = workspace.layout.prefix
    for place in map(workspace.show.place, workspace.code.symbols()):
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
    found = f"{counted(report.files, 'file')}, {counted(report.symbols, 'symbol')}"
    print(f"{found} in {report.seconds:.2f} s")
    status = status_of(workspace)
    for skipped in status.skipped:
        print(f"  left out: {skipped.file}: {skipped.reason}")
    if status.skipped_total > len(status.skipped):
        print(f"  and {status.skipped_total - len(status.skipped)} more")

"""`mnemolens export`, `import` and `purge`: memories that leave the store, come into it, or go for good."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import copy_memories, memory_id, now, opened
from mnemolens.cli.terminal import Screen, Span, counted, note, one_line, put_json
from mnemolens.core.errors import InvalidArgument, NotFound
from mnemolens.engine.exchange import ImportReport, PurgeReport
from mnemolens.engine.secrets import refuse_secrets
from mnemolens.engine.workspace import Workspace

MAX_TOLD = 20
"""Lines that were skipped are told one by one up to this many."""


def export(root: Path | None, form: str, output: Path | None) -> int:
    """Write all memories to stdout or a file; returns the exit code."""
    with opened(root) as workspace:
        _read_code(workspace)
        if output is not None:
            try:
                report = asyncio.run(workspace.exchange.export(output.absolute(), form, now()))
            except InvalidArgument as error:
                raise InvalidArgument("--output", str(error).removeprefix("path: ")) from None
            note(f"{counted(report.memories, 'memory', 'memories')} written to {output}")
            return 0
        _, chunks = asyncio.run(workspace.exchange.exported(form, now()))
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    return 0


def import_file(root: Path | None, file: Path, *, dry_run: bool, allow_secret: bool, as_json: bool) -> int:
    """Merge the memories of an export into the store; returns the exit code: 1 where lines were skipped."""
    if not file.is_file():
        raise InvalidArgument("FILE", f"there is no file {file}")
    with opened(root) as workspace:
        _read_code(workspace)
        gate: Callable[[Mapping[str, Any]], None] = _let_pass if allow_secret else refuse_secrets
        work = workspace.exchange.import_file(file.absolute(), now(), dry_run=dry_run, gate=gate)
        report = asyncio.run(work)
        if not dry_run:
            workspace.journaling.write_found_sync()
            copy_memories(workspace)
    if as_json:
        put_json(
            {
                "memories": report.memories,
                "new": report.new,
                "updated": report.updated,
                "unchanged": report.unchanged,
                "skipped": [{"line": one.line, "reason": one.reason} for one in report.skipped],
                "warnings": [{"line": one.line, "reason": one.reason} for one in report.warnings],
            }
        )
    else:
        _print(report, dry_run=dry_run)
    return int(bool(report.skipped))


def purge(root: Path | None, given: str, *, yes: bool, as_json: bool) -> int:
    """Remove a memory for good; asks first on a terminal.

    Returns:
        The exit code: 1 where it was not removed, or not yet everywhere.
    """
    with opened(root) as workspace:
        try:
            one = memory_id(workspace, given)
        except NotFound:
            one = given  # of one that was purged before, what was pending is tried again
        title = (
            one_line(workspace.show.detail(one, now()).view.memory.title)
            if one in tuple(workspace.state.memories())
            else one
        )
        if one != title and not yes and sys.stdin.isatty() and not _agreed(title):
            note("nothing was removed")
            return 1
        report = asyncio.run(workspace.exchange.purge(one))
    if as_json:
        put_json({"removed": list(report.removed), "pending": list(report.pending)})
    else:
        _print_purge(title, report)
    return int(bool(report.pending))


def _read_code(workspace: Workspace) -> None:
    progress = Progress()
    workspace.survey(progress.show)
    progress.clear()


def _let_pass(_fields: Mapping[str, Any]) -> None:
    pass


def _agreed(title: str) -> bool:
    sys.stderr.write(f"Remove “{title}” for good, from all copies? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print(report: ImportReport, *, dry_run: bool) -> None:
    word = "Would be imported" if dry_run else "Imported"
    counts = f": {report.new} new, {report.updated} updated, {report.unchanged} unchanged"
    Screen().line(Span(word, "bold"), counts)
    for kind, lines in (("skipped", report.skipped), ("note", report.warnings)):
        for one in lines[:MAX_TOLD]:
            reason = one.reason.replace("set allowSecret", "add --allow-secret")
            note(f"{kind}: line {one.line}: {reason}")
        if len(lines) > MAX_TOLD:
            note(f"{kind}: {len(lines) - MAX_TOLD} more lines")


def _print_purge(title: str, report: PurgeReport) -> None:
    Screen().line(Span("Purged", "bold"), f": {title}")
    for name in report.pending:
        note(f"{name} still holds its text; whoever has it open removes it, or purge again later")

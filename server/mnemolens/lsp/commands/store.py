"""`mnemolens.store.export`, `.import` and `.restore`, and `mnemolens.memory.purge`."""

from pathlib import Path

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.views import Json
from mnemolens.engine.exchange import ImportReport
from mnemolens.engine.import_file import SkippedLineOfFile
from mnemolens.engine.secrets import refuse_secrets
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.indexing import code_read
from mnemolens.lsp.params import Arguments, IdArguments
from mnemolens.lsp.store_params import ExportArguments, ImportArguments

MAX_TOLD = 100
"""Lines that were skipped, and warnings, are told one by one up to this many."""


async def export(call: Call, arguments: ExportArguments) -> Json:
    """Write all memories to a file."""
    exchange = call.workspace(arguments).exchange
    report = await exchange.export(Path(arguments.path), arguments.format, call.ls.now())
    return {"memories": report.memories, "path": report.path, "format": report.format}


async def import_(call: Call, arguments: ImportArguments) -> Json:
    """Take in the memories of an export; again changes nothing."""
    workspace = call.workspace(arguments)
    await code_read(call.ls, workspace)  # which symbol stands on a line, and where paths of another root lead
    exchange = workspace.exchange
    path, now, dry_run = Path(arguments.path), call.ls.now(), arguments.dry_run
    if arguments.allow_secret:
        return _report(await exchange.import_file(path, now, dry_run=dry_run))
    return _report(await exchange.import_file(path, now, dry_run=dry_run, gate=refuse_secrets))


async def restore(call: Call, arguments: Arguments) -> Json:
    """Take in the last daily copy of this repository, where it has no memories of its own."""
    workspace = call.workspace(arguments)
    copy = await workspace.exchange.offer()
    if copy is None:
        raise InvalidArgument("root", "there is nothing to restore: no daily copy, or memories already")
    # They were stored once, and the user has them by heart: the gate would lose what was let in on purpose.
    await code_read(call.ls, workspace)
    report = await workspace.exchange.import_file(copy.path, call.ls.now())
    call.ls.offers.pop(workspace, None)
    return _report(report)


async def purge(call: Call, arguments: IdArguments) -> Json:
    """Remove a memory's text for good."""
    report = await call.workspace(arguments).exchange.purge(arguments.id)
    return {"removed": list(report.removed), "pending": list(report.pending)}


def _report(report: ImportReport) -> Json:
    return {
        "memories": report.memories,
        "new": report.new,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "skipped": _lines(report.skipped),
        "skippedTotal": len(report.skipped),
        "warnings": _lines(report.warnings),
    }


def _lines(lines: tuple[SkippedLineOfFile, ...]) -> list[Json]:
    return [{"line": one.line, "reason": one.reason} for one in lines[:MAX_TOLD]]

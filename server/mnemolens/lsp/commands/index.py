"""`mnemolens.index.rebuild` and `mnemolens.status`."""

import asyncio

from mnemolens import __version__
from mnemolens.core.views import JournalStatus, Json
from mnemolens.engine.json_form import folder_status, index_report, journal_status
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.indexing import index_folder
from mnemolens.lsp.params import Arguments
from mnemolens.lsp.upkeep import offered


async def rebuild(call: Call, arguments: Arguments) -> Json:
    """Read every file anew."""
    workspace = call.workspace(arguments)
    report = await index_folder(call.ls, workspace, rebuild=True, token=call.token)
    if report is None:
        raise asyncio.CancelledError
    return index_report(report)


def status(call: Call, arguments: Arguments) -> Json:
    """What is known, in numbers; of one folder where `root` is given."""
    folders = call.ls.folders
    chosen = None if arguments.root is None else folders.chosen(arguments.root)
    shown = [folder.workspace for folder in folders if chosen is None or folder.workspace is chosen]
    # Folders of one repository share a journal: it counts once.
    journals = {workspace.layout.store: workspace.journal_status() for workspace in shown}.values()
    journal = JournalStatus(
        segments=sum(one.segments for one in journals),
        events=sum(one.events for one in journals),
        skipped=sum(one.skipped for one in journals),
        unreadable=tuple(found for one in journals for found in one.unreadable),
    )
    return {
        "version": __version__,
        "folders": [
            {
                **folder_status(workspace.status()),
                "indexStopped": call.ls.whole.get(workspace) is False,
                "restore": offered(call.ls, workspace),
            }
            for workspace in reversed(shown)
        ],
        "journal": journal_status(journal),
    }

"""`mnemolens.index.rebuild`, `mnemolens.linking.resume` and `mnemolens.status`."""

import asyncio

from mnemolens import __version__
from mnemolens.core.views import JournalStatus, Json
from mnemolens.engine.json_form import folder_status, index_report, journal_status
from mnemolens.engine.status import journal_status_of, status_of
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.indexing import index_folder, show_relinking
from mnemolens.lsp.params import Arguments
from mnemolens.lsp.upkeep import offered


async def rebuild(call: Call, arguments: Arguments) -> Json:
    """Read every file anew."""
    workspace = call.workspace(arguments)
    report = await index_folder(call.ls, workspace, rebuild=True, token=call.token)
    if report is None:
        raise asyncio.CancelledError
    return index_report(report)


async def resume_linking(call: Call, arguments: Arguments) -> Json:
    """Go on with linking memories by changed rules, where that was cancelled."""
    workspace = call.workspace(arguments)
    relinking = workspace.relinking
    before = relinking.left
    relinking.resume()
    await show_relinking(call.ls, workspace, token=call.token)
    return {"linked": before - relinking.left, "left": relinking.left}


def status(call: Call, arguments: Arguments) -> Json:
    """What is known, in numbers; of one folder where `root` is given."""
    folders = call.ls.folders
    chosen = None if arguments.root is None else folders.chosen(arguments.root)
    shown = [folder.workspace for folder in folders if chosen is None or folder.workspace is chosen]
    # Folders of one repository share a journal: it counts once.
    journals = {workspace.layout.store: journal_status_of(workspace) for workspace in shown}.values()
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
                **folder_status(status_of(workspace)),
                "indexStopped": call.ls.whole.get(workspace) is False,
                "restore": offered(call.ls, workspace),
            }
            for workspace in reversed(shown)
        ],
        "journal": journal_status(journal),
    }

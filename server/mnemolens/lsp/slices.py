"""Finishes the parses of changed and of big documents in slices, so that no other request waits for them."""

import asyncio

from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import PAUSE_SECONDS
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer

SLICE_MS = 0.5
"""What a hover in another file waits for it, at least."""

SLOW_SLICE_MS = 3.0
"""The same where the document is slow to read: in small slices, that would take three times as long."""

QUIET_SECONDS = 0.005
"""So long after a change nothing is read that nobody asks for: many cursors change many documents."""

LATEST_SECONDS = 2.0
"""So long a reader of everything waits for documents, of which the user may change one for ever."""


def parse_in_slices(ls: MnemolensServer, workspace: Workspace) -> None:
    """Begin, unless nothing is pending or a task is at it already."""
    if workspace not in ls.slicing and workspace.sources.is_parsing:
        ls.slicing[workspace] = ls.spawn(_finish(ls, workspace), "parsing")


async def parsed(ls: MnemolensServer, workspace: Workspace) -> None:
    """Returns once what was typed is read."""
    task = ls.slicing.get(workspace)
    if task is not None:
        await asyncio.wait((task,), timeout=LATEST_SECONDS)


async def _finish(ls: MnemolensServer, workspace: Workspace) -> None:
    try:
        with bulk_load():
            await asyncio.sleep(QUIET_SECONDS)  # requests that came with the change are answered first
            while not workspace.sources.parse_pending(SLICE_MS, SLOW_SLICE_MS):  # noqa: ASYNC110  there is work to do, no event to wait for
                await asyncio.sleep(PAUSE_SECONDS)
    finally:
        del ls.slicing[workspace]
    ls.lenses_may_have_changed()

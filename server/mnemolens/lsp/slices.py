"""Finishes the parses of changed and of big documents in slices, so that no other request waits for them."""

import asyncio

from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import PAUSE_SECONDS
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer

SLICE_MS = 3.0
"""What a hover in another file waits for it."""


def parse_in_slices(ls: MnemolensServer, workspace: Workspace) -> None:
    """Begin, unless nothing is pending or a task is at it already."""
    if workspace in ls.slicing or not workspace.sources.is_parsing:
        return
    ls.slicing.add(workspace)
    ls.spawn(_finish(ls, workspace), "parsing")


async def _finish(ls: MnemolensServer, workspace: Workspace) -> None:
    try:
        with bulk_load():
            await asyncio.sleep(PAUSE_SECONDS)  # requests that came with the change are answered first
            while not workspace.sources.parse_pending(SLICE_MS):  # noqa: ASYNC110  there is work to do, no event to wait for
                await asyncio.sleep(PAUSE_SECONDS)
    finally:
        ls.slicing.discard(workspace)
    ls.lenses_may_have_changed()

"""Finishes the parses of big documents in slices beside the requests, so that typing never waits for them."""

import asyncio

from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import PAUSE_SECONDS
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.language_server import MnemolensServer

SLICE_MS = 8.0


def parse_in_slices(ls: MnemolensServer, workspace: Workspace) -> None:
    """Begin, unless nothing is pending or a task is at it already."""
    if workspace in ls.slicing or workspace.sources.parse_pending(0):
        return
    ls.slicing.add(workspace)
    ls.spawn(_finish(ls, workspace), "parsing")


async def _finish(ls: MnemolensServer, workspace: Workspace) -> None:
    try:
        with bulk_load():
            while not workspace.sources.parse_pending(SLICE_MS):  # noqa: ASYNC110  there is work to do, no event to wait for
                await asyncio.sleep(PAUSE_SECONDS)
    finally:
        ls.slicing.discard(workspace)
    ls.lenses_may_have_changed()

"""Waits for what comes in its own time: on a busy machine that may be long after it comes elsewhere."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 60.0


async def until(comes: Callable[[], object]) -> None:
    """Returns once `comes()` is true; `TimeoutError` when it never is."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not comes():  # noqa: ASYNC110  what is waited for tells nobody
            await asyncio.sleep(0.005)

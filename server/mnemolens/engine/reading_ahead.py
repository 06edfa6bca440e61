"""Reads a long text beside the event loop before a plan on the loop asks what stands in it.

Owns which readings these are; each remembers what it said (`core/long_texts.py`), so the plan finds it known.
"""

import asyncio

from mnemolens.core.long_texts import LONG
from mnemolens.core.memory_text import count_tokens
from mnemolens.engine.capture import normalised_hash


async def read_ahead(text: str | None) -> None:
    """Returns once what a capture asks of this text is known; at once for a text that is not long."""
    if text is not None and len(text) > LONG:
        await asyncio.to_thread(_read, text)


def _read(text: str) -> None:
    from mnemolens.engine.secrets import find_secrets  # a hundred patterns, needed for writing only

    count_tokens(text)
    find_secrets(text)
    normalised_hash(text)

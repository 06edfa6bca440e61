"""Who writes here, for events that somebody causes by their own word."""

import asyncio

from mnemolens.store.git import author_name
from mnemolens.store.layout import Layout


class Author:
    """The author of what is written in one folder.

    Attributes:
        name: git's user name; None until it was asked for, and where git knows none.
    """

    def __init__(self, layout: Layout) -> None:
        self.name: str | None = None
        self._layout = layout

    def ask(self) -> None:
        """Asks git, which starts a process."""
        self.name = author_name(self._layout)

    async def ask_off_loop(self) -> None:
        """`ask`, beside other requests."""
        self.name = await asyncio.to_thread(author_name, self._layout)

    async def ensure_asked(self) -> None:
        """`ask_off_loop`, unless the name is known."""
        if self.name is None:
            await self.ask_off_loop()

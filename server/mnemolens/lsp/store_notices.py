"""Tells the user what of a folder's memories can't be read: memories must not vanish without a word.

The journal says what it could not read; here are only the words, and that they are said once.
"""

from mnemolens.engine.status import journal_status_of
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer


def tell_what_is_unreadable(ls: MnemolensServer, folder: Folder) -> None:
    """Show one warning where the system does not let us read the store, or segments in it."""
    unreadable = journal_status_of(folder.workspace).unreadable
    if not unreadable:
        return
    first, more = unreadable[0], len(unreadable) - 1
    others = f", nor can {more} more beside it" if more else ""
    ls.notice(
        f"Memories are missing: {first.file} {first.reason}{others}. Nothing was changed there. Give your "
        "user the right to read it (on Linux and macOS: chmod u+rwX), and they come back by themselves."
    )

"""Tells the user what of a folder's memories can't be read: memories must not vanish without a word.

The journal says what it could not read; here are only the words, and that they are said once.
"""

import logging

from mnemolens.lsp.folders import Folder
from mnemolens.lsp.language_server import MnemolensServer

logger = logging.getLogger(__name__)


def tell_what_is_unreadable(ls: MnemolensServer, folder: Folder) -> None:
    """Show one warning for each file or folder of the store that the system does not let us read."""
    for found in folder.workspace.journal_status().unreadable:
        ls.notice(
            f"Memories of {folder.given} are missing: {found.file} {found.reason}. Nothing in it is lost: "
            "give your user the right to read it (on Linux and macOS: chmod u+rwX), and they come back."
        )

"""`mnemolens mcp`."""

import asyncio
from pathlib import Path

from mnemolens.core.errors import InvalidArgument
from mnemolens.store.layout import find_layout


def run(root: Path | None) -> int:
    """Serves a folder's memories to a coding agent, until it leaves.

    Raises:
        InvalidArgument: there is no such folder, or the extra is not installed.
    """
    folder = find_layout(Path.cwd()).top if root is None else root.absolute()
    if not folder.is_dir():
        raise InvalidArgument("root", f"{folder} is no folder; name one that exists")
    try:
        from mnemolens.mcp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        # It is not there, or too old.
        raise InvalidArgument("mcp", 'needs one more package: pip install "mnemolens[mcp]"') from None
    asyncio.run(serve(folder))
    return 0

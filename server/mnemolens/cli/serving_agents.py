"""`mnemolens mcp`."""

import asyncio
import importlib.util
from pathlib import Path

from mnemolens.core.errors import InvalidArgument
from mnemolens.store.layout import find_layout


def run(root: Path | None) -> int:
    """Serves a folder's memories to a coding agent, until it leaves.

    Raises:
        InvalidArgument: there is no such folder, or the extra is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise InvalidArgument("mcp", 'needs one more package: pip install "mnemolens[mcp]"')
    folder = find_layout(Path.cwd()).top if root is None else root.absolute()
    if not folder.is_dir():
        raise InvalidArgument("root", f"{folder} is no folder; name one that exists")
    from mnemolens.mcp.server import serve

    asyncio.run(serve(folder))
    return 0

"""Gives the sample project its memories: starts the real server and captures them through the protocol.

Usage: `python seed.py FOLDER`, with a Python that has mnemolens.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60.0  # seconds for the whole seeding


@dataclass(frozen=True)
class Seed:
    """One memory, captured where `at` first stands in `file`."""

    file: str
    at: str
    content: str
    type: str = "semantic"
    tags: tuple[str, ...] = ()


SEEDS = (
    Seed(
        "shop/payments.py",
        "charge(provider",
        "Retry must stay idempotent\n\nThe provider double-charges when the key changes between attempts: on "
        "2026-03-14 eleven customers paid twice. The key is made once, before the loop.",
        "episodic",
        ("incident",),
    ),
    Seed(
        "shop/payments.py",
        "refund(provider",
        "Refunds answer `pending` on bank holidays\n\nThe provider then sends no second answer. Ana asked "
        "them: treat `pending` as refunded and let the nightly list find the rest.",
    ),
    Seed(
        "shop/money.py",
        "round_cents(value",
        "Halves go to the even cent, as the tax office wants it\n\n`round()` on floats was off by a cent in "
        "3 of 1,000 invoices.",
    ),
    Seed(
        "shop/stock.py",
        "Stock:",
        "One Stock a warehouse\n\nReservations live in memory only: after a restart run the nightly "
        "reconciliation before opening the shop.",
        "procedural",
    ),
    Seed(
        "web/src/cart.ts",
        "cartTotal(lines",
        "Cart and server must agree on free shipping\n\n`cartTotal` shows what `order_total` in "
        "shop/checkout.py charges. Change the limit in both.",
    ),
)


def position_of(wanted: str, text: str) -> dict[str, int]:
    """Where `wanted` first stands in `text`, as an LSP position (the sample is ASCII up to there)."""
    before = text[: text.index(wanted)]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


async def indexed(client: LanguageClient, root: str) -> None:
    """Wait until the server has seen the whole folder."""
    while True:
        status = await execute(client, "mnemolens.status", {"root": root})
        if status["folders"] and all(folder["indexing"] is None for folder in status["folders"]):
            return
        await asyncio.sleep(0.1)


async def execute(client: LanguageClient, command: str, argument: dict[str, Any]) -> dict[str, Any]:
    """Run one command of the server; raises with the server's own message."""
    answer = await client.workspace_execute_command_async(types.ExecuteCommandParams(command, [argument]))
    return answer if isinstance(answer, dict) else dict(vars(answer))


async def seed(folder: Path) -> int:
    """Capture every seed in `folder`; returns how many were stored."""
    client = LanguageClient("mnemolens-seed", "1")
    client.feature(types.WINDOW_LOG_MESSAGE)(lambda _message: None)
    await client.start_io(sys.executable, "-m", "mnemolens", "serve")
    root = folder.as_uri()
    await client.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            workspace_folders=[types.WorkspaceFolder(uri=root, name=folder.name)],
        )
    )
    client.initialized(types.InitializedParams())
    await indexed(client, root)
    for one in SEEDS:
        path = folder / one.file
        await execute(
            client,
            "mnemolens.memory.capture",
            {
                "uri": path.as_uri(),
                "position": position_of(one.at, path.read_text(encoding="utf-8")),
                "content": one.content,
                "type": one.type,
                "tags": list(one.tags),
                "author": "Ana",
            },
        )
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return len(SEEDS)


def main() -> int:
    """Seed the folder named on the command line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: seed.py FOLDER", file=sys.stderr)
        return 2
    count = asyncio.run(asyncio.wait_for(seed(Path(sys.argv[1]).resolve()), PATIENCE))
    print(f"It holds {count} memories.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Commands that other programs run: queries, and the servers of editors and agents.

Reads arguments and hands over to the module that carries the command out, imported when it is run.
"""

import ipaddress
from typing import Annotated

import typer

from mnemolens.cli.arguments import Json, Root
from mnemolens.cli.running import command, fail

app = typer.Typer()
_PANEL = "For programs"


@command(
    app,
    _PANEL,
    (
        'mnemolens cypher "MATCH (f:CodeFunction) RETURN f.function_id LIMIT 10"',
        "mnemolens cypher 'MATCH (m) WHERE m.memory_id = $id RETURN m.title' --param id=01K…",
    ),
)
def cypher(
    query: Annotated[str, typer.Argument(metavar="QUERY", show_default=False, help="One Cypher query.")],
    *,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter; its value in JSON, or else a text."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="How many rows at most, up to 1000.")
    ] = 1000,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Ask the graph of code and memories, read-only."""
    from mnemolens.cli import querying

    return querying.run(root, query, param or (), limit, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens serve --tcp 127.0.0.1:5007",),
    lasting=True,
)
def serve(
    *,
    stdio: Annotated[  # noqa: ARG001  accepted because clients add it
        bool, typer.Option("--stdio", help="The default; accepted because clients add it.")
    ] = False,
    tcp: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve one client on a port instead, to debug.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let --tcp listen beyond this machine.")
    ] = False,
) -> int:
    """Serve the Language Server Protocol, for editors."""
    if tcp is None:
        from mnemolens.lsp.server import serve_stdio

        return serve_stdio()
    host, port = _address(tcp)
    if not allow_remote and not _is_loopback(host):
        message = f"{host} can be reached from other machines, and whoever connects can change all memories"
        return fail(f"{message}; use 127.0.0.1, or add --allow-remote")
    from mnemolens.lsp.server import serve_tcp

    return serve_tcp(host, port)


@command(
    app,
    _PANEL,
    ("mnemolens mcp", "mnemolens mcp --root ~/src/shop"),
    lasting=True,
)
def mcp(*, root: Root = None) -> int:
    """Serve the Model Context Protocol on stdio, for coding agents."""
    from mnemolens.cli import serving_agents

    return serving_agents.run(root)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT", param_hint="--tcp")
    return host.strip("[]") or "127.0.0.1", int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

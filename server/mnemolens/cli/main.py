"""The command line: `mnemolens serve`, `index`, `--version`. Reads arguments and hands over.

Heavy imports are deferred to the command that needs them: `--version` answers at once.
"""

import argparse
import ipaddress
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mnemolens import __version__
from mnemolens.core.errors import MnemolensError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: as on the command line, without the program's name; None takes them from there.

    Returns:
        The exit code: 0 fine, 1 the answer is "no", 2 wrong use.
    """
    given = _parser().parse_args(arguments)
    try:
        code: int = given.run(given)
    except MnemolensError as error:
        print(f"mnemolens: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def _index(given: argparse.Namespace) -> int:
    from mnemolens.cli.index import run

    return run(given.folder, as_json=given.json)


def _serve(given: argparse.Namespace) -> int:
    if given.tcp is None:
        from mnemolens.lsp.server import serve_stdio

        return serve_stdio()
    host, port = given.tcp
    if not given.allow_remote and not _is_loopback(host):
        message = f"{host} can be reached from other machines, and whoever connects can change all memories"
        print(f"mnemolens: {message}; use 127.0.0.1, or add --allow-remote", file=sys.stderr)
        return 2
    from mnemolens.lsp.server import serve_tcp

    return serve_tcp(host, port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mnemolens", description="Memories on the code they are about, shown where you work."
    )
    parser.add_argument("--version", action="version", version=f"mnemolens {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the Language Server Protocol on stdin and stdout")
    serve.add_argument("--stdio", action="store_true", help="the default; accepted because clients add it")
    serve.add_argument("--tcp", type=_address, metavar="HOST:PORT", help="serve one client on a port instead")
    serve.add_argument("--allow-remote", action="store_true", help="let --tcp listen beyond this machine")
    serve.set_defaults(run=_serve)
    index = commands.add_parser("index", help="index a folder and say what was found")
    index.add_argument(
        "folder", type=Path, nargs="?", default=Path(), metavar="DIR", help="default: this one"
    )
    index.add_argument("--json", action="store_true", help="write one symbol a line as JSON")
    index.set_defaults(run=_index)
    return parser


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

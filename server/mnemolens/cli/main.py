"""The command line: the program itself, made of the groups of commands in `commands/`.

Each command is carried out by a module of its own, which is imported when it is run: `--version`, `--help`
and the shell's completion answer at once. `running.py` turns what goes wrong into a line and an exit code.
"""

from collections.abc import Sequence
from typing import Annotated

import typer

from mnemolens import __version__
from mnemolens.cli.commands import folder, memories, programs, repair
from mnemolens.cli.running import Group, examples, run

app = typer.Typer(
    name="mnemolens",
    cls=Group,
    help="Memories on the code they are about, shown where you work."
    + examples(
        'mnemolens remember "Retry must stay idempotent" --at shop/pay.py::charge',
        "mnemolens recall --at shop/pay.py:42",
        "mnemolens recall why do retries fail",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

for group in (memories, repair, folder, programs):  # the order of the help
    app.add_typer(group.app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: as on the command line, without the program's name; None takes them from there.

    Returns:
        The exit code: 0 fine, 1 the answer is "no", 2 wrong use, 130 interrupted.
    """
    return run(app, arguments)


def _version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"mnemolens {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Say the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself; its help is the application's."""

"""Commands that keep memories on their code and related to each other.

Reads arguments and hands over to the module that carries the command out, imported when it is run.
"""

from typing import Annotated

import typer

from mnemolens.cli.arguments import At, EdgeName, Id, Json, Root, complete_id, one_of
from mnemolens.cli.running import command

app = typer.Typer()
_PANEL = "Keeping them true"


@command(
    app,
    _PANEL,
    (
        "mnemolens track HEAD~20 HEAD",
        "mnemolens track ../shop-1.0 ../shop-1.1 --json",
    ),
)
def track(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", show_default=False, help="A folder, or a git revision of this repository."
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", show_default=False, help="What to compare it with, of the same kind."),
    ],
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is as it was; --json always tells it.")
    ] = False,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Say what became of every definition, and what would become of the memories on them.

    Where both names are folders, folders are compared; ./NAME always is one. Nothing is changed.
    """
    from mnemolens.cli import tracking

    return tracking.run(root, old, new, everything=everything, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens confirm 7XK2M4QF",),
)
def confirm(
    memory: Id,
    *,
    anchor: Annotated[
        str | None, typer.Option(metavar="ID", help="Only for this anchor (`show --json` names them).")
    ] = None,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Say that a memory is still true of the code as it is now."""
    from mnemolens.cli import changing

    return changing.confirm(root, memory, anchor, as_json=as_json)


Other = Annotated[
    str | None,
    typer.Option("--to", metavar="ID", autocompletion=complete_id, help="Another memory."),
]
EdgeType = Annotated[
    EdgeName | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help=f"With --to: how they are related: {one_of(EdgeName)}. SAME_TOPIC if not given.",
    ),
]


@command(
    app,
    _PANEL,
    (
        "mnemolens link 7XK2M4QF --at shop/pay.py::refund",
        "mnemolens link 7XK2M4QF --to 0D3RWN5S --type CONTRADICTS",
    ),
)
def link(
    memory: Id,
    *,
    at: At = None,
    to: Other = None,
    kind: EdgeType = None,
    weight: Annotated[
        float | None, typer.Option(metavar="0..1", help="With --to: how strongly they are related.")
    ] = None,
    relevance: Annotated[
        float | None, typer.Option(metavar="0..1", help="With --at: how much it says of that code.")
    ] = None,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Link a memory to code, or to another memory."""
    from mnemolens.cli import changing

    return changing.link(
        root, memory, at=at, to=to, kind=kind, weight=weight, relevance=relevance, as_json=as_json
    )


@command(
    app,
    _PANEL,
    (
        "mnemolens unlink 7XK2M4QF --at shop/pay.py::refund",
        "mnemolens unlink 7XK2M4QF --to 0D3RWN5S --type CONTRADICTS",
    ),
)
def unlink(
    memory: Id,
    *,
    at: At = None,
    to: Other = None,
    kind: EdgeType = None,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Take a link away.

    A name in the text is then not linked to that code again.
    """
    from mnemolens.cli import changing

    return changing.unlink(root, memory, at=at, to=to, kind=kind, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens conflicts", "mnemolens conflicts 7XK2M4QF"),
)
def conflicts(
    memory: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", show_default=False, autocompletion=complete_id, help="Only those with this memory."
        ),
    ] = None,
    *,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Show memories that contradict each other.

    Ends with 1 where none do.
    """
    from mnemolens.cli import connecting

    return connecting.conflicts(root, memory, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens clusters --min-size 3",),
)
def clusters(
    *,
    min_size: Annotated[
        int, typer.Option("--min-size", min=1, metavar="N", help="How many memories must be connected.")
    ] = 2,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Show memories that are connected with each other.

    Ends with 1 where none are.
    """
    from mnemolens.cli import connecting

    return connecting.clusters(root, min_size, as_json=as_json)

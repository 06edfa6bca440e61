"""Arguments that several commands share: their names, help and completion. Reads nothing until asked."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

MemoryType = Literal["episodic", "semantic", "procedural", "prospective", "working"]
Trigger = Literal["change", "open", "merge"]
VerdictName = Literal["fresh", "moved", "drifted", "ambiguous", "unanchored", "lost"]
EdgeName = Literal[
    "SHARED_ENTITY",
    "TEMPORAL_SEQUENCE",
    "SAME_TOPIC",
    "CONTRADICTS",
    "SUPERSEDES",
    "CAUSED_BY",
    "CO_ACTIVATED",
    "SCHEMA_INSTANCE",
]


def one_of(names: Any) -> str:
    """A literal's names for a help text: beside the option they would be broken where a column ends."""
    *first, last = get_args(names)
    return f"{', '.join(first)} or {last}"


def complete_id(incomplete: str) -> Iterator[tuple[str, str]]:
    """The ids of memories with their titles, for the shell; nothing where anything is amiss."""
    with suppress(Exception):
        from mnemolens.cli.session import memories_like

        yield from memories_like(incomplete)


Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        file_okay=False,
        help="Work on this folder instead of the repository that the current one is in.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="PLACE", help="Where: FILE, FILE:LINE or FILE::NAME (a function or class)."),
]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        show_default=False,
        autocompletion=complete_id,
        help="A memory's id; its last characters are enough.",
    ),
]
Type = Annotated[
    MemoryType | None,
    typer.Option("--type", metavar="TYPE", help=f"Only memories of this type: {one_of(MemoryType)}."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only memories with this tag; repeat for more."),
]
Session = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Only memories of this session.")
]
Agent = Annotated[str | None, typer.Option("--agent", metavar="ID", help="Only memories of this agent.")]

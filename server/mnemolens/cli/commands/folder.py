"""Commands on a whole folder: what it holds, its index, and memories that leave it or come into it.

Reads arguments and hands over to the module that carries the command out, imported when it is run.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mnemolens.cli.arguments import Id, Json, Root
from mnemolens.cli.running import command, fail

app = typer.Typer()
_PANEL = "The folder"


@command(
    app,
    _PANEL,
    ("mnemolens status --json",),
)
def status(*, as_json: Json = False, root: Root = None) -> int:
    """Say what each part is at: code, memories, journal, graph."""
    from mnemolens.cli import upkeep

    return upkeep.status(root, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens stats",),
)
def stats(*, as_json: Json = False, root: Root = None) -> int:
    """Count memories by type, verdict, layer, tag and so on."""
    from mnemolens.cli import upkeep

    return upkeep.stats(root, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens doctor",),
)
def doctor(*, as_json: Json = False, root: Root = None) -> int:
    """Look for damage, repair what can be, say what was found.

    Ends with 1 where something is left for you to do.
    """
    from mnemolens.cli import upkeep

    return upkeep.doctor(root, as_json=as_json)


@command(
    app,
    _PANEL,
    (
        "mnemolens index",
        "mnemolens index src --json | wc -l",
    ),
)
def index(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", show_default=False, help="The folder; default: the current one."),
    ] = Path(),
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Write one symbol a line as JSON.")] = False,
) -> int:
    """Index a folder and say what was found."""
    from mnemolens.cli import index as indexing

    return indexing.run(folder, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens export > memories.jsonl", "mnemolens export --format markdown --output MEMORIES.md"),
)
def export(
    *,
    form: Annotated[
        Literal["jsonl", "markdown"],
        typer.Option("--format", help="jsonl to import again, markdown to read."),
    ] = "jsonl",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Write to a file instead of stdout.")
    ] = None,
    root: Root = None,
) -> int:
    """Write all memories, to keep or to share."""
    from mnemolens.cli import exchanging

    return exchanging.export(root, form, output)


@command(
    app,
    _PANEL,
    (
        "mnemolens import memories.jsonl --dry-run",
        "mnemolens import --comments --agents --dry-run",
        "mnemolens import --comments src/billing.py",
        "mnemolens import --undo",
    ),
    name="import",
)
def import_(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="An export in JSON Lines; with --comments or --agents: look in these alone.",
        ),
    ] = None,
    *,
    comments: Annotated[
        bool,
        typer.Option("--comments", help="Take in the code's own TODO, FIXME, HACK, NOTE and XXX comments."),
    ] = False,
    agent_files: Annotated[
        bool, typer.Option("--agents", help="Take in the sections of AGENTS.md and CLAUDE.md.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the last import of comments or agent files back, as one.")
    ] = False,
    allow_secret: Annotated[
        bool, typer.Option("--allow-secret", help="Take memories that seem to hold a secret too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Take in an export, or the project's own comments and agent files; again changes nothing.

    What was edited since is followed, what you forgot stays forgotten. Ends with 1 where something had to be
    left out.
    """
    given = tuple(paths or ())
    if undo or comments or agent_files:
        if allow_secret or (undo and (given or comments or agent_files)):
            return fail("import: --undo stands alone, and --allow-secret is for a FILE")
        from mnemolens.cli import importing

        if undo:
            return importing.undo(root, dry_run=dry_run, as_json=as_json)
        return importing.run(
            root, given, comments=comments, agent_files=agent_files, dry_run=dry_run, as_json=as_json
        )
    if len(given) != 1:
        return fail("FILE: name one file to import, or say --comments or --agents")
    from mnemolens.cli import exchanging

    return exchanging.import_file(root, given[0], dry_run=dry_run, allow_secret=allow_secret, as_json=as_json)


@command(app, _PANEL, ("mnemolens purge 7XK2M4QF",))
def purge(
    memory: Id,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Remove a memory's text for good, from all copies too."""
    from mnemolens.cli import exchanging

    return exchanging.purge(root, memory, yes=yes, as_json=as_json)

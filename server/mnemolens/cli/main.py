"""The command line: every command with its arguments, help and examples. Reads them and hands over.

Each command is carried out by a module of its own, which is imported when it is run: `--version`, `--help`
and the shell's completion answer at once. `running.py` turns what goes wrong into a line and an exit code.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from mnemolens import __version__
from mnemolens.cli.arguments import (
    Agent,
    At,
    EdgeName,
    Id,
    Json,
    MemoryType,
    Root,
    Session,
    Tags,
    Type,
    VerdictName,
    complete_id,
)
from mnemolens.cli.running import command, examples, fail, run

app = typer.Typer(
    name="mnemolens",
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

_MEMORIES = "Memories"
_REPAIR = "Keeping them true"
_FOLDER = "The folder"
_PROGRAMS = "For programs"


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


# Memories --------------------------------------------------------------------------------------------------


@command(
    app,
    _MEMORIES,
    (
        'mnemolens remember "The provider double-charges on retry" --at shop/pay.py::charge',
        'mnemolens remember "Ask Ana before touching this" --at shop/pay.py:42 --tag owner',
        "git log -1 --format=%B | mnemolens remember - --type episodic",
    ),
)
def remember(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", show_default=False, help="What to remember; - reads it from stdin."),
    ],
    *,
    at: At = None,
    kind: Annotated[MemoryType, typer.Option("--type", help="What kind of memory it is.")] = "semantic",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its title; else its first words are.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="A tag; repeat the option for more.")
    ] = None,
    importance: Annotated[
        float, typer.Option(min=0, max=1, metavar="0..1", help="How much it matters.")
    ] = 0.5,
    file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file that it is about, besides the place that it stands on."),
    ] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The session it comes from.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="ID", help="The agent that it comes from.")] = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE", help="From when on it no longer counts, as in 2031-05-20 or 2031-05-20T18:00:00."
        ),
    ] = None,
    allow_secret: Annotated[
        bool, typer.Option("--allow-secret", help="Store it although it seems to hold a secret.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be stored.")] = False,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Remember something, best on the code that it is about.

    Code that the text names is linked too.
    """
    from mnemolens.cli import remembering
    from mnemolens.engine.requests import CaptureRequest

    request = CaptureRequest(
        text,
        title=title,
        type=kind,
        tags=tuple(tag or ()),
        importance=importance,
        session_id=session,
        agent_id=agent,
        expires_at=None if expires is None else expires.astimezone(),
        allow_secret=allow_secret,
    )
    return remembering.run(root, request, at, file, dry_run=dry_run, as_json=as_json)


@command(
    app,
    _MEMORIES,
    (
        "mnemolens recall --at shop/pay.py:42",
        "mnemolens recall --at shop/pay.py::Payment.charge --budget 2000 --json",
        "mnemolens recall double charge --explain",
    ),
)
def recall(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", show_default=False, help="Words to look for."),
    ] = None,
    *,
    at: At = None,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="Tokens that all of it together may have.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many memories at most.")] = 10,
    layer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYER", help="Only memories of this layer: core, active, long_term or archive."
        ),
    ] = None,
    session: Session = None,
    agent: Agent = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each rank came about.")] = False,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Do not count what is recalled as used.")
    ] = False,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """Bring to mind what is known of a place, or of some words.

    At a place its own memories come first, then those of its class and file, then what the words find.
    Ends with 1 where nothing is known.
    """
    from mnemolens.cli import recalling
    from mnemolens.engine.requests import RecallRequest

    request = RecallRequest(
        query=" ".join(query or ()) or None,
        token_budget=budget,
        limit=limit,
        layers=tuple(layer or ()),
        session_id=session,
        agent_id=agent,
    )
    return recalling.run(root, request, at, explain=explain, record=not no_record, as_json=as_json)


@command(
    app,
    _MEMORIES,
    (
        "mnemolens list --verdict drifted",
        "mnemolens list --at shop/pay.py --tag owner",
    ),
    name="list",
)
def list_(
    *,
    at: At = None,
    kind: Type = None,
    tag: Tags = None,
    verdict: Annotated[VerdictName | None, typer.Option(help="Only memories of this verdict.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="QUERY", help="Only memories that a search finds.")
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="What fits the text best first.")] = False,
    session: Session = None,
    agent: Agent = None,
    forgotten: Annotated[bool, typer.Option("--all", help="Forgotten and expired memories too.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", help="How many at most, up to 1000.")] = 100,
    offset: Annotated[int, typer.Option(metavar="N", help="How many to pass over.")] = 0,
    as_json: Json = False,
    root: Root = None,
) -> int:
    """List memories, newest first; at a place those on it, best first."""
    from mnemolens.cli import listing
    from mnemolens.engine.requests import ListRequest

    request = ListRequest(
        type=kind,
        tags=tuple(tag or ()),
        verdict=verdict,
        query=text,
        best=best,
        session_id=session,
        agent_id=agent,
        include_forgotten=forgotten,
        limit=limit,
        offset=offset,
    )
    return listing.run(root, request, at, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens show 7XK2M4QF",),
)
def show(memory: Id, *, as_json: Json = False, root: Root = None) -> int:
    """Show all that is known of a memory: text, places, links, history."""
    from mnemolens.cli import showing

    return showing.run(root, memory, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens edit 7XK2M4QF",),
)
def edit(memory: Id, *, root: Root = None) -> int:
    """Edit a memory in your editor ($VISUAL, $EDITOR); saving stores it."""
    from mnemolens.cli import editing

    return editing.run(root, memory)


_ids = typer.Argument(
    metavar="ID",
    show_default=False,
    autocompletion=complete_id,
    help="Ids of memories; their last characters are enough.",
)
Ids = Annotated[list[str], _ids]


IdsOrSession = Annotated[list[str] | None, _ids]
WholeSession = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="ID", help="All memories of this session; `mnemolens sessions` lists them."
    ),
]


def _of_session(
    root: Path | None,
    act: Literal["forget", "restore"],
    ids: list[str] | None,
    session: str | None,
    *,
    as_json: bool,
) -> int:
    if bool(ids) == (session is not None):
        return fail("ID: name memories, or a --session, and not both")
    if session is not None:
        from mnemolens.cli import origins

        return origins.change_session(root, act, session, as_json=as_json)
    from mnemolens.cli import changing

    return changing.set_status(root, act, ids or (), as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens forget 7XK2M4QF", "mnemolens forget --session review-42"),
)
def forget(
    memories: IdsOrSession = None, *, session: WholeSession = None, as_json: Json = False, root: Root = None
) -> int:
    """Hide memories; restore brings them back."""
    return _of_session(root, "forget", memories, session, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens restore 7XK2M4QF", "mnemolens restore --session review-42"),
)
def restore(
    memories: IdsOrSession = None, *, session: WholeSession = None, as_json: Json = False, root: Root = None
) -> int:
    """Bring forgotten or expired memories back, or make done ones open again."""
    return _of_session(root, "restore", memories, session, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens done 7XK2M4QF",),
)
def done(memories: Ids, *, as_json: Json = False, root: Root = None) -> int:
    """Mark memories as acted upon."""
    from mnemolens.cli import changing

    return changing.set_status(root, "done", memories, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens sessions", "mnemolens list --session review-42", "mnemolens forget --session review-42"),
)
def sessions(*, as_json: Json = False, root: Root = None) -> int:
    """List the sessions that memories come from, the last used first."""
    from mnemolens.cli import origins

    return origins.sessions(root, as_json=as_json)


@command(
    app,
    _MEMORIES,
    ("mnemolens agents", "mnemolens list --agent claude"),
)
def agents(*, as_json: Json = False, root: Root = None) -> int:
    """List the agents that memories come from, the last active first."""
    from mnemolens.cli import origins

    return origins.agents(root, as_json=as_json)


# Keeping them true -----------------------------------------------------------------------------------------


@command(
    app,
    _REPAIR,
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
    _REPAIR,
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
EdgeType = Annotated[EdgeName | None, typer.Option("--type", help="With --to: how they are related.")]


@command(
    app,
    _REPAIR,
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
    _REPAIR,
    ("mnemolens unlink 7XK2M4QF --at shop/pay.py::refund",),
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
    _REPAIR,
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
    """Show memories that contradict each other."""
    from mnemolens.cli import connecting

    return connecting.conflicts(root, memory, as_json=as_json)


@command(
    app,
    _REPAIR,
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
    """Show memories that are connected with each other."""
    from mnemolens.cli import connecting

    return connecting.clusters(root, min_size, as_json=as_json)


# The folder ------------------------------------------------------------------------------------------------


@command(
    app,
    _FOLDER,
    ("mnemolens status --json",),
)
def status(*, as_json: Json = False, root: Root = None) -> int:
    """Say what each part is at: code, memories, journal, graph."""
    from mnemolens.cli import upkeep

    return upkeep.status(root, as_json=as_json)


@command(
    app,
    _FOLDER,
    ("mnemolens stats",),
)
def stats(*, as_json: Json = False, root: Root = None) -> int:
    """Count memories by type, verdict, layer, tag and so on."""
    from mnemolens.cli import upkeep

    return upkeep.stats(root, as_json=as_json)


@command(
    app,
    _FOLDER,
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
    _FOLDER,
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


# For programs ----------------------------------------------------------------------------------------------


@command(
    app,
    _FOLDER,
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
    _FOLDER,
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


@command(app, _FOLDER, ("mnemolens purge 7XK2M4QF",))
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


@command(
    app,
    _PROGRAMS,
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
    _PROGRAMS,
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
    _PROGRAMS,
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

"""Commands that store memories and find them again, or let go of them.

Reads arguments and hands over to the module that carries the command out, imported when it is run.
"""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from mnemolens.cli.arguments import (
    Agent,
    At,
    Id,
    Json,
    MemoryType,
    Root,
    Session,
    Tags,
    Trigger,
    Type,
    VerdictName,
    complete_id,
    one_of,
)
from mnemolens.cli.running import command, fail

app = typer.Typer()
_PANEL = "Memories"


@command(
    app,
    _PANEL,
    (
        'mnemolens remember "Retries pay twice" --at shop/pay.py::charge',
        'mnemolens remember "Ask Ana before touching this" --at shop/pay.py:42',
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
    kind: Annotated[
        MemoryType,
        typer.Option("--type", metavar="TYPE", help=f"What kind of memory it is: {one_of(MemoryType)}."),
    ] = "semantic",
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
    due: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", help="From when on editors remind of it, until it is done."),
    ] = None,
    trigger: Annotated[
        Trigger | None,
        typer.Option(
            metavar="EVENT",
            help=f"What editors remind of it at: {one_of(Trigger)} (its code, its file, its branch).",
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
        due_at=None if due is None else due.astimezone(),
        trigger=None if trigger is None else {"on": trigger},
        allow_secret=allow_secret,
    )
    return remembering.run(root, request, at, file, dry_run=dry_run, as_json=as_json)


@command(
    app,
    _PANEL,
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
    _PANEL,
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
    verdict: Annotated[
        VerdictName | None,
        typer.Option(metavar="VERDICT", help=f"Only memories of this verdict: {one_of(VerdictName)}."),
    ] = None,
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
    _PANEL,
    ("mnemolens show 7XK2M4QF",),
)
def show(memory: Id, *, as_json: Json = False, root: Root = None) -> int:
    """Show all that is known of a memory: text, places, links, history."""
    from mnemolens.cli import showing

    return showing.run(root, memory, as_json=as_json)


@command(
    app,
    _PANEL,
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
    _PANEL,
    ("mnemolens forget 7XK2M4QF", "mnemolens forget --session review-42"),
)
def forget(
    memories: IdsOrSession = None, *, session: WholeSession = None, as_json: Json = False, root: Root = None
) -> int:
    """Hide memories; restore brings them back."""
    return _of_session(root, "forget", memories, session, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens restore 7XK2M4QF", "mnemolens restore --session review-42"),
)
def restore(
    memories: IdsOrSession = None, *, session: WholeSession = None, as_json: Json = False, root: Root = None
) -> int:
    """Bring forgotten or expired memories back, or make done ones open again."""
    return _of_session(root, "restore", memories, session, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens done 7XK2M4QF",),
)
def done(memories: Ids, *, as_json: Json = False, root: Root = None) -> int:
    """Mark memories as acted upon."""
    from mnemolens.cli import changing

    return changing.set_status(root, "done", memories, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens sessions", "mnemolens list --session review-42", "mnemolens forget --session review-42"),
)
def sessions(*, as_json: Json = False, root: Root = None) -> int:
    """List the sessions that memories come from, the last used first."""
    from mnemolens.cli import origins

    return origins.sessions(root, as_json=as_json)


@command(
    app,
    _PANEL,
    ("mnemolens agents", "mnemolens list --agent claude"),
)
def agents(*, as_json: Json = False, root: Root = None) -> int:
    """List the agents that memories come from, the last active first."""
    from mnemolens.cli import origins

    return origins.agents(root, as_json=as_json)

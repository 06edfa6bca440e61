"""`mnemolens remember`: stores a memory on a place in the code, or shows what would be stored."""

import sys
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import cast

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import copy_memories, now, opened, short_id
from mnemolens.cli.terminal import Screen, Span, note, one_line, put_json
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.views import CaptureView, LinkView
from mnemolens.engine.json_form import JsonForm
from mnemolens.engine.places import file_at, place_at
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.suggestions import is_on_none
from mnemolens.engine.workspace import Workspace

_MOST_FILES = 200
"""Of a folder whose code is read only to offer what a note may be about: that takes half a second."""


def run(
    root: Path | None,
    request: CaptureRequest,
    at: str | None,
    about: str | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Store a memory.

    Args:
        root: as for `session.opened`.
        request: what to store; place and metadata are still missing; the content "-" stands for stdin.
        at: the place, as the user wrote it.
        about: a file that it is about, as the user wrote it.
        dry_run: only say what would be stored.
        as_json: write JSON.

    Returns:
        The exit code.
    """
    if request.content == "-":
        request = replace(request, content=_stdin())
    progress = Progress()
    with opened(root) as workspace:
        request = _placed(workspace, request, at, about)
        near = [] if request.file is None else [request.file]
        workspace.author.ask()
        workspace.glance.look(near=near, draft=request, on_progress=progress.show)
        progress.clear()
        shown = _shown_before(workspace, request)
        if shown is not None:
            view = shown
        elif dry_run:
            view = workspace.writing.preview(request, now())
        else:
            view = workspace.journaling.commit_sync(workspace.writing.capture(request, now()))
            workspace.journaling.write_found_sync()
            copy_memories(workspace)
        view = _compared(workspace, request, view)
        if as_json:
            put_json(JsonForm(workspace).capture(view))
        else:
            _print(view, dry_run=dry_run)
    return 0


def _shown_before(workspace: Workspace, request: CaptureRequest) -> CaptureView | None:
    """The memory whose hover text was pasted."""
    if not workspace.searching.is_soon_ready:
        return None
    return workspace.alike.shown_before(request.content, now())


def _compared(workspace: Workspace, request: CaptureRequest, view: CaptureView) -> CaptureView:
    """With what is known already in almost the same words, and the code that the note may be about.

    Only where it is quick: an editor's server has read all memories and all code, this process has not.
    """
    if workspace.searching.is_soon_ready:
        view = workspace.alike.compared(view, request.content, now())
    few = sum(1 for _ in workspace.code.index.files()) <= _MOST_FILES
    if few and view.duplicate_of is None and is_on_none(view):
        workspace.survey()
        workspace.suggestions.catch_up()
        view = workspace.suggestions.offered(view, request.title, request.content)
    return view


def _stdin() -> str:
    try:
        # In pieces: a read to the end does not see an interrupt that comes between two reads of its own.
        stdin = cast("BufferedReader", sys.stdin.buffer)
        pieces = iter(lambda: stdin.read1(1 << 16), b"")
        return b"".join(pieces).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument("content", f"stdin is not UTF-8 at byte {error.start}") from None


def _placed(
    workspace: Workspace, request: CaptureRequest, at: str | None, about: str | None
) -> CaptureRequest:
    if at is not None:
        place = place_at(workspace, at)
        request = replace(request, file=place.file, position=place.position)
    if about is not None:
        try:
            file = file_at(workspace, about)
        except InvalidArgument as error:
            raise InvalidArgument("--file", str(error).removeprefix("at: ")) from None
        request = replace(request, metadata={**request.metadata, "file": file})
    return request


def _print(view: CaptureView, *, dry_run: bool) -> None:
    screen = Screen()
    links = [link for link in view.links if not link.candidate]
    here = [link for link in links if link.context == "captured_here"]
    named = [link for link in links if link.context != "captured_here"]
    on = f"on {_places(here)}" if here else "on no code of its own"
    if view.duplicate_of is not None:
        word = f"Already remembered {on}"
    else:
        word = f"{'Would be remembered' if dry_run else 'Remembered'} {on}"
    shown = "" if view.view is None else f"  {short_id(view.view.memory.id)}"
    screen.line(Span(word, "bold"), Span(shown, "dim"))
    if view.view is not None and view.duplicate_of is None:
        screen.line(f"as “{one_line(view.view.memory.title)}”", indent=2)
    if named:
        screen.line(f"also links {_places(named)}", indent=2)
    for one in view.similar[:1]:
        screen.line(f"says almost the same as “{one_line(one.title)}”  {short_id(one.id)}", indent=2)
    if view.suggestion is not None:
        target = view.suggestion.target
        screen.line(Span(f"may be about {target.label} in {target.file}: link it?", "dim"), indent=2)
    unsure = [link for link in view.links if link.candidate]
    if unsure:
        screen.line(Span(f"may also mean {_places(unsure[:4])}", "dim"), indent=2)
    for warning in view.warnings:
        if view.duplicate_of is None:
            note(warning)


def _places(links: list[LinkView]) -> str:
    return ", ".join(
        f"{link.target.label} in {link.target.file}" if link.target.qualname else link.target.file
        for link in links
    )

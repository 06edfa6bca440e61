"""`mnemolens.memory.capture` and `.preview`."""

from mnemolens.core.views import CaptureView, Json
from mnemolens.engine.reading_ahead import read_ahead
from mnemolens.engine.requests import CaptureRequest
from mnemolens.lsp.commands.call import At, Call
from mnemolens.lsp.params import CaptureArguments


async def capture(call: Call, arguments: CaptureArguments) -> Json:
    """Store a memory."""
    at = call.at(arguments)
    await read_ahead(arguments.content)
    known = await at.workspace.searching.soon_ready() and arguments.id is None
    view = at.workspace.alike.shown_before(arguments.content, call.ls.now()) if known else None
    if view is None:
        write = at.workspace.writing.capture(_request(call, at, arguments), call.ls.now())
        view = await at.workspace.journaling.commit(write)
        view = await _compared(call, at, arguments, view) if known else view
    return call.wire(at.workspace).capture(view)


async def preview(call: Call, arguments: CaptureArguments) -> Json:
    """Say what a capture would link to; stores nothing."""
    at = call.at(arguments)
    await read_ahead(arguments.content)
    ready = await at.workspace.searching.soon_ready()
    view = at.workspace.writing.preview(_request(call, at, arguments), call.ls.now())
    if ready:
        shown = at.workspace.alike.shown_before(arguments.content, call.ls.now())
        if shown is not None:
            warnings = (*view.warnings, *shown.warnings)
            view = view._replace(duplicate_of=shown.duplicate_of, warnings=warnings)
        view = await _compared(call, at, arguments, view)
    return call.wire(at.workspace).capture(view)


async def _compared(call: Call, at: At, arguments: CaptureArguments, view: CaptureView) -> CaptureView:
    """With what is known already in almost the same words, and the code that the note may be about."""
    workspace = at.workspace
    workspace.suggestions.warm_up(view)
    view = await workspace.suggestions.offered_by_meaning(
        view, arguments.title, arguments.content, workspace.embedding.likeness
    )
    return workspace.alike.compared(view, arguments.content, call.ls.now())


def _request(call: Call, at: At, arguments: CaptureArguments) -> CaptureRequest:
    span = None
    if arguments.range is not None and at.file is not None:
        file = at.file
        span = call.ls.positions.range_from_client(
            arguments.range.lsp, lambda line: at.workspace.code.line(file, line)
        )
    return CaptureRequest(
        content=arguments.content,
        file=at.file,
        position=span.start if at.position is None and span is not None else at.position,
        range=span,
        title=arguments.title,
        type=arguments.type,
        tags=tuple(arguments.tags),
        importance=arguments.importance,
        metadata=arguments.metadata,
        session_id=arguments.session_id,
        agent_id=arguments.agent_id,
        author=arguments.author,
        parent_id=arguments.parent_id,
        expires_at=arguments.expires_at,
        due_at=arguments.due_at,
        trigger=None if arguments.trigger is None else arguments.trigger.model_dump(exclude_none=True),
        id=arguments.id,
        allow_secret=arguments.allow_secret,
    )

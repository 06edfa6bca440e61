"""`mnemolens.memory.capture` and `.preview`."""

from mnemolens.core.views import Json
from mnemolens.engine.requests import CaptureRequest
from mnemolens.lsp.commands.call import At, Call
from mnemolens.lsp.params import CaptureArguments


async def capture(call: Call, arguments: CaptureArguments) -> Json:
    """Store a memory."""
    at = call.at(arguments)
    view = await at.workspace.capturing.capture(_request(call, at, arguments), call.ls.now())
    return call.wire(at.workspace).capture(view)


async def preview(call: Call, arguments: CaptureArguments) -> Json:
    """Say what a capture would link to; stores nothing."""
    at = call.at(arguments)
    view = await at.workspace.capturing.preview(_request(call, at, arguments), call.ls.now())
    return call.wire(at.workspace).capture(view)


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

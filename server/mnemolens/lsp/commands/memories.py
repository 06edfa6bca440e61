"""Commands about stored memories: get, list, update, forget, restore, done, access."""

from mnemolens.core.views import Json, MemoryView
from mnemolens.engine.reading_ahead import read_ahead
from mnemolens.engine.requests import ListRequest
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.params import AccessArguments, IdArguments, UpdateArguments
from mnemolens.lsp.search_params import ListArguments
from mnemolens.search.query import read_query

MAX_PAGE_CHARACTERS = 2_000_000
"""Of content in one page of a list."""


def get(call: Call, arguments: IdArguments) -> Json:
    """All about one memory."""
    workspace = call.workspace(arguments)
    return call.wire(workspace).detail(workspace.show.detail(arguments.id, call.ls.now()))


async def list_(call: Call, arguments: ListArguments) -> Json:
    """A page of memories: by rank where a position is given, else newest first, or what fits the text best.

    A page ends early where it would hold up everybody else: the next one begins behind what came.
    """
    at = call.at(arguments)
    if arguments.text:
        await at.workspace.searching.catch_up_slowly()
    request = ListRequest(
        file=at.file,
        position=at.position,
        filters=arguments.filters,
        layer=arguments.layer,
        best=arguments.best,
        session_id=arguments.session_id,
        agent_id=arguments.agent_id,
        query=arguments.text,
        include_forgotten=arguments.include_forgotten,
        limit=arguments.limit,
        offset=arguments.offset,
    )
    meaning = await at.workspace.embedding.similar(read_query(arguments.text or "").text)
    page = await at.workspace.listing.page_slowly(request, call.ls.now(), meaning)
    kept = _within_bounds(page.memories)
    return call.wire(at.workspace).page(page._replace(memories=kept, matches=page.matches[: len(kept)]))


def _within_bounds(views: tuple[MemoryView, ...]) -> tuple[MemoryView, ...]:
    """The first of these memories, at least one, whose contents together are not too much for one answer."""
    characters = 0
    for at, view in enumerate(views):
        characters += len(view.memory.content)
        if at and characters > MAX_PAGE_CHARACTERS:
            return views[:at]
    return views


async def update(call: Call, arguments: UpdateArguments) -> Json:
    """Change the fields that are given."""
    workspace, wire = call.workspace(arguments), call.wire(call.workspace(arguments))
    content = arguments.changes.get("content")
    await read_ahead(content if isinstance(content, str) else None)
    write = workspace.writing.update(
        arguments.id, arguments.changes, call.ls.now(), allow_secret=arguments.allow_secret
    )
    change = await workspace.journaling.commit(write)
    return {"memory": wire.memory(change.view), "links": wire.links(change.links)}


async def forget(call: Call, arguments: IdArguments) -> Json:
    """Hide a memory everywhere; `restore` brings it back."""
    workspace = call.workspace(arguments)
    view = await workspace.journaling.commit(workspace.writing.forget(arguments.id, call.ls.now()))
    return {"memory": call.wire(workspace).memory(view)}


async def restore(call: Call, arguments: IdArguments) -> Json:
    """Bring a forgotten or done memory back."""
    workspace = call.workspace(arguments)
    view = await workspace.journaling.commit(workspace.writing.restore(arguments.id, call.ls.now()))
    return {"memory": call.wire(workspace).memory(view)}


async def done(call: Call, arguments: IdArguments) -> Json:
    """Mark a memory as acted on."""
    workspace = call.workspace(arguments)
    view = await workspace.journaling.commit(workspace.writing.done(arguments.id, call.ls.now()))
    return {"memory": call.wire(workspace).memory(view)}


async def access(call: Call, arguments: AccessArguments) -> Json:
    """Count memories as used, each at most once a minute."""
    workspace, now = call.workspace(arguments), call.ls.now()
    due = call.ls.accesses.due(str(workspace.layout.opened), arguments.ids, now)
    views = {view.memory.id: view for view in await call.ls.count_accesses(workspace, due)}
    wire = call.wire(workspace)
    asked = dict.fromkeys(arguments.ids)
    return {
        "memories": [
            wire.memory(
                views[memory_id] if memory_id in views else workspace.show.detail(memory_id, now).view
            )
            for memory_id in asked
        ]
    }

"""`mnemolens.recall`: what to bring to mind for a place, a question, or both."""

from mnemolens.core.views import Json
from mnemolens.engine.requests import RecallRequest
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.search_params import RecallArguments
from mnemolens.search.query import read_query


async def recall(call: Call, arguments: RecallArguments) -> Json:
    """Recall; counts as an access only where that is asked for."""
    at = call.at(arguments)
    await at.workspace.searching.catch_up_slowly()
    request = RecallRequest(
        query=arguments.query,
        file=at.file,
        position=at.position,
        token_budget=arguments.token_budget,
        limit=arguments.limit,
        layers=tuple(arguments.layers),
        session_id=arguments.session_id,
        agent_id=arguments.agent_id,
        filters=arguments.filters,
    )
    now = call.ls.now()
    meaning = await at.workspace.embedding.similar(read_query(arguments.query or "").text)
    view = at.workspace.recall(request, now, meaning)
    answer = call.wire(at.workspace).recall(view)
    if arguments.record:
        ids = [found.view.memory.id for found in view.memories]
        due = call.ls.accesses.due(str(at.workspace.layout.opened), ids, now)
        await call.ls.count_accesses(at.workspace, due)
    return answer

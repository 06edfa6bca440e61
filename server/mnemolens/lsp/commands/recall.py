"""`mnemolens.recall` and `.context`: what to bring to mind for a place, a question, or both."""

import logging
from collections.abc import Collection, Sequence

from mnemolens.core.errors import StoreError
from mnemolens.core.views import Json
from mnemolens.engine.context import beside, context_at
from mnemolens.engine.json_form import sketch_json
from mnemolens.engine.requests import RecallRequest
from mnemolens.lsp.commands.call import At, Call, require_file
from mnemolens.lsp.search_params import ContextArguments, RecallArguments
from mnemolens.search.query import read_query

logger = logging.getLogger(__name__)


async def recall(call: Call, arguments: RecallArguments) -> Json:
    """Recall; counts as an access only where that is asked for."""
    at = call.at(arguments)
    await _words_ready(at, arguments.query)
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
    meaning = await at.workspace.embedding.similar(read_query(arguments.query or "").text)
    view = await at.workspace.recall.recall_slowly(request, call.ls.now(), meaning)
    answer = call.wire(at.workspace).recall(view)
    if arguments.include_code:
        total = at.workspace.settings.memory.budget.total
        budget = total if arguments.token_budget is None else arguments.token_budget
        answer["code"] = list(map(sketch_json, beside(view, at.workspace.code, budget)))
    if arguments.record:
        await _record(call, at, view.ids, view.on_their_own)
    return answer


async def context(call: Call, arguments: ContextArguments) -> Json:
    """What to know at a place, as Markdown for an agent; counts as an access only where that is asked for."""
    at = call.at(arguments)
    file, budget = require_file(at), arguments.token_budget
    await _words_ready(at, None)
    found = context_at(at.workspace, file, at.position, budget, call.ls.now())
    if arguments.record:
        await _record(call, at, found.memories, found.on_their_own)
    return {
        "markdown": found.markdown,
        "tokensUsed": found.tokens_used,
        "countedBy": found.counted_by,
        "memories": list(found.memories),
        "symbols": list(found.symbols),
        "leftOut": found.left_out,
    }


async def _words_ready(at: At, query: str | None) -> None:
    """A question waits until all memories' words are known, an offer only where that is quick."""
    if query:
        await at.workspace.searching.catch_up_slowly()
    else:
        await at.workspace.searching.soon_ready()


async def _record(call: Call, at: At, memory_ids: Sequence[str], together: Collection[str]) -> None:
    due = call.ls.accesses.due(str(at.workspace.layout.opened), memory_ids, call.ls.now())
    try:
        await call.ls.count_accesses(at.workspace, due, together)
    except StoreError as error:  # it is an answer all the same
        logger.warning("What was recalled is not counted: %s", error)

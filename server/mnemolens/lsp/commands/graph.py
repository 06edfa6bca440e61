"""`mnemolens.graph.query` and `.neighbors`."""

from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.views import Json
from mnemolens.engine.neighbours import NeighbourEdge
from mnemolens.lsp.commands.call import Call, require_file
from mnemolens.lsp.graph_params import NeighborsArguments, QueryArguments
from mnemolens.lsp.indexing import REBUILD, code_read, unread
from mnemolens.lsp.slices import parsed


async def query(call: Call, arguments: QueryArguments) -> Json:
    """Answer a read-only Cypher query."""
    workspace = call.workspace(arguments)
    await parsed(call.ls, workspace)
    await code_read(call.ls, workspace)
    if unread(workspace):
        raise InvalidArgument("cypher", f"the graph needs all code to be read: command {REBUILD}")
    try:
        result = await workspace.graph.query(arguments.cypher, arguments.parameters, arguments.limit)
    except GraphUnavailable as error:
        raise InvalidArgument("cypher", str(error)) from None
    return {
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
    }


async def neighbors(call: Call, arguments: NeighborsArguments) -> Json:
    """Say what stands around a symbol."""
    at = call.at(arguments)
    key = at.workspace.code.target(require_file(at), at.position)
    found = await at.workspace.around.look(key, arguments.depth, call.ls.now())
    wire = call.wire(at.workspace)
    memories = [
        {
            "kind": "memory",
            "id": node.view.memory.id,
            "title": node.view.memory.title,
            "type": node.view.memory.type,
            "verdict": node.view.verdict,
            "depth": node.depth,
        }
        for node in found.memories
    ]
    return {
        "nodes": [*({**wire.place(node.place), "depth": node.depth} for node in found.code), *memories],
        "edges": [_edge(edge) for edge in found.edges],
        "truncated": found.truncated,
    }


def _edge(edge: NeighbourEdge) -> Json:
    shown: Json = {"source": edge.source, "target": edge.target, "type": edge.type}
    if edge.count is not None:
        shown["count"] = edge.count
    if edge.strength is not None:
        by = "confidence" if isinstance(edge.strength, str) else "weight"
        shown["relevance" if edge.type == "RELATES_TO" else by] = edge.strength
    return shown

"""`mnemolens.conflicts` and `.clusters`: how memories are connected with each other."""

from mnemolens.core.views import Json
from mnemolens.engine.json_form import clusters as clusters_json
from mnemolens.engine.json_form import edges
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.graph_params import ClustersArguments, ConflictsArguments


def conflicts(call: Call, arguments: ConflictsArguments) -> Json:
    """Which memories contradict each other: all, or those that contradict one."""
    return {"edges": edges(call.workspace(arguments).memory_graph.conflicts(arguments.id))}


async def clusters(call: Call, arguments: ClustersArguments) -> Json:
    """Memories that are connected with each other."""
    graph = call.workspace(arguments).memory_graph
    return {"clusters": clusters_json(await graph.clusters_slowly(arguments.min_size))}

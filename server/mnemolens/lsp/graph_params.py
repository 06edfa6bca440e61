"""The arguments of commands that ask the graph, of code or of memories."""

from pydantic import Field

from mnemolens.engine.neighbours import MAX_DEPTH
from mnemolens.lsp.params import MAX_UINT, Arguments, AtArguments, Id, JsonObject, PositionValue, Text
from mnemolens.store.graph import MAX_ROWS


class QueryArguments(Arguments):
    """`graph.query`."""

    cypher: Text
    parameters: JsonObject = Field(default_factory=dict)
    limit: int = Field(default=MAX_ROWS, ge=1, le=MAX_ROWS)


class NeighborsArguments(AtArguments):
    """`graph.neighbors`: around a symbol; without a position around the file."""

    uri: Text
    position: PositionValue | None = None
    depth: int = Field(default=1, ge=1, le=MAX_DEPTH)


class ConflictsArguments(Arguments):
    """`conflicts`: all, or those of one memory."""

    id: Id | None = None


class ClustersArguments(Arguments):
    """`clusters`."""

    min_size: int = Field(default=2, ge=1, le=MAX_UINT)

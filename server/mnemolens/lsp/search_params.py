"""The arguments of commands that search: what narrows a search down, as fields."""

from pydantic import Field

from mnemolens.core.memories import Layer, MemoryKind, Verdict
from mnemolens.lsp.params import MAX_UINT, AtArguments, Id, Moment, PositionValue, Text
from mnemolens.search.query import Filters


class SearchArguments(AtArguments):
    """What a memory must fulfil; the same may stand in the text, as `type:`, `tag:`, `after:` and so on."""

    type: MemoryKind | None = None
    tags: list[Text] = Field(default_factory=list)
    verdict: Verdict | None = None
    files: list[Text] = Field(default_factory=list, max_length=100)
    after: Moment | None = None
    before: Moment | None = None
    session_id: Text | None = None
    agent_id: Text | None = None

    @property
    def filters(self) -> Filters:
        """As search takes them."""
        return Filters(
            types=frozenset({self.type} if self.type else ()),
            tags=frozenset(self.tags),
            verdicts=frozenset({self.verdict} if self.verdict else ()),
            files=frozenset(self.files),
            after=self.after,
            before=self.before,
        )


class RefuseArguments(AtArguments):
    """`suggestion.refuse`: a memory, and the code that it is not about."""

    id: Id
    uri: Text


class ListArguments(SearchArguments):
    """`memory.list`."""

    layer: Layer | None = None
    text: Text | None = None
    best: bool = False
    include_forgotten: bool = False
    limit: int = Field(default=100, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_UINT)


class RecallArguments(SearchArguments):
    """`recall`."""

    query: Text | None = None
    layers: list[Layer] = Field(default_factory=list)
    token_budget: int | None = Field(default=None, ge=0, le=MAX_UINT)
    limit: int = Field(default=20, ge=1, le=1000)
    include_code: bool = False
    record: bool = False


class ContextArguments(AtArguments):
    """`context`: what to know at a place; without a position about the file."""

    uri: Text
    position: PositionValue | None = None
    token_budget: int | None = Field(default=None, ge=0, le=MAX_UINT)
    record: bool = False

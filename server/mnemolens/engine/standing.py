"""What other memories say of a memory: that it is superseded, or contradicted.

Owns what the edges SUPERSEDES (from the newer to the older memory) and CONTRADICTS (both ways) mean for what
is shown. Words are `core/views.py`'s, the order is `ranking/order.py`'s, `writing.py` writes the edges.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, Literal

from mnemolens.core.views import RelationView
from mnemolens.engine.memory_graph import CONTRADICTS, other_end
from mnemolens.engine.sessions import is_expired
from mnemolens.store.merge import MergedState

SUPERSEDES: Final = "SUPERSEDES"


class Standing:
    """How a memory stands among the others."""

    def __init__(self, state: MergedState) -> None:
        self._state = state

    def of(self, memory_id: str, now: datetime) -> tuple[RelationView, ...]:
        """Which memories supersede this one, then which contradict it; none that is forgotten or expired."""
        edges = self._state.edges_of(memory_id)
        if not edges:
            return ()
        newer: dict[str, RelationView] = {}
        against: dict[str, RelationView] = {}
        for edge in edges:
            if edge.type == SUPERSEDES and edge.target_id == memory_id:
                newer.update(self._relation("superseded by", edge.source_id, now))
            elif edge.type == CONTRADICTS:
                against.update(self._relation("contradicts", other_end(edge, memory_id), now))
        return (*newer.values(), *against.values())

    def supersedes(self, memory_id: str, older_id: str) -> bool:
        """Whether the memory supersedes the other one, directly or over others."""
        seen, left = {memory_id}, [memory_id]
        while left:
            for one in self._superseded_by(left.pop()):
                if one == older_id:
                    return True
                if one not in seen:
                    seen.add(one)
                    left.append(one)
        return False

    def _superseded_by(self, memory_id: str) -> Iterator[str]:
        for edge in self._state.edges_of(memory_id):
            if edge.type == SUPERSEDES and edge.source_id == memory_id:
                yield edge.target_id

    def _relation(
        self, kind: Literal["superseded by", "contradicts"], memory_id: str, now: datetime
    ) -> dict[str, RelationView]:
        memory = self._state.memory(memory_id)
        if memory is None or memory.status == "forgotten" or is_expired(memory, now):
            return {}
        return {memory_id: RelationView(kind, memory_id, memory.title)}

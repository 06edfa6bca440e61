"""What stands around a symbol: callers, callees, bases, derived classes, what holds it and is held, memories.

Answers from the read model, without the graph database, in the words of its schema (CONTRACT §5). Of busy
code there is no end: at most `MAX_NODES` are told, the nearest first.
"""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.resolve import bases_of, callers_of, calls_of, imported_files
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey
from mnemolens.core.views import MemoryView, PlaceView
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.store.merge import MergedState

MAX_DEPTH: Final = 3
MAX_NODES: Final = 200

_SLICE: Final = 200
"""Files looked through for derived classes between two looks at other requests: some milliseconds."""


class CodeNode(NamedTuple):
    """A symbol or file, and how many steps away it is."""

    place: PlaceView
    depth: int


class MemoryNode(NamedTuple):
    """A memory on one of the symbols, one step further away than the nearest of them."""

    view: MemoryView
    depth: int


@dataclass(frozen=True, slots=True)
class NeighbourEdge:
    """An edge between two nodes.

    Attributes:
        source: a symbol's id, or a memory's.
        type: "CALLS", "INHERITS", "CONTAINS", "IMPORTS", "RELATES_TO", or that of an edge between memories.
        count: how often a call stands there; None for other types.
        strength: the rule that a call or a base was resolved by, a link's relevance, the weight of an edge
            between memories; None for what is simply so.
    """

    source: str
    target: str
    type: str
    count: int | None = None
    strength: str | float | None = None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What stands around a symbol.

    Attributes:
        code: the symbol itself first, then by distance.
        truncated: there is more within that distance than is told.
    """

    code: tuple[CodeNode, ...]
    memories: tuple[MemoryNode, ...]
    edges: tuple[NeighbourEdge, ...]
    truncated: bool


class Around:
    """Looks around symbols of one folder.

    Args:
        code: the code as it is now.
        state: the memories.
        links: which memory is on which code.
        show: views.
    """

    def __init__(self, code: Code, state: MergedState, links: Links, show: Show) -> None:
        self._code = code
        self._state = state
        self._links = links
        self._show = show

    async def look(self, key: SymbolKey, depth: int, now: datetime) -> Neighbours:
        """Look around one symbol, letting other requests in between.

        Args:
            key: where to begin; a symbol or a file.
            depth: how many steps to go, 1 to `MAX_DEPTH`.
            now: memories that have expired by then are left out.
        """
        distance, edges, all_code = await self._walk(key, depth)
        memories, relations, all_memories = self._memories(distance, now)
        return Neighbours(
            code=tuple(CodeNode(self._show.place(one), far) for one, far in distance.items()),
            memories=tuple(memories.values()),
            edges=(*edges, *relations, *self._between(memories)),
            truncated=not (all_code and all_memories),
        )

    async def _walk(
        self, key: SymbolKey, depth: int
    ) -> tuple[dict[SymbolKey, int], Collection[NeighbourEdge], bool]:
        distance = {key: 0}
        edges: dict[NeighbourEdge, None] = {}
        whole = True
        border = [key]
        deriving = _Deriving(self._code.index)
        for step in range(1, depth + 1):
            reached: list[SymbolKey] = []
            for at in border:
                await asyncio.sleep(0)
                derived = await deriving.of(at)
                for edge, other in (*_around(at, self._code), *derived):
                    if other not in distance and len(distance) >= MAX_NODES:
                        whole = False
                        continue
                    if other not in distance:
                        distance[other] = step
                        reached.append(other)
                    edges[edge] = None
            border = reached
        return distance, edges.keys(), whole

    def _memories(
        self, distance: dict[SymbolKey, int], now: datetime
    ) -> tuple[dict[str, MemoryNode], list[NeighbourEdge], bool]:
        found: dict[str, MemoryNode] = {}
        edges: list[NeighbourEdge] = []
        whole = True
        for key, far in distance.items():
            for memory_id, link in self._links.on_symbol(key).items():
                memory = self._state.memory(memory_id)
                if memory is None or memory.status == "forgotten" or is_expired(memory, now):
                    continue
                if memory_id not in found and len(found) >= MAX_NODES:
                    whole = False
                    continue
                if memory_id not in found:
                    found[memory_id] = MemoryNode(self._show.memory(memory, now), far + 1)
                edges.append(NeighbourEdge(memory_id, key.id, "RELATES_TO", strength=link.relevance))
        return found, edges, whole

    def _between(self, memories: Collection[str]) -> list[NeighbourEdge]:
        edges = {edge for one in memories for edge in self._state.edges_of(one)}
        return [
            NeighbourEdge(edge.source_id, edge.target_id, edge.type, strength=edge.weight)
            for edge in sorted(edges, key=lambda edge: (edge.source_id, edge.target_id, edge.type))
            if edge.source_id in memories and edge.target_id in memories
        ]


class _Deriving:
    """Which classes derive from a class. The index knows bases only: they are turned round once."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._by_base: dict[str, dict[SymbolKey, None]] | None = None

    async def of(self, key: SymbolKey) -> list[tuple[NeighbourEdge, SymbolKey]]:
        """(edge, derived class), as far as rules find the class among the bases of the other."""
        symbol = self._index.symbol(key)
        if symbol is None or symbol.kind not in CLASS_KINDS:
            return []
        if self._by_base is None:
            self._by_base = await self._gather()
        may_be = {**self._by_base.get(symbol.name, {}), **self._by_base.get("default", {})}
        return [
            (NeighbourEdge(one.id, key.id, "INHERITS", strength=base.confidence), one)
            for one in may_be
            for base in bases_of(self._index, one)
            if base.key == key
        ]

    async def _gather(self) -> dict[str, dict[SymbolKey, None]]:
        """{last part of a base's name, and what it is imported as: the classes that write it}."""
        found: dict[str, dict[SymbolKey, None]] = {}
        for number, file in enumerate(self._index.files()):
            if number % _SLICE == 0:
                await asyncio.sleep(0)
            symbols = self._index.get(file)
            derived = [symbol for symbol in symbols.symbols if symbol.bases] if symbols is not None else []
            if symbols is None or not derived:
                continue
            imported = {item.alias: item.name for item in symbols.imports if item.name}
            for symbol in derived:
                key = SymbolKey(file, symbol.qualname, symbol.ordinal)
                for base in symbol.bases:
                    last = base.rpartition(".")[2]
                    for name in {last, imported.get(last, last)}:
                        found.setdefault(name, {})[key] = None
        return found


def _around(key: SymbolKey, code: Code) -> Iterator[tuple[NeighbourEdge, SymbolKey]]:
    """(edge, the symbol at its other end), calls first: of too many, what holds what is missed least."""
    index = code.index
    for called, count in calls_of(index, key):
        yield NeighbourEdge(key.id, called.key.id, "CALLS", count, called.confidence), called.key
    if key.qualname:
        for caller, count in callers_of(index, key):
            yield NeighbourEdge(caller.key.id, key.id, "CALLS", count, caller.confidence), caller.key
        symbol = index.symbol(key)
        if symbol is not None and symbol.kind in CLASS_KINDS:
            for base in bases_of(index, key):
                yield NeighbourEdge(key.id, base.key.id, "INHERITS", strength=base.confidence), base.key
        holder = index.parent(key)
        if holder is not None:
            yield NeighbourEdge(holder.id, key.id, "CONTAINS"), holder
    else:
        for file in imported_files(index, key.file):
            imported = SymbolKey(file, "")
            yield NeighbourEdge(key.id, imported.id, "IMPORTS"), imported
    for member in index.children(key):
        yield NeighbourEdge(key.id, member.id, "CONTAINS"), member

"""Joint activation: which memories light up where somebody stands in the code, how strongly, by which way.

The graph is code and memories together: calls both ways, inheritance, imports, what holds what, links from
code to memories, and edges between memories. Owns which ways there are, how much each lets through, and its
words. How activation spreads is `ranking.activation`'s; nothing is stored here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, NamedTuple

from mnemolens.codegraph.resolve import bases_of, imported_files
from mnemolens.core.memories import MemoryEdge
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey
from mnemolens.engine.calls import CallTables
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.memory_graph import other_end
from mnemolens.ranking.activation import Spread, Spreading, spread
from mnemolens.store.merge import CO_ACTIVATED, MergedState

Way = Literal[
    "here", "visited", "calls", "caller", "class", "base", "file", "inside", "around", "import", "with"
]
"""How code was reached: it is where somebody stands or stood before; it is called from there or calls it; it
is a class or function around it, the same in a base class, its file, something inside it, a file that it
imports. Memories lead to others by "with"."""


class At(NamedTuple):
    """A symbol or file, as reached by a way: what is walked on to depends on it."""

    way: Way
    key: SymbolKey


Node = At | str
"""Code, or a memory by its id."""


class Factors(NamedTuple):
    """The share of activation that each way lets through; tuned by `tests/bench/relevance.py`.

    Attributes:
        fan_out: what a symbol calls is lit by `calls` / (how much it calls) ** fan_out.
        fan_in: and by that / (how many call it) ** fan_in, so that what everybody calls lights nothing;
            `caller` is divided alike.
    """

    calls: float = 0.9
    caller: float = 0.3
    class_: float = 0.7
    base: float = 0.5
    file: float = 0.3
    inside: float = 0.6
    import_: float = 0.2
    with_: float = 0.8
    fan_out: float = 0.375
    fan_in: float = 0.5


EDGE_SHARE: Final[Mapping[str, float]] = {"TEMPORAL_SEQUENCE": 0.5, "SCHEMA_INSTANCE": 0.5}
"""Of an edge's weight, by its type; 1 for those that are not named here."""

SPREADING: Final = Spreading(max_depth=4, decay_per_hop=0.0, threshold=0.1, max_visits=64)
"""Hops cost what their factors say. What is lit by less than the threshold is never shown."""

HUB: Final = 40
"""A symbol that is called in more places than this is everybody's: it lights nothing, nor do its callers."""

MAX_TITLE: Final = 60
"""Characters of another memory's title in a reason."""

PRIMING: Final = 0.25
"""Activation of the symbol visited last; each one before it has half as much."""


@dataclass(frozen=True, slots=True)
class Lit:
    """A memory that was reached.

    Attributes:
        activation: 0..1.
        path: from where somebody stands, or stood, to what the memory is on or is linked to.
        edge: the one that led here from the memory at the end of the path.
        primed: 0..1, what it has from where somebody was before.
        only_together: nothing leads here but that memories were recalled together.
    """

    memory_id: str
    activation: float
    path: tuple[Node, ...]
    edge: MemoryEdge | None = None
    primed: float = 0.0
    only_together: bool = False

    @property
    def strength(self) -> float:
        """0..1: the activation, a little more where somebody comes from a place that lights it, too."""
        return min(self.activation * (1 + self.primed), 1.0)

    @property
    def own(self) -> bool:
        """Whether it is on the very symbol."""
        return len(self.path) == 1 and self.way == "here"

    @property
    def way(self) -> Way:
        """How what it is on was reached."""
        last = self.path[-1]
        return last.way if isinstance(last, At) else "with"


class JointActivation:
    """Spreads activation over one folder's code and memories.

    Attributes:
        factors: of the ways.
        spreading: how far it goes.
    """

    def __init__(self, state: MergedState, links: Links, code: Code) -> None:
        self.factors = Factors()
        self.spreading = SPREADING
        self._state = state
        self._links = links
        self._code = code
        self._calls = CallTables(code.index)

    def around(self, focus: SymbolKey, visited: Iterable[SymbolKey] = ()) -> dict[str, Lit]:
        """The memories that light up for whoever stands at `focus`, by id.

        Args:
            focus: a symbol or a file.
            visited: where they were before, the last one first; these strengthen what is lit, and light
                nothing by themselves.
        """
        seeds: dict[Node, float] = {At("here", focus): 1.0}
        lit = self._lit(seeds)
        if any(isinstance(one.path[-1], str) for one in lit.values()):
            otherwise = self._lit(seeds, without=CO_ACTIVATED)
            lit = {one: replace(found, only_together=one not in otherwise) for one, found in lit.items()}
        for memory_id, before in self.primed(key for key in visited if key != focus).items():
            if memory_id in lit:
                lit[memory_id] = replace(lit[memory_id], primed=before.activation)
        return lit

    def primed(self, visited: Iterable[SymbolKey]) -> dict[str, Lit]:
        """The memories on what somebody visited, the last one first, and what those lead to, by id."""
        seeds: dict[Node, float] = {}
        for number, key in enumerate(visited):
            seeds.setdefault(At("visited", key), PRIMING / 2**number)
        return self._lit(seeds)

    def place_of(self, memory_id: str) -> SymbolKey | None:
        """The code that a memory is on, the most relevant where there are several."""
        return next((one.target for one in self._links.links_of(memory_id) if not one.candidate), None)

    def _lit(self, seeds: Mapping[Node, float], without: str | None = None) -> dict[str, Lit]:
        """What seeds light, as if there were no edges between memories of one type."""
        edges = partial(self._edges, without=without)
        reached: Spread[Node] = spread(seeds, edges, self.spreading)
        return {
            one.node: Lit(
                one.node,
                min(one.activation, 1.0),
                reached.path(one.node)[:-1],
                self._edge(one.via, one.node) if isinstance(one.via, str) else None,
            )
            for one in reached.found
            if isinstance(one.node, str)
        }

    def _edges(self, node: Node, without: str | None) -> Iterator[tuple[Node, float]]:
        if isinstance(node, str):
            yield from self._to_other_memories(node, without)
            return
        for memory_id, link in self._links.on_symbol(node.key).items():
            yield memory_id, link.relevance
        if node.way == "here":
            yield from self._from_here(node.key)
        elif node.way == "calls":
            yield from self._called(node.key)
        elif node.way == "class":
            yield from self._bases(node.key)

    def _from_here(self, key: SymbolKey) -> Iterator[tuple[Node, float]]:
        factors, index = self.factors, self._code.index
        yield from self._called(key)
        symbol = index.symbol(key)
        if symbol is not None and self._calls.users(key.name, HUB) <= HUB:
            callers = self._calls.callers(key)
            each = factors.caller / max(len(callers), 1) ** factors.fan_in
            for caller in callers:
                yield At("caller", caller), each
        if symbol is not None and symbol.kind in CLASS_KINDS:
            yield from self._bases(key)
        outer = self._outer(key)
        if outer is not None:
            is_class = self._code.kind(outer) in CLASS_KINDS
            yield At("class" if is_class else "around", outer), factors.class_
            if is_class:
                yield from _fanned("base", self._overridden(key, outer), factors.base)
        if key.qualname:
            yield At("file", SymbolKey(key.file, "")), factors.file
        else:
            imported = (SymbolKey(file, "") for file in imported_files(index, key.file))
            yield from _fanned("import", imported, factors.import_)
        for inner in self._links.keys_in_file(key.file):
            if inner != key and (not key.qualname or inner.qualname.startswith(f"{key.qualname}.")):
                yield At("inside", inner), factors.inside

    def _called(self, key: SymbolKey) -> Iterator[tuple[Node, float]]:
        called = self._calls.called(key)
        each = self.factors.calls / max(len(called), 1) ** self.factors.fan_out
        for one in called:
            users = self._calls.users(one.name, HUB)
            if users <= HUB:
                yield At("calls", one), each / max(users, 1) ** self.factors.fan_in

    def _bases(self, key: SymbolKey) -> Iterator[tuple[Node, float]]:
        yield from _fanned("base", (one.key for one in bases_of(self._code.index, key)), self.factors.base)

    def _overridden(self, key: SymbolKey, outer: SymbolKey) -> Iterator[SymbolKey]:
        """The members of base classes that a method overrides."""
        for base in bases_of(self._code.index, outer):
            member = SymbolKey(base.key.file, f"{base.key.qualname}.{key.name}")
            if self._code.kind(member) is not None:
                yield member

    def _outer(self, key: SymbolKey) -> SymbolKey | None:
        name = key.qualname.rpartition(".")[0]
        while name:
            outer = SymbolKey(key.file, name)
            if self._code.kind(outer) is not None:
                return outer
            name = name.rpartition(".")[0]
        return None

    def _to_other_memories(self, memory_id: str, without: str | None) -> Iterator[tuple[Node, float]]:
        edges = [edge for edge in self._state.edges_of(memory_id) if edge.type != without]
        each = self.factors.with_ / math.sqrt(len(edges)) if edges else 0.0
        for edge in edges:
            other = other_end(edge, memory_id)
            if self._state.is_node(other):
                yield other, each * _strength(edge)

    def _edge(self, memory_id: str, other_id: str) -> MemoryEdge:
        """The strongest edge between two memories that have one."""
        edges = self._state.edges_of(memory_id)
        return max((edge for edge in edges if other_end(edge, memory_id) == other_id), key=_strength)


def _strength(edge: MemoryEdge) -> float:
    return min(edge.weight, 1.0) * EDGE_SHARE.get(edge.type, 1.0)


def _fanned(way: Way, keys: Iterable[SymbolKey], factor: float) -> Iterator[tuple[Node, float]]:
    """Edges of one kind: the more there are, the less each lets through, so that a hub lights nothing."""
    distinct = dict.fromkeys(keys)
    for key in distinct:
        yield At(way, key), factor / math.sqrt(len(distinct))


_WORDS: Final[Mapping[Way, str]] = {
    "here": "on {}",
    "visited": "on {}, where you were before",
    "calls": "on {}, called here",
    "caller": "on {}, which calls this",
    "class": "on its class {}",
    "around": "on {}, which holds it",
    "base": "on {}, which this derives from",
    "file": "in {}",
    "inside": "on {}, inside this",
    "import": "in {}, imported here",
}

_EDGE_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "SHARED_ENTITY": ("about the same thing as {}", "about the same thing as {}"),
    "TEMPORAL_SEQUENCE": ("comes after {}", "comes before {}"),
    "SAME_TOPIC": ("same topic as {}", "same topic as {}"),
    "CONTRADICTS": ("contradicts {}", "contradicts {}"),
    "SUPERSEDES": ("superseded by {}", "supersedes {}"),
    "CAUSED_BY": ("the cause of {}", "caused by {}"),
    "SCHEMA_INSTANCE": ("the pattern of {}", "an example of {}"),
}
"""Of the memory at an edge's target, and at its source; the other end's title goes in."""


def words(lit: Lit, name: Callable[[SymbolKey], str], title: Callable[[str], str]) -> str:
    """The way to a memory in words that name the code on it: "on `retry()`, called here".

    Args:
        lit: what was reached.
        name: a symbol as code.
        title: what a memory is called.
    """
    last = lit.path[-1]
    if isinstance(last, str):
        return _of_edge(lit, _quoted(title(last)))
    calls = [one for one in lit.path if isinstance(one, At) and one.way == "calls"]
    if len(calls) > 1:
        return f"on {name(last.key)}, called by {name(calls[-2].key)}, called here"
    if last.way == "base" and any(isinstance(one, At) and one.way == "class" for one in lit.path):
        return f"on {name(last.key)}, which its class derives from"
    return _WORDS[last.way].format(name(last.key))


def _of_edge(lit: Lit, other: str) -> str:
    """What the edge says: "recalled together 3 times with “…”", "caused by “…”"."""
    assert lit.edge is not None
    if lit.edge.type == CO_ACTIVATED:
        times = {0: "", 1: " once"}.get(lit.edge.together, f" {lit.edge.together} times")
        return f"recalled together{times} with {other}"
    of_target, of_source = _EDGE_WORDS.get(lit.edge.type, ("linked to {}", "linked to {}"))
    return (of_target if lit.edge.target_id == lit.memory_id else of_source).format(other)


def _quoted(title: str) -> str:
    title = " ".join(title.split())
    return f"“{title}”" if len(title) <= MAX_TITLE else f"“{title[: MAX_TITLE - 1].rstrip()}…”"

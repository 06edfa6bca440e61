"""What becomes of names that a scope's own text binds more than once, or binds elsewhere."""

from collections import Counter

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Facts, Language, RawImport
from mnemolens.codegraph.units import Edge, Elsewhere
from mnemolens.core.symbols import METHOD_KINDS, Branch


def put_in_order(
    imports: list[RawImport],
    places: list[tuple[Node, int]],
    edges: list[Edge],
    nodes: list[Node],
    base_byte: int,
    language: Language,
) -> None:
    """Note what becomes of imports whose alias the same scope binds again, by an import or a definition."""
    times = Counter(item.alias for item in imports if not item.exported)
    defined: dict[str, list[int]] = {}
    for at, edge in enumerate(edges):
        name = edge.prefix + edge.unit.name
        if name in times and edge.unit.kind not in METHOD_KINDS:
            defined.setdefault(name, []).append(at)
    if len(times) == times.total() and not defined:
        return
    replacing: dict[str, list[RawImport]] = {}  # what is always bound further down
    later = {name: list(found) for name, found in defined.items()}
    for at in range(len(imports) - 1, -1, -1):
        item = imports[at]
        name = item.alias
        if item.exported or name == "*" or (times[name] == 1 and name not in defined):
            continue
        node, before = places[at]
        branch = _branch_of(node, base_byte, language)
        definitions = later.get(name, [])
        replaced = any(not _same_package(item, other) for other in replacing.get(name, ()))
        while definitions and definitions[-1] >= before:
            replaced = not _branch_of(nodes[definitions.pop()], base_byte, language) or replaced
            if replaced:
                replacing.setdefault(name, []).append(_NOTHING)
        imports[at] = item._replace(branch=branch, after=len(definitions), replaced=replaced)
        if not branch:
            replacing.setdefault(name, []).append(item)


_NOTHING = RawImport("", "", "")


def _same_package(first: RawImport, second: RawImport) -> bool:
    """Whether both only bind the top of a dotted module (`import a.b`), and so do not replace each other."""
    return first == second or (
        first.name is None
        and second.name is None
        and all(i.module == i.alias or i.module.startswith(i.alias + ".") for i in (first, second))
    )


def _branch_of(node: Node, base_byte: int, language: Language) -> Branch:
    """The condition under which `node` takes place, within the definition that starts at `base_byte`."""
    found: Branch = ""
    above = node.parent
    while above is not None and (above.start_byte > base_byte or not base_byte):
        branch = language.branch(above)
        if branch == "if":
            return branch
        found = branch or found
        above = above.parent
    return found


def rebinds(facts: Facts, edges: list[Edge]) -> frozenset[tuple[Elsewhere, str]]:
    """The names that a scope binds elsewhere."""
    bound = facts.bound | {i.alias for i in facts.imports} | {edge.prefix + edge.unit.name for edge in edges}
    found: set[tuple[Elsewhere, str]] = {("self", name) for name in facts.attributes}
    found.update(("global", name) for name in bound & facts.module_wide)
    found.update(("nonlocal", name) for name in bound & facts.outer)
    return frozenset(found)

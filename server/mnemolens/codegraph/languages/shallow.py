"""What tables of shallow languages are made of.

A shallow language is read for its definitions, their names and the calls that stay in a file: no imports, no
types. Its module says in plain maps which nodes define, which call, and how a member is written.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Definition, Facts, Mention, Rule, text_of
from mnemolens.core.symbols import SymbolKind

_MAX_PARTS = 8
_MAX_BOUND = 32
_SEPARATORS = re.compile(r"\s*(?:::|\\|\?\.|->|\.)\s*")
_ARGUMENTS = re.compile(r"<[^<>]*>|\([^()]*\)")
_PLAIN = re.compile(r"[^\W\d][\w.]*")
_SIGNATURES: dict[SymbolKind, SymbolKind] = {"function": "overload", "method": "method_sig"}


def plain_name(node: Node | None) -> str:
    """A name as written, parts joined by dots, type arguments left out; empty for anything else."""
    text, before = text_of(node)[:300], ""
    while text != before:
        text, before = _ARGUMENTS.sub("", text), text
    text = _SEPARATORS.sub(".", text.strip()).strip(".")
    return text if _PLAIN.fullmatch(text) else ""


def bases_in(*types: str) -> Callable[[Node], tuple[str, ...]]:
    """Reads the names of bases from the children of these types; lists in them are looked through."""

    def read(node: Node) -> tuple[str, ...]:
        found: list[str] = []
        stack = [child for child in reversed(node.children) if child.type in types]
        while stack:
            item = stack.pop()
            if item.type in types or item.type.endswith("_list"):
                stack.extend(reversed(item.named_children))
            elif item.type != "access_specifier" and (name := plain_name(item)):
                found.append(name)
        return tuple(dict.fromkeys(found))

    return read


def defined(
    kind: SymbolKind,
    *,
    name: str = "name",
    body: str = "body",
    bases: Callable[[Node], tuple[str, ...]] | None = None,
    needs_body: bool = False,
    may_lack_body: bool = False,
) -> Rule:
    """A rule for nodes that define a symbol.

    Args:
        kind: its kind; without a body a function is an "overload", a method a "method_sig".
        name: the field that holds the name.
        body: the field, or the type of the child, that holds the body.
        bases: reads the names of what it derives from.
        needs_body: without a body the node only mentions what is defined elsewhere.
        may_lack_body: what has no body is whole all the same.
    """

    def define(node: Node) -> Definition | None:
        name_node = node.child_by_field_name(name)
        text = plain_name(name_node) or text_of(name_node)
        if name_node is None or not text:
            return None
        inner = node.child_by_field_name(body) or next((c for c in node.children if c.type == body), None)
        if inner is None and needs_body:
            return None
        own = kind if inner is not None or may_lack_body else _SIGNATURES.get(kind, kind)
        return Definition(own, text, name_node, node.children, inner, bases=bases(node) if bases else ())

    return Rule(define=define)


def _part(node: Node, part: str) -> Node | None:
    """A child by its field, or by its place among the named ones."""
    if not part.isdigit():
        return node.child_by_field_name(part)
    children = node.named_children
    return children[int(part)] if int(part) < len(children) else None


@dataclass(frozen=True)
class Syntax:
    """How a language writes names, members, calls and local names.

    A part of a node is a field's name, or "0" for the first named child, and so on.

    Attributes:
        names: leaf types that are names, `this` and the like included.
        members: node type -> the parts with what stands before the name, and with the name.
        calls: node type -> the part with what is called; "" where the node itself is a member.
        binds: node type -> the part ("": all of it) with the names that parameters or local variables bind.
    """

    names: frozenset[str]
    members: Mapping[str, tuple[str, str]]
    calls: Mapping[str, str]
    binds: Mapping[str, str]

    def rules(self, definitions: Mapping[str, Rule]) -> dict[str, Rule]:
        """The table's rules: what defines, and what calls and binds."""
        table = dict(definitions)
        for kind, part in self.calls.items():
            table[kind] = replace(table.get(kind, Rule()), visit=partial(self._visit_call, part))
        for kind, part in self.binds.items():
            table[kind] = replace(table.get(kind, Rule()), visit=partial(self._visit_binding, part))
        return table

    def reference(self, node: Node) -> Mention | None:
        """What a name mentions."""
        parent = node.parent
        if parent is not None and parent.type in self.members:
            before, after = self.members[parent.type]
            if _part(parent, after) == node:
                holder = _part(parent, before)
                return Mention(text_of(node), self._receiver(holder) if holder is not None else "")
        return Mention(text_of(node), "")

    def _receiver(self, node: Node | None) -> str | None:
        parts: list[str] = []
        while node is not None and len(parts) < _MAX_PARTS:
            if node.type in self.names:
                return ".".join((text_of(node), *reversed(parts)))
            if node.type not in self.members:
                return plain_name(node) or None if not parts and "type" in node.type else None
            before, after = self.members[node.type]
            parts.append(text_of(_part(node, after)))
            node = _part(node, before)
        return None

    def _visit_call(self, part: str, node: Node, facts: Facts) -> None:
        called = _part(node, part) if part else node
        if called is None:
            return
        if called.type in self.members:
            before, after = self.members[called.type]
            holder, called = _part(called, before), _part(called, after)
            head, _, last = plain_name(called).rpartition(".")
            receiver = self._receiver(holder) if holder is not None else head
        else:
            receiver, _, last = plain_name(called).rpartition(".")
        if last:
            facts.call(last, receiver)

    def _visit_binding(self, part: str, node: Node, facts: Facts) -> None:
        bound = _part(node, part) if part else node
        stack = [bound] if bound is not None else []
        for _ in range(_MAX_BOUND):
            if not stack:
                return
            item = stack.pop()
            if item.type in self.names:
                facts.bound.add(text_of(item))
            elif item.type not in self.members:
                stack.extend(item.named_children[:_MAX_PARTS])


def in_class(before: str, after: str) -> Callable[[SymbolKind], tuple[tuple[str, str], ...]]:
    """Frames of a language whose methods parse inside a class only."""

    def frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
        around = (before, after)
        return (around, ("", "\n")) if kind in {"method", "method_sig"} else (("", "\n"), around)

    return frames

"""What a definition does, in a few words: what it calls, what it raises, its branches.

Read from the definition's own text; what nested definitions do is theirs. Owns no budget and no layout.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from mnemolens.codegraph.extract import parseable
from mnemolens.codegraph.languages.base import Facts, Language, Rule, text_of
from mnemolens.core.symbols import SymbolKind

MAX_ITEMS = 12
"""Of each; a definition that does more is not outlined by a longer list."""
MAX_WORDS = 80
"""Characters of one head; what is longer ends in an ellipsis."""


_BODIES = frozenset({"block", "statement_block", ":", "=>", "->"})
"""What a head ends before, where a grammar names no body."""


class Outline(NamedTuple):
    """What a definition does, each in the order of its text and once.

    Attributes:
        calls: what it calls, as written without arguments: `provider.charge`.
        raises: what it raises, throws or panics with: the error's name, else what is thrown.
        branches: heads of its conditions, loops and handlers: `if status >= 500`, `except Timeout`.
    """

    calls: tuple[str, ...] = ()
    raises: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()


def outline(snippet: str | bytes, language: Language, kind: SymbolKind = "function") -> Outline:
    """The outline of a definition from its text alone; an empty one where no definition is found in it."""
    source = snippet.encode("utf-8", "replace") if isinstance(snippet, str) else snippet
    for before, after in language.frames(kind):
        framed = parseable(before.encode() + source + after.encode())
        root = language.parse(framed).root_node
        if not root.has_error:
            start = len(before.encode())
            return _outline(root, language, start, start + len(source))
    return Outline()


def _outline(root: Node, language: Language, start: int, end: int) -> Outline:
    calls: dict[str, None] = {}
    raises: dict[str, None] = {}
    branches: dict[str, None] = {}
    for node in _own(root, language, start, end):
        for name in _called(node, language):
            if name in language.raising:
                raises[_thrown(node.child_by_field_name("arguments")) or name] = None
            else:
                calls[name] = None
        if node.type in language.raises and (thrown := _thrown(node)):
            raises[thrown] = None
        if node.type in language.branches:
            branches[_head(node)] = None
    return Outline(*(tuple(found)[:MAX_ITEMS] for found in (calls, raises, branches)))


def _own(root: Node, language: Language, start: int, end: int) -> Iterator[Node]:
    """The nodes of the definition that begins at `start`, in text order, without nested definitions."""
    stack = [root]
    inside = False
    while stack:
        node = stack.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        action = language.actions.get(node.kind_id)
        if node.start_byte >= start and isinstance(action, Rule) and action.define and action.define(node):
            if inside:
                continue
            inside = True
        if inside:
            yield node
        stack.extend(reversed(node.children))


def _called(node: Node, language: Language) -> Iterator[str]:
    action = language.actions.get(node.kind_id)
    if isinstance(action, Rule) and action.visit is not None:
        facts = Facts()
        action.visit(node, facts)
        for name, receiver in facts.calls:
            yield f"{receiver}.{name}" if receiver else name


def _thrown(node: Node | None) -> str:
    """`Timeout` of `raise Timeout("…") from error`, `fmt.Errorf` of what is in `panic(fmt.Errorf("…"))`."""
    children = node.named_children if node is not None else []
    thrown = next((child for child in children if child.type != "comment"), None)
    while thrown is not None:
        inner = next(filter(None, map(thrown.child_by_field_name, ("function", "constructor", "type"))), None)
        if inner is None:
            break
        thrown = inner
    return _short(text_of(thrown))


def _head(node: Node) -> str:
    """The node's text before its body."""
    named = next(filter(None, map(node.child_by_field_name, ("consequence", "body"))), None)
    body = named or next((child for child in node.children if child.type in _BODIES), None)
    head = (node.text or b"")[: None if body is None else body.start_byte - node.start_byte]
    return _short(head.decode("utf-8", "replace")).rstrip("{: ")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"

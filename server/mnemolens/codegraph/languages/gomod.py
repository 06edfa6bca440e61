"""The table of `go.mod`: it defines nothing, but says under which path its folder's packages are imported.

The grammar is PHP's: what stands outside of that language's tags is one leaf of text to it, and more is not
needed here.
"""

import re

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Facts, Grammar, Language, Mention, RawImport, Rule, text_of
from mnemolens.core.symbols import SymbolKind

_MODULE = re.compile(r"^module\s+[\"`]?([^\s\"`]+)", re.MULTILINE)


def _visit_text(node: Node, facts: Facts) -> None:
    """The module's path, kept as an export without a module."""
    found = _MODULE.search(text_of(node))
    if found is not None:
        facts.imports.append(RawImport("", None, found[1], exported=True))


def _reference(node: Node) -> Mention | None:
    del node
    return None


def _frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
    del kind
    return ()


GO_MOD = Language(
    name="gomod",
    lsp_ids=("go.mod",),
    extensions=(),
    file_names=("go.mod",),
    setting="go",
    grammar=Grammar("tree_sitter_php", "language_php"),
    rules={"text": Rule(visit=_visit_text)},
    comments=frozenset(),
    references=frozenset(),
    reference=_reference,
    frames=_frames,
)

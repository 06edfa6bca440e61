"""The table of Kotlin. An object counts as a class."""

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Definition, Grammar, Language, Rule, text_of
from mnemolens.codegraph.languages.kotlin_gaps import mended
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class
from mnemolens.core.symbols import SymbolKind

_bases = bases_in("delegation_specifiers", "delegation_specifier", "constructor_invocation")
_BODIES = frozenset({"class_body", "enum_class_body"})


def _define_class(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    kind: SymbolKind = "class"
    if any(child.type == "interface" for child in node.children):
        kind = "interface"
    elif any(child.type == "enum_class_body" for child in node.children):
        kind = "enum"
    if name is None and node.type != "companion_object":
        return None
    body = next((child for child in node.children if child.type in _BODIES), None)
    text = text_of(name) if name is not None else "Companion"
    return Definition(kind, text, name or node, node.children, body, bases=_bases(node))


def _define_constructor(node: Node) -> Definition:
    body = next((child for child in node.children if child.type == "block"), None)
    return Definition("method", "constructor", node, node.children, body)


_SYNTAX = Syntax(
    names=frozenset({"identifier", "this_expression", "super_expression"}),
    members={"navigation_expression": ("0", "1")},
    calls={"call_expression": "0"},
    binds={"parameter": "0", "variable_declaration": "0"},
)

KOTLIN = Language(
    name="kotlin",
    lsp_ids=("kotlin",),
    extensions=(".kt", ".kts"),
    grammar=Grammar("tree_sitter_kotlin"),
    rules=_SYNTAX.rules(
        {
            "class_declaration": Rule(define=_define_class),
            "object_declaration": Rule(define=_define_class),
            "companion_object": Rule(define=_define_class),
            "type_alias": defined("type", name="type", body="user_type"),
            "function_declaration": defined("function", body="function_body"),
            "secondary_constructor": Rule(define=_define_constructor),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"line_comment", "block_comment"}),
    doc_comments=True,
    mended=mended,
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=in_class("class _ {\n", "\n}"),
)

"""The table of C#. A property counts as a method, a delegate as a type."""

import re

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Definition, Grammar, Language, Rule, text_of
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class

_BASES = bases_in("base_list")


def _define_operator(node: Node) -> Definition | None:
    """`operator ==`, and `operator Money` that converts."""
    shown = node.child_by_field_name("operator") or node.child_by_field_name("type")
    if shown is None:
        return None
    body = node.child_by_field_name("body")
    return Definition("method", f"operator {text_of(shown)}", shown, node.children, body)


_SYNTAX = Syntax(
    names=frozenset({"identifier", "this", "base"}),
    members={"member_access_expression": ("expression", "name"), "qualified_name": ("qualifier", "name")},
    calls={"invocation_expression": "function", "object_creation_expression": "type"},
    binds={"parameter": "name", "variable_declarator": "name"},
)

CSHARP = Language(
    name="csharp",
    lsp_ids=("csharp",),
    extensions=(".cs",),
    grammar=Grammar("tree_sitter_c_sharp"),
    rules=_SYNTAX.rules(
        {
            "namespace_declaration": defined("namespace"),
            "class_declaration": defined("class", bases=_BASES),
            "record_declaration": defined("class", bases=_BASES),
            "struct_declaration": defined("struct", bases=_BASES),
            "interface_declaration": defined("interface", bases=_BASES),
            "enum_declaration": defined("enum"),
            "delegate_declaration": defined("type"),
            "operator_declaration": Rule(define=_define_operator),
            "conversion_operator_declaration": Rule(define=_define_operator),
            "constructor_declaration": defined("method"),
            "method_declaration": defined("method"),
            "property_declaration": defined("method", body="accessors"),
            "local_function_statement": defined("function"),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"comment"}),
    doc_comments=True,
    doc_lines=re.compile(rb"///(?!/) ?"),
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=in_class("class _ {\n", "\n}"),
)

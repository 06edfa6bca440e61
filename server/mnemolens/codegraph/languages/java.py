"""The table of Java."""

from mnemolens.codegraph.languages.base import Grammar, Language
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class

_BASES = bases_in("superclass", "super_interfaces", "extends_interfaces")


_SYNTAX = Syntax(
    names=frozenset({"identifier", "type_identifier", "this", "super"}),
    members={"method_invocation": ("object", "name"), "field_access": ("object", "field")},
    calls={"method_invocation": "", "object_creation_expression": "type"},
    binds={"formal_parameter": "name", "variable_declarator": "name"},
)

JAVA = Language(
    name="java",
    lsp_ids=("java",),
    extensions=(".java",),
    grammar=Grammar("tree_sitter_java"),
    rules=_SYNTAX.rules(
        {
            "class_declaration": defined("class", bases=_BASES),
            "record_declaration": defined("class", bases=_BASES),
            "interface_declaration": defined("interface", bases=_BASES),
            "annotation_type_declaration": defined("interface"),
            "enum_declaration": defined("enum", bases=_BASES),
            "method_declaration": defined("method"),
            "annotation_type_element_declaration": defined("method"),
            "constructor_declaration": defined("method"),
            "compact_constructor_declaration": defined("method"),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"line_comment", "block_comment"}),
    doc_comments=True,
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=in_class("class _ {\n", "\n}"),
)

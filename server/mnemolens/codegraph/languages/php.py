"""The table of PHP. A trait counts as a class."""

from mnemolens.codegraph.languages.base import Grammar, Language
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined
from mnemolens.core.symbols import SymbolKind

_BASES = bases_in("base_clause", "class_interface_clause")


def _frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
    inside, plain = ("<?php class _ {\n", "\n}"), ("<?php ", "\n")
    return (inside, ("<?php interface _ {\n", "\n}")) if kind in {"method", "method_sig"} else (plain, inside)


_SYNTAX = Syntax(
    names=frozenset({"name", "variable_name", "relative_scope"}),
    members={
        "member_call_expression": ("object", "name"),
        "nullsafe_member_call_expression": ("object", "name"),
        "scoped_call_expression": ("scope", "name"),
        "member_access_expression": ("object", "name"),
    },
    calls={
        "function_call_expression": "function",
        "member_call_expression": "",
        "nullsafe_member_call_expression": "",
        "scoped_call_expression": "",
    },
    binds={},
)

PHP = Language(
    name="php",
    lsp_ids=("php",),
    extensions=(".php",),
    grammar=Grammar("tree_sitter_php", "language_php"),
    rules=_SYNTAX.rules(
        {
            "namespace_definition": defined("namespace", needs_body=True),
            "class_declaration": defined("class", bases=_BASES),
            "trait_declaration": defined("class"),
            "interface_declaration": defined("interface", bases=_BASES),
            "enum_declaration": defined("enum", bases=_BASES),
            "function_definition": defined("function"),
            "method_declaration": defined("method"),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"comment"}),
    doc_comments=True,
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=_frames,
)

"""The table of Rust. What is in `impl Shop` is named under `Shop`; a trait counts as an interface."""

import re

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Facts, Grammar, Language, Rule, mentions
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class, plain_name


def _implemented(node: Node) -> str | None:
    """The type that an `impl` is of, or of references to which."""
    made = node.child_by_field_name("type")
    while made is not None and made.type == "reference_type":
        made = made.child_by_field_name("type")
    return plain_name(made).rpartition(".")[2] or None


def _visit_implementation(node: Node, facts: Facts) -> None:
    """`impl Named for Cart`: the trait is a base of the type, unless `!` says that it is none."""
    made, base = (plain_name(node.child_by_field_name(part)) for part in ("type", "trait"))
    is_any = mentions(node.child_by_field_name("type_parameters"), made)  # `impl<T> Named for T`
    if made and base and not is_any and not any(child.type == "!" for child in node.children):
        facts.based.append((made, base))


_SYNTAX = Syntax(
    names=frozenset({"identifier", "field_identifier", "type_identifier", "self", "super", "crate"}),
    members={"field_expression": ("value", "field"), "scoped_identifier": ("path", "name")},
    calls={"call_expression": "function", "macro_invocation": "macro"},
    binds={
        "parameter": "pattern",
        "let_declaration": "pattern",
        "for_expression": "pattern",
        "closure_parameters": "",
    },
)

RUST = Language(
    name="rust",
    lsp_ids=("rust",),
    extensions=(".rs",),
    grammar=Grammar("tree_sitter_rust"),
    rules=_SYNTAX.rules(
        {
            "struct_item": defined("struct"),
            "union_item": defined("struct"),
            "enum_item": defined("enum"),
            "trait_item": defined("interface", bases=bases_in("trait_bounds")),
            "type_item": defined("type", body="type"),
            "mod_item": defined("namespace", needs_body=True),
            "function_item": defined("function"),
            "function_signature_item": defined("method"),
            "macro_definition": defined("function", body="macro_rule"),
            "impl_item": Rule(scope=_implemented, visit=_visit_implementation),
        }
    ),
    references=_SYNTAX.names,
    reference=_SYNTAX.reference,
    comments=frozenset({"line_comment", "block_comment"}),
    doc_comments=True,
    doc_lines=re.compile(rb"///(?!/) ?"),
    methods_in_classes=True,
    shallow=True,
    folds_signatures=False,
    frames=in_class("impl _ {\n", "\n}"),
)

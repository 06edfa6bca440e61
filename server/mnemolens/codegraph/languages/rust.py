"""The table of Rust. What is in `impl Shop` is named under `Shop`; a trait counts as an interface."""

import re

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Facts, Grammar, Language, Rule, text_of
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
    is_any = made in _parameters(node.child_by_field_name("type_parameters"))  # `impl<T> Named for T`
    if made and base and not is_any and not any(child.type == "!" for child in node.children):
        facts.based.append((made, base))


def _parameters(node: Node | None) -> set[str]:
    """The names of type parameters, without what bounds them."""
    found = set()
    for child in node.named_children if node is not None else ():
        found.add(text_of(child.child_by_field_name("name") or child))
    return found


def _visit_use(node: Node, facts: Facts) -> None:
    """The names that a `use` brings, but for those of modules around: what they mean is found there.

    What `crate::cart::Cart` names may well be this file's: tests in it write so.
    """
    waiting: list[tuple[Node | None, str]] = [(node.child_by_field_name("argument"), "")]
    while waiting:
        item, path = waiting.pop()
        if item is None:
            continue
        if item.type == "use_list":
            waiting.extend((child, path) for child in item.named_children)
        elif item.type == "scoped_use_list":
            inner = f"{path}.{plain_name(item.child_by_field_name('path'))}"
            waiting.append((item.child_by_field_name("list"), inner))
        elif item.type in _BROUGHT:
            alias = item.child_by_field_name("alias")
            named = item if alias is None else item.child_by_field_name("path")
            whole = f"{path}.{plain_name(named)}".removesuffix(".self").removeprefix(".")
            *before, name = whole.split(".")
            if alias is not None or not (set(before) <= _AROUND or before[0] == "crate"):
                facts.bound.add(text_of(alias) if alias is not None else name)


_BROUGHT = frozenset({"identifier", "self", "scoped_identifier", "use_as_clause"})
_AROUND = frozenset({"self", "super"})

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
            "use_declaration": Rule(visit=_visit_use),
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

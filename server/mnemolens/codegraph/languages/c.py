"""The tables of C and C++: that of C, and what C++ has besides."""

import re
from dataclasses import replace

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Definition, Grammar, Language, Rule, text_of
from mnemolens.codegraph.languages.c_gaps import mended
from mnemolens.codegraph.languages.shallow import Syntax, bases_in, defined, in_class, plain_name
from mnemolens.core.symbols import SymbolKind

_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier", "this"})
_DECLARED = frozenset(
    {"identifier", "field_identifier", "destructor_name", "operator_name", "type_identifier"}
)
_SPACE = re.compile(r"\s+")
_MAX_DECLARATORS = 16


def _declared(node: Node) -> tuple[Node, str, str] | None:
    """The name that a function's declaration declares, as text too, and the dotted scope before it."""
    owner = ""
    current, is_function = node.child_by_field_name("declarator"), False
    for _ in range(_MAX_DECLARATORS):
        if current is None:
            return None
        kind = current.type
        if kind in _DECLARED:
            return (current, _SPACE.sub(" ", text_of(current)), owner) if is_function else None
        if kind == "operator_cast":
            made = current.child_by_field_name("type")
            return None if made is None else (made, f"operator {_SPACE.sub(' ', text_of(made))}", owner)
        if kind == "qualified_identifier":
            scope = plain_name(current.child_by_field_name("scope"))
            owner += f"{scope}." if scope else ""
            current = current.child_by_field_name("name")
        elif kind == "template_function":
            current = current.child_by_field_name("name")
        else:
            if kind != "parenthesized_declarator":
                is_function = kind == "function_declarator"
            inner = [c for c in current.named_children if c.type in _DECLARED or "declarator" in c.type]
            current = current.child_by_field_name("declarator") or (inner[0] if inner else None)
    return None


def _macro(node: Node) -> tuple[Node, str, str] | None:
    """`TEST(pay) {`: what a macro names, which C reads as a type and a name in brackets."""
    made, bracketed = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    if node.type != "function_definition" or made is None or made.type != "type_identifier":
        return None
    if bracketed is None or [c.type for c in bracketed.named_children] != ["identifier"]:
        return None
    return (made, text_of(made), "") if bracketed.type == "parenthesized_declarator" else None


def _define_function(node: Node) -> Definition | None:
    """A function with its body, or (a declaration) without."""
    body = node.child_by_field_name("body")
    if body is None and node.type == "function_definition":
        body = next((c for c in node.children if c.type == "try_statement"), None)
    parent = node.parent.type if node.parent is not None else ""
    if node.type != "function_definition" and parent in {"compound_statement", "for_statement"}:
        return None  # `Shop shop(name);` is read as a declaration too
    found = _declared(node) or _macro(node)
    if found is None:
        return None
    name_node, name, owner = found
    kind: SymbolKind = "method" if owner else "function"
    if node.type != "function_definition":
        kind = "method_sig" if parent == "field_declaration_list" else "overload"
    return Definition(kind, name, name_node, node.children, body, owner=owner)


def _define_typedef(node: Node) -> Definition | None:
    """A type's new name; a nameless struct gets it as its own."""
    made = node.child_by_field_name("type")
    name_node = node.child_by_field_name("declarator")
    for _ in range(_MAX_DECLARATORS):
        if name_node is None or name_node.type in {"type_identifier", "primitive_type"}:
            break
        inner = name_node.child_by_field_name("declarator")
        name_node = inner or next((c for c in name_node.named_children if "declarator" in c.type), None)
    if made is None or name_node is None:
        return None
    name = text_of(name_node)
    body = made.child_by_field_name("body")
    if body is None or made.child_by_field_name("name") is not None:
        parts = [child for child in node.children if child != made]
        return Definition("type", name, name_node, parts, outside=(made,))
    return Definition("enum" if made.type == "enum_specifier" else "struct", name, name_node, node.children)


_FUNCTION = Rule(define=_define_function)
_DEFINITIONS = {
    "function_definition": _FUNCTION,
    "declaration": _FUNCTION,
    "struct_specifier": defined("struct", needs_body=True, bases=bases_in("base_class_clause")),
    "union_specifier": defined("struct", needs_body=True),
    "enum_specifier": defined("enum", needs_body=True),
    "type_definition": Rule(define=_define_typedef),
}

_C_SYNTAX = Syntax(
    names=_NAMES,
    members={"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
    calls={"call_expression": "function"},
    binds={"parameter_declaration": "declarator", "init_declarator": "declarator"},
)

C = Language(
    name="c",
    lsp_ids=("c",),
    extensions=(".c",),
    grammar=Grammar("tree_sitter_c"),
    rules=_C_SYNTAX.rules(_DEFINITIONS),
    references=_C_SYNTAX.names,
    reference=_C_SYNTAX.reference,
    comments=frozenset({"comment"}),
    doc_comments=True,
    doc_lines=re.compile(rb"//[/!](?!/) ?"),
    mended=mended,
    methods_in_classes=True,
    shallow=True,
    frames=in_class("struct _ {\n", "\n};"),
)

_CPP_SYNTAX = replace(_C_SYNTAX, calls={"call_expression": "function", "new_expression": "type"})

CPP = replace(
    C,
    name="cpp",
    lsp_ids=("cpp",),
    extensions=(".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh", ".hxx", ".ipp", ".inl"),  # a `.h` may be either's
    grammar=Grammar("tree_sitter_cpp"),
    rules=_CPP_SYNTAX.rules(
        _DEFINITIONS
        | {
            "field_declaration": _FUNCTION,
            "class_specifier": defined("class", needs_body=True, bases=bases_in("base_class_clause")),
            "namespace_definition": defined("namespace"),
            "alias_declaration": defined("type", body="type"),
        }
    ),
    reference=_CPP_SYNTAX.reference,
    folds_signatures=False,
    frames=in_class("class _ {\n", "\n};"),
)

"""The table of Go.

Go declares types, so an expression's type can be followed without guessing. A scope's bound names hold what
is known of their types: "shop Shop" (a declared type, pointers and type arguments left out, "[]" for each
slice, map or channel around it), or "shop =NewShop()" (an expression). Results are bound in a function as
"() Shop" and "(1) error", a type parameter as "<T> Named", an alias's meaning as "= Shop", another type's
as "~ []Shop".

Receivers are written as dotted parts; each may end with "()" (its result), "(1)" (its second result), "[]"
(an element) and "{}" (a value of that type). `codegraph.resolve_go` reads all of this.
"""

import re

from tree_sitter import Node

from mnemolens.codegraph.languages.base import (
    Definition,
    Facts,
    Grammar,
    Language,
    Mention,
    RawImport,
    Rule,
    flatten,
    text_of,
)
from mnemolens.core.symbols import SymbolKind

_MAX_PARTS = 16
_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"})
_HEADS = _NAMES | {"generic_type", "qualified_type"}
_OF_MANY = frozenset({"slice_type", "array_type", "implicit_length_array_type", "map_type", "channel_type"})
_VERSION = re.compile(r"v\d+")


def type_text(node: Node | None) -> str:
    """A type's name, "[]" before it for each slice, map or channel around it; empty where it has none."""
    around = ""
    for _ in range(_MAX_PARTS):
        if node is None:
            return ""
        kind = node.type
        if kind == "type_identifier":
            return around + text_of(node)
        if kind == "qualified_type":
            children = node.children
            return f"{around}{text_of(children[0])}.{text_of(children[-1])}"
        if kind in {"pointer_type", "parenthesized_type", "type_elem", "type_constraint"}:
            node = _only_child(node)
        elif kind == "generic_type":
            node = node.children[0]
        elif kind in _OF_MANY:
            around += "[]"
            node = node.children[-1]
        else:
            return ""
    return ""


def dotted(node: Node | None) -> str | None:
    """An expression as a receiver is written (see above); None for one that no rule follows."""
    parts: list[str] = []
    suffix = ""
    while node is not None and len(parts) < _MAX_PARTS and len(suffix) < _MAX_PARTS:
        kind = node.type
        if kind == "selector_expression":
            children = node.children
            parts.append(text_of(children[-1]) + suffix)
            suffix = ""
            node = children[0]
        elif kind in _NAMES:
            name = text_of(node) + suffix
            return ".".join((name, *reversed(parts))) if parts else name
        elif kind in _HEADS:
            return ".".join(((type_text(node) or text_of(node)) + suffix, *reversed(parts)))
        elif (made := _made(node)) is not None:
            name = type_text(made)
            return ".".join((f"{name}{{}}{suffix}", *reversed(parts))) if name else None
        else:
            node, applied = _operand(node)
            suffix = applied + suffix
    return None


def _made(node: Node) -> Node | None:
    """The type of which an expression surely makes a value."""
    kind = node.type
    if kind in {"composite_literal", "type_assertion_expression", "type_conversion_expression"}:
        made = node.child_by_field_name("type")
        generic = kind == "type_conversion_expression" and made is not None and made.type == "generic_type"
        return None if generic else made  # `Map[int](x)` may well be a call
    if kind == "call_expression" and _is_name(node.children[0], "new", "make"):
        return next((child for child in node.children[-1].children if child.is_named), None)
    return None


def _is_name(node: Node, *names: str) -> bool:
    return node.type == "identifier" and text_of(node) in names


def _operand(node: Node) -> tuple[Node | None, str]:
    """What an expression is made from, and what it does with that."""
    kind = node.type
    if kind in {"call_expression", "type_conversion_expression"}:
        return node.children[0], "()"
    if kind == "index_expression":
        return node.children[0], "[]"
    if kind == "slice_expression":
        return node.children[0], ""
    if kind == "parenthesized_expression":
        return _only_child(node), ""
    if kind == "unary_expression":
        applied = {"<-": "[]", "*": "", "&": ""}.get(text_of(node.children[0]))
        return (None, "") if applied is None else (node.children[-1], applied)
    return None, ""


def _named(node: Node) -> list[Node]:
    """As `named_children`, but of those nodes that the walk reads next: to make them again is dear."""
    return [child for child in node.children if child.is_named]


def _only_child(node: Node) -> Node | None:
    inner = [child for child in node.children if child.is_named and child.type != "comment"]
    return inner[0] if len(inner) == 1 else None


_PARAMETERS = frozenset({"parameter_declaration", "variadic_parameter_declaration"})


def _names_and_type(node: Node) -> tuple[list[Node], Node | None]:
    """What a parameter is called, and its type; nothing of what is no parameter."""
    if node.type not in _PARAMETERS:
        return [], None
    *before, kind = node.children
    return [child for child in before if child.type == "identifier"], kind


def _parameters(node: Node | None) -> set[str]:
    """What a list of parameters or named results binds."""
    found: set[str] = set()
    for child in node.children if node is not None else ():
        names, declared = _names_and_type(child)
        if names:
            kind = type_text(declared)
            if kind and child.type == "variadic_parameter_declaration":
                kind = "[]" + kind
            found.update(_bound(names, kind))
    return found


def _bound(names: list[Node], kind: str) -> list[str]:
    texts = [text_of(name) for name in names]
    return [f"{name} {kind}" if kind else name for name in texts if name != "_"]


def _results(node: Node | None) -> set[str]:
    """The types of a function's results, "() T" being the first one's."""
    if node is None:
        return set()
    kinds: list[str] = []
    if node.type == "parameter_list":
        for child in _named(node):
            names, declared = _names_and_type(child)
            kinds += [type_text(declared)] * (len(names) or 1)
    else:
        kinds.append(type_text(node))
    return {f"({at or ''}) {kind}" for at, kind in enumerate(kinds[:_MAX_PARTS]) if kind}


def _type_parameters(node: Node | None) -> set[str]:
    found: set[str] = set()
    for child in node.named_children if node is not None else ():
        for name in child.children_by_field_name("name"):
            kind = type_text(child.child_by_field_name("type"))
            found.add(f"<{text_of(name)}> {kind}" if kind else f"<{text_of(name)}>")
    return found


def _head(node: Node) -> set[str]:
    """What a function's head binds."""
    found = _results(node.child_by_field_name("result"))
    for child in node.children:
        if child.type == "parameter_list":  # receiver, parameters, results
            found |= _parameters(child)
        elif child.type == "type_parameter_list":
            found |= _type_parameters(child)
    return found


def _define_function(node: Node) -> Definition | None:
    name_node = node.child_by_field_name("name")
    name = text_of(name_node)
    if name_node is None or not name:
        return None
    bound, owner = _head(node), ""
    kind: SymbolKind = "method_sig" if node.type == "method_elem" else "function"
    if node.type == "method_declaration":
        receiver = node.child_by_field_name("receiver")
        declared = _only_child(receiver) if receiver is not None else None
        made = declared.child_by_field_name("type") if declared is not None else None
        owner = type_text(made)
        if not owner:
            return None
        owner, kind = owner + ".", "method"
        bound |= _receiver_parameters(made)
    return Definition(
        kind=kind,
        name=name,
        name_node=name_node,
        parts=node.children,
        body=node.child_by_field_name("body"),
        owner=owner,
        bound=frozenset(bound),
    )


def _receiver_parameters(made: Node | None) -> set[str]:
    """The type parameters that a receiver names: `K` of `(m *Map[K])`."""
    while made is not None and made.type in {"pointer_type", "parenthesized_type"}:
        made = _only_child(made)
    arguments = made.child_by_field_name("type_arguments") if made is not None else None
    return {f"<{text_of(child)}>" for child in arguments.named_children} if arguments is not None else set()


_TYPE_KINDS: dict[str, SymbolKind] = {"struct_type": "struct", "interface_type": "interface"}


def _define_type(node: Node) -> Definition | None:
    name, made = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None or made is None or not text_of(name):
        return None
    kind: SymbolKind = "type" if node.type == "type_alias" else _TYPE_KINDS.get(made.type, "type")
    bases: tuple[str, ...] = ()
    bound = _type_parameters(node.child_by_field_name("type_parameters"))
    parts, body = node.children, made
    if kind == "struct":
        fields = _only_child(made)
        if fields is not None:
            parts, body = flatten(parts, fields), fields
        bases = _fields(fields, bound)
    elif kind == "interface":
        bases = tuple(
            base
            for child in made.named_children
            if child.type == "type_elem" and (base := type_text(child)) and child.named_child_count == 1
        )
    elif meaning := type_text(made):
        bound.add(f"{'=' if node.type == 'type_alias' else '~'} {meaning}")
    return Definition(kind, text_of(name), name, parts, body, bases=bases, bound=frozenset(bound))


def _fields(fields: Node | None, bound: set[str]) -> tuple[str, ...]:
    """The embedded types of a struct; its fields are added to `bound`."""
    bases: list[str] = []
    for field in fields.named_children if fields is not None else ():
        if field.type != "field_declaration":
            continue
        kind = type_text(field.child_by_field_name("type"))
        names = field.children_by_field_name("name")
        if names:
            bound.update(_bound(names, kind))
        elif kind:
            bases.append(kind)
            bound.add(f"{kind.rpartition('.')[2]} {kind}")
    return tuple(bases)


def _pair(node: Node) -> tuple[list[Node], list[Node]]:
    """The names and the values of a declaration."""
    left: Node | None
    right: Node | None
    if node.type in {"var_spec", "const_spec"}:
        names, right = node.children_by_field_name("name"), node.child_by_field_name("value")
    else:
        if node.type == "short_var_declaration":
            left, *_, right = node.children
        else:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = _named(left) if left is not None else []
    if right is None:
        return names, []
    return names, _named(right) if right.type == "expression_list" else [right]


def _define_closure(node: Node) -> Definition | None:
    """A function literal that is the only value of one name."""
    last = node.children[-1]
    if last.type != "expression_list" or last.children[0].type != "func_literal":
        return None
    names, values = _pair(node)
    if len(names) != 1 or len(values) != 1 or values[0].type != "func_literal":
        return None
    if names[0].type != "identifier":
        return None
    body = values[0].child_by_field_name("body")
    if body is None:
        return None
    return Definition(
        kind="lambda",
        name=text_of(names[0]),
        name_node=names[0],
        parts=flatten(node.children, body),
        body=body,
        bound=frozenset(_head(values[0])),
    )


def _visit_declaration(node: Node, facts: Facts) -> None:
    names, values = _pair(node)
    if len(names) == len(values) == 1 and values[0].type == "func_literal":
        return  # a definition: its name is a symbol
    typed = node.type in {"var_spec", "const_spec"}
    kind = type_text(node.child_by_field_name("type")) if typed else ""
    if node.type == "const_spec":  # one without a value has the one before's again, and its type
        kind = facts.repeated = kind if values else facts.repeated
    if kind or not values:
        facts.bound.update(_bound(names, kind))
        return
    one = dotted(values[0]) if len(values) == 1 and len(names) > 1 else None
    for at, name_node in enumerate(names):
        name = text_of(name_node)
        if name == "_" or name_node.type != "identifier":
            continue
        if len(values) == len(names):
            meaning = dotted(values[at])
        elif one is not None and at and one.endswith("()"):
            meaning = f"{one[:-2]}({at})"
        else:
            meaning = one if not at else None
        facts.bound.add(f"{name} ={meaning}" if meaning else name)


def _visit_range(node: Node, facts: Facts) -> None:
    left, over = node.child_by_field_name("left"), dotted(node.child_by_field_name("right"))
    if left is None or not any(child.type == ":=" for child in node.children):
        return
    for at, name in enumerate(left.named_children):
        if name.type == "identifier" and text_of(name) != "_":
            facts.bound.add(f"{text_of(name)} ={over}[]" if at and over else text_of(name))


def _visit_function(node: Node, facts: Facts) -> None:
    facts.bound |= {item for item in _head(node) if not item.startswith("(")}


def _visit_type_switch(node: Node, facts: Facts) -> None:
    alias = node.child_by_field_name("alias")
    facts.bound.update(text_of(name) for name in (alias.named_children if alias is not None else ()))


def _visit_call(node: Node, facts: Facts) -> None:
    function: Node | None = node.children[0]
    while function is not None:
        kind = function.type
        if kind == "selector_expression":
            children = function.children
            facts.call(text_of(children[-1]), dotted(children[0]))
            return
        if kind == "identifier":
            facts.call(text_of(function), "")
            return
        if kind == "index_expression":
            function = function.children[0]
        elif kind == "parenthesized_expression":
            function = _only_child(function)
        else:
            return


def _visit_conversion(node: Node, facts: Facts) -> None:
    """`Map[int](x)` may well be a call."""
    made = node.children[0]
    if made.type == "generic_type":
        name, _, last = type_text(made).rpartition(".")
        facts.call(last, name)


def default_name(path: str) -> str:
    """The name that a package most likely has, by its import path."""
    parts = path.split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1].partition(".v")[0]


def _visit_import(node: Node, facts: Facts) -> None:
    """One import: name None where the package says what it is called, "*" where the import does."""
    path = text_of(node.child_by_field_name("path"))[1:-1]
    name = node.child_by_field_name("name")
    if not path:
        return
    if name is None:
        facts.imports.append(RawImport(path, None, default_name(path)))
    elif name.type == "dot":
        facts.imports.append(RawImport(path, "*", "*"))
    else:
        facts.imports.append(RawImport(path, "*" if text_of(name) != "_" else None, text_of(name)))


def _visit_package(node: Node, facts: Facts) -> None:
    """The package's name, kept as an export without a module."""
    name = _only_child(node)
    if name is not None:
        facts.imports.append(RawImport("", None, text_of(name), exported=True))


def _wrapped_by_type(node: Node) -> tuple[Node, Node] | None:
    """A lone type is a definition from the word `type` on."""
    specs = [child for child in node.named_children if child.type != "comment"]
    alone = len(specs) == 1 and not any(child.type == "(" for child in node.children)
    return (specs[0], node) if alone else None


def _reference(node: Node) -> Mention | None:
    parent = node.parent
    name = text_of(node)
    if parent is None:
        return Mention(name, "")
    kind = parent.type
    if kind == "selector_expression" and parent.child_by_field_name("field") == node:
        return Mention(name, dotted(parent.child_by_field_name("operand")))
    if kind == "qualified_type" and parent.child_by_field_name("name") == node:
        return Mention(name, text_of(parent.child_by_field_name("package")))
    if kind == "literal_element" and parent.parent is not None and parent.parent.type == "keyed_element":
        return None if parent.parent.child_by_field_name("key") == parent else Mention(name, "")
    return (
        None
        if kind in {"field_declaration", "import_spec", "package_clause"} and (node.type != "type_identifier")
        else Mention(name, "")
    )


def _frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
    if kind == "method_sig":
        return (("type _ interface {\n", "\n}"),)
    if kind == "lambda":
        return (("func _() {\n", "\n}"), ("var ", "\n"))
    return (("", "\n"), ("type ", "\n"))


GO = Language(
    name="go",
    always_ends=True,
    lsp_ids=("go",),
    extensions=(".go",),
    grammar=Grammar("tree_sitter_go"),
    rules={
        "function_declaration": Rule(define=_define_function),
        "method_declaration": Rule(define=_define_function),
        "method_elem": Rule(define=_define_function),
        "type_spec": Rule(define=_define_type),
        "type_alias": Rule(define=_define_type),
        "type_declaration": Rule(wraps=_wrapped_by_type),
        "short_var_declaration": Rule(define=_define_closure, visit=_visit_declaration),
        "var_spec": Rule(define=_define_closure, visit=_visit_declaration),
        "const_spec": Rule(visit=_visit_declaration),
        "receive_statement": Rule(visit=_visit_declaration),
        "range_clause": Rule(visit=_visit_range),
        "func_literal": Rule(visit=_visit_function),
        "type_switch_statement": Rule(visit=_visit_type_switch),
        "call_expression": Rule(visit=_visit_call),
        "type_conversion_expression": Rule(visit=_visit_conversion),
        "import_spec": Rule(visit=_visit_import),
        "package_clause": Rule(visit=_visit_package),
    },
    comments=frozenset({"comment"}),
    references=_NAMES,
    reference=_reference,
    frames=_frames,
    doc_lines=re.compile(rb"//(?![a-z0-9]+:[a-z0-9]) ?"),
    raising=frozenset({"panic"}),
)

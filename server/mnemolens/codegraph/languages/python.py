"""The table of Python."""

import inspect
import re

from tree_sitter import Node

from mnemolens.codegraph.comments import LineComments
from mnemolens.codegraph.languages.base import (
    MAX_WRAPPERS,
    Definition,
    Facts,
    Grammar,
    Language,
    Mention,
    RawImport,
    Rule,
    flatten,
    mentions,
    text_of,
)
from mnemolens.core.symbols import Branch, SymbolKind

_STRINGS = frozenset({"string", "concatenated_string"})


_MAX_CHAIN = 16
"""How many links of a chain are followed: generated ones are thousands long."""


def dotted(node: Node | None) -> str | None:
    """`a.b.c` for a chain of plain names, each perhaps called (`super().a`, `Name().b().c`), else None."""
    parts: list[str] = []
    called = ""
    for _ in range(_MAX_CHAIN):
        if node is None:
            return None
        kind = node.type
        if kind == "attribute":
            children = node.children
            parts.append(text_of(children[-1]) + called)
            called = ""
            node = children[0]
        elif kind == "identifier":
            parts.append(text_of(node) + called)
            return ".".join(reversed(parts))
        elif kind == "call" and not called:
            called = "()"
            node = node.children[0]
        elif kind in {"await", "parenthesized_expression"} and not called and node.named_child_count == 1:
            node = node.named_children[0]
        else:
            return None
    return None


_PLAIN = frozenset(
    {"str", "int", "float", "bool", "bytes", "object", "None", "Any", "dict", "list", "tuple", "set"}
)
_OPTIONAL = re.compile(
    r"(?:\w+\.)?(?:Optional|ClassVar|Final|Annotated|Awaitable)\[\s*([\w.\"']+)(?:\[.*\])?\s*(?:,.*)?\]"
)
_NAMED_TYPE = re.compile(r"([A-Za-z_][\w.]*)(?:\[.*\])?")


def _type_named(annotation: Node | None) -> str | None:
    """The class that an annotation names, `None` besides and type arguments left out."""
    if annotation is None or annotation.end_byte - annotation.start_byte > 200:
        return None
    text = text_of(annotation).strip("\"' ")
    if text.isascii() and text.isidentifier():  # most are: no expression need look at them
        return text if text not in _PLAIN else None
    if "|" in text:
        rest = [part.strip() for part in text.split("|") if part.strip() != "None"]
        text = rest[0] if len(rest) == 1 else ""
    if (found := _OPTIONAL.fullmatch(text)) is not None:
        text = found[1].strip("\"'")
    found = _NAMED_TYPE.fullmatch(text)
    return found[1] if found is not None and found[1] not in _PLAIN else None


def _value(node: Node | None) -> str | None:
    """An assigned value as a receiver; "?" for what no rule follows, None for `None`."""
    if node is None or node.type == "none":
        return None
    if node.type == "boolean_operator" and text_of(node.child_by_field_name("operator")) == "or":
        node = node.child_by_field_name("right")  # `given or Default()`
    return dotted(node) or "?"


def _docstring(block: Node) -> tuple[Node, str] | None:
    """The documentation string of a body, cleaned, and the statement that holds it."""
    for at in range(block.child_count):  # not `children`: a block may have any number of them
        child = block.child(at)
        if child.type == "comment":
            continue
        if child.type != "expression_statement" or child.child_count != 1:
            return None
        value = child.children[0]
        if value.type not in _STRINGS:
            return None
        strings = [value] if value.type == "string" else [c for c in value.children if c.type == "string"]
        pieces = [_literal(s) for s in strings]
        if any(piece is None for piece in pieces):
            return None
        return child, inspect.cleandoc("".join(p for p in pieces if p))
    return None


def _literal(string: Node) -> str | None:
    """The text between a string's quotes, escapes left as written; None for bytes and f-strings."""
    children = string.children
    if len(children) < 2 or children[0].type != "string_start":
        return None
    if set(text_of(children[0]).lower()) & {"b", "f", "t"}:
        return None
    return "".join(text_of(child) for child in children if child.type == "string_content")


def _bases(arguments: Node | None) -> tuple[str, ...]:
    if arguments is None:
        return ()
    found = []
    for child in arguments.named_children:
        base = child.child_by_field_name("value") if child.type == "subscript" else child
        if (name := dotted(base)) is not None and "(" not in name:
            found.append(name)
    return tuple(found)


def _define_block(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None or not name.end_byte > name.start_byte:
        return None
    children = node.children
    kind: SymbolKind = "class" if node.type == "class_definition" else "function"
    doc = _docstring(body)
    returned = _type_named(node.child_by_field_name("return_type"))
    return Definition(
        kind=kind,
        name=text_of(name),
        name_node=name,
        parts=children,
        body=body,
        is_async=children[0].type == "async",
        bases=_bases(node.child_by_field_name("superclasses")) if kind == "class" else (),
        docstring=doc[1] if doc else None,
        silent=doc[0] if doc else None,
        bound=frozenset({f"() {returned}"}) if returned else frozenset(),
    )


def _define_lambda(node: Node) -> Definition | None:
    value: Node | None = node.children[-1]
    for _ in range(MAX_WRAPPERS):
        if value is None or value.type != "parenthesized_expression":
            break
        value = value.named_children[0] if value.named_child_count == 1 else None
    if value is None or value.type != "lambda":
        return None
    name = node.child_by_field_name("left")
    body = value.child_by_field_name("body")
    parent = node.parent
    if name is None or name.type != "identifier" or body is None:
        return None
    if parent is not None and parent.type == "assignment":  # `x = y = lambda: 0` names none
        return None
    return Definition("lambda", text_of(name), name, flatten(node.children, body), body)


def bind_pattern(node: Node | None, facts: Facts) -> None:
    """Record the plain names that an assignment target binds; attributes and items bind none."""
    stack = [node] if node is not None else []
    while stack:
        item = stack.pop()
        if item.type == "identifier":
            facts.bound.add(text_of(item))
            facts.say(text_of(item), None)
        elif (name := _own_attribute(item)) is not None:
            facts.attributes.add(name)
            facts.say(f"self.{name}", None)
        elif item.type not in {"attribute", "subscript", "call"}:
            stack.extend(item.named_children)


def _own_attribute(node: Node) -> str | None:
    """`name` of `self.name` and `cls.name`."""
    receiver, _, name = ((dotted(node) if node.type == "attribute" else None) or "").partition(".")
    return name if receiver in {"self", "cls"} and name and "." not in name else None


_PLAIN_PAIR = 3
"""Children of `name = value`, without a type or comments."""


def _visit_assignment(node: Node, facts: Facts) -> None:
    children = node.children
    left: Node | None
    right: Node | None
    if len(children) == _PLAIN_PAIR and children[1].type == "=":
        left, _, right = children
        declared, value = None, _value(right)
    else:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        declared, value = _type_named(node.child_by_field_name("type")), _value(right)
    if left is not None and left.type == "attribute":
        name = _own_attribute(left)
        if name is None:
            return
        facts.say(f"self.{name}", declared, value)
        # `self.f = wrap(self.f)` still means the method; a mere annotation sets nothing.
        if right is not None and not mentions(right, text_of(left)):
            facts.attributes.add(name)
    elif left is not None and left.type == "identifier" and node.type == "assignment":
        facts.bound.add(text_of(left))
        facts.say(text_of(left), declared, value)
    else:
        bind_pattern(left, facts)


def _visit_name(node: Node, facts: Facts) -> None:
    bind_pattern(node.child_by_field_name("name"), facts)


def _visit_target(node: Node, facts: Facts) -> None:
    pattern = node.parent
    in_with = pattern is not None and pattern.parent is not None and pattern.parent.type == "with_item"
    for child in node.named_children:
        if in_with and pattern is not None and child.type == "identifier":
            value = dotted(pattern.named_children[0])
            facts.bound.add(text_of(child))
            facts.say(text_of(child), None, f"{value}.__enter__()" if value else "?")
        else:
            bind_pattern(child, facts)


def _visit_parameters(node: Node, facts: Facts) -> None:
    for child in node.children:
        if not child.is_named:
            continue
        kind = child.type
        if kind == "identifier":
            bind_pattern(child, facts)
        elif kind in {"typed_parameter", "typed_default_parameter"}:
            name = child.child_by_field_name("name") or child.named_children[0]
            declared = _type_named(child.child_by_field_name("type"))
            if declared and name.type == "identifier":
                facts.bound.add(text_of(name))
                facts.say(text_of(name), declared)
            else:
                bind_pattern(name, facts)
        elif kind == "default_parameter":
            bind_pattern(child.child_by_field_name("name"), facts)
        elif kind != "comment":
            bind_pattern(child, facts)


def _visit_nonlocal(node: Node, facts: Facts) -> None:
    facts.outer.update(text_of(child) for child in node.named_children)


def _visit_global(node: Node, facts: Facts) -> None:
    facts.module_wide.update(text_of(child) for child in node.named_children)


def _visit_delete(node: Node, facts: Facts) -> None:
    """`del name`: what it meant before, it means no longer."""
    for child in node.named_children:
        for name in child.named_children if child.type == "expression_list" else (child,):
            if name.type == "identifier":
                bind_pattern(name, facts)


def _visit_type_parameters(node: Node, facts: Facts) -> None:
    """`def f[T]`; the grammar gives `list[T]` the same node, where nothing is bound."""
    if node.parent is not None and node.parent.type == "generic_type":
        return
    for child in node.named_children:
        inner = child
        while inner.type != "identifier" and inner.named_child_count:
            inner = inner.named_children[0]
        bind_pattern(inner, facts)


def _visit_as_pattern(node: Node, facts: Facts) -> None:
    """`case … as name`: there the name is a bare identifier; elsewhere it is an as_pattern_target."""
    last = node.named_children[-1] if node.named_child_count else None
    if last is not None and last.type == "identifier":
        bind_pattern(last, facts)


def _visit_case_pattern(node: Node, facts: Facts) -> None:
    for child in node.named_children:
        kind = child.type
        if kind == "splat_pattern" or (kind == "dotted_name" and child.named_child_count == 1):
            bind_pattern(child, facts)


def _visit_keyword_pattern(node: Node, facts: Facts) -> None:
    """`case Point(x=name)`."""
    last = node.named_children[-1] if node.named_child_count > 1 else None
    if last is not None and last.type == "dotted_name" and last.named_child_count == 1:
        bind_pattern(last, facts)


def _visit_call(node: Node, facts: Facts) -> None:
    function = node.children[0]
    kind = function.type
    if kind == "identifier":
        facts.call(text_of(function), "")
    elif kind == "attribute":
        children = function.children
        facts.call(text_of(children[-1]), dotted(children[0]))


def _visit_import(node: Node, facts: Facts) -> None:
    for child in node.named_children:
        if child.type == "dotted_name":
            module = text_of(child)
            facts.imports.append(RawImport(module, None, module.partition(".")[0]))
        elif child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None and alias is not None:
                facts.imports.append(RawImport(text_of(name), None, text_of(alias)))


def _visit_import_from(node: Node, facts: Facts) -> None:
    source = node.child_by_field_name("module_name")
    if source is None:
        return
    module = "".join(text_of(source).split())
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None and alias is not None:
                facts.imports.append(RawImport(module, text_of(name), text_of(alias)))
        else:
            facts.imports.append(RawImport(module, text_of(child), text_of(child)))
    if any(child.type == "wildcard_import" for child in node.named_children):
        facts.imports.append(RawImport(module, "*", "*"))


_BRANCHES: dict[str, Branch] = {
    "try_statement": "try",
    "if_statement": "if",
    "for_statement": "if",
    "while_statement": "if",
    "match_statement": "if",
}


def _branch(node: Node) -> Branch:
    if node.type == "with_statement":
        clause = next((child for child in node.children if child.type == "with_clause"), None)
        return "try" if clause is not None and "suppress" in text_of(clause) else ""
    return _BRANCHES.get(node.type, "")


def _reference(node: Node) -> Mention | None:
    parent = node.parent
    name = text_of(node)
    if parent is None:
        return Mention(name, "")
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        return Mention(name, dotted(parent.child_by_field_name("object")))
    if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
        return None
    if parent.type == "dotted_name":
        return _imported_reference(node, parent)
    if parent.type == "aliased_import":
        return _imported(name, parent, parent.child_by_field_name("name"))
    return Mention(name, "")


def _imported_reference(node: Node, dotted_name: Node) -> Mention | None:
    """A name in an import statement, as it is known afterwards; a module's name refers to no symbol."""
    holder = dotted_name.parent
    if holder is None or holder.type == "relative_import":
        return None
    if holder.type == "aliased_import":
        alias = holder.child_by_field_name("alias")
        return None if alias is None else _imported(text_of(alias), holder, dotted_name)
    if holder.type == "import_from_statement":
        if holder.child_by_field_name("module_name") == dotted_name:
            return None
        return _imported(text_of(node), dotted_name, dotted_name)
    if dotted_name.child_count > 1 and dotted_name.children[0] != node:
        return None
    return Mention(text_of(node), "")


def _imported(alias: str, item: Node, name: Node | None) -> Mention | None:
    """What an item of an import statement binds."""
    statement = item.parent
    if statement is None or name is None:
        return None
    if statement.type != "import_from_statement":
        return Mention(alias, "", (text_of(name), None))
    module = "".join(text_of(statement.child_by_field_name("module_name")).split())
    return Mention(alias, "", (module, text_of(name)))


def _frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
    del kind
    return (("", "\n"),)


PYTHON = Language(
    name="python",
    lsp_ids=("python",),
    extensions=(".py", ".pyi", ".pyw"),
    grammar=Grammar("tree_sitter_python"),
    rules={
        "function_definition": Rule(define=_define_block),
        "class_definition": Rule(define=_define_block),
        "assignment": Rule(define=_define_lambda, visit=_visit_assignment),
        "augmented_assignment": Rule(visit=_visit_assignment),
        "named_expression": Rule(visit=_visit_name),
        "for_statement": Rule(visit=_visit_assignment),
        "for_in_clause": Rule(visit=_visit_assignment),
        "as_pattern_target": Rule(visit=_visit_target),
        "as_pattern": Rule(visit=_visit_as_pattern),
        "case_pattern": Rule(visit=_visit_case_pattern),
        "keyword_pattern": Rule(visit=_visit_keyword_pattern),
        "parameters": Rule(visit=_visit_parameters),
        "lambda_parameters": Rule(visit=_visit_parameters),
        "type_parameter": Rule(visit=_visit_type_parameters),
        "global_statement": Rule(visit=_visit_global),
        "nonlocal_statement": Rule(visit=_visit_nonlocal),
        "delete_statement": Rule(visit=_visit_delete),
        "expression_statement": Rule(),  # so that a docstring is seen to be silent
        "call": Rule(visit=_visit_call),
        "import_statement": Rule(visit=_visit_import),
        "import_from_statement": Rule(visit=_visit_import_from),
    },
    comments=frozenset({"comment", "line_continuation"}),
    atoms=frozenset({"string_content"}),
    references=frozenset({"identifier"}),
    reference=_reference,
    frames=_frames,
    methods_in_classes=True,
    # A brace in a format string holds code.
    line_comments=LineComments(b"#", (b'"""', b"'''"), re.compile(rb"[fFtT][rR]?(?:\"{3}|'{3})")),
    always_ends=True,
    branch=_branch,
)

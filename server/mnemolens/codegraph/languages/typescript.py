"""The table of TypeScript, TSX and JavaScript (JSX): three grammars, one table."""

import re
from collections.abc import Callable

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
    as_it_is,
    flatten,
    mentions,
    text_of,
)
from mnemolens.codegraph.languages.typescript_gaps import mended
from mnemolens.core.symbols import Branch, SymbolKind

_FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function", "function_declaration"}
)
_NAMING = _FUNCTIONS | {"class", "object"}
"""Values that make of a name a symbol or a scope."""
_WRAPPERS = frozenset(
    {
        "parenthesized_expression",
        "as_expression",
        "non_null_expression",
        "type_assertion",
        "satisfies_expression",
    }
)
_MAY_DEFINE = _FUNCTIONS | _WRAPPERS | {"class"}
_NAMES = frozenset({"identifier", "property_identifier", "private_property_identifier", "type_identifier"})
_TAGS = frozenset({"jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element"})
_HEADS = frozenset({"identifier", "type_identifier", "this", "super"})
_MEMBERS = frozenset({"member_expression", "nested_identifier", "nested_type_identifier"})


_BETWEEN = frozenset({"=", ":"})
_PLAIN_PAIR = 3
"""Children of `name = value`, without modifiers, type or comments."""


def _unwrap(node: Node | None) -> Node | None:
    """The expression inside brackets, casts and `!`."""
    left = MAX_WRAPPERS
    while left and node is not None and node.type in _WRAPPERS:
        left -= 1
        named = [child for child in node.children if child.is_named and child.type != "comment"]
        if not named:
            return None
        node = named[-1] if node.type == "type_assertion" else named[0]
    return node


_MAX_CHAIN = 16
"""How many links of a chain are followed: generated ones are thousands long."""


def dotted(node: Node | None) -> str | None:
    """`a.b.c` for a chain of plain names, each perhaps called or made (`new Name().b().c`), else None."""
    parts: list[str] = []
    called = ""
    for _ in range(_MAX_CHAIN):
        if node is None:
            return None
        kind = node.type
        if kind in _WRAPPERS:
            node = _unwrap(node)
            if node is None:
                return None
            kind = node.type
        if kind in _MEMBERS:
            children = node.children
            parts.append(text_of(children[-1]) + called)
            called = ""
            node = children[0]
        elif kind in _HEADS:
            parts.append(text_of(node) + called)
            return ".".join(reversed(parts))
        elif kind == "call_expression" and not called:
            called = "()"
            node = node.children[0]
        elif kind == "new_expression" and not called:
            called = "()"
            node = node.child_by_field_name("constructor")
        elif kind == "await_expression" and not called and node.named_child_count == 1:
            node = node.named_children[0]
        else:
            return None
    return None


_NAMED_TYPE = re.compile(r"([A-Za-z_$][\w$.]*)(?:<.*>)?", re.DOTALL)
_AROUND = re.compile(r"(?:Promise|Readonly|Partial|Required)<(.*)>", re.DOTALL)
_PLAIN = frozenset(
    {"string", "number", "boolean", "any", "unknown", "void", "never", "object", "bigint", "symbol"}
)
_NOTHING = frozenset({"null", "undefined"})


def _type_named(annotation: Node | None) -> str | None:
    """The type that an annotation names, `null` and `undefined` besides and type arguments left out."""
    if annotation is None or annotation.end_byte - annotation.start_byte > 200:
        return None
    text = text_of(annotation).removeprefix(":").strip()
    if text.isascii() and text.isidentifier():  # most are: no expression need look at them
        return text if text not in _PLAIN else None
    for _ in range(2):
        if "|" in text and "<" not in text:
            rest = [part.strip() for part in text.split("|") if part.strip() not in _NOTHING]
            text = rest[0] if len(rest) == 1 else ""
        text = re.sub(r"\s*\|\s*(?:null|undefined)$", "", text)
        if (around := _AROUND.fullmatch(text)) is not None:
            text = around[1].strip()
    found = _NAMED_TYPE.fullmatch(text)
    return (
        found[1] if found is not None and found[1] not in _PLAIN and "|" not in text.split("<")[0] else None
    )


def _value_named(node: Node | None) -> str | None:
    """A value as a receiver; "?" for what no rule follows, None for `null` and `undefined`."""
    node = _unwrap(node)
    if node is None or node.type in _NOTHING:
        return None
    if node.type == "as_expression":
        return "?"
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in {"||", "??"}:
        node = node.child_by_field_name("right")
    return dotted(node) or "?"


def _returned(node: Node | None) -> frozenset[str]:
    """What a function says that it returns."""
    named = _type_named(node.child_by_field_name("return_type")) if node is not None else None
    return frozenset({f"() {named}"}) if named else frozenset()


def _string(node: Node | None) -> str | None:
    """The text between a string literal's quotes."""
    return text_of(node)[1:-1] if node is not None and node.type == "string" else None


def _property_name(node: Node | None) -> str | None:
    """A member's name; None for computed names that are no plain dotted name."""
    if node is None:
        return None
    kind = node.type
    if kind in _NAMES or kind == "number":
        return text_of(node)
    if kind == "string":
        return _string(node)
    if kind == "computed_property_name" and node.named_child_count == 1:
        name = dotted(node.named_children[0])
        return None if name is None or "(" in name else f"[{name}]"
    return None


def _is_async(node: Node) -> bool:
    return any(child.type == "async" for child in node.children)


def _bases(node: Node) -> tuple[str, ...]:
    """Names of extended classes and implemented interfaces, type arguments left out."""
    found: list[str] = []
    heritage = [c for c in node.children if c.type in {"class_heritage", "extends_type_clause"}]
    stack = heritage[::-1]
    while stack:
        item = stack.pop()
        kind = item.type
        if kind in {"class_heritage", "extends_clause", "implements_clause", "extends_type_clause"}:
            stack.extend(c for c in reversed(item.named_children) if c.type != "type_arguments")
        elif kind == "generic_type":
            stack.extend(item.named_children[:1])
        elif (name := dotted(item)) is not None and "(" not in name:
            found.append(name)
    return tuple(found)


def _split(node: Node) -> tuple[list[Node], tuple[Node, ...]]:
    """A definition's children without its decorators, and the decorators."""
    parts: list[Node] = []
    decorators: list[Node] = []
    for child in node.children:
        (decorators if child.type == "decorator" else parts).append(child)
    return parts, tuple(decorators)


def _first(parts: list[Node]) -> Node:
    """What a definition begins with behind its decorators."""
    return next((part for part in parts if part.type != "comment"), parts[0])


def _declaration(node: Node, kind: SymbolKind, name_node: Node | None, name: str) -> Definition:
    parts, decorators = _split(node)
    return Definition(
        kind=kind,
        name=name,
        name_node=name_node or node,
        parts=parts,
        body=node.child_by_field_name("body"),
        is_async=_is_async(node),
        bases=_bases(node) if kind in {"class", "interface"} else (),
        first=_first(parts) if decorators else None,
        outside=decorators,
        bound=_returned(node),
    )


def _define_function(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    if name is not None and not text_of(name):
        return None
    kind: SymbolKind = "overload" if node.type == "function_signature" else "function"
    return _declaration(node, kind, name, text_of(name) if name is not None else "default")


def _define_class(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    return _declaration(node, "class", name, text_of(name) if name is not None else "default")


def _define_named(node: Node) -> Definition | None:
    kinds: dict[str, SymbolKind] = {"interface_declaration": "interface", "enum_declaration": "enum"}
    name = node.child_by_field_name("name")
    if name is None or not text_of(name):
        return None
    return _declaration(node, kinds[node.type], name, text_of(name))


def _define_type(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is None or not text_of(name):
        return None
    return Definition("type", text_of(name), name, node.children, value)


def _define_namespace(node: Node) -> Definition | None:
    name = node.child_by_field_name("name")
    if name is None:
        return None
    text = _string(name) if name.type == "string" else "".join(text_of(name).split())
    return _declaration(node, "namespace", name, text) if text else None


def _define_ambient(node: Node) -> Definition | None:
    """`declare global { … }`; all other ambient declarations hold a definition of their own."""
    for child in node.children:
        if child.type == "global":
            body = next((c for c in node.children if c.type == "statement_block"), None)
            return Definition("namespace", "global", child, node.children, body)
    return None


def _define_method(node: Node) -> Definition | None:
    name_node = node.child_by_field_name("name")
    name = _property_name(name_node)
    if not name:
        return None
    kind: SymbolKind = "method" if node.type == "method_definition" else "method_sig"
    return _declaration(node, kind, name_node, name)


def _value_of(node: Node) -> Node | None:
    children = node.children  # what the walk reads next: to ask for a field makes a node once more
    if len(children) == _PLAIN_PAIR and children[1].type in _BETWEEN:
        return _unwrap(children[2])
    return _unwrap(node.child_by_field_name("right" if node.type == "assignment_expression" else "value"))


def _target_of(node: Node) -> Node | None:
    children = node.children
    if len(children) == _PLAIN_PAIR and children[1].type in _BETWEEN:
        return children[0]
    for field in ("name", "key", "property", "left"):
        found = node.child_by_field_name(field)
        if found is not None:
            return found
    return None


def _target_name(node: Node, target: Node | None) -> str | None:
    if target is None:
        return None
    if node.type == "variable_declarator":
        return text_of(target) if target.type == "identifier" else None
    if node.type == "assignment_expression":
        return text_of(target) if target.type in {"identifier", "member_expression"} else None
    return _property_name(target)


def _define_bound(node: Node) -> Definition | None:
    """A function or class that is the value of a variable, property, field or assignment."""
    if node.children[-1].type not in _MAY_DEFINE:
        return None
    value = _value_of(node)
    if value is None or (value.type not in _FUNCTIONS and value.type != "class"):
        return None
    target = _target_of(node)
    name = _target_name(node, target)
    if not name or target is None:
        return None
    kind: SymbolKind = "class"
    if value.type != "class":
        kind = "function" if node.type in {"variable_declarator", "assignment_expression"} else "method"
    body = value.child_by_field_name("body")
    parts, decorators = _split(node)
    return Definition(
        kind=kind,
        name=name,
        name_node=target,
        parts=flatten(parts, body) if body is not None else parts,
        body=body,
        is_async=_is_async(value),
        bases=_bases(value) if kind == "class" else (),
        first=_first(parts) if decorators else None,
        outside=decorators,
        bound=_returned(value),
    )


def _scope_of_object(node: Node) -> str | None:
    """The name of an object literal: what is in it is named under that."""
    last = node.children[-1].type
    if last != "object" and last not in _WRAPPERS:
        return None
    value = _value_of(node)
    if value is None or value.type != "object":
        return None
    return _target_name(node, _target_of(node))


def _define_default(node: Node) -> Definition | None:
    """A nameless function or class right behind `export default` or `export =`."""
    value = node.child_by_field_name("value") or (node.named_children[-1] if node.named_child_count else None)
    if value is None or (value.type not in _FUNCTIONS and value.type != "class"):
        return None
    if value.type == "function_declaration":
        return None
    parts, decorators = _split(value)
    return Definition(
        kind="class" if value.type == "class" else "function",
        name="default",
        name_node=value,
        parts=parts,
        body=value.child_by_field_name("body"),
        is_async=_is_async(value),
        bases=_bases(value) if value.type == "class" else (),
        first=_first(parts) if parts else value,
        outside=(*_split(node)[1], *decorators),
    )


def _wrapped_by_export(node: Node) -> tuple[Node, Node] | None:
    inner = node.child_by_field_name("declaration")
    if inner is None:
        return None
    if inner.child_count and inner.children[0].type == "decorator":
        return None  # `export @decorated class`: the class starts behind its decorators
    first = next((child for child in node.children if child.type not in {"decorator", "comment"}), node)
    return inner, first


def _wrapped_by_declare(node: Node) -> tuple[Node, Node] | None:
    named = node.named_children
    return (named[-1], node) if named else None


def bind_pattern(node: Node | None, facts: Facts) -> None:
    """Record the names that a binding pattern binds."""
    stack = [node] if node is not None else []
    while stack:
        item = stack.pop()
        kind = item.type
        if kind in {"identifier", "shorthand_property_identifier_pattern"}:
            facts.bound.add(text_of(item))
            facts.say(text_of(item), None)
        elif kind == "pair_pattern":
            stack.extend(filter(None, [item.child_by_field_name("value")]))
        elif kind in {"assignment_pattern", "object_assignment_pattern"}:
            stack.extend(filter(None, [item.child_by_field_name("left")]))
        elif kind in {"object_pattern", "array_pattern", "rest_pattern"}:
            stack.extend(item.named_children)


def _required(node: Node | None) -> str | None:
    """The module of `require('module')`."""
    if node is None or node.type != "call_expression":
        return None
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or text_of(function) != "require":
        return None
    return _string(arguments.named_children[0]) if arguments.named_child_count == 1 else None


def _visit_declarator(node: Node, facts: Facts) -> None:
    name, whole = _target_of(node), _value_of(node)
    if name is None:
        return
    value = whole
    if (
        value is not None
        and (value.type in _FUNCTIONS or value.type == "class")
        and name.type == "identifier"
    ):
        return  # a definition: its name is a symbol
    member = None
    if value is not None and value.type == "member_expression":
        member = value.child_by_field_name("property")
        value = value.child_by_field_name("object")
    module = _required(value)
    if module is not None and name.type == "identifier":
        facts.imports.append(RawImport(module, text_of(member) if member else "*", text_of(name)))
    elif module is not None and name.type == "object_pattern" and member is None:
        for child in name.named_children:
            _visit_required(child, module, facts)
    elif name.type == "identifier":
        facts.bound.add(text_of(name))
        declared = _type_of(node)
        facts.say(text_of(name), declared, _value_named(whole) or "?")
    else:
        bind_pattern(name, facts)


def _visit_required(item: Node, module: str, facts: Facts) -> None:
    """One member of `const { a, b: c } = require(…)`."""
    name = alias = item
    if item.type == "pair_pattern":
        name = item.child_by_field_name("key") or item
        alias = item.child_by_field_name("value") or item
    if alias.type in {"identifier", "shorthand_property_identifier_pattern"}:
        facts.imports.append(RawImport(module, text_of(name), text_of(alias)))
    else:
        bind_pattern(alias, facts)


_PARAMETERS = frozenset({"required_parameter", "optional_parameter"})
_PATTERNS = frozenset({"identifier", "this", "object_pattern", "array_pattern", "rest_pattern"})


def _type_of(node: Node) -> str | None:
    """The type that a parameter or a variable is declared to have."""
    annotations = [child for child in node.children if child.type == "type_annotation"]
    return _type_named(annotations[0]) if annotations else None


def _visit_parameters(node: Node, facts: Facts) -> None:
    for child in node.children:
        if not child.is_named:
            continue
        pattern, declared = None, None
        if child.type in _PARAMETERS:
            pattern = child.children[0]
            if pattern.type not in _PATTERNS:
                pattern = child.child_by_field_name("pattern")
            declared = _type_of(child)
        if pattern is not None and declared and pattern.type in {"identifier", "this"}:
            facts.bound.add(text_of(pattern))
            facts.say(text_of(pattern), declared)
        else:
            bind_pattern(pattern or child, facts)
        if pattern is not None and any(
            c.type in {"accessibility_modifier", "readonly"} for c in child.children
        ):
            facts.attributes.add(text_of(pattern))  # `constructor(private name: …)`
            facts.say(f"self.{text_of(pattern)}", declared)


def _visit_assigned(node: Node, facts: Facts) -> None:
    """`this.name = …`, but for `this.name = this.name.bind(this)`, which still means the method."""
    left = node.child_by_field_name("left")
    if left is None or left.type != "member_expression":
        return
    receiver, name = left.child_by_field_name("object"), left.child_by_field_name("property")
    if receiver is None or name is None or receiver.type != "this":
        return
    if not mentions(node.child_by_field_name("right"), text_of(left)):
        facts.attributes.add(text_of(name))
        facts.say(f"self.{text_of(name)}", None, _value_named(node.child_by_field_name("right")))


def _visit_field(node: Node, facts: Facts) -> None:
    """A class's field that is no function: it hides what base classes have under its name."""
    value, name = _value_of(node), _property_name(_target_of(node))
    if name and (value is None or value.type not in _NAMING):
        facts.bound.add(name)
        facts.say(name, _type_named(node.child_by_field_name("type")), _value_named(value))


def _visit_property(node: Node, facts: Facts) -> None:
    """A property right in an interface."""
    holder = node.parent.parent if node.parent is not None else None
    name = _property_name(node.child_by_field_name("name"))
    if name and holder is not None and holder.type in {"interface_declaration", "type_alias_declaration"}:
        facts.say(name, _type_named(node.child_by_field_name("type")))


def _visit_type_parameter(node: Node, facts: Facts) -> None:
    """`<T extends Shop>`: in there, T is no other type of that name."""
    name, limit = node.child_by_field_name("name"), node.child_by_field_name("constraint")
    if name is not None:
        known = (
            _type_named(limit.named_children[0]) if limit is not None and limit.named_child_count else None
        )
        facts.bound.add(f"<{text_of(name)}>" + (f" {known}" if known else ""))


def _visit_arrow(node: Node, facts: Facts) -> None:
    first = node.children[0].type
    if first == "identifier":
        bind_pattern(node.children[0], facts)
    elif first != "formal_parameters":
        bind_pattern(node.child_by_field_name("parameter"), facts)


def _visit_catch(node: Node, facts: Facts) -> None:
    bind_pattern(node.child_by_field_name("parameter"), facts)


def _visit_for_in(node: Node, facts: Facts) -> None:
    if node.child_by_field_name("kind") is not None:
        bind_pattern(node.child_by_field_name("left"), facts)


_CLASS_ITSELF = "constructor"
"""As a member (`new this.constructor()`) the class of a value, whichever that is: no method of this name."""


def _call(function: Node | None, facts: Facts) -> None:
    kind = function.type if function is not None else ""
    if kind in _WRAPPERS:
        function = _unwrap(function)
        kind = function.type if function is not None else ""
    if function is None:
        return
    if kind == "identifier":
        facts.call(text_of(function), "")
    elif kind == "member_expression":
        children = function.children
        name = text_of(children[-1])
        if name != _CLASS_ITSELF:
            facts.call(name, dotted(children[0]))


def _visit_call(node: Node, facts: Facts) -> None:
    _call(node.children[0], facts)


def _visit_new(node: Node, facts: Facts) -> None:
    _call(node.child_by_field_name("constructor"), facts)


def _is_markup(name: str) -> bool:
    """Whether a tag's name is HTML's: those of components begin with a capital letter."""
    return name[:1].islower()


def _visit_element(node: Node, facts: Facts) -> None:
    """`<Button/>` and `<shop.button/>` call what they name."""
    name = node.child_by_field_name("name")
    if name is not None and not (name.type == "identifier" and _is_markup(text_of(name))):
        _call(name, facts)


def _visit_import(node: Node, facts: Facts) -> None:
    module = _string(node.child_by_field_name("source"))
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            required = _string(clause.child_by_field_name("source"))
            name = next((c for c in clause.named_children if c.type == "identifier"), None)
            if required and name is not None:
                facts.imports.append(RawImport(required, "*", text_of(name)))
        elif clause.type == "import_clause" and module:
            for item in clause.named_children:
                _import_item(item, module, facts)


def _import_item(item: Node, module: str, facts: Facts) -> None:
    if item.type == "identifier":
        facts.imports.append(RawImport(module, "default", text_of(item)))
    elif item.type == "namespace_import" and item.named_child_count:
        facts.imports.append(RawImport(module, "*", text_of(item.named_children[-1])))
    elif item.type == "named_imports":
        for specifier in item.named_children:
            name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
            if name is not None:
                original = _string(name) or text_of(name)
                facts.imports.append(RawImport(module, original, text_of(alias or name)))


def _visit_export(node: Node, facts: Facts) -> None:
    module = _string(node.child_by_field_name("source")) or ""
    kinds = set()
    for child in node.children:
        kinds.add(child.type)
        if child.type == "export_clause":
            for specifier in child.named_children:
                name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
                if name is not None:
                    original, outer = _string(name) or text_of(name), alias if alias is not None else name
                    facts.imports.append(RawImport(module, original, _string(outer) or text_of(outer), True))
        elif child.type == "namespace_export" and child.named_child_count:
            facts.imports.append(RawImport(module, "*", text_of(child.named_children[-1]), True))
    if module and "*" in kinds:
        facts.imports.append(RawImport(module, "*", "*", True))
    if kinds & {"default", "="}:
        _visit_default(node, facts)


def _visit_default(node: Node, facts: Facts) -> None:
    """`export default name`, `export = name`, `export default function name() {}`."""
    shown = node.named_children[-1] if node.named_child_count else None
    name = shown if shown is None or shown.type == "identifier" else shown.child_by_field_name("name")
    if name is not None and name.type in _NAMES:
        facts.imports.append(RawImport("", text_of(name), "default", True))


_BRANCHES: dict[str, Branch] = {
    "try_statement": "try",
    "if_statement": "if",
    "switch_statement": "if",
    "for_statement": "if",
    "for_in_statement": "if",
    "while_statement": "if",
    "do_statement": "if",
    "ternary_expression": "if",
    # What a function without a name binds is not bound around it.
    "arrow_function": "if",
    "function_expression": "if",
    "generator_function": "if",
}


def _branch(node: Node) -> Branch:
    return _BRANCHES.get(node.type, "")


def _reference(node: Node) -> Mention | None:
    parent = node.parent
    name = text_of(node)
    if parent is None:
        return Mention(name, "")
    if parent.type in _MEMBERS:
        if (parent.child_by_field_name("property") or parent.child_by_field_name("name")) == node:
            receiver = parent.child_by_field_name("object") or parent.child_by_field_name("module")
            return None if name == _CLASS_ITSELF else Mention(name, dotted(receiver))
        return Mention(name, "")
    if parent.type in {"import_specifier", "export_specifier", "import_clause"}:
        return _imported_reference(node, parent)
    is_tag = parent.type == "jsx_namespace_name" or (parent.type in _TAGS and _is_markup(name))
    if is_tag or node.type in {"property_identifier", "private_property_identifier"}:
        return None
    return Mention(name, "")


def _imported_reference(node: Node, item: Node) -> Mention:
    """A name in `import … from` or `export … from`; without `from` it is any name."""
    statement: Node | None = item
    while statement is not None and statement.type not in {"import_statement", "export_statement"}:
        statement = statement.parent
    module = _string(statement.child_by_field_name("source")) if statement is not None else None
    alias, original = node, item.child_by_field_name("name")
    if item.type == "import_specifier":
        alias = item.child_by_field_name("alias") or node
    if module is None:
        return Mention(text_of(alias), "")
    name = "default" if item.type == "import_clause" else _string(original) or text_of(original)
    return Mention(text_of(alias), "", (module, name))


_CLASS, _OBJECT, _INTERFACE = ("class _ {\n", "\n}"), ("const _ = {\n", "\n}"), ("interface _ {\n", "\n}")


def _frames(kind: SymbolKind) -> tuple[tuple[str, str], ...]:
    plain = ("", "\n")
    if kind == "method":
        return (_CLASS, _OBJECT)
    if kind == "method_sig":
        return (_INTERFACE, _CLASS, ("abstract class _ {\n", "\n}"))
    if kind in {"function", "class"}:
        # A declarator first: alone, `name: Type = …` would be read as a label.
        return (("const ", ";\n"), plain, ("export default ", "\n"), _CLASS, _OBJECT)
    return (plain,)


_RULES = {
    "function_declaration": Rule(define=_define_function),
    "generator_function_declaration": Rule(define=_define_function),
    "function_signature": Rule(define=_define_function),
    "class_declaration": Rule(define=_define_class),
    "abstract_class_declaration": Rule(define=_define_class),
    "interface_declaration": Rule(define=_define_named),
    "enum_declaration": Rule(define=_define_named),
    "type_alias_declaration": Rule(define=_define_type),
    "internal_module": Rule(define=_define_namespace),
    "module": Rule(define=_define_namespace),
    "ambient_declaration": Rule(define=_define_ambient, wraps=_wrapped_by_declare),
    "method_definition": Rule(define=_define_method),
    "method_signature": Rule(define=_define_method),
    "abstract_method_signature": Rule(define=_define_method),
    "variable_declarator": Rule(define=_define_bound, scope=_scope_of_object, visit=_visit_declarator),
    "public_field_definition": Rule(define=_define_bound, scope=_scope_of_object, visit=_visit_field),
    "field_definition": Rule(define=_define_bound, scope=_scope_of_object, visit=_visit_field),
    "pair": Rule(define=_define_bound, scope=_scope_of_object),
    "assignment_expression": Rule(define=_define_bound, visit=_visit_assigned),
    "arrow_function": Rule(visit=_visit_arrow),
    "export_statement": Rule(define=_define_default, visit=_visit_export, wraps=_wrapped_by_export),
    "formal_parameters": Rule(visit=_visit_parameters),
    "property_signature": Rule(visit=_visit_property),
    "type_parameter": Rule(visit=_visit_type_parameter),
    "catch_clause": Rule(visit=_visit_catch),
    "for_in_statement": Rule(visit=_visit_for_in),
    "call_expression": Rule(visit=_visit_call),
    "new_expression": Rule(visit=_visit_new),
    "import_statement": Rule(visit=_visit_import),
    "jsx_opening_element": Rule(visit=_visit_element),
    "jsx_self_closing_element": Rule(visit=_visit_element),
}


def _language(
    name: str,
    lsp_ids: tuple[str, ...],
    extensions: tuple[str, ...],
    grammar: Grammar,
    mended: Callable[[bytes], bytes] = as_it_is,
) -> Language:
    return Language(
        name=name,
        setting=name.replace("tsx", "typescript"),
        lsp_ids=lsp_ids,
        extensions=extensions,
        grammar=grammar,
        rules=_RULES,
        comments=frozenset({"comment", "html_comment", "hash_bang_line"}),
        atoms=frozenset({"regex"}),
        prose=frozenset({"jsx_text"}),
        references=frozenset(_NAMES | {"shorthand_property_identifier"}),
        reference=_reference,
        frames=_frames,
        doc_comments=True,
        # Not only templates: in JSX text, `//` begins no comment either.
        line_comments=LineComments(b"//", (b"`", b"/*", b"*/", b"<", b">")),
        always_ends=True,
        mended=mended,
        branch=_branch,
    )


TYPESCRIPT = _language(
    "typescript",
    ("typescript",),
    (".ts", ".mts", ".cts"),
    Grammar("tree_sitter_typescript", "language_typescript"),
    mended,
)
TSX = _language(
    "tsx", ("typescriptreact",), (".tsx",), Grammar("tree_sitter_typescript", "language_tsx"), mended
)
JAVASCRIPT = _language(
    "javascript",
    ("javascript", "javascriptreact"),
    (".js", ".jsx", ".mjs", ".cjs"),
    Grammar("tree_sitter_javascript"),
)

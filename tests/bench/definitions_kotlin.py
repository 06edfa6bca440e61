"""Definitions in Kotlin files by kopyt, a recursive-descent parser that has nothing in common with ours.

Conventions: an object counts as a class, an unnamed companion is `Companion`, a secondary constructor
`constructor`; entries of enums and object literals are no symbols, what is in them is named under what is
around; an extension has its own name only. A function without body is a signature.
"""

import dataclasses

KINDS = {
    "ClassDeclaration": "class",
    "EnumDeclaration": "enum",
    "InterfaceDeclaration": "interface",
    "FunctionalInterfaceDeclaration": "interface",
    "ObjectDeclaration": "class",
    "CompanionObject": "class",
    "TypeAlias": "type",
    "FunctionDeclaration": "function",
    "SecondaryConstructor": "method",
}
HOLDERS = {"class", "enum", "interface"}
NAMELESS = {"CompanionObject": "Companion", "SecondaryConstructor": "constructor"}


def kotlin_definitions(path):
    """(dotted name, kind, line, 0) in text order; None where kopyt can't read the file."""
    from kopyt import Parser

    try:
        parser = Parser(path.read_text("utf-8"))
        tree = parser.parse_script() if path.suffix == ".kts" else parser.parse()
    except Exception:  # noqa: BLE001 - it raises whatever comes
        return None
    found = []
    stack = [(tree, "", False)]
    while stack:
        node, scope, in_class = stack.pop()
        if isinstance(node, list | tuple):
            stack += [(item, scope, in_class) for item in reversed(node)]
        elif dataclasses.is_dataclass(node):
            kind = KINDS.get(type(node).__name__)
            if kind is not None:
                name = (getattr(node, "name", None) or NAMELESS[type(node).__name__]).strip("`")
                if kind == "function":
                    plain = "method" if in_class else "function"
                    bare = "method_sig" if in_class else "overload"
                    kind = plain if node.body is not None else bare
                found.append((f"{scope}{name}", kind, node.position.line, 0))
                scope, in_class = f"{scope}{name}.", kind in HOLDERS
            values = [getattr(node, field.name) for field in dataclasses.fields(node)]
            stack += [(value, scope, in_class) for value in reversed(values)]
    return found

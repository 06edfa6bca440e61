"""From units to a file's symbols: qualified names, ordinals, places, and what one scope says of another."""

from collections.abc import Generator
from dataclasses import replace

from mnemolens.codegraph.languages.base import Language, RawImport
from mnemolens.codegraph.units import NO_TWINS, Edge, Elsewhere, Twins, Unit, finish
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols, Import, Symbol, SymbolKind, SymbolRange

_UNITS_A_STEP = 500
"""Definitions laid out in one step: about 2 ms."""

_AS_MEMBERS: dict[SymbolKind, SymbolKind] = {"function": "method", "overload": "method_sig"}
_METHOD_HOLDERS = frozenset(("class", "interface", "struct", "enum"))


def assemble(root: Unit, language: Language, *, partial: bool) -> FileSymbols:
    """Lay the units out as the file's symbols, in text order."""
    return finish(assembling(root, language, partial=partial))


def assembling(
    root: Unit, language: Language, *, partial: bool, twins: Twins = NO_TWINS
) -> Generator[None, None, FileSymbols]:
    """As `assemble`, as a generator that can be left at any of its steps.

    Args:
        root: the unit of the whole file.
        language: its language.
        partial: whether the text has a syntax error.
        twins: they stand in the places of symbols that are equal.
    """
    symbols: list[Symbol] = []
    ranges: list[SymbolRange] = []
    bound: list[frozenset[str]] = []
    units: list[Unit] = []
    elsewhere: list[int] = []
    imports = [_import(item, -1) for item in root.imports]
    calls = list(root.calls_from(-1))
    seen: dict[str, int] = {}
    methods = language.methods_in_classes
    # (edge, parent's index, parent's qualname and a dot, parent is a class, parent's start)
    stack: list[tuple[Edge, int, str, bool, int, int]] = [
        (edge, -1, "", False, 0, 0) for edge in reversed(root.edges)
    ]
    while stack:
        edge, parent, path, in_class, row, column = stack.pop()
        if not len(symbols) % _UNITS_A_STEP:
            yield
        unit = edge.unit
        qualname = f"{path}{edge.prefix}{unit.name}"
        ordinal = seen.get(qualname, 0)
        seen[qualname] = ordinal + 1
        kind = unit.kind
        if methods and (in_class or edge.prefix):
            kind = _AS_MEMBERS.get(kind, kind)
        index = len(symbols)
        symbols.append(
            unit.symbol_at((qualname, ordinal, parent, kind, unit.docstring or edge.docstring), twins)
        )
        down, right = edge.start
        outer_down, outer_right = edge.outer
        own_row, own_column = row + down, right if down else column + right
        outer_column = outer_right if outer_down else column + outer_right
        ranges.append(unit.ranges_at((own_row, own_column, row + outer_down, outer_column)))
        bound.append(unit.bound)
        units.append(unit)
        if unit.rebinds or unit.based:
            elsewhere.append(index)
        if unit.imports:
            imports += [_import(item, index) for item in unit.imports]
        if unit.calls:
            calls += unit.calls_from(index)
        if unit.edges:
            inside = kind in _METHOD_HOLDERS
            path = qualname + "."
            stack += [(e, index, path, inside, own_row, own_column) for e in reversed(unit.edges)]
    if scopes := [(at, unit) for at in (*elsewhere, -1) if (unit := units[at] if at >= 0 else root).based]:
        _add_bases(scopes, symbols, bound)
    module_names = root.bound
    for index in elsewhere:
        module_names |= _bind_elsewhere(index, symbols, units, bound)
    return FileSymbols(
        language=language.name,
        symbols=tuple(symbols),
        imports=tuple(imports),
        calls=tuple(calls),
        locals=tuple(bound),
        module_names=module_names,
        partial=partial,
        ranges=tuple(ranges),
    )


def _add_bases(scopes: list[tuple[int, Unit]], symbols: list[Symbol], bound: list[frozenset[str]]) -> None:
    """Add to classes the bases that the text of a scope around them tells."""
    places = {symbol.qualname: at for at, symbol in enumerate(symbols) if not symbol.ordinal}

    def found(written: str, scope: int) -> int | None:
        path, name = _told_from(written, scope, symbols)
        at = places.get(path + name)
        while at is None and name == written and scope >= 0 and name not in bound[scope]:
            scope = symbols[scope].parent
            at = places.get((symbols[scope].qualname + "." if scope >= 0 else "") + name)
        return at

    for scope, unit in scopes:
        for name, base in unit.based:
            at = found(name, scope)
            if at is None or symbols[at].kind not in CLASS_KINDS:
                continue
            there = found(base, scope) if symbols[at].parent != scope else None
            whole = base if there is None else symbols[there].qualname
            if whole not in symbols[at].bases:
                symbols[at] = replace(symbols[at], bases=(*symbols[at].bases, whole))


_RELATIVE = ("self.", "super.")
"""How a name begins that is looked up in the module around, or in the one around that, and nowhere else."""


def _told_from(name: str, scope: int, symbols: list[Symbol]) -> tuple[str, str]:
    """The dotted name, with a dot, of the scope in which a name is to be looked up; what is left of the name.

    A name that leads out of the file is left as it is.
    """
    at, rest = scope, name
    while rest.startswith(_RELATIVE):
        head, _, rest = rest.partition(".")
        at = _module_around(at, symbols)
        if head == "super":
            if at < 0:
                return "", name
            at = _module_around(symbols[at].parent, symbols)
    return symbols[at].qualname + "." if at >= 0 else "", rest


def _module_around(at: int, symbols: list[Symbol]) -> int:
    while at >= 0 and symbols[at].kind != "namespace":
        at = symbols[at].parent
    return at


def _import(item: RawImport, scope: int) -> Import:
    return Import(
        item.module, item.name, item.alias, scope, item.exported, item.branch, item.after, item.replaced
    )


def _bind_elsewhere(
    index: int, symbols: list[Symbol], units: list[Unit], bound: list[frozenset[str]]
) -> set[str]:
    """Add to `bound` what the scope `index` binds in scopes around it, and return what in the module."""
    module_names = set()
    for where, name in units[index].rebinds:
        at = _binder(where, name, index, symbols, units)
        if at is None:
            module_names.add(name)
        elif at >= 0:
            # An attribute is no name of the class's body: the prefix keeps them apart.
            bound[at] |= {f"self.{name}" if where == "self" else name}
    return module_names


def _binder(where: Elsewhere, name: str, index: int, symbols: list[Symbol], units: list[Unit]) -> int | None:
    """The scope in which a name that the scope `index` rebinds is bound; None the module, -1 no scope."""
    if where == "global":
        return None
    at = symbols[index].parent
    while at >= 0:
        unit = units[at]
        if where == "self":
            if symbols[at].kind == "class":
                return at
        elif symbols[at].kind != "class" and (
            name in unit.bound
            or any(item.alias == name for item in unit.imports)
            or any(edge.prefix + edge.unit.name == name for edge in unit.edges)
        ):
            return at
        at = symbols[at].parent
    return -1

"""Which symbol a name in the text refers to, by rules: scope, import, self/cls/this, super, class.

A wrong answer is worse than none: what a local name shadows, what several definitions could mean and what
only a type checker could know stays unresolved. A name that is merely unique in the project is answered only
on request (`allow_name`), with the confidence `name`.

Owns no index and no syntax; what differs between languages is told by `FileSymbols.language`.
"""

import posixpath
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mnemolens.codegraph.hashing import digest
from mnemolens.codegraph.index import CodeIndex, FileView, Lookup
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.resolve_file import FileResolver
from mnemolens.codegraph.resolve_go import GoResolver
from mnemolens.core.symbols import (
    CLASS_KINDS,
    METHOD_KINDS,
    Call,
    Confidence,
    Import,
    Position,
    Range,
    Reference,
    Resolved,
    SymbolKey,
)

_MAX_HOPS = 12
"""How many re-exports or base classes are followed."""

_TS_EXTENSIONS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TS_OUTPUTS = {
    ".js": (".ts", ".tsx", ".js", ".jsx"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs"),
    ".cjs": (".cts", ".cjs"),
}
_PY_STUBS = frozenset(digest(b"\0" + token + b"\1") for token in (b"...", b"pass")) | {digest(b"")}
_SOURCE_FOLDERS = frozenset({"src", "lib", "python", "py", "source", "server", "backend"})
"""Folders that by convention hold a project's packages and are none themselves."""

_MAX_STEPS = 40
"""How many expressions and types are followed for one answer."""

_TYPES = frozenset({"interface", "type"})
_CLOSED = frozenset({"function", "class", "method"})
"""What may be defined several times under one name, each time in a block of its own."""
_ACCESSORS = ("get ", "set ")
_EMPTY_BASES = frozenset({"object", "Generic", "Protocol", "ABC", "NamedTuple"})
_HERE = Range(Position(0, 0), Position(0, 0))


class _Target(NamedTuple):
    """What a name stands for while a dotted path is followed: a symbol, a module, or a folder of modules.

    Attributes:
        key: the symbol; for a module the file's key; None for a folder.
        folder: the folder in which submodules are looked for, None for a symbol.
        path: for an object literal its dotted name in the scope `key`, with a dot at its end.
        instance: a value of the class `key`.
    """

    key: SymbolKey | None
    confidence: Confidence
    folder: str | None = None
    path: str = ""
    instance: bool = False

    @property
    def is_symbol(self) -> bool:
        """Whether the symbol (or module) itself is meant, nothing in it and no value of it."""
        return not self.path and not self.instance


def resolve(index: Lookup, file: str, reference: Reference, *, allow_name: bool = False) -> Resolved | None:
    """What `reference`, made in `file`, refers to; None when no rule says it."""
    view = index.view(file)
    if view is None:
        return None
    if (other := _other_rules(index, file, view)) is not None:
        found = other.reference(reference.name, reference.receiver, reference.scope)
        return found or (_by_name(index, reference.name) if allow_name else None)
    resolver = _Resolver(index, file, view)
    resolver.start = _start(reference, view)
    if reference.imported is not None:
        module, name = reference.imported
        target = resolver.imported(Import(module, name, reference.name), 0)
    else:
        target = resolver.reference(reference.name, reference.receiver, reference.scope)
    if target is not None and target.key is not None and target.key.qualname and target.is_symbol:
        return Resolved(target.key, target.confidence)
    return _by_name(index, reference.name) if target is None and allow_name else None


def _start(reference: Reference, view: FileView) -> Position | None:
    """Where it stands; of a call that is known by its caller alone, where the caller does."""
    if reference.range is not _HERE:
        return reference.range.start
    return view.symbols.ranges[reference.scope].definition.start if reference.scope >= 0 else None


def _other_rules(index: Lookup, file: str, view: FileView) -> GoResolver | FileResolver | None:
    """The resolver of a language with rules of its own."""
    if view.symbols.language == "go":
        return GoResolver(index, file, view)
    language = language_named(view.symbols.language)
    return FileResolver(index, file, view) if language is not None and language.shallow else None


def _by_name(index: Lookup, name: str) -> Resolved | None:
    """The only symbol of that name in the project."""
    keys = index.keys_named(name)
    return Resolved(keys[0], "name") if len(keys) == 1 else None


def resolve_call(index: Lookup, file: str, call: Call, *, allow_name: bool = False) -> Resolved | None:
    """As `resolve`, for a call that the file's symbols hold."""
    reference = Reference(_HERE, call.name, call.receiver, call.caller)
    return resolve(index, file, reference, allow_name=allow_name)


def calls_of(index: Lookup, key: SymbolKey, *, allow_name: bool = False) -> list[tuple[Resolved, int]]:
    """What a symbol's own text calls, and how often, by key; nested definitions' calls are theirs."""
    symbols = index.get(key.file)
    own = index.position_of(key) if key.qualname else -1
    if symbols is None or own is None:
        return []
    found: Counter[Resolved] = Counter()
    for call in symbols.calls:
        if call.caller == own and (target := resolve_call(index, key.file, call, allow_name=allow_name)):
            found[target] += call.count
    return sorted(found.items())


def callers_of(index: CodeIndex, key: SymbolKey) -> list[tuple[Resolved, int]]:
    """Who calls a symbol, and how often: the callers' keys with the confidence of their calls."""
    found: Counter[Resolved] = Counter()
    symbol = index.symbol(key)
    if symbol is None:
        return []
    for file in index.users_of(symbol.name):
        view = index.view(file)
        if view is None:
            continue
        names = {symbol.name}
        names.update(i.alias for i in view.symbols.imports if i.name == symbol.name)
        for call in view.symbols.calls:
            if call.name in names and (target := resolve_call(index, file, call)) and target.key == key:
                found[Resolved(index.key_at(file, call.caller), target.confidence)] += call.count
    return sorted(found.items())


def bases_of(index: Lookup, key: SymbolKey) -> list[Resolved]:
    """The classes that a class derives from or implements, as far as rules find them."""
    at = index.position_of(key)
    view = index.view(key.file)
    if at is None or view is None:
        return []
    if (other := _other_rules(index, key.file, view)) is not None:
        return other.bases(at)
    resolver = _Resolver(index, key.file, view)
    return [
        Resolved(target.key, target.confidence)
        for target in resolver.bases(at)
        if target.key is not None and target.key.qualname
    ]


def imported_files(index: Lookup, file: str) -> list[str]:
    """The files that a file imports, without repetition, in the order of the imports."""
    return list(dict.fromkeys(target for target, _ in imports_of(index, file)))


def imports_of(index: Lookup, file: str) -> list[tuple[str, str]]:
    """(file, name that it or a part of it is bound to; "*" for everything), in the order of the imports."""
    view = index.view(file)
    if view is None:
        return []
    if view.symbols.language == "go":
        return GoResolver(index, file, view).imports()
    resolver = _Resolver(index, file, view)
    found: dict[tuple[str, str], None] = {}
    for item in view.symbols.imports:
        target = resolver.imported(item, 0) if item.name != "*" else resolver.module(item.module)
        if target is not None and target.key is not None and target.key.file != file:
            found[target.key.file, item.alias or "*"] = None
    return list(found)


_Question = tuple[str, int, str]
"""A file, a class in it (-1: the module), and the name of a member."""


class _Resolver:
    """Resolution from one file's point of view."""

    def __init__(
        self,
        index: Lookup,
        file: str,
        view: FileView,
        known: "dict[_Question, _Target | None] | None" = None,
        steps: list[int] | None = None,
        *,
        types: bool = False,
    ) -> None:
        # Answers of this resolution, None while one is sought: cycles of imports and bases end there.
        self.known: dict[_Question, _Target | None] = {} if known is None else known
        self.index = index
        self.file = file
        self.view = view
        self.symbols = view.symbols
        self.python = view.symbols.language == "python"
        self.start: Position | None = None  # where the name stands that is looked up, as far as it is known
        self.steps = [_MAX_STEPS] if steps is None else steps  # types still to be followed for one answer
        self.types = (
            types and not self.python
        )  # names mean types, not values: in TypeScript they are two things

    def other(self, file: str) -> "_Resolver | None":
        """The resolver of another file."""
        if file == self.file:
            return self
        view = self.index.view(file)
        return (
            None
            if view is None
            else _Resolver(self.index, file, view, self.known, self.steps, types=self.types)
        )

    # Names.

    def reference(self, name: str, receiver: str | None, scope: int) -> _Target | None:
        """The target of `receiver.name` (or a bare `name`) in a scope."""
        if receiver is None:
            return None
        if not receiver:
            return self.bare(name, scope)
        head, _, rest = receiver.partition(".")
        if not rest and (head in {"super()", "super"} or self._is_self(head, scope)):
            return self._own_member(head, name, scope)
        target = self._expression(receiver, scope)
        return None if target is None else self._part_of(target, name)

    def _expression(self, text: str, scope: int) -> _Target | None:
        """What a receiver is: a symbol, a module, an object literal, or a value of a class."""
        self.steps[0] -= 1
        if self.steps[0] < 0:
            return None
        head, *rest = text.split(".")
        name = head.removesuffix("()")
        if self._is_self(name, scope):
            target = self._own_class(scope)
            if target is None and name in self._bound_at(scope):
                target = self._typed(scope, name, "class")
        else:
            target = self.bare(name, scope)
        if head.endswith("()"):
            target = self._called(target)
        for part in rest:
            target = None if target is None else self._part_of(target, part.removesuffix("()"))
            if part.endswith("()") or (target is not None and not self._is_class(target)):
                # What a property is, its declaration says as that of any method does.
                target = self._called(target) or (None if part.endswith("()") else target)
        return target

    def _bound_at(self, scope: int) -> frozenset[str]:
        return self.symbols.locals[scope] if scope >= 0 else self.symbols.module_names

    def _own_class(self, scope: int) -> _Target | None:
        owner = self.owner(scope)
        if owner is None:
            return None
        return _Target(self.index.key_at(self.file, owner), "self", instance=True)

    def _part_of(self, target: _Target, name: str) -> _Target | None:
        """`target.name`, of a value of a class too."""
        if not target.instance or target.key is None:
            return self.attribute(target, name, 0)
        other, at = self.other(target.key.file), self.index.position_of(target.key)
        if other is None or at is None:
            return None
        return other.typed_attribute(at, name, 0) or other.member(at, name, "class")

    def _called(self, target: _Target | None) -> _Target | None:
        """What a call of `target` gives: a value of the class, or of the type that a function returns."""
        if target is None or target.key is None or not target.is_symbol:
            return None
        if self._is_class(target):
            return target._replace(instance=True, confidence="class")
        other, at = self.other(target.key.file), self.index.position_of(target.key)
        if other is None or at is None:
            return None
        said = [item[3:] for item in other.symbols.locals[at] if item.startswith("() ")]
        return other.value_of(said[0], at) if len(said) == 1 else None

    def value_of(self, named: str, scope: int) -> _Target | None:
        """A value of the type that is so named in a scope of this file."""
        self.steps[0] -= 1
        if self.steps[0] < 0:
            return None
        if named in {"Self", "typing.Self", "this"}:
            return self._own_class(scope)
        names = (
            self
            if self.types or self.python
            else _Resolver(self.index, self.file, self.view, self.known, self.steps, types=True)
        )
        receiver, _, name = named.rpartition(".")
        found = names.reference(name, receiver, scope)
        if found is None or found.key is None or found.instance or not self._is_class(found):
            return None
        return found._replace(instance=True, confidence="class")

    def _typed(self, scope: int, name: str, confidence: Confidence) -> _Target | None:
        """The value that a name has in the scope that binds it, as far as its type is told."""
        lead = f"{name} "
        said = [item[len(lead) :] for item in self._bound_at(scope) if item.startswith(lead)]
        found = self._said(said[0], scope) if len(said) == 1 else None
        return None if found is None else found._replace(confidence=confidence)

    def _said(self, said: str, scope: int) -> _Target | None:
        """The value that is described so: by a type's name, or as `=expression`."""
        if not said.startswith("="):
            return self.value_of(said, scope)
        values = (
            self if not self.types else _Resolver(self.index, self.file, self.view, self.known, self.steps)
        )
        found = values._expression(said[1:], scope)  # noqa: SLF001 - of its own class
        return found if found is not None and found.instance else None

    def typed_attribute(self, owner: int, name: str, hops: int) -> _Target | None:
        """The value of an attribute of a class's instances, its base classes' included."""
        bound = self.symbols.locals[owner]
        own, of_self = f"{name} ", f"self.{name} "
        said = {item[len(own) :] for item in bound if item.startswith(own)}
        said |= {item[len(of_self) :] for item in bound if item.startswith(of_self)}
        declared = {item for item in said if item != "?" and not item.startswith("=")}
        if said:
            found = {None if item == "?" else self._said(item, owner) for item in declared or said}
            return found.pop() if len(found) == 1 else None
        if name in bound or f"self.{name}" in bound or hops > _MAX_HOPS:
            return None
        for base in self.bases(owner):
            if base.key is None or (other := self.other(base.key.file)) is None:
                continue
            at = self.index.position_of(base.key)
            if at is not None and (value := other.typed_attribute(at, name, hops + 1)) is not None:
                return value
        return None

    def _own_member(self, head: str, name: str, scope: int) -> _Target | None:
        """`self.name`, `super().name` and the like."""
        owner = self.owner(scope)
        if head in {"super()", "super"}:
            return None if owner is None else self.inherited(owner, name, "super", 0)
        return self._object_member(name, scope) if owner is None else self.member(owner, name, "self")

    def _is_class(self, target: _Target) -> bool:
        symbol = self.index.symbol(target.key) if target.key is not None else None
        return symbol is not None and symbol.kind in CLASS_KINDS

    def _is_self(self, head: str, scope: int) -> bool:
        if not self.python:
            return head == "this"
        if head not in {"self", "cls"}:
            return False
        at = scope
        while at >= 0:
            if head in self.symbols.locals[at]:
                parent = self.symbols.symbols[at].parent
                return parent >= 0 and self.symbols.symbols[parent].kind == "class"
            at = self.symbols.symbols[at].parent
        return False

    def owner(self, scope: int) -> int | None:
        """The innermost class around a scope."""
        while scope >= 0:
            if self.symbols.symbols[scope].kind == "class":
                return scope
            scope = self.symbols.symbols[scope].parent
        return None

    def _object_member(self, name: str, scope: int) -> _Target | None:
        """`this.name` in a method of an object literal: another of its methods."""
        if scope < 0:
            return None
        symbol = self.symbols.symbols[scope]
        path = symbol.qualname.rpartition(".")[0]
        above = self.symbols.symbols[symbol.parent].qualname if symbol.parent >= 0 else ""
        if symbol.kind != "method" or path == above:
            return None
        relative = path[len(above) + 1 :] if above else path
        return self.pick(symbol.parent, f"{relative}.{name}", "self")

    def bare(self, name: str, scope: int) -> _Target | None:
        """A name without receiver, looked up outward from a scope."""
        at = scope
        while at >= 0:
            symbol = self.symbols.symbols[at]
            # A class body's names are seen in the body itself, not in its methods; in TypeScript never.
            hidden = symbol.kind == "class" and (at != scope or not self.python)
            if not hidden and symbol.kind not in {"interface", "type", "enum"}:
                found = self._bound_in(at, name, self.symbols.locals[at])
                if found is not None:
                    return found[0]
            at = symbol.parent
        found = self._bound_in(-1, name, self.symbols.module_names)
        if found is not None:
            return found[0]
        return self._starred(name, 0, exported=False)

    def _bound_in(self, scope: int, name: str, bound: frozenset[str]) -> tuple[_Target | None] | None:
        """What `name` is bound to in one scope: None if not bound there, (None,) if that tells nothing."""
        if self.types:
            limits = [item for item in bound if item.startswith(f"<{name}>")]
            if limits:  # a type parameter: what it extends
                limit = limits[0].partition(" ")[2]
                value = self.value_of(limit, scope) if limit else None
                return (None if value is None else value._replace(instance=False),)
        elif name in bound:
            return (self._typed(scope, name, "class") or self.object_literal(scope, name, "scope"),)
        defined = self._binding(scope, name)
        imports = self.view.imports.get(scope, {}).get(name)
        if imports:
            return (self._imported_or_defined(scope, name, imports, "scope", 0),)
        return (self._defined_in(scope, defined, "scope"),) if defined else None

    def _binding(self, scope: int, name: str) -> list[int]:
        """The symbols right in a scope that can be meant by their mere name: no member ever is.

        In TypeScript the methods of an object without a name (`return { pay() {} }`) stand there, too.
        """
        found = self.view.members.get(scope, {}).get(name, [])
        return (
            found if self.python else [i for i in found if self.symbols.symbols[i].kind not in METHOD_KINDS]
        )

    def _defined_in(
        self, scope: int, indices: list[int], confidence: Confidence, *, hoisted: bool = True
    ) -> _Target | None:
        """The one of several symbols of a name that is meant in the scope that holds them.

        In TypeScript several functions of one name stand in closures of their own, as in the blocks of a
        test: the last one before the place is meant. Where the place is unknown, any may be; and so it may
        where one stands further out, since nothing tells whether the last one's block has ended. Before the
        first one only what is `hoisted` is known, not what is set on an object.
        """
        symbols = self.symbols
        several = [
            i
            for i in indices
            if symbols.symbols[i].kind in _CLOSED and not symbols.symbols[i].signature.startswith(_ACCESSORS)
        ]
        if self.python or self.types or len(several) < 2:
            return self._best(indices, confidence)
        if self.start is None or (scope >= 0 and self.start <= symbols.ranges[scope].definition.start):
            return None  # of a call in the scope itself only that is known
        starts = [symbols.ranges[i].definition.start for i in several]
        before = [start for start in starts if start <= self.start]
        before = before or (starts[:1] if hoisted else [])
        if not before or any(start.column < before[-1].column for start in before):
            return None
        return _Target(self.index.key_at(self.file, several[len(before) - 1]), confidence)

    def object_literal(self, scope: int, path: str, confidence: Confidence) -> _Target | None:
        """An object literal with functions in it, bound to a name in a scope."""
        if not self.python and any(name.startswith(path + ".") for name in self.view.members.get(scope, ())):
            return _Target(self.index.key_at(self.file, scope), confidence, path=path + ".")
        return None

    def _imported_or_defined(
        self, scope: int, name: str, imports: list[Import], confidence: Confidence, hops: int
    ) -> _Target | None:
        """What a name means that a scope imports, perhaps several times, and perhaps defines too.

        Of alternatives in one `try` the first that is found: they are written to be one thing. What is bound
        always and then perhaps anew, or under other conditions, must be found to be the same everywhere.
        """
        imports = [item for item in imports if not item.replaced]
        defined = self._binding(scope, name)
        if not imports:
            return self._best(defined, confidence)
        if not self.python and len(defined) > imports[-1].after and confidence == "scope":
            # They stand in functions without a name, and nothing tells where those end.
            first_start = self.symbols.ranges[defined[0]].definition.start
            return self.imported(imports[-1], hops) if self.start and self.start < first_start else None
        first = imports[0]
        dead = first.after if not first.branch else 0
        found: list[_Target | None] = []
        for number, item in enumerate(imports):
            before = imports[number - 1].after if number else dead
            if item.after > before:
                found.append(self._best(defined[before : item.after], confidence))
            found.append(self.imported(item, hops))
        if len(defined) > imports[-1].after:
            found.append(self._best(defined[imports[-1].after :], confidence))
        known = [target for target in found if target is not None]
        doubtful = any(item.branch == "if" for item in imports)
        if not known or len(set(found if doubtful else known)) == 1:
            return known[0] if known else None
        return known[0] if not doubtful and first.branch and not first.after else None

    def pick(self, scope: int, name: str, confidence: Confidence) -> _Target | None:
        """The symbol of that name, relative to a scope, directly in it."""
        return self._best(self.view.members.get(scope, {}).get(name, []), confidence)

    def _best(self, indices: list[int], confidence: Confidence) -> _Target | None:
        """Of several symbols of one name the first that is no mere overload."""
        if not self.python and indices:
            kinds = self.symbols.symbols
            meant = [
                i
                for i in indices
                if (kinds[i].kind in CLASS_KINDS if self.types else kinds[i].kind not in _TYPES)
            ]
            indices = meant if meant or self.types else indices
        if not indices:
            return None
        best = indices[0]
        if len(indices) > 1 and self.python:
            best = next((i for i in indices if self.symbols.symbols[i].body_hash not in _PY_STUBS), best)
        return _Target(self.index.key_at(self.file, best), confidence)

    # Members.

    def attribute(self, target: _Target, name: str, hops: int) -> _Target | None:
        """`target.name`."""
        key = target.key
        other = self.other(key.file) if key is not None else None
        if key is None or (not key.qualname and not target.path):
            found = other.exported(name, hops + 1) if other is not None else None
            if found is None and target.folder is not None and self.python:
                found = self._submodule(target.folder, name, may_be_folder=key is None)
            return found
        at = self.index.position_of(key) if key.qualname else -1
        return None if other is None or at is None else other.inside(at, target, name)

    def inside(self, at: int, target: _Target, name: str) -> _Target | None:
        """A member of this file's symbol `at`, or of an object literal bound in it."""
        if target.path:
            path = target.path + name
            if found := self.view.members.get(at, {}).get(path):
                return self._defined_in(at, found, target.confidence, hoisted=False)
            return self.object_literal(at, path, target.confidence)
        kind = self.symbols.symbols[at].kind
        if kind == "namespace":
            return self.pick(at, name, target.confidence)
        return self.member(at, name, "class") if kind in CLASS_KINDS else None

    def member(self, owner: int, name: str, confidence: Confidence, hops: int = 0) -> _Target | None:
        """A class's own or inherited member."""
        bound = self.symbols.locals[owner]
        if name in bound:
            return None  # assigned in the class body
        pair = self.python and len(self.view.members.get(owner, {}).get(name, ())) > 1
        if f"self.{name}" in bound and confidence != "super" and not pair:
            return None  # set on the instance; of a property's getter and setter that calls the latter
        found = self.pick(owner, name, confidence)
        return found if found is not None else self.inherited(owner, name, confidence, hops)

    def inherited(self, owner: int, name: str, confidence: Confidence, hops: int) -> _Target | None:
        """A member of the classes that a class derives from."""
        question = (self.file, owner, f"{name} type" if self.types else name)
        if hops > _MAX_HOPS or question in self.known:
            return self.known.get(question)
        self.known[question] = None
        for base in self._bases(owner):
            if base is None and confidence == "super" and hops == 0:
                return None  # a base that is not in the index may well be the one
            if base is None or base.key is None or (other := self.other(base.key.file)) is None:
                continue
            at = self.index.position_of(base.key)
            if at is None or (base.key.file == self.file and at == owner):
                continue
            found = other.member(at, name, confidence, hops + 1)
            if found is not None:
                self.known[question] = found
                return found
        return None

    def bases(self, owner: int) -> Iterator[_Target]:
        """The classes named as bases, as far as they are found."""
        return (base for base in self._bases(owner) if base is not None)

    def _bases(self, owner: int) -> Iterator[_Target | None]:
        """The bases in order, None for one that is not found; those without members of note are left out."""
        symbol = self.symbols.symbols[owner]
        for base in symbol.bases:
            receiver, _, name = base.rpartition(".")
            found = self.reference(name, receiver, symbol.parent)
            if found is not None and self._is_class(found):
                yield found
            elif name not in _EMPTY_BASES:
                yield None

    # Modules.

    def exported(self, name: str, hops: int) -> _Target | None:
        """What another file gets under `name` from this module."""
        question = (self.file, -1, f"{name} type" if self.types else name)
        if hops > _MAX_HOPS or question in self.known:
            return self.known.get(question)
        self.known[question] = None
        found = self._exported_by_name(name, hops)
        self.known[question] = found = (
            found if found is not None else self._starred(name, hops, exported=True)
        )
        return found

    def _exported_by_name(self, name: str, hops: int) -> _Target | None:
        for item in self.view.exports.get(name, ()):
            if item.module:
                return self.imported(item, hops)
            return self.bare(item.name or name, -1) if item.name != name else self._local(name, hops)
        return self._local(name, hops)

    def _local(self, name: str, hops: int) -> _Target | None:
        """A name bound at this module's top, seen from elsewhere."""
        if name in self.symbols.module_names and not self.types:
            return self._typed(-1, name, "class") or self.object_literal(-1, name, "import")
        imports = self.view.imports.get(-1, {}).get(name)
        if imports:
            return self._imported_or_defined(-1, name, imports, "import", hops)
        for path in (name, f"exports.{name}", f"module.exports.{name}"):
            if path in self.view.members.get(-1, ()):
                return self.pick(-1, path, "import")
        return None

    def _starred(self, name: str, hops: int, *, exported: bool) -> _Target | None:
        """A name that only an import of everything can bring; several different ones tell nothing."""
        if hops > _MAX_HOPS or (self.python and name.startswith("_")):
            return None
        found = set()
        for item in self.view.stars:
            if item.exported and not exported:
                continue
            module = self.module(item.module)
            if module is None or module.key is None or (other := self.other(module.key.file)) is None:
                continue
            if other is not self and (target := other.exported(name, hops + 1)) is not None:
                found.add(target._replace(confidence="import"))
        return found.pop() if len(found) == 1 else None

    def imported(self, item: Import, hops: int) -> _Target | None:
        """What an import binds."""
        if hops > _MAX_HOPS:
            return None
        if item.name is None and item.alias != item.module and item.module.startswith(item.alias + "."):
            return self._top_package(item)
        module = self.module(item.module)
        if module is None and self.python and item.name not in {None, "*"}:
            return self.module(f"{item.module}.{item.name}")  # a module in a folder that is no package
        if module is None or item.name is None or item.name == "*":
            return module
        found = None
        if (
            module.key is not None
            and (other := self.other(module.key.file)) is not None
            and other is not self
        ):
            found = other.exported(item.name, hops + 1)
        if found is None and self.python and module.folder is not None:
            found = self._submodule(module.folder, item.name)
        return None if found is None else found._replace(confidence="import")

    def _top_package(self, item: Import) -> _Target | None:
        """What `import a.b` binds: a, which may be a folder without `__init__.py`."""
        found = self.module(item.alias)
        if found is not None:
            return found
        whole = self.module(item.module)
        if whole is None or whole.key is None:
            return None
        folder = whole.folder if whole.folder is not None else posixpath.dirname(whole.key.file)
        for _ in range(item.module.count(".") - (whole.folder is None)):
            folder = posixpath.dirname(folder)
        return _Target(None, "import", folder)

    def module(self, module: str) -> _Target | None:
        """The file of a module, as written in an import here."""
        if not self.python:
            return self._ts_module(module)
        dots = len(module) - len(module.lstrip("."))
        if dots:
            folder = posixpath.dirname(self.file)
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = posixpath.dirname(folder)
            path = "/".join(part for part in (folder, module[dots:].replace(".", "/")) if part)
            return self._python_file(path) if module[dots:] else self._package(folder)
        return self._absolute(module.split("."))

    def _python_file(self, path: str) -> _Target | None:
        for candidate in (f"{path}.py", f"{path}.pyi"):
            if candidate in self.index:
                return _Target(SymbolKey(candidate, ""), "import")
        return self._package(path)

    def _package(self, folder: str) -> _Target | None:
        """A package, or a mere folder that holds modules."""
        for name in ("__init__.py", "__init__.pyi"):
            candidate = f"{folder}/{name}" if folder else name
            if candidate in self.index:
                return _Target(SymbolKey(candidate, ""), "import", folder)
        return _Target(None, "import", folder)

    def _submodule(self, folder: str, name: str, *, may_be_folder: bool = False) -> _Target | None:
        found = self._python_file(f"{folder}/{name}" if folder else name)
        return found if found is not None and (may_be_folder or found.key is not None) else None

    def _absolute(self, parts: list[str]) -> _Target | None:
        """An absolute module under the nearest root folder that holds it.

        That a path ends as the module does is no reason: `import redis` is not `deploy/redis.py`. A root is
        one of the folders around the importing file, or a project's source folder; a package never is.
        """
        path = "/".join(parts)
        candidates: dict[str, str] = {}
        for end in (f"{path}.py", f"{path}/__init__.py", f"{path}.pyi", f"{path}/__init__.pyi"):
            for file in self.index.files_ending(end):
                root = file[: -len(end)].rstrip("/")
                # A folder that is itself a package is no root: `import json` is not `flask/json`.
                if f"{root}/__init__.py".lstrip("/") not in self.index:
                    candidates.setdefault(root, file)
        here = posixpath.dirname(self.file)
        above = [root for root in candidates if _holds(root, here)]
        best: str | None = None
        if above:
            best = max(above, key=len)
        elif parts[0] not in sys.stdlib_module_names:
            best = _nearest([root for root in candidates if self._is_source_folder(root, here)], here)
        if best is None:
            return None
        file = candidates[best]
        name = posixpath.basename(file)
        return _Target(
            SymbolKey(file, ""), "import", posixpath.dirname(file) if name.startswith("__init__.") else None
        )

    def _is_source_folder(self, root: str, here: str) -> bool:
        """Whether a folder that is not around the importing file is one whose modules it can import."""
        project, _, name = root.rpartition("/")
        named_so = name in _SOURCE_FOLDERS
        if named_so and _holds(project, here):
            return True
        return any(
            f"{folder}/setup.py".lstrip("/") in self.index
            for folder in ((root, project) if named_so else (root,))
        )

    def _ts_module(self, module: str) -> _Target | None:
        if not module.startswith("."):
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.file), module))
        if path.startswith(".."):
            return None
        stem, extension = posixpath.splitext(path)
        candidates = [path] if extension in _TS_EXTENSIONS else []
        candidates = [stem + e for e in _TS_OUTPUTS.get(extension, ())] + candidates
        candidates += [path + e for e in _TS_EXTENSIONS]
        candidates += [f"{path}/index{e}".removeprefix("./") for e in _TS_EXTENSIONS]
        for candidate in candidates:
            if candidate in self.index:
                return _Target(SymbolKey(candidate, ""), "import")
        return None


def _holds(folder: str, inner: str) -> bool:
    """Whether `inner` is `folder` or lies in it."""
    return not folder or inner == folder or inner.startswith(folder + "/")


def _nearest(roots: list[str], here: str) -> str | None:
    """The root that shares most of its path with a folder; None when two share as much."""

    def shared(root: str) -> int:
        count = 0
        for a, b in zip(root.split("/"), here.split("/"), strict=False):
            if a != b:
                break
            count += 1
        return count

    ranked = sorted(roots, key=shared, reverse=True)
    if not ranked or (len(ranked) > 1 and shared(ranked[0]) == shared(ranked[1])):
        return None
    return ranked[0]

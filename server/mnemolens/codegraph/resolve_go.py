"""Which symbol a name in Go code refers to: scopes, packages as folders, and declared types.

A package is the files of one folder with the same package clause; a test file's package may be another than
its folder's. Under which path a folder is imported, the nearest `go.mod` above says. A method is that of the
receiver's declared type, followed through fields, results, elements and embedded types; how the table writes
types down is told in `languages.go`. What an interface's value really is, is not asked.

Where several files of a package define a name, for several systems, the own file's comes first, then one for
all systems, then the one for Linux.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from mnemolens.codegraph.index import FileView, Lookup
from mnemolens.core.symbols import CLASS_KINDS, Confidence, Import, Resolved, SymbolKey

_MAX_STEPS = 24
"""How many names, types and embedded types are followed for one answer."""

_PART = re.compile(r"(\w+)((?:\(\d*\)|\[\]|\{\})*)")
_SUFFIX = re.compile(r"\(\d*\)|\[\]|\{\}")
_VALUE = re.compile(r"((?:\[\])*)((?:\w+\.)?\w+)\{\}")
_SYSTEMS = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|nacl|netbsd|openbsd|plan9|solaris|wasip1|windows"
    r"|zos|bsd\w*|386|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|fake|stub|stubs|other|none)"
    r"(?:_test)?\.go$"
)
_LINUX = re.compile(r"_(?:linux|unix|posix|amd64)(?:_test)?\.go$")


class _Type(NamedTuple):
    """A type as written in a scope of a file."""

    text: str
    file: str
    scope: int


class _Meaning(NamedTuple):
    """What an expression is: a symbol, a value of a type, or a package."""

    key: SymbolKey | None = None
    value: _Type | None = None
    package: "_Package | None" = None
    confidence: Confidence = "scope"


class _Package(NamedTuple):
    """A package as its importers see it, or (with `tests`) as its own test files do."""

    folder: str
    name: str
    tests: bool = False


def package_name(view: FileView) -> str:
    """The name in a file's package clause."""
    return next((name for name, items in view.exports.items() if not items[0].module), "")


class GoResolver:
    """Resolution from one file's point of view."""

    def __init__(self, index: Lookup, file: str, view: FileView, steps: list[int] | None = None) -> None:
        self.index = index
        self.file = file
        self.view = view
        self.symbols = view.symbols
        self.steps = [_MAX_STEPS] if steps is None else steps  # shared by all resolvers of one question

    def reference(self, name: str, receiver: str | None, scope: int) -> Resolved | None:
        """What `receiver.name` (or a bare `name`) in a scope refers to."""
        if receiver is None:
            return None
        if not receiver:
            found = self._name(name, scope)
        else:
            holder = self._expression(receiver, scope)
            found = self._member(holder, name) if holder is not None else None
            if found is not None and holder is not None and holder.value is not None:
                own = self._is_own(receiver, scope)
                found = found._replace(confidence="self" if own else "class")
        if found is None or found.key is None:
            return None
        return Resolved(found.key, found.confidence)

    def bases(self, owner: int) -> list[Resolved]:
        """The embedded types of a struct or interface, and what an alias stands for."""
        symbol = self.symbols.symbols[owner]
        meant = [item[2:] for item in self.symbols.locals[owner] if item.startswith("= ")]
        found: list[Resolved] = []
        for text in (*symbol.bases, *meant):
            key = self._type_key(_Type(text, self.file, symbol.parent))
            if key is not None:
                found.append(Resolved(key, "import" if "." in text else "scope"))
        return found

    def imports(self) -> list[tuple[str, str]]:
        """(file, name) for the files of imported packages: those whose names are called here.

        Of a package whose functions are not called, the file that is named as the package, or the first.
        """
        called: dict[str, set[str]] = {}
        for call in self.symbols.calls:
            if call.receiver:
                head, _, rest = call.receiver.partition(".")
                first = _PART.match(rest)
                called.setdefault(head, set()).add(first[1] if first else call.name)
        found: dict[tuple[str, str], None] = {}
        for item in self.symbols.imports:
            package = None if item.exported else self._imported(item.module)
            if package is None:
                continue
            alias = item.alias if item.name == "*" or item.alias == "_" else package.name
            files = {
                target.key.file
                for name in called.get(alias, ())
                if (target := self._in_package(package, name)) is not None and target.key is not None
            }
            if not files:
                every = [view_file for view_file, _ in self._files(package)]
                named = posixpath.join(package.folder, package.name + ".go")
                files = {named if named in every else every[0]} if every else set()
            found.update(((file, alias), None) for file in sorted(files) if file != self.file)
        return list(found)

    def _other(self, file: str) -> "GoResolver | None":
        if file == self.file:
            return self
        view = self.index.view(file)
        return None if view is None else GoResolver(self.index, file, view, self.steps)

    def _step(self) -> bool:
        """Count one step; False when there were too many: types may be defined in a circle."""
        self.steps[0] -= 1
        return self.steps[0] >= 0

    # Names.

    def _name(self, name: str, scope: int, *, is_type: bool = False) -> _Meaning | None:
        """What a bare name is in a scope.

        A local value hides a type of its name only behind its declaration, and in its block: `node := …` in
        a method of `node`. So what can only be a type is looked for beyond it.
        """
        at = scope
        while at >= 0:
            symbol = self.symbols.symbols[at]
            if symbol.kind not in CLASS_KINDS:
                bound = _bound(f"<{name}>", self.symbols.locals[at])  # it has what its constraint has
                if bound is None and not is_type:
                    bound = _bound(name, self.symbols.locals[at])
                if bound is not None:
                    return self._valued(bound, at)
                if indices := self.view.members.get(at, {}).get(name):
                    return _Meaning(self.index.key_at(self.file, indices[0]))
            at = symbol.parent
        package = self._import_named(name)
        if package is not None:
            return _Meaning(package=package, confidence="import")
        found = self._in_package(self._own_package(), name)
        if found is not None:
            return found
        for item in self.view.stars:
            other = self._imported(item.module)
            if other is not None and (found := self._in_package(other, name)) is not None:
                return found._replace(confidence="import")
        return None

    def _valued(self, bound: str, scope: int) -> _Meaning | None:
        """What a name is bound to, as the table wrote it."""
        if not bound or not self._step():
            return None
        if not bound.startswith("="):
            return _Meaning(value=_Type(bound, self.file, scope))
        found = self._expression(bound[1:], scope)
        return found if found is not None and found.value is not None else None

    def _is_own(self, receiver: str, scope: int) -> bool:
        """Whether a receiver is that of the method itself."""
        while scope >= 0:
            symbol = self.symbols.symbols[scope]
            if symbol.kind == "method":
                owner = symbol.qualname.rpartition(".")[0]
                return _bound(receiver, self.symbols.locals[scope]) == owner
            scope = symbol.parent
        return False

    # Expressions.

    def _expression(self, text: str, scope: int) -> _Meaning | None:
        """What a receiver's text stands for."""
        if not self._step():
            return None
        made = _VALUE.match(text)
        if made is not None:
            found: _Meaning | None = _Meaning(value=_Type(made[1] + made[2], self.file, scope))
            rest = text[made.end() :]
        else:
            head = _PART.match(text)
            if head is None:
                return None
            found, rest = self._name(head[1], scope), text[head.end(1) :]
        while found is not None and rest:
            suffix = _SUFFIX.match(rest)
            if suffix is not None:
                found, rest = self._applied(found, suffix[0]), rest[suffix.end() :]
                continue
            part = _PART.match(rest, 1)
            if not rest.startswith(".") or part is None:
                return None
            found, rest = self._member(found, part[1]), rest[part.end(1) :]
        return found

    def _applied(self, meaning: _Meaning, suffix: str) -> _Meaning | None:
        """A call's result, or an element."""
        if suffix == "[]":
            return self._element(meaning.value) if meaning.value is not None else meaning
        if meaning.key is None or suffix == "{}":
            return None
        at, other = self.index.position_of(meaning.key), self._other(meaning.key.file)
        if at is None or other is None:
            return None
        if other.symbols.symbols[at].kind in CLASS_KINDS:  # a conversion
            name = other.symbols.symbols[at].name
            return _Meaning(value=_Type(name, other.file, other.symbols.symbols[at].parent))
        number = "()" if suffix == "(0)" else suffix
        result = _bound(number, other.symbols.locals[at])
        return _Meaning(value=_Type(result, other.file, at)) if result else None

    def _element(self, kind: _Type) -> _Meaning | None:
        """An element of a slice, map or channel."""
        while self._step():
            if kind.text.startswith("[]"):
                return _Meaning(value=kind._replace(text=kind.text[2:]))
            inner = self._underlying(kind)
            if inner is None:
                return None
            kind = inner
        return None

    def _underlying(self, kind: _Type) -> _Type | None:
        """What a type is defined as, where that is a name or has elements."""
        key = self._type_key(kind)
        at = self.index.position_of(key) if key is not None else None
        other = self._other(key.file) if key is not None else None
        if at is None or other is None:
            return None
        parent = other.symbols.symbols[at].parent
        for item in other.symbols.locals[at]:
            if item.startswith(("= ", "~ ")):
                return _Type(item[2:], other.file, parent)
        return None

    # Members.

    def _member(self, meaning: _Meaning, name: str) -> _Meaning | None:
        """`expression.name`."""
        if meaning.package is not None:
            found = self._in_package(meaning.package, name)
            return found._replace(confidence="import") if found is not None else None
        if meaning.value is not None:
            return self._of_value(meaning.value, name)
        key = meaning.key
        other = self._other(key.file) if key is not None else None
        at = self.index.position_of(key) if key is not None else None
        if other is None or at is None or other.symbols.symbols[at].kind not in CLASS_KINDS:
            return None
        symbol = other.symbols.symbols[at]  # a method expression: `Shop.Pay`
        found = self._of_value(_Type(symbol.name, other.file, symbol.parent), name)
        return found._replace(confidence=meaning.confidence) if found is not None else None

    def _of_value(self, kind: _Type, name: str) -> _Meaning | None:
        """A field or method, own or of an embedded type, the least deep first."""
        level, seen = [(kind, True)], set[SymbolKey]()
        while level and self._step():
            below: list[tuple[_Type, bool]] = []
            for item, with_methods in level:
                key = self._type_key(item)
                other = self._other(key.file) if key is not None else None
                at = self.index.position_of(key) if key is not None else None
                if key is None or key in seen or other is None or at is None:
                    continue
                seen.add(key)
                found = other._own_member(at, name, with_methods=with_methods)  # noqa: SLF001 - of its kind
                if found is not None:
                    return found
                below += other._embedded(at, with_methods=with_methods)  # noqa: SLF001 - of its kind
            level = below
        return None

    def _own_member(self, at: int, name: str, *, with_methods: bool) -> _Meaning | None:
        symbol = self.symbols.symbols[at]
        if symbol.kind == "interface":
            indices = self.view.members.get(at, {}).get(name)
            return _Meaning(self.index.key_at(self.file, indices[0])) if indices else None
        if with_methods and symbol.parent < 0:
            found = self._in_package(self._own_package(), f"{symbol.qualname}.{name}")
            if found is not None:
                return found
        if symbol.kind == "struct" and (bound := _bound(name, self.symbols.locals[at])) is not None:
            return _Meaning(value=_Type(bound, self.file, symbol.parent) if bound else None)
        return None

    def _embedded(self, at: int, *, with_methods: bool) -> Iterator[tuple[_Type, bool]]:
        """What a type has its other members from; a type that is only defined alike has fields alone."""
        symbol = self.symbols.symbols[at]
        for base in symbol.bases:
            yield _Type(base, self.file, symbol.parent), with_methods
        for item in self.symbols.locals[at]:
            if item.startswith("= "):
                yield _Type(item[2:], self.file, symbol.parent), with_methods
            elif item.startswith("~ "):
                yield _Type(item[2:], self.file, symbol.parent), False

    def _type_key(self, kind: _Type) -> SymbolKey | None:
        """The symbol of a named type."""
        if kind.text.startswith("[]") or not self._step():
            return None
        other = self._other(kind.file)
        if other is None:
            return None
        package, _, name = kind.text.rpartition(".")
        found = other._name(package or name, kind.scope, is_type=True)  # noqa: SLF001 - of its kind
        if package and found is not None:
            found = other._member(found, name) if found.package is not None else None  # noqa: SLF001
        if found is not None and found.value is not None and not package:
            return other._type_key(found.value)  # noqa: SLF001 - of its kind
        symbol = self.index.symbol(found.key) if found is not None and found.key is not None else None
        return found.key if found is not None and symbol is not None and symbol.kind in CLASS_KINDS else None

    # Packages.

    def _own_package(self) -> _Package:
        return _Package(posixpath.dirname(self.file), package_name(self.view), self.file.endswith("_test.go"))

    def _files(self, package: _Package) -> Iterator[tuple[str, FileView]]:
        for file in self.index.files_in(package.folder):
            if not file.endswith(".go") or (file.endswith("_test.go") and not package.tests):
                continue
            view = self.index.view(file)
            if view is not None and package_name(view) == package.name:
                yield file, view

    def _in_package(self, package: _Package, name: str) -> _Meaning | None:
        """What a name at a package's top is."""
        found: list[tuple[int, str, _Meaning]] = []
        for file, view in self._files(package):
            if indices := view.members.get(-1, {}).get(name):
                meaning = _Meaning(self.index.key_at(file, indices[0]))
            elif (bound := _bound(name, view.symbols.module_names)) is not None:
                other = self._other(file)
                meaning = (other._valued(bound, -1) if other is not None else None) or _Meaning()  # noqa: SLF001
            else:
                continue
            if file == self.file:
                return meaning
            found.append((_preference(file), file, meaning))
        return min(found)[2] if found else None

    def _import_named(self, name: str) -> _Package | None:
        """The package that a name stands for in this file."""
        for item in self.symbols.imports:
            if item.exported or item.alias == "_":
                continue
            if item.name == "*":
                if item.alias == name:
                    return self._imported(item.module) or _UNKNOWN
            elif self._is_called(item, name):
                return self._imported(item.module) or _UNKNOWN
        return None

    def _is_called(self, item: Import, name: str) -> bool:
        """Whether an imported package, not renamed, has this name."""
        package = self._imported(item.module) if name in item.module or item.alias == name else None
        return package.name == name if package is not None else item.alias == name

    def _imported(self, path: str) -> _Package | None:
        """The package with an import path, where it is in the index."""
        for folder in self._folders(path):
            names = Counter(
                package_name(view)
                for file in self.index.files_in(folder)
                if file.endswith(".go") and not file.endswith("_test.go") and (view := self.index.view(file))
            )
            if names:
                return _Package(folder, min(names, key=lambda name: (-names[name], name)))
        return None

    def _folders(self, path: str) -> Iterator[str]:
        """Where the package with an import path may be."""
        if path.startswith("."):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(self.file), path))
            return
        above = posixpath.dirname(self.file)
        while True:
            own = self._module(above)
            if own is not None:
                if own in {"std", path} or path.startswith(own + "/"):
                    yield posixpath.join(above, path if own == "std" else path[len(own) + 1 :]).rstrip("/")
                yield posixpath.join(above, "vendor", path)
                break
            if not above:
                break
            above = posixpath.dirname(above)
        others = [
            (module, posixpath.dirname(file))
            for file in self.index.files_ending("go.mod")
            if (module := self._module(posixpath.dirname(file))) is not None
        ]
        for module, folder in sorted(others, key=lambda item: -len(item[0])):
            if path == module or path.startswith(module + "/"):
                yield posixpath.join(folder, path[len(module) + 1 :]).rstrip("/")

    def _module(self, folder: str) -> str | None:
        """The path under which a folder with a `go.mod` is imported."""
        view = self.index.view(posixpath.join(folder, "go.mod"))
        return package_name(view) if view is not None else None


_UNKNOWN = _Package("", "")
"""A package that is not in the index: its name means that, and nothing of this package."""


def _bound(name: str, names: frozenset[str]) -> str | None:
    """What is known of the type of a bound name, empty where that is nothing; None where it is not bound."""
    start = name + " "
    known = {item[len(start) :] for item in names if item.startswith(start)}
    if name in names or len(known) > 1:
        return ""
    return known.pop() if known else None


def _preference(file: str) -> int:
    if _SYSTEMS.search(file):
        return 2
    return 1 if _LINUX.search(file) else 0

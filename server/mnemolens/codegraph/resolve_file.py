"""Which symbol of the same file a name refers to: all that is asked of shallow languages.

Names are looked up outward, from the innermost named scope that holds them. A class's members are found by
the class's dotted name, so they may as well stand outside of it (`impl Shop` in Rust, `Shop::pay` in C++).
Where overloads share a name nothing says which of them is meant.
"""

from mnemolens.codegraph.index import FileView, Lookup
from mnemolens.core.symbols import CLASS_KINDS, Resolved, SymbolKey

_OWN = frozenset({"this", "$this", "self", "Self", "static"})
_ABOVE = frozenset({"super", "base", "parent"})
_AROUND = ("self.", "super.")
_BY_RECEIVER_ONLY = frozenset({"rust", "php"})
"""Languages in which a method is never called by its bare name."""

_SIGNATURES = frozenset({"overload", "method_sig"})
_MAX_BASES = 8


class FileResolver:
    """Resolution within one file."""

    def __init__(self, index: Lookup, file: str, view: FileView) -> None:
        self.index = index
        self.file = file
        self.symbols = view.symbols

    def reference(self, name: str, receiver: str | None, scope: int) -> Resolved | None:
        """What `receiver.name` (or a bare `name`) in a scope refers to."""
        if receiver is None:
            return None
        if not receiver:
            return self._bare(name, scope)
        if self.symbols.language == "rust" and receiver.partition(".")[0] == "super":
            return self._in_module_around(f"{receiver}.{name}", scope)
        if receiver in _OWN or receiver in _ABOVE:
            owner = self._owner(scope)
            return None if owner is None else self._member(owner, name, own=receiver in _OWN)
        head, _, rest = receiver.partition(".")
        found = self._bare(head, scope)
        if found is None or not self._is_class(found.key.qualname):
            return None
        path = f"{found.key.qualname}.{rest}" if rest else found.key.qualname
        key = self._one(f"{path}.{name}")
        return None if key is None else Resolved(key, "class")

    def bases(self, owner: int) -> list[Resolved]:
        """The classes of this file that a class derives from."""
        symbol = self.symbols.symbols[owner]
        found = [
            self._in_module_around(base, symbol.parent)
            if base.startswith(_AROUND)
            else self._bare(base, symbol.parent)
            for base in symbol.bases
        ]
        return [item for item in found if item is not None and self._is_class(item.key.qualname)]

    def _in_module_around(self, path: str, scope: int) -> Resolved | None:
        """What Rust's `super::path` and `self::path` mean."""
        at = self._module(scope)
        while path.startswith(_AROUND):
            head, _, path = path.partition(".")
            if head == "super":
                if at < 0:
                    return None
                at = self._module(self.symbols.symbols[at].parent)
        key = self._one(f"{self.symbols.symbols[at].qualname}.{path}" if at >= 0 else path)
        return None if key is None else Resolved(key, "scope")

    def _module(self, scope: int) -> int:
        """The innermost module around a scope; -1 for the file itself."""
        while scope >= 0 and self.symbols.symbols[scope].kind != "namespace":
            scope = self.symbols.symbols[scope].parent
        return scope

    def _bare(self, name: str, scope: int) -> Resolved | None:
        at = scope
        while at >= 0:
            if name in self.symbols.locals[at]:
                return None
            at = self.symbols.symbols[at].parent
        path = self.symbols.symbols[scope].qualname if scope >= 0 else ""
        while path:
            kind = self._kind(path)
            is_class = kind is None or kind in CLASS_KINDS - {"namespace"}
            if not is_class or self.symbols.language not in _BY_RECEIVER_ONLY:
                key = self._one(f"{path}.{name}")
                if key is not None or self._kind(f"{path}.{name}") is not None:
                    return None if key is None else Resolved(key, "self" if is_class else "scope")
                if kind is not None and is_class and (found := self._inherited(path, name)) is not None:
                    return found
            path = path.rpartition(".")[0]
        key = None if name in self.symbols.module_names else self._one(name)
        return None if key is None else Resolved(key, "scope")

    def _owner(self, scope: int) -> str | None:
        """The dotted name of the class around a scope; it need not be a symbol here."""
        path = self.symbols.symbols[scope].qualname if scope >= 0 else ""
        while path:
            kind = self._kind(path)
            if kind is None or kind in CLASS_KINDS - {"namespace", "type"}:
                return path
            path = path.rpartition(".")[0]
        return None

    def _member(self, owner: str, name: str, *, own: bool) -> Resolved | None:
        key = self._one(f"{owner}.{name}") if own else None
        return Resolved(key, "self") if key is not None else self._inherited(owner, name)

    def _inherited(self, owner: str, name: str) -> Resolved | None:
        """A member of the first base of this file that has it."""
        waiting, seen = [owner], {owner}
        while waiting and len(seen) < _MAX_BASES:
            at = self.index.position_of(SymbolKey(self.file, waiting.pop(0)))
            for base in self.bases(at) if at is not None else ():
                path = base.key.qualname
                if path in seen:
                    continue
                key = self._one(f"{path}.{name}")
                if key is not None:
                    return Resolved(key, "super")
                seen.add(path)
                waiting.append(path)
        return None

    def _kind(self, path: str) -> str | None:
        symbol = self.index.symbol(SymbolKey(self.file, path))
        return None if symbol is None else symbol.kind

    def _is_class(self, path: str) -> bool:
        return self._kind(path) in CLASS_KINDS

    def _one(self, path: str) -> SymbolKey | None:
        """The only symbol of that dotted name, mere declarations left out where something defines it."""
        keys: list[tuple[SymbolKey, str]] = []
        while (symbol := self.index.symbol(key := SymbolKey(self.file, path, len(keys)))) is not None:
            keys.append((key, symbol.kind))
        whole = [key for key, kind in keys if kind not in _SIGNATURES] or [key for key, _ in keys]
        return whole[0] if len(whole) == 1 else None

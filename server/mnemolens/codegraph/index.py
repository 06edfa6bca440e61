"""The read model of all files' symbols: by key, by name, by hash, by path end.

`put` and `remove` cost what that one file costs, however large the index is; putting symbols that are mostly
the same objects as before (an open document's) costs what changed. Resolving names is `codegraph.resolve`.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from mnemolens.core.symbols import FileSymbols, Import, Symbol, SymbolKey, SymbolRange


class FileView(NamedTuple):
    """A file's symbols and imports by name, made when first asked for.

    Attributes:
        members: parent's index (-1: the module) -> name relative to the parent -> indices, in text order.
        imports: scope's index -> alias -> imports bound under it there.
        exports: alias -> re-exports (`export … from`, `export { … }`).
        stars: all imports of everything (`from m import *`, `export * from`).
    """

    symbols: FileSymbols
    members: dict[int, dict[str, list[int]]]
    imports: dict[int, dict[str, list[Import]]]
    exports: dict[str, list[Import]]
    stars: tuple[Import, ...]


class Lookup(Protocol):
    """What of an index is asked to find out what a name means; each method is `CodeIndex`'s."""

    def __contains__(self, file: str) -> bool: ...

    def get(self, file: str) -> FileSymbols | None:
        """What is known of a file."""

    def view(self, file: str) -> FileView | None:
        """A file's symbols and imports by name."""

    def symbol(self, key: SymbolKey) -> Symbol | None:
        """The symbol of that key."""

    def position_of(self, key: SymbolKey) -> int | None:
        """The symbol's place in its file's `symbols`."""

    def key_at(self, file: str, index: int) -> SymbolKey:
        """The key of a file's symbol by its place."""

    def keys_named(self, name: str) -> tuple[SymbolKey, ...]:
        """All symbols whose own name is `name`."""

    def files_ending(self, suffix: str) -> Collection[str]:
        """Files whose path ends with `suffix`."""

    def files_in(self, folder: str) -> Collection[str]:
        """The files right in a folder."""


_Key = TypeVar("_Key", SymbolKey, str)


@dataclass(slots=True)
class _Buckets(Generic[_Key]):
    """Names, each with its keys in the order in which they came.

    Most names have one key: it stands by itself, since a dict for each would be a third of the index.
    """

    _of: dict[str, _Key | dict[_Key, None]] = field(default_factory=dict)

    def get(self, name: str) -> tuple[_Key, ...]:
        found = self._of.get(name)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, dict) else (found,)

    def add(self, name: str, key: _Key) -> None:
        if not name:
            return
        found = self._of.setdefault(name, key)
        if isinstance(found, dict):
            found[key] = None
        elif found != key:
            self._of[name] = {found: None, key: None}

    def drop(self, name: str, key: _Key) -> None:
        found = self._of.get(name)
        if isinstance(found, dict):
            found.pop(key, None)
            if len(found) == 1:
                self._of[name] = next(iter(found))
        elif found == key:
            del self._of[name]


class CodeIndex:
    """All files' symbols. Not thread-safe: written and read by one thread."""

    def __init__(self) -> None:
        self._files: dict[str, FileSymbols] = {}
        self._at: dict[SymbolKey, int] = {}
        self._by_name = _Buckets[SymbolKey]()
        self._by_body = _Buckets[SymbolKey]()
        self._by_full = _Buckets[SymbolKey]()
        self._by_tail = _Buckets[str]()
        self._by_folder: dict[str, dict[str, None]] = {}
        self._users = _Buckets[str]()
        self._used: dict[str, frozenset[str]] = {}
        self._views: dict[str, FileView] = {}

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, file: str) -> bool:
        return file in self._files

    @property
    def symbol_count(self) -> int:
        """Number of symbols of all files."""
        return len(self._at)

    def files(self) -> Iterator[str]:
        """All files, in the order in which they came."""
        return iter(tuple(self._files))

    def get(self, file: str) -> FileSymbols | None:
        """What is known of a file."""
        return self._files.get(file)

    def put(self, file: str, symbols: FileSymbols) -> None:
        """Set a file's symbols in place of what was known of it."""
        old = self._files.get(file)
        self._files[file] = symbols
        self._views.pop(file, None)
        if old is None:
            for tail in _tails(file):
                self._by_tail.add(tail, file)
            self._by_folder.setdefault(posixpath.dirname(file), {})[file] = None
            before: tuple[Symbol, ...] = ()
        else:
            before = old.symbols
        after = symbols.symbols
        if len(before) == len(after):
            # Typing changes few symbols: the others are the same objects (or equal ones), in the same places.
            changed = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a is not b and a != b]
            self._replace(file, [before[i] for i in changed], [(i, after[i]) for i in changed])
        else:
            self._replace_middle(file, before, after)
        if old is None or old.calls != symbols.calls or old.imports != symbols.imports:
            self._set_used(file, _used_names(symbols))

    def remove(self, file: str) -> None:
        """Forget a file; nothing happens when it is not known."""
        old = self._files.pop(file, None)
        if old is None:
            return
        self._views.pop(file, None)
        self._replace(file, old.symbols, ())
        self._set_used(file, frozenset())
        for tail in _tails(file):
            self._by_tail.drop(tail, file)
        folder = self._by_folder[posixpath.dirname(file)]
        del folder[file]
        if not folder:
            del self._by_folder[posixpath.dirname(file)]

    def _replace(self, file: str, old: Iterable[Symbol], new: Iterable[tuple[int, Symbol]]) -> None:
        for symbol in old:
            key = SymbolKey(file, symbol.qualname, symbol.ordinal)
            self._at.pop(key, None)
            self._by_name.drop(symbol.name, key)
            self._by_body.drop(symbol.body_hash, key)
            self._by_full.drop(symbol.full_hash, key)
        for index, symbol in new:
            key = SymbolKey(file, symbol.qualname, symbol.ordinal)
            self._at[key] = index
            self._by_name.add(symbol.name, key)
            self._by_body.add(symbol.body_hash, key)
            self._by_full.add(symbol.full_hash, key)

    def _replace_middle(self, file: str, before: Sequence[Symbol], after: Sequence[Symbol]) -> None:
        """`_replace`, where symbols came or went: what is above stays, what is below has another place."""
        above = _alike(before, after)
        below = _alike(reversed(before[above:]), reversed(after[above:]))
        end = len(after) - below
        self._replace(file, before[above : len(before) - below], enumerate(after[above:end], above))
        for index in range(end, len(after)):
            symbol = after[index]
            self._at[SymbolKey(file, symbol.qualname, symbol.ordinal)] = index

    def _set_used(self, file: str, names: frozenset[str]) -> None:
        old = self._used.get(file, frozenset())
        for name in old - names:
            self._users.drop(name, file)
        for name in names - old:
            self._users.add(name, file)
        if names:
            self._used[file] = names
        else:
            self._used.pop(file, None)

    def position_of(self, key: SymbolKey) -> int | None:
        """The symbol's place in its file's `symbols`."""
        return self._at.get(key)

    def symbol(self, key: SymbolKey) -> Symbol | None:
        """The symbol of that key; None where there is none (a file's key has none either)."""
        index = self._at.get(key)
        return None if index is None else self._files[key.file].symbols[index]

    def range_of(self, key: SymbolKey) -> SymbolRange | None:
        """Where the symbol stands."""
        index = self._at.get(key)
        return None if index is None else self._files[key.file].ranges[index]

    def key_at(self, file: str, index: int) -> SymbolKey:
        """The key of a file's symbol by its place; -1 is the file's own key."""
        if index < 0:
            return SymbolKey(file, "")
        symbol = self._files[file].symbols[index]
        return SymbolKey(file, symbol.qualname, symbol.ordinal)

    def keys_of(self, file: str) -> tuple[SymbolKey, ...]:
        """The keys of a file's symbols, in text order."""
        symbols = self._files.get(file)
        return tuple(SymbolKey(file, s.qualname, s.ordinal) for s in symbols.symbols) if symbols else ()

    def keys_named(self, name: str) -> tuple[SymbolKey, ...]:
        """All symbols whose own name is `name`."""
        return self._by_name.get(name)

    def keys_with_body(self, body_hash: str) -> tuple[SymbolKey, ...]:
        """All symbols with this body hash."""
        return self._by_body.get(body_hash)

    def keys_with_full(self, full_hash: str) -> tuple[SymbolKey, ...]:
        """All symbols with this full hash."""
        return self._by_full.get(full_hash)

    def files_ending(self, suffix: str) -> tuple[str, ...]:
        """Files whose path ends with `suffix`, whole segments only."""
        suffix = suffix.strip("/")
        segments = suffix.split("/")
        bucket = self._by_tail.get("/".join(segments[-2:]))
        if len(segments) <= 2:
            return bucket
        return tuple(file for file in bucket if file == suffix or file.endswith("/" + suffix))

    def files_in(self, folder: str) -> tuple[str, ...]:
        """The files right in a folder ("" is the top)."""
        return tuple(self._by_folder.get(folder, ()))

    def users_of(self, name: str) -> tuple[str, ...]:
        """Files that call something named `name`, or import it under another name."""
        return self._users.get(name)

    def parent(self, key: SymbolKey) -> SymbolKey | None:
        """The enclosing symbol, or the file; None for a file and for what is not known."""
        symbol = self.symbol(key)
        return None if symbol is None else self.key_at(key.file, symbol.parent)

    def children(self, key: SymbolKey) -> tuple[SymbolKey, ...]:
        """The symbols directly in a symbol or file, in text order."""
        symbols = self._files.get(key.file)
        index = self._at.get(key) if key.qualname else -1
        if symbols is None or index is None:
            return ()
        return tuple(SymbolKey(key.file, s.qualname, s.ordinal) for s in symbols.symbols if s.parent == index)

    def view(self, file: str) -> FileView | None:
        """A file's symbols and imports by name."""
        found = self._views.get(file)
        if found is None and (symbols := self._files.get(file)) is not None:
            found = self._views[file] = _view(symbols)
        return found


def _alike(before: Iterable[Symbol], after: Iterable[Symbol]) -> int:
    """How many symbols the index knows the same of, from the first ones on."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and _known_of(old) != _known_of(new):
            break
        count += 1
    return count


def _known_of(symbol: Symbol) -> tuple[object, ...]:
    return symbol.qualname, symbol.ordinal, symbol.name, symbol.body_hash, symbol.full_hash


def _tails(file: str) -> set[str]:
    """The last segment of a path, and the last two."""
    segments = file.split("/")
    return {segments[-1], "/".join(segments[-2:])}


def _used_names(symbols: FileSymbols) -> frozenset[str]:
    names = {call.name for call in symbols.calls}
    names.update(i.name for i in symbols.imports if i.name and i.name != i.alias)
    return frozenset(names)


def _view(symbols: FileSymbols) -> FileView:
    members: dict[int, dict[str, list[int]]] = {}
    for index, symbol in enumerate(symbols.symbols):
        above = symbols.symbols[symbol.parent].qualname if symbol.parent >= 0 else ""
        name = symbol.qualname[len(above) + 1 :] if above else symbol.qualname
        members.setdefault(symbol.parent, {}).setdefault(name, []).append(index)
    imports: dict[int, dict[str, list[Import]]] = {}
    exports: dict[str, list[Import]] = {}
    stars = []
    for item in symbols.imports:
        if item.name == "*" and item.alias in {"*", ""}:
            stars.append(item)
        elif item.exported:
            exports.setdefault(item.alias, []).append(item)
        else:
            imports.setdefault(item.scope, {}).setdefault(item.alias, []).append(item)
    return FileView(symbols, members, imports, exports, tuple(stars))

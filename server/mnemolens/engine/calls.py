"""Who calls whom, for whoever asks about one symbol after another.

Owns the calls of each file by caller and by name, made when they are first asked for and again once the
file says something else. What a call means is `codegraph.resolve`'s, each time anew: other files matter, too.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.resolve import resolve_call
from mnemolens.core.symbols import Call, FileSymbols, SymbolKey

MAX_FILES: Final = 400
"""Files that are remembered; one more, and the one that was read first is forgotten."""


class _Calls(NamedTuple):
    symbols: FileSymbols
    by_caller: dict[int, list[Call]]
    by_name: dict[str, list[Call]]
    aliases: dict[str, list[str]]  # name -> what it is imported as here


class CallTables:
    """The calls of one folder."""

    def __init__(self, index: CodeIndex) -> None:
        self._index = index
        self._files: dict[str, _Calls] = {}

    def called(self, key: SymbolKey) -> list[SymbolKey]:
        """What a symbol's own text calls, as far as rules find it, each once; not itself."""
        at = self._index.position_of(key) if key.qualname else -1
        found: dict[SymbolKey, None] = {}
        for call in () if at is None else self._of(key.file).by_caller.get(at, ()):
            target = resolve_call(self._index, key.file, call)
            if target is not None and target.key != key:
                found[target.key] = None
        return list(found)

    def callers(self, key: SymbolKey) -> list[SymbolKey]:
        """Who calls a symbol, each once."""
        found: dict[SymbolKey, None] = {}
        for file, call in self._named(key.name):
            caller = self._index.key_at(file, call.caller)
            if caller in found or caller == key:
                continue
            target = resolve_call(self._index, file, call)
            if target is not None and target.key == key:
                found[caller] = None
        return list(found)

    def users(self, name: str, most: int) -> int:
        """How many symbols call something of that name, counted up to a little more than `most`."""
        files = self._index.users_of(name)
        if len(files) > most:
            return len(files)
        count = 0
        for file in files:
            calls = self._of(file)
            for alias in (name, *calls.aliases.get(name, ())):
                count += len(calls.by_name.get(alias, ()))
            if count > most:
                break
        return count

    def _named(self, name: str) -> Iterator[tuple[str, Call]]:
        for file in self._index.users_of(name):
            calls = self._of(file)
            for alias in dict.fromkeys((name, *calls.aliases.get(name, ()))):
                for call in calls.by_name.get(alias, ()):
                    yield file, call

    def _of(self, file: str) -> _Calls:
        symbols = self._index.get(file)
        known = self._files.get(file)
        if known is not None and known.symbols is symbols:
            return known
        if symbols is None:
            self._files.pop(file, None)
            return _NONE
        if len(self._files) >= MAX_FILES and known is None:
            del self._files[next(iter(self._files))]
        made = self._files[file] = _read(symbols)
        return made


def _read(symbols: FileSymbols) -> _Calls:
    by_caller: dict[int, list[Call]] = {}
    by_name: dict[str, list[Call]] = {}
    aliases: dict[str, list[str]] = {}
    for call in symbols.calls:
        by_caller.setdefault(call.caller, []).append(call)
        by_name.setdefault(call.name, []).append(call)
    for item in symbols.imports:
        if item.name is not None and item.alias != item.name:
            aliases.setdefault(item.name, []).append(item.alias)
    return _Calls(symbols, by_caller, by_name, aliases)


_NONE: Final = _read(FileSymbols(""))

"""A look at only that code which some memories can be on, for a process that answers one question and ends.

Finds which memories may have to do with a file, and which files may have to do with some memories; what the
index then says of *those memories* is what it would say of them with every file read. It places and links
nothing itself: `links.py` does, as ever.
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Anchor, CodeState, Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.code import Code
from mnemolens.engine.indexer import Indexer
from mnemolens.engine.loading import Loaded, Only
from mnemolens.engine.requests import CaptureRequest
from mnemolens.linking import names_in, names_in_metadata, names_of_file
from mnemolens.store.merge import MergedState

MAX_SOUGHT = 64
"""More names and hashes than this cost more to look for than all files cost to decode."""


class Glance:
    """Looks at code on behalf of some memories."""

    def __init__(self, state: MergedState, code: Code) -> None:
        self._state = state
        self._code = code

    def near(self, file: str) -> set[str]:
        """The memories that may be on something in the file: known there, alike, or naming what it defines.

        Raises:
            InvalidArgument: there is no such file.
        """
        self._code.target(file, None)
        symbols = self._code.index.get(file)
        defined = symbols.symbols if symbols is not None else ()
        hashes = {value for symbol in defined for value in (symbol.full_hash, symbol.body_hash) if value}
        names = {symbol.name for symbol in defined} | names_of_file(file)
        found = set()
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is None:
                continue
            known = chain.from_iterable(map(_states, self._state.anchors_of(memory_id)))
            if any(
                state.key.file == file or state.full_hash in hashes or state.body_hash in hashes
                for state in known
            ) or not names.isdisjoint(_names(memory)):
                found.add(memory_id)
        return found

    def find(self, file: str, name: str) -> SymbolKey:
        """The symbol of that name in the file; its last parts are enough where only one ends with them.

        Args:
            file: which.
            name: `Payment.charge`, `charge`, `Payment.charge#1` for the second of that name.

        Raises:
            InvalidArgument: there is no such file or symbol, or there are several; the message names them.
        """
        self._code.target(file, None)
        keys = self._code.index.keys_of(file)
        qualname, mark, ordinal = name.rpartition("#")
        if not mark:
            qualname, ordinal = name, "0"
        if mark and not ordinal.isdecimal():
            raise InvalidArgument("at", f"{name!r} is no name of a symbol; a number stands after #")
        exact = [key for key in keys if (key.qualname, key.ordinal) == (qualname, int(ordinal))]
        if exact:
            return exact[0]
        alike = [key for key in keys if f".{key.qualname}".endswith(f".{qualname}")]
        alike = [key for key in alike if key.ordinal == int(ordinal)]
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise InvalidArgument("at", f"{name!r} may be {_either(alike)} of {file}; write one of them")
        near = get_close_matches(qualname, sorted({key.qualname for key in keys}), n=3, cutoff=0.5)
        hint = f"; there is {', '.join(near)}" if near else ""
        raise InvalidArgument("at", f"no {name!r} in {file}{hint}")

    def read(
        self,
        indexer: Indexer,
        memories: Iterable[Memory],
        files: Iterable[str] = (),
        draft: CaptureRequest | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Puts into the index all that these memories can be on; other files stand in it without symbols.

        Args:
            indexer: reads the files.
            memories: which.
            files: further files whose symbols are wanted.
            draft: a memory that is about to be stored.
            on_progress: told (files done, files in all).
        """
        index = self._code.index
        wanted, names, hashes = set(files), set[str](), set[str]()
        for memory in memories:
            sought = self._sought(memory)
            wanted |= sought.files
            names |= sought.names
            hashes |= sought.hashes
        if draft is not None:
            names |= names_in(f"{draft.title or ''}\n{draft.content}") | names_in_metadata(draft.metadata)
        for file in wanted - set(index.files()):
            if self._code.has_file(file):
                self._code.target(file, None)
        read = {file: symbols for file in index.files() if (symbols := index.get(file)) is not None}
        parts = tuple(part.encode("utf-8", "surrogatepass") for part in sorted(names | hashes))
        only = Only(frozenset(wanted | set(read)), parts) if len(parts) <= MAX_SOUGHT else None

        def put(batch: Sequence[Loaded]) -> None:
            for file, symbols in batch:
                index.put(file, symbols)

        for file in read:
            index.remove(file)
        indexer.run_blocking(put, on_progress, only=only)
        for file, symbols in read.items():  # what lies in an ignored folder is there when it is asked for
            if file not in index:
                index.put(file, symbols)
        self._code.complete = True

    def _sought(self, memory: Memory) -> "_Sought":
        anchors = self._state.anchors_of(memory.id)
        states = list(chain.from_iterable(map(_states, anchors)))
        return _Sought(
            files=frozenset(state.key.file for state in states),
            names=frozenset(_names(memory)),
            hashes=frozenset(
                value for state in states for value in (state.full_hash, state.body_hash) if value
            ),
        )


class _Sought(NamedTuple):
    files: frozenset[str]
    names: frozenset[str]
    hashes: frozenset[str]


def _either(keys: list[SymbolKey]) -> str:
    names = [key.id.partition("::")[2] for key in keys[:5]]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _states(anchor: Anchor) -> Iterable[CodeState]:
    return (anchor.birth.state, *anchor.aliases, *anchor.confirmations)


def _names(memory: Memory) -> frozenset[str]:
    return names_in(f"{memory.title}\n{memory.content}") | names_in_metadata(memory.metadata)

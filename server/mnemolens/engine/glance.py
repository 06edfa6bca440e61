"""A look at only that code which some memories can be on, for a process that answers one question and ends.

Finds which memories may have to do with a file, and which files may have to do with some memories; what the
index then says of *those memories* is what it would say of them with every file read. It places and links
nothing itself: `links.py` does, as ever.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import Anchor, CodeState, Memory
from mnemolens.core.symbols import FileSymbols, Position, SymbolKey
from mnemolens.engine.branches import Branches
from mnemolens.engine.code import Code
from mnemolens.engine.last_session import LastSession
from mnemolens.engine.links import Links
from mnemolens.engine.loading import Loaded, Only
from mnemolens.engine.placing import SHORT_BODY
from mnemolens.engine.recall import Recall
from mnemolens.engine.refreshing import Refreshing
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.sources import Sources
from mnemolens.linking import names_in, names_in_metadata, names_of_file
from mnemolens.store.merge import MergedState

MAX_SOUGHT = 300
"""More names and hashes than this cost more to look for than all files cost to decode."""
MAX_CALLERS = 50
"""Files that are read, at some 0.5 ms each, only to see whether they call what is asked about."""

_ANY = ""


class Glance:
    """Looks at code on behalf of some memories."""

    def __init__(
        self,
        state: MergedState,
        code: Code,
        links: Links,
        sources: Sources,
        last_session: LastSession,
        recall: Recall,
        branches: Branches,
        refreshing: Refreshing,
    ) -> None:
        self._state = state
        self._code = code
        self._links = links
        self._sources = sources
        self._last_session = last_session
        self._recall = recall
        self._branches = branches
        self._refreshing = refreshing

    def look(
        self,
        memory_ids: Iterable[str] = (),
        *,
        near: Iterable[str] = (),
        words: str = "",
        draft: CaptureRequest | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Instead of an index: reads only the code that matters for some memories, and derives only them.

        Args:
            memory_ids: these memories,
            near: and those that may be on something in these files,
            words: and those that hold any of these words,
            draft: and one that is about to be captured.
            on_progress: told (files done, files in all).

        Raises:
            InvalidArgument: one of `near` is not there.
        """
        wanted = set(memory_ids)
        files = tuple(near)
        for file in files:
            wanted |= self._near(file)
        if words:
            wanted |= self._recall.matching(words)
        found = [memory for one in sorted(wanted) if (memory := self._state.memory(one)) is not None]
        self._sources.remember_last_session()
        self._read(found, files, draft, on_progress)
        self._last_session.take_over()
        if (found or files) and self._sources.may_have_moved():
            self._sources.survey(on_progress)  # what moved may be found anywhere
            self._sources.follow_last_session_now()
            wanted.update(one for file in files for one in self._links.carried_into(file))
        self._branches.look_blocking(self._code.origin)
        self._refreshing.refresh(wanted)

    def find(self, file: str, name: str) -> Position:
        """Where the symbol of that name stands in the file.

        Its last parts are enough where only one ends with them.

        Args:
            file: which.
            name: `Payment.charge`, `charge`, `Payment.charge#1` for the second of that name.

        Raises:
            InvalidArgument: there is no such file or symbol, or there are several; the message names them.
        """
        range_ = self._code.name_range(self._named(file, name))
        assert range_ is not None
        return range_.start

    def _named(self, file: str, name: str) -> SymbolKey:
        self._know(file)
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

    def _near(self, file: str) -> set[str]:
        """The memories that may be on something in the file, on what it calls or imports, or on who calls it.

        On something in it are those known there, alike, or naming what it defines. Who calls it is looked for
        only where few files have memories.

        Raises:
            InvalidArgument: there is no such file.
        """
        self._know(file)
        symbols = self._code.index.get(file)
        defined = symbols.symbols if symbols is not None else ()
        alike: dict[str, set[str]] = defaultdict(set)
        for symbol in defined:
            # What is shorter says little: an anchor is found there only under its own name (`placing.py`).
            name = symbol.name if symbol.token_count < SHORT_BODY else _ANY
            for value in (symbol.full_hash, symbol.body_hash):
                alike[value].add(name)
        names = {symbol.name for symbol in defined} | names_of_file(file)
        used = _used_by(symbols) if symbols is not None else frozenset()
        callers = self._calling(file, frozenset(symbol.name for symbol in defined))
        found = set()
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is None:
                continue
            anchors = self._state.anchors_of(memory_id)
            named = _names_of(memory.title, memory.content, memory.metadata)
            if (
                any(_may_be_in(file, alike, anchor) for anchor in anchors)
                or names & named
                or any(
                    not used.isdisjoint(_parts(state.key)) or state.key.file in callers
                    for anchor in anchors
                    for state in _states(anchor)
                )
            ):
                found.add(memory_id)
        return found

    def _calling(self, file: str, names: frozenset[str]) -> frozenset[str]:
        """The other files with anchors that may call something of these names; none where they are many."""
        anchors = chain.from_iterable(map(self._state.anchors_of, self._state.memories()))
        others = {state.key.file for anchor in anchors for state in _states(anchor)} - {file}
        if not names or len(others) > MAX_CALLERS:
            return frozenset()
        found = set()
        for other in others:
            known = other in self._code.index
            symbols = self._code.index.get(other) if known else self._sources.indexer.look(other)
            if symbols is not None and not names.isdisjoint(_used_by(symbols)):
                found.add(other)
        return frozenset(found)

    def _read(
        self,
        memories: Iterable[Memory],
        files: Iterable[str] = (),
        draft: CaptureRequest | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Puts into the index all that these memories can be on; other files stand in it without symbols.

        Args:
            memories: which.
            files: further files whose symbols are wanted, be they ignored.
            draft: a memory that is about to be stored.
            on_progress: told (files done, files in all).

        Raises:
            InvalidArgument: one of `files` is not there.
        """
        asked = frozenset(files)
        wanted = set(asked)
        sought = set() if draft is None else _names_of(draft.title, draft.content, draft.metadata)
        for memory in memories:
            sought |= _names_of(memory.title, memory.content, memory.metadata)
            for state in chain.from_iterable(map(_states, self._state.anchors_of(memory.id))):
                wanted.add(state.key.file)
                sought.update(_hashes(state))
        if sought:  # else there is nothing to look for elsewhere
            self._look_for(wanted, sought, on_progress)
        for file in sorted(asked):
            self._know(file)
        self._code.complete = True

    def _look_for(
        self,
        files: set[str],
        sought: set[str],
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        index = self._code.index
        known = {file: symbols for file in index.files() if (symbols := index.get(file)) is not None}
        for file in known:
            index.remove(file)

        def put(batch: Sequence[Loaded]) -> None:
            for file, symbols in batch:
                index.put(file, symbols)

        few = len(sought) <= MAX_SOUGHT
        only = Only(frozenset(files | known.keys()), tuple(sorted(sought))) if few else None
        self._sources.indexer.run_blocking(put, on_progress, only=only, passing=True)
        for file, symbols in known.items():  # what lies in an ignored folder is there when it is asked for
            if file not in index:
                index.put(file, symbols)

    def _know(self, file: str) -> None:
        """Puts one file's symbols into the index; also those of one that is ignored.

        Raises:
            InvalidArgument: there is no such file.
        """
        self._code.target(file, None)
        symbols = None if file in self._code.index else self._sources.indexer.look(file)
        if symbols is not None:
            self._code.index.put(file, symbols)


def _either(keys: list[SymbolKey]) -> str:
    names = [key.id.partition("::")[2] for key in keys[:5]]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _used_by(symbols: FileSymbols) -> frozenset[str]:
    """Names that the file imports, or calls on what may come from elsewhere: bare, on an import, on self."""
    owners = {"", "self", "cls", "this", "super()", *(one.alias for one in symbols.imports)}
    called = (
        one.name for one in symbols.calls if one.receiver is not None and _owner(one.receiver) in owners
    )
    return frozenset(called).union(one.name for one in symbols.imports if one.name)


def _parts(key: SymbolKey) -> list[str]:
    """Its name, and those of the classes that hold it: who imports a class may call what is in it."""
    return key.qualname.split(".") if key.qualname else []


def _owner(receiver: str) -> str:
    return receiver.partition(".")[0]


def _may_be_in(file: str, alike: Mapping[str, set[str]], anchor: Anchor) -> bool:
    """Whether the anchor was known in the file, or has a hash of something there.

    Args:
        file: which.
        alike: {hash: names under which an anchor may be found there by it}.
        anchor: which.
    """
    names = {_ANY, anchor.birth.state.key.name}
    return any(
        state.key.file == file or any(names & alike.get(value, set()) for value in _hashes(state))
        for state in _states(anchor)
    )


def _hashes(state: CodeState) -> Iterable[str]:
    return (value for value in (state.full_hash, state.body_hash) if value)


def _states(anchor: Anchor) -> Iterable[CodeState]:
    return (anchor.birth.state, *anchor.aliases, *anchor.confirmations)


def _names_of(title: str | None, content: str, metadata: Mapping[str, Any]) -> set[str]:
    """What a memory's text and metadata name."""
    return {*names_in(title or ""), *names_in(content), *names_in_metadata(metadata)}

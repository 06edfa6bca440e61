"""Where the tracker looks: the definitions that are there now, by key, hash, name and likeness.

`Listed` holds a sequence, `Indexed` asks a `CodeIndex` and makes values only of what is asked for, so that a
handful of old definitions can be looked for among a hundred thousand.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.track_known import known_symbol
from mnemolens.codegraph.track_values import Grams, Known
from mnemolens.core.symbols import SymbolKey

_MOST_LOOKED_AT = 64
"""Definitions of a `CodeIndex` whose grams are asked for on behalf of one old definition."""

_RAREST = 32
"""3-grams of an old definition by which candidates are found, the rarest of those that stand anywhere."""

_MOST_ALIKE = 16
"""Candidates that are compared in full."""

_SIZE_RATIO = 3.0
"""A definition this much longer or shorter can't be half alike."""


Finder = Callable[[Known], Iterable[Known]]
"""Those that an old definition may have become; only their likeness can tell."""


class _ByGram:
    """Definitions by what they share with an old one: rare 3-grams, the name, or the place."""

    def __init__(self, definitions: Iterable[Known]) -> None:
        self._with_gram: dict[int, list[Known]] = defaultdict(list)
        self._named: dict[str, list[Known]] = defaultdict(list)
        self._between: dict[tuple[str, tuple[str, str]], list[Known]] = defaultdict(list)
        for known in definitions:
            self._named[known.key.name].append(known)
            self._between[known.key.file, known.neighbours].append(known)
            for gram in known.grams():
                self._with_gram[gram].append(known)

    def __call__(self, old: Known) -> Iterable[Known]:
        """The likeliest, by key."""
        shelves = [shelf for gram in old.grams() if (shelf := self._with_gram.get(gram)) is not None]
        shelves.sort(key=len)
        shared = Counter(known.key for shelf in shelves[:_RAREST] for known in shelf)
        found = {known.key: known for shelf in shelves[:_RAREST] for known in shelf}
        likely = [found[key] for key, _ in shared.most_common(_MOST_ALIKE)]
        likely += self._named.get(old.key.name, ())[:_MOST_ALIKE]
        likely += self._between.get((old.key.file, old.neighbours), ())
        return [known for _, known in sorted({known.key: known for known in likely}.items())]


class Listed:
    """A sequence of definitions, each key once."""

    def __init__(self, definitions: Iterable[Known]) -> None:
        self._at = {known.key: known for known in sorted(definitions, key=lambda known: known.key)}
        self._homonyms: dict[tuple[str, str], list[Known]] = defaultdict(list)
        self._full: dict[str, list[Known]] = defaultdict(list)
        self._body: dict[str, list[Known]] = defaultdict(list)
        for known in self._at.values():
            self._homonyms[known.key.file, known.key.qualname].append(known)
            if known.full_hash:
                self._full[known.full_hash].append(known)
            if known.body_hash:
                self._body[known.body_hash].append(known)

    def get(self, key: SymbolKey) -> Known | None:
        """The definition of that key."""
        return self._at.get(key)

    def homonyms(self, key: SymbolKey) -> Sequence[Known]:
        """All of the same file and qualname, by ordinal."""
        return self._homonyms.get((key.file, key.qualname), ())

    def with_full(self, full_hash: str) -> Iterable[Known]:
        """All of that full hash."""
        return self._full.get(full_hash, ())

    def with_body(self, body_hash: str) -> Iterable[Known]:
        """All of that body hash."""
        return self._body.get(body_hash, ())

    def finder(self, free: Callable[[SymbolKey], bool]) -> "Finder":
        """Finds what an old definition may have become, among those that are free now."""
        return _ByGram([known for key, known in self._at.items() if free(key)])

    def everything(self) -> Iterable[Known]:
        """All of them, by key."""
        return self._at.values()


class Indexed:
    """The definitions of a `CodeIndex`.

    Args:
        index: all files' symbols.
        grams: a symbol's token 3-grams now; asked for anchored symbols' candidates only.
    """

    def __init__(self, index: CodeIndex, grams: Callable[[SymbolKey], Grams]) -> None:
        self._index = index
        self._grams = grams

    def get(self, key: SymbolKey) -> Known | None:
        """The definition of that key."""
        if not key.qualname:
            return Known(key, "file") if key.file in self._index else None
        symbols, at = self._index.get(key.file), self._index.position_of(key)
        if symbols is None or at is None:
            return None
        return known_symbol(key.file, symbols, at, lambda: self._grams(key))

    def homonyms(self, key: SymbolKey) -> Sequence[Known]:
        """All of the same file and qualname, by ordinal."""
        found: list[Known] = []
        while (known := self.get(key._replace(ordinal=len(found)))) is not None:
            found.append(known)
            if not key.qualname:
                break
        return found

    def with_full(self, full_hash: str) -> Iterable[Known]:
        """All of that full hash."""
        return self._all(self._index.keys_with_full(full_hash))

    def with_body(self, body_hash: str) -> Iterable[Known]:
        """All of that body hash."""
        return self._all(self._index.keys_with_body(body_hash))

    def finder(self, free: Callable[[SymbolKey], bool]) -> "Finder":  # noqa: ARG002
        """None yet."""
        return lambda _: ()

    def everything(self) -> Iterable[Known]:
        """None: an index is only asked."""
        return ()

    def _all(self, keys: Iterable[SymbolKey]) -> Iterator[Known]:
        return (known for key in sorted(keys) if (known := self.get(key)) is not None)


Pool = Listed | Indexed
"""Where the tracker can look."""

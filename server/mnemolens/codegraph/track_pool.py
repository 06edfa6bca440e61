"""Where the tracker looks: the definitions that are there now, by key, hash, name and likeness.

`Listed` holds a sequence, `Indexed` asks a `CodeIndex` and makes values only of what is asked for, so that a
handful of old definitions can be looked for among a hundred thousand.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.track_known import known_symbol
from mnemolens.codegraph.track_values import Grams, Known
from mnemolens.core.symbols import SymbolKey

_MOST_LOOKED_AT = 64
"""Definitions of a `CodeIndex` whose grams are asked for on behalf of one old definition."""

_RAREST = 32
"""3-grams of an old definition by which candidates are found, the rarest of those that stand anywhere."""

_MOST_COUNTED = 600
"""Times that definitions are counted for sharing a 3-gram; common ones tell little and cost most."""

_ENOUGH_GRAMS = 64
"""3-grams of a new definition under which it is filed, about."""

_MOST_ALIKE = 16
"""Candidates that are compared in full."""

_MOST_LOOKED_THROUGH = 5_000
"""Definitions in changed files whose grams are asked for."""

_MOST_AROUND = 16
"""Definitions of about its length that another must stand out from."""

_SIZE_RATIO = 3
"""A definition this much longer or shorter can't be half alike."""


Finder = Callable[[Known, Collection[str]], Iterable[Known]]
"""Those that an old definition may have become, in these files if in any; only their likeness can tell."""


class _ByGram:
    """Definitions by what they share with an old one: rare 3-grams, the name, or the place."""

    def __init__(self, definitions: Iterable[Known]) -> None:
        self._definitions = sorted(definitions, key=lambda known: known.key)
        self._with_gram: dict[int, int | list[int]] = {}  # most stand in one, and a list is dear
        self._named: dict[str, list[int]] = defaultdict(list)
        self._between: dict[tuple[str, tuple[str, str]], list[int]] = defaultdict(list)
        for at, known in enumerate(self._definitions):
            self._named[known.key.name].append(at)
            self._between[known.key.file, known.neighbours].append(at)
            grams = known.grams()
            mask = _mask(len(grams))
            for gram in grams:
                if not gram & mask:
                    shelf = self._with_gram.setdefault(gram, at)
                    if isinstance(shelf, list):
                        shelf.append(at)
                    elif shelf != at:
                        self._with_gram[gram] = [shelf, at]

    def __call__(self, old: Known, _files: Collection[str]) -> Iterable[Known]:
        """The likeliest, by key."""
        found = [shelf for gram in old.grams() if (shelf := self._with_gram.get(gram)) is not None]
        shelves = [shelf if isinstance(shelf, list) else [shelf] for shelf in found]
        shelves.sort(key=len)
        shared: Counter[int] = Counter()
        room = _MOST_COUNTED
        for shelf in shelves[:_RAREST]:
            room -= len(shelf)
            if room < 0 and shared:
                break
            shared.update(shelf)
        likely = set(sorted(shared, key=lambda at: (-shared[at], at))[:_MOST_ALIKE])
        likely.update(self._named.get(old.key.name, ())[:_MOST_ALIKE])
        if any(old.neighbours):
            likely.update(self._between.get((old.key.file, old.neighbours), ())[:_MOST_ALIKE])
        return [self._definitions[at] for at in sorted(likely)]


def _mask(count: int) -> int:
    """Of many 3-grams only those are filed whose last bits are zero: a fair sample, as they are hashes."""
    mask = 0
    while count > _ENOUGH_GRAMS:
        mask = mask * 2 + 1
        count //= 2
    return mask


class Listed:
    """A sequence of definitions, each key once; those of a file in text order."""

    def __init__(self, definitions: Iterable[Known]) -> None:
        given = list(definitions)
        self._at = {known.key: known for known in sorted(given, key=lambda known: known.key)}
        self._texts: dict[str, list[SymbolKey]] = defaultdict(list)
        self._homonyms: dict[tuple[str, str], list[Known]] = defaultdict(list)
        self._named: dict[str, list[Known]] = defaultdict(list)
        self._folders: dict[str, list[Known]] = defaultdict(list)
        self._full: dict[str, list[Known]] = defaultdict(list)
        self._body: dict[str, list[Known]] = defaultdict(list)
        self._lengths: dict[str, list[int]] = {}
        self._whole: _ByGram | None = None
        for known in given:
            self._texts[known.key.file].append(known.key)
        for known in self._at.values():
            self._homonyms[known.key.file, known.key.qualname].append(known)
            self._named[known.key.name].append(known)
            self._folders[known.key.file.rpartition("/")[0]].append(known)
            if known.full_hash:
                self._full[known.full_hash].append(known)
            if known.body_hash:
                self._body[known.body_hash].append(known)

    def get(self, key: SymbolKey) -> Known | None:
        """The definition of that key."""
        return self._at.get(key)

    def in_text(self, file: str) -> Sequence[SymbolKey]:
        """The definitions of a file, in text order."""
        return self._texts.get(file, ())

    def homonyms(self, key: SymbolKey) -> Sequence[Known]:
        """All of the same file and qualname, by ordinal."""
        return self._homonyms.get((key.file, key.qualname), ())

    def named(self, name: str) -> Iterable[Known]:
        """All of that own name."""
        return self._named.get(name, ())

    def with_full(self, full_hash: str) -> Iterable[Known]:
        """All of that full hash."""
        return self._full.get(full_hash, ())

    def with_body(self, body_hash: str) -> Iterable[Known]:
        """All of that body hash."""
        return self._body.get(body_hash, ())

    def finder(self, free: Callable[[SymbolKey], bool]) -> "Finder":
        """Finds what an old definition may have become, among those that are free now."""
        found = [known for key, known in self._at.items() if free(key)]
        if len(found) < len(self._at):
            return _ByGram(found)
        if self._whole is None:  # as good for the next one that is looked for alone
            self._whole = _ByGram(found)
        return self._whole

    def around(self, old: Known, files: Collection[str]) -> Iterator[Known]:
        """Some in the folders of these files that are about as long as `old`."""
        for folder in sorted({file.rpartition("/")[0] for file in files}):
            here = self._folders.get(folder, [])
            lengths = self._lengths.get(folder)
            if lengths is None:
                here.sort(key=_length)
                lengths = self._lengths[folder] = [known.token_count for known in here]
            at = bisect_left(lengths, old.token_count)
            near = here[max(0, at - _MOST_AROUND // 2) : at + _MOST_AROUND // 2]
            yield from (known for known in near if _half_as_long(old, known))

    def everything(self) -> Iterable[Known]:
        """All of them, by key."""
        return self._at.values()


class Indexed:
    """The definitions of a `CodeIndex`."""

    def __init__(
        self, index: CodeIndex, grams: Callable[[SymbolKey], Grams], changed: Iterable[str] = ()
    ) -> None:
        """Looks in an index.

        Args:
            index: all files' symbols.
            grams: a symbol's token 3-grams now; asked for where only likeness can tell, of candidates only.
            changed: files that are new or other than when the old definitions were there: what is in these
                is looked through for what stands nowhere under its name. Without them only the old file,
                what it has become, and equal names are.
        """
        self._index = index
        self._grams = grams
        self._changed = tuple(changed)

    def get(self, key: SymbolKey) -> Known | None:
        """The definition of that key."""
        if not key.qualname:
            return Known(key, "file") if key.file in self._index else None
        symbols, at = self._index.get(key.file), self._index.position_of(key)
        if symbols is None or at is None:
            return None
        return known_symbol(key.file, symbols, at, lambda: self._grams(key))

    def in_text(self, file: str) -> Sequence[SymbolKey]:
        """The definitions of a file, in text order."""
        return self._index.keys_of(file)

    def homonyms(self, key: SymbolKey) -> Sequence[Known]:
        """All of the same file and qualname, by ordinal."""
        found: list[Known] = []
        while (known := self.get(key._replace(ordinal=len(found)))) is not None:
            found.append(known)
            if not key.qualname:
                break
        return found

    def named(self, name: str) -> Iterable[Known]:
        """All of that own name."""
        return self._all(self._index.keys_named(name))

    def with_full(self, full_hash: str) -> Iterable[Known]:
        """All of that full hash."""
        return self._all(self._index.keys_with_full(full_hash))

    def with_body(self, body_hash: str) -> Iterable[Known]:
        """All of that body hash."""
        return self._all(self._index.keys_with_body(body_hash))

    def finder(self, free: Callable[[SymbolKey], bool]) -> "Finder":
        """Finds what an old definition may have become, among those that are free now."""
        keys = [key for file in self._changed for key in self._index.keys_of(file) if free(key)]
        by_gram = _ByGram(self._all(keys[:_MOST_LOOKED_THROUGH]))

        def find(old: Known, files: Collection[str]) -> Iterable[Known]:
            near = {key for file in files for key in self._index.keys_of(file)}
            near.update(self._index.keys_named(old.key.name))
            likely = [
                known for known in self._all(key for key in near if free(key)) if _half_as_long(old, known)
            ]
            likely.sort(
                key=lambda known: (known.key.name != old.key.name, _difference(old, known), known.key)
            )
            found = {known.key: known for known in (*likely[:_MOST_LOOKED_AT], *by_gram(old, files))}
            return [known for _, known in sorted(found.items())]

        return find

    def around(self, old: Known, files: Collection[str]) -> Iterator[Known]:
        """Some in these files that are about as long as `old`."""
        for file in sorted(set(files)):
            alike = [known for known in self._all(self._index.keys_of(file)) if _half_as_long(old, known)]
            alike.sort(key=lambda known: (_difference(old, known), known.key))
            yield from alike[:_MOST_AROUND]

    def everything(self) -> Iterable[Known]:
        """None: an index is only asked."""
        return ()

    def _all(self, keys: Iterable[SymbolKey]) -> Iterator[Known]:
        return (known for key in sorted(keys) if (known := self.get(key)) is not None)


def _length(known: Known) -> int:
    return known.token_count


def _difference(old: Known, new: Known) -> int:
    return abs(old.token_count - new.token_count)


def _half_as_long(old: Known, new: Known) -> bool:
    """Whether the lengths allow for being half alike."""
    shorter, longer = sorted((old.token_count, new.token_count))
    return longer <= _SIZE_RATIO * shorter


Pool = Listed | Indexed
"""Where the tracker can look."""

"""Follows definitions across change: which of the new ones each old one has become, if any.

Pure and blind to languages. All old definitions are matched against all new ones at once, one to one, in
stages: the same key, an equal hash, the parent's fate, likeness. What is not sure is said to be so; a note is
never moved by a guess. A copy never takes the place of its original, since that is matched before it.

Where anchors are and what verdicts follow is decided by whoever asks.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator

from mnemolens.codegraph.track_known import known_anchor, known_file, known_symbol
from mnemolens.codegraph.track_pool import Indexed, Listed, Pool
from mnemolens.codegraph.track_values import (
    LIKELY,
    MAX_CANDIDATES,
    NO_GRAMS,
    SURE,
    Candidate,
    Fate,
    Grams,
    Known,
    Match,
    Stage,
)
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey

SHORT_BODY = 12
"""Tokens below which an equal body says little: many getters look the same."""

SCORES: dict[Stage, float] = {"same": 1.0, "full_hash": 0.98, "body_hash": 0.9}

_TOKEN = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")


def track(
    old: Iterable[Known],
    new: Iterable[Known] | Pool,
    occupied: Container[SymbolKey] = frozenset(),
) -> tuple[Match, ...]:
    """What became of each old definition.

    Args:
        old: definitions that once stood side by side, each key once. Records of different times, as two
            anchors' that were born on different branches, may be the same code: follow these one by one.
        new: what is there now: all definitions, or a `Pool` to look in. A `Pool` can be used again.
        occupied: keys of new definitions that stood there beside the old ones: copies, never moved to.

    Returns:
        A match for each old one, in the order given; then for each new one without an old, by key, where
        `new` was given whole.

    Raises:
        ValueError: a key stands in `old` twice.
    """
    pool = new if isinstance(new, Listed | Indexed) else Listed(new)
    tracking = _Tracking(list(old), pool, occupied)
    tracking.run()
    return tracking.matches()


class _Tracking:
    """One run: what was found so far.

    Attributes:
        found: {old key: (new one, stage, score)}.
        taken: {new key: old key}.
    """

    def __init__(self, old: list[Known], pool: Pool, occupied: Container[SymbolKey]) -> None:
        self.old = {known.key: known for known in old}
        if len(self.old) < len(old):
            raise ValueError("a key stands in `old` twice")
        self.pool = pool
        self.occupied = occupied
        self.found: dict[SymbolKey, tuple[Known, Stage, float]] = {}
        self.taken: dict[SymbolKey, SymbolKey] = {}

    def run(self) -> None:
        """All stages."""
        self.by_key()
        self.by_hash("full_hash")
        self.by_hash("body_hash")

    def matches(self) -> tuple[Match, ...]:
        """What became of everything."""
        fates = [self.match(old) for old in self.old.values()]
        added = [Match("added", None, new.key) for new in self.pool.everything() if new.key not in self.taken]
        return (*fates, *added)

    def match(self, old: Known) -> Match:
        """What became of one."""
        found = self.found.get(old.key)
        if found is None:
            return Match("lost", old.key, None)
        new, stage, score = found
        return Match(_fate(old.key, new.key), old.key, new.key, stage, score, _changed(old, new))

    def by_key(self) -> None:
        """Each that is where it was."""
        for key in sorted(self.old):
            new = self.pool.get(key)
            if new is not None and self.fits(self.old[key], new):
                self.take(self.old[key], new, "same", SCORES["same"])

    def by_hash(self, stage: Stage) -> None:
        """Each whose text stands elsewhere, unless several are equally near."""
        pairs = [
            (_agreement(old, new), old, new)
            for old in self.missing()
            for new in self.with_hash(old, stage)
            if self.fits(old, new) and _says_enough(old, new)
        ]
        best: dict[SymbolKey, list[tuple[int, Known]]] = defaultdict(list)
        for agreement, old, new in sorted(pairs, key=lambda pair: (-pair[0], pair[1].key, pair[2].key)):
            if not best[old.key] or best[old.key][0][0] == agreement:
                best[old.key].append((agreement, new))
        for key, news in sorted(best.items(), key=lambda item: (-item[1][0][0], item[0])):
            free = [new for _, new in news if new.key not in self.taken]
            if len(free) == 1:
                self.take(self.old[key], free[0], stage, SCORES[stage])

    def with_hash(self, old: Known, stage: Stage) -> Iterable[Known]:
        """The new ones of the old one's hash."""
        own = old.full_hash if stage == "full_hash" else old.body_hash
        look_up = self.pool.with_full if stage == "full_hash" else self.pool.with_body
        found = {new.key: new for value in {own, *old.other_hashes} if value for new in look_up(value)}
        return found.values()

    def missing(self) -> Iterator[Known]:
        """The old ones that were not found yet, by key."""
        return (self.old[key] for key in sorted(self.old) if key not in self.found)

    def fits(self, old: Known, new: Known) -> bool:
        """Whether a new one may be an old one at all."""
        return (
            new.key not in self.taken
            and new.key not in old.refused
            and (new.key == old.key or new.key not in self.occupied)
            and _same_sort(old, new)
        )

    def take(self, old: Known, new: Known, stage: Stage, score: float) -> None:
        """The old one is the new one."""
        self.found[old.key] = (new, stage, score)
        self.taken[new.key] = old.key


def _same_sort(old: Known, new: Known) -> bool:
    """Both files, both of the sorts of class, or neither."""
    if "file" in {old.kind, new.kind}:
        return old.kind == new.kind
    return (old.kind in CLASS_KINDS) == (new.kind in CLASS_KINDS)


def _fate(old: SymbolKey, new: SymbolKey) -> Fate:
    if (old.file, old.qualname) == (new.file, new.qualname):
        return "kept"
    return "renamed" if old.file == new.file and old.name != new.name else "moved"


def _changed(old: Known, new: Known) -> bool:
    if old.full_hash and new.full_hash:
        return old.full_hash != new.full_hash
    return bool(old.body_hash and new.body_hash and old.body_hash != new.body_hash)


def _parent(key: SymbolKey) -> tuple[str, str]:
    return key.file, key.qualname.rpartition(".")[0]


def _agreement(old: Known, new: Known) -> int:
    """How well the places of two agree: name first, then file, then parent."""
    name = old.key.name == new.key.name
    return 4 * name + 2 * (old.key.file == new.key.file) + (_parent(old.key) == _parent(new.key))


def _says_enough(old: Known, new: Known) -> bool:
    """Whether an equal hash is enough: the body is long, or the place agrees."""
    if new.token_count - len(_TOKEN.findall(new.signature)) >= SHORT_BODY or old.key.name == new.key.name:
        return True
    beside = zip(old.neighbours, new.neighbours, strict=True)
    return _parent(old.key) == _parent(new.key) and any(then and then == now for then, now in beside)


__all__ = [
    "LIKELY",
    "MAX_CANDIDATES",
    "NO_GRAMS",
    "SURE",
    "Candidate",
    "Fate",
    "Grams",
    "Indexed",
    "Known",
    "Listed",
    "Match",
    "Pool",
    "Stage",
    "known_anchor",
    "known_file",
    "known_symbol",
    "track",
]

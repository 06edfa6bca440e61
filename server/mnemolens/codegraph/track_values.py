"""Values of the tracker: what is known of a definition on either side, and what became of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mnemolens.core.symbols import SymbolKey, SymbolKind

Fate = Literal["kept", "renamed", "moved", "ambiguous", "lost", "added"]
"""What became of a definition; one both renamed and moved is `moved`, an edited body is still `kept`."""

Stage = Literal["", "same", "full_hash", "body_hash", "parent", "similar"]
"""The rule that found it; "" where nothing did."""

Grams = frozenset[int]
"""Hashes of a definition's token 3-grams, as in its fingerprint; empty where they are not known."""

SURE = 0.75
"""Score from which a move is accepted without asking."""

LIKELY = 0.5
"""Score from which a definition is carried, to be confirmed by the user; below it is lost."""

MAX_CANDIDATES = 3

NO_GRAMS: Grams = frozenset()


def _unknown() -> Grams:
    return NO_GRAMS


def _none() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class Known:
    """One definition as an index or a birth record knows it; `kind` "file" and no qualname for a file.

    Attributes:
        signature: its head on one line, which tells how many of its tokens are the body's.
        token_count: tokens of the whole definition.
        neighbours: qualnames of the definitions of the same parent right before and after, "" at an end.
        other_hashes: of an old one, more full and body hashes that were confirmed to be it.
        refused: of an old one, places that the user said it is not at.
        grams: its token 3-grams, asked for where hashes don't decide. Empty means that they can't be had:
            such a definition is found by its key, hashes and parent only.
        calls: the names of what it calls; of an old one they may not be known.
    """

    key: SymbolKey
    kind: SymbolKind
    full_hash: str = ""
    body_hash: str = ""
    token_count: int = 0
    signature: str = ""
    neighbours: tuple[str, str] = ("", "")
    other_hashes: frozenset[str] = frozenset()
    refused: frozenset[SymbolKey] = frozenset()
    grams: Callable[[], Grams] = field(default=_unknown, compare=False, repr=False)
    calls: Callable[[], frozenset[str]] = field(default=_none, compare=False, repr=False)


class Candidate(NamedTuple):
    """A place where a definition may be, and how much speaks for it, 0..1."""

    key: SymbolKey
    score: float


@dataclass(frozen=True, slots=True)
class Match:
    """What became of one definition.

    Attributes:
        old: None for one that was `added`.
        new: None for one that is `ambiguous` or `lost`.
        score: 0..1; from `SURE` on it needs no question, from `LIKELY` on the user should confirm.
        changed: its text is another; comments, layout and its own name don't count.
        candidates: best first, at most three, of one that was not found.
    """

    fate: Fate
    old: SymbolKey | None
    new: SymbolKey | None
    stage: Stage = ""
    score: float = 0.0
    changed: bool = False
    candidates: tuple[Candidate, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether it was found, and surely enough to need no question."""
        return self.new is not None and self.score >= SURE

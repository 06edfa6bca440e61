"""An index of words in memory: which documents hold them, and how well each fits.

Owns terms, postings and scores. Documents have keys and named fields; what memories are it does not know.

Why not SQLite's FTS5: over 100,000 notes a query of three words took it 24 ms and one of twelve 74, and this
index a fraction of that (`tests/bench/search.py`); some Pythons come without it; and here forgiving a typo
needs no second table. Scores are BM25 over weighted fields, after Robertson and Zaragoza, "The Probabilistic
Relevance Framework: BM25 and Beyond" (2009). The usual length of a document is a constant, so that a score
depends on nothing but the document and how rare the words are.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, nlargest, nsmallest
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from mnemolens.core.long_texts import pieces
from mnemolens.search.typos import alike
from mnemolens.search.vocabulary import Vocabulary
from mnemolens.search.words import terms_of


class _Comparable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


K = TypeVar("K", bound=_Comparable)

SATURATION = 1.2
LENGTH_SHARE = 0.8
_FEW = 2_000
"""Documents found from which a very common word only adds to them, and finds no more."""
_COMMON = 0.05
"""Share of the documents from which a word counts as very common."""
_LONG = 200
"""Documents that hold a word, from which it pays to ask whether they can matter."""
_BEST = 64
"""Of more than so many best ones the least good is found too slowly."""
_NEARLY = 1 - 1e-9
"""Sums of the same numbers in another order differ by less."""
_MAX_EXPANDED = 32
"""Terms that the beginning of a word may stand for."""
_MOST_COMPARED = 20_000
"""Terms that begin so, of which the most frequent are looked for; 3 ms. Few projects have so many."""
_SHORT = 2
"""Letters up to which a beginning may stand for a quarter as many, as it is often typed on."""
_OF_BEGINNING = 0.8
_OF_TYPO = 0.7
"""How much of a hit is left where a word only begins so, or is spelt alike."""
_SHARED = 5
_OF_SHARED = 0.6
_SHORTENED = 3
_OF_SHORTENED = 0.3
_OF_SYNONYM = 0.5
"""The same for a loose search: of a word that begins with the same letters (`directory`, `directly`), that is
a beginning of the word, as names often are (`dir`), or that is used in its place (`folder`). Measured, and
told in `server/ARCHITECTURE.md`."""


class Wanted(NamedTuple):
    """One term of a query.

    Attributes:
        term: as `words.py` makes it.
        beginning: longer terms that begin so count too; "" for none.
        needed: a document must hold it where every word is asked for.
        weight: how much it counts.
        synonyms: terms that are used in its place; they count in a loose search.
    """

    term: str
    beginning: str = ""
    needed: bool = True
    weight: float = 1.0
    synonyms: tuple[str, ...] = ()


class Found(NamedTuple, Generic[K]):
    """A document that was found.

    Attributes:
        key: the document's.
        score: above 0; comparable within one search.
        matched: bit n is set where the n-th term of the query was found.
    """

    key: K
    score: float
    matched: int


_IMPACT_BITS = 10
_MOST = (1 << _IMPACT_BITS) - 1
_Postings: TypeAlias = "int | array[int]"
"""Where a term stands, by slot: each posting is the slot and, in the lowest bits, its impact (1 is `_MOST`).

Most terms stand in one document, whose posting is kept as it is: in arrays of their own, slots apart from
impacts, the terms of 100,000 functions took twice the memory.
"""


class WordIndex(Generic[K]):
    """Documents by their words.

    Args:
        weights: {field: how much a word in it counts}.
        usual_length: weighted words in an ordinary document.
    """

    def __init__(self, weights: Mapping[str, float], usual_length: float) -> None:
        self._weights = dict(weights)
        self._usual = usual_length
        self._keys: list[K | None] = []  # by slot; None where the document is gone
        self._slot_of: dict[K, int] = {}
        self._postings: dict[str, _Postings] = {}
        self._vocabulary = Vocabulary()

    def __len__(self) -> int:
        return len(self._slot_of)

    def __contains__(self, key: object) -> bool:
        return key in self._slot_of

    @property
    def wasted(self) -> bool:
        """Whether most of the index is about documents that are gone: better to build it anew."""
        return len(self._keys) > 2 * len(self._slot_of) + 1_000

    def put(self, key: K, fields: Mapping[str, str]) -> None:
        """Adds a document, or replaces the one of that key."""
        for _ in self.putting(key, fields):
            pass

    def putting(self, key: K, fields: Mapping[str, str]) -> Iterator[None]:
        """As `put`, in steps of some milliseconds; until the last one is done all is as before."""
        counts: dict[str, float] = {}
        for field, text in fields.items():
            if not text:
                continue
            weight = self._weights[field]
            held: Counter[str] = Counter()
            for piece in pieces(text):
                held.update(terms_of(piece))
                if len(piece) < len(text):
                    yield
            for term, times in held.items():
                counts[term] = counts.get(term, 0.0) + weight * times
        self.remove(key)
        slot = self._slot_of[key] = len(self._keys)
        self._keys.append(key)
        share = sum(counts.values()) / self._usual
        norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * share)
        postings, first = self._postings, slot << _IMPACT_BITS
        impacts = {count: first | round(count / (count + norm) * _MOST) for count in set(counts.values())}
        for term, count in counts.items():
            posting = impacts[count]
            known = postings.get(term)
            if known is None:
                postings[term] = posting
                self._vocabulary.add(term)
            elif isinstance(known, int):
                postings[term] = array("I", (known, posting))
            else:
                known.append(posting)

    def remove(self, key: K) -> None:
        """Takes a document out; harmless where there is none."""
        slot = self._slot_of.pop(key, None)
        if slot is not None:
            self._keys[slot] = None

    def search(
        self,
        wanted: Sequence[Wanted],
        *,
        limit: int | None = None,
        every: bool = False,
        loose: bool = False,
        accept: Callable[[K], bool] | None = None,
        among: Iterable[K] | None = None,
    ) -> list[Found[K]]:
        """The documents that hold the terms, best first, equal ones by key.

        Args:
            wanted: what to look for.
            limit: how many at most; None for all.
            every: only documents that hold every needed term; else any.
            loose: words count too, but less, that have the beginning in common with a word of the query;
                synonyms, too.
            accept: only documents of whose key this holds.
            among: only these documents, which hold one of the terms at least; None for all.
        """
        if limit is not None and limit < 1:
            return []
        slots = (
            () if among is None else [slot for key in among if (slot := self._slot_of.get(key)) is not None]
        )
        scores: dict[int, float] = dict.fromkeys(slots, 0.0)
        matched: dict[int, int] = dict.fromkeys(slots, 0)
        hits = [
            (self._hits(one, loose=loose), 1 << at, every and one.needed) for at, one in enumerate(wanted)
        ]
        hits.sort(key=lambda item: (not item[2], len(item[0])))  # what narrows most first
        first, closed = among is None, every or among is not None
        few = 0 if limit is None or limit > _BEST or accept is not None or closed else limit
        whole, done = sum(hit.most for hit, *_ in hits), 0.0
        for hit, bit, needed in hits:
            rest = whole - done
            if few and len(hit) >= _LONG and 2 * rest < whole:
                scores, closed = self._in_reach(scores, few, rest)
            is_common = len(hit) > _COMMON * len(self._keys) and len(scores) >= _FEW
            if first:
                scores = dict(hit.all())
                matched = dict.fromkeys(scores, bit)
            elif not (closed or is_common):
                for slot, impact in hit.all():
                    scores[slot] = scores.get(slot, 0.0) + impact
                    matched[slot] = matched.get(slot, 0) | bit
            else:
                for slot, impact in hit.among(scores):
                    scores[slot] += impact
                    matched[slot] |= bit
                if needed:
                    for slot in [slot for slot, bits in matched.items() if not bits & bit]:
                        del scores[slot], matched[slot]
            first, done = False, done + hit.most
        return self._best(scores, matched, limit, accept)

    def holding_all(self, wanted: Iterable[Wanted]) -> list[K]:
        """The keys of the documents that hold every needed term, in no order."""
        slots: set[int] | None = None
        for hit in sorted((self._hits(one, loose=False) for one in wanted if one.needed), key=len):
            slots = hit.slots() if slots is None else hit.slots_among(slots)
        return [key for slot in slots or () if (key := self._keys[slot]) is not None]

    def _in_reach(self, scores: dict[int, float], limit: int, rest: float) -> tuple[dict[int, float], bool]:
        """Those documents that can be among the best, and whether no others can.

        So a search for the best ends early, and finds the same: this is MaxScore (Turtle and Flood, "Query
        Evaluation: Strategies and Optimizations", 1995), a term at a time.

        Args:
            scores: of what was found.
            limit: how many are the best.
            rest: what a document can score at most by the terms that were not looked at.
        """
        if len(scores) < limit or rest >= max(scores.values()) * _NEARLY:
            return scores, False
        known: Collection[float] = scores.values()
        if len(self._slot_of) < len(self._keys):  # what is gone must not stand in for what is there
            known = [score for slot, score in scores.items() if self._keys[slot] is not None]
        least = nlargest(limit, known)[-1] if len(known) >= limit else 0.0
        if rest >= least * _NEARLY:
            return scores, False
        least = least * _NEARLY - rest
        return {slot: score for slot, score in scores.items() if score >= least}, True

    def _best(
        self,
        scores: dict[int, float],
        matched: dict[int, int],
        limit: int | None,
        accept: Callable[[K], bool] | None,
    ) -> list[Found[K]]:
        if limit is None or limit >= len(scores):
            found = self._accepted(scores, accept)
            return self._told(found, scores, matched)[:limit]
        count = limit
        while True:
            least = _nth_largest(count, scores.values()) if count < len(scores) else 0.0
            best = self._accepted((slot for slot, score in scores.items() if score > least), accept)
            if len(best) < limit:  # of equal ones those that come first, and no more than it takes
                equal = [
                    (key, slot)
                    for slot, score in scores.items()
                    if score == least and (key := self._keys[slot]) is not None
                ]
                heapify(equal)
                while equal and len(best) < limit:
                    key, slot = heappop(equal)
                    if accept is None or accept(key):
                        best.append(slot)
            if len(best) >= limit or count >= len(scores):
                return self._told(best, scores, matched)[:limit]
            count *= 8

    def _accepted(self, slots: Iterable[int], accept: Callable[[K], bool] | None) -> list[int]:
        keys = self._keys
        return [slot for slot in slots if (key := keys[slot]) is not None and (accept is None or accept(key))]

    def _told(
        self, slots: Iterable[int], scores: Mapping[int, float], matched: Mapping[int, int]
    ) -> list[Found[K]]:
        """The documents in order."""
        keys = self._keys
        found = [Found(key, scores[slot], matched[slot]) for slot in slots if (key := keys[slot]) is not None]
        found.sort(key=lambda one: (-one.score, one.key))
        return found

    def rarest(self, terms: Iterable[str], count: int) -> list[str]:
        """Those of the terms that stand in the fewest documents, but in any."""
        known = {term: number for term in terms if (number := self._count(term))}
        return nsmallest(count, known, key=lambda term: (known[term], term))

    def holds(self, key: K, term: str) -> bool:
        """Whether the document holds the term."""
        postings, slot = self._postings.get(term), self._slot_of.get(key)
        if postings is None or slot is None:
            return False
        if isinstance(postings, int):
            return postings >> _IMPACT_BITS == slot
        at = bisect_left(postings, slot << _IMPACT_BITS)
        return at < len(postings) and postings[at] >> _IMPACT_BITS == slot

    def whole(self, wanted: Iterable[Wanted]) -> float:
        """What a document would score that were nothing but what is needed, known words or not."""
        return sum(one.weight * self._rarity(self._count(one.term)) for one in wanted if one.needed)

    def meanings(self, wanted: Wanted, *, loose: bool = False) -> dict[str, float]:
        """{term of some document: how much of a hit it is} of all that a term of a query stands for."""
        known, term = self._postings, wanted.term
        terms = {term: 1.0} if term in known else {}
        if wanted.beginning:
            for longer in self._beginning_with(wanted.beginning):
                terms.setdefault(longer, _OF_BEGINNING)
        if loose and self._count(term) <= max(_FEW, _COMMON * len(self._keys)):
            for other, share in self._loosely(wanted):
                terms.setdefault(other, share)
        if not terms:
            terms = dict.fromkeys(alike(term, known, self._vocabulary.beginning_with), _OF_TYPO)
        return terms

    def _loosely(self, wanted: Wanted) -> Iterator[tuple[str, float]]:
        term = wanted.term
        if len(term) >= _SHARED:
            for other in self._beginning_with(term[:_SHARED]):
                yield other, _OF_SHARED
        for other in wanted.synonyms:
            if other in self._postings:
                yield other, _OF_SYNONYM
        for length in range(_SHORTENED, len(term)):
            if term[:length] in self._postings:
                yield term[:length], _OF_SHORTENED

    def _hits(self, wanted: Wanted, *, loose: bool) -> "_Hits":
        # What a word stands for in its place is no better a sign than the word itself.
        least = self._count(wanted.term)
        hits: list[tuple[Sequence[int], float]] = []
        for term, share in self.meanings(wanted, loose=loose).items():
            postings = self._postings[term]
            rarity = self._rarity(max(least, self._count(term)))
            hits.append(
                (
                    (postings,) if isinstance(postings, int) else postings,
                    wanted.weight * share * rarity / _MOST,
                )
            )
        return _Hits(hits)

    def _count(self, term: str) -> int:
        """In how many documents a term stands, those that are gone included."""
        postings = self._postings.get(term)
        if postings is None:
            return 0
        return 1 if isinstance(postings, int) else len(postings)

    def _rarity(self, count: int) -> float:
        return math.log(1 + (len(self._keys) - count + 0.5) / (count + 0.5))

    def _beginning_with(self, beginning: str) -> list[str]:
        found = self._vocabulary.beginning_with(beginning)
        most = _MAX_EXPANDED if len(beginning) > _SHORT else _MAX_EXPANDED // 4
        if len(found) > most:
            return nsmallest(most, found[:_MOST_COMPARED], key=lambda term: (-self._count(term), term))
        return found


def _nth_largest(number: int, values: Collection[float]) -> float:
    """The smallest of so many largest values."""
    if number <= _BEST:
        return nlargest(number, values)[-1]
    return sorted(values, reverse=True)[number - 1]  # quicker than a heap of many


class _Hits:
    """Where one term of a query stands: its postings, or those of several terms that it stands for.

    Args:
        postings: each with what an impact of one unit counts.

    Attributes:
        most: what a document can score at most.
    """

    def __init__(self, postings: list[tuple[Sequence[int], float]]) -> None:
        self._postings = postings
        self._count = sum(len(those) for those, _ in postings)
        self.most = max((unit for _, unit in postings), default=0.0) * _MOST

    def __len__(self) -> int:
        """How many documents there are at most."""
        return self._count

    def all(self) -> Iterable[tuple[int, float]]:
        """(slot, score) of each document; the best of several terms counts."""
        best: dict[int, float] = {}
        for postings, unit in self._postings:
            if len(self._postings) == 1:
                return [(one >> _IMPACT_BITS, unit * (one & _MOST)) for one in postings]
            for one in postings:
                slot, value = one >> _IMPACT_BITS, unit * (one & _MOST)
                if value > best.get(slot, 0.0):
                    best[slot] = value
        return best.items()

    def slots(self) -> set[int]:
        """The slot of each document."""
        return {one >> _IMPACT_BITS for postings, _ in self._postings for one in postings}

    def slots_among(self, wanted: set[int]) -> set[int]:
        """The slots of those documents that are in `wanted`."""
        if 8 * len(wanted) >= len(self):
            return self.slots() & wanted
        return {slot for slot, _ in self.among(dict.fromkeys(wanted))}

    def among(self, wanted: Mapping[int, object]) -> Iterable[tuple[int, float]]:
        """(slot, score) of those documents that are in `wanted`."""
        best: dict[int, float] = {}
        for postings, unit in self._postings:
            if 8 * len(wanted) < len(postings):
                for slot in wanted:
                    at = bisect_left(postings, slot << _IMPACT_BITS)
                    if at < len(postings) and postings[at] >> _IMPACT_BITS == slot:
                        best[slot] = max(best.get(slot, 0.0), unit * (postings[at] & _MOST))
            else:
                for one in postings:
                    slot = one >> _IMPACT_BITS
                    if slot in wanted:
                        best[slot] = max(best.get(slot, 0.0), unit * (one & _MOST))
        return best.items()

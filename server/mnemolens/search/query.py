"""The language of queries: words, `"phrases"` and filters (`type:`, `tag:`, `layer:`, `verdict:`, …).

Owns its grammar. There is no wrong query: whatever is no filter with a value that exists is taken as words,
so that stars, brackets and `NEAR` are text like any other.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mnemolens.core.memories import MEMORY_KINDS, VERDICTS
from mnemolens.search.index import Wanted
from mnemolens.search.synonyms import synonyms
from mnemolens.search.words import (
    folded,
    is_unspaced,
    joined,
    names_in_query,
    needed_of,
    terms_of_part,
    words_of_query,
)

MAX_QUERY: Final = 10_000
"""Characters of a query that count."""
MAX_WORDS: Final = 64
"""Words of a query that count, and phrases."""

_LAYERS: Final = ("core", "active", "long_term", "archive")
_FILTER = re.compile(
    r'(?<!\S)(type|tag|layer|verdict|file|after|before):(?:"([^"]+)"|([^\s"]+))(?!\S)', re.IGNORECASE
)
_PHRASE = re.compile(r'"([^"]*)"')
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_CHOICES: Final = {"type": MEMORY_KINDS, "layer": _LAYERS, "verdict": VERDICTS}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must fulfil besides holding words; what is None or empty asks for nothing.

    Attributes:
        types: one of these.
        tags: all of these, case ignored.
        files: parts of paths; some linked file must fit each: `pay.py`, `src/shop`, `*.ts`.
        after: the earliest time at which it was made.
        before: it was made before this time.
    """

    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    layers: frozenset[str] = frozenset()
    verdicts: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    after: datetime | None = None
    before: datetime | None = None

    def __bool__(self) -> bool:
        return self != NO_FILTERS


NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A query, read.

    Attributes:
        text: as it was written, without the filters.
        words: what is looked for, as shown to people; each once.
        phrases: must stand in a memory as they are, but for case and white space.
        filters: what else a memory must fulfil.
    """

    text: str = ""
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    filters: Filters = NO_FILTERS

    def __bool__(self) -> bool:
        return bool(self.words or self.phrases or self.filters)

    def wanted(self, *, as_typed: bool = False) -> tuple[tuple[Wanted, ...], tuple[int, ...]]:
        """What to look for in an index, and for each of it the number of its word; -1 for a whole name.

        Args:
            as_typed: the query may not be complete: words that only begin like one of its words count too.
        """
        wanted: list[Wanted] = []
        numbers: list[int] = []
        for number, word in enumerate(self.words):
            terms = terms_of_part(word)
            for term, needed in zip(terms, needed_of(terms), strict=True):
                begins = folded(word) if as_typed and len(word) > 1 else ""
                if is_unspaced(term):
                    begins = term if len(term) == 1 else ""
                wanted.append(Wanted(term, begins, needed, synonyms=synonyms(term)))
                numbers.append(number)
        for name in names_in_query(self.text)[:MAX_WORDS]:
            wanted.append(Wanted(joined(name), needed=False))
            numbers.append(-1)
        return tuple(wanted), tuple(numbers)


def read_query(text: str) -> Query:
    """A query as it was typed. Times are UTC; a day, month or year begins at midnight."""
    text = text[:MAX_QUERY]
    found: dict[str, set[str]] = {}
    times: dict[str, datetime] = {}

    def take(match: re.Match[str]) -> str:
        key, value = match[1].lower(), match[2] or match[3]
        if key in {"after", "before"}:
            time = read_day(value)
            if time is None:
                return match[0]
            times[key] = time
            return " "
        if key in _CHOICES:
            chosen = _choice(value, _CHOICES[key])
            if chosen is None:
                return match[0]
            value = chosen
        found.setdefault(key, set()).add(value)
        return " "

    rest = _FILTER.sub(take, text)
    phrases = tuple(
        dict.fromkeys(" ".join(phrase.split()) for phrase in _PHRASE.findall(rest) if phrase.strip())
    )
    filters = Filters(
        **{field: frozenset(found.get(key, ())) for key, field in _FIELDS.items()},
        after=times.get("after"),
        before=times.get("before"),
    )
    return Query(rest.strip(), words_of_query(rest)[:MAX_WORDS], phrases[:MAX_WORDS], filters)


_FIELDS: Final = {"type": "types", "tag": "tags", "layer": "layers", "verdict": "verdicts", "file": "files"}


def read_day(text: str) -> datetime | None:
    """`2026`, `2026-03`, `2026-03-01` or a whole time in ISO 8601, in UTC; None for anything else."""
    day = _DAY.fullmatch(text)
    try:
        if day is not None:
            return datetime(int(day[1]), int(day[2] or 1), int(day[3] or 1), tzinfo=UTC)
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.astimezone(UTC)


def _choice(value: str, choices: Collection[str]) -> str | None:
    """The one that the value names, or is the beginning of."""
    value = value.lower().replace("-", "_")
    if value in choices:
        return value
    near = [one for one in choices if one.startswith(value)]
    return near[0] if len(near) == 1 else None

"""Which notes on no code speak of what a function is about: nothing else would ever bring them to it.

A note must share a word with what the function says of itself, and another one with its name or its path; the
rarer the words are among notes, the more they count. Owns which words are compared, and how much it takes;
nothing is linked by it, and no hover asks for it. How words are compared is `search/`'s.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.code import Code
from mnemolens.engine.links import Links
from mnemolens.engine.searching import Searching
from mnemolens.search.functions import document
from mnemolens.search.index import Wanted
from mnemolens.search.words import terms_of_part, words_of_query

RELEVANCE: Final = 0.7
"""Of a note that shares enough; tuned by `tests/bench/relevance.py`, on the half of which nothing is told."""
ENOUGH: Final = 0.2
"""What a note scores, as a share of what one would score that held all of the function's words."""
LEAST: Final = 0.1
"""Below this share it is chance."""
MOST: Final = 5


class Topic(NamedTuple):
    """A note that speaks of what a function is about.

    Attributes:
        relevance: 0..1.
        words: that both hold, as the function spells them.
    """

    memory_id: str
    relevance: float
    words: tuple[str, ...]


class Topics:
    """Finds such notes of one folder."""

    def __init__(self, links: Links, code: Code, searching: Searching) -> None:
        self._links = links
        self._code = code
        self._searching = searching

    def of(self, key: SymbolKey) -> Iterator[Topic]:
        """The notes on no code that speak of what a symbol is about, a few at most.

        None before the notes' words are known, unless that takes but a moment.
        """
        symbols, at = self._code.index.get(key.file), self._code.index.position_of(key)
        if symbols is None or at is None or not symbols.symbols[at].docstring:
            return
        if not self._links.any_on_none or not self._searching.ready_now():
            return
        texts = document(key.file, symbols, at, lambda _: b"")
        # What the documentation says of the name is nothing of its own: of several fields the first counts.
        words: dict[str, str] = {}
        for field in ("name", "docs", "path"):
            for word in words_of_query(texts[field]):
                words.setdefault(word, field)
        spelt = {term: word for word in words for term in terms_of_part(word)}
        wanted = [Wanted(term) for term in spelt]
        whole = self._searching.whole_of(wanted)
        for found in self._searching.nearest(wanted, MOST, self._links.is_on_none):
            shared = [word for number, word in enumerate(spelt.values()) if found.matched >> number & 1]
            fields = {words[word] for word in shared}
            share = found.score / whole
            if share >= LEAST and "docs" in fields and len(fields) > 1:
                relevance = RELEVANCE * min(share / ENOUGH, 1.0)
                yield Topic(found.key, relevance, tuple(dict.fromkeys(shared)))

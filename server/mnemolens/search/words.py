"""What search takes for a word: identifiers split, endings cut, accents folded, CJK in pairs of characters.

Owns how a text becomes *terms*, the strings that are compared, and where in the text each stands. Texts and
queries are read by the same rules.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from mnemolens.core.identifiers import (
    COMBINING,
    LATIN_LETTERS,
    split_identifier,
    split_spans,
    without_colours,
)

# Scripts written without spaces: CJK with kana and hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fff\u3005-\u30ff\u3100-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"
"""From Devanagari to Sinhala: vowels are signs that Python takes for no letters."""
_MARKS = (
    f"{COMBINING}\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
)
"""Accents, and the points of Hebrew and Arabic, which most people leave out."""
_SIGNS = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_LATIN = f"A-Za-z0-9_{LATIN_LETTERS}"


# Compiled at their first use: 3 ms each, which commands that search nothing need not wait for.
@cache
def _word() -> re.Pattern[str]:
    other = f"[^\\W{_LATIN}{_UNSPACED}{_INDIC}]"
    return re.compile(
        f"[{_LATIN}][{_LATIN}{COMBINING}]*|[{_UNSPACED}]+|[{_SIGNS}]|[{_INDIC}]+|{other}(?:{other}|[{_MARKS}])*"
    )


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


_COMBINING = re.compile(f"[{_MARKS}]")
_NARROW = re.compile("[\uff66-\uff9f]")
_IDEOGRAPHS = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]+")

MAX_TERM = 64
"""Characters of a term that count: nobody types more of a word, and a line of base64 is no word."""

_LITTLE_WORDS = frozenset(
    split_identifier(
        "a about after all also an and any are as at be because been but by can could did do does for from"
        " get had has have how i if in into is it its me my no not of on only or our should so some than that"
        " the their them then there these they this to up use used uses using was we were what when where"
        " which while who why will with would you your"
    )
)


class Spot(NamedTuple):
    """A term in a text, code point offsets, `end` exclusive."""

    term: str
    start: int
    end: int


def terms_of(text: str) -> list[str]:
    """The terms of a text in order. A name of several parts also gives all of it as one term.

    `retryPayment()` gives `retri`, `pay…` and `retrypayment`; `支付服务` gives `支付`, `付服`, `服务`, `务`.
    """
    found: list[str] = []
    remembered = _REMEMBERED.get  # most words were met before: a call for each of them took half of the time
    for word in _word().findall(without_colours(text)):
        found += remembered(word) or _terms_of_new(word)
    return found


def words_of_query(text: str) -> tuple[str, ...]:
    """What a query asks for, as it is shown: the parts of its words without those that say little; each once.

    `How does retryPayment work?` asks for `retry`, `payment` and `work`.
    """
    found = dict.fromkeys(part for word in _word().findall(text) for part in _parts(word))
    return tuple(part for part in found if part not in _LITTLE_WORDS) or tuple(found)


def is_little(word: str) -> bool:
    """Whether the word says little in any text: `the`, `with`, `used`."""
    return word in _LITTLE_WORDS


def names_in_query(text: str) -> tuple[str, ...]:
    """The names of several parts in a query, as written: a memory that holds all of one fits better."""
    return tuple(
        dict.fromkeys(
            word for word in _word().findall(text) if _is_latin(word) and len(split_identifier(word)) > 1
        )
    )


def is_unspaced(text: str) -> bool:
    """Whether the text begins with a script that is written without spaces."""
    return not text[:1].isascii() and _unspaced().match(text) is not None


def terms_of_part(part: str) -> tuple[str, ...]:
    """The terms that one of `words_of_query` stands for: one, but for a run without spaces."""
    if is_unspaced(part):
        pairs = _pairs(part)
        return pairs[:-1] if len(pairs) > 1 else pairs
    return (stem(part),)


def needed_of(terms: tuple[str, ...]) -> tuple[bool, ...]:
    """Which of `terms_of_part` a text must hold to hold the part.

    Of ideographs every second pair will do: what asks for `支付服务` finds `支付 服务` too.
    """
    last = len(terms) - 1
    return tuple(
        at % 2 == 0 or at == last or _IDEOGRAPHS.fullmatch(term) is None for at, term in enumerate(terms)
    )


def spots(text: str, wanted: set[str]) -> Iterator[Spot]:
    """Where each term stands of every word that gives a wanted one; whole names before their parts."""
    remembered = _REMEMBERED.get
    for match in _word().finditer(without_colours(text)):
        word, at = match.group(), match.start()
        if wanted.isdisjoint(remembered(word) or _terms_of_new(word)):
            continue
        if is_unspaced(word):
            pairs = _pairs(word)
            for offset, pair in enumerate(pairs):
                if len(pairs) == len(word):
                    yield Spot(pair, at + offset, at + min(offset + 2, len(word)))
                else:  # characters are written in pieces: which ones belong to a pair is not told
                    yield Spot(pair, at, at + len(word))
            continue
        parts = split_spans(word) if _is_latin(word) else [(0, len(word))]
        if len(parts) > 1:
            yield Spot(joined(word), at, at + len(word))
        for start, end in parts:
            yield Spot(stem(word[start:end]), at + start, at + end)


def joined(name: str) -> str:
    """A name of several parts as one term: `retry_payment` and `retryPayment` give `retrypayment`."""
    return "".join(map(folded, split_identifier(name)))[:MAX_TERM]


def folded(text: str) -> str:
    """The text without case and accents, so that `Größe` is `grosse`."""
    if text.isascii():
        return text.lower()
    return _COMBINING.sub("", unicodedata.normalize("NFKD", text.casefold()))


def stem(word: str) -> str:
    """The word without what tells number, person, tense or the doer: `retries`, `retried`, `retry` are one.

    It cuts English endings one after the other and never leaves fewer than three letters.
    """
    word = folded(word)[:MAX_TERM]
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    return _stem_of_english(word)


_REMEMBERED: dict[str, tuple[str, ...]] = {}
_MAX_REMEMBERED = 50_000
"""Words: more than most projects' notes are made of; 10 MB."""


def _terms_of_new(word: str) -> tuple[str, ...]:
    if len(_REMEMBERED) >= _MAX_REMEMBERED:
        _REMEMBERED.clear()
    terms = _new_terms(word)
    if len(word) <= MAX_TERM:
        _REMEMBERED[word] = terms
    return terms


def _new_terms(word: str) -> tuple[str, ...]:
    if is_unspaced(word):
        return _pairs(word)
    parts = _parts(word)
    terms = tuple(stem(part) for part in parts)
    return (*terms, joined(word)) if len(parts) > 1 else terms


def _parts(word: str) -> tuple[str, ...]:
    return split_identifier(word) if _is_latin(word) else (word.lower(),)


def _is_latin(word: str) -> bool:
    return word.isascii() or bool(re.match(f"[{_LATIN}]", word))


def _pairs(run: str) -> tuple[str, ...]:
    """Each two neighbouring characters, and the last one alone, so that one character is a prefix of each.

    Characters written in pieces are put together, narrow katakana are made wide.
    """
    run = unicodedata.normalize("NFC" if _NARROW.search(run) is None else "NFKC", run)
    return tuple(run[at : at + 2] for at in range(len(run)))


_DOUBLED = re.compile(r"([^aeiouls])\1$")


def _stem_of_english(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    for ending in ("ing", "ed", "er", "or", "ion", "ment", "able", "ible", "ly", "ness", "al"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            word = _DOUBLED.sub(r"\1", word)
            break
    if word.endswith(("e", "y", "i")) and len(word) > 3:
        word = word[:-1]
    return word


_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)

"""What of a document is shown for a query: the words that were found, and a snippet around them.

Owns where marks stand in a text. Offsets are code points, ends exclusive.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from mnemolens.search.words import folded, spots

MAX_READ = 20_000
"""Characters of a text that are looked through for marks."""


class Mark(NamedTuple):
    """A stretch of text that was found."""

    start: int
    end: int


class Snippet(NamedTuple):
    """A piece of a text: `text` is it, with line ends as spaces; `marks` are offsets in it."""

    text: str
    marks: tuple[Mark, ...]


def marks_in(text: str, terms: Collection[str], phrases: Sequence[str] = ()) -> tuple[Mark, ...]:
    """Where the terms and phrases stand, in order, without overlaps."""
    text = text[:MAX_READ]
    wanted = set(terms)
    found = (
        [Mark(spot.start, spot.end) for spot in spots(text, wanted) if spot.term in wanted] if wanted else []
    )
    low = text.casefold()
    if len(low) == len(text):  # else offsets would not be the text's
        for phrase in phrases:
            at = low.find(phrase.casefold())
            while at >= 0:
                found.append(Mark(at, at + len(phrase)))
                at = low.find(phrase.casefold(), at + len(phrase))
    return _joined(found)


def snippet(text: str, marks: Sequence[Mark], width: int = 160) -> Snippet:
    """The piece of the text that holds the most marks, or its beginning; cut at white space."""
    if len(text) <= width:
        return Snippet(_flat(text), tuple(marks))
    start = _best_start(marks, width, len(text))
    if start > 0:
        space = text.find(" ", max(0, start - 1), start + 20)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + width)
    if end < len(text):
        space = text.rfind(" ", end - 20, end)
        end = space if space > start else end
    head, tail = ("…" if start else ""), ("…" if end < len(text) else "")
    shift = len(head) - start
    inside = tuple(
        Mark(max(mark.start, start) + shift, min(mark.end, end) + shift)
        for mark in marks
        if mark.end > start and mark.start < end
    )
    return Snippet(head + _flat(text[start:end]) + tail, inside)


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text, case, accents and the kind of white space aside."""
    phrase, text = folded(phrase), folded(text)
    if phrase in text:
        return True
    return phrase.partition(" ")[0] in text and phrase in " ".join(text.split())


def _flat(text: str) -> str:
    return "".join(" " if letter.isspace() else letter for letter in text)


def _best_start(marks: Sequence[Mark], width: int, length: int) -> int:
    best, most = 0, 0
    end = 0
    for at, mark in enumerate(marks):
        while end < len(marks) and marks[end].end <= mark.start + width - 20:
            end += 1
        if end - at > most:
            best, most = mark.start, end - at
    return max(0, min(best - 20, length - width))


def _joined(marks: list[Mark]) -> tuple[Mark, ...]:
    joined: list[Mark] = []
    for mark in sorted(marks):
        if joined and mark.start < joined[-1].end:
            joined[-1] = Mark(joined[-1].start, max(mark.end, joined[-1].end))
        else:
            joined.append(mark)
    return tuple(joined)

"""Slips of a finger: which known words a mistyped one may be.

Owns what counts as a slip: one letter too many, too few, wrong or swapped with its neighbour; of long words,
as names are, two of these behind a right beginning.
"""

from collections.abc import Callable, Container, Sequence
from string import ascii_lowercase, digits

_LETTERS = ascii_lowercase + digits
_SHORTEST = 4
_LONG = 8
_BEGINNING = 3


def alike(
    word: str, known: Container[str], beginning_with: Callable[[str], Sequence[str]]
) -> tuple[str, ...]:
    """The known words that the word may have been meant as, one slip away before two.

    Args:
        word: lower-case.
        known: all known words.
        beginning_with: those that begin with some letters.
    """
    if len(word) < _SHORTEST:
        return ()
    near = tuple(sorted({other for other in _one_slip(word) if other in known}))
    if near or len(word) < _LONG:
        return near
    return tuple(
        other
        for other in beginning_with(word[:_BEGINNING])
        if abs(len(other) - len(word)) <= 2 and distance(word, other, 2) <= 2
    )


def _one_slip(word: str) -> set[str]:
    """Every word one slip away, after P. Norvig's "How to Write a Spelling Corrector"."""
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in halves if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in halves if right for letter in _LETTERS}
    found |= {left + letter + right for left, right in halves for letter in _LETTERS}
    return found


def distance(one: str, other: str, most: int) -> int:
    """Slips between two words (optimal string alignment); some number above `most` where there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, last, row = last, row, [at]
        for column, against in enumerate(other, 1):
            least = min(last[column] + 1, row[column - 1] + 1, last[column - 1] + (letter != against))
            if before and column > 1 and letter == other[column - 2] and one[at - 2] == against:
                least = min(least, before[column - 2] + 1)
            row.append(least)
        if min(row) > most:
            return most + 1
    return row[-1]

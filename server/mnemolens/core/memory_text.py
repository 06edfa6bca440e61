"""How many language-model tokens a memory's text costs, roughly.

An estimate for budgets that needs no model's vocabulary, and gives the same number everywhere. It follows
what common byte-pair vocabularies do: a short Latin word is one token, a long one a token for about each six
letters; up to three digits one token; each Chinese or Japanese character and each Hangul syllable about one;
letters of other scripts about two a token; a mark of punctuation one; anything else (emoji) two. White space
costs nothing but for line ends, which come in runs.
"""

import re

_LATIN = "A-Za-z\u00c0-\u024f"
_CJK = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_PIECES = re.compile(
    rf"(?P<latin>[{_LATIN}]+)|(?P<digits>[0-9]+)|(?P<cjk>[{_CJK}])|(?P<lines>\n\s*)|(?P<space>\s+)"
    rf"|(?P<ascii>[!-/:-@\[-`{{-~]+)|(?P<letters>[^\W\d_{_LATIN}{_CJK}]+)|(?P<other>.)",
    re.DOTALL,
)
_CHARACTERS_A_TOKEN = {"latin": 6, "digits": 3, "cjk": 1, "ascii": 1, "letters": 2}
_FIXED = {"lines": 1, "space": 0, "other": 2}


def count_tokens(text: str) -> int:
    """An estimate of the text's tokens, never negative, 0 for the empty text. Linear in the text's length."""
    total = 0
    for piece in _PIECES.finditer(text):
        group = piece.lastgroup or "other"
        size = _CHARACTERS_A_TOKEN.get(group)
        total += _FIXED[group] if size is None else -(-(piece.end() - piece.start()) // size)
    return total

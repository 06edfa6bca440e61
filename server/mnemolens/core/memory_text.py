"""How many language-model tokens a memory's text costs, roughly.

An estimate for budgets that needs no model's vocabulary, and gives the same number everywhere. It follows
what common byte-pair vocabularies do: a short Latin word is one token, a long one a token for about each six
letters; up to three digits one token; each Chinese or Japanese character and each Hangul syllable about one;
letters of other scripts about two a token; a mark of punctuation one; anything else (emoji) two. White space
costs nothing but for line ends, which come in runs, and for every 16 characters of a long run.
"""

import re
from functools import cache

from mnemolens.core.long_texts import pieces, remembered

_LATIN = "A-Za-z\u00c0-\u024f"
_CJK = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_MARKS = r"!-/:-@\[-`{-~"
_SPACE = r"(?<!\s)\n|\s{16}"
_TOKEN = rf"[{_LATIN}]{{1,6}}|[0-9]{{1,3}}|[{_CJK}]|[{_MARKS}]|[^\W\d_{_LATIN}{_CJK}]{{1,2}}|{_SPACE}"
"""What costs one token. Looking for it alone leaves the counting to the regex engine: a note may be long."""
_TWO_TOKENS = rf"[^\w\s{_MARKS}{_LATIN}{_CJK}]|[^\D0-9{_CJK}]"


@remembered
def count_tokens(text: str) -> int:
    """An estimate of the text's tokens, never negative, 0 for the empty text. Linear in the text's length."""
    one, two = _patterns()
    return sum(one.subn("", part)[1] + 2 * two.subn("", part)[1] for part in pieces(text))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compiled when a text is counted: sets of so many characters take 6 ms, and few processes count any."""
    return re.compile(_TOKEN), re.compile(_TWO_TOKENS)

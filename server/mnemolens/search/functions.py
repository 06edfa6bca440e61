"""Code as documents of words: what a function says of itself, to find it by a note, or a note by it.

Owns which words of a definition count, and how much.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from mnemolens.core.identifiers import split_identifier
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols, Range
from mnemolens.search.index import Wanted
from mnemolens.search.words import is_little, stem, terms_of

FIELDS: Final = {"name": 4.0, "head": 2.0, "docs": 1.5, "body": 1.0, "path": 1.0}
USUAL_LENGTH: Final = 45
_KINDS: Final = frozenset({"function", "method", "lambda"}) | CLASS_KINDS
_MAX_DOCS: Final = 600
_MAX_BODY: Final = 1_500
"""Characters that count."""
_MAX_WORDS: Final = 60
_MAX_SAID: Final = 300
_SAID: Final = re.compile(r"(?:#|//)[ \t]*(\S[^\n]*)|[\"'`]([^\"'`\n]{3,})[\"'`]")
_CALLED: Final = re.compile(r"([A-Za-z_]\w*)\(")
_SATURATION: Final = 6.0
_SYNTAX: Final = frozenset(
    stem(word)
    for word in split_identifier(
        "and as assert async await break class cls const continue def del elif else except false finally for"
        " from func function if import in is isinstance lambda len let new nil none not null or pass raise"
        " return self this throw true try undefined var void while with yield"
    )
)
"""What languages are made of says nothing about one piece of code, so no note is looked for by it."""


def documents(
    file: str, symbols: FileSymbols, text_in: Callable[[Range], bytes]
) -> Iterator[tuple[int, dict[str, str]]]:
    """(index of the symbol, its fields) of each function, method and class of a file.

    Args:
        file: its path.
        symbols: what is in it.
        text_in: the text of a range of the file.
    """
    for at, symbol in enumerate(symbols.symbols):
        if symbol.kind in _KINDS:
            yield at, document(file, symbols, at, text_in)


def document(file: str, symbols: FileSymbols, at: int, text_in: Callable[[Range], bytes]) -> dict[str, str]:
    """The fields of one definition; of a class's text only its head counts, as its members have their own."""
    symbol, body = symbols.symbols[at], ""
    if symbol.kind not in CLASS_KINDS:
        body = text_in(symbols.ranges[at].definition)[: 4 * _MAX_BODY].decode("utf-8", "replace")
    return {
        "name": symbol.qualname,
        "head": symbol.signature,
        "docs": (symbol.docstring or "")[:_MAX_DOCS],
        "body": body[:_MAX_BODY],
        "path": file,
    }


def summary(fields: Mapping[str, str]) -> str:
    """What such a definition is about in words, for a model that reads sentences better than code.

    Its name and file, what it says of itself, in comments and in strings, and what it calls.
    """
    path = " ".join(split_identifier(fields["path"].rpartition(".")[0]))
    body = fields["body"]
    said = " ".join(first or second for first, second in _SAID.findall(body))
    calls = dict.fromkeys(" ".join(split_identifier(name)) for name in _CALLED.findall(body))
    parts = (
        f"{' '.join(split_identifier(fields['name']))} in {path}",
        fields["docs"][:_MAX_SAID],
        said[:_MAX_SAID],
        f"calls {', '.join(calls)}"[:_MAX_SAID] if calls else "",
    )
    return ". ".join(part for part in parts if part)


def wanted_by(fields: dict[str, str]) -> list[Wanted]:
    """What to look for among notes, to find those that may be about such a definition."""
    counts: dict[str, float] = {}
    for field, text in fields.items():
        if field != "path":
            for term in terms_of(text):
                if not is_little(term) and term not in _SYNTAX:
                    counts[term] = counts.get(term, 0.0) + FIELDS[field]
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_WORDS]
    return [Wanted(term, weight=count / (count + _SATURATION)) for term, count in best]

"""Code as documents of words: what a function says of itself, to find it by a note, or a note by it.

Owns which words of a definition count, and how much.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from mnemolens.core.identifiers import split_identifier
from mnemolens.core.symbols import CLASS_KINDS, FileSymbols, Position, Range
from mnemolens.search.index import Wanted
from mnemolens.search.words import is_little, stem, terms_of

FIELDS: Final = {"name": 4.0, "head": 2.0, "docs": 1.5, "body": 1.0, "path": 1.0, "around": 0.5}
"""`around` is what the class of a method, and the file, say of themselves."""
USUAL_LENGTH: Final = 45
_KINDS: Final = frozenset({"function", "method", "lambda"}) | CLASS_KINDS
_MAX_DOCS: Final = 600
_MAX_BODY: Final = 1_500
"""Characters that count."""
_MAX_OF_CLASS: Final = 300
_MAX_OF_FILE: Final = 150
_MAX_OPENING: Final = 4_000
_MAX_WORDS: Final = 60
_MAX_SAID: Final = 300
_MAX_AROUND: Final = 200
_SAID: Final = re.compile(r"(?:#|//)[ \t]*(\S[^\n]*)|[\"'`]([^\"'`\n]{3,})[\"'`]")
_FILE_STRING: Final = re.compile(r"(?:\s|#[^\n]*\n)*[rRuU]?(\"{3}|'{3})(.*?)(?:\1|\Z)", re.DOTALL)
_DIRECTIVE: Final = r"#(?:\[|(?:include|define|undef|ifn?def|if|else|endif|pragma|import)\b)"
_FILE_COMMENT: Final = re.compile(
    rf"\s*((?:(?://|(?!{_DIRECTIVE})#(?!!))[^\n]*\n)+|/\*.*?\*/|#![^\n]*\n)", re.DOTALL
)
_COMMENT_SIGNS: Final = re.compile(r"^[ \t]*[#/*!]+[ \t]?|\*/$", re.MULTILINE)
_FOR_TOOLS: Final = re.compile(
    r"^#!.*|^[ \t]*(?:#|//|/\*)[ \t]*(?:-\*-.*|vim?:.*|(?:file)?(?:en)?coding[:=][ \t]*[\w.\-]+[ \t]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that say how to run or to read the file."""
_LICENCE: Final = re.compile(
    r"^\s*(?:copyright|\(c\)|\u00a9|spdx-|licen[cs]ed\b|licen[cs]e:)"
    r"|copyright\s+(?:\(c\)|\u00a9|\d{4})|all\s+rights\s+reserved|licen[cs]ed\s+(?:under|to)\s+the\b"
    r"|permission\s+is\s+hereby|redistribution\s+and\s+use|under\s+the\s+terms\s+of|governed\s+by\b.{0,80}licen[cs]e",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
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
    said = _said_by_file(symbols, text_in)
    for at, symbol in enumerate(symbols.symbols):
        if symbol.kind in _KINDS:
            yield at, _document(file, symbols, at, text_in, said)


def document(file: str, symbols: FileSymbols, at: int, text_in: Callable[[Range], bytes]) -> dict[str, str]:
    """The fields of one definition; of a class's text only its head counts, as its members have their own."""
    return _document(file, symbols, at, text_in, _said_by_file(symbols, text_in))


def _document(
    file: str, symbols: FileSymbols, at: int, text_in: Callable[[Range], bytes], said_by_file: str
) -> dict[str, str]:
    symbol, body = symbols.symbols[at], ""
    owner = symbols.symbols[symbol.parent] if symbol.parent >= 0 else None
    of_class = owner.docstring if owner is not None and owner.kind in CLASS_KINDS else None
    if symbol.kind not in CLASS_KINDS:
        body = text_in(symbols.ranges[at].definition)[: 4 * _MAX_BODY].decode("utf-8", "replace")
    return {
        "name": symbol.qualname,
        "head": symbol.signature,
        "docs": (symbol.docstring or "")[:_MAX_DOCS],
        "body": body[:_MAX_BODY],
        "path": file,
        "around": f"{(of_class or '')[:_MAX_OF_CLASS]}\n{said_by_file}".strip(),
    }


def _said_by_file(symbols: FileSymbols, text_in: Callable[[Range], bytes]) -> str:
    """The beginning of what a file says of itself before its first definition."""
    if not symbols.ranges:
        return ""
    above = text_in(Range(Position(0, 0), symbols.ranges[0].definition.start))
    lines = above[:_MAX_OPENING].decode("utf-8", "replace").split("\n")
    if len(above) <= _MAX_OPENING and len(lines) > 1:
        lines.pop()  # what stands before the definition on its line
        while lines and lines[-1].strip().startswith(("#", "//", "/*", "*")):
            lines.pop()  # a comment right above says something of the definition
        lines.append("")
    return opening("\n".join(lines))[:_MAX_OF_FILE]


def opening(text: str) -> str:
    """What a text says of itself where it begins: a documentation string, else a comment, but no licence."""
    string = _FILE_STRING.match(text)
    if string is not None:
        return string[2].strip()
    comment = _FILE_COMMENT.match(text)
    while comment is not None:
        said = _COMMENT_SIGNS.sub("", _FOR_TOOLS.sub("", comment[1])).strip()
        if said and _LICENCE.search(said) is None:
            return said
        comment = _FILE_COMMENT.match(text, comment.end())
    return ""


def summary(fields: Mapping[str, str]) -> str:
    """What such a definition is about in words, for a model that reads sentences better than code.

    Its name and file, what its class or else its file says, what it says of itself, in comments and in
    strings, and what it calls.
    """
    path = " ".join(split_identifier(fields["path"].rpartition(".")[0]))
    body = fields["body"]
    said = " ".join(first or second for first, second in _SAID.findall(body))
    calls = dict.fromkeys(" ".join(split_identifier(name)) for name in _CALLED.findall(body))
    parts = (
        f"{' '.join(split_identifier(fields['name']))} in {path}",
        fields["around"][:_MAX_AROUND],
        fields["docs"][:_MAX_SAID],
        said[:_MAX_SAID],
        f"calls {', '.join(calls)}"[:_MAX_SAID] if calls else "",
    )
    return ". ".join(part for part in parts if part)


def wanted_by(fields: dict[str, str]) -> list[Wanted]:
    """What to look for among notes, to find those that may be about such a definition."""
    counts: dict[str, float] = {}
    for field, text in fields.items():
        if field not in {"path", "around"}:
            for term in terms_of(text):
                if not is_little(term) and term not in _SYNTAX:
                    counts[term] = counts.get(term, 0.0) + FIELDS[field]
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_WORDS]
    return [Wanted(term, weight=count / (count + _SATURATION)) for term, count in best]

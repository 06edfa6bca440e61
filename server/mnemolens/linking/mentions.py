"""Finds what a memory's text mentions: identifiers and paths, never substrings.

Owns the reading of text: code spans, fences, links, roles, stack traces, sentences. Knows no symbols: whether
a mention means code that exists is decided in `linking.match`. Linear in the text's length, and bounded: only
the first `SCAN_LIMIT` code points of a field are read.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from mnemolens.core.identifiers import (
    COMBINING,
    IDENTIFIER,
    LATIN_LETTERS,
    is_common_word,
    is_identifier,
    without_colours,
)
from mnemolens.linking.rules import found_by
from mnemolens.linking.values import Mention, Rule
from mnemolens.linking.vocabulary import BUILT_IN, CODE_KEYWORDS, FILE_EXTENSIONS

SCAN_LIMIT = 20_000
"""Characters of a field that are read for names; many more would hold the event loop for over 50 ms."""
MAX_MENTIONS = 2_000
MAX_NAME_LENGTH = 500
"""Longer stretches are no names and no paths, but data."""
MIN_BARE_LENGTH = 4
"""Shorter bare words are never taken for names; written as code or called, they are."""

_BEFORE = rf"(?<![A-Za-z0-9_${LATIN_LETTERS}{COMBINING}])"
_AFTER = rf"(?![A-Za-z0-9_${LATIN_LETTERS}{COMBINING}])"
_SEGMENT = r"[A-Za-z0-9_.@+~$\-]"
_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*+"
_ESCAPED = r"\\_"
"""An underscore as Markdown's editors write it in prose."""
_TYPES = r"(?:\[(?:[^\[\]()\n]|\[[^\[\]()\n]{0,60}\]){1,80}+\]|<(?:[^<>()\n]|<[^<>()\n]{0,60}>){1,80}+>)"
"""What stands behind a generic type: `[string, Item]`, `<string>`."""
_PATH_START = r"(?<![A-Za-z0-9_.@+~$\-\\/])"
_EXTENSION = rf"\.(?:{'|'.join(FILE_EXTENSIONS)})"
_TOKEN = re.compile(
    rf"""
      (?P<url>{_BEFORE}[A-Za-z][A-Za-z0-9+.\-]{{1,15}}://[^\s<>`"'()\[\]{{}}]*+)
    | (?P<email>(?<![A-Za-z0-9._%+\-])[A-Za-z0-9._%+\-]{{1,64}}+@[A-Za-z0-9\-]++(?:\.[A-Za-z0-9\-]++)+)
    | (?P<py_frame>File\ "(?P<py_file>[^"\n]{{1,500}})",\ line\ \d{{1,9}}(?:,\ in\ (?P<py_name>{_NAME}))?)
    | (?P<header>Traceback\ \(most\ recent\ call\ last\))
    | (?P<js_frame>{_BEFORE}at\ (?:async\ )?(?:new\ )?(?P<js_name>[A-Za-z_$][\w$.]*+)(?:\ \[as\ [\w$]+\])?
        \ \((?P<js_file>[^()\s]{{1,500}}?)(?::\d{{1,9}}){{1,2}}\))
    | (?P<import>{_BEFORE}from[ \t]+(?P<module>\.{{0,3}}{_NAME}(?:\.{_NAME})*+)[ \t]+import[ \t]+\(?
        (?P<names>{_NAME}(?:[ \t]*,[ \t]*{_NAME}){{0,30}}))
    | (?P<js_import>{_BEFORE}import[ \t]+(?:type[ \t]+)?\{{(?P<js_names>[\w$,\s]{{1,300}})\}}
        [ \t]*from[ \t]*['"](?P<js_module>[^'"\n]{{1,300}})['"])
    | (?P<receiver>(?P<func>{_BEFORE}func\ )?\((?:(?:{_NAME}\ )?\*|(?(func)(?:{_NAME}\ )?|(?!)))
        (?P<member>{_NAME}(?:\[[^\[\]()\n]{{1,60}}\])?\)[ .]{_NAME})(?(func)(?:\([^()\n]{{0,200}}\))?)
        (?:\.func\d++)*+)
    | (?P<escaped>{_PATH_START}(?:[A-Za-z0-9_$]++(?:\.|::|\#))*+[A-Za-z0-9_$]*+{_ESCAPED}
        (?:[A-Za-z0-9_$]|{_ESCAPED}|(?:\.|::|\#)(?=[A-Za-z_$\\]))*+{_AFTER}(?![@+~\-\\/]))
    | (?P<generic>{_BEFORE}[A-Z][A-Za-z0-9_$]*+(?P<types>{_TYPES})(?:\.{_NAME})++{_AFTER})
    | (?P<path>{_PATH_START}(?:[A-Za-z]:)?[\\/]?(?:{_SEGMENT}++[\\/])++{_SEGMENT}*+)
    | (?P<file>{_PATH_START}[A-Za-z0-9_@$][A-Za-z0-9_@$+.\-]*{_EXTENSION}{_AFTER}(?!\())
    | (?P<chain>{_BEFORE}{_NAME}(?:(?:\.|::|\#){_NAME})++{_AFTER})
    | (?P<word>{_BEFORE}{_NAME}{_AFTER})
    """,
    re.VERBOSE,
)
_SYMBOL_ID = re.compile(rf"::?({_NAME}(?:(?:\.|::){_NAME})*+)(?:\#\d{{1,4}})?")
_WHOLE_CALL = re.compile(rf"(?P<name>{_NAME}(?:(?:\.|::|\#){_NAME})*+)\s?\([^()]{{0,500}}\)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ROLE = re.compile(r":(?:[A-Za-z]{1,10}:)?[A-Za-z]{1,12}:$")
_ROLE_TARGET = re.compile(r"[~!]?([^<>]*)$|[^<>]*<[~!]?([^<>]+)>$")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,500})(?:[ \t]+\"[^\"\n]{0,200}\")?\)")
_PLURAL = re.compile(r"\((?:e?s|ies|e?d|ing|e?r|ly|n)\)")
_GO_FRAME = re.compile(rf"({_NAME}(?:\.{_NAME})+?)(?:\.func\d+(?:\.\d+)*)*")
"""`server.NewServer` at the end of a package's path, as Go's stack traces have it; without its closures."""
_CLOSURES = re.compile(r"(?:\.func\d+)+$")
_SLASHES = re.compile(r"([\\/])")
_SEPARATORS = re.compile(rf"{_TYPES}?(?:\)[ .]|\.|::|#)|['\u2019]s\s")
_POSSESSIVE = re.compile(rf"['\u2019]s[ \t]{_NAME}{_AFTER}(?!\()")
_HAS_EXTENSION = re.compile(rf"{_EXTENSION}$")
_WORDS_IN_SPAN = re.compile(rf"({IDENTIFIER})\s+(?={IDENTIFIER})")
_BEFORE_FIRST_WORD = frozenset(" \t\"'*_#>-\u2022([\u201c\u2018")
_QUOTES = frozenset("\"'")
_SENTENCE_ENDS = frozenset(".!?:;|\n\u3002\uff01\uff1f\uff1a")


class _Label(NamedTuple):
    """The label of a Markdown link to a file."""

    start: int
    end: int
    target: str


class _Span(NamedTuple):
    """An inline code span: the whole, its content, and whether a role stands before it."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    role: bool


class _Place(NamedTuple):
    """What surrounds a token: a fenced block, or a code span that reads as code (then its rule)."""

    fenced: bool = False
    span_rule: str = ""


_PROSE = _Place()
_FENCED = _Place(fenced=True)


def mentions(title: str, content: str, rules: tuple[Rule, ...] = ()) -> tuple[Mention, ...]:
    """Everything in title and content that may name code: what own rules find, then all else in text order.

    Bare lower-case words are given once a field, common English words only where they are marked.
    """
    in_title = mentions_in("title", title[:SCAN_LIMIT], rules)
    return (*in_title, *mentions_in("content", content[:SCAN_LIMIT], rules))[:MAX_MENTIONS]


@lru_cache(maxsize=64)
def mentions_in(field: str, text: str, rules: tuple[Rule, ...] = ()) -> tuple[Mention, ...]:
    """`mentions` of one field; remembered, since each link asks again.

    Args:
        field: its name.
        text: no longer than `SCAN_LIMIT`.
        rules: the project's own.
    """
    text = without_colours(text)
    own = tuple(found_by(rules, field, text))
    found: list[Mention] = []
    for mention in chain(own, _Reader(field, text).read()):
        if own and mention.custom is None and any(_overlap(mention, one) for one in own):
            continue  # the project's own rule says what is meant here
        if mention.end - mention.start <= MAX_NAME_LENGTH:
            found.append(mention)
        if len(found) >= MAX_MENTIONS:
            break
    return tuple(found)


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


class _Reader:
    """Reads one field."""

    def __init__(self, field: str, text: str) -> None:
        self._field = field
        self._text = text
        self._seen_words: set[str] = set()
        self._fences = tuple(_fences(text))
        self._labels = tuple(self._find_labels())
        self._title_case = field == "title" and _is_title_case(text)

    def read(self) -> Iterator[Mention]:
        at = 0
        for start, end in (*self._fences, (len(self._text), len(self._text))):
            yield from self._prose(at, start)
            yield from self._tokens(start, end, _FENCED)
            at = end

    def _prose(self, start: int, end: int) -> Iterator[Mention]:
        at = start
        for span in _code_spans(self._text, start, end):
            yield from self._tokens(at, span.start)
            yield from self._span(span)
            at = span.end
        yield from self._tokens(at, end)

    def _span(self, span: _Span) -> Iterator[Mention]:
        start, end = span.inner_start, span.inner_end
        rule = "code_span"
        if span.role:
            rule = "role"
            target = _ROLE_TARGET.match(self._text, start, end)
            if target is not None:
                start, end = target.span(1 if target.group(1) is not None else 2)
        while start < end and self._text[start].isspace():
            start += 1
        while end > start and self._text[end - 1].isspace():
            end -= 1
        inner = self._text[start:end]
        whole = _TOKEN.fullmatch(inner) or _WHOLE_CALL.fullmatch(inner)
        if whole is not None and whole.lastgroup in {"chain", "word", "name"}:
            name = whole.group(whole.lastgroup)
            yield self._mention(start, start + len(name), rule, marked=True)
        elif not inner.isascii() and inner.removesuffix("()").isidentifier():
            name = inner.removesuffix("()")
            # Composed, as nearly all source is, also where the text was not.
            composed = unicodedata.normalize("NFC", name)
            yield self._mention(start, start + len(name), rule, marked=True)._replace(text=composed)
        elif inner.startswith(".") and is_identifier(inner[1:].removesuffix("()")):
            yield self._mention(start + 1, start + len(inner.removesuffix("()")), rule, marked=True)
        else:
            yield from self._tokens(start, end, _Place(span_rule=rule if _reads_as_code(inner) else ""))

    def _tokens(self, start: int, end: int, place: "_Place" = _PROSE) -> Iterator[Mention]:
        at = start
        while at < end and (token := _TOKEN.search(self._text, at, end)) is not None:
            at = token.end()
            if token.lastgroup == "word":
                yield from self._word(token.start(), at, place)
            elif token.lastgroup in {"path", "file"}:
                at = yield from self._path(token, end, place)
            else:
                yield from self._other(token, place)

    def _other(self, token: re.Match[str], place: "_Place") -> Iterator[Mention]:
        kind = token.lastgroup
        if kind == "chain":
            end = token.start() + len(_CLOSURES.sub("", token.group()))
            if end < token.end():
                yield self._mention(token.start(), end, "call", marked=True)
                return
            called = self._text[token.end() : token.end() + 1] == "("
            if not called and not place.span_rule and self._text[token.end() - 2] in ".:#":
                return  # an abbreviation ("e.g"), hardly a name of one letter
            rule = place.span_rule or ("call" if called else "dotted")
            yield self._mention(*token.span(), rule, marked=called or bool(place.span_rule))
        elif kind == "receiver":
            yield self._mention(*token.span("member"), "receiver", marked=True)
        elif kind == "generic":
            yield self._mention(*token.span(), "receiver", marked=True)
            yield from self._tokens(*token.span("types"), place)
        elif kind == "escaped":
            yield from self._escaped(token, place)
        elif kind == "url" and token.group().startswith("file://"):
            yield self._mention(*token.span(), "path", marked=True)
        elif kind in {"py_frame", "js_frame"}:
            yield from self._frame(token, kind.removesuffix("_frame"))
        elif kind in {"import", "js_import"}:
            yield from self._import(token)

    def _escaped(self, token: re.Match[str], place: "_Place") -> Iterator[Mention]:
        r"""A name whose underscores are escaped (`retry\_count`), read as if they were not."""
        start, end = token.span()
        name = token.group().replace("\\_", "_")
        if _HAS_EXTENSION.search(name):
            yield Mention(self._field, start, end, "path", name)
            return
        label = self._label_at(start)
        called = self._text[end : end + 1] == "("
        marked = called or bool(place.span_rule) or label is not None
        rule = place.span_rule or ("call" if called else "markdown_link" if label else "")
        rule = rule or ("dotted" if len(name_parts(name)) > 1 else shape_of(name))
        if rule:
            yield Mention(self._field, start, end, rule, name, marked, label.target if label else None)

    def _word(self, start: int, end: int, place: "_Place") -> Iterator[Mention]:
        whole = self._text
        text, before, after = whole[start:end], whole[start - 1 : start], whole[end : end + 1]
        if before == "-" and whole[max(start - 2, 0) : start] in {"-", "--"}:
            return
        label = self._label_at(start)
        called = (
            after == "(" and not _PLURAL.match(whole, end) and not self._is_foreign_call(start, text, place)
        )
        if called or label is not None or (place.span_rule and before not in _QUOTES):
            rule = place.span_rule or ("call" if called else "markdown_link")
            yield self._mention(start, end, rule, marked=True, scope=label.target if label else None)
            return
        if after == "=" and whole[end + 1 : end + 2] not in {"=", ">"}:
            return
        rule = shape_of(text)
        if rule in {"word", "capitalised"}:
            hyphenated = before == "-" or after == "-"
            if place.fenced or hyphenated or len(text) < MIN_BARE_LENGTH or text in self._seen_words:
                return
            if is_common_word(text) and (rule == "word" or self._starts_sentence(start)):
                return
            self._seen_words.add(text)
        if rule:
            yield Mention(self._field, start, end, rule, text)
        if rule in {"capitalised", "pascal_case"} and (of := _POSSESSIVE.match(whole, end)):
            yield self._mention(start, of.end(), "possessive")

    def _is_foreign_call(self, start: int, name: str, place: "_Place") -> bool:
        """Whether a call is probably not the project's: a built-in in a code block, `", ".join(…)`."""
        before = self._text[max(start - 8, 0) : start]
        on_expression = before.endswith(".") and not before[-2:-1].isspace() and before != "."
        if on_expression and not before.endswith("super()."):
            return is_common_word(name) or name in BUILT_IN
        return place.fenced and name in BUILT_IN

    def _path(self, token: re.Match[str], limit: int, place: "_Place") -> Generator[Mention, None, int]:
        """The path, or the symbol it goes on to name; returns where reading goes on."""
        start = token.start()
        end = start + len(token.group().rstrip(".-+~@"))
        symbol = _SYMBOL_ID.match(self._text, end, limit)
        if symbol is not None and _HAS_EXTENSION.search(self._text, start, end):
            scope = self._text[start:end]
            yield Mention(
                self._field, *symbol.span(1), "symbol_id", symbol.group(1), marked=True, scope=scope
            )
            return symbol.end()
        yield self._mention(start, end, "path")
        if not _HAS_EXTENSION.search(self._text, start, end):
            yield from self._segments(start, end, place)
        return token.end()

    def _segments(self, start: int, end: int, place: "_Place") -> Iterator[Mention]:
        """The words of `handleClick/useData`, a slash between names; the function of a Go package."""
        at = start
        for part in _SLASHES.split(self._text[start:end]):
            name = part.strip(".-+~@")
            if is_identifier(name):
                offset = at + part.index(name)
                yield from self._word(offset, offset + len(name), place)
            at += len(part)
        if self._text[end : end + 1] == "(" and (frame := _GO_FRAME.fullmatch(part)) is not None:
            yield self._mention(end - len(part), end - len(part) + frame.end(1), "call", marked=True)

    def _frame(self, token: re.Match[str], language: str) -> Iterator[Mention]:
        path = token.group(f"{language}_file")
        yield self._mention(*token.span(f"{language}_file"), "path", marked=True)
        if token.group(f"{language}_name"):
            yield self._mention(*token.span(f"{language}_name"), "stack_trace", marked=True, scope=path)

    def _import(self, token: re.Match[str]) -> Iterator[Mention]:
        names, module = ("names", "module") if token.lastgroup == "import" else ("js_names", "js_module")
        offset = token.start(names)
        for name in re.finditer(IDENTIFIER, token.group(names)):
            start, end = offset + name.start(), offset + name.end()
            yield self._mention(start, end, "import", marked=True, scope=token.group(module))

    def _mention(
        self, start: int, end: int, rule: str, *, marked: bool = False, scope: str | None = None
    ) -> Mention:
        if scope is None and (label := self._label_at(start)) is not None:
            scope = label.target
        return Mention(self._field, start, end, rule, self._text[start:end], marked, scope)

    def _find_labels(self) -> Iterator[_Label]:
        for link in _MARKDOWN_LINK.finditer(self._text):
            target = link.group(2).partition("#")[0]
            if "://" not in target and _HAS_EXTENSION.search(target):
                yield _Label(*link.span(1), target)

    def _label_at(self, position: int) -> _Label | None:
        if not self._labels:
            return None
        index = bisect_right(self._labels, position, key=lambda label: label.start) - 1
        label = self._labels[index] if index >= 0 else None
        return label if label is not None and position < label.end else None

    def _starts_sentence(self, start: int) -> bool:
        if self._title_case:
            return True
        at = start - 1
        while at >= 0 and self._text[at] in _BEFORE_FIRST_WORD:
            at -= 1
        return at < 0 or self._text[at] in _SENTENCE_ENDS


def shape_of(name: str) -> str:
    """What a bare name looks like; "" where it can be no more than a word in capitals or a stray letter."""
    letters = name.strip("_$")
    if len(letters) < 2 or name.isupper():
        return "snake_case" if "_" in letters and len(letters) > 2 else ""
    if "_" in name or "$" in name:
        return "snake_case"
    if name[1:] != name[1:].lower():
        return "camel_case" if name[0].islower() else "pascal_case"
    return "word" if name[0].islower() else "capitalised"


def name_parts(text: str) -> tuple[str, ...]:
    """`Class.method`, `Class::method`, `Class#method`, `Class) Method` of a Go receiver in parts."""
    return (text,) if text.isidentifier() else tuple(_SEPARATORS.split(text))


def _reads_as_code(inner: str) -> bool:
    """Whether a code span with several words is code, not a shell command or a sentence (`git commit`)."""
    return CODE_KEYWORDS.issuperset(_WORDS_IN_SPAN.findall(inner))


def _is_title_case(text: str) -> bool:
    words = [word.group() for word in re.finditer(r"[A-Za-z]{4,}", text[:1000])]
    return sum(word[0].isupper() for word in words) * 2 > len(words)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Fenced code blocks, from the line after the opening fence to the closing one (or the end)."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence.group(1).startswith(opened.group(1)) and not text[fence.end(1) : fence.end()].strip():
            yield opened.end(), fence.start()
            opened = None
    if opened is not None:
        yield opened.end(), len(text)


def _code_spans(text: str, start: int, end: int) -> Iterator[_Span]:
    """Inline code spans: a run of backticks to the next run of the same length in the same paragraph."""
    runs = [run.span() for run in _BACKTICKS.finditer(text, start, end)]
    if not runs:
        return
    blank = [line.start() for line in _BLANK_LINE.finditer(text, start, end)]
    same_length: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(runs):
        same_length.setdefault(last - first, []).append(index)
    index = 0
    while index < len(runs):
        first, last = runs[index]
        equals = same_length[last - first]
        later = bisect_right(equals, index)
        closing = equals[later] if later < len(equals) else None
        if closing is None or bisect_left(blank, last) != bisect_left(blank, runs[closing][0]):
            index += 1
            continue
        role = _ROLE.search(text, max(first - 30, start), first)
        begins = role.start() if role is not None else first
        yield _Span(begins, runs[closing][1], last, runs[closing][0], role is not None)
        index = closing + 1

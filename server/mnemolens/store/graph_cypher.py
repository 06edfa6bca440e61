"""The guard of user-written Cypher: lets read-only queries pass, and nothing that could touch a file.

A read-only transaction of the database still reads and writes files (`LOAD FROM`, `COPY … TO`) and runs
calls, so the text is checked before: cut into tokens as the database's own grammar does, one statement, a
first keyword that reads, and none of the keywords that do more. Where this tokeniser and the database's could
disagree (an unknown escape, a character of no token) the query is refused. Knows no database driver.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.store.graph_schema import NODE_TABLES, REL_TABLES

MAX_QUERY: Final = 20_000
MAX_RANGE: Final = 100_000
"""The longest list that `range` may make, and the longest padding: the database makes it in one go."""

_MAX_DEPTH: Final = 8
_MAX_BRACKETS: Final = 40
"""Brackets in brackets: reading more takes the database longer than anybody waits."""

_MAX_ITEMS: Final = 10_000
_FIRST: Final = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"})
_REFUSED: Final = frozenset({
    "CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "DROP", "ALTER", "COPY", "LOAD", "EXPORT",
    "IMPORT", "ATTACH", "INSTALL", "USE", "CALL", "BEGIN", "COMMIT", "ROLLBACK", "CHECKPOINT",
})  # fmt: skip
_NAMES: Final = frozenset({"word", "quoted"})
_KINDS: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "STRING": ((str,), "a text"),
    "INT64": ((int,), "a whole number"),
    "DOUBLE": ((int, float), "a number"),
    "BOOL": ((bool,), "true or false"),
}
_COLUMNS: Final = {
    *(column for columns in NODE_TABLES.values() for column in columns),
    *(column for table in REL_TABLES.values() for column in table.columns),
}
_TYPES: Final = {column.name: column.type for column in _COLUMNS if column.type in {*_KINDS, "TIMESTAMP"}}
"""The type of each property; properties of one name are of one type."""

_GREEDY: Final = frozenset({"RANGE", "REPEAT", "LPAD", "RPAD"})
"""Functions that make as much as a number says."""

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\r\n]*(?=\r?\n|\Z)|/\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>(?:`[^`]*`)+)
    | (?P<parameter>\$(?:\w+|`[^`]*`))
    | (?P<number>\d+\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?(?![\w]))
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>/(?!\*)|[][(){}<>=+\-*%^.,:;|!&~@#])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[\\'\"bfnrtBFNRT]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_NAME = re.compile(r"[^\W\d]\w*", re.ASCII)
_INT64: Final = range(-(2**63), 2**63)


class Token(NamedTuple):
    """One token that means something.

    Attributes:
        kind: "string", "quoted", "parameter", "number", "word" or "sign".
    """

    kind: str
    text: str


def check_query(cypher: object, parameters: object = None) -> dict[str, Any]:
    """Lets a read-only query pass.

    Returns:
        The parameters, checked.

    Raises:
        InvalidArgument: the query is not allowed, or parameters are wrong; names the field.
    """
    if not isinstance(cypher, str):
        raise InvalidArgument("cypher", "must be a text")
    if not _is_text(cypher):
        raise InvalidArgument("cypher", "is no valid text")
    given = _check_parameters({} if parameters is None else parameters)
    tokens = tokens_of(cypher)
    while tokens and tokens[-1] == (("sign", ";")):
        tokens.pop()
    if not tokens:
        raise InvalidArgument("cypher", "is empty")
    if ("sign", ";") in tokens:
        raise InvalidArgument("cypher", "one statement at a time: no `;` inside")
    _check_words(tokens)
    _check_brackets(tokens)
    _check_amounts(tokens, given)
    _check_names(tokens, given)
    return _fitted(tokens, given)


def tokens_of(cypher: str) -> list[Token]:
    """The query's tokens, without white space and comments.

    Raises:
        InvalidArgument: something in it is no token, or is not closed.
    """
    if len(cypher) > MAX_QUERY:
        raise InvalidArgument("cypher", f"is longer than {MAX_QUERY:,} characters")
    tokens = []
    at = 0
    while at < len(cypher):
        found = _TOKEN.match(cypher, at)
        if found is None:
            raise InvalidArgument("cypher", _stumbled(cypher, at))
        kind, text = str(found.lastgroup), found.group()
        if kind == "string":
            _check_escapes(text, at)
        if kind not in {"space", "comment"}:
            tokens.append(Token(kind, text))
        at = found.end()
    return tokens


def _stumbled(cypher: str, at: int) -> str:
    opened = {"'": "a string", '"': "a string", "`": "a quoted name"}.get(cypher[at])
    if cypher.startswith("/*", at):
        opened = "a comment"
    if opened:
        return f"{opened} is opened at character {at + 1} and not closed"
    return f"can't be read at character {at + 1}: {cypher[at]!r}"


def _check_escapes(text: str, at: int) -> None:
    place = 1
    while (place := text.find("\\", place)) >= 0:
        found = _ESCAPE.match(text, place)
        if found is None:
            raise InvalidArgument("cypher", f"unknown escape {text[place : place + 2]!r} at {at + place + 1}")
        place = found.end()


def _folded(word: str) -> str:
    """A word as a lenient reader would take it: look-alikes and case do not hide a keyword."""
    return unicodedata.normalize("NFKC", word).casefold().upper()


def _check_words(tokens: Sequence[Token]) -> None:
    first = tokens[0]
    if first.kind != "word" or _folded(first.text) not in _FIRST:
        raise InvalidArgument(
            "cypher",
            f"must begin with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN, not {first.text[:40]!r}",
        )
    for before, token in zip([Token("sign", ";"), *tokens], tokens, strict=False):
        if token.kind != "word":
            continue
        word = _folded(token.text)
        if word in _REFUSED and before.text != ".":
            raise InvalidArgument(
                "cypher", f"only reading is allowed: {word} is not (a name that reads so goes in backticks)"
            )


def _check_brackets(tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if depth > _MAX_BRACKETS:
            raise InvalidArgument("cypher", f"is nested more than {_MAX_BRACKETS} deep")


def _check_amounts(tokens: Sequence[Token], parameters: Mapping[str, Any]) -> None:
    """Amounts must be plain, small numbers: `range(1, 1000000000)` takes gigabytes, and nothing stops it."""
    for at, token in enumerate(tokens):
        called = at + 1 < len(tokens) and tokens[at + 1].text == "("
        name = _folded(token.text.strip("`"))
        if token.kind not in {"word", "quoted"} or not called or name not in _GREEDY:
            continue
        arguments = list(_arguments(tokens, at + 2))
        amounts = arguments if name == "RANGE" else arguments[1:2]
        for argument in amounts:
            amount = _amount(argument, parameters)
            if amount is None or abs(amount) > MAX_RANGE:
                raise InvalidArgument(
                    "cypher", f"{name.lower()}() takes plain numbers up to {MAX_RANGE:,} here"
                )


def _arguments(tokens: Sequence[Token], at: int) -> Iterator[list[Token]]:
    depth = 0
    argument: list[Token] = []
    for token in tokens[at:]:
        if token.text in {")", "]", "}"} and token.kind == "sign":
            if depth == 0:
                break
            depth -= 1
        elif token.text in {"(", "[", "{"} and token.kind == "sign":
            depth += 1
        if token == ("sign", ",") and depth == 0:
            yield argument
            argument = []
        else:
            argument.append(token)
    yield argument


def _amount(argument: Sequence[Token], parameters: Mapping[str, Any]) -> int | None:
    signs = [token for token in argument if token == ("sign", "-")]
    rest = [token for token in argument if token != ("sign", "-")]
    if len(rest) != 1 or len(signs) > 1:
        return None
    if rest[0].kind == "number" and rest[0].text.isdecimal():
        return int(rest[0].text)
    if rest[0].kind == "parameter":
        value = parameters.get(rest[0].text[1:])
        return value if isinstance(value, int) else None
    return None


def _check_names(tokens: Sequence[Token], parameters: Mapping[str, Any]) -> None:
    named = {token.text[1:] for token in tokens if token.kind == "parameter"}
    missing, unknown = sorted(named - parameters.keys()), sorted(parameters.keys() - named)
    if missing:
        raise InvalidArgument("parameters", f"no value for ${missing[0]}")
    if unknown:
        raise InvalidArgument("parameters", f"the query has no ${unknown[0]}")


def _fitted(tokens: Sequence[Token], parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters as the properties that they are compared with have them.

    The database takes a value of another type without a word, and matches nothing.
    """
    fitted = dict(parameters)
    for at, token in enumerate(tokens):
        name = _property_before(tokens, at) if token.kind == "parameter" else None
        type_ = _TYPES.get(name) if name is not None else None
        given = token.text[1:]
        if name is None or type_ is None or parameters[given] is None:
            continue
        value, kind = _fit(type_, parameters[given])
        if kind:
            raise InvalidArgument(f"parameters.{given}", f"{name} is {kind}")
        fitted[given] = value
    return fitted


def _property_before(tokens: Sequence[Token], at: int) -> str | None:
    """The property that the parameter there is the value of: `{name: $p}` of a pattern, `x.name = $p`."""
    if at >= 2 and tokens[at - 1].text == ":" and tokens[at - 2].kind in _NAMES:
        return tokens[at - 2].text.strip("`") if _in_pattern(tokens, at - 3) else None
    before = at - 1
    while before > 0 and tokens[before].text in {"=", "<", ">"}:
        before -= 1
    if before == at - 1 or before < 1 or tokens[before].kind not in _NAMES or tokens[before - 1].text != ".":
        return None
    return tokens[before].text.strip("`")


def _in_pattern(tokens: Sequence[Token], at: int) -> bool:
    """Whether the brace that is open there belongs to a node or relation: `(x {`, `(:Label {`, `[r {`."""
    depth = 0
    while at >= 0 and (depth or tokens[at].text != "{"):
        depth += (tokens[at].text in {"}", ")", "]"}) - (tokens[at].text in {"{", "(", "["})
        at -= 1
    return at >= 2 and tokens[at - 1].kind in _NAMES and tokens[at - 2].text in {"(", "[", ":", "|"}


def _fit(type_: str, value: Any) -> tuple[Any, str]:
    """(the value as a property of that type has it, "" or what such a property is)."""
    if type_ == "TIMESTAMP":
        if isinstance(value, str):
            with suppress(ValueError):
                value = datetime.fromisoformat(value)
        if not isinstance(value, datetime):
            return value, "a time: ISO 8601"
        return value.astimezone(UTC).replace(tzinfo=None), ""  # a naive one is local time
    wanted, words = _KINDS[type_]
    if isinstance(value, bool) and type_ != "BOOL":
        return value, words
    return value, "" if isinstance(value, wanted) else words


def _check_parameters(parameters: object) -> dict[str, Any]:
    if not isinstance(parameters, Mapping):
        raise InvalidArgument("parameters", "must be an object of names and values")
    count = [0]
    for name, value in parameters.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidArgument("parameters", f"{name!r} is no name")
        _check_value(f"parameters.{name}", value, 0, count)
    return dict(parameters)


def _check_value(field: str, value: object, depth: int, count: list[int]) -> object:
    """The value's kind, so that those of a list can be held together; None where it can be any."""
    count[0] += 1
    if depth > _MAX_DEPTH or count[0] > _MAX_ITEMS:
        raise InvalidArgument(field, f"holds more than {_MAX_ITEMS:,} values, or is nested too deeply")
    if isinstance(value, list | tuple):
        kind: object = None
        for item in value:
            kind = _common(field, kind, _check_value(field, item, depth + 1, count))
        return [kind]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidArgument(field, "keys must be texts")
        if not all(map(_is_text, value)):
            raise InvalidArgument(field, "a key is no valid text")
        return {key: _check_value(field, item, depth + 1, count) for key, item in value.items()}
    if value is None:
        return None
    _check_scalar(field, value)
    return next(kind for kind in (bool, int | float, str, datetime) if isinstance(value, kind))


def _common(field: str, one: object, other: object) -> object:
    """The kind of both: values of several kinds in one list end the database, or come back as others."""
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, list) and isinstance(other, list):
        return [_common(field, one[0], other[0])]
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: _common(field, one[key], other[key]) for key in one}
    if one != other:
        raise InvalidArgument(field, "all values of a list must be of one kind, objects with the same keys")
    return one


def _check_scalar(field: str, value: object) -> None:
    if isinstance(value, int) and value not in _INT64:
        raise InvalidArgument(field, "is no 64-bit number")
    if isinstance(value, str):
        if not _is_text(value):
            raise InvalidArgument(field, "is no valid text")
    elif not isinstance(value, bool | int | float | datetime):
        raise InvalidArgument(field, f"a {type(value).__name__} can't be given to a query")


def _is_text(text: str) -> bool:
    """Whether it can be written as UTF-8: half of a surrogate pair can't, and ends the database."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

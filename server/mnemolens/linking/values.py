"""Values that linking takes and gives: what a text mentions, what it matches, and how code is looked up."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from mnemolens.core.memories import Evidence, LinkContext
from mnemolens.core.symbols import SymbolKey, SymbolKind

CANDIDATE_BELOW = 0.5
"""A match of lower relevance is offered, but neither shown in hover nor counted in a lens."""


class Rule(NamedTuple):
    """A project's own way of naming code, from the setting `linking.rules`.

    Attributes:
        pattern: RE2's syntax; names what its first group holds, else the whole match.
        kind: what may be named.
        score: relevance of a link to what is named for sure, 0..1; below .5 it is offered only.
    """

    pattern: str
    kind: Literal["symbol", "function", "class", "file"] = "symbol"
    score: float = 0.8


class Mention(NamedTuple):
    """A stretch of text that may name code.

    Attributes:
        field: "title" or "content".
        start: code point offset in that field, `end` exclusive.
        rule: how it was recognised: "code_span", "call", "role", "stack_trace", "import",
            "symbol_id", "markdown_link", "dotted", "snake_case", "camel_case", "pascal_case",
            "capitalised", "word", "possessive" (`Class's member`), "receiver" (`(c *Class) Member`),
            "path"; "custom" of a rule of the project's own.
        text: the name, the dotted names, or the path.
        marked: written as code or called, so that it means code even if it is an English word.
        scope: path or dotted module that it was written with (`from scope import text`, `scope::text`).
        custom: the project's own rule that found it.
    """

    field: str
    start: int
    end: int
    rule: str
    text: str
    marked: bool = False
    scope: str | None = None
    custom: Rule | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One place in the code that a memory speaks of.

    Attributes:
        relevance: 1.0 for files of the metadata, .8 for sure mentions, less for less certain ones.
        candidate: relevance below .5.
    """

    target: SymbolKey
    kind: SymbolKind
    relevance: float
    context: LinkContext
    evidence: Evidence
    candidate: bool = False


class SymbolLookup(Protocol):
    """The code graph as linking asks for it; hash lookups, never a scan."""

    def keys_named(self, name: str) -> Collection[SymbolKey]:
        """All symbols (not files) whose last name is exactly this one."""

    def files_ending(self, suffix: str) -> Collection[str]:
        """All files whose path is `suffix` or ends with it on whole segments."""

    def kind_of(self, key: SymbolKey) -> SymbolKind | None:
        """The symbol's kind, None when there is none of that key."""

    def has_file(self, path: str) -> bool:
        """Whether a file of exactly that path is indexed."""

    def meaning(self, file: str, name: str, receiver: str) -> SymbolKey | None:
        """What `name`, or `receiver.name`, means at the top level of a file, imports followed."""

"""Names that a project writes in a way of its own, found by patterns from its settings.

Patterns are RE2's: a match takes time in proportion to text and pattern at most. Where all patterns together
are long, only the beginning of a long text is read: a repository's settings can't hold anybody up. What a
name found means is decided in `linking.match`, as for every mention.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mnemolens.linking.values import Mention, Rule

MAX_FOUND = 200
"""Of one rule in one field."""
MAX_WORK = 25_000_000
"""Characters times steps of all patterns: 70 ms at the very worst, usually 1."""


def found_by(rules: tuple[Rule, ...], field: str, text: str) -> Iterator[Mention]:
    """What the rules find in a field, rule by rule."""
    patterns = [_compiled(rule.pattern) for rule in rules]
    text = text[: MAX_WORK // max(1, sum(pattern.programsize for pattern in patterns))]
    for rule, pattern in zip(rules, patterns, strict=True):
        for number, found in enumerate(pattern.finditer(text)):
            if number >= MAX_FOUND:
                break
            start, end = found.span(1 if pattern.groups else 0)
            if 0 <= start < end <= len(text):  # `\C` is a byte, and goes on behind the end
                yield Mention(field, start, end, "custom", text[start:end], marked=True, custom=rule)


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    import re2  # only where a project has rules

    options = re2.Options()
    options.log_errors = False  # to standard error
    return re2.compile(pattern, options=options)

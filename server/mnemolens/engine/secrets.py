"""Keeps secrets out of what is stored: finds them, says where they are, never says what they are.

Owns the gate that a capture, an edit and an import pass before anything is written, and its wording; what
secrets look like stands in `secret_rules`. Neither a `Secret` nor an error holds any of the text, so that
neither a message nor a log can repeat it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.long_texts import remembered
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.secret_rules import RULES, Rule, key_blocks, named_secret, value_group

_WINDOW = 120
"""How far a pattern that begins before its literal may reach behind it."""

MAX_NAMED = 3
"""How many secrets an error names one by one."""


class Secret(NamedTuple):
    """Where a text holds a secret, and of what kind: code points, `start` included, `end` not."""

    kind: str
    start: int
    end: int


class FieldSecret(NamedTuple):
    """A secret in one field of a memory.

    Attributes:
        field: as on the wire: "content", "title", "tags[0]", "metadata.deploy.key"; where a metadata key
            itself holds the secret, the path ends before it.
    """

    field: str
    kind: str
    start: int
    end: int


class SecretFound(InvalidArgument):
    """A text that was to be stored holds a secret; `field` is the first one's.

    Attributes:
        secrets: all that were found, in the order of the fields.
    """

    def __init__(self, secrets: Sequence[FieldSecret]) -> None:
        first = secrets[0].field
        others = len(secrets) - MAX_NAMED
        named = ", ".join(_described(one, first) for one in secrets[:MAX_NAMED])
        more = f", and {others} more" if others > 0 else ""
        super().__init__(
            first,
            f"looks like it holds {named}{more}; nothing was stored. "
            "Take it out, or set allowSecret to store it all the same",
        )
        self.secrets = tuple(secrets)


@remembered
def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in a text, in order, none overlapping. Linear in the text's length."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some capitals have two small letters: places must stay the same
        lowered = "".join(small if len(small := c.lower()) == 1 else c for c in text)
    found = [Secret("private key", start, end) for start, end in key_blocks(text)]
    for rule in RULES:
        found += [
            Secret(rule.kind, *match.span(value_group(match))) for match in _matches(rule, text, lowered)
        ]
    return _without_overlaps(found)


def _matches(rule: Rule, text: str, lowered: str) -> Iterator[re.Match[str]]:
    """Where the rule's pattern matches and its check agrees."""
    for literal in rule.literals:
        after = 0
        at = lowered.find(literal)
        while at >= 0:
            if rule.back:
                match = rule.pattern.search(text, max(after, at - rule.back), at + _WINDOW)
            else:
                match = rule.pattern.match(text, at)
            if match is not None and rule.check(match):
                after = match.end()
                yield match
            at = lowered.find(literal, max(after, at + len(literal)))


def secrets_in(fields: Mapping[str, Any]) -> tuple[FieldSecret, ...]:
    """The secrets in a memory's fields.

    Args:
        fields: {name on the wire: value}; texts, and lists and objects of JSON to any depth, keys included.
            Other values hold no secret.
    """
    return tuple(secret for name, value in fields.items() for secret in _secrets_of(name, value))


def request_fields(request: CaptureRequest) -> dict[str, Any]:
    """All text of a capture, by the fields' names on the wire, for `refuse_secrets`."""
    return {
        "content": request.content,
        "title": request.title,
        "tags": request.tags,
        "metadata": request.metadata,
        "id": request.id,
        "sessionId": request.session_id,
        "agentId": request.agent_id,
        "author": request.author,
        "parentId": request.parent_id,
        "trigger": request.trigger,
    }


def refuse_secrets(fields: Mapping[str, Any]) -> None:
    """Lets fields without secrets pass.

    Raises:
        SecretFound: one holds a secret; names field, kind and span, and none of the text.
    """
    secrets = secrets_in(fields)
    if secrets:
        raise SecretFound(secrets)


def _described(secret: FieldSecret, field: str) -> str:
    article = "an" if secret.kind[0] in "AEIOaeio" else "a"
    where = "" if secret.field == field else f" of {secret.field}"
    return f"{article} {secret.kind} (characters {secret.start} to {secret.end}{where})"


def _secrets_of(name: str, value: Any) -> Iterator[FieldSecret]:
    stack: list[tuple[str, Any]] = [(name, value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, str):
            yield from (FieldSecret(path, *secret) for secret in find_secrets(item))
        elif isinstance(item, Mapping):
            inner: list[tuple[str, Any]] = []
            for key, part in item.items():
                telling = find_secrets(str(key))
                yield from (FieldSecret(path, *secret) for secret in telling)
                below = path if telling else f"{path}.{key}"  # a key that is a secret is not repeated
                named = named_secret(str(key), part) if isinstance(part, str) else None
                if named is not None and not find_secrets(part):
                    yield FieldSecret(below, named, 0, len(part))
                else:
                    inner.append((below, part))
            stack += reversed(inner)
        elif isinstance(item, list | tuple):
            stack += [(f"{path}[{at}]", part) for at, part in reversed(list(enumerate(item)))]


def _without_overlaps(found: Iterable[Secret]) -> tuple[Secret, ...]:
    """The secrets by place; where two overlap the one found first, which is the more telling."""
    kept: list[Secret] = []
    starts: list[int] = []
    for secret in found:
        at = bisect_left(starts, secret.start)
        free_before = at == 0 or kept[at - 1].end <= secret.start
        if free_before and (at == len(kept) or secret.end <= kept[at].start):
            kept.insert(at, secret)
            starts.insert(at, secret.start)
    return tuple(kept)

"""The hashes of units, of their own tokens and those of the units in them."""

from hashlib import sha256

from mnemolens.codegraph.units import Unit

Nested = list[tuple[int, Unit]]
"""The units in a unit, each with how many of its own tokens stand before it."""
Mark = tuple[int, int]
"""A place in a unit's text: how many of its own tokens, and how many units, stand before it."""


def _framed(tokens: list[bytes]) -> bytes:
    """Tokens as one text in which each can be found: NUL before, SOH after each."""
    return b"\0" + b"\1\0".join(tokens) + b"\1" if tokens else b""


def _blob(parts: list[bytes], nested: Nested, start: Mark, end: Mark) -> tuple[bytes, int]:
    """The framed tokens of own text and nested units between two places, and their number."""
    at, count = start[0], end[0] - start[0]
    if start[1] == end[1]:
        return _framed(parts[at : end[0]]), count
    pieces: list[bytes] = []
    for place, unit in nested[start[1] : end[1]]:
        pieces.append(_framed(parts[at:place]))
        pieces.append(unit.blob)
        count += unit.token_count
        at = place
    pieces.append(_framed(parts[at : end[0]]))
    return b"".join(pieces), count


def digest(blob: bytes) -> str:
    """16 hex digits of sha256."""
    return sha256(blob).hexdigest()[:16]


def add_hashes(
    unit: Unit, parts: list[bytes], nested: Nested, body_start: Mark | None, body_end: Mark | None
) -> None:
    """Fill in what needs the units in it, which have theirs."""
    first, last = (0, 0), (len(parts), len(nested))
    if body_start is None:
        # Without a body, what follows the name stands for it.
        name = unit.name.encode()
        behind = parts.index(name) + 1 if name in parts else 0
        body_start = behind, sum(place < behind for place, _ in nested)
    if body_end is None:
        body_end = last
    head, head_count = _blob(parts, nested, first, body_start)
    body, body_count = _blob(parts, nested, body_start, body_end)
    tail, tail_count = _blob(parts, nested, body_end, last)
    unit.blob = head + body + tail
    unit.token_count = head_count + body_count + tail_count
    masked = unit.blob.replace(b"\0%b\1" % unit.name.encode(), b"\0\1")
    unit.full_hash = digest(masked)
    unit.body_hash = digest(body)

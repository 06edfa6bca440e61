"""What a definition's head says: its signature, where its name and its end stand, the comment above it."""

from tree_sitter import Node

from mnemolens.codegraph.languages.base import Definition, Language
from mnemolens.codegraph.units import Unit, relative

MAX_SIGNATURE = 300

_HEAD_ENDS = ("=>", "{", ":")
_COMMENT_MARKS = (b"#", b"//", b"/*")
# What may stand between a doc comment and what it documents.
_MODIFIERS = frozenset(
    (
        b"export default const let var declare async public private protected static readonly abstract"
        b" override function class type"
    ).split()
)
_DECORATORS = frozenset((b"@", b"#", b"template"))


def right_above(parts: list[bytes], mark: int, rows: int) -> bool:
    """Whether nothing but modifiers and decorators stands between a doc comment, `rows` above, and here."""
    between = parts[mark:]
    if between and between[0] in _DECORATORS:
        return True
    return rows <= 1 and all(part in _MODIFIERS for part in between)


def clean_comment(comment: bytes) -> str:
    """The text of a `/** … */` comment without its stars."""
    lines = comment.decode("utf-8", "replace").removeprefix("/**").removesuffix("*/").splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines).strip()


def describe(
    unit: Unit, definition: Definition, first: Node, node: Node, source: bytes, language: Language
) -> None:
    """Fill in what the definition's head says."""
    row, column = first.start_point
    unit.docstring = definition.docstring
    unit.is_async = definition.is_async
    unit.bases = definition.bases
    unit.owner = definition.owner
    unit.bound = definition.bound
    unit.name_start = relative(definition.name_node.start_point, row, column)
    name_node = definition.name_node
    unit.name_end = unit.name_start if name_node == node else relative(name_node.end_point, row, column)
    # In broken text a name may reach further than what is clipped.
    unit.end = max(relative(_clipped_end(node, language), row, column), unit.name_end)
    body = definition.body
    stop = body.start_byte if body is not None else node.end_byte
    head = source[first.start_byte : min(stop, first.start_byte + 4 * MAX_SIGNATURE)]
    if any(mark in head for mark in _COMMENT_MARKS):
        head = _without_comments(head, first, node, language)
    text = " ".join(head.decode("utf-8", "replace").split())
    for end in _HEAD_ENDS:
        text = text.removesuffix(end).rstrip()
    unit.signature = text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def _without_comments(head: bytes, first: Node, node: Node, language: Language) -> bytes:
    """The head, a comment in it as what parts its neighbours: it is no part of the signature."""
    base, end = first.start_byte, first.start_byte + len(head)
    pieces, at = [], 0
    todo = [node]
    while todo:
        for child in todo.pop().children:
            start = child.start_byte - base
            if child.start_byte >= end:
                break
            if child.end_byte <= base:
                continue  # a decorator: the head begins behind it
            if child.type in language.comments:
                pieces.append((start, child.end_byte - base))
            elif child.child_count:
                todo.append(child)
    kept = b""
    for start, stop in sorted(pieces):
        kept = _parted(kept, head[at:start])
        at = stop
    return _parted(kept, head[at:])


_OPENING, _CLOSING = (b"(", b"[", b"{", b"<"), (b")", b"]", b"}", b">", b",", b";", b":")


def _parted(left: bytes, right: bytes) -> bytes:
    """Both with a blank between them, where one would be written."""
    left, right = left.rstrip(), right.lstrip()
    if not left or left.endswith(_OPENING) or right.startswith(_CLOSING):
        return left + right
    return left + b" " + right


def _clipped_end(node: Node, language: Language) -> tuple[int, int]:
    """Where the definition's last token ends: a block extends over comments that trail it."""
    current = node
    while (count := current.child_count) > 0:
        for at in range(count - 1, -1, -1):
            last = current.child(at)
            assert last is not None
            if last.type not in language.comments and last.end_byte > last.start_byte:
                current = last
                break
        else:
            break
    return current.end_point

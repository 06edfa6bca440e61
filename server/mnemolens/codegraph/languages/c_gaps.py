"""C and C++ that their grammars can't read, in a form that they can, every byte in its place.

Conditional code that opens or closes what others close or open (`#ifdef A`, `if (a) {`, `#else`, `if (b) {`,
`#endif`, `}`) is no tree: of it the first branch stays, without the directives. Macros that say something of
a declaration are read as its name, or not at all: they go. An arrow of another language's (`=>`), after which
the memory for a parse grows with the square of the text, becomes something that C does not know either.
"""

import re
from dataclasses import dataclass

_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*if", re.MULTILINE)
_TOKEN = re.compile(
    rb"""
    /\*.*?(?:\*/|\Z) | //[^\n]* | "(?:\\.|[^"\\\n])*+"? | '(?:\\.|[^'\\\n]){1,8}'
    | ^[ \t]*\#[ \t]*(?P<word>\w*)(?:[^\n\\]|\\\r?\n|\\.)*
    | (?P<bracket>[{}()])
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_MACRO = rb"[A-Z][A-Z\d]*_[A-Z\d_]*"
_ANNOTATIONS = re.compile(
    rb"(?:\)(?:\s+const)?|[\w>*&]\s+\w+)\s+(%b\s*\([^()\n]*\))(?=\s*[;{])"  # `int count GUARDED_BY(mutex);`
    rb"|(?<=[;{}])\s*\n[ \t]*(%b)[ \t\r]*$"  # `COMMON_FIELDS` alone on its line
    rb"|^(%b)(?=\s+(?:[a-z_]\w*[\s*]+){1,3}\w+\s*\()"  # `API_EXPORT int pay(`
    rb"|\b(?:class|struct)\s+([A-Z][A-Z\d_]{2,})(?=\s+\w+\s*(?:final\s*)?[:{])"  # `class EXPORTED Shop {`
    % ((_MACRO,) * 3),
    re.MULTILINE,
)
_FOREIGN_ARROW = re.compile(rb"(?<!<)=>")
_INSIDE = re.compile(rb"(?:[,=|&+?<(]|\)\s*:)\s*(?://[^\n]*\s*)?\Z")
_FAR = 200
_MAX_NESTED = 64
_ELSE = re.compile(rb"\s*else\b")
_OPENING = frozenset((b"if", b"ifdef", b"ifndef"))
_BETWEEN = frozenset((b"else", b"elif", b"elifdef", b"elifndef", b"endif"))
_STEPS = {b"{": (1, 0), b"}": (-1, 0), b"(": (0, 1), b")": (0, -1)}


@dataclass(slots=True)
class _Conditional:
    """An `#if` whose `#endif` is still to come.

    Attributes:
        depth: how many braces and brackets were open before it.
        after: as many after its first branch, once that has ended.
        flat: it is not a tree.
        first: where the directive itself stands.
        rest: where its first branch ends.
    """

    depth: tuple[int, int]
    flat: bool
    first: tuple[int, int]
    after: tuple[int, int] | None = None
    rest: int = -1


def mended(source: bytes) -> bytes:
    """The text without what the grammars can't read."""
    source = _FOREIGN_ARROW.sub(b"@@", source)
    if _CONDITIONAL.search(source) is not None:
        source = _flattened(source)
    return _ANNOTATIONS.sub(_without_macro, source) if _ANNOTATIONS.search(source) else source


def _without_macro(found: re.Match[bytes]) -> bytes:
    group = found.lastindex or 0
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:start] + found[0][start:end].translate(_BLANK) + found[0][end:]


def _is_inside(source: bytes, start: int, end: int) -> bool:
    """Whether a directive stands in the middle of a statement or list."""
    before = source[max(0, start - _FAR) : start]
    return _INSIDE.search(before) is not None or _ELSE.match(source, end) is not None


def _flattened(source: bytes) -> bytes:
    """The text with one branch only of each conditional that is no tree."""
    reader = _Reader(source)
    for token in _TOKEN.finditer(source):
        if bracket := token["bracket"]:
            reader.step(*_STEPS[bracket])
        elif token["word"] in _OPENING:
            reader.open(token)
            if len(reader.around) > _MAX_NESTED:
                return source
        elif token["word"] in _BETWEEN and reader.around:
            reader.turn(token)
    if not reader.blank:
        return source
    text = bytearray(source)
    for start, end in reader.blank:
        text[start:end] = text[start:end].translate(_BLANK)
    return bytes(text)


class _Reader:
    """Follows brackets and conditionals through a text.

    Attributes:
        blank: what is to go, as offsets.
        around: the conditionals that are open.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.blank: list[tuple[int, int]] = []
        self.around: list[_Conditional] = []
        self.depth = (0, 0)

    def step(self, braces: int, brackets: int) -> None:
        """Note a bracket."""
        self.depth = (self.depth[0] + braces, self.depth[1] + brackets)
        if braces < 0:
            for item in self.around:
                item.flat = item.flat or self.depth[0] < item.depth[0]

    def open(self, token: re.Match[bytes]) -> None:
        """Note an `#if`."""
        inside = self.depth[1] > 0 or _is_inside(self.source, *token.span())
        self.around.append(_Conditional(self.depth, inside, token.span()))

    def turn(self, token: re.Match[bytes]) -> None:
        """Note an `#else` or `#endif`."""
        item = self.around[-1]
        item.flat = item.flat or self.depth != item.depth
        if item.after is None:
            item.after, item.rest = self.depth, token.start()
        if token["word"] != b"endif":
            self.depth = item.depth
            return
        self.around.pop()
        self.depth = item.after
        if item.flat:
            self.blank += (item.first, (item.rest, token.end()))

"""TypeScript that is valid but that the grammar can't read, put in a form it can.

One such place makes the parser lose its way: half of a file's definitions vanish or get wrong names. Each is
replaced by something of the same length that means the same to the walk, so every byte keeps its offset, and
the text of a leaf is still read from the source. What is replaced depends on the text alone.

- Call signatures one below another without `;` between them: the white space before one becomes a `;`.
- Variance: `in` and `out` before a type parameter become white space.
- `import('./module').Type<T>`: the import becomes a plain name.
- A property named `in` behind a line without `;`: another name.
- A template literal type with escaped quotes: plain characters.
- Type arguments of a tagged template become white space.
"""

import re

_SIGNATURE = re.compile(rb"\n([ \t]+)(?=[<(])")
_VARIANCE = re.compile(
    rb"[<,](?:\s|//[^\n]{0,300}\n|/\*.{0,300}?\*/)*+((?:in\s+)?out|in)(?=\s+[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\s))",
    re.DOTALL,
)
_IMPORT_TYPE = re.compile(rb"import\((?:\"[^\"\n]*\"|'[^'\n]*')\)(?=(?:\.\w+)+<)")
_IN_PROPERTY = re.compile(rb"in(?=\??:)(?:(?<=\s\sin)|(?<=\tin)|(?<=\sreadonly in))")
_TAG_ARGUMENTS = re.compile(rb"<(?<=[\w$)]<)(?:[\w$.\s,\[\]|&]|\{[^{}<>`]*\})*+>(?=`)")
_TEMPLATE_TYPE = re.compile(rb"type (?<![\w$.]type )[^`;{}]{1,300}?=\s*`((?:[^`\\]|\\.)*+)`", re.DOTALL)

_OPENS_TYPE = re.compile(
    rb"(?!.*\bclass\b|case\b|default\b)(?:.*\binterface\b.*|.*[:&|<]\s*|.*\s=\s*|>[^()]*|)\{$"
)
_GOES_ON = (b";", b",", b"=", b"(", b"<", b"|", b"&", b":", b"=>", b"{", b"?", b"[", b".")
_COMMENT_LINES = (b"*", b"/*", b"//")
_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
_MAX_LINES = 1000
"""How far above a signature the line is looked for that opens the type around it."""


def mended(source: bytes) -> bytes:
    """`source`, as long as before, in a form that the grammar can read; itself where it can already."""
    changes: list[tuple[int, bytes]] = []
    known: dict[tuple[int, int], bool] = {}
    changes += [
        (found.end() - 1, b";")
        for found in _SIGNATURE.finditer(source)
        if _follows_a_signature(source, found.start(), len(found[1]), known)
    ]
    changes += [(found.start(1), found[1].translate(_BLANK)) for found in _VARIANCE.finditer(source)]
    changes += [(found.start(), b"_" * len(found[0])) for found in _IMPORT_TYPE.finditer(source)]
    changes += [(found.start(), b"_n") for found in _IN_PROPERTY.finditer(source)]
    changes += [(found.start(), found[0].translate(_BLANK)) for found in _TAG_ARGUMENTS.finditer(source)]
    for found in _TEMPLATE_TYPE.finditer(source):
        if b"\\`" in found[1]:
            changes.append((found.start(1), found[1].replace(b"\\`", b"__")))
    if not changes:
        return source
    result = bytearray(source)
    for at, text in changes:
        result[at : at + len(text)] = text
    return bytes(result)


def _follows_a_signature(source: bytes, end: int, indent: int, known: dict[tuple[int, int], bool]) -> bool:
    """Whether the line behind `end`, indented so far, is a further member of a type that is opened above.

    Args:
        source: the text.
        end: of the line above.
        indent: white space before the member.
        known: what was found for lines before, by (their start, their indent).
    """
    start = end + 1
    above = _code(source, end)
    while above is not None and not above[2]:
        above = _code(source, above[0])
    if above is None or above[2].endswith(_GOES_ON):
        return False
    answer = False
    for _ in range(_MAX_LINES):
        if above is None:
            break
        end, width, text = above
        if text and width < indent:
            answer = _OPENS_TYPE.match(text) is not None
            break
        if (before := known.get((end + 1, indent))) is not None:
            answer = before
            break
        above = _code(source, end)
    known[start, indent] = answer
    return answer


def _code(source: bytes, end: int) -> tuple[int, int, bytes] | None:
    """The line that ends at `end`: (end of the line above it, its indent, its text without comments)."""
    if end < 0:
        return None
    start = source.rfind(b"\n", 0, end) + 1
    line = source[start:end]
    text = line.strip()
    width = len(line) - len(line.lstrip())
    if text.startswith(_COMMENT_LINES):
        text = b""
    elif b"//" in text:
        text = text[: text.index(b"//")].rstrip()
    return start - 1, width, text

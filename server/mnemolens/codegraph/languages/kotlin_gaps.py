"""Kotlin that is valid but that the grammar can't read, put in a form it can, every byte in its place.

- Below an annotation the grammar takes `data class Cart` for an expression of three words, so that the class
  is gone; it does so with all modifiers that are names, too: they become white space.
- Modifiers that are no names, and `by`, can still be ones (`final = true`, `suspend { … }`): they become
  other words.
- Modifiers of a primary constructor on a line of its own become white space.
- A member needs a line's end behind it, or a semicolon: `class A { fun f() }` gets one, in place of its last
  blank, and so does `object : Task { override fun run() = go() }` wherever it stands.
- A backtick without another one on its line, `#` and a stray backslash become `@`: in a broken text,
  characters that the grammar's lexer does not know can make its recovery take all memory.
"""

import re

_NAMES = b"actual|annotation|const|crossinline|data|enum|expect|inner|noinline|operator|value|vararg"
_WORDS = (
    b"abstract|external|final|infix|inline|internal|lateinit|open|override|private|protected|public"
    b"|sealed|tailrec|companion"
)
_MODIFIERS = _NAMES + b"|" + _WORDS + b"|suspend"
_FILLER = b"open"
_UNKNOWN = re.compile(rb"`[^`\r\n]+`|\\[\\'\"$]|(?P<unknown>`|(?<!\A)#|\\(?![tbnru]))")
_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))

_NAME = re.compile(rb"\b(?:%b)\b" % _NAMES)
_GAPS = re.compile(
    rb"""
    ^[ \t]*(?:@[^\n]*?[\w)>][ \t]+)?  # a declaration, maybe behind annotations, with modifiers that are names
    (?P<modifiers>(?:(?:%(words)s)[ \t]+)*+(?:%(names)s)[ \t]+(?:(?:%(modifiers)s)[ \t]+)*+)
    (?=(?:class|interface|object|fun|val|var|typealias)\b)
    | ^[ \t]*(?P<called>suspend)(?=\()
    | (?<![\w.@$`])(?P<name>  # a name, by what follows
        (?:%(words)s)(?=\(|[ \t]*(?:[-+*/%%]?=(?!=)|\+\+|--|!!|\?\.|\.|\[|\}))
        | suspend(?=[ \t]*[{:=,.)\]?!+-])
        | by(?=\.)
    )
    | \b(?:class|interface)\s+\w+(?:<[^<>{}()]*(?:<[^<>{}()]*>[^<>{}()]*)*>)?[ \t]*\r?\n\s*
    (?P<constructor>(?:(?:@[\w.]+|%(modifiers)s)\s+)+)(?=constructor\b)
    """
    % {b"names": _NAMES, b"words": _WORDS, b"modifiers": _MODIFIERS},
    re.MULTILINE | re.VERBOSE,
)
_ONE_LINE = re.compile(  # atomic and possessive: a long line is not to be tried over and over
    rb"""
    ^[ \t]*+(?>(?:\w++[ \t]++)*?(?:class|interface|object)\b)[^{\r\n]*+
    \{[^\r\n]*[^\s{;](?P<end>[ \t])\}[ \t]*+\r?$
    """,
    re.MULTILINE | re.VERBOSE,
)


_INNERMOST = re.compile(
    rb"""
    (?<![:.\w])(?:class[ \t]++\w|interface[ \t]++\w|object\b)[^{}"\r\n]{0,300}+
    \{[^{}"\r\n]{0,1000}[^\s{};"](?P<end>[ \t])\}
    """,
    re.VERBOSE,
)


def mended(source: bytes) -> bytes:
    """`source`, as long as before, in a form that the grammar can read; itself where it can already."""
    if b"`" in source or b"#" in source or b"\\" in source:
        source = _UNKNOWN.sub(lambda found: b"@" if found["unknown"] else found[0], source)
    changes = [(found.lastgroup or "", found.span(found.lastgroup or 0)) for found in _GAPS.finditer(source)]
    for ends in (_ONE_LINE, _INNERMOST):
        changes += [("end", found.span("end")) for found in ends.finditer(source)]
    if not changes:
        return source
    result = bytearray(source)
    for gap, (start, end) in changes:
        if gap == "modifiers":
            result[start:end] = _even(source[start:end])
        elif gap == "constructor":
            result[start:end] = source[start:end].translate(_BLANK)
        else:
            result[start : start + 1] = b";" if gap == "end" else b"_"
    return bytes(result)


def _even(modifiers: bytes) -> bytes:
    """Modifiers without those that are names; with an odd number of words before `class` it is lost again."""
    found = list(_NAME.finditer(modifiers))
    text = _NAME.sub(lambda name: b" " * len(name[0]), modifiers)
    if len(text.split()) % 2 and (room := [name.start() for name in found if len(name[0]) >= len(_FILLER)]):
        text = text[: room[0]] + _FILLER + text[room[0] + len(_FILLER) :]
    return text

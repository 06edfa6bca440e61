r"""Shows memory text in Markdown as the words that it is, whatever it holds.

Memory text is data: it must never become a link, a command, an image, HTML or a heading, nor end the block
that it stands in. Every character that could begin one is written with a backslash, under CommonMark, GFM and
the autolinking of editors (`command:`, `www.`, mail addresses, bare domains such as `auth.py`). Characters
that are not seen but change what is (terminal codes, bidirectional and zero-width marks) are left out.
Owns no layout and no words of its own.
"""

import re

_ALLOWED_SCHEMES = ("command:", "file:", "https:")
_TARGET_UNSAFE = re.compile(r"[^A-Za-z0-9\-._~:/?#@!$&'*+,;=%]")

_TERMINAL_CODES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Joiners belong in emoji and in some scripts, never beside ASCII.
# Every run below is looked at once, from its start: searching again from within it would be quadratic.
_STRAY_JOINER = re.compile(
    "(?<![^\x00-\x7f])[\u200c\u200d]++|(?<![\u200c\u200d])[\u200c\u200d]++(?![^\x00-\x7f])"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

_ALWAYS_ACTIVE = re.compile(r"[\\`*\[\]<>&~|$]")
_ACTIVE_IN_PLACE = re.compile(
    r"(?<![^\W_])_|_(?![^\W_])"  # an underscore within a word is just that
    r"|:(?=[^\s])|(?<=[^\s])@(?=[^\s])|(?<=[^\W_])\.(?=\S)|/(?=/)|(?<=/)/"
    r"|^[#+=\-]",
    re.MULTILINE,
)
_LIST_NUMBER = re.compile(r"^([0-9]{1,9})([.)])(?=\s|$)", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)
_ONE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_BACKTICKS = re.compile(r"`+")
_NOT_INFO = re.compile(r"[^A-Za-z0-9_+#.\-]")


def visible(text: str) -> str:
    r"""The text as plain text for clients without Markdown: what a reader sees, and nothing that acts.

    Terminal codes, control, bidirectional and zero-width characters are left out, every kind of line end is
    `\n`, lone surrogates (which no protocol can carry) are U+FFFD. Tabs and spaces stay.
    """
    text = _TERMINAL_CODES.sub("", text)
    text = _LINE_ENDS.sub("\n", text)
    text = _UNSEEN.sub("", text)
    text = _STRAY_JOINER.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def escape(text: str, *, one_line: bool = False) -> str:
    """The text as Markdown that shows just its words.

    Line breaks and blank lines are kept (as Markdown's own), indentation with no-break spaces.

    Args:
        text: any text.
        one_line: join the lines with spaces, for a place where a paragraph's end would break out.
    """
    text = visible(text)
    if one_line:
        text = " ".join(text.split())
    text = _TRAILING.sub("", text).strip("\n")
    text = _INDENT.sub(lambda indent: "\u00a0" * len(indent.group().expandtabs(4)), text)
    text = _LIST_NUMBER.sub(r"\1\\\2", _escape_characters(text))
    return _ONE_BREAK.sub("  \n", text)


def inline_code(text: str) -> str:
    """The text as an inline code span, on one line; empty for no text."""
    text = " ".join(visible(text).split())
    if not text:
        return ""
    ticks = "`" * (_longest_run(text, 0) + 1)
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{padding}{text}{padding}{ticks}"


def coded(text: str) -> str:
    """Words in which code stands in backticks, on one line: code as code, all else as text.

    Memory text may be among the words. Where its own backticks part it wrongly, it is still text or code.
    """
    parts = " ".join(visible(text).split()).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]  # the last one opens nothing
    return "".join(inline_code(part) if number % 2 else _ends_kept(part) for number, part in enumerate(parts))


def _ends_kept(text: str) -> str:
    """`escape`, with a space at an end that it takes off."""
    before, after = " " * text.startswith(" "), " " * (text.endswith(" ") and bool(text.strip()))
    return f"{before}{escape(text, one_line=True)}{after}"


def fence(code: str, info: str = "") -> str:
    """The text as a fenced block, with a fence longer than any inside; `info` is the language's name."""
    code = visible(code)
    ticks = "`" * max(_longest_run(code, 2) + 1, 3)
    end = "" if code.endswith("\n") or not code else "\n"
    return f"{ticks}{_NOT_INFO.sub('', info)}\n{code}{end}{ticks}"


def link(label: str, target: str) -> str:
    """A link with any label to a target of ours.

    Args:
        label: any text.
        target: an address that we made: never memory text. What can't stand in one is percent-encoded.

    Raises:
        ValueError: the target's scheme is none of command, file, https.
    """
    if not target.startswith(_ALLOWED_SCHEMES):
        raise ValueError(f"no link to {target[:40]!r}: only {', '.join(_ALLOWED_SCHEMES)}")
    address = _TARGET_UNSAFE.sub(_percent_encoded, target)
    return f"[{escape(label, one_line=True)}]({address})"


def _escape_characters(text: str) -> str:
    text = _ALWAYS_ACTIVE.sub(r"\\\g<0>", text)
    return _ACTIVE_IN_PLACE.sub(r"\\\g<0>", text)


def _longest_run(text: str, least: int) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=least)


def _percent_encoded(character: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in character.group().encode("utf-8", "replace"))

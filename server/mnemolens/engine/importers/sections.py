"""Splits AGENTS.md and CLAUDE.md into their sections, each one a procedure to remember.

A section is a heading and the text up to the next heading of any level; one without text of its own is none.
Knows the Markdown that decides where a heading is: front matter, fences, comments, both kinds of headings.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.capture import MAX_CONTENT, MAX_TITLE, normalised_hash, title_of
from mnemolens.engine.importers.found import Found, Ordinals

AGENT_FILES = frozenset({"agents.md", "claude.md"})
"""Names, in small letters, of the files whose sections are imported."""

PATH_SIGN = " \u203a "

_LINE_END = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?:(?P<one>=+)|-+)[ \t]*")
_BREAK = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]+)*(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_BLOCK = re.compile(r"\s*(?:[-*+](?:\s|$)|[>|]|[0-9]{1,9}[.)]\s)")
_CLOSED = -2
_INDENTED = re.compile(r" {4}|\t")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class _Section(NamedTuple):
    line: int
    path: tuple[str, ...]
    body: str


def is_agent_file(file: str) -> bool:
    """Whether the sections of a file of that name are worth importing."""
    return file.rpartition("/")[2].lower() in AGENT_FILES


def agent_sections(file: str, text: str) -> tuple[Found, ...]:
    """The sections of a file of instructions, in text order; each is about the file.

    Args:
        file: path relative to the top level.
        text: the file's text.
    """
    ordinals = Ordinals()
    return tuple(_found(file, section, ordinals) for section in _sections(text))


def _found(file: str, section: _Section, ordinals: Ordinals) -> Found:
    content = section.body if len(section.body) <= MAX_CONTENT else section.body[: MAX_CONTENT - 1] + "\u2026"
    path = PATH_SIGN.join(section.path)
    details = {"heading": path} if path else {}
    folder = file.rpartition("/")[0]
    return Found(
        importer="agents",
        line=section.line,
        symbol=SymbolKey(file, ""),
        position=None,
        type="procedural",
        title=(" ".join(section.path[-1].split()) if path else title_of(content))[:MAX_TITLE],
        content=content,
        label=path,
        slot=path,
        tags=("agents",),
        author=file.rpartition("/")[2],
        ordinal=ordinals.of(path, normalised_hash(content)),
        details=details | ({"folder": folder} if folder else {}),
    )


def _sections(text: str) -> Iterator[_Section]:
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    start = _front_matter(lines)
    path: list[tuple[int, str]] = []
    opened = start
    for heading in _headings(lines, start):
        yield from _section(lines, opened, heading.line, path, start)
        path = [one for one in path if one[0] < heading.level]
        path.append((heading.level, heading.text))
        opened = heading.body
    yield from _section(lines, opened, len(lines), path, start)


def _section(
    lines: list[str], first: int, end: int, path: list[tuple[int, str]], start: int
) -> Iterator[_Section]:
    while first < end and not lines[first].strip():
        first += 1
    body = "\n".join(lines[first:end]).rstrip()
    if any(c.isalnum() for c in _COMMENT.sub("", body)):
        yield _Section(max(first, start), tuple(text for _, text in path if text), body)


class _Heading(NamedTuple):
    """A heading: its line, the first line behind it, its level 1..6, its words."""

    line: int
    body: int
    level: int
    text: str


def _headings(lines: list[str], start: int) -> Iterator[_Heading]:
    paragraph = -1  # the first line of the paragraph so far; -1 for none, _CLOSED in any other block
    for at, line in _readable(lines, start):
        heading = _HEADING.fullmatch(line)
        underline = _UNDERLINE.fullmatch(line) if paragraph >= 0 else None
        if heading is not None:
            yield _Heading(at, at + 1, len(heading["level"]), (heading["text"] or "").strip())
            paragraph = -1
        elif underline is not None:
            words = " ".join(" ".join(lines[paragraph:at]).split())
            yield _Heading(paragraph, at + 1, 1 if underline["one"] else 2, words)
            paragraph = -1
        elif not line.strip() or _BREAK.fullmatch(line) or (paragraph == -1 and _INDENTED.match(line)):
            paragraph = -1
        elif _BLOCK.match(line):
            paragraph = _CLOSED
        elif paragraph == -1:
            paragraph = at


def _readable(lines: list[str], start: int) -> Iterator[tuple[int, str]]:
    """The lines that may say something about headings; what is fenced or commented out is as a blank one."""
    fence = ""
    commented = False
    for at in range(start, len(lines)):
        line = lines[at]
        fenced = None if commented else _FENCE.fullmatch(line)
        if commented:
            commented = "-->" not in line
            yield at, ""
        elif fence:
            if fenced is not None and fenced["fence"].startswith(fence) and not fenced["info"].strip():
                fence = ""
            yield at, ""
        elif fenced is not None and not (fenced["fence"][0] == "`" and "`" in fenced["info"]):
            fence = fenced["fence"]
            yield at, ""
        else:
            commented = "-->" not in line[line.rfind("<!--") :] if "<!--" in line else False
            yield at, "" if commented or line.lstrip().startswith("<!--") else line


def _front_matter(lines: list[str]) -> int:
    """The first line behind YAML front matter, 0 without any."""
    if lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip() in {"---", "..."}), 0)

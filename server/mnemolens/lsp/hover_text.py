"""A hover's text, in Markdown or plain, from its view.

Memory text is data: it comes out of here escaped, as words on a page, whatever it holds. Command links are
ours alone, and only where the client asked for them.
"""

import json
from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote

from mnemolens.core import markdown
from mnemolens.core.clock import age
from mnemolens.core.views import HoverItem, HoverView, origin_words, recalled_words

MAX_LINES = 6
MAX_CHARS = 400
MAX_TITLE = 200
MAX_RELATIONS = 2

_BREAK = "  \n"  # two spaces: a line break in every Markdown

_WORDS = {
    "moved": "moved here? confirm",
    "drifted": "drifted: the code has changed since",
    "ambiguous": "ambiguous: several places match",
}
"""What a verdict means, for whoever meets it the first time; the others say it by themselves."""


def markdown_hover(view: HoverView, root: str | None, now: datetime) -> str:
    """The hover in Markdown.

    Args:
        view: what to show.
        root: the folder for command links; None for none.
        now: for the ages.
    """
    blocks = [_markdown_item(item, root, now) for item in view.items]
    if view.hidden:
        blocks.append(f"*{_more(view.hidden)}*")
    return "\n\n---\n\n".join(blocks)


def plain_hover(view: HoverView, now: datetime) -> str:
    """The hover as plain text."""
    blocks = []
    for item in view.items:
        lines = [
            f"{_title(item)} · {_verdict(item, _one_line)}",
            *_excerpt(item),
            _about(item, item.on, item.why, now, _one_line),
        ]
        blocks.append("\n".join(lines))
    if view.hidden:
        blocks.append(_more(view.hidden))
    return "\n\n".join(blocks)


def command_link(label: str, command: str, argument: dict[str, str]) -> str:
    """A Markdown link that runs one of our commands. `label` is our own word."""
    return f"[{label}](command:{command}?{quote(json.dumps([argument], separators=(',', ':')), safe='')})"


def _markdown_item(item: HoverItem, root: str | None, now: datetime) -> str:
    head = f"**{_escaped_line(_title(item))}** · {_verdict(item, _escaped_line)}"
    foot = _about(item, markdown.inline_code(item.on), markdown.coded(item.why), now, _escaped_line)
    foot = f"*{foot}*"
    if root is not None:
        argument = {"id": item.memory_id, "root": root}
        links = (
            command_link("Open", "mnemolens.memory.open", argument),
            command_link(
                "It moved here" if item.verdict == "moved" else "Still true",
                "mnemolens.memory.confirm",
                argument,
            ),
            *([command_link("Undo the move", "mnemolens.memory.undoMove", argument)] if item.moved else []),
            command_link("Forget", "mnemolens.memory.forget", argument),
        )
        foot += " — " + " · ".join(links)
    excerpt = markdown.escape("\n".join(_excerpt(item)))
    return _BREAK.join(filter(None, (head, excerpt, foot)))


def _title(item: HoverItem) -> str:
    title = _one_line(item.title)
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1].rstrip() + "…"


def _verdict(item: HoverItem, show: Callable[[str], str]) -> str:
    words = _WORDS.get(item.verdict, item.verdict)
    if item.verdict == "fresh" and item.edited:
        words = "fresh, edited since"
    origin = [] if item.from_branch is None else [origin_words(item.from_branch)]
    about = [*origin, *(relation.words for relation in item.relations[:MAX_RELATIONS])]
    return " · ".join((words, *map(show, about)))


def _excerpt(item: HoverItem) -> list[str]:
    """The content's first lines, blank ones left out, with … where something is missing."""
    lines = [line.strip() for line in markdown.visible(item.excerpt).split("\n") if line.strip()]
    kept: list[str] = []
    room = MAX_CHARS
    for line in lines[:MAX_LINES]:
        kept.append(line[:room])
        room -= len(line)
        if room <= 0:
            break
    if kept and (room < 0 or len(kept) < len(lines)):
        kept[-1] = kept[-1].rstrip(" …") + " …"
    return kept


def _about(item: HoverItem, on: str, why: str, now: datetime, show: Callable[[str], str]) -> str:
    """What the memory is on, or else why it is shown, how often it was recalled, and whose it is."""
    parts = [f"on {on}" if item.own or not why else why]
    if item.recalled:
        parts.append(recalled_words(item.recalled))
    when = age(item.created_at, now)
    parts.append(f"by {show(item.author)}, {when}" if item.author else when)
    return " · ".join(parts)


def _more(hidden: int) -> str:
    return f"and {hidden} more {'memory' if hidden == 1 else 'memories'}"


def _one_line(text: str) -> str:
    return " ".join(markdown.visible(text).split())


def _escaped_line(text: str) -> str:
    return markdown.escape(text, one_line=True)

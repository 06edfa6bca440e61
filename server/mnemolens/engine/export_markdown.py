"""Memories as a Markdown document for people: by file and symbol, with what the code says of each.

Memory text is data (`core/markdown.py`): it can begin no heading, link or command of the document. Pure.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

from mnemolens.core.markdown import escape, inline_code
from mnemolens.core.memories import Verdict
from mnemolens.core.views import MemoryDetail, PlaceView

NOWHERE: Final = "On no code"

VERDICT_WORDS: Final[dict[Verdict, str]] = {
    "fresh": "fresh",
    "moved": "moved: the code was found elsewhere, and nobody has confirmed it",
    "drifted": "drifted: the code has changed since",
    "ambiguous": "ambiguous: several places could be meant",
    "unanchored": "on no code",
    "lost": "lost: its code is gone",
}


class _Shown(NamedTuple):
    """A memory, and the place that it is shown under; "" for no file and for the file itself."""

    file: str
    symbol: str
    detail: MemoryDetail


def render(details: Iterable[MemoryDetail], name: str, now: datetime) -> Iterator[bytes]:
    """The document, in pieces.

    Args:
        details: the memories to show.
        name: of the folder.
        now: the day in the document's head.
    """
    shown = sorted((_shown(detail) for detail in details), key=_order)
    count = f"{len(shown)} {'memory' if len(shown) == 1 else 'memories'}"
    yield _encoded(f"# Memories of {escape(name, one_line=True)}\n\n{count}, {now:%Y-%m-%d}\n")
    for file, in_file in groupby(shown, key=lambda one: one.file):
        yield _encoded(f"\n## {inline_code(file) if file else NOWHERE}\n")
        for symbol, on_symbol in groupby(in_file, key=lambda one: one.symbol):
            if symbol:
                yield _encoded(f"\n### {inline_code(symbol)}\n")
            for one in on_symbol:
                yield _encoded(_memory(one))


def _order(one: _Shown) -> tuple[bool, str, str, datetime, str]:
    memory = one.detail.view.memory
    return not one.file, one.file, one.symbol, memory.created_at, memory.id


def _shown(detail: MemoryDetail) -> _Shown:
    """Under the code it is on; a memory whose code is gone under the file where that was."""
    explicit = [anchor for anchor in detail.anchors if anchor.context == "captured_here"]
    anchors = explicit or list(detail.anchors)
    place: PlaceView | None = next((anchor.at for anchor in anchors if anchor.at is not None), None)
    if place is None:
        place = next((link.target for link in detail.links if not link.candidate), None)
    if place is None and anchors:
        place = anchors[0].birth.place
    if place is None:
        return _Shown("", "", detail)
    return _Shown(place.file, place.label if place.qualname else "", detail)


def _memory(one: _Shown) -> str:
    view = one.detail.view
    memory = view.memory
    edited = view.verdict == "fresh" and any(anchor.edited for anchor in one.detail.anchors)
    verdict = VERDICT_WORDS[view.verdict] + (", edited since" if edited else "")
    also = sorted(
        {link.target.label for link in one.detail.links if not link.candidate}
        - {one.symbol or one.file.rpartition("/")[2]}
    )
    facts = [
        verdict,
        memory.type,
        f"{memory.created_at:%Y-%m-%d}",
        *([f"by {escape(memory.author, one_line=True)}"] if memory.author else []),
        *(["done"] if memory.status == "done" else []),
        *(["pinned"] if memory.pinned else []),
        *([f"tags {', '.join(inline_code(tag) for tag in memory.tags)}"] if memory.tags else []),
        *([f"also on {', '.join(inline_code(label) for label in also)}"] if also else []),
    ]
    title = escape(memory.title, one_line=True)
    return f"\n#### {title}\n\n{' · '.join(facts)}\n\n{escape(memory.content)}\n"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")

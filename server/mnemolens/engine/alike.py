"""Captures of what is known already in almost the same words, or as Mnemolens itself showed it.

Owns when two texts are almost the same, and how our own hover text is recognised. Texts that *are* the same
are `duplicates.py`'s.
"""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from mnemolens.core import markdown
from mnemolens.core.memories import VERDICTS, Memory
from mnemolens.core.views import CaptureView, SimilarView
from mnemolens.engine.searching import Searching
from mnemolens.engine.sessions import is_expired
from mnemolens.engine.show import Show
from mnemolens.search.shingles import likeness, shingles
from mnemolens.search.words import terms_of
from mnemolens.store.merge import MergedState

ALIKE: Final = 0.75
"""Share of runs of three words that two texts must have in common to be almost the same."""
_CANDIDATES: Final = 10
_SHOWN: Final = 3
_READ: Final = 10_000
"""Characters that are compared: of a text and ten others they take 5 ms."""
_LONGEST_HOVER: Final = 50_000
"""Characters of a text that may be our own hover, pasted."""
_MOST_SHOWN: Final = 10
"""Memories in one hover."""
_MOST_TITLES: Final = 5_000
"""That are compared with the one of a hover: 10 ms."""
_OWN_WORDS: Final = 8
"""So many others come along where a text is copied, of a signature for instance; more are somebody's own."""

_LINK = re.compile(r"command:mnemolens\.memory\.\w+\?([^\s)]+)")
_ANY_LINK = re.compile(r"\[[^\[\]\n]{1,40}\]\(command:[^\s)]+\)")
_VERDICT = "|".join(VERDICTS)
_HEAD = re.compile(rf"^\s*(?P<title>.+)\s+·\s+(?:{_VERDICT}|moved here\\?\? confirm)\b")
_FOOT = re.compile(r"·\s.*\b(?:ago|just now)\b")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Alike:
    """Finds what is known already."""

    def __init__(self, state: MergedState, show: Show, searching: Searching) -> None:
        self._state = state
        self._show = show
        self._searching = searching

    def shown_before(self, content: str, now: datetime) -> CaptureView | None:
        """The memory that the text is our own hover of, as a capture that stored nothing; else None.

        Whoever wrote something of their own around it has a new note.
        """
        named = [one for memory_id in self._named(content) if (one := self._state.memory(memory_id))]
        memory = named[0] if named else None
        if memory is None or memory.status == "forgotten" or is_expired(memory, now):
            return None
        if len(_own_words(content, named)) > _OWN_WORDS:
            return None
        change = self._show.change(memory, now)
        said = f"this is how memory {memory.id} is shown: nothing new was stored"
        return CaptureView(change.view, change.links, memory.id, (said,))

    def compared(self, view: CaptureView, content: str, now: datetime) -> CaptureView:
        """A capture or its preview, with the earlier memories that say almost the same."""
        if view.duplicate_of is not None:
            return view
        mine = shingles(content[:_READ])
        own = None if view.view is None else view.view.memory.id

        def fits(memory_id: str) -> bool:
            memory = self._state.memory(memory_id)
            return (
                memory is not None
                and memory_id != own
                and memory.status != "forgotten"
                and not is_expired(memory, now)
            )

        found = []
        for memory_id in self._searching.holding(content[:_READ], _CANDIDATES, fits):
            memory = self._state.memory(memory_id)
            assert memory is not None
            share = likeness(mine, shingles(memory.content[:_READ]))
            if share >= ALIKE:
                found.append(SimilarView(memory_id, memory.title, share))
        found.sort(key=lambda one: (-one.likeness, one.id))
        return view._replace(similar=tuple(found[:_SHOWN])) if found else view

    def _named(self, content: str) -> list[str]:
        """The memories that our own hover, which the text may be, shows: by its links, else by its titles."""
        if len(content) > _LONGEST_HOVER:
            return []
        linked = []
        for match in _LINK.finditer(content):
            try:
                (argument,) = json.loads(unquote(match[1]))
                linked.append(str(argument["id"]))
            except (ValueError, TypeError, KeyError):
                continue
        if linked:
            return linked
        lines = [line for line in content.split("\n") if line.strip()]
        if not lines or not _HEAD.match(lines[0]) or not any(map(_FOOT.search, lines[1:])):
            return []
        heads = [head for line in lines if (head := _HEAD.match(line))]
        titled = [self._titled(head["title"]) for head in heads[:_MOST_SHOWN]]
        return [] if titled[0] is None else [one for one in titled if one is not None]

    def _titled(self, said: str) -> str | None:
        """The only memory with this title, which may be Markdown, and cut off with an ellipsis."""
        bold = said[2:-2] if said.startswith("**") and said.endswith("**") else said
        for title in dict.fromkeys((" ".join(said.split()), " ".join(_ESCAPE.sub(r"\1", bold).split()))):
            beginning = title.removesuffix("…").rstrip()
            fits = self._having(title, beginning)
            found = self._searching.holding(beginning, 2, fits)
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _having(self, title: str, beginning: str) -> Callable[[str], bool]:
        """Tells whether a memory is shown with that title; of more than a few thousand nothing is told."""
        known: dict[str, bool] = {}

        def fits(memory_id: str) -> bool:
            memory = self._state.memory(memory_id)
            if memory_id not in known and len(known) < _MOST_TITLES:
                # As a hover shows it: on one line, without what nobody sees.
                shown = "" if memory is None else " ".join(markdown.visible(memory.title).split())
                known[memory_id] = (
                    memory is not None
                    and memory.status != "forgotten"
                    and (shown == title or (title.endswith("…") and shown.startswith(beginning)))
                )
            return known.get(memory_id, False)

        return fits


def _own_words(content: str, shown: list[Memory]) -> set[str]:
    """What a text says besides what a hover of these memories says."""
    lines = (line for line in content.split("\n") if not (_HEAD.match(line) or _FOOT.search(line)))
    said = {term for one in shown for term in terms_of(f"{one.title}\n{one.content[:_READ]}")}
    return set(terms_of(_ESCAPE.sub(r"\1", _ANY_LINK.sub("", "\n".join(lines))))) - said

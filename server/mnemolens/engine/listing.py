"""Which memories a list shows, and in which order. Reads the merged journal and the derived tables."""

from collections.abc import Iterable
from datetime import datetime

from mnemolens.core.errors import InvalidArgument
from mnemolens.core.memories import MEMORY_KINDS, VERDICTS, Memory
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.views import MemoryPage, MemoryView
from mnemolens.engine.links import Links
from mnemolens.engine.requests import ListRequest
from mnemolens.engine.show import Show
from mnemolens.store.merge import MergedState

MAX_LIMIT = 1_000
LAYERS = ("core", "active", "long_term", "archive")


class Listing:
    """Lists memories."""

    def __init__(self, state: MergedState, links: Links, show: Show) -> None:
        self._state = state
        self._links = links
        self._show = show

    def page(self, request: ListRequest, key: SymbolKey | None, now: datetime) -> MemoryPage:
        """One page.

        Args:
            request: what to list.
            key: the symbol at the request's position: its memories are listed by rank.
            now: for weights and expiry.

        Raises:
            InvalidArgument: a filter that can match nothing, or a limit out of bounds.
        """
        _check(request)
        words = (request.text or "").casefold().split()
        found = [
            memory
            for memory in self._candidates(request, key, now)
            if (request.type is None or memory.type == request.type)
            and set(request.tags) <= set(memory.tags)
            and (request.session_id is None or memory.session_id == request.session_id)
            and (request.agent_id is None or memory.agent_id == request.agent_id)
            and (not words or _holds(memory, words))
            and (request.verdict is None or self._links.verdict_of(memory.id) == request.verdict)
        ]
        if key is None:
            found.sort(key=lambda memory: (-memory.created_at.timestamp(), memory.id))
        if request.layer is None:
            # A view costs more than a look: only the page is made into views.
            shown = found[request.offset : request.offset + request.limit]
            return MemoryPage(tuple(self._show.memory(memory, now) for memory in shown), len(found))
        views: list[MemoryView] = [self._show.memory(memory, now) for memory in found]
        views = [view for view in views if view.layer == request.layer]
        return MemoryPage(tuple(views[request.offset : request.offset + request.limit]), len(views))

    def _candidates(self, request: ListRequest, key: SymbolKey | None, now: datetime) -> Iterable[Memory]:
        if key is not None:
            ids: Iterable[str] = [ranked.view.memory.id for ranked in self._show.ranked_on(key, now)]
        elif request.file is not None:
            keys = self._links.keys_in_file(request.file)
            ids = {memory_id for one in keys for memory_id in self._links.on_symbol(one)}
        else:
            ids = self._state.memories()
        for memory_id in ids:
            memory = self._state.memory(memory_id)
            if memory is None:
                continue
            gone = memory.status == "forgotten" or (
                memory.expires_at is not None and memory.expires_at <= now
            )
            if request.include_forgotten or not gone:
                yield memory


def _check(request: ListRequest) -> None:
    for name, value, allowed in (
        ("type", request.type, MEMORY_KINDS),
        ("verdict", request.verdict, VERDICTS),
        ("layer", request.layer, LAYERS),
    ):
        if value is not None and value not in allowed:
            raise InvalidArgument(name, f"{value!r} is not one of {', '.join(allowed)}")
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidArgument("limit", f"must be from 1 to {MAX_LIMIT}, not {request.limit}")
    if request.offset < 0:
        raise InvalidArgument("offset", f"must not be negative, not {request.offset}")


def _holds(memory: Memory, words: list[str]) -> bool:
    """Whether every word stands in the title, the content or a tag."""
    text = "\n".join((memory.title, memory.content, *memory.tags)).casefold()
    return all(word in text for word in words)

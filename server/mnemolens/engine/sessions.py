"""Sessions and agents: who remembered what, when, and how to forget a whole session at once.

A session or an agent is known by its memories alone: it is there while it has one that is neither forgotten
nor expired. Plans writes like `writing.py`; carrying them out is `journaling.py`'s.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from mnemolens.core.errors import NotFound
from mnemolens.core.events import MemoryForget
from mnemolens.core.memories import Memory
from mnemolens.core.views import AgentView, SessionView
from mnemolens.engine.author import Author
from mnemolens.engine.write import Write
from mnemolens.store.merge import MergedState

if TYPE_CHECKING:
    from mnemolens.engine.writing import Writing

_V = TypeVar("_V", SessionView, AgentView)


class Sessions:
    """Sessions and agents of one folder's memories."""

    def __init__(self, state: MergedState, writing: "Writing", author: Author) -> None:
        self._state = state
        self._writing = writing
        self._author = author

    def sessions(self, now: datetime) -> tuple[SessionView, ...]:
        """All sessions, the one that was used last first."""
        groups = _grouped(self._present(now), lambda memory: memory.session_id)
        return _latest_first(_session(name, memories) for name, memories in groups.items())

    def session(self, session_id: str, now: datetime) -> SessionView:
        """One session.

        Raises:
            NotFound: it has no memory that is neither forgotten nor expired.
        """
        memories = [memory for memory in self._present(now) if memory.session_id == session_id]
        if not memories:
            raise NotFound(f"sessionId: no session {session_id!r}")
        return _session(session_id, memories)

    def agents(self, now: datetime) -> tuple[AgentView, ...]:
        """All agents, the one that was active last first."""
        groups = _grouped(self._present(now), lambda memory: memory.agent_id)
        return _latest_first(_agent(name, memories) for name, memories in groups.items())

    def forget_session(self, session_id: str) -> Write[int]:
        """Forgets all memories of a session, expired ones too; answers how many."""
        return self._forget(m for m in self._kept() if m.session_id == session_id)

    def restore_session(self, session_id: str, now: datetime) -> Write[int]:
        """Brings the forgotten memories of a session back; answers how many."""
        found = (self._state.memory(one) for one in self._state.memories())
        writes = [
            self._writing.restore(memory.id, now)
            for memory in found
            if memory is not None and memory.session_id == session_id and memory.status == "forgotten"
        ]
        return Write(tuple(event for write in writes for event in write.events), lambda: len(writes))

    def forget_expired(self, now: datetime) -> Write[int]:
        """Forgets all memories that have expired; answers how many."""
        return self._forget(m for m in self._kept() if is_expired(m, now))

    def _forget(self, memories: Iterable[Memory]) -> Write[int]:
        by = self._author.name
        events = tuple(MemoryForget(memory=memory.id, by=by) for memory in memories)
        return Write(events, lambda: len(events))

    def _present(self, now: datetime) -> Iterator[Memory]:
        return (memory for memory in self._kept() if not is_expired(memory, now))

    def _kept(self) -> Iterator[Memory]:
        for memory_id in self._state.memories():
            memory = self._state.memory(memory_id)
            if memory is not None and memory.status != "forgotten":
                yield memory


def is_expired(memory: Memory, now: datetime) -> bool:
    """Whether the memory is left out because its time is over."""
    return memory.expires_at is not None and memory.expires_at <= now


def _grouped(memories: Iterable[Memory], name_of: Callable[[Memory], str | None]) -> dict[str, list[Memory]]:
    groups: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        name = name_of(memory)
        if name is not None:
            groups[name].append(memory)
    return groups


def _session(name: str, memories: list[Memory]) -> SessionView:
    agents = sorted({memory.agent_id for memory in memories if memory.agent_id is not None})
    return SessionView(name, len(memories), tuple(agents), *_span(memories))


def _agent(name: str, memories: list[Memory]) -> AgentView:
    sessions = sorted({memory.session_id for memory in memories if memory.session_id is not None})
    return AgentView(name, len(memories), tuple(sessions), *_span(memories))


def _span(memories: list[Memory]) -> tuple[datetime, datetime]:
    first = min(memory.created_at for memory in memories)
    return first, max(max(memory.created_at, memory.accessed_at) for memory in memories)


def _latest_first(views: Iterable[_V]) -> tuple[_V, ...]:
    return tuple(sorted(views, key=lambda view: (-view.last.timestamp(), view.id)))

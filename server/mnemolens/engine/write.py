"""A planned write: events for the journal, and what to do once they are safe on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mnemolens.core.events import EventData

T = TypeVar("T")


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """Planned by a part of the `Workspace`, carried out by `Journaling.commit` or `commit_sync`.

    Attributes:
        events: appended to the journal and fsynced together; may be empty.
        finish: builds the answer; called after the events were merged into the state.
        undo: called instead where the journal could not take the events.
    """

    events: tuple[EventData, ...]
    finish: Callable[[], T]
    undo: Callable[[], None] = _nothing

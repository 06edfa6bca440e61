"""A planned write: events for the journal, and what to do once they are safe on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mnemolens.core.events import EventData

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """Made by a `Workspace` method without any side effect; carried out by `Workspace.commit[_async]`.

    Attributes:
        events: appended to the journal and fsynced together; may be empty.
        finish: builds the answer; called after the events were merged into the state.
    """

    events: tuple[EventData, ...]
    finish: Callable[[], T]

"""Which memories were just counted as accessed: the language server counts each at most once a minute.

The rule is the language server's alone; other surfaces count every access.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

PAUSE = timedelta(minutes=1)


class RecentAccesses:
    """Remembers, for a minute, when each memory was last counted."""

    def __init__(self) -> None:
        self._counted: dict[tuple[str, str], datetime] = {}

    def due(self, store: str, memory_ids: Sequence[str], now: datetime) -> tuple[str, ...]:
        """Those of `memory_ids` (each once) that may be counted now.

        Args:
            store: names the folder whose memories they are.
            memory_ids: the memories that were accessed.
            now: the time.
        """
        return tuple(
            memory_id
            for memory_id in dict.fromkeys(memory_ids)
            if (last := self._counted.get((store, memory_id))) is None or now - last >= PAUSE
        )

    def count(self, store: str, memory_ids: Sequence[str], now: datetime) -> None:
        """Note that `memory_ids` were counted at `now`."""
        self._counted = {key: last for key, last in self._counted.items() if now - last < PAUSE}
        self._counted.update({(store, memory_id): now for memory_id in memory_ids})

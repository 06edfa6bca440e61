"""What whoever captures is told: stored or known already, what is like it, and the code that it may be about.

Owns the order of these steps, the same for every surface. What is stored is `writing.py`'s, likeness is
`alike.py`'s and `suggestions.py`'s. A capture never waits for an index that takes long to be made.
"""

from datetime import datetime

from mnemolens.core.views import CaptureView
from mnemolens.engine.alike import Alike
from mnemolens.engine.embedding import Embedding
from mnemolens.engine.journaling import Journaling
from mnemolens.engine.reading_ahead import read_ahead
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.searching import Searching
from mnemolens.engine.suggestions import Suggestions
from mnemolens.engine.writing import Writing


class Capturing:
    """Captures for one folder."""

    def __init__(
        self,
        writing: Writing,
        journaling: Journaling,
        searching: Searching,
        alike: Alike,
        suggestions: Suggestions,
        embedding: Embedding,
    ) -> None:
        self._writing = writing
        self._journaling = journaling
        self._searching = searching
        self._alike = alike
        self._suggestions = suggestions
        self._embedding = embedding

    async def capture(self, request: CaptureRequest, now: datetime) -> CaptureView:
        """Stores a memory; our own hover text, pasted, is the memory that it shows.

        Raises:
            InvalidArgument: a field is not allowed, or holds a secret; names it.
            StoreError: the store can't be written.
        """
        await read_ahead(request.content)
        compare = await self._searching.soon_ready() and request.id is None
        shown = self._alike.shown_before(request.content, now) if compare else None
        if shown is not None:
            return shown
        view = await self._journaling.commit(self._writing.capture(request, now))
        return await self._compared(view, request, now) if compare else view

    async def preview(self, request: CaptureRequest, now: datetime, *, wait: bool = False) -> CaptureView:
        """What `capture` would answer; stores nothing.

        Args:
            request: what would be stored.
            now: the time.
            wait: for whatever has to be read first, however long that takes.

        Raises:
            InvalidArgument: as `capture`.
        """
        await read_ahead(request.content)
        if wait:
            await self._searching.catch_up_slowly()
            await self._suggestions.catch_up_slowly()
        ready = await self._searching.soon_ready()
        view = self._writing.preview(request, now)
        if not ready:
            return view
        shown = self._alike.shown_before(request.content, now)
        if shown is not None:
            warnings = (*view.warnings, *shown.warnings)
            view = view._replace(duplicate_of=shown.duplicate_of, warnings=warnings)
        return await self._compared(view, request, now)

    async def _compared(self, view: CaptureView, request: CaptureRequest, now: datetime) -> CaptureView:
        self._suggestions.warm_up(view)
        view = await self._suggestions.offered_by_meaning(
            view, request.title, request.content, self._embedding.likeness
        )
        offer, memory_id = view.suggestion, request.id
        if offer and memory_id and self._suggestions.is_refused(memory_id, offer.target.key):
            view = view._replace(suggestion=None)
        return self._alike.compared(view, request.content, now)

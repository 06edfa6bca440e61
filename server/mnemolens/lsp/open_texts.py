"""The text of every open file document, and which of them a folder's workspace is shown.

Folders come and go while documents stay open: whoever opens a folder later finds their text here. One file
may be open under several URIs (through a symbolic link and past it), each with a text of its own: the
workspace is shown the one that the user last opened, changed or saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemolens.core.text import Text, TextChange
from mnemolens.lsp.folders import Folders, Place


@dataclass(slots=True)
class OpenText:
    """One open document, and where it was handed to."""

    language_id: str
    text: Text
    place: Place | None


class OpenTexts:
    """Open documents by URI."""

    def __init__(self) -> None:
        self._open: dict[str, OpenText] = {}
        self._at: dict[Place, list[str]] = {}  # the one that is shown comes last

    def open(self, uri: str, language_id: str, text: str, place: Place | None) -> None:
        """A document was opened: its text counts from now on."""
        self._leave(uri)
        document = self._open[uri] = OpenText(language_id, Text(text), place)
        self._join(uri, document)

    def change(self, uri: str, changes: Sequence[TextChange], now: datetime) -> Place | None:
        """A document's content changed: where; None when nobody has to know."""
        document = self._open.get(uri)
        if document is None:
            return None
        for change in changes:
            document.text, _ = document.text.apply(change)
        place = document.place
        if place is None:
            return None
        if not self._is_shown(uri, document):
            self._put_last(uri, place)
            changes = [TextChange(str(document.text))]
        place.workspace.sources.change_document(place.file, changes, now, later=True)
        return place

    def uri_of(self, place: Place) -> str | None:
        """The URI under which the client shows a file; None where it is not open."""
        uris = self._at.get(place)
        return uris[-1] if uris else None

    def save(self, uri: str) -> None:
        """A document was saved: its text is the file's from now on."""
        document = self._open.get(uri)
        if document is not None and document.place is not None and not self._is_shown(uri, document):
            self._put_last(uri, document.place)
            _show(document, document.place)

    def close(self, uri: str) -> Place | None:
        """A document was closed: the file that nobody has open any more, None when there is none."""
        place = self._leave(uri)
        self._open.pop(uri, None)
        return place

    def hand_over(self, folders: Folders) -> tuple[Place, ...]:
        """Open each document in the folder it belongs to now, where that is another than before.

        Returns:
            Where such documents were open until now, in folders that still are: to be closed there.
        """
        left: list[Place] = []
        alive = {id(folder.workspace) for folder in folders}
        # Of those of one file the one that is shown goes last: it is the one that stays shown.
        for uri, document in sorted(self._open.items(), key=lambda item: self._is_shown(*item)):
            place = folders.locate(uri)
            if place == document.place:
                continue
            if document.place is not None and id(document.place.workspace) not in alive:
                self._at.pop(document.place, None)
            closed = self._leave(uri)
            if closed is not None:
                left.append(closed)
            document.place = place
            self._join(uri, document)
        return tuple(left)

    def _join(self, uri: str, document: OpenText) -> None:
        if document.place is not None:
            self._at.setdefault(document.place, []).append(uri)
            _show(document, document.place)

    def _leave(self, uri: str) -> Place | None:
        """The place that is left without a document; where there is another one, that is shown now."""
        document = self._open.get(uri)
        place = None if document is None else document.place
        there = [] if place is None else self._at.get(place, [])
        if place is None or uri not in there:
            return None
        was_shown = there[-1] == uri
        there.remove(uri)
        if not there:
            del self._at[place]
            return place
        if was_shown:
            _show(self._open[there[-1]], place)
        return None

    def _is_shown(self, uri: str, document: OpenText) -> bool:
        there = self._at.get(document.place) if document.place is not None else None
        return there is not None and there[-1] == uri

    def _put_last(self, uri: str, place: Place) -> None:
        self._at[place].remove(uri)
        self._at[place].append(uri)


def _show(document: OpenText, place: Place) -> None:
    place.workspace.open_document(place.file, document.language_id, str(document.text))

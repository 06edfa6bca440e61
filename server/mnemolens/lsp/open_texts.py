"""The text of every open file document, whichever folder it is in or in none.

Folders come and go while documents stay open: whoever opens a folder later finds their text here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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

    def open(self, uri: str, language_id: str, text: str, place: Place | None) -> None:
        """A document was opened."""
        self._open[uri] = OpenText(language_id, Text(text), place)

    def change(self, uri: str, changes: Sequence[TextChange]) -> None:
        """A document's content changed."""
        document = self._open.get(uri)
        if document is not None:
            for change in changes:
                document.text, _ = document.text.apply(change)

    def close(self, uri: str) -> None:
        """A document was closed."""
        self._open.pop(uri, None)

    def hand_over(self, folders: Folders) -> tuple[Place, ...]:
        """Open each document in the folder it belongs to now, where that is another than before.

        Returns:
            Where such documents were open until now, in folders that still are: to be closed there.
        """
        left: list[Place] = []
        alive = {id(folder.workspace) for folder in folders}
        for uri, document in self._open.items():
            place = folders.locate(uri)
            if place == document.place:
                continue
            if document.place is not None and id(document.place.workspace) in alive:
                left.append(document.place)
            document.place = place
            if place is not None:
                place.workspace.open_document(place.file, document.language_id, str(document.text))
        return tuple(left)

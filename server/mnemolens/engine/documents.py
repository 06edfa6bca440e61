"""The open documents of a folder: their text as the editor has it, and when it was last touched.

Owns the editor's side of the sources. It knows nothing of memories; who changes a document tells the index.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.languages import language_named, language_of
from mnemolens.core.symbols import FileSymbols
from mnemolens.core.text import TextChange

QUIET = timedelta(seconds=2)
"""Text untouched for this long is settled (CONTRACT §4)."""


@dataclass(slots=True)
class OpenDocument:
    """One open document.

    Attributes:
        touched_at: when the text last changed without having been saved since; None when settled.
    """

    file: str
    document: Document
    touched_at: datetime | None = None


class OpenDocuments:
    """All open documents of one folder, by file."""

    def __init__(self) -> None:
        self._open: dict[str, OpenDocument] = {}

    def __contains__(self, file: str) -> bool:
        return file in self._open

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._open))

    def get(self, file: str) -> Document | None:
        """The document, None when it is not open."""
        found = self._open.get(file)
        return found.document if found else None

    def open(self, file: str, language_id: str, text: str, known: FileSymbols | None = None) -> Document:
        """Opens, or replaces the text of a document that was open already.

        Args:
            file: its name.
            language_id: the client's, for a name that tells nothing: the index knows files by their names.
            text: as the editor has it.
            known: the file's symbols as far as they are known, to show while a large text is being parsed.
        """
        language = language_of(file) or language_named(language_id)
        document = Document(text, language, symbols=known)
        self._open[file] = OpenDocument(file, document)
        return document

    def change(
        self, file: str, changes: Sequence[TextChange], now: datetime, *, later: bool = False
    ) -> Document | None:
        """Applies content changes in order; None when the document is not open. `later`: see `Document`."""
        found = self._open.get(file)
        if found is None:
            return None
        found.document.apply(changes, later=later)
        found.touched_at = now
        return found.document

    def close(self, file: str) -> Document | None:
        """Forgets the document; returns it, if it was open."""
        found = self._open.pop(file, None)
        return None if found is None else found.document

    def settle(self, file: str) -> None:
        """The text was saved, or has been quiet."""
        found = self._open.get(file)
        if found is not None:
            found.touched_at = None

    def is_settled(self, file: str) -> bool:
        """Whether verdicts may be judged on the file: nothing typed just now, nothing half-typed."""
        found = self._open.get(file)
        return found is None or (found.touched_at is None and not found.document.symbols.partial)

    @property
    def are_quiet(self) -> bool:
        """Whether no text was touched since it was last settled, and none is being parsed."""
        return all(one.touched_at is None and not one.document.pending for one in self._open.values())

    def quiet(self, now: datetime) -> list[str]:
        """The files whose text has been quiet long enough to settle now."""
        return [
            found.file
            for found in self._open.values()
            if found.touched_at is not None and now - found.touched_at >= QUIET and not found.document.pending
        ]

    def pending(self) -> Iterator[OpenDocument]:
        """Documents with a parse that is not finished."""
        return (found for found in tuple(self._open.values()) if found.document.pending)

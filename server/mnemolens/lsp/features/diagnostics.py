"""`textDocument/publishDiagnostics`: hints at memories that are due, contradict each other, or have drifted.

Published at the tick, for whatever is other than what the client has. A memory that has become due where no
editor looks is named in one message, whichever window says it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lsprotocol import types

from mnemolens.core.views import HintView
from mnemolens.engine.reminders import Due
from mnemolens.engine.workspace import Workspace
from mnemolens.lsp.folders import Folder, Place
from mnemolens.lsp.language_server import MnemolensServer
from mnemolens.lsp.uris import uri_of_path

SOURCE = "mnemolens"
MAX_NAMED = 3
"""Titles in one message."""


@dataclass(slots=True)
class _Published:
    """What the client has of one folder.

    Attributes:
        state: what the hints were made of.
        hints: by document.
        told: memories that a message has named.
    """

    state: object = None
    hints: dict[str, tuple[HintView, ...]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)


class Diagnostics:
    """What the client was told of every folder."""

    def __init__(self) -> None:
        self._published: dict[Workspace, _Published] = {}

    def publish(self, ls: MnemolensServer, folder: Folder) -> None:
        """Tell the client what has changed in a folder whose code was read."""
        workspace = folder.workspace
        if not ls.whole.get(workspace):
            return
        known = self._published.setdefault(workspace, _Published())
        diagnostics = workspace.settings.diagnostics
        due = workspace.reminders.due(ls.now()) if diagnostics.due else ()
        state = (
            workspace.refreshing.generation,
            diagnostics,
            tuple((one.memory.id, one.why, one.places) for one in due),
        )
        if state == known.state:
            return
        known.state = state
        hints = {_uri(ls, workspace, file): found for file, found in workspace.hints.hints(ls.now()).items()}
        for uri in known.hints.keys() - hints.keys():
            _send(ls, uri, ())
        for uri, found in hints.items():
            if known.hints.get(uri) != found:
                _send(ls, uri, _diagnostics(ls, folder, uri, found))
        known.hints = hints
        _tell(ls, workspace, due, known.told)

    def clear(self, ls: MnemolensServer) -> None:
        """Take back what was said of folders that are closed."""
        gone = self._published.keys() - {folder.workspace for folder in ls.folders}
        for workspace in gone:
            for uri in self._published.pop(workspace).hints:
                _send(ls, uri, ())


def hinted(context: types.CodeActionContext) -> list[str]:
    """The memories of our hints that a code action is asked for."""
    found = (one.data for one in context.diagnostics if one.source == SOURCE)
    return [str(data["id"]) for data in found if isinstance(data, dict) and "id" in data]


def _uri(ls: MnemolensServer, workspace: Workspace, file: str) -> str:
    return ls.texts.uri_of(Place(workspace, file)) or uri_of_path(workspace.layout.path_of(file))


def _diagnostics(
    ls: MnemolensServer, folder: Folder, uri: str, hints: Iterable[HintView]
) -> tuple[types.Diagnostic, ...]:
    place = ls.folders.locate(uri)
    if place is None:
        return ()
    return tuple(
        types.Diagnostic(
            ls.positions.range_to_client(hint.range, place.line_text),
            hint.message,
            severity=types.DiagnosticSeverity.Hint,
            code=hint.code,
            source=SOURCE,
            data={"id": hint.memory_id, "root": str(folder.workspace.layout.opened)},
        )
        for hint in hints
    )


def _send(ls: MnemolensServer, uri: str, diagnostics: Iterable[types.Diagnostic]) -> None:
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, list(diagnostics)))


def _tell(ls: MnemolensServer, workspace: Workspace, due: Iterable[Due], told: set[str]) -> None:
    """Names, once each, what has become due and stands in no open document."""
    unseen = [
        one
        for one in due
        if one.memory.id not in told
        and not any(ls.texts.uri_of(Place(workspace, key.file)) for key in one.places)
    ]
    told.update(one.memory.id for one in due)
    unseen = workspace.reminders.take_untold(unseen, ls.now())
    if unseen:
        names = ", ".join(f"“{one.memory.title}”" for one in unseen[:MAX_NAMED])
        more = f" and {len(unseen) - MAX_NAMED} more" if len(unseen) > MAX_NAMED else ""
        ls.show(types.MessageType.Info, f"Mnemolens, due: {names}{more}")

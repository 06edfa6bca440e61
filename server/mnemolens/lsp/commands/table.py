"""The table of all commands: id, arguments, function. What is not here is not advertised."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mnemolens.core.views import Json
from mnemolens.lsp.commands import (
    anchors,
    capture,
    graph,
    imports,
    index,
    links,
    memories,
    memory_graph,
    recall,
    reminders,
    sessions,
    store,
)
from mnemolens.lsp.commands import open as open_documents
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.graph_params import (
    ClustersArguments,
    ConflictsArguments,
    NeighborsArguments,
    QueryArguments,
)
from mnemolens.lsp.params import (
    AccessArguments,
    Arguments,
    CaptureArguments,
    ConfirmArguments,
    IdArguments,
    LinkArguments,
    OpenArguments,
    ReanchorArguments,
    SessionArguments,
    SnoozeArguments,
    UpdateArguments,
)
from mnemolens.lsp.search_params import ContextArguments, ListArguments, RecallArguments, RefuseArguments
from mnemolens.lsp.store_params import (
    ExportArguments,
    ImportArguments,
    NotesArguments,
    NotesRunArguments,
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        arguments: the model that its argument object must fit.
        run: answers at once, or is a coroutine function where something must reach the disk first.
        patient: it waits itself until what was typed is read; before all others that is read at once, so that
            their positions mean the text that the client sent them with.
    """

    id: str
    arguments: type[Arguments]
    run: Callable[[Call, Any], Json | Awaitable[Json]]
    patient: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("mnemolens.memory.capture", CaptureArguments, capture.capture),
    Command("mnemolens.memory.preview", CaptureArguments, capture.preview),
    Command("mnemolens.memory.get", IdArguments, memories.get),
    Command("mnemolens.memory.list", ListArguments, memories.list_),
    Command("mnemolens.memory.update", UpdateArguments, memories.update),
    Command("mnemolens.memory.forget", IdArguments, memories.forget),
    Command("mnemolens.memory.restore", IdArguments, memories.restore),
    Command("mnemolens.memory.done", IdArguments, memories.done),
    Command("mnemolens.memory.due", Arguments, reminders.due),
    Command("mnemolens.memory.snooze", SnoozeArguments, reminders.snooze),
    Command("mnemolens.memory.notNow", IdArguments, reminders.not_now),
    Command("mnemolens.memory.access", AccessArguments, memories.access),
    Command("mnemolens.memory.confirm", ConfirmArguments, anchors.confirm),
    Command("mnemolens.memory.undoMove", ConfirmArguments, anchors.undo_move),
    Command("mnemolens.memory.reanchor", ReanchorArguments, anchors.reanchor),
    Command("mnemolens.memory.link", LinkArguments, links.link),
    Command("mnemolens.memory.unlink", LinkArguments, links.unlink),
    Command("mnemolens.memory.open", OpenArguments, open_documents.open_),
    Command("mnemolens.suggestion.refuse", RefuseArguments, links.refuse),
    Command("mnemolens.recall", RecallArguments, recall.recall),
    Command("mnemolens.context", ContextArguments, recall.context),
    Command("mnemolens.memory.purge", IdArguments, store.purge),
    Command("mnemolens.sessions", Arguments, sessions.sessions),
    Command("mnemolens.agents", Arguments, sessions.agents),
    Command("mnemolens.session.forget", SessionArguments, sessions.forget),
    Command("mnemolens.session.restore", SessionArguments, sessions.restore),
    Command("mnemolens.conflicts", ConflictsArguments, memory_graph.conflicts),
    Command("mnemolens.clusters", ClustersArguments, memory_graph.clusters),
    Command("mnemolens.graph.neighbors", NeighborsArguments, graph.neighbors),
    Command("mnemolens.graph.query", QueryArguments, graph.query, patient=True),
    Command("mnemolens.store.export", ExportArguments, store.export),
    Command("mnemolens.store.import", ImportArguments, store.import_),
    Command("mnemolens.store.restore", Arguments, store.restore),
    Command("mnemolens.import.preview", NotesArguments, imports.preview),
    Command("mnemolens.import.run", NotesRunArguments, imports.run),
    Command("mnemolens.import.undo", SessionArguments, imports.undo),
    Command("mnemolens.index.rebuild", Arguments, index.rebuild),
    Command("mnemolens.linking.resume", Arguments, index.resume_linking),
    Command("mnemolens.status", Arguments, index.status),
)

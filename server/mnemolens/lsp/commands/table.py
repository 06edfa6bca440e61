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
        reads: nothing that anybody gave would be lost if it were not carried out.
    """

    id: str
    arguments: type[Arguments]
    run: Callable[[Call, Any], Json | Awaitable[Json]]
    patient: bool = False
    reads: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("mnemolens.memory.capture", CaptureArguments, capture.capture),
    Command("mnemolens.memory.preview", CaptureArguments, capture.preview, reads=True),
    Command("mnemolens.memory.get", IdArguments, memories.get, reads=True),
    Command("mnemolens.memory.list", ListArguments, memories.list_, reads=True),
    Command("mnemolens.memory.update", UpdateArguments, memories.update),
    Command("mnemolens.memory.forget", IdArguments, memories.forget),
    Command("mnemolens.memory.restore", IdArguments, memories.restore),
    Command("mnemolens.memory.done", IdArguments, memories.done),
    Command("mnemolens.memory.due", Arguments, reminders.due, reads=True),
    Command("mnemolens.memory.snooze", SnoozeArguments, reminders.snooze),
    Command("mnemolens.memory.notNow", IdArguments, reminders.not_now, reads=True),
    Command("mnemolens.memory.access", AccessArguments, memories.access),
    Command("mnemolens.memory.confirm", ConfirmArguments, anchors.confirm),
    Command("mnemolens.memory.undoMove", ConfirmArguments, anchors.undo_move),
    Command("mnemolens.memory.reanchor", ReanchorArguments, anchors.reanchor),
    Command("mnemolens.memory.link", LinkArguments, links.link),
    Command("mnemolens.memory.unlink", LinkArguments, links.unlink),
    Command("mnemolens.memory.open", OpenArguments, open_documents.open_),
    Command("mnemolens.suggestion.refuse", RefuseArguments, links.refuse),
    Command("mnemolens.recall", RecallArguments, recall.recall, reads=True),
    Command("mnemolens.context", ContextArguments, recall.context, reads=True),
    Command("mnemolens.memory.purge", IdArguments, store.purge),
    Command("mnemolens.sessions", Arguments, sessions.sessions, reads=True),
    Command("mnemolens.agents", Arguments, sessions.agents, reads=True),
    Command("mnemolens.session.forget", SessionArguments, sessions.forget),
    Command("mnemolens.session.restore", SessionArguments, sessions.restore),
    Command("mnemolens.conflicts", ConflictsArguments, memory_graph.conflicts, reads=True),
    Command("mnemolens.clusters", ClustersArguments, memory_graph.clusters, reads=True),
    Command("mnemolens.graph.neighbors", NeighborsArguments, graph.neighbors, reads=True),
    Command("mnemolens.graph.query", QueryArguments, graph.query, patient=True, reads=True),
    Command("mnemolens.store.export", ExportArguments, store.export),
    Command("mnemolens.store.import", ImportArguments, store.import_),
    Command("mnemolens.store.restore", Arguments, store.restore),
    Command("mnemolens.import.preview", NotesArguments, imports.preview, reads=True),
    Command("mnemolens.import.run", NotesRunArguments, imports.run),
    Command("mnemolens.import.undo", SessionArguments, imports.undo),
    Command("mnemolens.index.rebuild", Arguments, index.rebuild, reads=True),
    Command("mnemolens.linking.resume", Arguments, index.resume_linking, reads=True),
    Command("mnemolens.status", Arguments, index.status, reads=True),
)

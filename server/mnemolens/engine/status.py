"""A folder in numbers and words."""

from collections import Counter
from typing import TYPE_CHECKING

from mnemolens.core.views import FolderStatus, JournalStatus, SkippedFile

if TYPE_CHECKING:
    from mnemolens.engine.workspace import Workspace

MAX_SKIPPED = MAX_PARTIAL = 100


def status_of(workspace: "Workspace") -> FolderStatus:
    """The folder as it is now: its code, its memories by verdict, and what is under way."""
    absent = workspace.newest.absent(workspace.clock.now())
    verdict_of = workspace.links.verdict_of
    verdicts: Counter[str] = Counter(verdict_of(one) for one in workspace.newest.all() if one not in absent)
    skipped = workspace.sources.indexer.skipped
    index = workspace.code.index
    partial = sorted(file for file in index.files() if (read := index.get(file)) is not None and read.partial)
    return FolderStatus(
        root=str(workspace.layout.opened),
        files=len(index),
        symbols=index.symbol_count,
        memories=verdicts.total(),
        verdicts=dict(verdicts),
        skipped=tuple(SkippedFile(one.file, one.reason) for one in skipped[:MAX_SKIPPED]),
        skipped_total=len(skipped),
        indexing=workspace.sources.progress,
        graph=workspace.graph.state,
        meaning=workspace.embedding.state,
        links_due=workspace.relinking.left,
        partial=tuple(partial[:MAX_PARTIAL]),
        partial_total=len(partial),
    )


def journal_status_of(workspace: "Workspace") -> JournalStatus:
    """The journal in numbers."""
    stats = workspace.journal.stats
    unreadable = tuple(SkippedFile(str(path), reason) for path, reason in workspace.journal.unreadable)
    return JournalStatus(stats.segments, stats.events, len(stats.skipped), unreadable)

"""Two states of a project side by side: what became of every definition, and of every memory on one.

Owns the reading of whole trees, folders or revisions, apart from the workspace: nothing is cached, written or
linked. Which definition became which is `codegraph.track`'s to say.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mnemolens.codegraph.languages import language_named, language_of
from mnemolens.codegraph.tokens import (
    Definitions,
    birth_look,
    definitions_of,
    dice,
    grams_of,
    identifiers_of,
    snippet_of,
)
from mnemolens.codegraph.track import Candidate, Known, Listed, Match, known_anchor, known_file, track
from mnemolens.core.clock import SystemClock
from mnemolens.core.ids import short_hash
from mnemolens.core.memories import Anchor, CodeState, Memory, Verdict
from mnemolens.core.settings_model import Settings
from mnemolens.core.symbols import CLASS_KINDS, SymbolKey
from mnemolens.core.text import BinarySource, Text, decode_source
from mnemolens.engine.following import ALIKE
from mnemolens.linking import names_in
from mnemolens.store.files import FileFinder
from mnemolens.store.git_trees import find_commit, list_files, read_blobs
from mnemolens.store.journal import Journal
from mnemolens.store.layout import Layout
from mnemolens.store.merge import MergedState

Progress = Callable[[int, int], None]
"""Called with (files read, files in all)."""


class SourceFile(NamedTuple):
    """One file, read."""

    data: bytes
    definitions: Definitions


@dataclass(frozen=True)
class Tree:
    """All code of a folder or a revision.

    Attributes:
        files: {POSIX path relative to the tree's top: what is in it}.
        others: {path of each other file: what names its content, "" where that was not read}.
    """

    files: Mapping[str, SourceFile] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def definitions(self) -> tuple[Known, ...]:
        """Every definition, by file, in text order."""
        return tuple(
            known
            for file in sorted(self.files)
            for known in known_file(
                file, self.files[file].definitions.symbols, self.files[file].definitions.grams_at
            )
        )

    @cached_property
    def everything(self) -> tuple[Known, ...]:
        """Every definition, then every file, which goes by its content and by what is in it."""
        texts = {
            path: short_hash(one.data.decode("latin-1")) if one.data.strip() else ""
            for path, one in self.files.items()
        }
        wholes = sorted((texts | dict(self.others)).items())
        return (*self.definitions, *(Known(SymbolKey(path, ""), "file", text) for path, text in wholes))

    @cached_property
    def pool(self) -> Listed:
        """The same, to look in."""
        return Listed(self.everything)

    def identifiers(self, key: SymbolKey) -> frozenset[str]:
        """The identifiers in a definition's text."""
        data, (symbols, _) = self.files[key.file]
        for at, symbol in enumerate(symbols.symbols):
            if (symbol.qualname, symbol.ordinal) == key[1:]:
                snippet = snippet_of(Text(data), symbols, at).decode("utf-8", "replace")
                return identifiers_of(snippet, language_of(key.file))
        return frozenset()


@dataclass(frozen=True, slots=True)
class NoteFate:
    """What would become of one anchor of a memory.

    Attributes:
        was: where it is in the old tree; None where it is not in it.
        at: where it would be in the new one; None where it would be nowhere.
        edited: fresh, but edited since it was last confirmed.
    """

    memory: Memory
    anchor_id: str
    was: SymbolKey | None
    at: SymbolKey | None
    verdict: Verdict
    score: float = 0.0
    edited: bool = False
    candidates: tuple[Candidate, ...] = ()


def read_folder(folder: Path, settings: Settings, on_progress: Progress | None = None) -> Tree:
    """The code of a folder as the index would take it, by paths relative to the folder.

    Raises:
        OSError: the folder can't be read.
    """
    finder = FileFinder(
        folder,
        folder,
        lambda _: True,
        exclude=settings.index.exclude,
        max_file_bytes=settings.index.max_file_bytes,
    )
    paths = [found.path for found in finder.scan().files]
    wanted = _wanted(settings)
    code = [path for path in paths if wanted(path)]
    tree = _tree(((path, _content(folder / path)) for path in code), len(code), on_progress)
    return Tree(tree.files, {path: "" for path in paths if path not in tree.files})


def read_revisions(
    folder: Path,
    revisions: Sequence[tuple[str, str]],
    settings: Settings,
    on_progress: Progress | None = None,
) -> list[Tree]:
    """The code of git revisions, by paths relative to the repository's top; what they share is read once.

    Args:
        folder: inside the repository.
        revisions: (argument that it was given as, revision) of each.
        settings: which languages, how long files may be.
        on_progress: told of each file.

    Raises:
        InvalidArgument: there is no such revision, or no repository.
        MnemolensError: git is missing or does not answer.
    """
    commits = [find_commit(folder, revision, argument) for argument, revision in revisions]
    wanted, most = _wanted(settings), settings.index.max_file_bytes
    listed = [list_files(folder, commit) for commit in commits]
    languages: dict[str, set[str]] = {}
    for files in listed:
        for one in files:
            if one.size <= most and wanted(one.path):
                languages.setdefault(one.blob, set()).add(_language_name(one.path))
    read: dict[tuple[str, str], SourceFile] = {}
    for done, (blob, raw) in enumerate(read_blobs(folder, list(languages)), 1):
        for name in languages[blob]:
            source = _read(name, raw)
            if source is not None:
                read[blob, name] = source
        if on_progress is not None:
            on_progress(done, len(languages))
    trees = []
    for files in listed:
        sources = [(one, read.get((one.blob, _language_name(one.path)))) for one in files]
        code = {one.path: source for one, source in sources if source is not None}
        trees.append(Tree(code, {one.path: one.blob for one, source in sources if source is None}))
    return trees


def stored_notes(layout: Layout) -> list[tuple[Memory, tuple[Anchor, ...]]]:
    """The memories of a store that are not forgotten, with their anchors; nothing is written or locked."""
    if not (layout.store / "journal").is_dir() and not layout.older:
        return []
    journal = Journal(
        layout.store, layout.base, SystemClock(), root=layout.top.as_posix(), older=layout.older
    )
    state = MergedState()
    try:
        state.apply(journal.load())
    finally:
        journal.close()
    memories = ((memory_id, state.memory(memory_id)) for memory_id in sorted(state.memories()))
    return [
        (memory, state.anchors_of(memory_id))
        for memory_id, memory in memories
        if memory is not None and memory.status != "forgotten"
    ]


def fates(old: Tree, new: Tree) -> tuple[Match, ...]:
    """What became of every definition, and of every file as a whole."""
    return track(old.everything, new.pool)


def note_fates(
    notes: Iterable[tuple[Memory, Sequence[Anchor]]],
    old: Tree,
    new: Tree,
    matches: Iterable[Match],
    prefix: str = "",
) -> Iterator[NoteFate]:
    """What would become of each anchor of some memories.

    Args:
        notes: memories with their anchors.
        old: the tree that the notes are on.
        new: the one that they would be on.
        matches: `fates` of the two.
        prefix: what the paths of anchors begin with that those of the trees leave out; "" or ending with "/".
    """
    known = {match.old: match for match in matches if match.old is not None}
    for memory, anchors in notes:
        named = names_in(memory.title) | names_in(memory.content)
        for anchor in anchors:
            local = _without(prefix, anchor)
            if local is not None:
                yield _note_fate(memory, local, named, old, new, known)


def _note_fate(
    memory: Memory,
    anchor: Anchor,
    named: frozenset[str],
    old: Tree,
    new: Tree,
    known: Mapping[SymbolKey, Match],
) -> NoteFate:
    states = (anchor.birth.state, *anchor.aliases)
    there = [state for state in states if old.pool.get(state.key) is not None]
    hashes = {state.body_hash for state in (*states, *anchor.confirmations) if state.body_hash}
    same = [state for state in there if (one := old.pool.get(state.key)) and one.body_hash in hashes]
    state = next(iter(same or there), None)
    # Where it is at no place that was written down it may have moved there since.
    was = state.key if state is not None else track([known_anchor(anchor)], old.pool)[0].new
    if was is not None and was in known:
        match = known[was]
    else:  # the old tree does not hold it: its own records must do
        match = track([known_anchor(anchor, state)], new.pool)[0]
    if match.new is None:
        verdict: Verdict = "ambiguous" if match.fate == "ambiguous" else "lost"
        return NoteFate(memory, anchor.id, was, None, verdict, candidates=match.candidates)
    verdict, edited = _verdict(anchor, match.new, named, new)
    if not match.sure:
        verdict = "moved"
    return NoteFate(memory, anchor.id, was, match.new, verdict, match.score, edited)


def _verdict(anchor: Anchor, at: SymbolKey, named: frozenset[str], tree: Tree) -> tuple[Verdict, bool]:
    """Whether a memory may still be true of the code there, and whether it was edited."""
    now = tree.pool.get(at)
    states = (anchor.birth.state, *anchor.aliases, *anchor.confirmations)
    if now is None or now.kind == "file" or now.kind in CLASS_KINDS:
        return "fresh", False
    if now.body_hash in {state.body_hash for state in states}:
        return "fresh", False
    grams = now.grams()
    looks = [birth_look(anchor.birth), *(state.fingerprint for state in states[1:])]
    if max(dice(grams_of(look), grams) for look in looks) < ALIKE:
        return "drifted", True
    snippet = identifiers_of(anchor.birth.snippet, language_of(anchor.birth.state.key.file))
    spoken = (named & snippet) - {state.key.name for state in states}
    return ("drifted" if spoken - tree.identifiers(at) else "fresh"), True


def _without(prefix: str, anchor: Anchor) -> Anchor | None:
    """The anchor by paths that the trees know; None where no place of it is in them."""
    if not prefix:
        return anchor

    def local(state: CodeState) -> CodeState:
        return replace(state, key=state.key._replace(file=state.key.file.removeprefix(prefix)))

    birth, aliases = anchor.birth, anchor.aliases
    inside = [state for state in (birth.state, *aliases) if state.key.file.startswith(prefix)]
    if not inside:
        return None
    return replace(
        anchor,
        birth=replace(birth, state=local(inside[0])),
        aliases=tuple(local(state) for state in inside[1:]),
        refused=frozenset(key._replace(file=key.file.removeprefix(prefix)) for key in anchor.refused),
    )


def _wanted(settings: Settings) -> Callable[[str], bool]:
    def wanted(path: str) -> bool:
        language = language_of(path)
        return language is not None and (language.setting or language.name) in settings.index.languages

    return wanted


def _language_name(path: str) -> str:
    language = language_of(path)
    return language.name if language is not None else ""


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b"\0"  # it went away since it was listed: as good as binary


def _tree(contents: Iterable[tuple[str, bytes]], total: int, on_progress: Progress | None) -> Tree:
    files = {}
    for done, (path, raw) in enumerate(contents, 1):
        source = _read(_language_name(path), raw)
        if source is not None:
            files[path] = source
        if on_progress is not None:
            on_progress(done, total)
    return Tree(files)


def _read(language: str, raw: bytes) -> SourceFile | None:
    """What is in a file; None where it is no text."""
    table = language_named(language)
    if table is None:
        return None
    try:
        data = decode_source(raw).data
    except BinarySource:
        return None
    return SourceFile(data, definitions_of(data, table))

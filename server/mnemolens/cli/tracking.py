"""`mnemolens track OLD NEW`: what became of every definition between two folders or two git revisions.

Owns how the two are named and what is printed. It compares, and changes nothing.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import short_id
from mnemolens.cli.terminal import VERDICT_STYLES, Column, Screen, Span, note, one_line, put_json
from mnemolens.codegraph.track import Fate, Match
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings import FILE_NAME, SettingsSources, read_repository_file, resolve_settings
from mnemolens.core.settings_model import Settings
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.tracking import (
    NoteFate,
    Tree,
    fates,
    note_fates,
    read_folder,
    read_revisions,
    stored_notes,
)
from mnemolens.store.layout import Layout, find_layout

_STYLES: dict[Fate, str] = {
    "kept": "",
    "renamed": "cyan",
    "moved": "cyan",
    "ambiguous": "yellow",
    "lost": "red",
    "added": "green",
}
_COLUMNS = (
    Column("fate"),
    Column("was", flexible=True, from_left=True),
    Column("is", flexible=True, from_left=True),
    Column("score", "dim"),
)
_NOTE_COLUMNS = (
    Column("verdict"),
    Column("id", "cyan"),
    Column("title", flexible=True),
    Column("was on", least=80, flexible=True, from_left=True),
    Column("would be on", flexible=True, from_left=True),
)


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is compared, and whose memories may be concerned.

    Attributes:
        prefix: what the store's paths begin with that those of the old tree leave out.
    """

    old: Tree
    new: Tree
    layout: Layout
    prefix: str


def run(root: Path | None, old: str, new: str, *, everything: bool, as_json: bool) -> int:
    """Compare.

    Args:
        root: a folder in the repository that revisions are of; None for the current one.
        old: a folder or a revision, as the user wrote it.
        new: the same.
        everything: show what is as it was too.
        as_json: write one object a line: a symbol each, then a memory's anchor each.

    Returns:
        The exit code.

    Raises:
        InvalidArgument: what is named is not there, or is one and the same.
        MnemolensError: git is missing or does not answer.
    """
    folder = Path.cwd() if root is None else root
    if not folder.is_dir():
        raise InvalidArgument("root", f"{folder} is no folder; name one that exists")
    layout = find_layout(folder)
    progress = Progress()
    try:
        sides = _read(layout, old, new, progress)
        found = fates(sides.old, sides.new)
        notes = list(note_fates(stored_notes(sides.layout), sides.old, sides.new, found, sides.prefix))
    finally:
        progress.clear()
    matches = [match for match in found if any(key and key.qualname for key in (match.old, match.new))]
    if as_json:
        for match in matches:
            put_json(_symbol_row(match))
        for fate in notes:
            put_json(_note_row(fate, sides.prefix))
    else:
        _show(matches, notes, everything=everything)
    return 0


def _read(layout: Layout, old: str, new: str, progress: Progress) -> _Sides:
    for argument, given in (("OLD", old), ("NEW", new)):
        if not given.strip():
            raise InvalidArgument(argument, "it is empty; name a folder or a revision")
    folders = [Path(one) for one in (old, new)]
    settings = _settings(layout)
    if all(folder.is_dir() for folder in folders):
        first, second = (folder.resolve() for folder in folders)
        if first == second:
            raise InvalidArgument("NEW", f"{new} is the same folder as {old}")
        owner = find_layout(first)
        prefix = "" if owner.top == first else f"{first.relative_to(owner.top).as_posix()}/"
        trees = [read_folder(folder, settings, progress.show) for folder in (first, second)]
        return _Sides(trees[0], trees[1], owner, prefix)
    try:
        trees = read_revisions(layout.top, [("OLD", old), ("NEW", new)], settings, progress.show)
    except InvalidArgument as error:
        given, other = (old, new) if error.field == "OLD" else (new, old)
        if Path(given).is_dir():
            reason = f"{given} is a folder and {other} is none; name two folders or two revisions"
            raise InvalidArgument(error.field, reason) from None
        raise
    return _Sides(trees[0], trees[1], layout, "")


def _settings(layout: Layout) -> Settings:
    file = read_repository_file(layout.top / FILE_NAME)
    return resolve_settings(SettingsSources(repository=file, environment=os.environ))[0]


def _symbol_row(match: Match) -> dict[str, Any]:
    row: dict[str, Any] = {
        "fate": match.fate,
        "old": _place(match.old),
        "new": _place(match.new),
        "stage": match.stage,
        "score": round(match.score, 3),
    }
    if match.new is not None and match.old is not None:
        row["changed"] = match.changed
    if match.candidates:
        row["candidates"] = [{**_key(one.key), "score": round(one.score, 3)} for one in match.candidates]
    return row


def _note_row(fate: NoteFate, prefix: str) -> dict[str, Any]:
    return {
        "memory": fate.memory.id,
        "title": fate.memory.title,
        "anchor": fate.anchor_id,
        "verdict": fate.verdict,
        "edited": fate.edited,
        "old": _place(fate.was, prefix),
        "new": _place(fate.at),
        "score": round(fate.score, 3),
        "candidates": [{**_key(one.key), "score": round(one.score, 3)} for one in fate.candidates],
    }


def _place(key: SymbolKey | None, prefix: str = "") -> dict[str, Any] | None:
    return None if key is None else _key(key, prefix)


def _key(key: SymbolKey, prefix: str = "") -> dict[str, Any]:
    return {"file": prefix + key.file, "qualname": key.qualname, "ordinal": key.ordinal}


def _show(matches: Sequence[Match], notes: list[NoteFate], *, everything: bool) -> None:
    screen = Screen()
    told = [match for match in matches if everything or match.fate != "kept" or match.changed]
    if told:
        screen.table(_COLUMNS, [_row(match) for match in told])
        screen.gap()
    counts = Counter(match.fate for match in matches)
    edited = sum(match.fate == "kept" and match.changed for match in matches)
    parts = [f"{count} {fate}" for fate in _STYLES if (count := counts[fate])]
    if edited:
        parts[0] += f" ({edited} edited)"
    screen.line(", ".join(parts) if parts else "no definitions on either side")
    if notes:
        screen.gap()
        screen.table(_NOTE_COLUMNS, [_note_cells(fate) for fate in notes])
    unsure = sum(match.new is not None and not match.sure for match in matches)
    if unsure:
        note(f"{unsure} with a score below .75 would be carried over, and asked about")


def _row(match: Match) -> tuple[Span | str, ...]:
    fate = "edited" if match.fate == "kept" and match.changed else match.fate
    there = _id(match.new)
    if match.new is None and match.candidates:
        there = "perhaps " + " or ".join(_id(one.key) for one in match.candidates)
    score = f"{match.score:.2f}" if match.score else ""
    return Span(fate, _STYLES[match.fate]), _id(match.old), there, score


def _note_cells(fate: NoteFate) -> tuple[Span | str, ...]:
    there = _id(fate.at)
    if fate.at is None and fate.candidates:
        there = "perhaps " + " or ".join(_id(one.key) for one in fate.candidates)
    return (
        Span(fate.verdict, VERDICT_STYLES[fate.verdict]),
        short_id(fate.memory.id),
        one_line(fate.memory.title),
        _id(fate.was),
        there,
    )


def _id(key: SymbolKey | None) -> str:
    return "" if key is None else one_line(key.id)

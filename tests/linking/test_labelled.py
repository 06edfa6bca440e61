"""Links of 130 notes over pytest's own code, labelled before the matcher was tuned on any of them.

A link counts without its ordinal. The labels hold for one release of pytest: with another there is nothing to
compare with.
"""

import json
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import _pytest
import pytest

from mnemolens.core.settings import Settings
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.workspace import Workspace

NOTES = json.loads((Path(__file__).parents[1] / "data/linking/pytest_notes.json").read_text("utf-8"))
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class Score:
    """Links that were made, and those that should have been."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    details: list[str] = field(default_factory=list)

    def add(self, made, wanted, text):
        self.right += len(made & wanted)
        self.wrong += len(made - wanted)
        self.missed += len(wanted - made)
        for sign, those in (("+", made - wanted), ("-", wanted - made)):
            self.details += [f"{sign} {one}  in: {text[:90]!r}" for one in sorted(those)]

    @property
    def precision(self):
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self):
        return self.right / max(self.right + self.missed, 1)

    def __str__(self):
        counts = f"{self.right} right, {self.wrong} wrong, {self.missed} missed"
        return f"P {self.precision:.3f}  R {self.recall:.3f}  ({counts})"


def indexed(folder, sources):
    """A project that holds copies of these packages' folders, every file read."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    workspace = Workspace.open(folder, Settings())
    workspace.survey()
    return workspace


def links(workspace, note, file=None):
    """What the note would be linked to by its words: `file` or `file::qualname`, ordinals left out."""
    request = CaptureRequest(
        note["content"], title=note.get("title"), metadata=note.get("metadata", {}), file=file
    )
    found = (one for one in workspace.preview(request, NOW).links if not one.candidate)
    keys = [one.target.key for one in found if one.context != "captured_here"]
    return {f"{key.file}::{key.qualname}" if key.qualname else key.file for key in keys}


def scored(workspace, notes):
    score = Score()
    for note in notes:
        score.add(links(workspace, note), set(note["links"]), note["content"])
    return score


@pytest.mark.skipif(version("pytest") != NOTES["version"], reason=f"labels are for pytest {NOTES['version']}")
def test_notes_over_real_code_are_linked_as_a_reader_would(tmp_path):
    workspace = indexed(tmp_path, [Path(_pytest.__file__).parent])
    score = scored(workspace, NOTES["notes"])
    workspace.close()
    assert score.precision >= 0.95, score.details
    assert score.recall >= 0.90, score.details

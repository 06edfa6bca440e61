"""`mnemolens edit`: a memory in the user's own editor, in the form that `engine/opened.py` gives it."""

import asyncio
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from mnemolens.cli.session import memory_id, now, opened, short_id
from mnemolens.cli.terminal import Screen, Span, note, one_line
from mnemolens.core.errors import InvalidArgument, StoreError
from mnemolens.core.views import SavedMemory
from mnemolens.engine.workspace import Workspace

_USUAL = ("notepad",) if os.name == "nt" else ("editor", "nano", "vim", "vi")


def run(root: Path | None, given: str) -> int:
    """Edit a memory; returns the exit code: 1 where the editor failed, and nothing was stored."""
    editor = _editor()
    with opened(root) as workspace:
        one = memory_id(workspace, given)
        workspace.author.ask()
        workspace.glance.look([one])
        [document] = asyncio.run(workspace.opened.open([one], now()))
        path = Path(document.path)
        if document.trouble:
            note(f"{path} is shown as it was left: {document.trouble}")
        before = path.read_bytes()
        try:
            code = subprocess.run([*editor, str(path)], check=False).returncode
        except OSError as error:
            raise InvalidArgument("EDITOR", f"{editor[0]} can't be started: {error.strerror}") from None
        if code:
            asyncio.run(workspace.opened.discard(path))
            note(f"{editor[0]} ended with {code}; nothing was stored")
            return 1
        screen = Screen()
        if path.read_bytes() == before:
            screen.line("Nothing changed")
            return 0
        saved = _save(workspace, path)
        for warning in saved.warnings:
            note(warning)
        title = one_line(saved.view.memory.title)
        screen.line(Span("Saved", "bold"), f": {title}", Span(f"  {short_id(one)}", "dim"))
    return 0


def _save(workspace: Workspace, path: Path) -> SavedMemory:
    """Stores the document; what can't be stored is kept for the user, as it is."""
    data = path.read_bytes()
    try:
        return asyncio.run(workspace.opened.save(path, None, now()))
    except (InvalidArgument, StoreError) as error:
        handle, kept = tempfile.mkstemp(prefix="mnemolens-", suffix=".md")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if isinstance(error, StoreError):
            raise StoreError(f"{error}; your text is kept in {kept}") from None
        raise InvalidArgument(error.field, f"{_reason(error)}; your text is kept in {kept}") from None


def _reason(error: InvalidArgument) -> str:
    return str(error).removeprefix(f"{error.field}: ")


def _editor() -> list[str]:
    """The command that $VISUAL or $EDITOR says, else a usual one that is there.

    Raises:
        InvalidArgument: there is none.
    """
    for name in ("VISUAL", "EDITOR"):
        said = os.environ.get(name, "").strip()
        if said:
            try:
                words = shlex.split(said, posix=os.name != "nt")
            except ValueError as error:  # a quote that is never closed
                raise InvalidArgument(
                    name, f"{said!r} is no command ({error}); set it to your editor"
                ) from None
            if shutil.which(words[0]) is None:
                raise InvalidArgument(name, f"there is no program {words[0]!r}; set it to your editor")
            return words
    for usual in _USUAL:
        if shutil.which(usual):
            return [usual]
    raise InvalidArgument("EDITOR", "set it to the command that starts your editor")

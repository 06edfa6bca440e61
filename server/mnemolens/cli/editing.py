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
from mnemolens.core.errors import InvalidArgument
from mnemolens.engine.workspace import Workspace

_USUAL = ("notepad",) if os.name == "nt" else ("editor", "nano", "vim", "vi")


def run(root: Path | None, given: str) -> int:
    """Edit a memory; returns the exit code: 1 where the editor failed, and nothing was stored."""
    editor = _editor()
    with opened(root) as workspace:
        one = memory_id(workspace, given)
        workspace.glance([one], writing=True)
        [document] = asyncio.run(workspace.open_memories([one], now()))
        path = Path(document.path)
        before = path.read_text("utf-8")
        try:
            code = subprocess.run([*editor, str(path)], check=False).returncode
        except OSError as error:
            raise InvalidArgument("EDITOR", f"{editor[0]} can't be started: {error.strerror}") from None
        if code:
            note(f"{editor[0]} ended with {code}; nothing was stored")
            return 1
        text = path.read_text("utf-8", errors="replace")
        screen = Screen()
        if text == before:
            screen.line("Nothing changed")
            return 0
        view = _save(workspace, path, text)
        screen.line(Span("Saved", "bold"), f": {one_line(view)}", Span(f"  {short_id(one)}", "dim"))
    return 0


def _save(workspace: Workspace, path: Path, text: str) -> str:
    """Stores the document; what can't be stored is kept for the user. Returns the title."""
    try:
        return asyncio.run(workspace.save_opened(path, text, now())).view.memory.title
    except InvalidArgument as error:
        handle, kept = tempfile.mkstemp(prefix="mnemolens-", suffix=".md")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
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
            words = shlex.split(said, posix=os.name != "nt")
            if shutil.which(words[0]) is None:
                raise InvalidArgument(name, f"there is no program {words[0]!r}; set it to your editor")
            return words
    for usual in _USUAL:
        if shutil.which(usual):
            return [usual]
    raise InvalidArgument("EDITOR", "set it to the command that starts your editor")

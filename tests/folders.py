"""A workspace on a real folder, for engine tests: `a_folder(tmp_path, "#- /a.py …")`."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mnemolens.core.clock import ManualClock
from mnemolens.core.settings import Settings
from mnemolens.core.symbols import Position
from mnemolens.core.views import CaptureView, HoverView
from mnemolens.engine.requests import CaptureRequest
from mnemolens.engine.workspace import Workspace

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Folder:
    """A folder with files and a workspace on it; every call runs to its end."""

    def __init__(
        self,
        root: Path,
        files: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        *,
        indexed: bool = True,
    ):
        self.root = root
        self.indexed = indexed
        self.clock = ManualClock(START)
        self.settings = settings or Settings()
        for name, text in (files or {}).items():
            self.write(name, text)
        self.workspace = self.start()

    def start(self) -> Workspace:
        self.loop = asyncio.new_event_loop()
        workspace = Workspace.open(self.root, self.settings, self.clock)
        if self.indexed:
            self.loop.run_until_complete(workspace.build_index())
        return workspace

    def restart(self) -> Workspace:
        self.close()
        self.workspace = self.start()
        return self.workspace

    def close(self) -> None:
        self.workspace.close()
        self.loop.close()

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def write_seen(self, name: str, text: str) -> None:
        """Another program writes the file, and the workspace is told."""
        self.run(self.workspace.files_changed([self.write(name, text)]))

    def open(self, name: str, text: str | None = None, language: str = "python") -> None:
        body = (self.root / name).read_text("utf-8") if text is None else text
        self.workspace.open_document(name, language, body)

    def find(self, name: str, needle: str, *, nth: int = 1, offset: int = 0) -> Position:
        """The position of the nth `needle` in the file as it is on disk, plus `offset` bytes."""
        data = (self.root / name).read_bytes()
        at = -1
        for _ in range(nth):
            at = data.index(needle.encode(), at + 1)
        line = data.count(b"\n", 0, at)
        return Position(line, at - (data.rfind(b"\n", 0, at) + 1) + offset)

    def capture(self, content: str, file: str | None = None, at: str | None = None, **fields) -> CaptureView:
        position = self.find(file, at) if file and at else None
        request = CaptureRequest(content, file=file, position=position, **fields)
        return self.run(self.workspace.journaling.commit(self.workspace.writing.capture(request, self.now)))

    def remember(self, content: str, file: str | None = None, at: str | None = None, **fields) -> str:
        """Captures; the new memory's id."""
        return self.capture(content, file, at, **fields).view.memory.id

    def commit(self, write):
        return self.run(self.workspace.journaling.commit(write))

    def hover(self, file: str, needle: str, *, nth: int = 1, offset: int = 0) -> HoverView | None:
        return self.workspace.hovers.at(file, self.find(file, needle, nth=nth, offset=offset), self.now)

    def titles(self, file: str, needle: str, *, nth: int = 1) -> list[str]:
        view = self.hover(file, needle, nth=nth)
        return [item.title for item in view.items] if view else []

    def lenses(self, file: str) -> dict[int, str]:
        """{0-based line: title}."""
        return {
            lens.range.start.line: title.title
            for lens in self.workspace.lenses.of(file, self.now)
            if (title := self.workspace.lenses.title(lens.key, self.now))
        }

    def verdict(self, memory_id: str) -> str:
        return self.workspace.show.detail(memory_id, self.now).view.verdict

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.run(self.workspace.tick(self.now))

    def edit(self, name: str, changes) -> None:
        self.workspace.sources.change_document(name, changes, self.now)

    def later(self, **delta) -> datetime:
        return self.now + timedelta(**delta)

"""Reading a folder of journal segments: all of them at first, then only what was added since.

Never writes, never locks, never fails on what it finds: lines that can't be read are counted with a reason.
Appending is `journal.py`'s.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from mnemolens.core.events import VERSION, Event, MemoryAccess, Skipped, decode_line, with_paths

SEGMENT_NAME: Final = re.compile(r"([a-z0-9]{10})\.jsonl", re.ASCII)
_BOM: Final = b"\xef\xbb\xbf"
_TAIL: Final = 64
_BUFFER: Final = 1 << 20
"""Each read in between would keep the event loop from its turn, see `core/turns.py`."""
_TORN: Final = "torn: the line has no end"


class Header(BaseModel):
    """A segment's first line.

    Attributes:
        base: what the paths inside are relative to: absolute, or seen from the folder the store belongs to.
        generation: grows each time the segment is rewritten.
        once: written where locks can't be trusted: nobody but its maker may append to it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    v: int = VERSION
    base: str = ""
    generation: int = 0
    once: bool = False

    def line(self) -> bytes:
        """The line, without its newline."""
        dumped = self.model_dump_json(exclude={"once"} if not self.once else None)
        return dumped.encode()


class SkippedLine(NamedTuple):
    """A line that says nothing to us. `line` counts from 1; 0 stands for the whole file."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class Segment:
    """How far a segment has been read.

    Attributes:
        signature: inode, size and time of change when it was last read.
        offset: where the next line starts.
        lines: how many lines lie before `offset`.
        tail: the bytes right before `offset`, to notice that the file is another than it was.
        first_line: the first line as it stands there.
        counts: of `memory.access`, the highest count of each memory; those that were counted here, not
            adopted from another store.
    """

    path: Path
    signature: tuple[int, int, int] | None = None
    offset: int = 0
    lines: int = 0
    tail: bytes = b""
    first_line: bytes = b""
    header: Header = field(default_factory=Header)
    events: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    skipped: list[SkippedLine] = field(default_factory=list)
    torn: bool = False

    def reset(self) -> None:
        """Forget what was read."""
        self.__init__(self.path)  # type: ignore[misc]


class SegmentFolder:
    """The segments of one journal folder, and how far each has been read. Not thread-safe.

    Args:
        folder: may not exist (yet).
        base: paths of segments whose header says this base are right as they stand; None: of no segment.
        origin: absolute POSIX path that a segment's own base is relative to.
        root: absolute POSIX path that paths shall be relative to.
    """

    def __init__(self, folder: Path, base: str | None, origin: str, root: str) -> None:
        self.folder = folder
        self._base = base
        self._origin = origin
        self._root = root
        self._segments: dict[str, Segment] = {}
        self._problem: str | None = None

    def apart(self) -> "SegmentFolder":
        """The same folder, of which nothing has been read yet."""
        return SegmentFolder(self.folder, self._base, self._origin, self._root)

    def take_over(self, writer: str, other: "SegmentFolder") -> None:
        """Go on with one segment from where `other` has read it."""
        self._segments[writer] = other.segment(writer)

    def names(self) -> list[str]:
        """Writers that have a segment here, in order."""
        try:
            found = [SEGMENT_NAME.fullmatch(name) for name in os.listdir(self.folder)]  # noqa: PTH208 - cheap names
            self._problem = None
        except (FileNotFoundError, NotADirectoryError):
            found, self._problem = [], None
        except OSError as error:
            found, self._problem = [], f"can't be listed: {error.strerror}"
        return sorted(match[1] for match in found if match)

    def read(self, *, anew: bool = False, own: str | None = None) -> list[Event]:
        """Events that were added since the last look; all of a segment that was rewritten.

        Args:
            anew: everything again.
            own: the writer whose segment is left alone.
        """
        if anew:
            self._segments.clear()
        names = self.names()
        for gone in self._segments.keys() - set(names):
            del self._segments[gone]
        return [event for name in names if name != own for event in self.read_segment(name)]

    def segment(self, writer: str) -> Segment:
        """How far the writer's segment has been read."""
        segment = self._segments.get(writer)
        if segment is None:
            segment = self._segments[writer] = Segment(self.folder / f"{writer}.jsonl")
        return segment

    def read_segment(self, writer: str) -> list[Event]:
        """Events of one segment that were added since the last look; costs one `stat` when there are none."""
        segment = self.segment(writer)
        try:
            status = segment.path.stat()
            signature = (status.st_ino, status.st_size, status.st_mtime_ns)
            if signature == segment.signature:
                return []
            with segment.path.open("rb", buffering=_BUFFER) as file:
                events = list(self._read_file(segment, file))
        except FileNotFoundError:
            segment.reset()
            return []
        except OSError as error:
            segment.reset()
            segment.skipped.append(SkippedLine(segment.path.name, 0, f"can't be read: {error.strerror}"))
            return []
        segment.signature = signature
        return events

    def wrote(self, writer: str, lines: list[bytes], counts: dict[str, int], offset: int) -> None:
        """Take note of complete lines that we appended ourselves, so that they are never read back."""
        segment = self.segment(writer)
        if segment.offset >= offset:  # a load in between has read them
            return
        if segment.torn:  # the append began by ending that line
            segment.lines += 1
            segment.skipped.append(SkippedLine(segment.path.name, segment.lines, _TORN))
        segment.offset = offset
        segment.lines += len(lines)
        segment.events += len(lines)
        segment.tail = (lines[-1] + b"\n")[-_TAIL:]
        segment.counts.update(counts)
        segment.torn = False
        segment.signature = None

    def skipped(self) -> list[SkippedLine]:
        """What could not be read, as far as was looked."""
        found = [] if self._problem is None else [SkippedLine(self.folder.name, 0, self._problem)]
        for _, segment in sorted(self._segments.items()):
            found.extend(segment.skipped)
            if segment.torn:
                found.append(SkippedLine(segment.path.name, segment.lines + 1, _TORN))
        return found

    def unreadable(self) -> list[tuple[Path, str]]:
        """What the system would not let us read, the folder or segments in it, and why."""
        found = [] if self._problem is None else [(self.folder, self._problem)]
        for _, segment in sorted(self._segments.items()):
            found.extend((segment.path, one.reason) for one in segment.skipped if one.line == 0)
        return found

    def counts(self) -> tuple[int, int]:
        """How many segments and events were read."""
        segments = [segment for segment in self._segments.values() if segment.offset]
        return len(segments), sum(segment.events for segment in segments)

    def _read_file(self, segment: Segment, file: BinaryIO) -> Iterator[Event]:
        if not _continues(segment, file):
            segment.reset()
        file.seek(segment.offset)
        segment.torn = False
        move: Callable[[str], str] | None = self._mover(segment.header.base) if segment.offset else None
        for raw in file:
            if not raw.endswith(b"\n"):
                segment.torn = True
                break
            at_start = segment.offset == 0
            segment.offset += len(raw)
            segment.lines += 1
            segment.tail = raw[-_TAIL:]
            line = raw[:-1]
            if at_start:
                segment.first_line = raw
                line = line.removeprefix(_BOM)
                header = _read_header(line)
                segment.header = header or Header()
                move = self._mover(segment.header.base)
                if header is not None:
                    continue
            if not line.strip():
                continue
            decoded = decode_line(line)
            if isinstance(decoded, Skipped):
                segment.skipped.append(SkippedLine(segment.path.name, segment.lines, decoded.reason))
                continue
            segment.events += 1
            if isinstance(decoded.data, MemoryAccess) and decoded.writer == segment.path.stem:
                for memory, count in decoded.data.counts.items():
                    segment.counts[memory] = max(count, segment.counts.get(memory, 0))
            yield decoded if move is None else with_paths(decoded, move)

    def _mover(self, base: str) -> Callable[[str], str] | None:
        if base == self._base:
            return None
        source, root = posixpath.join(self._origin, base), self._root
        if source == root:
            return None
        return lambda path: posixpath.relpath(posixpath.join(source, path), root)


def _continues(segment: Segment, file: BinaryIO) -> bool:
    """Whether the file still begins with what was read of it."""
    if segment.offset == 0:
        return False
    if file.read(len(segment.first_line)) != segment.first_line:
        return False  # another generation
    file.seek(segment.offset - len(segment.tail))
    return file.read(len(segment.tail)) == segment.tail


def _read_header(line: bytes) -> Header | None:
    if b'"op":' in line:
        return None
    try:
        return Header.model_validate_json(line)
    except ValidationError:
        return None

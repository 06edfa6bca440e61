"""Real history as a test of the tracker: what the lines of new functions prove about where they come from.

Two trees become two commits, one on the other, in an object store of our own. `git blame -w -M15 -C15 -C15`
of the second then says for each of its lines which line of the first tree it was.

The rule of proof. A function's own lines are those between its first and last line that are in no function
inside it and hold a letter or digit. An old function has become a new one if more than half of the new one's
own lines come from the old one's, and more than half of the old one's own lines stand in the new one; at
least two lines. Where more than half of its lines stand in several new functions, the one of the same key is
it and the others are copies; without such a one nothing is proven, nor where the one of the same key has kept
a quarter of its lines. Nor is anything proven of one that was copied or split into twins: where more than
half of its own lines, by their text, also stand in the one of the same key, or in a new one that no old one
has become.

Three rules for what lines alone get wrong; `Step.by_lines` is the truth without them:

- the outer one: where the new one stands in another one, which has a new name or the old one's, and the rule
  holds for that too if a function's lines are counted with those of what is inside it, on both sides, that
  outer one is it. A function whose inside was given a name is not its inside;
- equal lines: where the old one of the new one's key holds more than half of the new one's lines too, by
  text, and is proven nowhere else, it is nobody else's. Of equal lines git names any;
- a twin: so is it where another old one that is gone, and that nothing proves to be anywhere, holds more than
  half of the new one's lines by text: of two that became one nobody can say which it was.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.tokens import Definitions, definitions_of
from mnemolens.codegraph.track import Known, known_file
from mnemolens.core.symbols import FUNCTION_KINDS, SymbolKey
from mnemolens.core.text import BinarySource, decode_source

MOST_BYTES = 400_000
LEAST_LINES = 2
_HEADER = re.compile(rb"([0-9a-f]{40}) (\d+) (\d+)")
_WORD = re.compile(rb"[A-Za-z0-9]")


Pairs = dict[SymbolKey, SymbolKey]
"""{old function: the new one that it has become}."""

Texts = dict[SymbolKey, Counter[bytes]]
"""{function: its own lines' texts}."""

Origins = dict[int, tuple[str, int]]
"""{line of a new file: (old file, its line)}, 0-based, of lines that were there before."""

Run = tuple[int, str, int, int]
"""(line of a new file, old file, its line, how many lines follow each other on both sides)."""


class Source(NamedTuple):
    """One file of a tree, read."""

    lines: list[bytes]
    definitions: Definitions


class Step(NamedTuple):
    """Two trees with what is proven between them.

    Attributes:
        pairs: {old function: the new one that it has become}.
        shared: (old, new) functions that have any own line in common.
        twins: of those in `pairs`, the ones that moved while another old function of the same qualname, in a
            file that is a copy, held more than half of the new one's lines and did not stay where it was
            either, or one that is gone did: nobody can say which of the two it was.
        by_lines: `pairs` as lines alone have them.
    """

    old: list[Known]
    new: list[Known]
    pairs: Pairs
    shared: set[tuple[SymbolKey, SymbolKey]]
    twins: set[SymbolKey]
    by_lines: Pairs


class Repository:
    """A repository that is read; what is written for comparing goes into a folder of our own."""

    def __init__(self, path: Path, scratch: Path, kept: Path | None = None) -> None:
        """Reads a repository.

        Args:
            path: the repository, bare or with a work tree.
            scratch: where objects may be written.
            kept: where the truth about a step is kept for the next run, as git needs seconds for each.
        """
        self.path = path
        self._kept = kept
        self._environment: dict[str, str] | None = None
        objects = self._git("rev-parse", "--git-path", "objects").decode().strip()
        (scratch / "objects").mkdir(parents=True, exist_ok=True)
        self._environment = {
            **os.environ,
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str((path / objects).resolve()),
            **{f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
            **{f"GIT_{who}_DATE": "2000-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
        }
        self._read: dict[str, Source | None] = {}

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        command = ["git", "-c", "core.quotePath=false", *arguments]
        return subprocess.run(
            command, cwd=self.path, input=stdin, env=self._environment, capture_output=True, check=True
        ).stdout

    def commits(self) -> list[str]:
        """The main line, oldest first."""
        return self._git("rev-list", "--first-parent", "--reverse", "HEAD").decode().split()

    @property
    def name(self) -> str:
        """What to call it: a bare one's folder may be called anything."""
        return self.path.parent.name if self.path.name in {"repo", ".git", "git"} else self.path.name

    def steps(self, count: int, minutes: float) -> Iterator[tuple[str, Step]]:
        """(name, step) of the whole history cut into about so many steps; those without code left out.

        They come in an order that chance gives, the same each time, so that those that are done when the
        minutes are over are a fair sample. Those that git was asked about in an earlier run are done anyway.
        """
        commits = self.commits()
        width = max(1, len(commits) // count)
        steps = list(zip(commits[::width], commits[width::width], strict=False))
        random.Random(count).shuffle(steps)
        until = time.monotonic() + minutes * 60
        left = 0
        for old, new in steps:
            kept = self._kept_in(old, new)
            if time.monotonic() > until and not (kept is not None and kept.exists()):
                left += 1
                continue
            step = self.step(old, new)
            if step is not None:
                yield self.name, step
        if left:
            print(f"{self.name}: {len(steps) - left} of {len(steps)} steps", file=sys.stderr)

    def _kept_in(self, old: str, new: str) -> Path | None:
        return self._kept / f"{old[:16]}-{new[:16]}.json" if self._kept is not None else None

    def tracked(self, extension: str) -> Iterator[tuple[str, bytes]]:
        """(path, content) of the files of one sort in the last commit."""
        for line in self._git("ls-tree", "-r", "-z", "--full-tree", "HEAD").split(b"\0"):
            head, _, raw = line.partition(b"\t")
            path = raw.decode("utf-8", "replace")
            if head.startswith(b"100") and path.endswith(extension):
                yield path, self._git("cat-file", "blob", head.split()[2].decode())

    def code_at(self, revision: str) -> dict[str, str]:
        """{path: blob} of the code in a commit."""
        found = {}
        for line in self._git("ls-tree", "-r", "-z", "--full-tree", revision).split(b"\0"):
            head, _, raw = line.partition(b"\t")
            path = raw.decode("utf-8", "replace")
            if head.startswith(b"100") and language_of(path) is not None:
                found[path] = head.split()[2].decode()
        return found

    def blob(self, name: str) -> bytes:
        """The content of a file."""
        return self._git("cat-file", "blob", name)

    def changed(self, old: str, new: str) -> tuple[dict[str, str], dict[str, str]]:
        """{path: blob} of what differs between two commits, on either side; only code."""
        sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
        fields = self._git("diff-tree", "-r", "-z", "--no-renames", old, new).split(b"\0")
        for head, raw in zip(fields[::2], fields[1::2], strict=False):
            path = raw.decode("utf-8", "replace")
            modes = head.decode().lstrip(":").split()
            if language_of(path) is None:
                continue
            for side, mode, blob in ((0, modes[0], modes[2]), (1, modes[1], modes[3])):
                if mode.startswith("100"):
                    sides[side][path] = blob
        return sides

    def source(self, path: str, blob: str) -> Source | None:
        """A file of a tree; None where it can't be read."""
        name = f"{blob}:{path.rpartition('.')[2]}"
        if name not in self._read:
            self._read[name] = read(path, self._git("cat-file", "blob", blob))
        return self._read[name]

    def step(self, old: str, new: str) -> Step | None:
        """What lies between two commits; None where nothing can be told."""
        before, after = self.changed(old, new)
        if not before or not after:
            return None
        try:
            olds = {path: found for path, blob in before.items() if (found := self.source(path, blob))}
            news = {path: found for path, blob in after.items() if (found := self.source(path, blob))}
            origins = self.all_origins(old, new, list(news))
        except subprocess.CalledProcessError:
            return None  # a copy without its large files: git looks for lines in these, too
        return Step(
            [known for path, one in olds.items() for known in knowns(path, one)],
            [known for path, one in news.items() for known in knowns(path, one)],
            *_proven(olds, news, origins),
        )

    def all_origins(self, old: str, new: str, paths: list[str]) -> dict[str, Origins]:
        """{file: where its lines come from}; asked of git once and kept."""
        kept = self._kept_in(old, new)
        if kept is not None and kept.exists():
            runs: dict[str, list[Run]] = json.loads(kept.read_text(encoding="utf-8"))
            if runs.keys() >= set(paths):
                return {path: _from_runs(runs[path]) for path in paths}
        tree = self._git("rev-parse", f"{new}^{{tree}}").decode().strip()
        made = self._git("commit-tree", tree, "-p", old, "-m", "step").decode().strip()
        origins = {path: self.origins(old, made, path) for path in paths}
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            written = kept.with_suffix(".part")
            text = json.dumps({path: _to_runs(found) for path, found in origins.items()})
            written.write_text(text, encoding="utf-8")
            written.replace(kept)  # whole or not at all, whenever the run is stopped
        return origins

    def origins(self, old: str, made: str, path: str) -> Origins:
        """{line of the new file: (old file, its line)}, 0-based, of lines that were there before."""
        out = self._git(
            "blame", "--porcelain", "-w", "-M15", "-C15", "-C15", f"{old}..{made}", "--", path
        )  # fmt: skip
        found = {}
        names: dict[bytes, str] = {}
        file = path
        at: tuple[bytes, int, int] | None = None
        for line in out.split(b"\n"):
            if line.startswith(b"\t"):
                if at is not None and at[0] == old.encode():
                    found[at[2]] = (file, at[1])
                at = None
            elif at is None and (head := _HEADER.match(line)):
                at = (head[1], int(head[2]) - 1, int(head[3]) - 1)
                file = names.get(head[1], path)
            elif line.startswith(b"filename ") and at is not None:
                file = names[at[0]] = line[9:].decode("utf-8", "replace")
        return found


@contextmanager
def repository(path: Path, kept: Path | None = None) -> Iterator[Repository]:
    """A repository, with a scratch folder that is removed again."""
    with TemporaryDirectory() as scratch:
        yield Repository(path, Path(scratch), kept)


def _to_runs(origins: Origins) -> list[Run]:
    """Lines that come one after the other from lines that did, as one entry each."""
    runs: list[Run] = []
    for line, (file, old) in sorted(origins.items()):
        if runs:
            first, there, start, count = runs[-1]
            if there == file and line == first + count and old == start + count:
                runs[-1] = first, there, start, count + 1
                continue
        runs.append((line, file, old, 1))
    return runs


def _from_runs(runs: list[Run]) -> Origins:
    return {line + more: (file, old + more) for line, file, old, count in runs for more in range(count)}


def read(path: str, raw: bytes) -> Source | None:
    """A file's lines and definitions; None of what is no code that can be read."""
    language = language_of(path)
    if language is None or len(raw) > MOST_BYTES:
        return None
    try:
        data = decode_source(raw).data
    except BinarySource:
        return None
    return Source(data.split(b"\n"), definitions_of(data, language))


def knowns(path: str, source: Source) -> list[Known]:
    """A file's definitions as the tracker takes them."""
    return known_file(path, source.definitions.symbols, source.definitions.grams_at)


def _own_lines(path: str, source: Source) -> dict[int, SymbolKey]:
    """{line: the innermost function that it is in}, of lines that hold a word."""
    symbols = source.definitions.symbols
    owner = {}
    for symbol, place in zip(symbols.symbols, symbols.ranges, strict=True):
        if symbol.kind in FUNCTION_KINDS:
            key = SymbolKey(path, symbol.qualname, symbol.ordinal)
            last = place.definition.end.line - (place.definition.end.column == 0)
            for line in range(place.definition.start.line, last + 1):
                if line < len(source.lines) and _WORD.search(source.lines[line]):
                    owner[line] = key
    return owner


def _proven(
    olds: dict[str, Source], news: dict[str, Source], origins: dict[str, Origins]
) -> tuple[Pairs, set[tuple[SymbolKey, SymbolKey]], set[SymbolKey], Pairs]:
    before = {path: _own_lines(path, one) for path, one in olds.items()}
    size_before = Counter(key for owners in before.values() for key in owners.values())
    came: dict[SymbolKey, Counter[SymbolKey]] = defaultdict(Counter)
    went: dict[tuple[SymbolKey, SymbolKey], set[int]] = defaultdict(set)
    size_after: Counter[SymbolKey] = Counter()
    for path, one in news.items():
        for line, key in _own_lines(path, one).items():
            size_after[key] += 1
            file, number = origins[path].get(line, ("", 0))
            old = before.get(file, {}).get(number)
            if old is not None:
                came[key][old] += 1
                went[old, key].add(number)
    most: dict[SymbolKey, list[SymbolKey]] = defaultdict(list)
    for (old, new), lines in went.items():
        if len(lines) * 2 > size_before[old]:
            most[old].append(new)
    pairs = {}
    for old, found in most.items():
        new = old if old in found else found[0]
        if new != old and (len(found) > 1 or len(went.get((old, old), ())) * 4 >= size_before[old]):
            continue
        if len(went[old, new]) >= LEAST_LINES and came[new][old] * 2 > size_after[new]:
            pairs[old] = new
    texts_before, texts_after = _texts(olds), _texts(news)
    by_lines = _undisputed(pairs, texts_before, texts_after)
    pairs = _outermost(by_lines, size_before, size_after, went)
    twins = _twins(pairs, texts_before, texts_after)
    mistaken = _of_equal_lines(pairs, texts_before, texts_after)
    pairs = {old: new for old, new in pairs.items() if old not in mistaken}
    merged = _merged(pairs, texts_before, texts_after)
    return pairs, set(went), (twins | merged) & pairs.keys(), by_lines


def _outermost(
    pairs: Pairs,
    size_before: Counter[SymbolKey],
    size_after: Counter[SymbolKey],
    went: dict[tuple[SymbolKey, SymbolKey], set[int]],
) -> Pairs:
    """The pairs, with the outer function for one that is inside it where lines prove that as well."""
    found = dict(pairs)
    taken = set(pairs.values())
    for old, new in pairs.items():
        for outer in _around(new, size_after) if new != old else ():
            if outer in taken or (outer in size_before and outer != old) or _around(old, size_before):
                continue
            both = [lines for (a, b), lines in went.items() if _within(a, old) and _within(b, outer)]
            kept = sum(map(len, both)) * 2
            whole = sum(size for key, size in size_before.items() if _within(key, old))
            if kept > whole and kept > sum(size for key, size in size_after.items() if _within(key, outer)):
                taken.add(outer)
                found[old] = outer
                break
    return found


def _around(inner: SymbolKey, functions: Iterable[SymbolKey]) -> list[SymbolKey]:
    """The functions that one stands in, the outermost first."""
    found = (key for key in functions if key != inner and _within(inner, key))
    return sorted(found, key=lambda key: len(key.qualname))


def _within(inner: SymbolKey, outer: SymbolKey) -> bool:
    """Whether it is that one, or stands in it."""
    same = inner.file == outer.file
    return inner == outer or (same and inner.qualname.startswith(f"{outer.qualname}."))


def _of_equal_lines(pairs: Pairs, before: Texts, after: Texts) -> set[SymbolKey]:
    """Those that are said to be what an old one of the same key is as well as they are."""
    found = set()
    for old, new in pairs.items():
        if new != old and new in before and new not in pairs:
            lines = after[new]
            if (before[new] & lines).total() * 2 > lines.total():
                found.add(old)
    return found


def _merged(pairs: Pairs, before: Texts, after: Texts) -> set[SymbolKey]:
    """Those that moved while another one, which is gone, held half of the new one's lines."""
    with_line = _by_line({key: lines for key, lines in before.items() if key not in {*pairs, *after}})
    found = set()
    for old, new in pairs.items():
        if new != old:
            rivals = {key for line in after[new] for key in with_line.get(line, ())}
            if any((before[key] & after[new]).total() * 2 > after[new].total() for key in rivals):
                found.add(old)
    return found


def _undisputed(pairs: Pairs, before: Texts, after: Texts) -> Pairs:
    """The pairs less those where another new function, nobody's successor, holds the old one's lines too."""
    with_line = _by_line(after)
    successors = set(pairs.values())
    kept = {}
    for old, new in pairs.items():
        if new != old:
            holds = Counter(key for line in before[old] for key in with_line[line])
            half = sum(before[old].values()) / 2
            rivals = [key for key in holds if key != new and (key == old or key not in successors)]
            if any((before[old] & after[key]).total() > half for key in rivals):
                continue
        kept[old] = new
    return kept


def _twins(pairs: Pairs, before: Texts, after: Texts) -> set[SymbolKey]:
    """Those that moved while a copy in another file, which did not stay, held half of the new one's lines."""
    with_line = _by_line({key: lines for key, lines in before.items() if pairs.get(key) != key})
    found = set()
    for old, new in pairs.items():
        if new != old:
            lines = {key for line in after[new] for key in with_line[line]} - {old}
            rivals = [key for key in lines if key.qualname == old.qualname and key.file != old.file]
            half = sum(after[new].values()) / 2
            if any((before[key] & after[new]).total() > half for key in rivals):
                found.add(old)
    return found


def _by_line(texts: Texts) -> dict[bytes, set[SymbolKey]]:
    found: dict[bytes, set[SymbolKey]] = defaultdict(set)
    for key, lines in texts.items():
        for line in lines:
            found[line].add(key)
    return found


def _texts(sources: dict[str, Source]) -> Texts:
    """{function: its own lines' texts}."""
    found: dict[SymbolKey, Counter[bytes]] = defaultdict(Counter)
    for path, source in sources.items():
        for line, key in _own_lines(path, source).items():
            found[key][source.lines[line].strip()] += 1
    return found

"""One open document: its text as the editor has it, its tree, and its symbols kept in step.

Each content change edits the tree; one incremental parse follows; definitions whose text did not change keep
their units (`codegraph.extract`), so the result is what a full extraction of the same text gives. While the
text has a syntax error the last good symbols stay, their ranges shifted by the edits.

Knows no protocol and no index. A document whose parse is slow does it in slices that someone else calls
(`parse_slice`): nothing here waits or starts a task.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from time import perf_counter, thread_time

from tree_sitter import Tree

from mnemolens.codegraph.comments import Reading, difference, may_be_long, shortened
from mnemolens.codegraph.extract import Walk, extract, parseable
from mnemolens.codegraph.languages.base import Language, is_partial
from mnemolens.codegraph.layout import assembling
from mnemolens.codegraph.units import Unit
from mnemolens.core.symbols import FileSymbols, Position, Range, Reference, SymbolRange
from mnemolens.core.text import ByteEdit, Text, TextChange

SLOW_PARSE_MS = 15.0
"""A document whose last parse and extraction took longer is brought up to date in slices."""

LARGE_BYTES = 131_072
"""A text above this size is parsed in slices from the start."""

HUGE_BYTES = 524_288
"""A text above this size is parsed in slices always: what is quick for one edit is not for the next."""

_FIRST_TIME_FACTOR = 10
"""How much longer a first reading takes, at least, than catching up with a change."""

AT_ONCE_MS = 30.0
"""What takes longer at once after all goes on in slices: brackets nested 20,000 deep fit into 40 kB."""

SMALL_BYTES = 16_384
"""A text up to this size is always read at once, however busy the machine."""

_MAX_EDITS = 64
"""After so many scattered edits without a whole text the units are given up: reading anew is cheaper."""

_UNITS_A_STEP = 500


class Document:
    """An open document.

    Attributes:
        text: the text now.
        language: None for a file type without a table: text only, no symbols.
        symbols: what the text says; `partial` while it has a syntax error, then the last good ones.
        pending: the text is ahead of the symbols (ranges are shifted already): call `parse_slice`.
    """

    def __init__(
        self, text: str | bytes, language: Language | None, *, symbols: FileSymbols | None = None
    ) -> None:
        """Open a document.

        Args:
            text: its text.
            language: its language.
            symbols: known symbols of this same text, shown while a large text is being parsed.
        """
        self.text = Text(text)
        self.language = language
        self.pending = False
        self._parser = language.parser() if language else None
        self._tree: Tree | None = None
        self._odd = False  # the parsed text had lone carriage returns
        self._comments = language.line_comments if language else None
        self._long_comments = True  # there may be long comments: the text is to be looked through
        self._told: bytes | None = None  # the text as the parser knows it, where that is another
        self._slow = len(self.text) > LARGE_BYTES
        # What was last extracted: its tree (edited since), its units, and the edits since, joined.
        self._good_tree: Tree | None = None
        self._units: Unit | None = None
        self._edits: list[tuple[int, int, int]] = []
        self._whole = False  # `symbols` are of a text without a syntax error
        self._unshifted: list[ByteEdit] = []
        self._steps: Iterator[None] | None = None
        self._clock: Callable[[], float] = thread_time
        self._deadline = 0.0  # by that clock: then this piece of work is to be left
        self._spent = 0.0  # seconds of processor time that this catching up took so far
        self._limit = 0.0  # seconds after which it counts as slow
        self.symbols = symbols or FileSymbols(language.name if language else "", partial=len(self.text) > 0)
        if language is None:
            self.symbols = FileSymbols("")
        else:
            self._catch_up()

    def apply(self, changes: Iterable[TextChange], *, later: bool = False) -> None:
        """Replay content changes in order; symbols follow at once, or ranges do and `pending` is set.

        With `later` it is the latter, however quick a parse would be: who reads the symbols calls `catch_up`.
        """
        for change in changes:
            before = self.text
            self.text, edit = before.apply(change)
            self._record(edit, before)
        if self.language is not None and self._unshifted:
            self._catch_up(later=later)

    def catch_up(self) -> bool:
        """Finish a parse that was put off, unless it is slow; True when nothing is pending."""
        if self.pending and not self._slow:
            self._work_at_once()
        return not self.pending

    def parse_slice(self, budget_ms: float = 5.0) -> bool:
        """Work on a pending parse for about `budget_ms`; True when the symbols have caught up."""
        if self._steps is None:
            return True
        started = thread_time()
        self._clock, self._deadline = perf_counter, perf_counter() + budget_ms / 1000
        for _ in self._steps:
            if perf_counter() > self._deadline:
                self._spent += thread_time() - started
                return False
        self._spent += thread_time() - started
        self._slow = self._is_slow(self._spent)
        self._steps = None
        self.pending = False
        return True

    @property
    def is_slow(self) -> bool:
        """Whether reading it at once would be felt."""
        return self._slow

    def letting_go(self) -> Iterator[None]:
        """Frees what was kept for the next edit, in steps: 24,000 definitions at once take 50 ms."""
        units, self._units, self._steps = self._units, None, None
        todo = [units.edges] if units is not None else []
        while todo:
            edges = todo.pop()
            some = edges[-_UNITS_A_STEP:]
            del edges[-_UNITS_A_STEP:]
            todo += (left for left in (edges, *(edge.unit.edges for edge in some)) if left)
            del some
            yield

    def recovered(self) -> FileSymbols:
        """What can be read from the text as it is, syntax errors or not."""
        return extract(self.text.data, self.language) if self.language else self.symbols

    def symbol_at(self, position: Position) -> int | None:
        """Index of the innermost definition that holds `position`; None outside all."""
        best = None
        for index, (definition, _) in enumerate(self.symbols.ranges):
            if definition.start <= position <= definition.end:
                best = index  # later ones start later: they are the inner ones
            elif definition.start > position:
                break
        return best

    def name_at(self, position: Position) -> int | None:
        """Index of the symbol whose name stands at `position`."""
        for index, (definition, name) in enumerate(self.symbols.ranges):
            if name.contains(position) and name.start != name.end:
                return index
            if definition.start > position:  # a name may stand behind the body, as a typedef's does
                break
        return None

    def reference_at(self, position: Position) -> Reference | None:
        """The identifier at `position` that may refer to a symbol; None on a definition's own name."""
        if self.language is None or self._tree is None or self.pending or self.name_at(position) is not None:
            return None  # while a parse is pending the tree is behind the text
        offset = self.text.offset(position)
        for at in (offset, offset - 1):
            if at < 0:
                continue
            node = self._tree.root_node.descendant_for_byte_range(at, at + 1)
            if node is None or node.kind_id not in self.language.reference_kinds:
                continue
            found = self.language.reference(node)
            if found is None:
                return None
            start, end = self.text.position(node.start_byte), self.text.position(node.end_byte)
            scope = self.symbol_at(start)
            scope = -1 if scope is None else scope
            return Reference(Range(start, end), found.name, found.receiver, scope, found.imported)
        return None

    def _record(self, edit: ByteEdit, before: Text) -> None:
        """Bring the trees up to one more edit of the text, and remember it for ranges and units."""
        if self._steps is not None:
            self._steps = None
            if self._parser is not None:
                self._parser.reset()
        self._unshifted.append(edit)
        if not self._long_comments:
            self._long_comments = may_be_long(self.text, edit, self._comments)
        if self._told is not None:
            new = self.text.data[edit.start : edit.new_end]
            self._told = b"".join((self._told[: edit.start], new, self._told[edit.old_end :]))
        self._edit_trees(_widened(edit, before, self.text))
        if self._units is None:
            return
        if self._edits:
            start, old_end, new_end = self._edits[-1]
            if start <= edit.start and edit.old_end <= new_end:  # typing on: one longer edit
                self._edits[-1] = (start, old_end, new_end + edit.new_end - edit.old_end)
                return
        self._edits.append((edit.start, edit.old_end, edit.new_end))
        if len(self._edits) > _MAX_EDITS:
            self._units = None
            self._edits.clear()

    def _edit_trees(self, edit: ByteEdit) -> None:
        if self._tree is not None:
            self._tree.edit(*edit)
        if self._good_tree is not None and self._good_tree is not self._tree:
            self._good_tree.edit(*edit)

    def _readable(self, source: bytes) -> bytes:
        """The text as the parser is to get it; the trees hear of what is another there now, or was."""
        assert self.language is not None
        parsed = shortened(source, self._comments) if self._long_comments else source
        self._long_comments = parsed is not source
        parsed = self.language.mended(parsed)
        told, self._told = self._told, parsed if parsed is not source else None
        if told is None:
            told = source
        place = difference(told, parsed) if self._tree is not None and told is not parsed else None
        if place is not None:
            start, end = (self.text.position(offset) for offset in place)
            self._edit_trees(ByteEdit(place[0], place[1], place[1], start, end, end))
        return parsed

    def _forget_what_was_good(self) -> None:
        self._good_tree = self._units = None
        self._edits.clear()

    def _catch_up(self, *, later: bool = False) -> None:
        """Bring the symbols up to the text, at once or (where parsing is slow, or put off) in slices."""
        source = parseable(self.text.data)
        odd = source != self.text.data
        if odd or self._odd:
            # The parser sees other bytes than the edits speak of: nothing old can be used.
            self._tree = None
            self._forget_what_was_good()
            self._long_comments = True
        self._odd = odd
        parsed = self._readable(source)
        self._limit = SLOW_PARSE_MS / 1000 * (1 if self._good_tree is not None else _FIRST_TIME_FACTOR)
        self._steps = self._catching_up(source, parsed)
        self._spent = 0.0
        self.pending = True
        if not self._slow and not later:
            self._work_at_once()
        if self.pending:
            self._shift()

    def _work_at_once(self) -> None:
        """Work on the pending parse to its end, unless it turns out to be slow."""
        assert self._steps is not None
        # What others on this machine do is no sign of a slow text: processor time tells.
        started = thread_time()
        limit = AT_ONCE_MS / 1000 if len(self.text) > SMALL_BYTES else inf
        self._clock, self._deadline = thread_time, started + limit
        self.pending = any(thread_time() > self._deadline for _ in self._steps)
        self._spent += thread_time() - started
        self._slow = self.pending or self._is_slow(self._spent)
        if not self.pending:
            self._steps = None

    def _is_slow(self, seconds: float) -> bool:
        """Whether the next edit is to be followed in slices, this one having taken so long."""
        return seconds > self._limit or len(self.text) > HUGE_BYTES

    def _catching_up(self, source: bytes, parsed: bytes) -> Iterator[None]:
        """The steps from the text, which the parser gets as `parsed`, to the symbols."""
        assert self.language is not None
        if not self._whole:
            # Nothing good to hold on to: what is recovered must be what a first look would recover.
            self._forget_what_was_good()
        tree = yield from self._parsing(source, parsed)
        self._tree = tree
        root, partial = tree.root_node, is_partial(tree, source)
        if partial and self._whole:
            self._shift()
            if not self.symbols.partial:
                self.symbols = replace(self.symbols, partial=True)
            return
        known = yield from self._known(tree)
        units = yield from Walk(self.language, source, known).steps(root)
        yield
        # What is read for the first time is known from elsewhere, and will be compared with that.
        twins = {} if self._units is not None else {(s.qualname, s.ordinal): s for s in self.symbols.symbols}
        yield
        symbols = yield from assembling(units, self.language, partial=partial, twins=twins)
        self._unshifted.clear()
        self._edits.clear()
        self._units, self._good_tree = units, tree
        self._whole = not partial
        self.symbols = symbols

    def _parsing(self, source: bytes, parsed: bytes) -> Generator[None, None, Tree]:
        """The steps of one parse; its tree is of no text where the parser is stuck in it."""
        assert self._parser is not None
        assert self.language is not None
        reading = Reading(source, parsed)
        while True:
            try:
                tree = self._parse(reading)
            except ValueError:  # the time was up: the next call goes on from there
                if reading.stuck:
                    self._parser.reset()
                    return self.language.no_tree
                yield
            else:
                reading.done()
                yield
                return tree

    def _parse(self, read: Reading) -> Tree:
        assert self._parser is not None

        def halt(offset: int, _has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter calls it so)
            return read.is_stuck(offset) or self._clock() > self._deadline

        # Never from a tree with an error in it: what the parser makes of that may be another tree.
        base = self._good_tree
        if base is None:
            return self._parser.parse(read, progress_callback=halt)
        return self._parser.parse(read, base, progress_callback=halt)

    def _known(self, tree: Tree) -> Generator[None, None, dict[tuple[int, int, int], Unit]]:
        """Units whose text and structure did not change, by their place in the new text."""
        if self._units is None or self._good_tree is None or not self._units.edges:
            return {}
        # Equal structure is not reported where only a leaf's text changed: hence the edits besides.
        changed = [(r.start_byte, r.end_byte) for r in self._good_tree.changed_ranges(tree)]
        yield
        edits = self._edits
        known: dict[tuple[int, int, int], Unit] = {}
        stack = [(edge, 0) for edge in self._units.edges]
        steps = 0
        while stack:
            steps += 1
            if not steps % _UNITS_A_STEP:
                yield
            edge, base = stack.pop()
            unit = edge.unit
            first = base + edge.start_byte
            start = first - unit.lead
            end = start + unit.length
            for edit_start, old_end, new_end in edits:
                if old_end < start:
                    delta = new_end - old_end
                    start += delta
                    end += delta
                elif edit_start <= end:
                    break
            else:
                for change_start, change_end in changed:
                    if change_start <= end and start <= change_end:
                        break
                else:
                    known[start, unit.length, unit.type_id] = unit
                    continue
            stack += [(inner, first) for inner in unit.edges]
        return known

    def _shift(self) -> None:
        """Move the known ranges along with the edits since they were right."""
        ranges = self.symbols.ranges
        for edit in self._unshifted:
            ranges = _all_shifted(ranges, edit)
        self._unshifted.clear()
        if ranges is not self.symbols.ranges:
            self.symbols = replace(self.symbols, ranges=ranges)


def _widened(edit: ByteEdit, before: Text, after: Text) -> ByteEdit:
    """The edit with a byte before and the line end behind it, as told to the parser.

    An edit that only touches Python's newline token makes the parser read the whole rest of the text again
    (11 ms for 5,000 lines); one that replaces the token does not (0.3 ms).
    """
    start = max(edit.start - 1, 0)
    behind = 2 if before.data[edit.old_end : edit.old_end + 2] == b"\r\n" else 1
    behind = min(behind, len(before) - edit.old_end)
    old_end, new_end = edit.old_end + behind, edit.new_end + behind
    return ByteEdit(
        start, old_end, new_end, after.position(start), before.position(old_end), after.position(new_end)
    )


def _all_shifted(ranges: Sequence[SymbolRange], edit: ByteEdit) -> tuple[SymbolRange, ...]:
    """All ranges after an edit."""
    last = edit.old_end_position.line
    # They are in the order of their starts: those below the edit only move by whole lines.
    below = bisect_right(ranges, last, key=lambda item: item.definition.start.line)
    down = edit.new_end_position.line - last
    moved = [_shifted(item, edit) for item in islice(ranges, below)]
    if not down:
        return (*moved, *ranges[below:])
    for (start, end), (name, name_end) in islice(ranges, below, None):
        moved.append(
            SymbolRange(
                Range(Position(start[0] + down, start[1]), Position(end[0] + down, end[1])),
                Range(Position(name[0] + down, name[1]), Position(name_end[0] + down, name_end[1])),
            )
        )
    return tuple(moved)


def _shifted(item: SymbolRange, edit: ByteEdit) -> SymbolRange:
    """A symbol's ranges after an edit; text typed at a range's very end belongs to it."""
    definition, name = item
    if definition.end < edit.start_position:
        return item
    return SymbolRange(
        Range(_moved(definition.start, edit, opens=True), _moved(definition.end, edit, opens=False)),
        Range(_moved(name.start, edit, opens=True), _moved(name.end, edit, opens=False)),
    )


def _moved(position: Position, edit: ByteEdit, *, opens: bool) -> Position:
    start, old_end, new_end = edit.start_position, edit.old_end_position, edit.new_end_position
    if position < start:
        return position
    if position >= old_end:
        if position.line > old_end.line:
            return Position(position.line + new_end.line - old_end.line, position.column)
        return Position(new_end.line, new_end.column + position.column - old_end.column)
    return start if opens else new_end

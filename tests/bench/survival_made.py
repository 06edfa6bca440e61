"""Refactorings of real functions, made so that what has become of each is known.

Trees of forty real files are changed in one go, one function a file, so that what was moved competes with
what was deleted and with what is new. Functions are real ones of at least three lines and `LEAST_TOKENS`
tokens; those that are more than half alike are not touched in one tree: nobody could say which is which.

An edit of 10 or 30% changes a function until so many of its tokens were touched, each time in one of three
ways that are equally likely: another name, number or string for one token; a line less; a line more, taken
from another function. What no longer parses is made anew.

A function that was edited and renamed to a name of no kin, in a tree where another function is as like the
old one as the edited text still is, is a case of its own, "of a twin": text alone can't tell that it is not
another twin, and nothing else is left. Many rules and tests of some projects are such.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from survival_history import Source, knowns, read

from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.tokens import dice
from mnemolens.codegraph.track import WEIGHTS, Known, Match, Weights, track
from mnemolens.core.symbols import FUNCTION_KINDS, SymbolKey

FILES_A_TREE = 40
MOST_FILES = 400
LEAST_TOKENS = 24
EDITS = (0.0, 0.1, 0.3)
OF_A_TWIN = ", of a twin"
RELATED = 0.5
"""Likeness from which a function that is put in a deleted one's place is no unrelated one."""

_NEVER_RENAMED = frozenset({"constructor", "__init__", "init", "main"})
"""Names that the language gives, so that nobody changes or takes them elsewhere."""

_TOKEN = re.compile(rb"[A-Za-z0-9_$]+|[^\sA-Za-z0-9_$]")
_ABOVE = (b"@", b"#", b"//", b"/*", b"*")
_OPEN = (b":", b"{", b"(", b"[", b",", b"=", b"\\", b"=>", b"|", b"&", b"+", b"?", b".", b"||", b"&&")
_CLOSING = tuple(
    b"} ) ] . else elif except finally case catch ? : | & + default return break continue raise throw "
    b"\"\"\" ''' ` @ def class function func import".split()
)
_LEAVES = re.compile(r"identifier$|^number$|^integer$|^float$|_literal$|^string_(content|fragment)$")


class Piece(NamedTuple):
    """One function in its file.

    Attributes:
        first, last: its lines, with decorators and comments above it.
        head: the line on which it begins itself.
    """

    file: int
    key: SymbolKey
    first: int
    head: int
    last: int
    indent: int
    at: int


class Case(NamedTuple):
    """One refactoring and what should become of the function; None where it should be lost."""

    kind: str
    old: SymbolKey
    new: SymbolKey | None


class Corpus:
    """Real files of one language."""

    def __init__(
        self,
        contents: Iterable[tuple[str, bytes]],
        extension: str,
        rng: random.Random,
        most: int = MOST_FILES,
    ) -> None:
        """Reads files.

        Args:
            contents: (path, what is in it) of each; others than of this language are passed over.
            extension: of the language, with its dot.
            rng: chooses the files, and all else.
            most: files that are taken.
        """
        self.rng = rng
        self.extension = extension
        self.files: list[tuple[str, Source]] = []
        self.pieces: list[list[Piece]] = []
        self.language = language_of(f"a{extension}")
        chosen = sorted(one for one in contents if one[0].endswith(extension))
        rng.shuffle(chosen)
        for path, raw in chosen:
            if len(self.files) == most:
                break
            if path.endswith((".d.ts", "_pb2.py")) or not 500 < len(raw) < 120_000:
                continue
            name = f"src/{len(self.files)}_{path.rpartition('/')[2]}"
            source = read(name, raw.replace(b"\r\n", b"\n"))
            if source is None or source.definitions.symbols.partial:
                continue
            pieces = list(self._pieces(len(self.files), name, source))
            if len(pieces) >= 2:
                self.files.append((name, source))
                self.pieces.append(pieces)
        self.words = self._words()
        self.lines = [
            line.strip()
            for file, pieces in enumerate(self.pieces)
            for piece in pieces[:20]
            for line in self.files[file][1].lines[piece.head + 1 : piece.last]
            if _is_simple(line)
        ]

    def _pieces(self, file: int, name: str, source: Source) -> Iterator[Piece]:
        symbols, lines = source.definitions.symbols, source.lines
        named = Counter(symbol.qualname for symbol in symbols.symbols)
        for at, (symbol, place) in enumerate(zip(symbols.symbols, symbols.ranges, strict=True)):
            head, last = place.definition.start.line, place.definition.end.line
            if place.definition.end.column == 0:
                last -= 1
            if symbol.kind not in FUNCTION_KINDS or last - head < 2 or symbol.token_count < LEAST_TOKENS:
                continue
            if symbol.qualname.rpartition(".")[2] in _NEVER_RENAMED:
                continue
            parent = symbols.symbols[symbol.parent] if symbol.parent >= 0 else None
            if parent is not None and parent.kind in FUNCTION_KINDS:
                continue
            before = lines[head][: place.definition.start.column]
            if (
                before.strip()
                or named[symbol.qualname] > 1
                or lines[last][place.definition.end.column :].strip()
            ):
                continue
            first = head
            while first and lines[first - 1].strip().startswith(_ABOVE):
                first -= 1
            key = SymbolKey(name, symbol.qualname, 0)
            yield Piece(file, key, first, head, last, len(before), at)

    def may_stand(self, piece: Piece, beside: Piece) -> bool:
        """Whether a function can stand beside another: methods and functions look alike in Python only."""
        return self.extension == ".py" or piece.indent == beside.indent

    def likeness(self, first: Piece, second: Piece) -> float:
        """How alike two functions are."""
        a, b = (self.files[one.file][1].definitions.grams_at(one.at) for one in (first, second))
        return dice(a, b)

    def related(self, first: Piece, second: Piece) -> bool:
        """Whether one could well be what the other has become: by its name, or by half of its text."""
        return first.key.name == second.key.name or self.likeness(first, second) > RELATED

    def _words(self) -> dict[str, list[bytes]]:
        """{kind of leaf: texts of it}, to replace others with."""
        found: dict[str, list[bytes]] = {}
        for _, source in self.files[:50]:
            data = b"\n".join(source.lines)
            for kind, start, end in leaves(self.language, data, 0, len(data)):
                found.setdefault(kind, []).append(data[start:end])
        return found

    def edited(self, text: bytes, share: float) -> bytes:
        """A function's text with this share of its tokens touched."""
        rng = self.rng
        budget = share * len(_TOKEN.findall(text))
        touched = 0.0
        for _ in range(400):
            if touched >= budget:
                break
            lines = text.split(b"\n")
            simple = [at for at in range(1, len(lines) - 1) if _is_simple(lines[at])]
            way = rng.choice("wdi")
            if way == "w":
                here = [leaf for leaf in leaves(self.language, text, 0, len(text)) if leaf[1] > len(lines[0])]
                if not here:
                    continue
                kind, start, end = rng.choice(here)
                text = text[:start] + rng.choice(self.words.get(kind) or [text[start:end]]) + text[end:]
                touched += 1
            elif way == "d" and len(simple) > 1:
                at = rng.choice(simple)
                size = len(_TOKEN.findall(lines.pop(at)))
                if touched + size > budget * 1.5 + 3:
                    continue
                text, touched = b"\n".join(lines), touched + size
            elif way == "i" and simple and self.lines:
                at, line = rng.choice(simple), rng.choice(self.lines)
                size = len(_TOKEN.findall(line))
                if touched + size > budget * 1.5 + 3:
                    continue
                lines.insert(at, lines[at][: _indent(lines[at])] + line)
                text, touched = b"\n".join(lines), touched + size
        return text


def leaves(language, data: bytes, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """(type, start, end) of names, numbers and strings in a text."""
    cursor = [language.parse(data).root_node]
    while cursor:
        node = cursor.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        if _LEAVES.search(node.type) and not node.child_count:
            yield node.type, node.start_byte, node.end_byte
        cursor += node.children


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _is_simple(line: bytes) -> bool:
    """A statement on one line, as far as can be told by looking."""
    text = line.strip()
    return (
        8 < len(text) < 120
        and not text.startswith(_CLOSING + _ABOVE)
        and not text.endswith(_OPEN)
        and all(text.count(a) == text.count(b) for a, b in ((b"(", b")"), (b"[", b"]"), (b"{", b"}")))
        and text.count(b'"') % 2 == 0
        and text.count(b"'") % 2 == 0
        and b"`" not in text
    )


@dataclass
class Tree:
    """A tree that is being changed: its files' lines."""

    corpus: Corpus
    numbers: list[int]

    def __post_init__(self) -> None:
        self.texts = {number: list(self.corpus.files[number][1].lines) for number in self.numbers}
        self.cases: list[tuple[str, SymbolKey, tuple[str, int] | None]] = []
        self.gone: list[Piece] = []
        self.foreign: list[Piece] = []

    def text_of(self, piece: Piece) -> list[bytes]:
        return self.corpus.files[piece.file][1].lines[piece.first : piece.last + 1]

    def name(self, number: int) -> str:
        return self.corpus.files[number][0]

    def changed(self, piece: Piece, share: float, name: str | None) -> tuple[list[bytes], int]:
        """A function's lines, edited and renamed, and how far down it begins itself."""
        corpus = self.corpus
        above = self.text_of(piece)[: piece.head - piece.first]
        text = b"\n".join(self.text_of(piece)[piece.head - piece.first :])
        if share:
            text = corpus.edited(text, share)
        if name is not None:
            own = re.compile(rb"(?<![\w$])" + re.escape(piece.key.name.encode()) + rb"(?![\w$])")
            text = own.sub(name.encode(), text)
        return above + text.split(b"\n"), len(above)

    def replace(self, piece: Piece, lines: list[bytes]) -> None:
        """Put lines in a function's place."""
        self.texts[piece.file][piece.first : piece.last + 1] = lines

    def insert(self, at: Piece, lines: list[bytes], indent: int, *, after: bool = False) -> int:
        """Put lines before a function of another file, as deep as it stands; returns where."""
        moved = _reindented(lines, indent, at.indent)
        text = self.texts[at.file]
        line = at.last + 1 if after else at.first
        text[line:line] = [b"", *moved, b""]
        return line + 1


def _reindented(lines: list[bytes], old: int, new: int) -> list[bytes]:
    if old == new:
        return lines
    if new > old:
        pad = (b"\t" if any(line.startswith(b"\t") for line in lines) else b" ") * (new - old)
        return [pad + line if line.strip() else line for line in lines]
    return [line[min(old - new, _indent(line)) :] for line in lines]


def make(
    corpus: Corpus, rng: random.Random, wanted: list[str]
) -> tuple[list[Known], list[Known], list[Case]]:
    """A tree, what it becomes, and what should be found."""
    # What is put in a deleted one's place comes from outside the tree, so that must not be everything.
    size = min(FILES_A_TREE, len(corpus.files) * 2 // 3)
    tree = Tree(corpus, rng.sample(range(len(corpus.files)), size))
    free = list(tree.numbers)
    rng.shuffle(free)
    while len(free) >= 2 and wanted:
        kind = wanted[-1]
        source = free.pop()
        piece = rng.choice(corpus.pieces[source])
        if any(corpus.related(piece, one) for one in (*tree.gone, *tree.foreign)):
            continue  # twins: nobody could say which of them is which
        if _refactor(tree, kind, piece, free, rng):
            tree.gone.append(piece)
            wanted.pop()
    olds, news, heads = [], [], {}
    broken = set()
    for number in tree.numbers:
        name, source = corpus.files[number]
        olds += knowns(name, source)
        after = source
        if tree.texts[number] != source.lines:
            after = read(name, b"\n".join(tree.texts[number])) or source
            if after.definitions.symbols.partial:
                broken.add(name)
        news += knowns(name, after)
        symbols = after.definitions.symbols
        for symbol, place in zip(symbols.symbols, symbols.ranges, strict=True):
            heads[name, place.definition.start.line] = SymbolKey(name, symbol.qualname, symbol.ordinal)
    cases = []
    left = {known.key[:2] for known in news}
    for kind, old, place in tree.cases:
        files = {old.file, *(place[:1] if place else ())}
        stays = kind.startswith(("copy", "move")) or kind.endswith("same name")
        # Where its name is still there, only a part of it was taken away, as an overload's signatures are.
        half = old[:2] in left and (not stays or kind.startswith("move to file"))
        if half or files & broken or (place is not None and place not in heads):
            wanted.insert(0, kind)
        else:
            cases.append(Case(kind, old, heads[place] if place else None))
    return olds, news, [_judged(case, olds, news) for case in cases]


def _judged(case: Case, olds: list[Known], news: list[Known]) -> Case:
    """The case, by its kind's name with what nobody can tell apart."""
    if case.new is None or not case.kind.startswith("rename +"):
        return case
    own = next(known for known in olds if known.key == case.old).grams()
    left = dice(own, next(known for known in news if known.key == case.new).grams())
    others = (known for known in olds if known.kind in FUNCTION_KINDS and known.key != case.old)
    if any(dice(own, known.grams()) >= left for known in others):
        return case._replace(kind=f"{case.kind}{OF_A_TWIN}")
    return case


def _refactor(tree: Tree, kind: str, piece: Piece, free: list[int], rng: random.Random) -> bool:
    """Change the tree in one way; False where that can't be done with this function."""
    what, _, share = kind.partition(" +")
    edit = int(share.rstrip("%")) / 100 if share else 0.0
    place: tuple[str, int] | None
    if what == "rename":
        words = [word for word in tree.corpus.words["identifier"][:5000] if len(word) > 3]
        lines, down = tree.changed(piece, edit, rng.choice(words).decode() + "X")
        tree.replace(piece, lines)
        place = (tree.name(piece.file), piece.first + down)
    elif what == "move":
        place = _move(tree, piece, edit, rng)
    elif what in {"move to file", "copy"}:
        place = _move_to_file(tree, piece, edit, free.pop(), rng, copy=what == "copy")
    elif kind == "delete":
        tree.replace(piece, [])
        place = None
    else:
        if not _replace(tree, piece, rng, same_name=kind.endswith("same name")):
            return False
        place = None
    if place is None and what in {"move", "move to file", "copy"}:
        return False
    tree.cases.append((kind, piece.key, place))
    return True


def _move(tree: Tree, piece: Piece, edit: float, rng: random.Random) -> tuple[str, int] | None:
    """To another place in the file, into another class where there is one; returns where."""
    others = [
        one
        for one in tree.corpus.pieces[piece.file]
        if (one.last < piece.first or one.first > piece.last) and tree.corpus.may_stand(piece, one)
    ]
    parent = piece.key.qualname.rpartition(".")[0]
    others = [one for one in others if one.key.qualname.rpartition(".")[0] != parent] or others
    if not others:
        return None
    at = rng.choice(others)
    lines, down = tree.changed(piece, edit, None)
    if at.first > piece.first:
        line = tree.insert(at, lines, piece.indent) - (piece.last + 1 - piece.first)
        tree.replace(piece, [])
    else:
        tree.replace(piece, [])
        line = tree.insert(at, lines, piece.indent)
    return tree.name(piece.file), line + down


def _move_to_file(
    tree: Tree, piece: Piece, edit: float, target: int, rng: random.Random, *, copy: bool
) -> tuple[str, int] | None:
    """Into another file; a copy leaves the original there, edited. Returns where it should be found."""
    pieces = tree.corpus.pieces[target]
    spots = [one for one in pieces if tree.corpus.may_stand(piece, one)]
    if not spots or any(one.key.qualname == piece.key.qualname for one in pieces):
        return None
    lines, down = tree.changed(piece, 0.0 if copy else edit, None)
    line = tree.insert(rng.choice(spots), lines, piece.indent)
    if not copy:
        tree.replace(piece, [])
        return tree.name(target), line + down
    lines, down = tree.changed(piece, edit, None)
    tree.replace(piece, lines)
    return tree.name(piece.file), piece.first + down


def _replace(tree: Tree, piece: Piece, rng: random.Random, *, same_name: bool) -> bool:
    """An unrelated function in its place, under its own name or under the old one."""
    corpus = tree.corpus
    foreign = rng.choice(rng.choice(corpus.pieces))
    if foreign.file in tree.texts or any(corpus.related(foreign, one) for one in (piece, *tree.gone)):
        return False
    if not corpus.may_stand(foreign, piece):
        return False
    lines, _ = Tree(corpus, []).changed(foreign, 0.0, piece.key.name if same_name else None)
    tree.foreign.append(foreign)
    tree.replace(piece, _reindented(lines, foreign.indent, piece.indent))
    return True


KINDS = (
    *(
        f"{what}{f' +{share:.0%}' if share else ''}"
        for what in ("rename", "move", "move to file", "copy")
        for share in EDITS
    ),
    "delete",
    "replaced",
    "replaced, same name",
)


def run(
    corpus: Corpus, counts: dict[str, int], rng: random.Random, weights: Weights = WEIGHTS
) -> Iterator[tuple[Case, Match]]:
    """Every case with what the tracker made of it."""
    wanted = [kind for kind, count in counts.items() for _ in range(count)]
    rng.shuffle(wanted)
    while wanted:
        before = len(wanted)
        olds, news, cases = make(corpus, rng, wanted)
        found = {match.old: match for match in track(olds, news, weights=weights)}
        for case in cases:
            yield case, found[case.old]
        if len(wanted) >= before and not cases:
            wanted.pop()  # not with these files

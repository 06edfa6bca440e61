"""The symbol cache: what was extracted from a text, kept so that a second start parses only what changed.

Owns the SQLite file `symbols.sqlite` in the user's cache folder, shared by all windows, worktrees and the
command line: symbols by content hash, language and extractor version; for each worktree the stamps of its
files, and each anchor's last place. All of it is derived: it can be deleted at any time, and nothing that
goes wrong here is ever raised. A cache that can't be used answers as an empty one, and
`SymbolCache.trouble` says why.

It does not extract symbols and decides nothing about files: see `engine/indexer.py`.

Symbols are kept as `marshal` of plain tuples behind a checksum. A start waits for decoding; of the formats
that build nothing but plain values marshal is the quickest, a quarter before JSON (`tests/bench/formats.py`),
and it makes a name that many files use one object again. It is not safe against hostile bytes, no more than
the interpreter's own `.pyc` files, which have the same owner and permissions; the checksum sees accidents.
"""

import marshal
import sqlite3
import sys
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from mnemolens.core.clock import Clock
from mnemolens.core.memories import CodeState
from mnemolens.core.symbols import (
    Call,
    FileSymbols,
    Import,
    PackedNames,
    PackedRanges,
    Symbol,
    SymbolKey,
)
from mnemolens.core.turns import Turns

CODEC_VERSION = 4
SCHEMA_VERSION = 1
DEFAULT_MAX_BYTES = 512 * 2**20
_FORGET_WORKTREE_DAYS = 90
_TOUCH_DAYS = 7
_MARSHAL_VERSION = 4  # the newest that every supported Python reads

_HEAD_AT = 8
"""Where the head begins: after the CRC32 and its own length."""

_SCHEMA = """
CREATE TABLE symbols (
    key TEXT PRIMARY KEY, -- content hash, language, extractor and codec version
    day INTEGER NOT NULL, -- of its last use, within a week
    data BLOB NOT NULL
);
CREATE INDEX symbols_by_day ON symbols (day);
CREATE TABLE worktrees (id INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE, day INTEGER NOT NULL);
CREATE TABLE stamps (
    worktree INTEGER NOT NULL REFERENCES worktrees (id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (worktree, file)
) WITHOUT ROWID;
CREATE TABLE anchors (
    worktree INTEGER NOT NULL REFERENCES worktrees (id) ON DELETE CASCADE,
    anchor TEXT NOT NULL,
    file TEXT NOT NULL,
    qualname TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    full_hash TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    commit_id TEXT,
    PRIMARY KEY (worktree, anchor)
) WITHOUT ROWID;
"""


class Stamp(NamedTuple):
    """What tells that a file is unchanged without reading it, and the hash of what was read then.

    Attributes:
        size: bytes.
        mtime_ns: of the content's last change; -1 where that was too recent for a later change to be sure to
            show, so that it never equals a real one.
        ctime_ns: of the inode's last change.
        hash: of the content, as `content_hash` makes it.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    hash: str


class SymbolsKey(NamedTuple):
    """What a text's symbols depend on."""

    hash: str
    language: str
    extractor_version: int


# -- the format ---


def encode(symbols: FileSymbols) -> bytes:
    """A file's symbols as bytes: a CRC32, the head that `holds_any` looks into, `marshal` of plain tuples."""
    intern = sys.intern  # marshal writes an interned string once, and interns it again when it is read
    body = marshal.dumps(
        (
            symbols.language,
            symbols.partial,
            [
                (
                    name := intern(s.name),
                    s.qualname if s.qualname != name else name,
                    s.ordinal,
                    s.kind,
                    s.parent,
                    s.signature,
                    s.docstring,
                    s.is_async,
                    s.bases,
                    s.full_hash,
                    s.body_hash,
                    s.token_count,
                )
                for s in symbols.symbols
            ],
            [
                (
                    i.module,
                    i.name and intern(i.name),
                    intern(i.alias),
                    i.scope,
                    i.exported,
                    i.branch,
                    i.after,
                    i.replaced,
                )
                for i in symbols.imports
            ],
            [(c.caller, intern(c.name), c.receiver and intern(c.receiver), c.count) for c in symbols.calls],
            [PackedNames.pack(names) for names in symbols.locals],
            [intern(name) for name in sorted(symbols.module_names)],
            PackedRanges.of(symbols.ranges).to_bytes(),
        ),
        _MARSHAL_VERSION,
    )
    told = {text for s in symbols.symbols for text in (s.name, s.full_hash, s.body_hash) if text}
    head = "".join(f"\n{text}\n" for text in sorted(told)).encode("utf-8", "surrogatepass")
    rest = b"".join((len(head).to_bytes(4, "big"), head, body))
    return zlib.crc32(rest).to_bytes(4, "big") + rest


def holds_any(data: bytes, texts: Iterable[str]) -> bool:
    """Whether encoded symbols have any of these names or hashes; 20 times as fast as to decode them."""
    end = _HEAD_AT + int.from_bytes(data[4:_HEAD_AT], "big")
    return any(data.find(_sought(text), _HEAD_AT, end) >= 0 for text in texts)


@lru_cache(maxsize=1024)
def _sought(text: str) -> bytes:
    return f"\n{text}\n".encode("utf-8", "surrogatepass")


def decode(data: bytes) -> FileSymbols:
    """The value that `encode` was given.

    Raises:
        ValueError: the bytes are damaged, or no such value.
    """
    view = memoryview(data)
    if zlib.crc32(view[4:]).to_bytes(4, "big") != data[:4]:
        raise ValueError("damaged symbols")
    try:
        rows = marshal.loads(view[_HEAD_AT + int.from_bytes(data[4:_HEAD_AT], "big") :])  # noqa: S302 - see the top of this module
        language, partial, symbols, imports, calls, scopes, names, ranges = rows
        return FileSymbols(
            language,
            tuple([Symbol(*row) for row in symbols]),
            tuple([Import(*row) for row in imports]),
            tuple([Call(*row) for row in calls]),
            PackedNames(tuple([_shared(row) for row in scopes])),
            frozenset(names),
            partial,
            PackedRanges.from_bytes(ranges),
        )
    except (TypeError, EOFError) as error:
        raise ValueError(f"not symbols: {error}") from error


_MAX_SHARED = 50_000
_names: dict[bytes, bytes] = {}


def _shared(names: bytes) -> bytes:
    """One object for all that are equal: many functions bind the same few names.

    Raises:
        TypeError: it is something else.
    """
    if type(names) is not bytes:
        raise TypeError("names are no bytes")
    if len(_names) >= _MAX_SHARED:
        _names.clear()
    return _names.setdefault(names, names)


# -- the database ---

_T = TypeVar("_T")


class SymbolCache:
    """The cache's one connection in this process. Safe to use from several threads; no method raises.

    A busy database (another process writes for longer than `busy_seconds`) costs that one call's answer. A
    damaged one is set aside as `symbols.sqlite.damaged` and begun anew. One that a newer version wrote is
    left alone, and this process goes on without.

    Args:
        file: the database, opened or made at the first use; None for a cache that keeps nothing.
        clock: tells the day on which something was last used.
        max_bytes: `prune` makes the file's content no larger than this.
        busy_seconds: how long to wait for another process.

    Attributes:
        trouble: why the cache is not used, in words for the user; None while it is.
    """

    def __init__(
        self,
        file: Path | None,
        clock: Clock,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        busy_seconds: float = 2.0,
    ) -> None:
        self._file = file
        self._clock = clock
        self._max_bytes = max_bytes
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._unopened = file is not None
        self.trouble: str | None = None

    def close(self) -> None:
        """Let go of the file. The cache then answers as an empty one."""
        with self._lock:
            self._unopened = False
            self._drop_connection()

    # -- symbols --

    def get_many(
        self, keys: Iterable[SymbolsKey], holding: Collection[str] | None = None
    ) -> dict[SymbolsKey, FileSymbols]:
        """The symbols known under these keys; what is not known, or damaged, is left out.

        Args:
            keys: which.
            holding: where no symbol has any of these names or hashes, the answer is a file without symbols.
        """
        wanted = list(keys)
        nothing: list[tuple[SymbolsKey, int, bytes]] = []
        rows = self._run(lambda db: self._select(db, wanted), nothing)
        found: dict[SymbolsKey, FileSymbols] = {}
        today, old, damaged = self._today(), list[str](), list[str]()
        for key, day, data in rows:
            try:
                whole = holding is None or holds_any(data, holding)
                found[key] = decode(data) if whole else FileSymbols(key.language)
            except ValueError:
                damaged.append(_row_key(key))
                continue
            if day < today - _TOUCH_DAYS:
                old.append(_row_key(key))
        if old or damaged:
            self._run(lambda db: _touch(db, old, damaged, today), None)
        return found

    @staticmethod
    def _select(db: sqlite3.Connection, keys: list[SymbolsKey]) -> list[tuple[SymbolsKey, int, bytes]]:
        rows = []
        turns = Turns()
        for key in keys:
            turns.give()
            row = db.execute("SELECT day, data FROM symbols WHERE key = ?", (_row_key(key),)).fetchone()
            if row is not None:
                rows.append((key, *row))
        return rows

    def put_many(self, items: Iterable[tuple[SymbolsKey, bytes]]) -> None:
        """Keep symbols, each as `encode` gives it, in one transaction."""
        today = self._today()
        rows = [(_row_key(key), today, data) for key, data in items]
        if rows:
            self._run(
                lambda db: db.executemany("INSERT OR REPLACE INTO symbols VALUES (?, ?, ?)", rows), None
            )

    # -- stamps of a worktree's files --

    def get_stamps(self, worktree: str) -> dict[str, Stamp]:
        """The stamps of a worktree's files, by path.

        Args:
            worktree: the top level's real path.
        """
        query = """SELECT file, size, mtime_ns, ctime_ns, hash FROM stamps
                   WHERE worktree = (SELECT id FROM worktrees WHERE folder = ?)"""
        rows: list[tuple[str, int, int, int, str]]
        rows = self._run(lambda db: db.execute(query, (worktree,)).fetchall(), [])
        return {row[0]: Stamp(*row[1:]) for row in rows}

    def put_stamps(self, worktree: str, stamps: Mapping[str, Stamp], removed: Iterable[str] = ()) -> None:
        """Keep new stamps of a worktree's files and drop those of removed ones, in one transaction."""
        rows = [(file, *stamp) for file, stamp in stamps.items()]
        gone = list(removed)

        def write(db: sqlite3.Connection) -> None:
            number = self._worktree(db, worktree)
            db.executemany(
                "DELETE FROM stamps WHERE worktree = ? AND file = ?", [(number, file) for file in gone]
            )
            numbered = [(number, *row) for row in rows]
            db.executemany("INSERT OR REPLACE INTO stamps VALUES (?, ?, ?, ?, ?, ?)", numbered)

        self._run(write, None)

    # -- last places of anchors --

    def get_anchors(self, worktree: str) -> dict[str, CodeState]:
        """Where each anchor was last seen in this worktree, by anchor id."""
        query = """SELECT anchor, file, qualname, ordinal, full_hash, body_hash, fingerprint, commit_id
                   FROM anchors WHERE worktree = (SELECT id FROM worktrees WHERE folder = ?)"""
        rows: list[tuple[str, str, str, int, str, str, str, str | None]]
        rows = self._run(lambda db: db.execute(query, (worktree,)).fetchall(), [])
        return {row[0]: CodeState(SymbolKey(*row[1:4]), *row[4:]) for row in rows}

    def put_anchors(
        self, worktree: str, states: Mapping[str, CodeState], removed: Iterable[str] = ()
    ) -> None:
        """Keep where anchors are now, and drop those of anchors that are no more, in one transaction."""
        rows = [
            (anchor, *state.key, state.full_hash, state.body_hash, state.fingerprint, state.commit)
            for anchor, state in states.items()
        ]
        gone = list(removed)

        def write(db: sqlite3.Connection) -> None:
            number = self._worktree(db, worktree)
            query = "DELETE FROM anchors WHERE worktree = ? AND anchor = ?"
            db.executemany(query, [(number, anchor) for anchor in gone])
            numbered = [(number, *row) for row in rows]
            db.executemany("INSERT OR REPLACE INTO anchors VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)

        self._run(write, None)

    # -- upkeep --

    def check(self) -> None:
        """Read the whole file; a damaged one is set aside and begun anew. Takes seconds for a big one."""
        sound = self._run(lambda db: db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok", None)
        with self._lock:
            if sound is False and self._db is not None:
                self._replace()

    def prune(self) -> None:
        """Forget worktrees that were not indexed for 90 days, and above the limit the symbols unused longest.

        Space is given back to later writes, not to the file system.
        """
        today = self._today()

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM worktrees WHERE day < ?", (today - _FORGET_WORKTREE_DAYS,))
            used: int = db.execute(
                "SELECT (p.page_count - f.freelist_count) * s.page_size"
                " FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s"
            ).fetchone()[0]
            excess = used - self._max_bytes
            if excess <= 0:
                return
            excess += self._max_bytes // 5  # so that the next write does not prune again
            oldest = db.execute("SELECT rowid, length(data) FROM symbols ORDER BY day").fetchall()
            doomed: list[tuple[int]] = []
            for row, size in oldest:
                if excess <= 0:
                    break
                doomed.append((row,))
                excess -= size
            db.executemany("DELETE FROM symbols WHERE rowid = ?", doomed)

        self._run(write, None)

    def _today(self) -> int:
        return self._clock.now().toordinal()

    def _worktree(self, db: sqlite3.Connection, folder: str) -> int:
        today = self._today()
        db.execute(
            "INSERT INTO worktrees (folder, day) VALUES (?, ?)"
            " ON CONFLICT (folder) DO UPDATE SET day = excluded.day",
            (folder, today),
        )
        number: int = db.execute("SELECT id FROM worktrees WHERE folder = ?", (folder,)).fetchone()[0]
        return number

    # -- the connection --

    def _run(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """Do `work` in one transaction; `otherwise` when the database can't answer."""
        with self._lock:
            if self._unopened:
                self._open()
            if self._db is None:
                return otherwise
            try:
                with self._db:
                    return work(self._db)
            except sqlite3.DatabaseError as error:
                if _is_damage(error):
                    self._replace()
                return otherwise
            except (sqlite3.Error, UnicodeEncodeError, OverflowError):
                return otherwise  # a value SQLite can't hold is simply not cached

    def _open(self) -> None:
        self._unopened = False
        file = self._file
        assert file is not None
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._db = self._connect(file)
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self._replace()
            else:
                self._give_up(str(error))
        except OSError as error:
            self._give_up(str(error))

    def _connect(self, file: Path) -> sqlite3.Connection | None:
        db = sqlite3.connect(file, timeout=self._busy_seconds, check_same_thread=False)
        try:
            with suppress(OSError):
                file.chmod(0o600)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA mmap_size = 0")  # a page that can't be read is an error, not a dead process
            version = _version(db)
            if version < SCHEMA_VERSION:
                _make_schema(db)
            elif version > SCHEMA_VERSION:
                db.close()
                self._give_up(f"{file} was written by a newer version")
                return None
        except BaseException:
            db.close()
            raise
        return db

    def _replace(self) -> None:
        """Set a damaged file aside and begin anew, unless another process has done that already."""
        self._drop_connection()
        file = self._file
        assert file is not None
        try:
            if not _is_sound(file):
                for ending in ("", "-wal", "-shm"):
                    source = file.with_name(file.name + ending)
                    if source.exists():
                        source.replace(file.with_name(f"{file.name}.damaged{ending}"))
            self._db = self._connect(file)
        except (sqlite3.Error, OSError) as error:
            self._give_up(f"{file} is damaged and can't be replaced: {error}")

    def _give_up(self, reason: str) -> None:
        self._drop_connection()
        self.trouble = f"symbols are not cached: {reason}"

    def _drop_connection(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None


def _shape() -> int:
    """A number that changes when the values' fields do, so that no reader meets rows of another shape."""
    shape = [[(f.name, str(f.type)) for f in fields(kind)] for kind in (FileSymbols, Symbol, Import, Call)]
    return zlib.crc32(repr((CODEC_VERSION, shape)).encode())


_SHAPE = _shape()


def _row_key(key: SymbolsKey) -> str:
    return f"{key.hash} {key.language} {key.extractor_version} {_SHAPE:08x}"


def _touch(db: sqlite3.Connection, old: list[str], damaged: list[str], today: int) -> None:
    db.executemany("UPDATE symbols SET day = ? WHERE key = ?", [(today, key) for key in old])
    db.executemany("DELETE FROM symbols WHERE key = ?", [(key,) for key in damaged])


def _version(db: sqlite3.Connection) -> int:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def _make_schema(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        if _version(db) < SCHEMA_VERSION:  # else another process was quicker
            tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            for (table,) in tables:
                db.execute(f'DROP TABLE "{table}"')
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.commit()
    except BaseException:
        db.rollback()
        raise


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorname", "") in {"SQLITE_CORRUPT", "SQLITE_NOTADB"} or (
        getattr(error, "sqlite_errorcode", 0) & 0xFF in {11, 26}  # extended codes of the same two
        # a table that is missing under our version number
        or (isinstance(error, sqlite3.OperationalError) and "no such" in str(error))
    )


def _is_sound(file: Path) -> bool:
    try:
        db = sqlite3.connect(file, timeout=1.0)
        try:
            if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return False
            db.execute("SELECT 1 FROM symbols, stamps, worktrees, anchors LIMIT 0")
            return True
        finally:
            db.close()
    except sqlite3.Error as error:
        return not isinstance(error, sqlite3.DatabaseError) or not _is_damage(error)

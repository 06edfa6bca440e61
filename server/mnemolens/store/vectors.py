"""Vectors on disk: the SQLite file `vectors.sqlite` in the store's folder.

Owns that file. It holds vectors of two kinds: those that a caller *gave* are kept as they came; those *made*
from a memory's text can be made again, so they are dropped whenever the text or the model is another. Each is
kept with its model and dimension. Nothing is written before the first vector.

It makes no vectors and searches none.
"""

import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemolens.core.errors import InvalidArgument, StoreError

Floats: TypeAlias = npt.NDArray[np.float32]

SCHEMA_VERSION = 1
GIVEN = "given"
"""The model of vectors whose giver named none."""
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE vectors (
    memory TEXT NOT NULL,
    given INTEGER NOT NULL, -- 1: by a caller, 0: made from the memory's text
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    source TEXT NOT NULL, -- hash of the text it was made from, '' where it was given
    data BLOB NOT NULL, -- float32, little endian
    PRIMARY KEY (memory, given)
) WITHOUT ROWID;
"""


class Made(NamedTuple):
    """A vector made from a memory's text.

    Attributes:
        source: hash of that text.
        values: float32 [dimension].
    """

    memory_id: str
    source: str
    values: Floats


class Vectors(NamedTuple):
    """All vectors of one kind and model.

    Attributes:
        rows: float32 [len(memory_ids), dimension], in their order.
        sources: hash of the text of each.
    """

    memory_ids: tuple[str, ...]
    rows: Floats
    sources: tuple[str, ...]


class VectorStore:
    """The store's vectors. Safe to use from several threads, beside other processes.

    Args:
        file: the database; made at the first write.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def put_given(self, memory_id: str, values: Floats, model: str = GIVEN) -> None:
        """Keeps a vector that a caller gave; it replaces the one given before for the same memory.

        Args:
            memory_id: whose it is.
            values: float32 [dimension], kept as it is.
            model: what made it.

        Raises:
            InvalidArgument: other vectors of this model have another dimension.
            StoreError: it can't be written.
        """
        with self._writing() as database:
            row = database.execute(
                "SELECT dimension FROM vectors WHERE given = 1 AND model = ? AND memory <> ? LIMIT 1",
                (model, memory_id),
            ).fetchone()
            if row is not None and row[0] != len(values):
                raise InvalidArgument(
                    "embedding", f"has {len(values)} numbers, but the vectors of {model!r} have {row[0]}"
                )
            database.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, 1, ?, ?, '', ?)",
                (memory_id, model, len(values), _bytes(values)),
            )

    def put_made(self, model: str, vectors: Iterable[Made]) -> None:
        """Keeps vectors made from text, all or none of them.

        Raises:
            StoreError: they can't be written.
        """
        rows = [(one.memory_id, model, len(one.values), one.source, _bytes(one.values)) for one in vectors]
        with self._writing() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, 0, ?, ?, ?, ?)", rows)

    def given(self, model: str | None = None) -> Vectors:
        """The vectors that callers gave; of several models, without one named, those of the most common."""
        if model is None:
            rows = self._read(
                "SELECT model FROM vectors WHERE given = 1 GROUP BY model, dimension"
                " ORDER BY count(*) DESC, model LIMIT 1"
            )
            model = str(rows[0][0]) if rows else GIVEN
        return self._load(model, given=True)

    def given_model(self, memory_id: str) -> str | None:
        """What made the vector that was given for the memory; None where none was given."""
        rows = self._read("SELECT model FROM vectors WHERE given = 1 AND memory = ?", (memory_id,))
        return str(rows[0][0]) if rows else None

    def made(self, model: str) -> Vectors:
        """The vectors that this model made from text."""
        return self._load(model, given=False)

    def keep_only(self, model: str, dimension: int) -> None:
        """Drops the vectors made from text by any other model, or by this one with another dimension.

        Raises:
            StoreError: it can't be written.
        """
        if self._file.exists():
            with self._writing() as database:
                database.execute(
                    "DELETE FROM vectors WHERE given = 0 AND (model <> ? OR dimension <> ?)",
                    (model, dimension),
                )

    def remove(self, memory_ids: Iterable[str]) -> None:
        """Drops all vectors of these memories.

        Raises:
            StoreError: it can't be written.
        """
        if self._file.exists():
            with self._writing() as database:
                database.executemany(
                    "DELETE FROM vectors WHERE memory = ?", [(memory_id,) for memory_id in memory_ids]
                )

    def close(self) -> None:
        """Lets go of the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _load(self, model: str, *, given: bool) -> Vectors:
        rows = self._read(
            "SELECT memory, source, data FROM vectors WHERE given = ? AND model = ? ORDER BY memory",
            (int(given), model),
        )
        # What is damaged, or of another length than most, is as good as absent.
        lengths = [len(data) for _, _, data in rows]
        usual = max(set(lengths), key=lengths.count) if lengths else 0
        kept = [row for row in rows if len(row[2]) == usual and usual and usual % 4 == 0]
        matrix = np.frombuffer(b"".join(row[2] for row in kept), dtype="<f4").astype(np.float32)
        return Vectors(
            tuple(str(row[0]) for row in kept),
            matrix.reshape(len(kept), usual // 4 if kept else 0),
            tuple(str(row[1]) for row in kept),
        )

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            if self._connection is None and not self._file.exists():
                return []
            try:
                return list(self._open().execute(statement, values))
            except sqlite3.DatabaseError as error:
                raise StoreError(f"vectors can't be read: {self._file}: {error}") from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                database = self._open()
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
            except (sqlite3.DatabaseError, OSError) as error:
                with suppress(sqlite3.Error):
                    if self._connection is not None and self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise StoreError(f"vectors can't be written: {self._file}: {error}") from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = self._connect()
            try:
                self._prepare(connection)
            except sqlite3.DatabaseError as error:
                connection.close()
                if isinstance(error, sqlite3.OperationalError):  # busy, or no permission: not damaged
                    raise
                self._file.replace(self._file.with_name(self._file.name + ".damaged"))
                connection = self._connect()
                self._prepare(connection)
            self._connection = connection
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        self._file.touch(mode=0o600)
        return sqlite3.connect(
            self._file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    @staticmethod
    def _prepare(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA secure_delete = ON")  # what is purged is gone for good
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
        if version > SCHEMA_VERSION:
            raise sqlite3.OperationalError("a newer version of Mnemolens wrote it")


def _bytes(values: Floats) -> bytes:
    data = np.ascontiguousarray(values, dtype=np.float32)
    return (data if sys.byteorder == "little" else data.byteswap()).tobytes()

"""Asking the graph: read-only Cypher, and the rows that it answers.

What queries are allowed, and how long and large they may be, is decided below (`store/graph_cypher.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mnemolens.api.conversion import number
from mnemolens.api.shared import SharedWorkspace
from mnemolens.core.errors import InvalidArgument

MAX_ROWS: Final = 1000


class QueryRows:
    """The rows of a query's answer: iterate over them, or take them one by one.

    Attributes:
        columns: their names, in the order of the query's RETURN.
        truncated: there were more rows than the limit.
    """

    def __init__(
        self, columns: tuple[str, ...], rows: tuple[tuple[Any, ...], ...], *, truncated: bool
    ) -> None:
        self.columns = columns
        self.truncated = truncated
        self._rows = rows
        self._next = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        return self._rows[place]

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {', '.join(self.columns)}>"

    def has_next(self) -> bool:
        """Whether `get_next` has another row."""
        return self._next < len(self._rows)

    def get_next(self) -> tuple[Any, ...]:
        """The next row.

        Raises:
            IndexError: there is none left.
        """
        row = self._rows[self._next]
        self._next += 1
        return row

    def get_column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)


class Connection:
    """The way to the graph database; `KuzuBackend.connection`."""

    def __init__(self, shared: Callable[[], SharedWorkspace]) -> None:
        self._shared = shared

    def execute(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, limit: int = MAX_ROWS
    ) -> QueryRows:
        """Answers a read-only query. It sees all that was stored before, by this or any other process.

        The first query of a process builds the graph, which takes a moment for a large project.

        Args:
            cypher: one statement that begins with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN.
            parameters: a value for each `$name` in it.
            limit: rows at most, 1 to 1000; `truncated` says whether there were more.

        Returns:
            Rows of plain values: times as ISO 8601 text in UTC, nodes and relations as dictionaries.

        Raises:
            InvalidArgument: the query is not allowed, wrong, or takes more than 5 seconds or too much memory;
                or a parameter is missing, unknown, or of a type that no query takes.
            GraphUnavailable: there is no graph (kuzu is not installed, or can write nowhere); says why.
            StoreError: the backend is closed.
        """
        _check_limit(limit)
        shared = self._shared()
        return shared.call(lambda: _query(shared, cypher, parameters, limit))


def _check_limit(limit: object) -> None:
    """Refuses what is no number of rows.

    Raises:
        InvalidArgument: so it is.
    """
    if number("limit", limit, 1) > MAX_ROWS:
        raise InvalidArgument("limit", f"must be at most {MAX_ROWS}")


async def _query(
    shared: SharedWorkspace, cypher: str, parameters: Mapping[str, Any] | None, limit: int
) -> QueryRows:
    await shared.graph_ready()
    found = await shared.workspace.graph.query(cypher, parameters, limit)
    return QueryRows(found.columns, found.rows, truncated=found.truncated)

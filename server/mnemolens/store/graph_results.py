"""What a query answers, as plain JSON values. Knows no database driver."""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from mnemolens.store.graph_schema import NODE_TABLES, REL_TABLES

_PROPERTIES: Final = {
    **{name: {column.name for column in columns} for name, columns in NODE_TABLES.items()},
    **{name: {column.name for column in table.columns} for name, table in REL_TABLES.items()},
}


class QueryResult(NamedTuple):
    """A query's answer.

    Attributes:
        columns: names, in the order of the query's RETURN.
        rows: plain JSON values in that order.
        truncated: there were more rows than the limit.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False


def plain(value: Any) -> Any:
    """`value` as JSON holds it.

    Times become ISO 8601 in UTC, durations seconds, nodes and relations objects whose `_id`, `_src` and
    `_dst` are text and which have the properties of their own table only (the database adds those of others
    where a variable may stand for several); what is not a finite number becomes None, the unknown its text.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        if value.keys() == {"offset", "table"}:
            return f"{value['table']}:{value['offset']}"
        own = _PROPERTIES.get(value.get("_label", ""))
        return {str(k): plain(v) for k, v in value.items() if own is None or k in own or k.startswith("_")}
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return moment.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return plain(float(value))
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    return str(value)

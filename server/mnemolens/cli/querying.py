"""`mnemolens cypher`: a read-only query to the graph of code and memories, answered in a table or JSON."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemolens.cli.progress import Progress
from mnemolens.cli.session import opened
from mnemolens.cli.terminal import Column, Screen, note, one_line, put_json
from mnemolens.core.errors import InvalidArgument
from mnemolens.store.graph_cypher import check_query

MAX_ROWS = 1000
"""As `--limit` allows."""


def run(root: Path | None, cypher: str, given: Sequence[str], limit: int, *, as_json: bool) -> int:
    """Ask the graph.

    Args:
        root: as for `session.opened`.
        cypher: the query.
        given: parameters, each as the user wrote it: NAME=VALUE, the value JSON or else a text.
        limit: rows at most.
        as_json: write {columns, rows}.

    Returns:
        The exit code: 1 where there are no rows.
    """
    parameters = dict(map(_parameter, given))
    check_query(cypher, parameters)  # before all code is read for nothing
    progress = Progress()
    with opened(root) as workspace:
        workspace.survey(progress.show)
        progress.clear()
        result = asyncio.run(workspace.graph.query(cypher, parameters, limit))
    if as_json:
        put_json({"columns": list(result.columns), "rows": [list(row) for row in result.rows]})
    elif result.rows:
        columns = [Column(one_line(name), flexible=True) for name in result.columns]
        Screen().table(columns, [[_shown(value) for value in row] for row in result.rows])
    else:
        note("no rows")
    if result.truncated:
        more = "--limit shows them" if limit < MAX_ROWS else "ask for them in portions, with SKIP and LIMIT"
        note(f"there are more rows than {limit}; {more}")
    return 0 if result.rows else 1


def _parameter(given: str) -> tuple[str, Any]:
    name, sign, text = given.partition("=")
    if not sign or not name:
        raise InvalidArgument("parameters", f"{given!r} is not NAME=VALUE")
    try:
        return name.removeprefix("$"), json.loads(text)
    except ValueError:
        return name.removeprefix("$"), text


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return one_line(value)
    return "" if value is None else one_line(json.dumps(value, ensure_ascii=False))

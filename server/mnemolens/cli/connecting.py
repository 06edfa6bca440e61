"""`mnemolens conflicts` and `clusters`: how memories are connected with each other."""

from pathlib import Path

from mnemolens.cli.session import memory_id, opened, short_id
from mnemolens.cli.showing import title_of
from mnemolens.cli.terminal import Screen, Span, note, put_json
from mnemolens.engine.json_form import clusters as clusters_json
from mnemolens.engine.json_form import edges
from mnemolens.engine.workspace import Workspace


def conflicts(root: Path | None, given: str | None, *, as_json: bool) -> int:
    """Show which memories contradict each other.

    Args:
        root: as for `session.opened`.
        given: only those that contradict this memory.
        as_json: write {edges}.

    Returns:
        The exit code: 1 where there are none.
    """
    with opened(root) as workspace:
        found = workspace.memory_graph.conflicts(None if given is None else memory_id(workspace, given))
        if as_json:
            put_json({"edges": edges(found)})
        elif not found:
            note("no memories contradict each other" if given is None else "nothing contradicts it")
        else:
            screen = Screen()
            for number, edge in enumerate(found):
                if number:
                    screen.gap()
                screen.line(*_named(workspace, edge.source_id))
                screen.line(Span("contradicts ", "dim"), *_named(workspace, edge.target_id), indent=2)
    return 0 if found else 1


def clusters(root: Path | None, min_size: int, *, as_json: bool) -> int:
    """Show memories that are connected with each other.

    Args:
        root: as for `session.opened`.
        min_size: how many must be.
        as_json: write {clusters}.

    Returns:
        The exit code: 1 where there are none.
    """
    with opened(root) as workspace:
        found = workspace.memory_graph.clusters(min_size)
        if as_json:
            put_json({"clusters": clusters_json(found)})
        elif not found:
            note(f"no {min_size} memories are connected; `mnemolens link ID --to ID` does that")
        else:
            screen = Screen()
            for number, cluster in enumerate(found):
                if number:
                    screen.gap()
                others = len(cluster.members) - 1
                screen.line(
                    *_named(workspace, cluster.centroid),
                    Span(f" · {others} around it, {cluster.density:.0%} of all pairs connected", "dim"),
                )
                for one in cluster.members:
                    if one != cluster.centroid:
                        screen.line(*_named(workspace, one), indent=2)
    return 0 if found else 1


def _named(workspace: Workspace, one: str) -> tuple[Span | str, ...]:
    return Span(title_of(workspace, one), "bold"), Span(f"  {short_id(one)}", "dim")

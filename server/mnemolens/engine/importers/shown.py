"""What an import would do, as the JSON that programs see: names each text, and of a secret only its place."""

from mnemolens.core.views import Json
from mnemolens.engine.importers.found import Found
from mnemolens.engine.importers.plan import Plan, Refused

MAX_SHOWN = 1000
"""A preview names this many one by one; `counts` counts all."""


def planned(plan: Plan) -> list[tuple[str, str, Found]]:
    """(memory's id, "new" or "edited", what was found), file by file in the order of the text."""
    shown = [(new.memory_id, "new", new.found) for new in plan.new]
    shown += [(change.memory.id, "edited", change.found) for change in plan.changed]
    return sorted(shown, key=lambda one: (one[2].file, one[2].line, one[0]))


def preview_json(plan: Plan) -> Json:
    """A plan: what it would store and change, and what it leaves alone."""
    return {
        "items": [_item(*one) for one in planned(plan)[:MAX_SHOWN]],
        "counts": {
            "new": len(plan.new),
            "edited": len(plan.changed),
            "known": len(plan.known),
            "forgotten": len(plan.forgotten),
            "gone": len(plan.gone),
            "refused": len(plan.refused),
        },
        "gone": list(plan.gone[:MAX_SHOWN]),
        "refused": refused_json(plan.refused),
    }


def refused_json(refused: tuple[Refused, ...]) -> list[Json]:
    """What holds a secret: where, of what kind, none of its text."""
    return [
        {
            "source": one.importer,
            "file": one.file,
            "line": one.line + 1,
            "secrets": [secret._asdict() for secret in one.secrets],
        }
        for one in refused[:MAX_SHOWN]
    ]


def _item(memory_id: str, action: str, found: Found) -> Json:
    return {
        "id": memory_id,
        "action": action,
        "source": found.importer,
        "label": found.label,
        "type": found.type,
        "title": found.title,
        "content": found.content,
        "author": found.author,
        "file": found.file,
        "line": found.line + 1,
        "symbol": found.symbol.id,
    }

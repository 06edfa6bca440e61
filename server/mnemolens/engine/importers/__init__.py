"""The first importers: what a repository already says about its code, as memories to look over and store.

`comments` reads TODO, FIXME, HACK, NOTE and XXX comments, `sections` reads AGENTS.md and CLAUDE.md; both give
`Found` values and know no store. `plan` compares them with the memories that are there: what is new, what was
edited, what is known, what holds a secret; and how one import is undone as one. Nothing here reads a file or
writes anything.
"""

from mnemolens.engine.importers.comments import has_todo_comments, todo_comments
from mnemolens.engine.importers.found import Found, Importer, new_batch
from mnemolens.engine.importers.plan import Change, New, Plan, Refused, Undo, plan, undo
from mnemolens.engine.importers.sections import agent_sections, is_agent_file

__all__ = [
    "Change",
    "Found",
    "Importer",
    "New",
    "Plan",
    "Refused",
    "Undo",
    "agent_sections",
    "has_todo_comments",
    "is_agent_file",
    "new_batch",
    "plan",
    "todo_comments",
    "undo",
]

"""A tour of the Python API: `python -m mnemolens.demo`.

Works in a temporary folder that is removed in the end, and touches nothing else. Prints for people.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemolens import CodeGraph, GraphUnavailable, KuzuBackend, MemoryEntry, MemoryType

_CODE: Final = {
    "src/auth.py": """\
import jwt


def validate_token(token, key):
    return jwt.decode(token, key)


class SessionStore:
    def open_session(self, user):
        return self.sessions.setdefault(user, [])
""",
    "src/utils.py": """\
def validate_input(form):
    return all(form.values())
""",
}


def main() -> int:
    """Runs the tour.

    Returns:
        The exit code: 0, or 1 where there is no graph database to ask.
    """
    with _sample() as project:
        try:
            _tour(project)
        except GraphUnavailable as error:
            _say(f"The graph can't be asked here: {error}")
            return 1
    return 0


def _tour(project: Path) -> None:
    with KuzuBackend(root=project) as backend:
        found = CodeGraph(backend).index("src", languages=["python"])
        _say(f"Indexed {found.files} files: {found.classes} class, {found.functions} functions.\n")

        _title("1. A file in the metadata links the memory to that file")
        _store(
            backend,
            MemoryEntry(
                id="refactoring",
                memory_type=MemoryType.EPISODIC,
                title="Refactored validation logic",
                content="Moved the checks of forms to a module of their own.",
                metadata={"file": "src/utils.py"},
            ),
        )

        _title("2. A function that the text names links the memory to that function")
        _store(
            backend,
            MemoryEntry(
                id="tokens",
                memory_type=MemoryType.SEMANTIC,
                title="Token check",
                content="The validate_token function does not look at the audience.",
            ),
        )

        _title("3. Both, and a class")
        both = MemoryEntry(
            id="login",
            memory_type=MemoryType.PROCEDURAL,
            title="How to add a login",
            content="Call validate_input, then validate_token; the SessionStore class keeps who is in.",
            metadata={"file": "src/auth.py"},
        )
        _store(backend, both)

        _title("4. The same memory again: no link is made twice")
        _store(backend, both)

        _title("5. Code that is indexed later is linked, too")
        later = MemoryEntry(id="billing", title="Cards", content="charge_card is not idempotent.")
        _store(backend, later)
        (project / "src/billing.py").write_text("def charge_card(card):\n    return card\n", encoding="utf-8")
        CodeGraph(backend).index("src")
        _say("  now there is src/billing.py:")
        _show_links(backend, later)

        _title("6. Who remembers what about src/auth.py?")
        rows = backend.connection.execute(
            f"MATCH (m)-[r:{_relations('FILE')}]->(:CodeFile {{file_id: $file}}) "
            "RETURN m.title, r.relevance_score, r.context ORDER BY r.relevance_score DESC",
            {"file": "src/auth.py"},
        )
        for title, score, context in rows:
            _say(f"  {title} (score: {score}, {context})")
        _say("")

    _title("7. With linking switched off")
    with KuzuBackend(root=project, enable_auto_linking=False) as backend:
        _store(
            backend,
            MemoryEntry(
                id="quiet",
                memory_type=MemoryType.EPISODIC,
                title="Not linked",
                content="validate_token again.",
                metadata={"file": "src/auth.py"},
            ),
        )


def _store(backend: KuzuBackend, memory: MemoryEntry) -> None:
    backend.store_memory(memory)
    _say(f"  stored: {memory.title or memory.content}")
    _show_links(backend, memory)


def _show_links(backend: KuzuBackend, memory: MemoryEntry) -> None:
    found: list[tuple[float, str, str]] = []
    for table, name in (("FILE", "file_path"), ("CLASS", "class_name"), ("FUNCTION", "function_name")):
        rows = backend.connection.execute(
            f"MATCH (m {{memory_id: $id}})-[r:{_relations(table)}]->(c) "
            f"RETURN r.relevance_score, c.{name}, r.context",
            {"id": memory.id},
        )
        found += [(score, f"{table.lower()} {label}", context) for score, label, context in rows]
    for score, label, context in sorted(found, key=lambda link: (-link[0], link[1])):
        _say(f"    → {label}  relevance {score}  ({context})")
    if not found:
        _say("    → no link")
    _say("")


def _relations(table: str) -> str:
    """The relations from memories of all types to one kind of code."""
    return "|".join(f"RELATES_TO_{table}_{kind.upper()}" for kind in MemoryType)


def _title(text: str) -> None:
    _say(text)
    _say("-" * len(text))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


@contextmanager
def _sample() -> Iterator[Path]:
    """A small project with its own cache, both gone afterwards."""
    before = os.environ.get("MNEMOLENS_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="mnemolens-demo-", ignore_cleanup_errors=True) as folder:
        project = Path(folder) / "project"
        for name, text in _CODE.items():
            file = project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        os.environ["MNEMOLENS_CACHE_DIR"] = str(Path(folder) / "cache")
        try:
            yield project
        finally:
            if before is None:
                del os.environ["MNEMOLENS_CACHE_DIR"]
            else:
                os.environ["MNEMOLENS_CACHE_DIR"] = before


if __name__ == "__main__":
    sys.exit(main())

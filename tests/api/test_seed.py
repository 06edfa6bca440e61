"""The first seed's own examples, as they are printed there but for import lines and the code graph's call."""

from datetime import datetime, timedelta

import pytest

from mnemolens import CodeGraph, KuzuBackend, MemoryEntry, MemoryType

pytestmark = pytest.mark.graph

TYPES = ["EPISODIC", "SEMANTIC", "PROCEDURAL", "PROSPECTIVE", "WORKING"]


@pytest.fixture(autouse=True)
def in_the_project(project, monkeypatch):
    monkeypatch.chdir(project)


def links(backend, memory_id):
    """{(relation, id of the code): (relevance, context)} of a memory."""
    rows = backend.connection.execute(
        "MATCH (m {memory_id: $id})-[r]->(c) WHERE r.relevance_score IS NOT NULL "
        "RETURN label(r), c.file_id, c.class_name, c.function_name, r.relevance_score, r.context",
        {"id": memory_id},
    )
    return {(row[0], row[1] or row[2] or row[3]): (row[4], row[5]) for row in rows}


def test_full_workflow(capsys):
    # Initialize backend
    backend = KuzuBackend()
    backend.initialize()

    # Import code graph (prerequisite)
    CodeGraph(backend).index("./src", languages=["python"])

    # Store memory with file metadata
    memory1 = MemoryEntry(
        id="mem-refactor-1",
        session_id="session-123",
        agent_id="agent-builder",
        memory_type=MemoryType.EPISODIC,
        title="Refactored Authentication",
        content="Moved validation to separate function",
        metadata={"file": "src/auth.py", "change_type": "refactor"},
        created_at=datetime.now(),  # noqa: DTZ005 - naive in the seed, which means local time
        accessed_at=datetime.now(),  # noqa: DTZ005 - naive in the seed, which means local time
    )

    backend.store_memory(memory1)
    # ✓ Automatically linked to src/auth.py with relevance=1.0

    # Store memory mentioning function
    memory2 = MemoryEntry(
        id="mem-pattern-1",
        session_id="session-123",
        agent_id="agent-builder",
        memory_type=MemoryType.SEMANTIC,
        title="Validation Pattern",
        content="The validate_token function uses JWT decode with verification",
        metadata={"category": "security"},
        created_at=datetime.now(),  # noqa: DTZ005 - naive in the seed, which means local time
        accessed_at=datetime.now(),  # noqa: DTZ005 - naive in the seed, which means local time
    )

    backend.store_memory(memory2)
    # ✓ Automatically linked to validate_token() with relevance=0.8

    # Query memories for a file
    results = backend.connection.execute("""
        MATCH (m)-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile {file_id: 'src/auth.py'})
        RETURN m.memory_id, m.title, r.relevance_score
        ORDER BY r.relevance_score DESC
        """)

    for row in results:
        print(f"Memory: {row[1]} (score: {row[2]})")

    assert capsys.readouterr().out == "Memory: Refactored Authentication (score: 1.0)\n"
    assert links(backend, "mem-refactor-1") == {
        ("RELATES_TO_FILE_EPISODIC", "src/auth.py"): (1.0, "metadata_file_match")
    }
    assert links(backend, "mem-pattern-1") == {
        ("RELATES_TO_FUNCTION_SEMANTIC", "validate_token"): (0.8, "content_name_match")
    }
    backend.close()


def test_file_links_and_the_query_for_the_code_of_a_memory(indexed):
    memory = MemoryEntry(
        id="mem-1",
        memory_type=MemoryType.EPISODIC,
        content="Refactored validation logic",
        metadata={"file": "src/utils.py"},  # ← Triggers file link
    )
    indexed.store_memory(memory)

    # Get all files linked to a memory
    result = indexed.connection.execute(
        """
        MATCH (m:EpisodicMemory {memory_id: $memory_id})-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile)
        RETURN cf.file_path, r.relevance_score
        """,
        {"memory_id": "mem-1"},
    )
    assert list(result) == [("src/utils.py", 1.0)]


def test_function_links(indexed):
    memory = MemoryEntry(
        id="mem-2",
        memory_type=MemoryType.SEMANTIC,
        content="The validate_input function checks required fields",  # ← Mentions function
    )
    indexed.store_memory(memory)
    assert links(indexed, "mem-2") == {
        ("RELATES_TO_FUNCTION_SEMANTIC", "validate_input"): (0.8, "content_name_match")
    }


def test_the_query_for_the_memories_of_a_file(indexed):
    indexed.store_memory(
        MemoryEntry(
            id="mem-3",
            memory_type=MemoryType.EPISODIC,
            title="Entry point",
            content="Made it shorter",
            metadata={"file": "src/main.py"},
        )
    )
    # Get all memories about a specific file
    result = indexed.connection.execute(
        """
        MATCH (m:EpisodicMemory)-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile {file_id: $file_id})
        RETURN m.memory_id, m.title, r.relevance_score
        ORDER BY r.relevance_score DESC
        """,
        {"file_id": "src/main.py"},
    )
    assert list(result) == [("mem-3", "Entry point", 1.0)]
    assert result.columns == ("m.memory_id", "m.title", "r.relevance_score")


def test_enabled_by_default():
    # Auto-linking enabled by default
    backend = KuzuBackend()
    backend.initialize()
    CodeGraph(backend).index()

    # Memories will auto-link to code
    memory = MemoryEntry(id="m", content="validate_token")
    backend.store_memory(memory)
    assert links(backend, "m") != {}
    backend.close()


def test_disabled(make_backend):
    # Disable for performance-critical scenarios
    backend = make_backend(enable_auto_linking=False)
    CodeGraph(backend).index()
    backend.store_memory(MemoryEntry(id="m", content="validate_token", metadata={"file": "src/auth.py"}))
    assert links(backend, "m") == {}

    # Only what is stored this way has no links.
    linking = make_backend()
    linking.store_memory(MemoryEntry(id="n", content="validate_token"))
    assert links(backend, "n") != {}
    assert links(linking, "m") == {}

    linking.store_memory(MemoryEntry(id="m", content="validate_token", metadata={"file": "src/auth.py"}))
    assert len(links(linking, "m")) == 2


def test_ten_relations_and_those_to_classes(indexed):
    for kind in TYPES:
        indexed.store_memory(
            MemoryEntry(
                id=kind,
                memory_type=MemoryType[kind],
                content="validate_token raises the TokenError class",
                metadata={"file": "src/utils.py"},
            )
        )
    for kind in TYPES:
        assert links(indexed, kind) == {
            (f"RELATES_TO_FILE_{kind}", "src/utils.py"): (1.0, "metadata_file_match"),
            (f"RELATES_TO_FUNCTION_{kind}", "validate_token"): (0.8, "content_name_match"),
            (f"RELATES_TO_CLASS_{kind}", "TokenError"): (0.8, "content_class_match"),
        }


def test_a_link_has_the_time_it_was_made(indexed):
    before = datetime.now().astimezone()
    indexed.store_memory(MemoryEntry(id="m", content="validate_token"))
    (row,) = indexed.connection.execute(
        "MATCH (:SemanticMemory)-[r:RELATES_TO_FUNCTION_SEMANTIC]->() RETURN r.timestamp"
    )
    made = datetime.fromisoformat(row[0])
    assert before - timedelta(seconds=1) <= made <= datetime.now().astimezone()


def test_no_duplicates(indexed):
    memory = MemoryEntry(
        id="m", content="validate_token, twice: validate_token", metadata={"file": "src/auth.py"}
    )
    indexed.store_memory(memory)
    indexed.store_memory(memory)
    (row,) = indexed.connection.execute(
        "MATCH (m:SemanticMemory)-[r]->(c) RETURN count(r), count(DISTINCT c)"
    )
    assert row == (2, 2)


def test_paths_absolute_and_in_part(indexed, project):
    ways = ["src/auth.py", "auth.py", "./src/auth.py", f"{project}/src/auth.py", "src/auth.py:8"]
    for written in ways:
        indexed.store_memory(MemoryEntry(id=written, content="Note", metadata={"file": written}))
    for written in ways:
        assert list(links(indexed, written)) == [("RELATES_TO_FILE_SEMANTIC", "src/auth.py")]


def test_what_names_nothing_is_not_matched(indexed):
    texts = [
        "A sign of the main problem",  # short and common words
        "VALIDATE_TOKEN and tokenerror",  # case matters
        "revalidate_tokens and validate_token_later",  # so do whole names
    ]
    for text in texts:
        indexed.store_memory(MemoryEntry(id=text, content=text))
    assert [links(indexed, text) for text in texts] == [{}, {}, {}]


def test_without_code_no_queries(backend, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "mnemolens.engine.naming.match", lambda *given, **named: asked.append((given, named)) or ()
    )
    backend.store_memory(MemoryEntry(id="m", content="validate_token", metadata={"file": "src/auth.py"}))
    assert asked == []
    assert links(backend, "m") == {}
    CodeGraph(backend).index()
    assert asked != []


def test_a_failing_linker_does_not_fail_the_store(indexed, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("no links today")

    monkeypatch.setattr("mnemolens.engine.naming.match", broken)
    assert indexed.store_memory(MemoryEntry(id="m", content="validate_token")) is True
    assert [entry.id for entry in indexed.retrieve_memories()] == ["m"]
    assert any(
        record.levelname == "WARNING" and "no links today" in record.exc_text for record in caplog.records
    )
    assert links(indexed, "m") == {}

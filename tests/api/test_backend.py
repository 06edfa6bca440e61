"""Storing, retrieving, changing and deleting; sessions; expiry."""

import os
import subprocess
import time
from datetime import UTC, datetime, timedelta

import pytest

from mnemolens import CodeGraph, MemoryEntry, MemoryQuery, MemoryType, SessionInfo
from mnemolens.core.clock import ManualClock

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


def ids(memories):
    return [memory.id for memory in memories]


def written_bytes(project):
    return {path: path.read_bytes() for path in (project / ".mnemolens").rglob("*.jsonl")}


# Storing and getting back


def test_what_was_stored_comes_back(backend):
    backend.store_memory(MemoryEntry(id="parent", content="The outage of March"))
    entry = MemoryEntry(
        id="all",
        session_id="session-1",
        agent_id="agent-1",
        memory_type=MemoryType.PROSPECTIVE,
        title="Title",
        content="  Content\nof two lines ",
        metadata={"a": [1, {"b": None}], "ü": "ß"},
        created_at=DAY,
        accessed_at=DAY,
        tags=["one", "two"],
        importance=0.9,
        expires_at=FUTURE,
        parent_id="parent",
        due_at=FUTURE,
        trigger={"on": "change"},
        author="Ana",
    )
    assert backend.store_memory(entry) is True
    assert backend.get_memory_by_id("all") == entry


def test_only_content_is_needed(backend):
    before = datetime.now(UTC)
    entry = MemoryEntry(content="Never retry. It charges twice.")
    backend.store_memory(entry)
    (found,) = backend.retrieve_memories(MemoryQuery())
    assert found.id == entry.id
    assert len(entry.id) == 26
    assert found.title == "Never retry. It charges twice."
    assert found.memory_type is MemoryType.SEMANTIC
    assert (found.session_id, found.agent_id, found.importance) == (None, None, 0.5)
    assert before <= found.created_at <= datetime.now(UTC)
    assert found.accessed_at == found.created_at


def test_ids_are_fresh():
    assert MemoryEntry(content="x").id != MemoryEntry(content="x").id


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the system has no tzset")
def test_naive_times_are_local(backend, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        backend.store_memory(MemoryEntry(id="m", content="x", created_at=datetime(2026, 3, 1, 21)))  # noqa: DTZ001
        assert backend.get_memory_by_id("m").created_at == DAY
        noon = datetime(2026, 3, 1, 21)  # noqa: DTZ001
        assert ids(backend.retrieve_memories(MemoryQuery(created_after=noon, created_before=noon))) == ["m"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_type_may_be_given_by_its_value(backend):
    backend.store_memory(MemoryEntry(id="m", content="x", memory_type="working"))
    assert backend.get_memory_by_id("m").memory_type is MemoryType.WORKING
    assert ids(backend.retrieve_memories(MemoryQuery(memory_type="working"))) == ["m"]


def test_what_is_handed_out_is_a_copy(backend):
    backend.store_memory(MemoryEntry(id="m", content="x", metadata={"deep": {"list": [1]}}, tags=["a"]))
    found = backend.get_memory_by_id("m")
    found.metadata["deep"]["list"].append(2)
    found.tags.append("b")
    again = backend.get_memory_by_id("m")
    assert (again.metadata, again.tags) == ({"deep": {"list": [1]}}, ["a"])


@pytest.mark.graph
def test_ids_may_hold_anything(backend):
    odd_ids = ["it's", 'say "no"', "a:b::c#1", "../../etc", "naïve 函数", "{}", "a\nb", "$x", "`", "%00"]
    odd_ids += [" m", "m\n", "\t"]
    for odd in odd_ids:
        backend.store_memory(MemoryEntry(id=odd, content="x", session_id=odd, agent_id=odd))
        assert backend.get_memory_by_id(odd).session_id == odd
        assert backend.get_session_info(odd).agent_ids == [odd]
    for odd in odd_ids:
        query = "MATCH (m {memory_id: $id}) RETURN m.memory_id, m.agent_id"
        assert list(backend.connection.execute(query, {"id": odd})) == [(odd, odd)]
        assert backend.delete_session(odd) == 1
        assert backend.get_memory_by_id(odd) is None


def test_memories_survive_the_process_and_nothing_is_written_before_the_first(project, make_backend):
    first = make_backend()
    first.initialize()
    assert first.retrieve_memories() == []
    assert not (project / ".mnemolens").exists()
    first.store_memory(MemoryEntry(id="m", content="x"))
    first.close()
    assert (project / ".mnemolens").is_dir()
    assert ids(make_backend().retrieve_memories()) == ["m"]


def test_the_author_is_who_git_says(make_backend, monkeypatch, tmp_path):
    (tmp_path / "gitconfig").write_text("[user]\nname = Ana Sun\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    backend = make_backend()
    backend.store_memory(MemoryEntry(id="m", content="x"))
    backend.store_memory(MemoryEntry(id="n", content="y", author="Bo"))
    assert backend.get_memory_by_id("m").author == "Ana Sun"
    assert backend.get_memory_by_id("n").author == "Bo"


# The same id again


def test_the_same_id_again_is_an_update(backend):
    backend.store_memory(
        MemoryEntry(
            id="m", content="old", title="Old", metadata={"a": 1, "b": 2}, tags=["x", "y"], session_id="s"
        )
    )
    made = backend.get_memory_by_id("m").created_at
    backend.store_memory(
        MemoryEntry(
            id="m", content="new", metadata={"b": 3, "c": 4}, tags=["y", "z"], agent_id="a", importance=1
        )
    )
    (found,) = backend.retrieve_memories()
    assert (found.content, found.title) == ("new", "new")
    assert found.metadata == {"b": 3, "c": 4}
    assert sorted(found.tags) == ["y", "z"]
    assert (found.session_id, found.agent_id, found.importance) == (None, "a", 1.0)
    assert found.created_at == made


def test_the_same_again_writes_nothing(backend, project):
    entry = MemoryEntry(id="m", content="x", tags=["t"], metadata={"k": 1})
    backend.store_memory(entry)
    before = written_bytes(project)
    backend.store_memory(entry)
    assert backend.update_memory(entry) is True
    assert written_bytes(project) == before


@pytest.mark.graph
def test_an_update_moves_links(indexed):
    def linked():
        rows = indexed.connection.execute(
            "MATCH (:SemanticMemory)-[:RELATES_TO_FUNCTION_SEMANTIC]->(f) RETURN f.function_name"
        )
        return sorted(row[0] for row in rows)

    indexed.store_memory(MemoryEntry(id="m", content="validate_token"))
    assert linked() == ["validate_token"]
    indexed.update_memory(MemoryEntry(id="m", content="validate_input"))
    assert linked() == ["validate_input"]


def test_updating_takes_what_is_there_only(backend):
    assert backend.update_memory(MemoryEntry(id="m", content="x")) is False
    assert backend.retrieve_memories() == []
    backend.store_memory(MemoryEntry(id="m", content="x"))
    backend.delete_memory("m")
    assert backend.update_memory(MemoryEntry(id="m", content="y")) is False
    assert backend.get_memory_by_id("m") is None


# Deleting


@pytest.mark.graph
def test_deleting_counts_and_can_be_taken_back(backend):
    backend.store_memory(MemoryEntry(id="m", content="x"))
    assert backend.delete_memory("m") == 1
    assert backend.delete_memory("m") == 0
    assert backend.delete_memory("none") == 0
    assert backend.get_memory_by_id("m") is None
    assert backend.retrieve_memories() == []
    assert list(backend.connection.execute("MATCH (m:SemanticMemory) RETURN m.memory_id")) == []
    assert backend.restore_memory("m") == 1
    assert backend.restore_memory("m") == 0
    assert backend.restore_memory("none") == 0
    assert backend.get_memory_by_id("m").content == "x"


def test_storing_a_deleted_memory_brings_it_back(backend):
    backend.store_memory(MemoryEntry(id="m", content="x"))
    backend.delete_memory("m")
    backend.store_memory(MemoryEntry(id="m", content="x"))
    assert ids(backend.retrieve_memories()) == ["m"]


# Filters


@pytest.fixture
def filled(backend):
    """Ten memories, one a day; the newest is m9."""
    for number in range(10):
        backend.store_memory(
            MemoryEntry(
                id=f"m{number}",
                content=f"Note {number} on {'JWT decoding' if number % 2 else 'sessions'}",
                memory_type=list(MemoryType)[number % 5],
                session_id=f"s{number % 3}",
                agent_id=f"a{number % 2}",
                tags=["all", "even" if number % 2 == 0 else "odd"],
                importance=number / 10,
                created_at=DAY + timedelta(days=number),
            )
        )
    backend.store_memory(MemoryEntry(id="old", content="expired", created_at=DAY, expires_at=PAST))
    return backend


NEWEST_FIRST = [f"m{number}" for number in range(9, -1, -1)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, NEWEST_FIRST),
        ({"session_id": "s0"}, ["m9", "m6", "m3", "m0"]),
        ({"agent_id": "a1"}, ["m9", "m7", "m5", "m3", "m1"]),
        ({"memory_type": MemoryType.EPISODIC}, ["m5", "m0"]),
        ({"tags": ["odd"]}, ["m9", "m7", "m5", "m3", "m1"]),
        ({"tags": ["odd", "all"]}, ["m9", "m7", "m5", "m3", "m1"]),
        ({"tags": ["odd", "even"]}, []),
        ({"tags": []}, NEWEST_FIRST),
        ({"content_search": "jwt"}, ["m9", "m7", "m5", "m3", "m1"]),
        ({"content_search": "sessions 4"}, ["m4"]),
        ({"content_search": "nothing of that"}, []),
        ({"min_importance": 0.7}, ["m9", "m8", "m7"]),
        ({"min_importance": 0}, NEWEST_FIRST),
        ({"created_after": DAY + timedelta(days=8)}, ["m9", "m8"]),
        ({"created_before": DAY + timedelta(days=1)}, ["m1", "m0"]),
        (
            {"created_after": DAY + timedelta(days=3), "created_before": DAY + timedelta(days=4)},
            ["m4", "m3"],
        ),
        ({"limit": 3}, ["m9", "m8", "m7"]),
        ({"limit": 3, "offset": 2}, ["m7", "m6", "m5"]),
        ({"limit": 3, "offset": 8}, ["m1", "m0"]),
        ({"limit": 3, "offset": 10}, []),
        ({"offset": 7}, ["m2", "m1", "m0"]),
        ({"limit": 2, "offset": 1, "tags": ["odd"], "min_importance": 0.3}, ["m7", "m5"]),
        ({"session_id": "s0", "agent_id": "a0", "memory_type": MemoryType.SEMANTIC}, ["m6"]),
        ({"include_expired": True, "created_before": DAY}, ["m0", "old"]),
    ],
    ids=str,
)
def test_filters(filled, query, expected):
    assert ids(filled.retrieve_memories(MemoryQuery(**query))) == expected


def test_all_of_thousands_can_be_retrieved(backend, project):
    folder = project / ".mnemolens" / "journal"
    backend.store_memory(MemoryEntry(id="first", content="x"))
    backend.close()
    _write_memories(folder, 1500)
    backend.initialize()
    assert len(backend.retrieve_memories()) == 1501
    assert len(backend.retrieve_memories(MemoryQuery(limit=1200))) == 1200


def _write_memories(folder, count):
    """A segment of another writer, made by the journal itself."""
    from mnemolens.core.clock import SystemClock
    from mnemolens.core.events import put_memory
    from mnemolens.store.journal import Journal

    journal = Journal(folder.parent, "", SystemClock())
    fields = {"type": "semantic", "title": "t", "content": "c", "created_at": DAY}
    journal.append([put_memory(f"n{number}", fields) for number in range(count)]).result()
    journal.close()


# Reading


@pytest.mark.graph
def test_reading_writes_nothing(filled, project):
    before = written_bytes(project)
    accessed = [memory.accessed_at for memory in filled.retrieve_memories()]
    for _ in range(3):
        filled.retrieve_memories(MemoryQuery(content_search="jwt"))
        filled.get_memory_by_id("m1")
        filled.get_session_info("s1")
        filled.list_sessions()
        filled.get_stats()
        filled.connection.execute("MATCH (m:EpisodicMemory) RETURN m.accessed_at")
    assert written_bytes(project) == before
    assert [memory.accessed_at for memory in filled.retrieve_memories()] == accessed


def test_accesses_are_counted_at_every_call(filled):
    before = datetime.now(UTC)
    assert filled.access_memory("m1") == 1
    assert filled.access_memory(["m1", "m2"]) == 2
    assert filled.access_memory("none") == 0
    assert filled.access_memory(["old", "m2"]) == 1
    first, second = filled.get_memory_by_id("m1"), filled.get_memory_by_id("m2")
    assert (first.access_count, second.access_count) == (2, 2)
    assert before <= first.accessed_at <= datetime.now(UTC)


# Code that is indexed later


@pytest.mark.graph
def test_links_are_made_for_code_indexed_later(backend, project):
    backend.store_memory(MemoryEntry(id="m", content="charge_card and validate_token"))
    query = "MATCH (:SemanticMemory)-[r]->(f:CodeFunction) RETURN f.function_id"
    assert list(backend.connection.execute(query)) == []
    CodeGraph(backend).index()
    assert list(backend.connection.execute(query)) == [("src/auth.py::validate_token",)]
    (project / "src" / "billing.py").write_text("def charge_card():\n    pass\n")
    CodeGraph(backend).index()
    assert sorted(backend.connection.execute(query)) == [
        ("src/auth.py::validate_token",),
        ("src/billing.py::charge_card",),
    ]


@pytest.mark.graph
def test_a_later_backend_knows_the_code(indexed, make_backend):
    indexed.close()
    later = make_backend()
    later.store_memory(MemoryEntry(id="m", content="validate_token"))
    rows = later.connection.execute("MATCH (:SemanticMemory)-[r]->(f:CodeFunction) RETURN f.function_id")
    assert list(rows) == [("src/auth.py::validate_token",)]


def test_indexing_counts_what_was_asked_for(backend, project):
    (project / "web").mkdir()
    (project / "web" / "app.ts").write_text("export class App {}\n")
    graph = CodeGraph(backend)
    told = []
    everything = graph.index(".", on_progress=lambda *done: told.append(done))
    assert (everything.files, everything.classes, everything.functions) == (4, 2, 4)
    assert told[-1] == (4, 4)
    assert graph.index("./src", languages=["python"])[:3] == (3, 1, 4)
    assert graph.index(project / "web")[:3] == (1, 1, 0)
    assert graph.index("web", languages=["python"])[:3] == (0, 0, 0)
    assert graph.index("src/utils.py")[:3] == (1, 0, 1)


# Sessions


def test_sessions(filled):
    first, second, third = filled.list_sessions()
    assert first == SessionInfo("s0", DAY, DAY + timedelta(days=9), ["a0", "a1"], 4)
    assert (second.session_id, third.session_id) == ("s2", "s1")
    assert filled.list_sessions(limit=1) == [first]
    assert filled.get_session_info("s0") == first
    assert filled.get_session_info("none") is None


def test_an_access_makes_a_session_the_last_one(filled):
    filled.access_memory("m1")
    assert filled.list_sessions()[0].session_id == "s1"


def test_deleting_a_session(filled):
    assert filled.delete_session("s0") == 4
    assert filled.delete_session("s0") == 0
    assert filled.get_session_info("s0") is None
    assert ids(filled.retrieve_memories()) == ["m8", "m7", "m5", "m4", "m2", "m1"]
    filled.restore_memory("m3")
    assert filled.get_session_info("s0").memory_count == 1


@pytest.mark.graph
def test_sessions_and_agents_are_nodes(filled):
    found = filled.connection.execute("MATCH (s:Session) RETURN s.session_id ORDER BY s.session_id")
    assert list(found) == [("s0",), ("s1",), ("s2",)]
    filled.delete_session("s0")
    found = filled.connection.execute("MATCH (s:Session) RETURN count(s)")
    assert list(found) == [(2,)]
    assert list(filled.connection.execute("MATCH (a:Agent) RETURN count(a)")) == [(2,)]


# Expiry


@pytest.mark.graph
def test_an_expired_memory_is_left_out_everywhere(filled):
    filled.store_memory(
        MemoryEntry(id="gone", content="x", session_id="lost", agent_id="lost", expires_at=PAST)
    )
    assert filled.get_memory_by_id("gone") is None
    assert "gone" not in ids(filled.retrieve_memories())
    assert filled.get_session_info("lost") is None
    assert [session.session_id for session in filled.list_sessions()] == ["s0", "s2", "s1"]
    stats = filled.get_stats()
    assert (stats["total_memories"], stats["total_sessions"], stats["total_agents"]) == (10, 3, 2)
    assert list(filled.connection.execute("MATCH (m {memory_id: 'gone'}) RETURN m.title")) == []
    assert "gone" in ids(filled.retrieve_memories(MemoryQuery(include_expired=True)))


@pytest.mark.graph
def test_expiry_comes_while_the_backend_is_open(make_backend, monkeypatch):
    clock = ManualClock(DAY)
    monkeypatch.setattr("mnemolens.engine.workspace.SystemClock", lambda: clock)
    monkeypatch.setattr("mnemolens.api.backend._now", clock.now)
    backend = make_backend()
    backend.store_memory(MemoryEntry(id="m", content="x", expires_at=DAY + timedelta(hours=1)))
    query = "MATCH (m:SemanticMemory) RETURN m.memory_id"
    assert ids(backend.retrieve_memories()) == ["m"]
    assert list(backend.connection.execute(query)) == [("m",)]
    clock.advance(3600)
    assert backend.retrieve_memories() == []
    assert list(backend.connection.execute(query)) == []


def test_cleaning_up_deletes_and_counts(filled):
    filled.store_memory(MemoryEntry(id="later", content="x", expires_at=FUTURE))
    filled.store_memory(MemoryEntry(id="gone", content="x", expires_at=PAST))
    assert filled.cleanup_expired() == 2
    assert filled.cleanup_expired() == 0
    assert filled.retrieve_memories(MemoryQuery(include_expired=True, content_search="expired")) == []
    assert filled.restore_memory("old") == 1
    assert filled.get_memory_by_id("old").expires_at is None
    assert filled.update_memory(MemoryEntry(id="old", content="not any more")) is True
    assert filled.get_memory_by_id("old").content == "not any more"


# Figures


@pytest.mark.graph
def test_stats(indexed):
    indexed.store_memory(MemoryEntry(id="a", content="x", session_id="s", agent_id="a"))
    indexed.store_memory(MemoryEntry(id="b", content="y", memory_type=MemoryType.WORKING, session_id="s"))
    indexed.connection.execute("RETURN 1")
    stats = indexed.get_stats()
    graph = stats.pop("graph")
    assert stats == {
        "total_memories": 2,
        "memory_types": {"episodic": 0, "semantic": 1, "procedural": 0, "prospective": 0, "working": 1},
        "total_sessions": 1,
        "total_agents": 1,
        "code_files": 3,
        "code_symbols": 5,
    }
    assert graph["state"] == "ready"


# Places


@pytest.mark.graph
def test_paths_are_relative_to_the_top_level_of_a_repository(project, make_backend):
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    backend = make_backend(root=project / "src")
    assert CodeGraph(backend).index().files == 3
    found = backend.connection.execute("MATCH (f:CodeFile) RETURN f.file_id ORDER BY f.file_id")
    assert list(found) == [("src/auth.py",), ("src/main.py",), ("src/utils.py",)]
    backend.store_memory(MemoryEntry(content="x"))
    assert (project / ".git" / "mnemolens" / "journal").is_dir()


def test_the_store_may_lie_elsewhere(project, tmp_path, make_backend):
    backend = make_backend(tmp_path / "elsewhere")
    backend.store_memory(MemoryEntry(id="m", content="x"))
    assert list((tmp_path / "elsewhere" / "journal").glob("*.jsonl")) != []
    assert not (project / ".mnemolens").exists()
    assert make_backend().retrieve_memories() == []
    assert ids(make_backend(str(tmp_path / "elsewhere")).retrieve_memories()) == ["m"]


def test_without_arguments_the_current_folders_project_is_meant(project, make_backend, monkeypatch):
    make_backend().store_memory(MemoryEntry(id="m", content="x"))
    monkeypatch.chdir(project / "src")
    assert ids(make_backend(root=None).retrieve_memories()) == ["m"]
    assert os.fspath(project) in repr(make_backend(root=None))


def test_what_is_stored_is_in_the_daily_copy_of_its_repository(make_backend, project, tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_DATA_DIR", str(tmp_path / "data"))
    git = ("git", "-C", project, "-c", "user.email=ana@example.org", "-c", "user.name=Ana")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "Begin"], check=True)
    with make_backend() as backend:
        backend.store_memory(MemoryEntry(id="one", content="Keep it idempotent"))
        backend.store_memory(MemoryEntry(id="two", content="Never charge twice"))
    (copy,) = (tmp_path / "data").rglob("*.jsonl")
    assert "Keep it idempotent" in copy.read_text("utf-8")

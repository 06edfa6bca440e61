"""What is wrong is answered by one clear message that names it, and stores nothing."""

import math
import os
import time
from datetime import datetime

import pytest

from mnemolens import (
    CodeGraph,
    InvalidArgument,
    KuzuBackend,
    MemoryEntry,
    MemoryQuery,
    StoreError,
)


def said(value):
    """The message names the case: fields may hold objects, whose text differs between processes."""
    return value if isinstance(value, str) else "-"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": ""}, "content: is empty"),
        ({"content": 5}, "content: must be a text, not int"),
        ({"content": None}, "content: must be a text, not NoneType"),
        ({"content": "x" * 1_000_001}, "content: has 1,000,001 characters"),
        ({"content": "\ud800"}, "content: holds half a character"),
        ({"id": 5}, "id: must be a text, not int"),
        ({"id": None}, "id: must be a text, not NoneType"),
        ({"id": ""}, "id: must have 1 to 300 characters"),
        ({"id": "x" * 301}, "id: must have 1 to 300 characters"),
        ({"session_id": ""}, "session_id: must have 1 to 300 characters"),
        ({"session_id": 7}, "session_id: must be a text, not int"),
        ({"agent_id": b"x"}, "agent_id: must be a text, not bytes"),
        ({"memory_type": "conversation"}, "memory_type: 'conversation' is not one of episodic, semantic"),
        ({"memory_type": None}, "memory_type: None is not one of"),
        ({"memory_type": ["semantic"]}, "memory_type: ['semantic'] is not one of"),
        ({"title": 1}, "title: must be a text"),
        ({"title": "x" * 301}, "title: has 301 characters"),
        ({"metadata": ["file"]}, "metadata: must be an object with text keys"),
        ({"metadata": {1: 2}}, "metadata: must be an object with text keys"),
        ({"metadata": {"x": object()}}, "metadata: must be plain JSON"),
        ({"metadata": {"x": math.nan}}, "metadata: must be plain JSON"),
        ({"tags": "security"}, "tags: must be a list of texts, not str"),
        ({"tags": [1]}, "tags: must be a text, not int"),
        ({"tags": [" "]}, "tags: holds an empty tag"),
        ({"tags": 5}, "tags: must be a list of texts, not int"),
        ({"importance": 7}, "importance: must be from 0 to 1, not 7"),
        ({"importance": "high"}, "importance: must be a number from 0 to 1, not 'high'"),
        ({"importance": None}, "importance: must be a number from 0 to 1"),
        ({"importance": True}, "importance: must be a number from 0 to 1"),
        ({"importance": math.nan}, "importance: must be a number from 0 to 1"),
        ({"created_at": "2026-01-01"}, "created_at: must be a datetime, not str"),
        ({"created_at": 5}, "created_at: must be a datetime, not int"),
        ({"expires_at": "tomorrow"}, "expires_at: must be a datetime, not str"),
        ({"due_at": 1}, "due_at: must be a datetime, not int"),
        ({"trigger": {"on": "full moon"}}, "trigger: must be an object with on: change, open, merge"),
        ({"parent_id": "none"}, "parent_id: no memory 'none'"),
        ({"id": "self", "parent_id": "self"}, "parent_id: "),
        ({"author": ""}, "author: must have 1 to 300 characters"),
    ],
    ids=said,
)
def test_entries(backend, fields, message):
    entry = MemoryEntry(**{"content": "x", **fields})
    with pytest.raises(InvalidArgument) as raised:
        backend.store_memory(entry)
    assert str(raised.value).startswith(message)
    assert str(raised.value).partition(":")[0] == raised.value.field
    assert backend.retrieve_memories() == []
    assert not backend._place.store.exists()


def test_a_wrong_update_leaves_what_was_there(backend):
    backend.store_memory(MemoryEntry(id="m", content="x"))
    with pytest.raises(InvalidArgument, match=r"^importance: "):
        backend.store_memory(MemoryEntry(id="m", content="y", importance=5))
    assert backend.get_memory_by_id("m").content == "x"


def test_secrets(backend, project):
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    entry = MemoryEntry(id="m", content=f"push with {token} as the password")
    with pytest.raises(InvalidArgument, match=r"^content: looks like it holds .* set allow_secret") as raised:
        backend.store_memory(entry)
    assert token not in str(raised.value)
    assert not (project / ".mnemolens").exists()
    backend.store_memory(entry, allow_secret=True)
    assert token in backend.get_memory_by_id("m").content


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": 0}, "limit: must be a whole number from 1 on, not 0"),
        ({"limit": -1}, "limit: must be a whole number from 1 on, not -1"),
        ({"limit": "10"}, "limit: must be a whole number from 1 on, not '10'"),
        ({"limit": True}, "limit: must be a whole number"),
        ({"offset": -1}, "offset: must be a whole number from 0 on, not -1"),
        ({"offset": 1.5}, "offset: must be a whole number"),
        ({"tags": "all"}, "tags: must be a list of texts, not str"),
        ({"tags": [None]}, "tags: must be a text, not NoneType"),
        ({"session_id": 1}, "session_id: must be a text, not int"),
        ({"agent_id": 1}, "agent_id: must be a text, not int"),
        ({"memory_type": "dream"}, "memory_type: 'dream' is not one of"),
        ({"content_search": ["x"]}, "content_search: must be a text, not list"),
        ({"min_importance": 2}, "min_importance: must be a number from 0 to 1, not 2"),
        ({"min_importance": "1"}, "min_importance: must be a number from 0 to 1, not '1'"),
        ({"created_after": "yesterday"}, "created_after: must be a datetime, not str"),
        ({"created_before": 5}, "created_before: must be a datetime, not int"),
        ({"include_expired": "yes"}, "include_expired: must be True or False, not 'yes'"),
    ],
    ids=said,
)
def test_queries(backend, query, message):
    with pytest.raises(InvalidArgument) as raised:
        backend.retrieve_memories(MemoryQuery(**query))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda b: b.store_memory({"content": "x"}), "memory: must be a MemoryEntry, not dict"),
        (lambda b: b.update_memory("x"), "memory: must be a MemoryEntry, not str"),
        (lambda b: b.store_memory(MemoryEntry(content="x"), allow_secret=1), "allow_secret: must be True or"),
        (lambda b: b.retrieve_memories({"limit": 1}), "query: must be a MemoryQuery, not dict"),
        (lambda b: b.get_memory_by_id(5), "memory_id: must be a text, not int"),
        (lambda b: b.delete_memory(None), "memory_id: must be a text, not NoneType"),
        (lambda b: b.restore_memory(5), "memory_id: must be a text, not int"),
        (lambda b: b.access_memory(5), "memory_id: must be a text or several, not int"),
        (lambda b: b.access_memory(["m", 5]), "memory_id: must be a text, not int"),
        (lambda b: b.get_session_info(5), "session_id: must be a text, not int"),
        (lambda b: b.delete_session(5), "session_id: must be a text, not int"),
        (lambda b: b.list_sessions(limit=0), "limit: must be a whole number from 1 on, not 0"),
        (lambda _: CodeGraph("here"), "backend: must be a KuzuBackend, not str"),
        (lambda b: CodeGraph(b).index("nowhere"), "path: there is no nowhere in "),
        (lambda b: CodeGraph(b).index(".."), "path: there is no .. in "),
        (lambda b: CodeGraph(b).index(""), "path: must be the path of a folder, not ''"),
        (lambda b: CodeGraph(b).index(5), "path: must be the path of a folder, not 5"),
        (lambda b: CodeGraph(b).index(languages="python"), "languages: must be a list such as"),
        (lambda b: CodeGraph(b).index(languages=["cobol"]), "languages: 'cobol' is not one of python,"),
        (lambda b: CodeGraph(b).index(languages=[5]), "languages: 5 is not one of python,"),
        pytest.param(lambda b: b.connection.execute("MATCH (m"), "cypher: ", marks=pytest.mark.graph),
        (lambda b: b.connection.execute("CREATE (:Session {session_id: 'x'})"), "cypher: must begin with"),
        (lambda b: b.connection.execute("MATCH (m) DELETE m"), "cypher: only reading is allowed"),
        (lambda b: b.connection.execute(5), "cypher: must be a text"),
        (lambda b: b.connection.execute("RETURN $x"), "parameters: no value for $x"),
        (lambda b: b.connection.execute("RETURN $x", ["a"]), "parameters: must be an object"),
        (lambda b: b.connection.execute("RETURN $x", {"x": object()}), "parameters.x: a object can't be"),
        (lambda b: b.connection.execute("RETURN 1", limit=0), "limit: must be a whole number from 1 on"),
        (lambda b: b.connection.execute("RETURN 1", limit=1001), "limit: must be at most 1000"),
    ],
    ids=said,
)
def test_arguments(backend, act, message):
    with pytest.raises(InvalidArgument) as raised:
        act(backend)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_paths(tmp_path, project):
    file = tmp_path / "file"
    file.write_text("x")
    for options, message in (
        ({"path": file}, f"path: {file} is a file; name a folder"),
        ({"path": 5}, "path: must be a path, not int"),
        ({"path": ""}, "path: '' is no path"),
        ({"path": b"x"}, "path: must be a path, not bytes"),
        ({"path": "a\0b"}, "path: 'a\\x00b' is no path"),
        ({"root": file}, f"root: {file} is a file; name a folder"),
        ({"root": tmp_path / "none"}, f"root: {tmp_path / 'none'} is no folder; name one that exists"),
        ({"root": 5}, "root: must be a path, not int"),
        ({"enable_auto_linking": "no"}, "enable_auto_linking: must be True or False"),
    ):
        with pytest.raises(InvalidArgument) as raised:
            KuzuBackend(**{"root": project, **options})
        assert str(raised.value) == message


def test_a_store_below_a_file(tmp_path, project):
    (tmp_path / "file").write_text("x")
    with KuzuBackend(tmp_path / "file" / "store", root=project) as backend:
        assert backend.retrieve_memories() == []
        with pytest.raises(StoreError, match=r"can't write to .*file/store"):
            backend.store_memory(MemoryEntry(content="x"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(project):
    project.chmod(0o500)
    try:
        with KuzuBackend(root=project) as backend, pytest.raises(StoreError, match="can't write to"):
            backend.store_memory(MemoryEntry(content="x"))
    finally:
        project.chmod(0o700)


def test_a_disk_that_refuses(backend, monkeypatch):
    backend.store_memory(MemoryEntry(id="m", content="x"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mnemolens.store.journal.os.write", full)
    for act in (
        lambda: backend.store_memory(MemoryEntry(id="n", content="y")),
        lambda: backend.store_memory(MemoryEntry(id="m", content="y")),
        lambda: backend.delete_memory("m"),
        lambda: backend.access_memory("m"),
    ):
        with pytest.raises(StoreError, match="No space left on device; nothing was stored"):
            act()
    monkeypatch.undo()
    assert [(memory.id, memory.content) for memory in backend.retrieve_memories()] == [("m", "x")]
    backend.store_memory(MemoryEntry(id="n", content="y"))
    assert backend.get_memory_by_id("n").content == "y"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the system has no tzset")
def test_times_out_of_range(backend, monkeypatch):
    """The first moment that there is, local time, may lie before the first that there is in UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with pytest.raises(InvalidArgument, match=r"^created_at: 0001-01-01 00:00:00 is out of range$"):
            backend.store_memory(MemoryEntry(content="x", created_at=datetime.min))  # noqa: DTZ901 - on purpose
    finally:
        monkeypatch.undo()
        time.tzset()

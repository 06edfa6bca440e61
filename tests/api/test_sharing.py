"""Several users of one store: backends, threads, processes, forks; opening and closing."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemolens import CodeGraph, KuzuBackend, MemoryEntry, MemoryQuery, StoreError
from mnemolens.api import shared


def ids(backend):
    return sorted(memory.id for memory in backend.retrieve_memories())


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("mnemolens")]


# Backends


def test_two_backends_on_one_path_share_a_workspace(project, make_backend, tmp_path):
    first, second = make_backend(), make_backend(project / ".mnemolens")
    (tmp_path / "link").symlink_to(project)
    third = make_backend(root=tmp_path / "link")
    for backend in (first, second, third):
        backend.initialize()
    assert len(shared._shared) == 1
    first.store_memory(MemoryEntry(id="m", content="x"))
    assert ids(second) == ids(third) == ["m"]
    first.close()
    second.store_memory(MemoryEntry(id="n", content="y"))
    second.close()
    assert ids(third) == ["m", "n"]
    third.close()
    assert shared._shared == {}
    assert threads() == []


def test_other_roots_have_other_workspaces(make_backend, tmp_path):
    (tmp_path / "other").mkdir()
    make_backend().store_memory(MemoryEntry(id="m", content="x"))
    assert ids(make_backend(root=tmp_path / "other")) == []


def test_closing_and_opening_again(backend):
    backend.store_memory(MemoryEntry(id="m", content="x"))
    backend.initialize()
    backend.close()
    backend.close()
    for call in (
        lambda: backend.store_memory(MemoryEntry(content="y")),
        backend.retrieve_memories,
        backend.list_sessions,
        lambda: backend.connection.execute("RETURN 1"),
        lambda: CodeGraph(backend).index(),
    ):
        with pytest.raises(StoreError, match=r"^the backend is closed; call initialize\(\)"):
            call()
    backend.initialize()
    assert ids(backend) == ["m"]


def test_a_with_block_opens_and_closes(project):
    with KuzuBackend(root=project) as backend:
        backend.store_memory(MemoryEntry(id="m", content="x"))
    with pytest.raises(StoreError):
        backend.retrieve_memories()
    with backend:
        assert ids(backend) == ["m"]


def test_the_first_call_opens(make_backend):
    assert make_backend().retrieve_memories() == []


# Threads


@pytest.mark.graph
def test_threads_hammer_one_backend(indexed, make_backend):
    def work(number):
        backend = indexed if number % 2 else make_backend()
        for turn in range(10):
            backend.store_memory(
                MemoryEntry(
                    id=f"{number}-{turn}", content=f"validate_token {number}", session_id=f"s{number}"
                )
            )
            backend.store_memory(MemoryEntry(id="same", content=f"By {number} at {turn}"))
            assert backend.get_memory_by_id(f"{number}-{turn}").content == f"validate_token {number}"
            backend.retrieve_memories(MemoryQuery(limit=5))
            if turn % 5 == 4:
                backend.delete_memory(f"{number}-0")
                backend.connection.execute("MATCH (m:SemanticMemory) RETURN count(m)")
                CodeGraph(backend).index()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert len(ids(indexed)) == 8 * 9 + 1
    (row,) = indexed.connection.execute("MATCH (m:SemanticMemory)-[r]->(f:CodeFunction) RETURN count(r)")
    assert row == (8 * 9,)
    assert [session.memory_count for session in indexed.list_sessions()] == [9] * 8


def test_closing_lets_calls_of_other_threads_end(make_backend):
    backend = make_backend()
    backend.initialize()
    stored, refused = [], []

    def work():
        for number in range(1000):
            try:
                backend.store_memory(MemoryEntry(id=f"{threading.get_ident()}-{number}", content="x"))
            except StoreError as error:
                refused.append(str(error))
                return
            stored.append(f"{threading.get_ident()}-{number}")

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    while len(stored) < 8:
        pass
    backend.close()
    for worker in workers:
        worker.join(10)
        assert not worker.is_alive()
    assert len(refused) == 4
    assert all("is closed" in text for text in refused)
    assert set(stored) <= set(ids(make_backend()))


def test_a_callback_may_not_call_the_backend(backend):
    told = []

    def call(*_):
        try:
            backend.retrieve_memories()
        except StoreError as error:
            told.append(str(error))

    CodeGraph(backend).index(on_progress=call)
    assert "callback" in told[0]


# Processes

OTHER = """
import sys
from mnemolens import KuzuBackend, MemoryEntry
with KuzuBackend(root=sys.argv[1]) as backend:
    print(sorted(memory.id for memory in backend.retrieve_memories()), flush=True)
    for line in sys.stdin:
        what, _, name = line.strip().partition(" ")
        if what == "store":
            backend.store_memory(MemoryEntry(id=name, content="validate_token, from another process"))
        elif what == "delete":
            backend.delete_memory(name)
        elif what == "graph":
            rows = backend.connection.execute("MATCH (m:SemanticMemory) RETURN m.memory_id")
            print(sorted(row[0] for row in rows), flush=True)
            continue
        print(sorted(memory.id for memory in backend.retrieve_memories()), flush=True)
"""


@pytest.mark.graph
def test_two_processes_see_each_other_at_once(indexed, project):
    indexed.store_memory(MemoryEntry(id="ours", content="x"))
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, project], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:

        def ask(line):
            other.stdin.write(f"{line}\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert other.stdout.readline().strip() == "['ours']"
        assert ask("store theirs") == "['ours', 'theirs']"
        assert ids(indexed) == ["ours", "theirs"]
        query = "MATCH (m:SemanticMemory)-[r]->(f:CodeFunction) RETURN m.memory_id, f.function_name"
        assert list(indexed.connection.execute(query)) == [("theirs", "validate_token")]
        assert ask("graph") == "['ours', 'theirs']"
        indexed.delete_memory("theirs")
        assert ask("look") == "['ours']"
        assert ask("graph") == "['ours']"
        indexed.store_memory(MemoryEntry(id="theirs", content="y"))
        assert ask("delete theirs") == "['ours']"
        assert indexed.get_memory_by_id("theirs") is None
        other.stdin.close()
        assert other.wait(20) == 0


ENDS = """
import sys
from mnemolens import KuzuBackend, MemoryEntry, CodeGraph
backend = KuzuBackend(root=sys.argv[1])
CodeGraph(backend).index()
backend.store_memory(MemoryEntry(id="m", content="validate_token"))
print(list(backend.connection.execute("MATCH (m:SemanticMemory) RETURN m.memory_id")))
"""


@pytest.mark.graph
def test_a_process_that_never_closes_ends_all_the_same(project, make_backend):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ENDS, project],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[('m',)]\n", "", 0)
    assert ids(make_backend()) == ["m"]


FORKS = """
import os, sys, traceback
from mnemolens import KuzuBackend, MemoryEntry, StoreError
backend = KuzuBackend(root=sys.argv[1])
backend.store_memory(MemoryEntry(id="parent", content="x"))
child = os.fork()
if not child:
    code = 1
    try:
        try:
            backend.retrieve_memories()
        except StoreError as error:
            assert "forked" in str(error), error
            backend.close()
            with KuzuBackend(root=sys.argv[1]) as own:
                own.store_memory(MemoryEntry(id="child", content="y"))
            code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)
_, status = os.waitpid(child, 0)
assert status == 0, status
print(sorted(memory.id for memory in backend.retrieve_memories()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_opens_its_own(project):
    done = subprocess.run(
        [sys.executable, "-c", FORKS, project], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("['child', 'parent']\n", 0), done.stderr

"""The graph file: what is written is read, what is doubtful is built anew, and nothing else suffers."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from mnemolens.core.clock import ManualClock
from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.views import GraphState
from mnemolens.store import graph as graph_module
from mnemolens.store import graph_slots
from mnemolens.store.graph import GraphLost, GraphStore
from mnemolens.store.graph_process import DatabaseError, GraphProcess, ProcessEnded
from mnemolens.store.graph_schema import (
    MEMORY_TABLES,
    NO_ROWS,
    NODE_TABLES,
    REL_KINDS,
    REL_TABLES,
    Changes,
    Rows,
    differences,
    rel_kind,
    relates,
)
from mnemolens.store.graph_statements import RowFiles

graph_database = pytest.importorskip(
    "mnemolens.store.graph_database", reason="there is no kuzu for this Python"
)
Database = graph_database.Database

WHEN = datetime(2026, 3, 1, 12, 30, 15, 123456)  # noqa: DTZ001 - the database's are UTC without saying so
ODD = "it's \"odd\": \\ {x} \n\t,é😀 `b` -- // /* '' \u2028"
UNSTOPPABLE = " ".join(f"UNWIND range(1, 1000) AS x{n}" for n in range(6))
CALLS = rel_kind("CALLS", "CodeFunction", "CodeFunction")


def memory(id_, kind="episodic", **fields):
    row = dict.fromkeys(column.name for column in NODE_TABLES["EpisodicMemory"])
    row |= {
        "memory_id": id_,
        "type": kind,
        "title": f"title of {id_}",
        "content": "",
        "metadata": "{}",
        "tags": (),
        "importance": 0.5,
        "created_at": WHEN,
        "accessed_at": WHEN,
        "access_count": 0,
        "pinned": False,
        "status": "active",
        "born": {"commit": None, "branch": None},
        "token_count": 1,
        "weight": 0.5,
        "layer": "active",
    }
    row |= fields
    return (MEMORY_TABLES[kind], *row.values())


def file(name):
    return ("CodeFile", name, name, "python", "h", 10, False)


def function(id_, **fields):
    row = {
        "function_id": id_,
        "function_name": id_.rpartition(".")[2],
        "qualified_name": id_,
        "signature": "def x()",
        "docstring": None,
        "is_async": False,
        "start_line": 1,
        "end_line": 2,
        "body_hash": "b",
    }
    return ("CodeFunction", *(row | fields).values())


def link(memory_id, target, table="CodeFunction", kind="episodic", relevance=0.8):
    return (relates(table, kind), memory_id, target, relevance, "content_name_match", WHEN)


def call(source, target, confidence="scope", count=1):
    return (CALLS, source, target, confidence, count)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "graphs" / "w"


@pytest.fixture
def opened():
    """Opens stores, and closes them at the end."""
    stores = []

    def open_(folder, units=None):
        store = GraphStore(folder, ManualClock())
        stores.append(store)
        store.open().result()
        if units is not None:
            store.build(units).result()
        return store

    yield open_
    for store in stores:
        store.close()


def ask(store, cypher, parameters=None, limit=1000):
    return [list(row) for row in store.query(cypher, parameters, limit).result().rows]


class TestWhatIsWrittenIsRead:
    CALLED = (call("f", ODD, count=3),)
    UNITS = (
        Rows((file(ODD), function("f"), function(ODD, docstring="", signature=ODD)), CALLED),
        Rows(
            (memory(ODD, title=ODD, tags=(ODD, "", "a,b]"), author="", born={"commit": "c", "branch": ODD}),),
            (link(ODD, ODD), link(ODD, ODD, "CodeFile", relevance=1.0)),
        ),
    )

    @pytest.mark.parametrize("how", ["built", "written"])
    def test_odd_texts_empty_texts_and_none(self, opened, place, how):
        store = opened(place, self.UNITS if how == "built" else ())
        if how == "written":
            store.write(differences((NO_ROWS, unit) for unit in self.UNITS)).result()
        [[node]] = ask(store, "MATCH (m:EpisodicMemory {memory_id: $id}) RETURN m", {"id": ODD})
        assert (node["title"], node["content"], node["tags"]) == (ODD, "", [ODD, "", "a,b]"])
        assert (node["author"], node["agent_id"]) == ("", None)
        assert node["born"] == {"commit": "c", "branch": ODD}
        assert node["created_at"] == "2026-03-01T12:30:15.123456Z"
        [[found]] = ask(store, "MATCH (f:CodeFunction {function_id: $id}) RETURN f", {"id": ODD})
        assert (found["docstring"], found["signature"]) == ("", ODD)
        assert ask(store, "MATCH (f:CodeFunction {function_id: 'f'}) RETURN f.docstring") == [[None]]
        calls = (
            "MATCH (a:CodeFunction)-[r:CALLS]->(b:CodeFunction) RETURN a.function_id, b.function_id, r.count"
        )
        assert ask(store, calls) == [["f", ODD, 3]]
        linked = "MATCH (m)-[r:RELATES_TO_FILE_EPISODIC]->(c:CodeFile {file_id: $f}) RETURN r.relevance_score"
        assert ask(store, linked, {"f": ODD}) == [[1.0]]

    def test_every_table_takes_rows(self, opened, place):
        store = opened(place, ())
        sample = {
            "STRING": "x",
            "STRING[]": ("x",),
            "INT64": 1,
            "DOUBLE": 0.5,
            "BOOL": True,
            "TIMESTAMP": WHEN,
        }

        def value(type_):
            return {"commit": "x", "branch": None} if type_.startswith("STRUCT") else sample[type_]

        nodes = tuple(
            (table, f"{table}-key", *(value(c.type) for c in columns[1:]))
            for table, columns in NODE_TABLES.items()
        )
        rels = tuple(
            (name, f"{kind.source}-key", f"{kind.target}-key", *(value(c.type) for c in kind.table.columns))
            for name, kind in REL_KINDS.items()
        )
        rows = Rows(nodes, rels)
        store.write(differences([(NO_ROWS, rows)])).result()
        written = ask(store, "MATCH ()-[r]->() RETURN label(r), count(*)")
        assert dict(map(tuple, written)) == {name: len(table.pairs) for name, table in REL_TABLES.items()}
        store.build([rows]).result()
        assert sorted(ask(store, "MATCH ()-[r]->() RETURN label(r), count(*)")) == sorted(written)
        assert ask(store, "MATCH (n) RETURN count(*)") == [[len(NODE_TABLES)]]

    def test_differences_lead_from_one_state_to_the_other(self, opened, place):
        before = [
            Rows((file("a"), function("f"), function("g"), function("h")), (call("f", "g"), call("f", "h"))),
            Rows((memory("m"),), (link("m", "f"), link("m", "g"))),
        ]
        after = [
            Rows(
                (file("a"), function("f", start_line=7, docstring="d"), function("g"), function("i")),
                (call("f", "g", count=4), call("f", "g", "self"), call("i", "f")),
            ),
            Rows((memory("m", kind="semantic"),), (link("m", "g", kind="semantic"),)),
        ]
        store = opened(place, before)
        changes = differences(zip(before, after, strict=True))
        assert [key for _, key in changes.drop_nodes] == ["h", "m"]
        store.write(changes).result()
        calls = (
            "MATCH (a:CodeFunction)-[r:CALLS]->(b) RETURN a.function_id, b.function_id, r.confidence, r.count"
        )
        assert sorted(ask(store, calls)) == [
            ["f", "g", "scope", 4],
            ["f", "g", "self", 1],
            ["i", "f", "scope", 1],
        ]
        assert ask(store, "MATCH (f:CodeFunction {function_id: 'f'}) RETURN f.start_line, f.docstring") == [
            [7, "d"]
        ]
        assert ask(
            store, "MATCH (m)-[r]->(f:CodeFunction) WHERE m.memory_id = 'm' RETURN label(m), label(r)"
        ) == [["SemanticMemory", "RELATES_TO_FUNCTION_SEMANTIC"]]
        assert not differences([(after[0], after[0])])

    def test_many_relations_are_copied(self, opened, place):
        store = opened(place, ())
        names = [f"f{number}" for number in range(400)]
        rows = Rows(tuple(function(name) for name in names), tuple(call(name, "f0") for name in names))
        report = store.write(differences([(NO_ROWS, rows)])).result()
        assert report.statements < 200
        assert ask(store, "MATCH ()-[r:CALLS]->() RETURN count(*)") == [[400]]

    def test_one_memory_costs_at_most_four_statements(self, opened, place):
        code = Rows((file("a"), *(function(f"f{n}") for n in range(9))))
        store = opened(place, [code])
        links = (*(link("m", f"f{n}") for n in range(9)), link("m", "a", "CodeFile"))
        rows = [(NO_ROWS, Rows((memory("m"),), links)), (NO_ROWS, Rows((("Session", "s"), ("Agent", "a"))))]
        assert store.write(differences(rows)).result().statements <= 4
        assert ask(store, "MATCH (:EpisodicMemory)-[r]->() RETURN count(*)") == [[10]]


class TestSeedQueries:
    """As they are printed in seed 000."""

    @pytest.fixture
    def store(self, opened, place):
        units = [
            Rows((file("src/auth.py"), file("src/main.py"), function("src/auth.py::validate_token"))),
            Rows((memory("mem-1"),), (link("mem-1", "src/main.py", "CodeFile", relevance=1.0),)),
            Rows((memory("mem-2"),), (link("mem-2", "src/main.py", "CodeFile", relevance=0.8),)),
            Rows(
                (memory("mem-refactor-1", title="Refactored Authentication"),),
                (link("mem-refactor-1", "src/auth.py", "CodeFile", relevance=1.0),),
            ),
        ]
        return opened(place, units)

    def test_all_files_linked_to_a_memory(self, store):
        query = """
    MATCH (m:EpisodicMemory {memory_id: $memory_id})-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile)
    RETURN cf.file_path, r.relevance_score
    """
        assert ask(store, query, {"memory_id": "mem-1"}) == [["src/main.py", 1.0]]

    def test_all_memories_about_a_file(self, store):
        query = """
    MATCH (m:EpisodicMemory)-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile {file_id: $file_id})
    RETURN m.memory_id, m.title, r.relevance_score
    ORDER BY r.relevance_score DESC
    """
        assert ask(store, query, {"file_id": "src/main.py"}) == [
            ["mem-1", "title of mem-1", 1.0],
            ["mem-2", "title of mem-2", 0.8],
        ]

    def test_the_full_workflow(self, store):
        query = """
    MATCH (m)-[r:RELATES_TO_FILE_EPISODIC]->(cf:CodeFile {file_id: 'src/auth.py'})
    RETURN m.memory_id, m.title, r.relevance_score
    ORDER BY r.relevance_score DESC
    """
        assert ask(store, query) == [["mem-refactor-1", "Refactored Authentication", 1.0]]


@pytest.fixture(scope="module")
def fifty(tmp_path_factory):
    """A store of fifty functions, that tests leave as it is."""
    store = GraphStore(tmp_path_factory.mktemp("graphs") / "w", ManualClock())
    store.open()
    store.build([Rows(tuple(function(f"f{number}") for number in range(50)))]).result()
    yield store
    store.close()


class TestQueries:
    def test_values_are_plain_json(self, fifty):
        query = (
            "MATCH (f:CodeFunction {function_id: 'f0'}) RETURN f, timestamp('2026-01-02 03:04:05'), "
            "date('2026-01-02'), interval('1 day'), [1, null], {a: 1.5}, 1.0/0.0, true, "
            "uuid('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), null"
        )
        [row] = ask(fifty, query)
        assert json.loads(json.dumps(row)) == row
        assert row[0]["_label"] == "CodeFunction"
        assert row[1:8] == ["2026-01-02T03:04:05Z", "2026-01-02", 86400.0, [1, None], {"a": 1.5}, None, True]

    def test_a_node_has_the_properties_of_its_own_table(self, fifty):
        [[node]] = ask(fifty, "MATCH (n) RETURN n LIMIT 1")
        assert {name for name in node if not name.startswith("_")} == {
            column.name for column in NODE_TABLES["CodeFunction"]
        }

    def test_the_columns_are_named(self, fifty):
        found = fifty.query("MATCH (f:CodeFunction) RETURN f.function_id AS id, count(*), label(f)").result()
        assert found.columns[0] == "id"
        assert len(found.columns) == 3

    def test_the_row_limit(self, fifty):
        found = fifty.query("MATCH (f:CodeFunction) RETURN f.function_id", None, 7).result()
        assert (len(found.rows), found.truncated) == (7, True)
        found = fifty.query("MATCH (f:CodeFunction) RETURN f.function_id", None, 50).result()
        assert (len(found.rows), found.truncated) == (50, False)

    @pytest.mark.parametrize(
        ("cypher", "parameters"),
        [
            ("MATCH (f RETURN f", None),
            ("MATCH (f:Nothing) RETURN f", None),
            ("MATCH (f:CodeFunction) RETURN f.nothing", None),
            ("RETURN nosuchfunction(1)", None),
            ("RETURN $x + 1", {"x": {"a": None}}),
            ("MATCH (f:CodeFunction) WHERE f.start_line = 'x' RETURN f", None),
            ("RETURN " + "(" * 40 + "1" + ")" * 40 + " +", None),
            (f"MATCH (n0){''.join(f'-->(n{n})' for n in range(1, 40))} RETURN count(*)", None),
        ],
    )
    def test_what_is_wrong_is_said_and_the_store_goes_on(self, fifty, cypher, parameters):
        with pytest.raises(InvalidArgument):
            ask(fifty, cypher, parameters)
        assert ask(fifty, "MATCH (f:CodeFunction) RETURN count(*)") == [[50]]
        fifty.write(Changes(add_nodes=(("Session", "later"),))).result()
        assert ask(fifty, "MATCH (s:Session) RETURN s.session_id") == [["later"]]
        fifty.write(Changes(drop_nodes=(("Session", "later"),))).result()

    def test_an_endless_query_is_stopped(self, fifty, monkeypatch):
        monkeypatch.setattr(graph_module, "QUERY_SECONDS", 0.3)
        with pytest.raises(InvalidArgument, match="stopped after"):
            ask(fifty, "UNWIND range(1, 50000) AS x UNWIND range(1, 50000) AS y RETURN sum(x * y)")
        assert ask(fifty, "RETURN 1") == [[1]]

    def test_one_that_heeds_no_interrupt_takes_the_graph_with_it(self, opened, place, monkeypatch):
        store = opened(place, [NO_ROWS])
        monkeypatch.setattr(graph_module, "QUERY_SECONDS", 0.3)
        with pytest.raises(InvalidArgument, match="stopped after"):
            ask(store, f"{UNSTOPPABLE} RETURN sum(x0 * x1 + x5)")
        assert store.state == GraphState("building", 0, "a query had to be stopped")
        with pytest.raises(GraphUnavailable):
            ask(store, "RETURN 1")
        store.build([Rows((function("f"),))]).result()
        assert ask(store, "MATCH (f:CodeFunction) RETURN count(*)") == [[1]]

    @pytest.mark.skipif(os.name == "nt", reason="nothing stops a process there")
    def test_a_process_that_is_stuck_is_ended(self, opened, place, monkeypatch):
        store = opened(place, [NO_ROWS])
        monkeypatch.setattr(graph_module, "QUERY_SECONDS", 0.2)
        monkeypatch.setattr(graph_module, "OVERDUE_SECONDS", 0.2)
        os.kill(store._process._process.pid, signal.SIGSTOP)
        with pytest.raises(InvalidArgument, match="stopped after"):
            store.query("RETURN 1").result(timeout=30)
        assert store.is_lost

    @pytest.mark.skipif(os.name == "nt", reason="nothing stops a process there")
    def test_whatever_a_stuck_process_was_asked_it_is_ended(self, opened, place, monkeypatch):
        store = opened(place, [NO_ROWS])
        stuck = store._process
        os.kill(stuck._process.pid, signal.SIGSTOP)
        with pytest.raises(ProcessEnded, match="did not answer"):
            stuck.call("close", seconds=0.1)
        assert stuck.exit_code is not None

        store = opened(place, [NO_ROWS])
        monkeypatch.setattr(graph_module, "WRITE_SECONDS", 0.1)
        os.kill(store._process._process.pid, signal.SIGSTOP)
        with pytest.raises(GraphLost, match="did not answer"):
            store.write(Changes(add_nodes=(function("f"),))).result(timeout=60)
        assert store.is_lost

    def test_a_process_that_is_gone_is_no_fault_of_the_query(self, opened, place):
        store = opened(place, [NO_ROWS])
        store._process.kill()
        with pytest.raises(GraphLost, match="ended"):
            ask(store, "RETURN 1")
        assert store.is_lost

    def test_an_enormous_answer_is_refused(self, fifty):
        many = (
            "MATCH (a:CodeFunction), (b:CodeFunction), (c:CodeFunction), (d:CodeFunction), (e:CodeFunction)"
        )
        with pytest.raises(InvalidArgument, match=r"too much memory|stopped after"):
            ask(fifty, f"{many} RETURN a, b, c, d, e ORDER BY a.function_id + e.function_id")

    def test_an_enormous_row_is_refused(self, fifty):
        with pytest.raises(InvalidArgument, match="one row"):
            ask(fifty, "UNWIND range(1, 1000) AS x MATCH (f:CodeFunction) RETURN collect(f)")
        assert ask(fifty, "RETURN 1") == [[1]]

    @pytest.mark.parametrize(
        "cypher",
        [
            "LOAD FROM '{secret}' (HEADER=false) RETURN *",
            "MATCH (n:CodeFunction) WITH n LIMIT 1 LOAD FROM '{secret}' RETURN *",
            "COPY (MATCH (f:CodeFunction) RETURN f.function_id) TO '{out}'",
            "EXPORT DATABASE '{out}'",
            "MATCH (f:CodeFunction) RETURN f; COPY (MATCH (f:CodeFunction) RETURN f.function_id) TO '{out}'",
            "RETURN 1; COMMIT; CREATE (:Session {{session_id: 'x'}})",
            "/* MATCH */ lOaD FROM '{secret}' RETURN *",
            "RETURN 'a\\' LOAD FROM '{secret}' RETURN *",
            "ATTACH '{secret}' AS x (dbtype kuzu)",
            "CALL force_checkpoint_on_close=true",
            "MATCH (f:CodeFunction) DETACH DELETE f",
        ],
    )
    def test_no_file_is_read_or_written_and_nothing_changes(self, fifty, tmp_path, cypher):
        secret, out = tmp_path / "secret.csv", tmp_path / "out.csv"
        secret.write_text("hunter2\n")
        with pytest.raises(InvalidArgument) as caught:
            ask(fifty, cypher.format(secret=secret, out=out))
        assert "hunter2" not in str(caught.value)
        assert not out.exists()
        assert ask(fifty, "MATCH (n) RETURN label(n), count(*)") == [["CodeFunction", 50]]

    def test_even_past_the_guard_a_query_can_not_write(self, fifty, monkeypatch):
        monkeypatch.setattr(graph_module, "check_query", lambda *_: {})
        with pytest.raises(InvalidArgument, match="read-only"):
            ask(fifty, "CREATE (:Session {session_id: 'x'})")
        assert ask(fifty, "MATCH (s:Session) RETURN count(*)") == [[0]]


class TestWhatGoesWrong:
    def test_two_stores_take_two_slots(self, opened, place):
        one, two = opened(place, [Rows((function("f"),))]), opened(place, [Rows((function("g"),))])
        assert (one.state.slot, two.state.slot) == (0, 1)
        assert ask(one, "MATCH (f:CodeFunction) RETURN f.function_id") == [["f"]]
        assert ask(two, "MATCH (f:CodeFunction) RETURN f.function_id") == [["g"]]

    @pytest.mark.parametrize("what", ["random bytes", "empty", "a folder", "of another version", "stray wal"])
    def test_what_lies_in_the_slot_is_built_anew(self, opened, place, what):
        place.mkdir(parents=True)
        left, wal = place / "0.kuzu", place / "0.kuzu.wal"
        if what == "a folder":
            left.mkdir()
            (left / "catalog.kz").write_text("x")
        else:
            head = b"KUZU\x07\0\0\0" if what == "of another version" else os.urandom(5000)
            left.write_bytes(b"" if what == "empty" else head)
            wal.write_bytes(os.urandom(3000))
        store = opened(place, [Rows((function("f"),))])
        assert (store.state.state, store.state.slot) == ("ready", 0)
        assert ask(store, "MATCH (f:CodeFunction) RETURN f.function_id") == [["f"]]

    def test_after_kill_9_the_next_one_builds_anew(self, opened, place):
        script = Path(__file__).with_name("graph_victim.py")
        with subprocess.Popen(
            [sys.executable, str(script), str(place)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "writing\n"
            time.sleep(0.2)
            process.kill()
        assert (place / "0.kuzu").exists()
        store = opened(place, [Rows((function("f"),))])
        assert (store.state.state, store.state.slot) == ("ready", 0)
        assert ask(store, "MATCH (f:CodeFunction) RETURN f.function_id") == [["f"]]

    def test_a_write_that_fails_wants_a_new_build(self, opened, place):
        store = opened(place, [Rows((function("f"),))])
        with pytest.raises(GraphLost, match="did not hold"):
            store.write(Changes(add_rels=(call("f", "gone"),))).result()
        assert store.state.state == "building"
        store.build([Rows((function("f"), function("gone")), (call("f", "gone"),))]).result()
        assert (store.state.state, store.state.reason) == ("ready", None)

    def test_long_texts_are_loaded(self, tmp_path, monkeypatch):
        monkeypatch.setattr(graph_database, "_BUILD_POOL", 128 << 20)
        files = RowFiles(tmp_path)
        texts = random.Random(1)
        files.add([memory(f"m{n}", content=texts.randbytes(400_000).hex()) for n in range(40)], [])
        database = Database(tmp_path / "small.kuzu", pool=128 << 20)
        with pytest.raises(RuntimeError, match="buffer pool is full"):
            database.load(files)
        database.close()
        database = Database(tmp_path / "x.kuzu", pool=graph_database.load_pool(files, 0))
        database.load(files)
        assert list(database.read("MATCH (m:EpisodicMemory) RETURN count(*)", {}, 10, 5.0))[1:] == [(40,)]
        database.close()

    def test_a_failed_batch_leaves_nothing_behind(self, tmp_path):
        database = Database(tmp_path / "x.kuzu")
        database.load(RowFiles(tmp_path))
        with pytest.raises(LookupError):
            database.apply(Changes(add_nodes=(function("g"),), add_rels=(call("g", "gone"),)))
        database.apply(Changes(add_nodes=(function("f"),)))
        found = list(database.read("MATCH (f:CodeFunction) RETURN f.function_id", {}, 10, 5.0))
        database.close()
        assert found == [("f.function_id",), ("f",)]

    def test_a_passing_fault_is_written_again(self, opened, place, monkeypatch):
        store = opened(place, [Rows((function("f"),))])
        real, faults = GraphProcess.call, [DatabaseError("failed", "hiccup")]

        def call_(self, operation, *arguments, **more):
            if operation == "apply" and faults:
                raise faults.pop()
            return real(self, operation, *arguments, **more)

        monkeypatch.setattr(GraphProcess, "call", call_)
        store.write(Changes(add_nodes=(function("g"),))).result()
        assert faults == []
        assert ask(store, "MATCH (f:CodeFunction) RETURN count(*)") == [[2]]

    def test_the_process_ends_and_a_new_one_is_built(self, opened, place):
        store = opened(place, [Rows((function("f"),))])
        store._process.kill()
        with pytest.raises(GraphLost, match="ended"):
            store.write(Changes(add_nodes=(function("g"),))).result()
        assert store.is_lost
        store.build([Rows((function("f"), function("g")))]).result()
        assert ask(store, "MATCH (f:CodeFunction) RETURN count(*)") == [[2]]

    def test_a_process_that_does_not_start(self, opened, place, monkeypatch):
        monkeypatch.setattr(sys, "executable", str(place / "no-python"))
        store = opened(place)
        with pytest.raises(GraphUnavailable, match="can't be started"):
            store.build([]).result()
        assert store.is_off

    def test_a_full_disk_in_the_cache_folder(self, opened, place, tmp_path, monkeypatch):
        temporary = tmp_path / "tmp"
        temporary.mkdir()
        monkeypatch.setattr(graph_slots.tempfile, "tempdir", str(temporary))
        real = GraphProcess.call

        def full(self, operation, *arguments, **more):
            if operation == "load" and temporary not in Path(arguments[0]).parents:
                raise DatabaseError("failed", "the disk is full")
            return real(self, operation, *arguments, **more)

        monkeypatch.setattr(GraphProcess, "call", full)
        store = opened(place, [Rows((function("f"),))])
        assert (store.state.state, store.state.slot) == ("ready", None)
        assert store.state.reason == "the cache folder can't be used (the disk is full)"
        assert ask(store, "MATCH (f:CodeFunction) RETURN count(*)") == [[1]]
        store.close()
        assert list(temporary.iterdir()) == []

    def test_full_everywhere(self, opened, place, monkeypatch):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(GraphProcess, "call", full)
        store = opened(place)
        with pytest.raises(GraphUnavailable, match="the disk is full"):
            store.build([]).result()
        assert store.is_off
        with pytest.raises(GraphUnavailable, match="the disk is full"):
            ask(store, "RETURN 1")

    def test_a_file_that_another_program_has_locked(self, opened, place, monkeypatch):
        real = GraphProcess.call

        def locked(self, operation, *arguments, **more):
            if operation == "load" and Path(arguments[0]).stem == "0":
                raise DatabaseError("locked", "another process has it open")
            return real(self, operation, *arguments, **more)

        monkeypatch.setattr(GraphProcess, "call", locked)
        store = opened(place, [Rows((function("f"),))])
        assert (store.state.state, store.state.slot) == ("ready", 1)

    def test_without_kuzu(self, tmp_path):
        script = (
            "import sys\n"
            "sys.modules['kuzu'] = None\n"
            "from pathlib import Path\n"
            "from mnemolens.core.clock import SystemClock\n"
            "from mnemolens.store.graph import GraphStore\n"
            "store = GraphStore(Path(sys.argv[1]), SystemClock())\n"
            "store.open().result()\n"
            "print(store.state)\n"
            "try:\n"
            "    store.query('RETURN 1').result()\n"
            "except Exception as error:\n"
            "    print(type(error).__name__, error)\n"
            "store.close()\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script, str(tmp_path / "g")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.splitlines() == [
            "GraphState(state='off', slot=None, reason='kuzu is not installed')",
            "GraphUnavailable the graph is off: kuzu is not installed",
        ]
        assert not (tmp_path / "g").exists()

    def test_importing_the_store_does_not_import_kuzu(self):
        script = (
            "import sys, mnemolens.store.graph, mnemolens.engine.graph_sync; print('kuzu' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"

    def test_before_open_and_after_close(self, place):
        store = GraphStore(place, ManualClock())
        assert store.state.state == "off"
        store.open().result()
        assert store.state.state == "building"
        with pytest.raises(GraphUnavailable, match="building"):
            ask(store, "RETURN 1")
        store.close()
        store.close()
        with pytest.raises(GraphUnavailable, match="closed"):
            ask(store, "RETURN 1")
        assert GraphStore(place, ManualClock()).state.slot is None

    def test_close_ends_what_runs(self, opened, place):
        store = opened(place, [Rows((function("f"),))])
        running = store.query(f"{UNSTOPPABLE} RETURN sum(x0 * x1 + x5)")
        time.sleep(0.2)
        process = store._process
        store.close()
        assert process.exit_code is not None
        with pytest.raises(GraphUnavailable, match="closed"):
            running.result(timeout=0)

    def test_the_process_does_not_outlive_us(self, place):
        script = Path(__file__).with_name("graph_victim.py")
        with subprocess.Popen(
            [sys.executable, str(script), str(place)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "writing\n"
            children = subprocess.run(
                ["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False
            ).stdout.split()
            process.kill()
        assert len(children) == 1
        deadline = time.monotonic() + 60
        while Path(f"/proc/{children[0]}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not Path(f"/proc/{children[0]}").exists()

    def test_a_path_that_the_database_would_take_for_a_pattern(self, opened, tmp_path):
        store = opened(tmp_path / "it's [a] *b?" / "é", [Rows((function("f"),))])
        assert (store.state.state, store.state.slot) == ("ready", 0)
        assert ask(store, "MATCH (f:CodeFunction) RETURN count(*)") == [[1]]

"""The graph holds what the read model says, after whatever happened; what changes is all that is written."""

import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from folders import Folder
from mnemolens.codegraph.resolve import bases_of, calls_of, imported_files
from mnemolens.core.errors import GraphUnavailable, InvalidArgument
from mnemolens.core.symbols import CLASS_KINDS, FUNCTION_KINDS, SymbolKey
from mnemolens.core.text import TextChange
from mnemolens.core.views import GraphState
from mnemolens.engine import graph_sync
from mnemolens.engine.graph_rows import FileFacts
from mnemolens.engine.graph_sync import GraphSync
from mnemolens.engine.requests import CaptureRequest
from mnemolens.store import graph as graph_store
from mnemolens.store.graph import GraphStore
from mnemolens.store.graph_process import GraphProcess
from waiting import until

ALL = 10**6
MEMORIES = ("Episodic", "Semantic", "Procedural", "Prospective", "Working")
CODE = {"CodeFile": "file_id", "CodeClass": "class_id", "CodeFunction": "function_id"}
KEYS = {
    **CODE,
    **{f"{kind}Memory": "memory_id" for kind in MEMORIES},
    "Session": "session_id",
    "Agent": "agent_id",
}


class Graphed(Folder):
    """A folder whose workspace tells a graph of everything, as `Workspace` is to do."""

    def start(self):
        workspace = super().start()
        self.cache = Path(tempfile.mkdtemp(dir=self.root.parent))
        self.store = GraphStore(self.cache / "graphs" / "w", self.clock)
        self.graph = self.wired(workspace)
        self.graph.start()
        self.graph.index_complete()
        return workspace

    def wired(self, workspace):
        code, links = workspace.code, workspace.links
        graph = GraphSync(
            self.store,
            code.index,
            workspace.state,
            links,
            self.facts,
            self.clock,
            lambda: workspace.show.decay,
        )
        put, remove, refresh = code.index.put, code.index.remove, links.refresh

        def putting(file, symbols):
            put(file, symbols)
            graph.file_changed(file)

        def removing(file):
            remove(file)
            graph.file_changed(file)

        def refreshing(memory_ids):
            ids = list(memory_ids)
            changed = refresh(ids)
            graph.memories_changed(ids)
            return changed

        code.index.put, code.index.remove, links.refresh = putting, removing, refreshing
        return graph

    def facts(self, file):
        document = self.workspace.documents.get(file)
        if document is not None:
            return FileFacts("open", len(document.text.data))
        path = self.root / file
        return FileFacts("disk", path.stat().st_size) if path.exists() else FileFacts()

    def close(self):
        self.graph.close()
        super().close()

    def ask(self, cypher, parameters=None):
        return [list(row) for row in self.run(self.graph.query(cypher, parameters, ALL)).rows]

    def flush(self):
        self.run(self.graph.flush())

    # What the read model says, in words of its own.

    def expected(self):
        index = self.workspace.code.index
        nodes, rels = {}, Counter()
        for file in index.files():
            symbols = index.get(file)
            fact = self.facts(file)
            nodes["CodeFile", file] = {
                "file_path": file,
                "language": symbols.language,
                "content_hash": fact.content_hash,
                "size_bytes": fact.size_bytes,
                "has_error": symbols.partial,
            }
            for target in imported_files(index, file):
                rels["IMPORTS", file, target] += 1
            self._expect_calls(index, SymbolKey(file, ""), file, rels)
            for key in index.keys_of(file):
                self._expect_symbol(index, key, nodes, rels)
        self._expect_memories(nodes, rels)
        return nodes, rels

    def _expect_symbol(self, index, key, nodes, rels):
        symbol, range_ = index.symbol(key), index.range_of(key).definition
        row = {
            "qualified_name": symbol.qualname,
            "docstring": symbol.docstring,
            "start_line": range_.start.line + 1,
            "end_line": range_.end.line + 1,
        }
        parent = index.parent(key)
        rels["DEFINED_IN", key.id, key.file] += 1
        rels["CONTAINS", parent.id, key.id] += 1
        if symbol.kind in CLASS_KINDS:
            nodes["CodeClass", key.id] = {**row, "class_name": symbol.name, "kind": symbol.kind}
            for base in bases_of(index, key):
                if base.key != key:  # `class K(K)` means an earlier K
                    rels["INHERITS", key.id, base.key.id] = 1
            above = parent
            while above.qualname and index.symbol(above).kind not in FUNCTION_KINDS:
                above = index.parent(above)
            self._expect_calls(index, key, above.id, rels)
            return
        nodes["CodeFunction", key.id] = {
            **row,
            "function_name": symbol.name,
            "signature": symbol.signature,
            "is_async": symbol.is_async,
            "body_hash": symbol.body_hash,
        }
        if parent.qualname and index.symbol(parent).kind == "class":
            rels["METHOD_OF", key.id, parent.id] += 1
        self._expect_calls(index, key, key.id, rels)

    def _expect_calls(self, index, key, caller, rels):
        for target, count in calls_of(index, key, allow_name=True):
            rels["CALLS", caller, target.key.id, target.confidence] += count

    def shown(self):
        """{memory id: all about it} of those that are neither forgotten nor expired."""
        details = [self.workspace.show.detail(one, self.now) for one in self.workspace.state.memories()]
        return {
            detail.view.memory.id: detail
            for detail in details
            if detail.view.memory.status != "forgotten"
            and (detail.view.memory.expires_at is None or detail.view.memory.expires_at > self.now)
        }

    def _expect_memories(self, nodes, rels):
        details = self.shown()
        for memory_id, detail in details.items():
            memory = detail.view.memory
            kind = memory.type
            nodes[f"{kind.title()}Memory", memory_id] = {
                "title": memory.title,
                "content": memory.content,
                "tags": list(memory.tags),
                "metadata": memory.metadata,
                "status": memory.status,
                "created_at": memory.created_at.isoformat().replace("+00:00", "Z"),
                "weight": pytest.approx(detail.view.weight, abs=0.01),
                "layer": detail.view.layer,
            }
            if memory.session_id:
                nodes["Session", memory.session_id] = {}
            if memory.agent_id:
                nodes["Agent", memory.agent_id] = {}
            self._expect_links(detail, nodes, rels)
            for edge in detail.edges:
                if edge.source_id == memory_id and edge.target_id in details:
                    rels["MEMORY_EDGE", memory_id, edge.target_id, edge.type] += 1

    def _expect_links(self, detail, nodes, rels):
        memory = detail.view.memory
        for link in detail.links:
            key = link.target.key
            symbol = self.workspace.code.index.symbol(key)
            if link.candidate or (key.qualname and symbol is None):
                continue
            if not key.qualname:
                word = "FILE"
                nodes.setdefault(("CodeFile", key.file), {"file_path": key.file, "language": None})
            else:
                word = "CLASS" if symbol.kind in CLASS_KINDS else "FUNCTION"
            rels[f"RELATES_TO_{word}_{memory.type.upper()}", memory.id, key.id, link.relevance] += 1

    # What the graph says.

    def held(self):
        return self._held_nodes(), self._held_code() + self._held_links()

    def _held_nodes(self):
        nodes = {}
        for table, key in KEYS.items():
            for (node,) in self.ask(f"MATCH (n:{table}) RETURN n"):
                if table.endswith("Memory"):
                    node["metadata"] = json.loads(node["metadata"])
                nodes[table, node[key]] = node
        return nodes

    def _held_code(self):
        rels = Counter()
        for name, (sources, targets) in ENDS.items():
            more = ", r.confidence, r.count" if name == "CALLS" else ""
            found = self.ask(
                f"MATCH (a:{sources})-[r:{name}]->(b:{targets}) "
                f"RETURN {any_id('a', sources)}, {any_id('b', targets)}{more}"
            )
            for source, target, *call in found:
                rels[name, source, target, *call[:1]] += call[1] if call else 1
        for source, target in self.ask("MATCH (a)-[:IMPORTS]->(b) RETURN DISTINCT a.file_id, b.file_id"):
            rels["IMPORTS", source, target] += 1
        return rels

    def _held_links(self):
        rels = Counter()
        for kind in MEMORIES:
            for word, table in zip(("FILE", "CLASS", "FUNCTION"), CODE, strict=True):
                name = f"RELATES_TO_{word}_{kind.upper()}"
                shown = f"m.memory_id, c.{CODE[table]}, r.relevance_score"
                for row in self.ask(f"MATCH (m)-[r:{name}]->(c:{table}) RETURN {shown}"):
                    rels[name, *row] += 1
        for row in self.ask("MATCH (a)-[r:MEMORY_EDGE]->(b) RETURN a.memory_id, b.memory_id, r.type"):
            rels["MEMORY_EDGE", *row] += 1
        return rels

    def check(self):
        nodes, rels = self.expected()
        held, found = self.held()
        assert held.keys() == nodes.keys()
        for key, row in nodes.items():
            assert {name: held[key][name] for name in row} == row, key
        assert (found - rels, rels - found) == (Counter(), Counter()), "too much, too little"


ENDS = {
    "DEFINED_IN": ("CodeFunction:CodeClass", "CodeFile"),
    "METHOD_OF": ("CodeFunction", "CodeClass"),
    "CONTAINS": ("CodeFile:CodeFunction:CodeClass", "CodeFunction:CodeClass"),
    "INHERITS": ("CodeClass", "CodeClass"),
    "CALLS": ("CodeFile:CodeFunction", "CodeClass:CodeFunction"),
}


def any_id(variable, tables):
    keys = [f"{variable}.{CODE[table]}" for table in tables.split(":")]
    return f"coalesce({', '.join(keys)})" if len(keys) > 1 else keys[0]


@pytest.fixture
def graphed(tmp_path):
    """Makes folders with a graph, and closes them at the end."""
    folders = []

    def make(files):
        root = tmp_path / f"folder{len(folders)}"
        root.mkdir()
        folders.append(Graphed(root, files))
        return folders[-1]

    yield make
    for folder in folders:
        folder.close()


CODE_FILES = {
    "a.py": "def helper():\n    pass\n",
    "b.py": "from a import helper\n\n\ndef use():\n    helper()\n",
}


@pytest.mark.graph
class TestWriteBehind:
    def test_one_captured_memory_costs_at_most_four_statements(self, graphed):
        folder = graphed({**CODE_FILES, "README.md": "words"})
        folder.flush()
        folder.capture(
            "`helper` and `use` as in README.md, a.py", "b.py", "helper()", session_id="s", agent_id="g"
        )
        report = folder.run(folder.graph._flush(exact=True))
        assert 0 < report.statements <= 4
        folder.check()
        assert folder.run(folder.graph._flush(exact=True)) is None, "nothing is left to write"

    def test_changes_are_written_in_the_background_once_it_is_quiet(self, graphed, monkeypatch):
        monkeypatch.setattr(graph_sync, "QUIET", 0.01)
        folder = graphed(CODE_FILES)
        written = []
        monkeypatch.setattr(folder.graph, "_write", lambda real=folder.graph._write: record(real, written))

        async def live():
            task = asyncio.ensure_future(folder.graph.run())
            await until(lambda: len(written) == 1)
            folder.write("a.py", "def other():\n    pass\n")
            await folder.workspace.files_changed([folder.root / "a.py"])
            await until(lambda: len(written) == 2)
            task.cancel()

        folder.run(live())
        assert written[1].statements > 0

    def test_a_reader_sees_an_edit_that_moved_lines_only(self, graphed):
        folder = graphed(CODE_FILES)
        query = "MATCH (f:CodeFunction {function_name: 'use'}) RETURN f.start_line"
        assert folder.ask(query) == [[4]]
        folder.open("b.py")
        folder.edit("b.py", [TextChange("\n\n", (0, 0), (0, 0))])
        assert folder.run(folder.graph._flush(exact=False)) is None, "equal by value: no write"
        assert folder.ask(query) == [[6]]

    def test_calls_of_go_follow_the_files_of_the_package(self, graphed):
        folder = graphed(
            {
                "go.mod": "module shop\n",
                "cart/a.go": "package cart\ntype B struct{ A }\nfunc Use() { helper(); f() }\nfunc f() {}\n",
                "main.go": 'package main\nimport "shop/cart"\nfunc main() { cart.Use() }\n',
            }
        )

        def told():
            folder.check()
            calls = folder.ask("MATCH (a)-[:CALLS]->(b) RETURN a.function_id, b.function_id")
            bases = folder.ask("MATCH (a:CodeClass)-[:INHERITS]->(b:CodeClass) RETURN a.class_id, b.class_id")
            return {tuple(row) for row in (*calls, *bases)}

        def write(file, text):
            folder.write(file, text)
            folder.run(folder.workspace.files_changed([folder.root / file]))

        alone = {("cart/a.go::Use", "cart/a.go::f"), ("main.go::main", "cart/a.go::Use")}
        there = {("cart/a.go::Use", "cart/b.go::helper"), ("cart/a.go::B", "cart/b.go::A")}
        rest = "type A struct{}\nfunc helper() {}\n"
        assert told() == alone
        write("cart/b.go", "package cart\n" + rest)
        assert told() == alone | there
        write("cart/b.go", "package other\n" + rest)
        assert ("cart/a.go::B", "cart/b.go::A") not in told()
        write("cart/b.go", "package cart\n" + rest)
        assert told() == alone | there

    def test_a_reader_sees_unsaved_text(self, graphed):
        folder = graphed(CODE_FILES)
        folder.open("a.py", "def unsaved():\n    pass\n")
        assert folder.ask("MATCH (f:CodeFunction) RETURN f.function_id ORDER BY f.function_id") == [
            ["a.py::unsaved"],
            ["b.py::use"],
        ]
        assert folder.ask("MATCH ()-[r:CALLS]->() RETURN count(*)") == [[0]]

    def test_a_cancelled_reader_does_not_stop_the_writing(self, graphed):
        folder = graphed(CODE_FILES)

        async def cancelled():
            task = asyncio.ensure_future(folder.graph.flush())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await folder.graph.flush()

        folder.run(cancelled())
        assert folder.graph.builds == 1
        folder.check()

    def test_it_holds_what_lists_show_while_that_is_being_derived(self, tmp_path, monkeypatch):
        folder = Folder(tmp_path / "here", CODE_FILES)
        journaling = folder.workspace.journaling
        refresh_slowly = folder.workspace.refreshing.refresh_slowly

        async def late(memory_ids):
            await release.wait()
            await refresh_slowly(memory_ids)

        async def asked_meanwhile():
            await folder.workspace.graph.query("RETURN 1")
            write = folder.workspace.writing.capture(CaptureRequest("on `helper`", file="b.py"), folder.now)
            committing = asyncio.ensure_future(journaling.commit_slowly(write))
            await until(lambda: folder.workspace.state.holds_memories)
            found = await folder.workspace.graph.query("MATCH (m:SemanticMemory) RETURN count(*)")
            release.set()
            await committing
            return found.rows

        release = asyncio.Event()
        monkeypatch.setattr(folder.workspace.refreshing, "refresh_slowly", late)
        assert folder.run(asked_meanwhile()) == ((1,),)
        folder.close()

    def test_a_lost_graph_is_built_anew(self, graphed):
        folder = graphed(CODE_FILES)
        folder.flush()
        folder.store._process.kill()
        folder.remember("on `helper`")
        folder.check()
        assert folder.graph.builds == 2
        assert folder.graph.state.state == "ready"

    def test_a_query_is_answered_though_the_process_was_ended(self, graphed):
        folder = graphed(CODE_FILES)
        folder.flush()
        folder.store._process.kill()
        assert folder.ask("MATCH (f:CodeFunction) RETURN count(*)") == [[2]]
        assert folder.graph.builds == 2

    def test_a_query_that_ends_the_process_each_time_is_told_so(self, graphed, monkeypatch):
        folder = graphed(CODE_FILES)
        real = GraphProcess.call

        def deadly(self, operation, *arguments, **more):
            if operation == "read":
                self.kill()
            return real(self, operation, *arguments, **more)

        with monkeypatch.context() as patched:
            patched.setattr(GraphProcess, "call", deadly)
            with pytest.raises(InvalidArgument, match="narrow it"):
                folder.ask("RETURN 1")
        folder.check()

    def test_a_query_does_not_wait_for_a_long_new_build(self, graphed, monkeypatch):
        folder = graphed(CODE_FILES)
        folder.flush()
        folder.store._process.kill()
        monkeypatch.setattr(graph_sync, "QUERY_SECONDS", 0.0)
        with pytest.raises(GraphUnavailable, match="ask again"):
            folder.ask("RETURN 1")
        folder.check()

    def test_after_a_query_that_heeds_no_interrupt(self, graphed, monkeypatch):
        monkeypatch.setattr(graph_store, "QUERY_SECONDS", 0.3)
        folder = graphed(CODE_FILES)
        endless = " ".join(f"UNWIND range(1, 1000) AS x{n}" for n in range(6))
        with pytest.raises(InvalidArgument, match="stopped after"):
            folder.ask(f"{endless} RETURN sum(x0 * x1 + x5)")
        folder.check()

    def test_a_purge_builds_anew(self, graphed):
        folder = graphed(CODE_FILES)
        folder.flush()
        folder.graph.purged()
        folder.check()
        assert folder.graph.builds == 2

    def test_weights_fade_and_memories_expire_without_being_touched(self, graphed):
        folder = graphed(CODE_FILES)
        folder.remember("fades", type="working")
        folder.remember("goes", expires_at=folder.later(hours=1))
        folder.flush()
        folder.clock.advance(7200)
        folder.check()
        assert folder.ask("MATCH (m:WorkingMemory) RETURN m.layer") != []

    def test_a_fault_in_one_file_costs_that_file_only(self, graphed, monkeypatch, caplog):
        real = graph_sync.file_rows
        monkeypatch.setattr(
            graph_sync, "file_rows", lambda file, *more: real(file, *more) if file != "a.py" else 1 / 0
        )
        folder = graphed({"a.py": "", "b.py": "def f():\n    pass\n"})
        assert folder.ask("MATCH (f:CodeFile) RETURN f.file_id") == [["b.py"]]
        assert "misses something" in caplog.text

    def test_the_loop_is_not_held_by_a_long_file(self, graphed):
        calls = "".join(f"    f{n}()\n" for n in range(1000))
        folder = graphed({"a.py": f"def f1():\n{calls}" * 3})
        turns = []

        async def counted():
            flushing = asyncio.ensure_future(folder.graph.flush())
            while not flushing.done():
                turns.append(1)
                await asyncio.sleep(0)

        folder.run(counted())
        assert len(turns) > 3
        folder.check()


class TestWithoutAGraph:
    @pytest.fixture
    def folder(self, graphed, monkeypatch):
        monkeypatch.setitem(sys.modules, "kuzu", None)
        return graphed(CODE_FILES)

    def test_everything_else_works(self, folder):
        folder.open("a.py")
        folder.remember("on helper", "a.py", "helper")
        assert folder.titles("a.py", "helper") == ["on helper"]
        assert folder.lenses("a.py") == {0: "1 memory"}

    def test_a_reader_is_told_why(self, folder):
        with pytest.raises(GraphUnavailable, match="kuzu is not installed"):
            folder.ask("RETURN 1")
        assert folder.graph.state == GraphState("off", None, "kuzu is not installed")

    def test_a_wrong_query_is_wrong_all_the_same(self, folder):
        with pytest.raises(InvalidArgument, match="must begin with"):
            folder.ask("CREATE (n)")


async def record(real, written):
    written.append(await real())
    return written[-1]


FILES = ("a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/d.py")
IMPORTS = st.sampled_from(
    [
        "from a import f",
        "from a import f as g",
        "import a",
        "from b import *",
        "from pkg import c",
        "from pkg.c import K, h",
        "from a import K",
        "from .c import K as Base",
        "import pkg.c",
        "from pkg import d as a",
    ]
)
CALLS = st.sampled_from(
    [
        "f()",
        "g()",
        "h()",
        "a.f()",
        "K().m()",
        "self.m()",
        "super().m()",
        "pkg.c.h()",
        "c.h()",
        "x = f",
        "only()",
    ]
)
NAMES = st.sampled_from(["f", "g", "h", "K", "only"])


@st.composite
def definitions(draw):
    name = draw(NAMES)
    body = draw(st.lists(CALLS, max_size=3)) or ["pass"]
    inner = "\n".join(f"    {line}" for line in body)
    if draw(st.booleans()):
        return f"def {name}(self=None):\n{inner}\n"
    base = draw(st.sampled_from(["", "(K)", "(Base)", "(a.K)", "(c.K)"]))
    method = "\n".join(f"        {line}" for line in body)
    return f"class {name}{base}:\n    def {draw(st.sampled_from(['m', 'f']))}(self):\n{method}\n"


@st.composite
def sources(draw):
    parts = draw(st.lists(IMPORTS, max_size=2)) + draw(st.lists(definitions(), max_size=3))
    parts += draw(st.lists(CALLS, max_size=1))
    return "\n".join(parts) + "\n"


class GraphMachine(RuleBasedStateMachine):
    """Edits and captures in any order; after each the graph must follow."""

    @initialize(texts=st.lists(sources(), min_size=3, max_size=3))
    def begin(self, texts):
        self.place = tempfile.TemporaryDirectory()
        root = Path(self.place.name) / "folder"
        root.mkdir()
        self.folder = Graphed(root, {**dict(zip(FILES, texts, strict=False)), "README.md": "words"})
        self.ids = []

    @rule(file=st.sampled_from(FILES), text=sources())
    def write(self, file, text):
        self.folder.write_seen(file, text)

    @rule(file=st.sampled_from(FILES))
    def delete(self, file):
        path = self.folder.root / file
        if path.exists():
            path.unlink()
            self.folder.run(self.folder.workspace.files_changed([path]))

    @rule(file=st.sampled_from(FILES), text=sources())
    def open(self, file, text):
        if (self.folder.root / file).exists():
            self.folder.open(file, text)

    @rule(
        file=st.sampled_from(FILES),
        line=st.integers(0, 6),
        text=st.sampled_from(["\n", "#", "def f(): g()\n"]),
    )
    def type(self, file, line, text):
        if file in self.folder.workspace.documents:
            self.folder.edit(file, [TextChange(text, (line, 0), (line, 0))])

    @rule(file=st.sampled_from(FILES))
    def close(self, file):
        if file in self.folder.workspace.documents:
            self.folder.run(self.folder.workspace.sources.close_document(file))

    @rule(
        words=st.lists(
            st.sampled_from(["`f()`", "`K`", "`K.m`", "pkg/c.py", "README.md", "only()"]), max_size=3
        ),
        kind=st.sampled_from(["episodic", "semantic", "working"]),
        session=st.sampled_from([None, "s", 'it\'s "s"']),
        lives=st.sampled_from([None, 30, 100]),
    )
    def capture(self, words, kind, session, lives):
        found = self.folder.capture(
            f"note {len(self.ids)} on {' and '.join(words)}",
            type=kind,
            session_id=session,
            agent_id=session,
            tags=("a", "b, c"),
            expires_at=None if lives is None else self.folder.later(seconds=lives),
        )
        self.ids.append(found.view.memory.id)

    @rule(
        data=st.data(),
        act=st.sampled_from(["forget", "restore", "done", "type", "content", "edge", "unlink"]),
    )
    def change(self, data, act):
        if not self.ids:
            return
        workspace, now = self.folder.workspace, self.folder.now
        one, other = (data.draw(st.sampled_from(self.ids)) for _ in range(2))
        if act == "type":
            self.folder.commit(workspace.writing.update(one, {"type": "procedural"}, now))
        elif act == "content":
            self.folder.commit(workspace.writing.update(one, {"content": "now on `g()` and a.py"}, now))
        elif act == "edge" and one != other:
            self.folder.commit(
                workspace.attaching.link(one, target_id=other, edge_type="CONTRADICTS", weight=0.5, now=now)
            )
        elif act == "unlink":
            try:
                self.folder.commit(workspace.attaching.unlink(one, target_id=other, edge_type="CONTRADICTS"))
            except Exception:  # noqa: BLE001 - there was none
                return
        elif act in {"forget", "restore", "done"}:
            self.folder.commit(getattr(workspace.writing, act)(one, now))

    @rule(seconds=st.sampled_from([3, 40, 4000]))
    def wait(self, seconds):
        self.folder.pass_time(seconds)

    @rule()
    def check(self):
        self.folder.check()

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.check()
            assert self.folder.graph.state.state == "ready"
            assert self.folder.graph.builds == 1, "differences were written, nothing was built anew"
            self.folder.close()
            self.place.cleanup()


TestGraphMachine = pytest.mark.graph(GraphMachine.TestCase)
TestGraphMachine.settings = settings(
    max_examples=6, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)

"""Export and import of CONTRACT §9: lossless, idempotent, never an older value over a newer one."""

import asyncio
import json
import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from folders import START, Folder
from mnemolens.core.clock import reading_at
from mnemolens.core.errors import InvalidArgument, NotFound
from mnemolens.core.events import (
    AnchorAlias,
    AnchorConfirm,
    AnchorDrop,
    AnchorPut,
    AnchorUnalias,
    BirthRecord,
    EdgeDrop,
    EdgePut,
    Event,
    EvidenceRecord,
    LinkAllow,
    LinkDrop,
    MemoryAccess,
    MemoryDone,
    MemoryForget,
    MemoryRestore,
    MemoryTogether,
    NodeDrop,
    NodePut,
    Place,
    SuggestionRefuse,
    decode_line,
    encode_line,
    prepare,
    put_memory,
)
from mnemolens.engine.exchange import Exchange
from mnemolens.engine.export_lines import Export, encode
from mnemolens.engine.import_lines import World, plan
from mnemolens.engine.import_shapes import Skip, id_of, paths_of
from mnemolens.engine.requests import CaptureRequest, ListRequest
from mnemolens.engine.secrets import refuse_secrets
from mnemolens.engine.write import Write
from mnemolens.store.graph_slots import take_slot
from mnemolens.store.merge import MergedState

PAY = '''\
"""Payments."""


def charge(card, amount):
    """Charge a card."""
    total = amount * 100
    return card.send(total)


class Refund:
    def run(self, order):
        for item in order.items:
            charge(order.card, -item.price)
'''
FILES = {"shop/pay.py": PAY, "shop/util.py": "def plain():\n    return 1\n"}


class Shop(Folder):
    """A folder with code, and what takes its memories out and in."""

    def start(self):
        workspace = super().start()

        self.exchange = Exchange(
            workspace.layout,
            workspace.journal,
            workspace.state,
            workspace.show,
            workspace.code,
            workspace.journaling.merge_slowly,
        )
        return workspace

    def export(self, path, form="jsonl"):
        return self.run(self.exchange.export(path, form, self.now))

    def take(self, path, **options):
        return self.run(self.exchange.import_file(path, self.now, **options))

    def events(self, *data):
        self.commit(Write(data, lambda: None))

    def detail(self, memory_id):
        return self.workspace.show.detail(memory_id, self.now)

    def lines(self, path):
        self.export(path)
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def journal_bytes(self):
        folder = self.workspace.layout.store / "journal"
        return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")} if folder.exists() else {}


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_DATA_DIR", str(tmp_path / "data"))
    made = []

    def one(name, files=None):
        root = tmp_path / name
        root.mkdir()
        made.append(Shop(root, FILES if files is None else files))
        return made[-1]

    yield one
    for folder in made:
        folder.close()


@pytest.fixture
def shop(make):
    return make("shop-a")


@pytest.fixture
def other(make):
    return make("shop-b")


def counts(report):
    return report.memories, report.new, report.updated, report.unchanged, len(report.skipped)


def write_lines(path, *lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def fill(shop):
    """A store with something of everything; the ids of its memories."""
    first = shop.remember(
        "`charge()` double-charges on retry", "shop/pay.py", "charge", tags=("money", "bug"),
        metadata={"file": "shop/pay.py", "n": [1, {"deep": None}]}, importance=0.9, session_id="s1",
        agent_id="bot", author="Ana", trigger={"on": "change"}, due_at=datetime(2027, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    shop.clock.advance(60)
    second = shop.remember("Zwölf Boxkämpfer: 龍 🐉\nsecond line", "shop/pay.py", "Refund", type="procedural")
    shop.clock.advance(60)
    third = shop.remember("about nothing at all")
    shop.clock.advance(1)
    workspace = shop.workspace
    shop.commit(workspace.writing.update(first, {"title": "Old wording", "tags": ["money"]}, shop.now))
    shop.clock.advance(1)
    shop.commit(
        workspace.writing.update(
            first, {"title": "Retry", "metadata": {"n": None, "k": 1}, "pinned": True}, shop.now
        )
    )
    shop.commit(workspace.writing.forget(second, shop.now))
    shop.commit(workspace.writing.done(third, shop.now))
    shop.commit(
        workspace.attaching.link(first, target_id=third, edge_type="CAUSED_BY", weight=0.5, now=shop.now)
    )
    shop.commit(workspace.attaching.confirm(first, None, shop.now))
    moved = shop.find("shop/pay.py", "def run", offset=4)
    shop.commit(workspace.attaching.reanchor(second, file="shop/pay.py", position=moved, now=shop.now))
    anchor = workspace.state.anchors_of(first)[0].id
    shop.events(
        AnchorUnalias(anchor=anchor, place=Place(file="shop/util.py", qualname="plain", ordinal=0)),
        LinkDrop(memory=first, evidence="charge()", name="shop/util.py::plain"),
        SuggestionRefuse(memory=third, place=Place(file="shop/util.py", qualname="plain", ordinal=0)),
        MemoryTogether(memories=(first, second, third), rate=0.25),
        NodePut(node="topic", meta={"createdBy": "x"}),
    )
    shop.run(workspace.journaling.access([first, first, third], shop.now))
    return first, second, third


def everything(shop, ids):
    """All that the store says of these memories, less what hangs on the code and the time."""
    state = shop.workspace.state
    return {
        one: (
            state.memory(one),
            state.anchors_of(one),
            state.edges_of(one),
            state.history(one),
            state.link_dropped(one, "charge()", "shop/util.py::plain"),
            [
                key
                for key in shop.workspace.code.index.keys_named("plain")
                if state.suggestion_refused(one, key)
            ],
        )
        for one in ids
    }


class TestExport:
    def test_a_line_holds_what_the_contract_names(self, shop, tmp_path):
        first, _, third = fill(shop)
        path = tmp_path / "out.jsonl"
        report = shop.export(path)
        assert report.memories == 3
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        memories = [line for line in lines if "memory" in line]
        assert all({"memory", "anchors", "links", "edges", "history"} <= set(line) for line in memories)
        line = memories[0]
        assert line["memory"]["id"] == first
        assert line["memory"]["title"] == "Retry"
        assert line["memory"]["tags"] == ["money"]
        assert line["memory"]["metadata"] == {"file": "shop/pay.py", "k": 1}
        assert line["memory"]["createdAt"] == "2026-03-01T12:00:00Z"
        assert line["memory"]["dueAt"] == "2027-01-01T00:00:00Z"
        assert line["memory"]["accessCount"] == 2
        assert line["memory"]["verdict"] == "fresh"
        explicit = next(anchor for anchor in line["anchors"] if anchor["context"] == "captured_here")
        assert explicit["birth"]["qualname"] == "charge"
        assert explicit["birth"]["snippet"].startswith("def charge(card, amount):")
        assert len(explicit["birth"]["bodyHash"]) == 16
        assert explicit["refused"] == [
            {"file": "shop/util.py", "qualname": "plain", "ordinal": 0, "id": "shop/util.py::plain"}
        ]
        assert [one["qualname"] for one in explicit["confirmations"]] == ["charge"]
        assert {link["target"]["id"] for link in line["links"]} == {"shop/pay.py", "shop/pay.py::charge"}
        assert ["CAUSED_BY", 0.5] in [[edge["type"], edge["weight"]] for edge in line["edges"]]
        assert [entry["op"] for entry in line["history"]][:2] == ["memory.put", "anchor.put"]
        assert {"clock", "op", "by", "fields"} <= set(line["history"][0])
        assert [one["memory"]["status"] for one in memories] == ["active", "forgotten", "done"]
        assert memories[2]["memory"]["id"] == third

    def test_the_history_is_that_of_get(self, shop, tmp_path):
        ids = fill(shop)
        lines = shop.lines(tmp_path / "out.jsonl")
        for memory_id, line in zip(ids, lines, strict=False):
            told = [(entry["clock"], entry["op"], entry["by"]) for entry in line["history"]]
            assert told == [(one.clock, one.op, one.by) for one in shop.detail(memory_id).history]

    def test_twice_is_the_same_bytes(self, shop, tmp_path):
        fill(shop)
        shop.export(tmp_path / "a.jsonl")
        shop.restart()
        shop.export(tmp_path / "b.jsonl")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()

    @pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
    def test_the_file_is_the_users_alone(self, shop, tmp_path):
        fill(shop)
        path = tmp_path / "out.jsonl"
        path.write_text("old")
        path.chmod(0o644)
        shop.export(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_text_that_was_edited_away_is_not_in_it(self, shop, tmp_path):
        fill(shop)
        shop.export(tmp_path / "out.jsonl")
        assert b"Old wording" not in (tmp_path / "out.jsonl").read_bytes()

    def test_purged_memories_are_never_in_it(self, shop, tmp_path):
        first, second, third = fill(shop)
        shop.run(shop.exchange.purge(first))
        data = tmp_path.joinpath("out.jsonl")
        shop.export(data)
        assert first.encode() not in data.read_bytes()
        assert [line["memory"]["id"] for line in shop.lines(data) if "memory" in line] == [second, third]

    def test_an_export_that_fails_leaves_the_old_file(self, shop, tmp_path, monkeypatch):
        fill(shop)
        path = tmp_path / "out.jsonl"
        path.write_text("old")
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(InvalidArgument, match=r"path: .*No space left"):
            shop.export(path)
        monkeypatch.undo()
        assert path.read_text() == "old"
        assert [one.name for one in tmp_path.iterdir() if one.suffix == ".tmp"] == []

    def test_an_empty_store_gives_an_empty_file_and_stays_unwritten(self, shop, tmp_path):
        assert shop.export(tmp_path / "out.jsonl").memories == 0
        assert (tmp_path / "out.jsonl").read_bytes() == b""
        assert not shop.workspace.layout.store.exists()

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes, and links need a right")
    def test_what_is_no_file_is_left_alone_and_a_link_stays(self, shop, tmp_path):
        pipe, link, circle = tmp_path / "pipe", tmp_path / "link", tmp_path / "circle"
        os.mkfifo(pipe)
        with pytest.raises(InvalidArgument, match="name a file"):
            shop.export(pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        circle.symlink_to(circle)
        for path in (circle, tmp_path / "nul\0", tmp_path / ("x" * 5_000)):
            with pytest.raises(InvalidArgument, match="path"):
                shop.export(path)
        link.symlink_to(tmp_path / "out.jsonl")
        shop.export(link)
        assert link.is_symlink()
        assert (tmp_path / "out.jsonl").is_file()

    def test_wrong_arguments_are_named(self, shop, tmp_path):
        fill(shop)
        with pytest.raises(InvalidArgument, match=r"^format: 'xml' is not one of jsonl, markdown"):
            shop.export(tmp_path / "out", "xml")
        with pytest.raises(InvalidArgument, match=r"^path: "):
            shop.export(tmp_path / "none" / "out")
        with pytest.raises(InvalidArgument, match=r"^path: .*store itself"):
            shop.export(shop.workspace.layout.store / "journal" / "abcdefghij.jsonl")


class TestRoundTrip:
    def test_all_comes_back_in_an_empty_store(self, shop, other, tmp_path):
        ids = fill(shop)
        shop.export(tmp_path / "out.jsonl")
        assert counts(other.take(tmp_path / "out.jsonl")) == (3, 3, 0, 0, 0)
        assert everything(other, ids) == everything(shop, ids)
        assert other.workspace.state.node("topic") == {"createdBy": "x"}
        other.restart()
        assert everything(other, ids) == everything(shop, ids)

    def test_what_comes_back_is_exported_the_same(self, shop, other, tmp_path):
        fill(shop)
        shop.export(tmp_path / "a.jsonl")
        other.clock.set(shop.now)
        other.take(tmp_path / "a.jsonl")
        other.export(tmp_path / "b.jsonl")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()

    def test_the_same_file_twice_changes_nothing(self, shop, other, tmp_path):
        fill(shop)
        shop.export(tmp_path / "out.jsonl")
        other.take(tmp_path / "out.jsonl")
        before = other.journal_bytes()
        other.clock.advance(1000)
        assert counts(other.take(tmp_path / "out.jsonl")) == (3, 0, 0, 3, 0)
        assert other.journal_bytes() == before

    def test_into_its_own_store_it_changes_nothing(self, shop, tmp_path):
        fill(shop)
        shop.export(tmp_path / "out.jsonl")
        before = shop.journal_bytes()
        assert counts(shop.take(tmp_path / "out.jsonl")) == (3, 0, 0, 3, 0)
        assert shop.journal_bytes() == before

    def test_a_dry_run_tells_the_same_and_writes_nothing(self, shop, other, tmp_path):
        fill(shop)
        shop.export(tmp_path / "out.jsonl")
        dry = other.take(tmp_path / "out.jsonl", dry_run=True)
        assert not other.workspace.layout.store.exists()
        assert dry == other.take(tmp_path / "out.jsonl")
        assert counts(dry) == (3, 3, 0, 0, 0)

    def test_an_import_that_was_cut_off_anywhere_is_completed_by_the_next(self, shop, make, tmp_path):
        """A process that is killed while it writes leaves some of a batch's lines."""
        ids = fill(shop)
        shop.export(tmp_path / "out.jsonl")
        other = make("cut")
        other.take(tmp_path / "out.jsonl")
        other.close()
        (segment,) = (other.root / ".mnemolens" / "journal").glob("*.jsonl")
        whole = segment.read_bytes()
        cuts = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
        for cut in (*cuts[::3], len(whole) - 20, cuts[0] + 40):
            segment.write_bytes(whole[:cut])
            other.workspace = other.start()
            for one in ids:
                memory = other.workspace.state.memory(one)
                assert memory is None or memory.content == shop.detail(one).view.memory.content
            other.take(tmp_path / "out.jsonl")
            assert everything(other, ids) == everything(shop, ids)
            other.close()
        other.workspace = other.start()

    def test_an_import_does_not_stop_others_from_writing(self, other, tmp_path):
        lines = ({"memory": {"id": f"i{n}", "content": f"number {n}"}} for n in range(300))
        path = write_lines(tmp_path / "x.jsonl", *lines)

        async def both():
            task = asyncio.ensure_future(other.exchange.import_file(path, other.now))
            for n in range(20):
                await asyncio.sleep(0)
                request = CaptureRequest(f"captured {n}")
                await other.workspace.journaling.commit(other.workspace.writing.capture(request, other.now))
            return await task

        assert counts(other.run(both())) == (300, 300, 0, 0, 0)
        other.restart()
        assert other.workspace.listing.page(_all(), other.now).total == 320


class TestMerge:
    def test_the_newer_edit_wins_whichever_side_made_it(self, shop, other, tmp_path):
        memory = shop.remember("content", title="T", tags=("a",), metadata={"k": 1, "l": 1})
        shop.export(tmp_path / "1.jsonl")
        other.take(tmp_path / "1.jsonl")
        shop.clock.advance(10)
        shop.commit(
            shop.workspace.writing.update(memory, {"title": "older title", "metadata": {"k": 2}}, shop.now)
        )
        other.clock.advance(20)
        changes = {"title": "newer title", "importance": 0.1, "metadata": {"l": 2}}
        other.commit(other.workspace.writing.update(memory, changes, other.now))
        shop.clock.advance(20)
        shop.commit(shop.workspace.writing.update(memory, {"tags": ["b"]}, shop.now))

        shop.export(tmp_path / "2.jsonl")
        other.export(tmp_path / "3.jsonl")
        assert counts(other.take(tmp_path / "2.jsonl")) == (1, 0, 1, 0, 0)
        assert counts(shop.take(tmp_path / "3.jsonl")) == (1, 0, 1, 0, 0)
        for one in (shop, other):
            found = one.detail(memory).view.memory
            assert (found.title, found.tags, found.importance) == ("newer title", ("b",), 0.1)
            assert found.metadata == {"k": 2, "l": 2}
        assert everything(shop, [memory]) == everything(other, [memory])

    def test_an_older_copy_takes_nothing_back(self, shop, tmp_path):
        first, second, third = fill(shop)
        shop.export(tmp_path / "old.jsonl")
        shop.clock.advance(5)
        shop.commit(
            shop.workspace.writing.update(first, {"content": "new", "metadata": {"k": None}}, shop.now)
        )
        shop.commit(shop.workspace.writing.restore(second, shop.now))
        shop.commit(shop.workspace.attaching.unlink(first, target_id=third, edge_type="CAUSED_BY"))
        before = everything(shop, [first, second, third])
        assert counts(shop.take(tmp_path / "old.jsonl")) == (3, 0, 0, 3, 0)
        assert everything(shop, [first, second, third]) == before

    def test_an_edit_after_the_import_wins_at_once(self, shop, other, tmp_path):
        shop.clock.advance(3600)  # this machine's clock is ahead of the other's
        memory = shop.remember("content")
        shop.export(tmp_path / "out.jsonl")
        other.take(tmp_path / "out.jsonl")
        other.commit(other.workspace.writing.update(memory, {"title": "mine"}, other.now))
        assert other.detail(memory).view.memory.title == "mine"

    def test_accesses_are_counted_once(self, shop, other, tmp_path):
        memory = shop.remember("content")
        shop.run(shop.workspace.journaling.access([memory, memory], shop.now))
        shop.export(tmp_path / "1.jsonl")
        other.take(tmp_path / "1.jsonl")
        other.run(other.workspace.journaling.access([memory], other.now))
        shop.run(shop.workspace.journaling.access([memory], shop.now))
        shop.export(tmp_path / "2.jsonl")
        other.take(tmp_path / "2.jsonl")
        assert other.detail(memory).view.memory.access_count == 4
        other.restart()
        other.run(other.workspace.journaling.access([memory], other.now))
        assert other.detail(memory).view.memory.access_count == 5

    def test_a_purged_memory_does_not_come_back(self, shop, tmp_path):
        first, _, _ = fill(shop)
        shop.export(tmp_path / "out.jsonl")
        shop.run(shop.exchange.purge(first))
        report = shop.take(tmp_path / "out.jsonl")
        assert counts(report) == (2, 0, 0, 2, 1)
        assert report.skipped[0].line == 1
        assert "purged" in report.skipped[0].reason
        assert shop.workspace.state.memory(first) is None

    def test_a_clock_far_ahead_does_not_freeze_a_field(self, shop, other, tmp_path):
        memory = shop.remember("content")
        (line,) = shop.lines(tmp_path / "out.jsonl")
        for entry in line["history"]:
            entry["clock"] = f"9999999999999-0000-{entry['clock'][19:]}"
        other.take(write_lines(tmp_path / "x.jsonl", line))
        other.commit(other.workspace.writing.update(memory, {"content": "edited"}, other.now))
        assert other.detail(memory).view.memory.content == "edited"

    def test_a_value_changed_in_the_file_by_hand_is_taken_once(self, shop, tmp_path):
        memory = shop.remember("content", title="T")
        (line,) = shop.lines(tmp_path / "out.jsonl")
        line["memory"]["title"] = "by hand"
        path = write_lines(tmp_path / "x.jsonl", line)
        shop.clock.advance(1)
        assert counts(shop.take(path)) == (1, 0, 1, 0, 0)
        assert shop.detail(memory).view.memory.title == "by hand"
        assert counts(shop.take(path)) == (1, 0, 0, 1, 0)
        shop.clock.advance(1)
        shop.commit(shop.workspace.writing.update(memory, {"title": "later"}, shop.now))
        assert counts(shop.take(path)) == (1, 0, 0, 1, 0)
        assert shop.detail(memory).view.memory.title == "later"


class TestLeastForm:
    def test_content_alone_is_enough(self, shop, tmp_path):
        path = write_lines(tmp_path / "x.jsonl", {"memory": {"content": "Retry is not idempotent. More."}})
        assert counts(shop.take(path)) == (1, 1, 0, 0, 0)
        (found,) = shop.workspace.listing.page(_all(), shop.now).memories
        memory = found.memory
        assert memory.content == "Retry is not idempotent. More."
        assert memory.title == "Retry is not idempotent. More."
        assert (memory.type, memory.importance, memory.status) == ("semantic", 0.5, "active")
        assert memory.created_at == shop.now
        assert len(memory.id) == 26

    def test_all_fields_are_taken(self, shop, tmp_path):
        given = {
            "id": "m-1",
            "type": "procedural",
            "title": "T",
            "content": "C",
            "tags": ["x", "y"],
            "metadata": {"snake_key": {"camelKey": 1}},
            "importance": 0.75,
            "pinned": True,
            "createdAt": "2020-02-03T04:05:06+01:00",
            "sessionId": "s",
            "agentId": "a",
            "author": "Ana",
            "parentId": "p",
            "expiresAt": "2030-01-01T00:00:00Z",
            "dueAt": "2029-01-01T00:00:00Z",
            "trigger": {"on": "merge", "branch": "main"},
            "status": "done",
            "accessCount": 4,
        }
        shop.take(write_lines(tmp_path / "x.jsonl", {"memory": given}))
        memory = shop.detail("m-1").view.memory
        assert memory.created_at == datetime(2020, 2, 3, 3, 5, 6, tzinfo=UTC)
        assert (memory.type, memory.title, memory.tags) == ("procedural", "T", ("x", "y"))
        assert memory.metadata == {"snake_key": {"camelKey": 1}}
        assert (memory.session_id, memory.agent_id, memory.author, memory.parent_id) == ("s", "a", "Ana", "p")
        assert (memory.importance, memory.pinned, memory.status) == (0.75, True, "done")
        assert memory.expires_at == datetime(2030, 1, 1, tzinfo=UTC)
        assert memory.trigger == {"on": "merge", "branch": "main"}
        assert memory.access_count == 4

    def test_it_is_put_where_it_says(self, shop, tmp_path):
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": "by line"}, "at": {"file": "shop/pay.py", "line": 6}},
            {"memory": {"content": "by name"}, "at": {"file": "shop/pay.py", "qualname": "Refund.run"}},
            {"memory": {"content": "by file"}, "at": {"file": "shop/pay.py"}},
            {"memory": {"content": "def line"}, "at": {"file": "shop/pay.py", "line": 11}},
        )
        report = shop.take(path)
        assert (report.new, report.warnings) == (4, ())
        on = {
            one.memory.content: shop.detail(one.memory.id)
            for one in shop.workspace.listing.page(_all(), shop.now).memories
        }
        assert {text: [a.at.id for a in detail.anchors] for text, detail in on.items()} == {
            "by line": ["shop/pay.py::charge"],
            "by name": ["shop/pay.py::Refund.run"],
            "by file": ["shop/pay.py"],
            "def line": ["shop/pay.py::Refund.run"],
        }
        assert on["by line"].view.verdict == "fresh"

    def test_code_that_is_not_here_is_a_warning(self, shop, tmp_path):
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": "one"}, "at": {"file": "gone.py", "line": 6}},
            {"memory": {"content": "two"}, "at": {"file": "shop/pay.py", "qualname": "nothing"}},
        )
        report = shop.take(path)
        assert counts(report) == (2, 2, 0, 0, 0)
        assert [(one.line, one.reason[:26]) for one in report.warnings] == [
            (1, "at: there is no file gone."),
            (2, "at: shop/pay.py has no not"),
        ]

    def test_twice_changes_nothing_whatever_was_done_to_it_meanwhile(self, shop, tmp_path):
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": "one"}, "at": {"file": "shop/pay.py", "line": 6}},
            {"memory": {"content": "two `charge()`", "createdAt": "2024-01-01T00:00:00Z", "tags": ["t"]}},
            {"memory": {"id": "x", "content": "three", "metadata": {"k": 1}}},
            {"memory": {"content": "one"}, "at": {"file": "shop/pay.py", "line": 6}},
        )
        assert counts(shop.take(path)) == (3, 3, 0, 0, 0)
        shop.run(shop.workspace.tick(shop.now))
        before = shop.journal_bytes()
        assert counts(shop.take(path)) == (3, 0, 0, 3, 0)
        assert shop.journal_bytes() == before
        ids = {
            one.memory.content: one.memory.id
            for one in shop.workspace.listing.page(_all(), shop.now).memories
        }
        shop.clock.advance(1)
        shop.commit(shop.workspace.writing.update(ids["one"], {"content": "edited"}, shop.now))
        shop.commit(
            shop.workspace.writing.update("x", {"content": "edited too", "metadata": {"k": 2}}, shop.now)
        )
        shop.commit(shop.workspace.writing.forget(ids["two `charge()`"], shop.now))
        shop.write_seen("shop/pay.py", "# moved\n" * 20 + PAY)
        shop.clock.advance(1)
        before = shop.journal_bytes()
        assert counts(shop.take(path)) == (3, 0, 0, 3, 0)
        assert shop.journal_bytes() == before

    def test_what_is_here_already_is_not_stored_again(self, shop, tmp_path):
        shop.remember("Same  words", "shop/pay.py", "charge")
        shop.remember("No place")
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": "Same words\n"}, "at": {"file": "shop/pay.py", "qualname": "charge"}},
            {"memory": {"content": "No place"}},
            {"memory": {"content": "No place"}, "at": {"file": "shop/pay.py", "qualname": "charge"}},
        )
        assert counts(shop.take(path)) == (3, 1, 0, 2, 0)

    def test_a_changed_line_updates_what_an_import_wrote(self, shop, tmp_path):
        path = write_lines(tmp_path / "x.jsonl", {"memory": {"id": "m", "content": "v1", "tags": ["a"]}})
        shop.take(path)
        write_lines(path, {"memory": {"id": "m", "content": "v2", "tags": ["a", "b"]}})
        assert counts(shop.take(path)) == (1, 0, 1, 0, 0)
        memory = shop.detail("m").view.memory
        assert (memory.content, memory.tags) == ("v2", ("a", "b"))
        shop.clock.advance(1)
        shop.commit(shop.workspace.writing.update("m", {"content": "mine"}, shop.now))
        write_lines(path, {"memory": {"id": "m", "content": "v3", "title": "new title"}})
        assert counts(shop.take(path)) == (1, 0, 1, 0, 0)
        memory = shop.detail("m").view.memory
        assert memory.content == "mine"

    def test_what_get_answers_can_be_imported(self, other, tmp_path):
        """Another program may have only what the wire shows: no event ids, no hashes."""
        line = {
            "memory": {"id": "m", "content": "c", "title": "t", "type": "semantic", "verdict": "fresh"},
            "anchors": [{"id": "a", "birth": {"kind": "function", "file": "shop/pay.py", "qualname": "charge",
                         "ordinal": 0, "commit": None, "branch": None}, "verdict": "fresh"}],
            "links": [],
            "edges": [{"sourceId": "m", "targetId": "n", "type": "SAME_TOPIC", "weight": 0.5,
                       "createdAt": "2026-01-01T00:00:00Z"},
                      {"sourceId": "m", "targetId": "gone", "type": "SAME_TOPIC", "weight": 1}],
            "history": [{"clock": "1790000000000-0000-abcdefghij", "op": "memory.put", "by": "Ana",
                         "fields": ["content", "title", "type"]}],
        }  # fmt: skip
        path = write_lines(tmp_path / "x.jsonl", line, {"memory": {"id": "n", "content": "d"}})
        other.clock.set(datetime(2026, 12, 1, tzinfo=UTC))
        assert counts(other.take(path)) == (2, 2, 0, 0, 0)
        detail = other.detail("m")
        assert [(a.id, a.at.id, a.verdict) for a in detail.anchors] == [("a", "shop/pay.py::charge", "fresh")]
        assert [(e.source_id, e.target_id, e.weight) for e in detail.edges] == [("m", "n", 0.5)]
        assert detail.history[0].by == "Ana"
        assert counts(other.take(path)) == (2, 0, 0, 2, 0)


class TestPaths:
    @pytest.mark.parametrize(
        "file",
        [
            "C:\\Users\\ana\\work\\my-shop\\shop\\pay.py",
            "c:/code/shop/pay.py",
            "shop\\pay.py",
            "/home/bea/other checkout/shop/pay.py",
            "/shop/pay.py",
            "file:///home/bea/x/shop/pay.py",
            "./shop/../shop/pay.py",
            "./shop/pay.py",
            "shop//./pay.py",
        ],
    )
    def test_a_path_from_elsewhere_is_found_here(self, shop, tmp_path, file):
        path = write_lines(
            tmp_path / "x.jsonl", {"memory": {"id": "m", "content": "c"}, "at": {"file": file, "line": 4}}
        )
        assert shop.take(path).warnings == ()
        (anchor,) = shop.workspace.state.anchors_of("m")
        assert anchor.birth.state.key.id == "shop/pay.py::charge"

    def test_the_own_root_is_taken_off(self, shop, tmp_path):
        file = str(shop.root / "shop" / "pay.py")
        line = {"memory": {"id": "m", "content": "c"}, "at": {"file": file}}
        shop.take(write_lines(tmp_path / "x.jsonl", line))
        assert shop.workspace.state.anchors_of("m")[0].birth.state.key.file == "shop/pay.py"

    def test_a_lossless_export_of_a_root_further_up(self, shop, make, tmp_path):
        ids = fill(shop)
        deeper = make("deep", {"pay.py": PAY, "util.py": "def plain():\n    return 1\n"})
        shop.export(tmp_path / "out.jsonl")
        lines = (tmp_path / "out.jsonl").read_text("utf-8").replace("shop/", "a/b/shop/src/")
        (tmp_path / "up.jsonl").write_text(lines, "utf-8")
        inner = make("inner", {"src/pay.py": PAY, "src/util.py": "def plain():\n    return 1\n"})
        inner.take(tmp_path / "up.jsonl")
        anchors = [a for one in ids for a in inner.workspace.state.anchors_of(one)]
        assert {anchor.birth.state.key.file for anchor in anchors} == {"src/pay.py"}
        assert inner.workspace.state.link_dropped(ids[0], "charge()", "src/util.py::plain")
        assert inner.verdict(ids[0]) == "fresh"
        assert counts(inner.take(tmp_path / "up.jsonl")) == (3, 0, 0, 3, 0)
        assert counts(deeper.take(tmp_path / "out.jsonl")) == (3, 3, 0, 0, 0)

    def test_a_lossless_export_of_a_root_further_down(self, shop, make, tmp_path):
        ids = fill(shop)
        shop.export(tmp_path / "out.jsonl")
        outer = make("outer", {f"app/{name}": text for name, text in FILES.items()})
        outer.take(tmp_path / "out.jsonl")
        anchors = [a for one in ids for a in outer.workspace.state.anchors_of(one)]
        assert {anchor.birth.state.key.file for anchor in anchors} == {"app/shop/pay.py"}

    def test_a_file_that_is_merely_gone_keeps_its_path(self, shop, other, tmp_path):
        memory = shop.remember("c", "shop/util.py", "plain")
        keeper = shop.remember("d", "shop/pay.py", "charge")
        shop.export(tmp_path / "out.jsonl")
        (other.root / "shop" / "util.py").unlink()
        (other.root / "util.py").write_text("def plain():\n    return 1\n")
        other.take(tmp_path / "out.jsonl")
        state = other.workspace.state
        assert state.anchors_of(memory)[0].birth.state.key.file == "shop/util.py"
        assert state.anchors_of(keeper)[0].birth.state.key.file == "shop/pay.py"


class TestBadInput:
    def test_a_wrong_line_is_skipped_and_named(self, shop, tmp_path):
        path = tmp_path / "x.jsonl"
        path.write_bytes(
            b'\xef\xbb\xbf{"memory": {"content": "one"}}\r\n'
            b"not json\n"
            b"\n"
            b"[1]\n"
            b'{"memory": {"title": "no content"}}\n'
            b'{"memory": {"content": "c", "importance": 7}}\n'
            b'{"memory": {"content": "c", "type": "poem"}}\n'
            b'{"memory": {"content": "c", "createdAt": "yesterday"}}\n'
            b'{"memory": {"content": 5}}\n'
            b'{"memory": "text"}\n'
            b'{"memory": {"content": "c"}, "at": {"file": "shop/pay.py", "line": 0}}\n'
            b'{"memory": {"content": "c", "tags": "t"}}\n'
            b'{"memory": {"content": "\xff"}}\n'
            b'{"memory": {"content": "last"}}'
        )
        report = shop.take(path)
        assert counts(report) == (2, 2, 0, 0, 11)
        reasons = {one.line: one.reason for one in report.skipped}
        assert list(reasons) == [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
        for number, words in {
            2: "not JSON", 4: "array", 5: "content", 6: "importance", 7: "type", 8: "createdAt",
            9: "content", 10: "memory", 11: "line", 12: "tags", 13: "UTF-8",
        }.items():  # fmt: skip
            assert words in reasons[number], reasons[number]
        assert shop.workspace.listing.page(_all(), shop.now).total == 2

    def test_the_bounds_are_those_of_a_capture(self, shop, tmp_path):
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": "x" * 1_000_001}},
            {"memory": {"content": "x" * 1_000_000}},
            {"memory": {"content": "y", "title": "t" * 301}},
            {"memory": {"content": "z", "metadata": {"k": "m" * 100_001}}},
        )
        report = shop.take(path)
        assert [one.line for one in report.skipped] == [1, 3, 4]
        assert "1,000,000" in report.skipped[0].reason
        assert report.new == 1

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"\x7fELF\x02\x01\x00\x00" + bytes(range(256)) * 20, "binary"),
            (b'[\n  {"memory": {"content": "c"}}\n]\n', "JSON array"),
            (b'[{"memory": {"content": "c"}}]', "JSON array"),
            (b'{"id": 1, "text": "a"}\n{"id": 2, "text": "b"}\n', 'no "memory" object'),
            (b"# Memories\n\nsome text\n", "not JSON"),
            ('{"memory": {"content": "c"}}'.encode("utf-16"), "binary"),
            (b"[" * 100_000, "JSON array"),
        ],
    )
    def test_a_foreign_file_is_one_error_and_nothing_is_stored(self, shop, tmp_path, data, words):
        path = tmp_path / "x.jsonl"
        path.write_bytes(data)
        with pytest.raises(InvalidArgument, match=rf"^path: x\.jsonl holds no memories: .*{words}"):
            shop.take(path)
        assert not shop.workspace.layout.store.exists()

    def test_no_file_and_a_folder_are_named(self, shop, tmp_path):
        with pytest.raises(InvalidArgument, match=r"^path: .*No such file"):
            shop.take(tmp_path / "none.jsonl")
        with pytest.raises(InvalidArgument, match=r"^path: .*is no file"):
            shop.take(tmp_path)

    def test_an_empty_file_is_an_empty_export(self, shop, tmp_path):
        (tmp_path / "x.jsonl").write_bytes(b"\n")
        assert counts(shop.take(tmp_path / "x.jsonl")) == (0, 0, 0, 0, 0)
        assert not shop.workspace.layout.store.exists()

    def test_broken_parts_of_a_lossless_line_do_not_cost_the_memory(self, shop, other, tmp_path):
        first, _, _ = fill(shop)
        line = shop.lines(tmp_path / "out.jsonl")[0]
        line["anchors"] = [
            {"id": 5},
            "x",
            None,
            {"birth": {"file": 7}},
            {"id": "q", "aliases": [{"file": 1}]},
        ]
        line["edges"] = [None, {"sourceId": first, "targetId": 4}, {"type": []}]
        line["links"] = "none"
        line["history"] += [
            5,
            {},
            {"op": "memory.purge", "clock": "1790000000000-0000-abcdefghij"},
            {"op": []},
        ]
        line["events"] = {"a": 1}
        report = other.take(write_lines(tmp_path / "x.jsonl", line))
        assert (report.new, len(report.skipped)) == (1, 0)
        assert other.detail(first).view.memory.title == "Retry"

    def test_a_secret_is_refused_with_its_line(self, shop, other, tmp_path):
        token = "ghp_" + "A1b2C3d4E5f6G7h8I9" * 2
        kept = shop.remember("clean words", tags=("t",))
        shop.clock.advance(1)
        shop.events(put_memory(kept, {}, tags_add=[token]), put_memory(kept, {}, tags_remove=[token]))
        lossless = shop.lines(tmp_path / "out.jsonl")
        path = write_lines(
            tmp_path / "x.jsonl",
            {"memory": {"content": f"use {token}"}},
            {"memory": {"content": "x", "metadata": {"deploy": {"key": token}}}},
            {"memory": {"content": "no API key here"}},
            *lossless,
        )
        report = other.take(path, gate=refuse_secrets)
        assert counts(report) == (1, 1, 0, 0, 3)
        assert [one.line for one in report.skipped] == [1, 2, 4]
        assert report.skipped[0].reason.startswith("content: looks like it holds a GitHub token")
        assert token not in str(report)
        assert token.encode() not in all_bytes(other.workspace.layout.store)
        assert counts(other.take(path)) == (4, 3, 0, 1, 0)

    def test_thousands_cost_few_fsyncs(self, shop, tmp_path, monkeypatch):
        lines = ({"memory": {"content": f"memory number {n}"}} for n in range(5000))
        path = write_lines(tmp_path / "x.jsonl", *lines)
        shop.remember("first")  # its segment is there
        synced = []
        real = os.fsync
        monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), real(fd)))
        assert counts(shop.take(path)) == (5000, 5000, 0, 0, 0)
        assert len(synced) == 3


class TestMarkdown:
    def test_it_is_grouped_by_file_and_symbol_with_words(self, shop, tmp_path):
        shop.remember("Retry is dangerous.", "shop/pay.py", "charge", author="Ana", tags=("money",))
        shop.remember("Runs nightly.", "shop/pay.py", "Refund")
        shop.remember("Anything.")
        gone = shop.remember("Of old code.", "shop/util.py", "plain")
        hidden = shop.remember("hidden words")
        shop.commit(shop.workspace.writing.forget(hidden, shop.now))
        shop.write_seen("shop/util.py", "x = 1\n")
        report = shop.export(tmp_path / "out.md", "markdown")
        assert report.memories == 4
        assert shop.verdict(gone) == "lost"
        text = (tmp_path / "out.md").read_text("utf-8")
        headings = [line for line in text.splitlines() if line.startswith("#")]
        assert headings == [
            "# Memories of shop\\-a" if "shop\\-a" in text else "# Memories of shop-a",
            "## `shop/pay.py`",
            "### `Refund`",
            "#### Runs nightly\\." if "nightly\\." in text else "#### Runs nightly.",
            "### `charge()`",
            "#### Retry is dangerous.",
            "## `shop/util.py`",
            "### `plain()`",
            "#### Of old code.",
            "## On no code",
            "#### Anything.",
        ]
        assert "fresh · semantic · 2026-03-01 · by Ana · tags `money`" in text
        assert "lost: its code is gone" in text
        assert "hidden words" not in text

    def test_memory_text_stays_text(self, shop, tmp_path):
        evil = "# Heading\n\n[x](command:evil)\n<b>bold</b>\n```\ncode\n---\n![i](http://x.y/z.png)"
        shop.remember(evil, title="[t](command:evil) # <i>")
        shop.export(tmp_path / "out.md", "markdown")
        tokens = MarkdownIt("gfm-like").parse((tmp_path / "out.md").read_text("utf-8"))
        kinds = {token.type for token in tokens}
        inner = {child.type for token in tokens for child in token.children or ()}
        assert "fence" not in kinds
        assert "html_block" not in kinds
        assert not inner & {"link_open", "html_inline", "image", "code_block"}
        assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2", "h4"]


class TestPurge:
    def test_the_text_is_nowhere_and_the_answer_says_where_it_was(self, shop):
        secret = "correct horse battery staple"
        memory = shop.remember(f"{secret} `charge()`", "shop/pay.py", "charge", metadata={"hint": secret})
        kept = shop.remember("kept words", "shop/pay.py", "charge")
        shop.commit(shop.workspace.writing.update(memory, {"title": f"Again {secret}"}, shop.now))
        shop.run(shop.workspace.opened.open([memory], shop.now))
        store = shop.workspace.layout.store
        assert secret.encode() in all_bytes(store)
        report = shop.run(shop.exchange.purge(memory))
        assert report.pending == ()
        assert sorted(name.rpartition(".")[2] for name in report.removed) == ["jsonl", "md"]
        assert secret.encode() not in all_bytes(store)
        assert shop.detail(kept).view.memory.content == "kept words"
        with pytest.raises(NotFound):
            shop.detail(memory)
        after = shop.remember("written after", "shop/pay.py", "charge")
        shop.restart()
        assert shop.detail(after).view.memory.content == "written after"
        assert shop.detail(kept).view.memory.content == "kept words"

    def test_a_graph_that_a_dead_process_left_holds_it_no_more(self, shop):
        memory = shop.remember("correct horse battery staple")
        slot = take_slot(shop.workspace.layout.cache_dir / "graphs" / "another worktree")
        slot.file.write_text("correct horse battery staple")
        slot.release()
        shop.run(shop.exchange.purge(memory))
        assert not slot.file.exists()

    def test_an_unknown_memory_is_named(self, shop):
        with pytest.raises(NotFound, match=r"^id: no memory 'x'"):
            shop.run(shop.exchange.purge("x"))


class TestCopies:
    @pytest.fixture
    def repo(self, make):
        folder = make("repo", {})
        folder.close()
        for arguments in (
            ["init", "-q", "-b", "main"],
            ["-c", "user.name=Ana", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one"],
            ["remote", "add", "origin", "https://example.com/shop"],
        ):
            subprocess.run(["git", *arguments], cwd=folder.root, check=True, capture_output=True)
        for name, text in FILES.items():
            folder.write(name, text)
        folder.workspace = folder.start()
        return folder

    def again(self, repo, make):
        """A second clone, without a store."""
        shutil.copytree(repo.root / ".git", repo.root.parent / "git-copy", symlinks=True)
        shutil.rmtree(repo.root.parent / "git-copy" / "mnemolens")
        folder = make("clone")
        folder.close()
        (repo.root.parent / "git-copy").rename(folder.root / ".git")
        folder.workspace = folder.start()
        return folder

    def test_nothing_is_written_before_the_first_capture(self, repo, tmp_path):
        assert repo.run(repo.exchange.daily_copy(repo.now)) is None
        assert not (tmp_path / "data").exists()
        assert not repo.workspace.layout.store.exists()

    def test_a_clone_gets_all_of_it_back_when_the_user_says_so(self, repo, make, tmp_path):
        ids = fill(repo)
        copy = repo.run(repo.exchange.daily_copy(repo.now))
        assert copy.path.is_relative_to(tmp_path / "data")
        assert repo.run(repo.exchange.daily_copy(repo.now)) is None
        assert repo.run(repo.exchange.offer()) is None
        clone = self.again(repo, make)
        offered = clone.run(clone.exchange.offer())
        assert offered == copy
        assert not clone.workspace.layout.store.exists()
        assert counts(clone.take(offered.path)) == (3, 3, 0, 0, 0)
        assert everything(clone, ids) == everything(repo, ids)
        assert clone.verdict(ids[0]) == "fresh"
        assert clone.run(clone.exchange.offer()) is None

    def test_a_copy_is_made_each_day(self, repo):
        repo.remember("first day")
        one = repo.run(repo.exchange.daily_copy(repo.now))
        repo.clock.advance(24 * 3600)
        repo.remember("second day")
        two = repo.run(repo.exchange.daily_copy(repo.now))
        assert b"second day" not in one.path.read_bytes()
        assert b"second day" in two.path.read_bytes()

    def test_a_purge_reaches_the_copies(self, repo, tmp_path):
        secret = "correct horse battery staple"
        memory = repo.remember(secret, metadata={"k": secret})
        kept = repo.remember("kept words")
        repo.commit(
            repo.workspace.attaching.link(memory, target_id=kept, edge_type="SAME_TOPIC", now=repo.now)
        )
        copy = repo.run(repo.exchange.daily_copy(repo.now))
        assert secret.encode() in copy.path.read_bytes()
        report = repo.run(repo.exchange.purge(memory))
        assert copy.path.name in report.removed
        assert secret.encode() not in all_bytes(tmp_path)
        assert b"kept words" in copy.path.read_bytes()

    def test_an_edge_to_a_memory_that_is_gone_from_the_file_is_not_taken(self, repo, make):
        first, second = repo.remember("one"), repo.remember("two")
        repo.commit(
            repo.workspace.attaching.link(first, target_id=second, edge_type="SAME_TOPIC", now=repo.now)
        )
        copy = repo.run(repo.exchange.daily_copy(repo.now))
        repo.run(repo.exchange.purge(first))
        clone = self.again(repo, make)
        clone.take(copy.path)
        assert clone.detail(second).edges == ()

    def test_without_git_there_are_no_copies(self, shop, tmp_path):
        shop.remember("words")
        assert shop.run(shop.exchange.daily_copy(shop.now)) is None
        assert shop.run(shop.exchange.offer()) is None
        assert not (tmp_path / "data").exists()


PLACES = [Place(file="a.py", qualname=name, ordinal=0) for name in "fg"]
IDS = ["m1", "m2", "m3"]


def birth(place, body):
    return BirthRecord(
        file=place.file, qualname=place.qualname, ordinal=0, kind="function", signature="def f()",
        full_hash=body, body_hash=body, fingerprint="AA", token_count=3, neighbours=("", "g"),
        snippet=f"def f(): {body}", commit="c1", branch=None, algo=1,
    )  # fmt: skip


@st.composite
def one_event(draw):
    """What a store may hold: of each op, about three memories with two anchors each."""
    memory, other, text = draw(st.sampled_from(IDS)), draw(st.sampled_from(IDS)), draw(st.sampled_from("xyz"))
    anchor = f"{draw(st.sampled_from('ab'))}-{memory}"
    new = f"{draw(st.sampled_from('abc'))}-{memory}"
    place, key = draw(st.sampled_from(PLACES)), draw(st.sampled_from("kl"))
    at = {"anchor": anchor, "place": place, "body_hash": text, "fingerprint": "AA"}
    whole = {"type": "semantic", "title": text, "content": f"content {text}", "created_at": START}
    evidence = EvidenceRecord(field="content", start=0, end=1, rule="call", text=text)
    return draw(
        st.sampled_from(
            [
                put_memory(memory, whole, metadata={key: text}, tags_add=[text], by="Ana"),
                put_memory(memory, {"title": text, "expires_at": None}, metadata={key: None}),
                put_memory(memory, {"importance": 0.25, "due_at": START}, tags_remove=[text]),
                MemoryForget(memory=memory, by=text),
                MemoryRestore(memory=memory),
                MemoryDone(memory=memory),
                MemoryAccess(counts={memory: 3, other: 2}, at=START + timedelta(days=ord(text))),
                MemoryTogether(memories=(memory, other), rate=0.25),
                AnchorPut(anchor=new, memory=memory, birth=birth(place, text)),
                AnchorPut(anchor=new, memory=memory, birth=birth(place, text), supersedes=f"a-{memory}"),
                AnchorPut(
                    anchor=new, memory=memory, birth=birth(place, text), context="content_name_match",
                    relevance=0.8, rule="call", evidence=evidence,
                ),
                AnchorDrop(anchor=anchor),
                AnchorAlias(**at),
                AnchorUnalias(**at, by="Bea"),
                AnchorConfirm(**at),
                LinkDrop(memory=memory, evidence=text, name="a.py::f"),
                LinkAllow(memory=memory, evidence=text, name="a.py::f"),
                EdgePut(source=memory, target=other, type="CAUSED_BY", weight=0.5, created_at=START),
                EdgePut(source=memory, target=other, type="CO_ACTIVATED", weight=0.5),
                EdgeDrop(source=memory, target=other, type="CAUSED_BY"),
                NodePut(node=memory, meta={"someKey": {"innerKey": text}}),
                NodeDrop(node=memory),
                SuggestionRefuse(memory=memory, place=place),
            ]
        )
    )  # fmt: skip


def happened(data, writer, first):
    """Events of one writer, a minute apart."""
    moments = (START + timedelta(seconds=first + 60 * n) for n in range(len(data)))
    return [
        Event(f"{writer}{first}-{n}", reading_at(moment, writer), one)
        for n, (moment, one) in enumerate(zip(moments, data, strict=True))
    ]


class Store:
    """A journal in memory."""

    def __init__(self):
        self.events = []
        self.state = MergedState()

    def add(self, events):
        self.events += events
        self.state.apply(events)

    def lines(self):
        return [json.loads(encode(line)) for line in Export(self.events).lines()]

    def take(self, lines):
        """Imports; how many events that took."""
        ids = frozenset(id_of(line) for line in lines)
        world = World(self.state, {}, no_symbol, no_birth, lambda _: None, ids, set())
        count = 0
        for line in lines:
            items = plan(line, id_of(line), world, START + timedelta(days=1)).items
            self.add(items)
            count += len(items)
        return count

    def view(self, names):
        state = self.state
        return {
            one: (
                state.memory(one),
                state.anchors_of(one),
                state.edges_of(one),
                state.history(one),
                state.node(one),
                [state.link_dropped(one, text, "a.py::f") for text in "xyz"],
                [state.suggestion_refused(one, place.key) for place in PLACES],
            )
            for one in names
        }


def no_symbol(_file, _at):
    return None


def no_birth(_key):
    return None


WHOLE = [
    data
    for one in IDS
    for data in (
        put_memory(one, {"type": "semantic", "title": "t", "content": "c", "created_at": START}),
        AnchorPut(anchor=f"a-{one}", memory=one, birth=birth(PLACES[0], "x")),
        AnchorPut(anchor=f"b-{one}", memory=one, birth=birth(PLACES[1], "y")),
    )
]
some_events = st.lists(one_event(), max_size=20)


@settings(max_examples=60, deadline=None)
@given(some_events, some_events, some_events)
def test_what_goes_out_comes_in_and_stores_that_exchange_agree(common, mine, theirs):
    first, second = Store(), Store()
    first.add(happened([*WHOLE, *common], "aaaaaaaaaa", 0))
    lines = first.lines()
    second.take(lines)
    assert second.view(IDS) == first.view(IDS)
    assert second.take(lines) == 0
    assert second.lines() == lines
    assert first.take(lines) == 0

    first.add(happened(mine, "aaaaaaaaaa", 3600))
    second.add(happened(theirs, "bbbbbbbbbb", 3630))
    there, back = first.lines(), second.lines()
    second.take(there)
    first.take(back)
    assert second.view(IDS) == first.view(IDS)
    expected = Store()
    expected.add([*first.events, *second.events])
    assert first.view(IDS) == expected.view(IDS)
    assert first.take(second.lines()) == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("a.py"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places_in(value, path=()):
    """Where something stands in a JSON value."""
    if isinstance(value, dict | list):
        yield from [path] if path else []
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places_in(value[key], (*path, key))
    else:
        yield path


@settings(max_examples=60, deadline=None)
@given(some_events, st.data())
def test_a_line_that_is_broken_anywhere_is_taken_or_skipped(common, data):
    store, other = Store(), Store()
    store.add(happened([*WHOLE, *common], "aaaaaaaaaa", 0))
    if data.draw(st.booleans()):
        other.add(happened([*WHOLE, *common][: data.draw(st.integers(1, 20))], "aaaaaaaaaa", 0))
    before = len(other.events)
    line = store.lines()[0]
    for _ in range(2):
        path = data.draw(st.sampled_from(sorted(places_in(line), key=str)))
        inside = line
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = data.draw(json_values)
    list(paths_of(line))
    try:
        other.take([line])
    except Skip:
        return
    taken = other.events[before:]
    assert [decode_line(encode_line(e.id, e.clock, prepare(e.data))) for e in taken] == taken
    assert other.state.memory("m1") is not None or before == 0


def all_bytes(folder):
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def _all():
    return ListRequest(limit=1000)

"""Purge of CONTRACT §3: the text is gone from every segment that may be rewritten, and nothing else is."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.clock import SystemClock
from mnemolens.core.errors import StoreError
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
    MemoryDone,
    MemoryForget,
    MemoryPurge,
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
from mnemolens.store import journal as journal_module
from mnemolens.store import purge as purge_module
from mnemolens.store.journal import Journal
from mnemolens.store.layout import OlderStore
from mnemolens.store.merge import MergedState

NOW = datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
SECRET = "correct horse battery staple"
PLACE = Place(file="a.py", qualname="f", ordinal=0)


@pytest.fixture
def store(tmp_path):
    return tmp_path / ".mnemolens"


@pytest.fixture
def open_journal(store):
    """Opens journals that have read all there is, and are closed after the test."""
    opened = []

    def open_one(folder=store, **arguments):
        journal = Journal(folder, arguments.pop("base", ""), SystemClock(), **arguments)
        opened.append(journal)
        journal.load()
        return journal

    yield open_one
    for journal in opened:
        journal.close()


def create(name, text="some words", **fields):
    values = {"type": "semantic", "title": text, "content": text, "created_at": NOW} | fields
    return put_memory(name, values, metadata={"note": text}, tags_add=[text])


def anchor(name, memory, text="x", supersedes=None):
    birth = BirthRecord(
        file="a.py", qualname="f", ordinal=0, kind="function", signature="def f()", full_hash="1",
        body_hash="2", fingerprint="AA", token_count=3, neighbours=("", ""), snippet=f"def f(): {text}",
        commit=None, branch=None, algo=1,
    )  # fmt: skip
    evidence = EvidenceRecord(field="content", start=0, end=1, rule="call", text=text)
    return AnchorPut(anchor=name, memory=memory, birth=birth, evidence=evidence, supersedes=supersedes)


def write(journal, *data):
    return journal.append(data).result(timeout=60)


def purge(journal, *names):
    return journal.purge(names).result(timeout=60)


def no_room(*_args, **_kwargs):
    raise OSError(28, "No space left on device")


def all_bytes(folder):
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def segment(store, journal):
    return store / "journal" / f"{journal.writer}.jsonl"


def header(path):
    return json.loads(path.read_bytes().split(b"\n")[0])


def state_of(events):
    state = MergedState()
    state.apply(events)
    return state


def reread(store, **arguments):
    journal = Journal(store, "", SystemClock(), **arguments)
    return journal.load()


class TestOwnSegment:
    def test_the_text_is_gone_and_the_purge_stays(self, store, open_journal):
        journal = open_journal()
        write(journal, create("m1", SECRET), create("m2", "kept"), anchor("a1", "m1", SECRET))
        write(
            journal,
            LinkDrop(memory="m1", evidence=SECRET, name="a.py::f"),
            NodePut(node="m1", meta={"t": SECRET}),
        )
        assert SECRET.encode() in all_bytes(store)
        outcome = purge(journal, "m1")
        assert outcome.cleaned == ((f"{journal.writer}.jsonl",), ())
        assert [event.data for event in outcome.events] == [MemoryPurge(memory="m1")]
        assert SECRET.encode() not in all_bytes(store)
        path = segment(store, journal)
        assert header(path)["generation"] == 1
        ops = [decode_line(line).data for line in path.read_bytes().split(b"\n")[1:-1]]
        assert ops == [create("m2", "kept"), MemoryPurge(memory="m1")]

    def test_appending_goes_on_in_the_new_generation(self, store, open_journal):
        journal = open_journal()
        write(journal, create("m1", SECRET))
        purge(journal, "m1")
        writer = journal.writer
        write(journal, create("m2"))
        assert journal.writer == writer
        state = state_of(reread(store))
        assert list(state.memories()) == ["m2"]
        assert state.is_purged("m1")

    def test_counts_of_accesses_go_on_where_they_were(self, store, open_journal):
        journal = open_journal()
        write(journal, create("m1", SECRET), create("m2"))
        journal.access(["m2", "m2"], NOW).result(timeout=60)
        purge(journal, "m1")
        (event,) = journal.access(["m2"], NOW).result(timeout=60)
        assert event.data.counts == {"m2": 3}
        assert state_of(reread(store)).memory("m2").access_count == 3

    def test_a_memory_without_lines_here_leaves_the_segment_alone(self, store, open_journal):
        journal = open_journal()
        write(journal, create("m2"))
        outcome = purge(journal, "elsewhere")
        assert outcome.cleaned == ((), ())
        assert header(segment(store, journal))["generation"] == 0

    @pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
    def test_the_rewritten_segment_is_the_users_alone(self, store, open_journal):
        journal = open_journal()
        write(journal, create("m1", SECRET))
        purge(journal, "m1")
        assert stat.S_IMODE(segment(store, journal).stat().st_mode) == 0o600

    def test_a_purge_that_cannot_be_written_removes_nothing(self, store, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, create("m1", SECRET))
        monkeypatch.setattr(
            os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        with pytest.raises(StoreError, match="No space left"):
            purge(journal, "m1")
        monkeypatch.undo()
        assert list(state_of(reread(store)).memories()) == ["m1"]
        assert SECRET.encode() in all_bytes(store)

    def test_a_rewrite_without_room_is_pending_and_made_up_for_later(self, store, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, create("m1", SECRET))
        monkeypatch.setattr(purge_module, "write_whole", no_room)
        outcome = purge(journal, "m1")
        assert outcome.cleaned == ((), (f"{journal.writer}.jsonl",))
        monkeypatch.undo()
        write(journal, create("m2"))
        assert list(state_of(reread(store)).memories()) == ["m2"]
        journal.close()
        later = open_journal()
        write(later, create("m3"))
        assert SECRET.encode() not in all_bytes(store)
        assert sorted(state_of(reread(store)).memories()) == ["m2", "m3"]


class TestOthers:
    def test_a_segment_that_nobody_holds_is_cleaned_by_the_purger(self, store, open_journal):
        first, second = open_journal(), open_journal()
        write(first, create("m1", SECRET), create("m2"))
        write(second, create("m3"))
        left = segment(store, first)
        first.close()
        second.refresh()
        outcome = purge(second, "m1")
        assert outcome.cleaned == ((left.name,), ())
        assert SECRET.encode() not in all_bytes(store)
        assert header(left)["generation"] == 1
        assert sorted(state_of(reread(store)).memories()) == ["m2", "m3"]

    def test_a_segment_that_another_holds_is_pending_until_it_hears_of_it(self, store, open_journal):
        first, second = open_journal(), open_journal()
        write(first, create("m1", SECRET), create("m2"))
        write(second, create("m3"))
        second.refresh()
        held = segment(store, first)
        before = held.read_bytes()
        outcome = purge(second, "m1")
        assert outcome.cleaned == ((), (held.name,))
        assert held.read_bytes() == before
        first.refresh()
        write(first, create("m4"))  # whatever is asked of the journal later comes after it
        assert SECRET.encode() not in all_bytes(store)
        assert header(held)["generation"] == 1
        assert second.refresh() != []
        assert purge(second, "m1").cleaned == ((), ())
        assert sorted(state_of(reread(store)).memories()) == ["m2", "m3", "m4"]

    def test_a_holder_that_never_heard_of_it_is_made_up_for_by_the_next(self, store, open_journal):
        first, second = open_journal(), open_journal()
        write(first, create("m1", SECRET))
        write(second, create("m3"))
        purge(second, "m1")
        first.close()
        second.close()
        for _ in range(2):  # one for each segment
            write(open_journal(), create("m4"))
        assert SECRET.encode() not in all_bytes(store)

    def test_the_purger_cleans_what_was_pending_when_it_is_let_go(self, store, open_journal):
        first, second = open_journal(), open_journal()
        write(first, create("m1", SECRET), create("m2"))
        write(second, create("m3"))
        assert purge(second, "m1").cleaned.pending != ()
        second.refresh()
        write(second, create("m4"))
        assert SECRET.encode() in all_bytes(store)  # it is still held
        first.close()
        second.refresh()
        write(second, create("m5"))
        assert SECRET.encode() not in all_bytes(store)
        assert sorted(state_of(reread(store)).memories()) == ["m2", "m3", "m4", "m5"]

    def test_a_reader_with_old_offsets_reads_anew(self, open_journal):
        first, reader = open_journal(), open_journal()
        write(first, create("m1", SECRET), create("m2"))
        state = state_of(reader.refresh())
        purge(first, "m1")
        write(first, create("m3"))
        state.apply(reader.refresh())
        assert sorted(state.memories()) == ["m2", "m3"]
        assert state.is_purged("m1")
        assert reader.refresh() == []

    def test_a_segment_of_a_file_system_without_locks_is_never_touched(
        self, store, open_journal, monkeypatch
    ):
        monkeypatch.setattr(journal_module, "locks_trusted", lambda _folder: False)
        first = open_journal()
        write(first, create("m1", SECRET))
        left = segment(store, first)
        first.close()
        second = open_journal()
        assert purge(second, "m1").cleaned == ((), (left.name,))
        monkeypatch.undo()
        assert purge(open_journal(), "m1").cleaned == ((), (left.name,))
        assert SECRET.encode() in left.read_bytes()

    def test_an_older_store_is_cleaned_too(self, tmp_path, open_journal):
        old = open_journal(tmp_path / "old")
        write(old, create("m1", SECRET), create("m2"))
        old.close()
        older = [OlderStore(tmp_path / "old", tmp_path.as_posix())]
        journal = open_journal(tmp_path / "new", root=tmp_path.as_posix(), older=older)
        purge(journal, "m1")
        assert SECRET.encode() not in all_bytes(tmp_path)
        assert list(state_of(reread(tmp_path / "old")).memories()) == ["m2"]


class TestLines:
    def clean(self, tmp_path, *lines, purged=("m1",)):
        path = tmp_path / "abcdefghij.jsonl"
        path.write_bytes(b"".join(lines))
        done = purge_module.clean_segment(path, set(purged))
        return done, path.read_bytes()

    def line(self, data, number=1):
        event_id = f"01ARZ3NDEKTSV4RRFFQ69G5F{number:02d}"
        return encode_line(event_id, "1790000000000-0000-zzzzzzzzzz", prepare(data)) + b"\n"

    def raw(self, text):
        body = text.encode()
        return body + f',"sum":"{zlib.crc32(body):08x}"}}\n'.encode()

    def test_unknown_torn_and_corrupt_lines_are_kept(self, tmp_path):
        unknown = self.raw(
            '{"v":1,"id":"x","clock":"1790000000000-0000-zzzzzzzzzz","op":"memory.sing","data":{}'
        )
        newer = self.raw('{"v":9,"id":"x","clock":"?","op":"memory.put","data":{"memory":"m2","set":{}}')
        corrupt = self.line(create("m2")).replace(b"some", b"SOME")
        odd = b"\x00\xff garbage\r\n"
        head = b'{"v":1,"base":"","generation":4}\n'
        torn = b'{"v":1,"id":"01A'
        done, after = self.clean(
            tmp_path, head, unknown, self.line(create("m1", SECRET)), newer, corrupt, odd, b"\n", torn
        )
        assert done
        assert after == (
            b'{"v":1,"base":"","generation":5}\n' + unknown + newer + corrupt + odd + b"\n" + torn + b"\n"
        )

    def test_what_cannot_be_read_but_names_the_memory_goes_too(self, tmp_path):
        head = b'{"v":1,"base":"","generation":0}\n'
        torn = self.line(create("m1", SECRET))[:-30]
        newer = self.raw(
            f'{{"v":2,"id":"x","clock":"?","op":"memory.put","data":{{"memory":"m1","t":"{SECRET}"}}'
        )
        corrupt = self.line(create("m1", SECRET)).replace(b"horse", b"mouse")
        _, after = self.clean(tmp_path, head, newer, corrupt, torn)
        assert after == b'{"v":1,"base":"","generation":1}\n'

    def test_a_newer_header_keeps_what_it_says(self, tmp_path):
        head = b'\xef\xbb\xbf{"v":1,"base":"/x \xc3\xa4","generation":0,"later":{"a":1}}\r\n'
        _, after = self.clean(tmp_path, head, self.line(create("m1", SECRET)))
        assert after == '{"v":1,"base":"/x ä","generation":1,"later":{"a":1}}\n'.encode()

    def test_a_segment_without_header_gets_one(self, tmp_path):
        kept = self.line(create("m2"), 2)
        done, after = self.clean(tmp_path, kept, self.line(create("m1", SECRET)))
        assert done
        assert after == b'{"v":1,"base":"","generation":1}\n' + kept

    def test_an_anchor_that_replaces_another_memorys_keeps_only_that(self, tmp_path):
        head = b'{"v":1,"base":"","generation":0}\n'
        other = self.line(anchor("a2", "m2"), 2)
        line = self.line(anchor("a1", "m1", SECRET, supersedes="a2"), 3)
        _, after = self.clean(tmp_path, head, self.line(create("m2"), 4), other, line)
        assert SECRET.encode() not in after
        events = [decode_line(one) for one in after.split(b"\n")[1:-1]]
        state = state_of(events)
        assert state.is_anchor_dropped("a2")
        again, same = self.clean(tmp_path, after)
        assert (again, same) == (False, after)

    def test_an_id_inside_anothers_text_is_just_text(self, tmp_path):
        head = b'{"v":1,"base":"","generation":0}\n'
        lines = [
            self.line(create("m2", '"memory":"m1"'), 2),
            self.line(put_memory("m3", {"title": "t"}, metadata={"memory": "m1"}), 3),
            self.line(EdgePut(source="m1", target="m2", type="SAME_TOPIC", weight=1.0), 4),
        ]
        assert self.clean(tmp_path, head, *lines) == (False, head + b"".join(lines))

    @pytest.mark.parametrize("name", ['q"uote', "back\\slash", "ü:::龍", "a\nb", " ", "\u2028", "memory"])
    def test_any_id_can_be_purged(self, tmp_path, name):
        head = b'{"v":1,"base":"","generation":0}\n'
        kept = self.line(create("m2"), 2)
        _, after = self.clean(tmp_path, head, self.line(create(name, SECRET)), kept, purged=[name])
        assert after == b'{"v":1,"base":"","generation":1}\n' + kept

    def test_what_a_killed_rewrite_left_is_removed(self, tmp_path):
        left = tmp_path / "abcdefghij.tmp"
        left.write_text(SECRET)
        done, _ = self.clean(tmp_path, b'{"v":1,"base":"","generation":0}\n')
        assert not done
        assert not left.exists()


class TestDocuments:
    def test_a_document_goes_whoever_has_it_open(self, tmp_path):
        for name in ("m1.md", ".m1.md.shown", ".m1.md.0a1b2c.tmp", "..m1.md.shown.0a1b2c.tmp"):
            (tmp_path / name).write_text(SECRET)
        others = {"am1.md", "m1.md.md", ".am1.md.0a.tmp", ".m1.md.01arz3ndektsv4rrffq69g5fav", "m2.md"}
        for name in others:
            (tmp_path / name).write_text("kept")
        assert purge_module.remove_document(tmp_path, "m1.md")
        assert {path.name for path in tmp_path.iterdir()} == others
        assert not purge_module.remove_document(tmp_path, "m1.md")
        assert not purge_module.remove_document(tmp_path / "none", "m1.md")


HOLDER = """
import sys, time
from mnemolens.core.clock import SystemClock
from mnemolens.store.journal import Journal
from mnemolens.core.events import put_memory
from datetime import UTC, datetime
from pathlib import Path

journal = Journal(Path(sys.argv[1]), "", SystemClock())
journal.load()
def put(name, text):
    journal.append([put_memory(name, {"type": "semantic", "title": "t", "content": text,
                                      "created_at": datetime.now(UTC)})]).result()
put("m1", sys.argv[2])
put("m2", "kept by the other process")
print("ready", flush=True)
for command in sys.stdin:
    if command == "look\\n":
        journal.refresh()
        put("m5", "after")
        print("looked", flush=True)
"""

KILLED = """
import os, signal, sys
from mnemolens.core.clock import SystemClock
from mnemolens.store.journal import Journal
from pathlib import Path

point = sys.argv[2]
journal = Journal(Path(sys.argv[1]), "", SystemClock())
journal.load()
real_fsync, real_replace, calls = os.fsync, os.replace, []

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def fsync(fd):
    calls.append(fd)
    if point == "fsync" and len(calls) == 3:
        die()
    real_fsync(fd)

def replace(self, target):
    if point == "before":
        die()
    real_replace(self, target)
    if point == "after":
        die()
    return target

os.fsync = fsync
Path.replace = replace
if point == "write":
    import mnemolens.store.purge as purge
    def lines(path, purged):
        yield b'{"v":1,"base":"","generation":1}\\n'
        die()
    purge._rewritten = lines
journal.purge(["m1"]).result()
print("survived")
"""


def program(text, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="signals")
class TestProcesses:
    def test_another_process_cleans_its_own_segment(self, store, open_journal):
        with program(HOLDER, store, SECRET) as other:
            assert other.stdout.readline() == "ready\n"
            journal = open_journal()
            write(journal, create("m3"))
            outcome = purge(journal, "m1")
            (pending,) = outcome.cleaned.pending
            assert SECRET.encode() in (store / "journal" / pending).read_bytes()
            other.stdin.write("look\n")
            other.stdin.flush()
            assert other.stdout.readline() == "looked\n"
            assert SECRET.encode() not in all_bytes(store)
            other.stdin.close()
        assert sorted(state_of(reread(store)).memories()) == ["m2", "m3", "m5"]

    def test_the_segment_of_a_killed_process_is_cleaned(self, store, open_journal):
        with program(HOLDER, store, SECRET) as other:
            assert other.stdout.readline() == "ready\n"
            other.send_signal(signal.SIGKILL)
            other.wait()
        journal = open_journal()
        assert len(purge(journal, "m1").cleaned.removed) == 1
        assert SECRET.encode() not in all_bytes(store)
        assert list(state_of(reread(store)).memories()) == ["m2"]

    @pytest.mark.parametrize("point", ["write", "fsync", "before", "after"])
    def test_killed_in_the_middle_of_a_rewrite_nothing_is_lost(self, store, open_journal, point):
        journal = open_journal()
        write(journal, create("m1", SECRET), *(create(f"k{n}") for n in range(50)))
        journal.close()
        with program(KILLED, store, point) as killed:
            assert killed.stdout.read() == ""
            assert killed.wait() == -signal.SIGKILL
        state = state_of(reread(store))
        assert sorted(state.memories()) == sorted(f"k{n}" for n in range(50))
        assert state.is_purged("m1")
        later = open_journal()
        write(later, create("m3"))
        assert SECRET.encode() not in all_bytes(store)
        assert len(list(state_of(reread(store)).memories())) == 51


IDS = ["m1", "m2", "m3"]
ANCHORS = ["a1", "a2", "a3", "a4"]
memories = st.sampled_from(IDS)
anchors = st.sampled_from(ANCHORS)
texts = st.sampled_from(["text one", "text two", "SECRET of "])


@st.composite
def one_event(draw):
    memory, name, text = draw(memories), draw(anchors), draw(texts)
    text = f"{text} {memory}!"
    other = draw(memories)
    replaced = draw(st.sampled_from([None, f"{name}{other}"]))
    place = {"anchor": name, "place": PLACE, "body_hash": draw(st.sampled_from("123"))}
    return draw(
        st.sampled_from(
            [
                create(memory, text),
                put_memory(memory, {"title": text}, metadata={"k": text}, tags_remove=[text]),
                MemoryForget(memory=memory),
                MemoryRestore(memory=memory),
                MemoryDone(memory=memory),
                MemoryTogether(memories=(memory, other), rate=0.25),
                # An anchor has one memory: the id says which.
                anchor(
                    f"{name}{memory}",
                    memory,
                    text,
                    supersedes=replaced,
                ),
                AnchorDrop(anchor=f"{name}{memory}"),
                AnchorAlias(**place | {"anchor": f"{name}{memory}"}),
                AnchorUnalias(**place | {"anchor": f"{name}{memory}"}),
                AnchorConfirm(**place | {"anchor": f"{name}{memory}"}),
                LinkDrop(memory=memory, evidence=text, name="a.py::f"),
                LinkAllow(memory=memory, evidence=text, name="a.py::f"),
                EdgePut(source=memory, target=other, type="CAUSED_BY", weight=0.5),
                EdgeDrop(source=memory, target=other, type="CAUSED_BY"),
                NodePut(node=memory, meta={"t": text}),
                NodeDrop(node=memory),
                SuggestionRefuse(memory=memory, place=PLACE),
            ]
        )
    )


def view(state, names):
    return {
        one: (
            state.memory(one),
            state.anchors_of(one),
            state.edges_of(one),
            state.history(one),
            state.node(one),
            [state.link_dropped(one, f"{text} {one}!", "a.py::f") for text in ("text one", "SECRET of ")],
            state.suggestion_refused(one, PLACE.key),
        )
        for one in names
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), one_event()), max_size=25), memories)
def test_nothing_but_the_purged_memory_changes(written, purged):
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s"
        journals = [Journal(store, "", SystemClock()) for _ in range(2)]
        try:
            for which, data in written:
                write(journals[which], data)
            events = reread(store)
            purge_event = Event("~", "9000000000000-0000-aaaaaaaaaa", MemoryPurge(memory=purged))
            expected = view(state_of([*events, purge_event]), IDS)
            purge(journals[0], purged)
            journals[1].refresh()
        finally:
            for journal in journals:
                journal.close()
        assert view(state_of(reread(store)), IDS) == expected
        for text in ("text one", "text two", "SECRET of "):
            assert f"{text} {purged}!".encode() not in all_bytes(store)

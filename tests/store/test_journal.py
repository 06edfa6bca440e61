"""The journal of CONTRACT §3: what was acknowledged is never lost, whoever writes, however a process ends."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.clock import ManualClock, SystemClock
from mnemolens.core.errors import StoreError
from mnemolens.core.events import (
    AnchorPut,
    BirthRecord,
    Event,
    MemoryAccess,
    MemoryForget,
    decode_line,
    encode_line,
    prepare,
    put_memory,
)
from mnemolens.core.memories import Birth, CodeState
from mnemolens.core.symbols import SymbolKey
from mnemolens.store import journal as journal_module
from mnemolens.store.journal import Journal
from mnemolens.store.layout import OlderStore
from mnemolens.store.locks import FileLock
from mnemolens.store.merge import MergedState

NOW = datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    return tmp_path / ".mnemolens"


@pytest.fixture
def open_journal(store):
    """Opens journals that are closed after the test."""
    opened = []

    def open_one(folder=store, **arguments):
        journal = Journal(
            folder, arguments.pop("base", ""), arguments.pop("clock", SystemClock()), **arguments
        )
        opened.append(journal)
        return journal

    yield open_one
    for journal in opened:
        journal.close()


def forget(name):
    return MemoryForget(memory=name)


def write(journal, *names):
    """Appends one event a name; returns when they are on disk."""
    return journal.append([forget(name) for name in names]).result(timeout=60)


def names(events):
    return [event.data.memory for event in events]


def segments(store):
    return sorted((store / "journal").glob("*.jsonl"))


def line(op, data, event_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", clock="1790000000000-0000-zzzzzzzzzz", version=1):
    body = (
        f'{{"v":{version},"id":"{event_id}","clock":"{clock}","op":"{op}","data":{json.dumps(data)}'.encode()
    )
    return body + f',"sum":"{zlib.crc32(body):08x}"}}\n'.encode()


def one_event(text):
    event = decode_line(text.rstrip(b"\n"))
    assert isinstance(event, Event)
    return event


class TestFiles:
    def test_nothing_is_created_before_the_first_append(self, store, open_journal):
        journal = open_journal()
        assert journal.load() == []
        assert journal.refresh() == []
        assert journal.append([]).result() == ()
        assert journal.writer is None
        journal.close()
        assert not store.exists()

    def test_a_segment_is_a_header_and_one_event_a_line(self, store, open_journal):
        journal = open_journal()
        first, second = write(journal, "m1", "m2")
        (segment,) = segments(store)
        assert segment.name == f"{journal.writer}.jsonl"
        assert len(journal.writer) == 10
        lines = segment.read_bytes().split(b"\n")
        assert lines[0] == b'{"v":1,"base":"","generation":0}'
        assert lines[1] == encode_line(first.id, first.clock, prepare(forget("m1")))
        assert lines[2] == encode_line(second.id, second.clock, prepare(forget("m2")))
        assert lines[3:] == [b""]
        assert first.clock < second.clock
        assert first.clock.endswith(journal.writer)

    @pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
    def test_files_and_folders_are_closed_to_others(self, store, open_journal):
        before = os.umask(0)
        try:
            write(open_journal(), "m1")
        finally:
            os.umask(before)
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [store, *store.rglob("*")]}
        assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
        assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}

    def test_a_folder_store_hides_itself_from_git(self, store, open_journal):
        write(open_journal(), "m1")
        assert (store / ".gitignore").read_text() == "*\n"

    def test_a_users_own_gitignore_is_left_alone(self, store, open_journal):
        store.mkdir()
        (store / ".gitignore").write_text("mine\n")
        write(open_journal(), "m1")
        assert (store / ".gitignore").read_text() == "mine\n"

    def test_a_store_in_a_git_dir_or_in_a_folder_of_the_users_needs_none(self, tmp_path, open_journal):
        git = tmp_path / ".git"
        (git / "objects").mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        notes = tmp_path / "notes"
        notes.mkdir()
        for folder in (git / "mnemolens", notes):
            write(open_journal(folder), "m1")
            assert [path.name for path in folder.iterdir()] == ["journal"]


class TestReading:
    def test_everything_is_found_again(self, open_journal):
        journal = open_journal()
        written = write(journal, "m1", "m2")
        journal.close()
        assert open_journal().load() == list(written)

    def test_a_refresh_returns_what_others_appended_once_and_never_our_own(self, open_journal):
        one, two = open_journal(), open_journal()
        one.load(), two.load()
        mine, theirs = write(one, "m1"), write(two, "m2")
        assert one.writer != two.writer
        assert one.refresh() == list(theirs)
        assert two.refresh() == list(mine)
        assert one.refresh() == two.refresh() == []
        more = write(two, "m3", "m4")
        assert one.refresh() == list(more)

    def test_nothing_new_costs_no_reading(self, open_journal, monkeypatch):
        one, two = open_journal(), open_journal()
        write(one, "m1")
        two.load()
        monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("a file was opened"))
        assert two.refresh() == []

    def test_a_line_still_being_written_waits_for_its_end(self, store, open_journal):
        one, two = open_journal(), open_journal()
        write(one, "m1")
        two.load()
        whole = line("memory.forget", {"memory": "m2"})
        with segments(store)[0].open("ab") as file:
            file.write(whole[:50])
            file.flush()
            assert two.refresh() == []
            file.write(whole[50:])
        assert names(two.refresh()) == ["m2"]

    @pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
    def test_lines_that_cannot_be_read_are_skipped_kept_and_counted(self, store, open_journal, newline):
        (store / "journal").mkdir(parents=True)
        segment = store / "journal" / "aaaaaaaaaa.jsonl"
        good = [line("memory.forget", {"memory": f"m{one}"}, f"E{one}") for one in range(3)]
        corrupt = good[0].replace(b"m0", b"mX")
        text = b"".join(
            [
                b"\xef\xbb\xbf" + b'{"v":1,"base":"","generation":4,"later":true}\n',
                good[0],
                corrupt,
                b"\xff\xfe\x00 not utf-8 \x80\n",
                b"\x00" * 40 + b"\n",
                good[1],
                line("memory.dream", {"memory": "m"}),
                line("memory.forget", {"memory": "m"}, version=2),
                b"\n",
                good[2],
            ]
        ).replace(b"\n", newline)
        segment.write_bytes(text)
        journal = open_journal()
        assert names(journal.load()) == ["m0", "m1", "m2"]
        stats = journal.stats
        assert (stats.segments, stats.events) == (1, 3)
        damage = "torn or corrupt: its checksum does not match"
        assert list(stats.skipped) == [
            (segment.name, 3, damage),
            (segment.name, 4, damage),
            (segment.name, 5, damage),
            (segment.name, 7, "unknown op 'memory.dream'"),
            (segment.name, 8, "unknown version '2'"),
        ]
        write(journal, "m3")
        assert segments(store) == [segment]
        assert segment.read_bytes().startswith(text)
        assert names(open_journal().load()) == ["m0", "m1", "m2", "m3"]

    @pytest.mark.parametrize(
        "content", [b"", b"\n", b"garbage", b"garbage\n", b'{"v":1,"ba', b"\xef\xbb\xbf", b"[]\n"]
    )
    def test_a_segment_without_a_header_is_no_obstacle(self, store, open_journal, content):
        (store / "journal").mkdir(parents=True)
        (store / "journal" / "aaaaaaaaaa.jsonl").write_bytes(content)
        journal = open_journal()
        assert journal.load() == []
        write(journal, "m1")
        assert names(open_journal().load()) == ["m1"]

    def test_other_files_are_no_segments(self, store, open_journal):
        (store / "journal").mkdir(parents=True)
        text = b'{"v":1,"base":"","generation":0}\n' + line("memory.forget", {"memory": "m1"})
        for name in ("AAAAAAAAAA.jsonl", "aaaaaaaaaa.jsonl.tmp", "aaaaaaaaa.jsonl", "x.txt"):
            (store / "journal" / name).write_bytes(text)
        (store / "journal" / "dddddddddd.jsonl").mkdir()
        journal = open_journal()
        assert journal.load() == []
        assert [(skipped.file, skipped.line) for skipped in journal.stats.skipped] == [
            ("dddddddddd.jsonl", 0)
        ]
        write(journal, "m1")
        assert names(open_journal().load()) == ["m1"]

    def test_a_rewritten_segment_is_read_anew(self, store, open_journal):
        one, two = open_journal(), open_journal()
        written = write(one, "m1", "m2")
        assert two.load() == list(written)
        one.close()
        segment = segments(store)[0]
        lines = segment.read_bytes().splitlines(keepends=True)
        fresh = segment.with_suffix(".new")
        fresh.write_bytes(b'{"v":1,"base":"","generation":1}\n' + lines[2])
        fresh.replace(segment)
        assert two.refresh() == [written[1]]
        assert two.stats.events == 1

    def test_another_generation_is_read_anew_even_if_its_end_looks_alike(self, store, open_journal):
        one, two = open_journal(), open_journal()
        write(one, "m1", "m2")
        two.load()
        one.close()
        segment = segments(store)[0]
        _, first, second = segment.read_bytes().splitlines(keepends=True)
        event = one_event(first)
        changed = encode_line(event.id, event.clock, prepare(forget("m9"))) + b"\n"
        assert len(changed) == len(first)
        fresh = segment.with_suffix(".new")
        fresh.write_bytes(b'{"v":1,"base":"","generation":1}\n' + changed + second)
        fresh.replace(segment)
        assert names(two.refresh()) == ["m9", "m2"]

    def test_a_segment_that_was_cut_and_grew_past_its_old_end_is_read_anew(self, store, open_journal):
        one, two = open_journal(), open_journal()
        write(one, "m1", "m2")
        two.load()
        one.close()
        segment = segments(store)[0]
        lines = segment.read_bytes().splitlines(keepends=True)
        with segment.open("r+b") as file:
            file.truncate(len(lines[0] + lines[1]))
        more = line("memory.forget", {"memory": "m3" * 50}) + line("memory.forget", {"memory": "m4"})
        with segment.open("ab") as file:
            file.write(more)
        assert names(two.refresh()) == ["m1", "m3" * 50, "m4"]

    def test_a_vanished_segment_is_forgotten(self, store, open_journal):
        one, two = open_journal(), open_journal()
        write(one, "m1")
        two.load()
        one.close()
        for path in segments(store):
            path.unlink()
        assert two.refresh() == []
        assert two.stats.segments == 0


class TestSegments:
    def test_the_lowest_unlocked_segment_is_continued(self, store, open_journal):
        journals = [open_journal() for _ in range(3)]
        for number, journal in enumerate(journals):
            write(journal, f"m{number}")
        assert len(segments(store)) == 3
        lowest, middle, highest = sorted(journals, key=lambda journal: journal.writer)
        taken = middle.writer
        highest.close()
        middle.close()
        again = open_journal()
        again.load()
        write(again, "m9")
        assert again.writer == taken
        assert again.writer > lowest.writer
        assert len(segments(store)) == 3

    def test_what_another_wrote_into_the_segment_we_take_is_heard(self, open_journal):
        late, other = open_journal(), open_journal()
        assert late.load() == []
        theirs = write(other, "m1")
        other.close()
        mine = write(late, "m2")
        assert late.writer == theirs[0].writer
        assert late.refresh() == list(theirs)
        assert late.refresh() == []
        assert mine[0].clock > theirs[0].clock

    def test_a_segment_of_a_newer_version_is_read_as_far_as_it_can_be_but_not_continued(
        self, store, open_journal
    ):
        (store / "journal").mkdir(parents=True)
        newer = store / "journal" / "aaaaaaaaaa.jsonl"
        newer.write_bytes(b'{"v":2,"base":"","generation":0}\n' + line("memory.forget", {"memory": "m1"}))
        journal = open_journal()
        assert names(journal.load()) == ["m1"]
        write(journal, "m2")
        assert journal.writer != newer.stem

    def test_the_clock_continues_the_segments_even_if_the_wall_clock_was_set_back(self, open_journal):
        clock = ManualClock(NOW)
        first = open_journal(clock=clock)
        before = write(first, "m1")[0].clock
        first.close()
        clock.advance(-3600)
        second = open_journal(clock=clock)
        assert write(second, "m1")[0].clock > before

    def test_the_clock_follows_that_of_others(self, open_journal):
        ahead = open_journal(clock=ManualClock(NOW + timedelta(hours=5)))
        behind = open_journal(clock=ManualClock(NOW))
        theirs = write(ahead, "m1")[0].clock
        behind.load()
        assert write(behind, "m1")[0].clock > theirs
        theirs = write(ahead, "m2")[0].clock
        behind.refresh()
        assert write(behind, "m2")[0].clock > theirs

    def test_a_clock_days_ahead_is_not_followed(self, open_journal):
        ahead = open_journal(clock=ManualClock(NOW + timedelta(hours=25)))
        behind = open_journal(clock=ManualClock(NOW))
        write(ahead, "m1")
        behind.load()
        assert write(behind, "m1")[0].clock.startswith("1790000000000-")

    def test_where_locks_cannot_be_trusted_every_process_makes_its_own(
        self, store, open_journal, monkeypatch
    ):
        monkeypatch.setattr(journal_module, "locks_trusted", lambda _folder: False)
        one = open_journal()
        write(one, "m1")
        one.close()
        two = open_journal()
        two.load()
        write(two, "m2")
        assert len(segments(store)) == 2
        monkeypatch.undo()
        # Nor does one who trusts them, as the machine that exports the folder may, continue such a segment.
        three = open_journal()
        three.load()
        write(three, "m3")
        assert len(segments(store)) == 3
        assert sorted(names(open_journal().load())) == ["m1", "m2", "m3"]

    def test_where_locking_fails_it_goes_on_without(self, store, open_journal, monkeypatch):
        def refuse(_path):
            raise journal_module.LockUnavailable("no locks here")

        monkeypatch.setattr(FileLock, "try_acquire", refuse)
        for name in ("m1", "m2"):
            journal = open_journal()
            write(journal, name)
            journal.close()
        assert len(segments(store)) == 2
        assert b'"once":true' in segments(store)[0].read_bytes()

    def test_a_segment_that_somebody_else_wrote_to_is_left_to_them(self, store, open_journal):
        journal = open_journal()
        write(journal, "m1")
        left = segments(store)[0]
        with left.open("ab") as file:
            file.write(line("memory.forget", {"memory": "intruder"}))
        write(journal, "m2")
        assert journal.writer != left.stem
        assert names(journal.refresh()) == ["intruder"]
        assert sorted(names(open_journal().load())) == ["intruder", "m1", "m2"]

    def test_a_store_removed_under_us_is_made_again(self, store, open_journal):
        journal = open_journal()
        write(journal, "m1")
        for path in sorted(store.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        store.rmdir()
        write(journal, "m2")
        assert names(open_journal().load()) == ["m2"]

    def test_segments_of_another_base_are_rebased_and_left_alone(self, tmp_path, open_journal):
        shared = tmp_path / "shared"
        first = open_journal(shared, base="/src/project", root="/src/project")
        state = CodeState(SymbolKey("lib/a.py", "f"), "", "", "")
        birth = BirthRecord.of(Birth(state, "function", "", 1, ("", ""), "", None, 1))
        first.append([AnchorPut(anchor="a", memory="m", birth=birth)]).result(timeout=60)
        first.close()
        inner = open_journal(shared, base="/src/project/lib", root="/src/project/lib")
        assert [event.data.birth.file for event in inner.load()] == ["a.py"]
        outer = open_journal(shared, base="/src", root="/src")
        assert [event.data.birth.file for event in outer.load()] == ["project/lib/a.py"]
        elsewhere = open_journal(shared, base="/other", root="/other")
        assert [event.data.birth.file for event in elsewhere.load()] == ["../src/project/lib/a.py"]
        write(outer, "m1")
        assert outer.writer != first_name(shared, b'"/src/project"')

    def test_an_older_store_is_read_rebased_and_never_written_to(self, tmp_path, open_journal):
        older = tmp_path / "repo" / "sub" / ".mnemolens"
        first = open_journal(older)
        state = CodeState(SymbolKey("a.py", "f"), "", "", "")
        birth = BirthRecord.of(Birth(state, "function", "", 1, ("", ""), "", None, 1))
        first.append([AnchorPut(anchor="a", memory="m", birth=birth)]).result(timeout=60)
        first.close()
        before = {path: path.read_bytes() for path in older.rglob("*") if path.is_file()}
        root = (tmp_path / "repo").as_posix()
        journal = open_journal(
            tmp_path / "repo" / ".git" / "mnemolens",
            root=root,
            older=[OlderStore(older, (tmp_path / "repo" / "sub").as_posix())],
        )
        assert [event.data.birth.file for event in journal.load()] == ["sub/a.py"]
        write(journal, "m1")
        assert {path: path.read_bytes() for path in older.rglob("*") if path.is_file()} == before
        late = open_journal(older)
        write(late, "m2")
        assert names(journal.refresh()) == ["m2"]
        assert journal.stats.segments == 2


def first_name(store, needle):
    return next(path.stem for path in segments(store) if needle in path.read_bytes().split(b"\n")[0])


class TestAccesses:
    def test_accesses_are_cumulative_in_their_segment_across_processes(self, open_journal):
        first = open_journal()
        (event,) = first.access(["m1", "m2", "m1"], NOW).result(timeout=60)
        assert event.data.counts == {"m1": 2, "m2": 1}
        assert event.data.at == NOW
        (event,) = first.access(["m1"], NOW).result(timeout=60)
        assert event.data.counts == {"m1": 3}
        first.close()
        second, other = open_journal(), open_journal()
        second.load()
        (event,) = second.access(["m1"], NOW).result(timeout=60)
        assert event.data.counts == {"m1": 4}
        (event,) = other.access(["m1"], NOW).result(timeout=60)
        assert event.data.counts == {"m1": 1}
        state = MergedState()
        state.apply(put_memory_event(second))
        state.apply(open_journal().load())
        assert state.memory("m1").access_count == 5

    def test_accesses_are_not_fsynced_but_are_on_close(self, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m1")
        synced = []
        monkeypatch.setattr(os, "fsync", synced.append)
        journal.access(["m1"], NOW).result(timeout=60)
        journal.append([forget("m1")], durable=False).result(timeout=60)
        assert synced == []
        journal.close()
        assert len(synced) == 1

    def test_counts_cannot_be_written_by_hand(self, open_journal):
        with pytest.raises(ValueError, match=r"Journal.access"):
            open_journal().append([MemoryAccess(counts={"m1": 1}, at=NOW)])


def put_memory_event(journal):
    put = put_memory("m1", {"type": "semantic", "title": "T", "content": "C", "created_at": NOW})
    return journal.append([put]).result(timeout=60)


class TestGroupCommit:
    def test_appends_that_wait_share_one_fsync(self, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")
        entered, go = threading.Event(), threading.Event()
        synced = []

        def slow_sync(_descriptor):
            synced.append(1)
            entered.set()
            assert go.wait(20)

        monkeypatch.setattr(os, "fsync", slow_sync)
        first = journal.append([forget("m1")])
        assert entered.wait(20)
        waiting = [journal.append([forget(f"m{number}")]) for number in range(2, 12)]
        assert not first.done()
        go.set()
        assert [names(future.result(timeout=60)) for future in waiting] == [[f"m{n}"] for n in range(2, 12)]
        assert len(synced) == 2
        assert names(open_journal().load()) == [f"m{number}" for number in range(12)]

    def test_many_threads_lose_nothing(self, open_journal):
        journal = open_journal()
        threads = [
            threading.Thread(target=lambda t=t: [write(journal, f"{t}-{n}") for n in range(20)])
            for t in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = open_journal().load()
        assert sorted(names(found)) == sorted(f"{t}-{n}" for t in range(4) for n in range(20))
        assert len({event.clock for event in found}) == 80

    def test_a_cancelled_append_that_has_not_begun_is_not_written(self, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")
        entered, go = threading.Event(), threading.Event()
        monkeypatch.setattr(os, "fsync", lambda _: (entered.set(), go.wait(20)))
        journal.append([forget("m1")])
        assert entered.wait(20)
        doomed = journal.append([forget("m2")])
        assert doomed.cancel()
        go.set()
        write(journal, "m3")
        assert names(open_journal().load()) == ["m0", "m1", "m3"]

    def test_what_is_no_json_is_refused_at_once_and_nothing_of_it_is_written(self, store, open_journal):
        bad = put_memory("m1", {}).model_copy(update={"meta": {"x": object()}})
        with pytest.raises(ValueError, match="serialize"):
            open_journal().append([forget("m0"), bad])
        assert not store.exists()

    def test_close_writes_what_waits_and_may_be_called_again(self, open_journal):
        journal = open_journal()
        futures = [journal.append([forget(f"m{number}")]) for number in range(5)]
        journal.close()
        journal.close()
        assert all(future.done() for future in futures)
        assert names(open_journal().load()) == ["m0", "m1", "m2", "m3", "m4"]
        with pytest.raises(StoreError, match="closed"):
            journal.append([forget("m5")]).result()


class TestTornTails:
    def test_any_byte_cut_from_the_end_loses_at_most_the_lines_it_touches(self, tmp_path, open_journal):
        original = tmp_path / "original"
        journal = open_journal(original)
        write(journal, "m0", "m1", "m2", "m3")
        journal.close()
        (segment,) = segments(original)
        whole = segment.read_bytes()
        ends = [position + 1 for position, byte in enumerate(whole) if byte == 10][1:]  # of the four events
        copy = tmp_path / "copy"
        (copy / "journal").mkdir(parents=True)
        target = copy / "journal" / segment.name
        for length in range(len(whole) + 1):
            target.write_bytes(whole[:length])
            journal = open_journal(copy)
            expected = [f"m{number}" for number, end in enumerate(ends) if end <= length]
            assert names(journal.load()) == expected
            at_line_end = length == 0 or whole[length - 1] == 10
            assert len(journal.stats.skipped) == (0 if at_line_end else 1)

    def test_after_any_cut_the_next_append_is_whole(self, tmp_path, open_journal):
        original = tmp_path / "original"
        journal = open_journal(original)
        write(journal, "m0", "m1")
        journal.close()
        (segment,) = segments(original)
        whole = segment.read_bytes()
        copy = tmp_path / "copy"
        (copy / "journal").mkdir(parents=True)
        target = copy / "journal" / segment.name
        first_end = len(b"".join(whole.splitlines(keepends=True)[:2]))
        for length in [0, 10, 33, *range(first_end, len(whole), 5), len(whole) - 2, len(whole) - 1]:
            target.write_bytes(whole[:length])
            journal = open_journal(copy)
            journal.load()
            write(journal, "new")
            journal.close()
            found = names(open_journal(copy).load())
            # Where only the newline was cut, ending the line makes it whole again.
            expected = ["m0"] * (length >= first_end) + ["m1"] * (length == len(whole) - 1) + ["new"]
            assert found == expected
            assert segments(copy) == [target]

    def test_the_torn_line_is_kept_and_counted(self, store, open_journal):
        journal = open_journal()
        write(journal, "m0")
        journal.close()
        segment = segments(store)[0]
        with segment.open("ab") as file:
            file.write(b'{"v":1,"id":"01')
        journal = open_journal()
        journal.load()
        assert journal.stats.skipped == ((segment.name, 3, "torn: the line has no end"),)
        write(journal, "m1")
        assert [skipped.line for skipped in journal.stats.skipped] == [3]
        fresh = open_journal()
        assert names(fresh.load()) == ["m0", "m1"]
        assert [skipped.line for skipped in fresh.stats.skipped] == [3]
        assert (fresh.stats.events, journal.stats.events) == (2, 2)


class TestFullDisk:
    def fail_after(self, monkeypatch, count, code=errno.ENOSPC):
        """Lets `os.write` take `count` more bytes, then fail."""
        real, room = os.write, [count]

        def write_some(descriptor, data):
            if room[0] <= 0:
                raise OSError(code, os.strerror(code))
            part = bytes(data)[: room[0]]
            room[0] -= len(part)
            return real(descriptor, part)

        monkeypatch.setattr(os, "write", write_some)

    def test_the_partial_line_is_cut_off_and_the_next_append_works(self, store, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")
        before = segments(store)[0].read_bytes()
        self.fail_after(monkeypatch, 30)
        with pytest.raises(StoreError, match="No space left on device; nothing was stored"):
            write(journal, "m1", "m2")
        assert segments(store)[0].read_bytes() == before
        monkeypatch.undo()
        write(journal, "m3")
        assert names(open_journal().load()) == ["m0", "m3"]
        assert segments(store)[0].stem == journal.writer

    def test_a_failing_fsync_is_a_failed_append(self, store, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")
        before = segments(store)[0].read_bytes()

        def fail(_descriptor):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="Input/output error"):
            write(journal, "m1")
        monkeypatch.undo()
        assert segments(store)[0].read_bytes() == before
        write(journal, "m2")
        assert names(open_journal().load()) == ["m0", "m2"]

    def test_what_cannot_be_cut_off_is_ended_by_the_next_append(self, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")

        def fail(*_):
            raise OSError(errno.EIO, "Input/output error")

        self.fail_after(monkeypatch, 30)
        monkeypatch.setattr(os, "ftruncate", fail)
        with pytest.raises(StoreError):
            write(journal, "m1")
        monkeypatch.undo()
        write(journal, "m2")
        fresh = open_journal()
        assert names(fresh.load()) == ["m0", "m2"]
        assert len(fresh.stats.skipped) == 1

    def test_one_append_that_is_too_big_does_not_fail_the_others(self, open_journal, monkeypatch):
        journal = open_journal()
        write(journal, "m0")
        entered, go = threading.Event(), threading.Event()
        real = os.fsync
        monkeypatch.setattr(os, "fsync", lambda fd: (entered.set(), go.wait(20), real(fd)))
        journal.append([forget("m1")])
        assert entered.wait(20)
        big = journal.append([forget("x" * 5000)])
        small = journal.append([forget("m2")])
        real_write = os.write

        def refuse_big(descriptor, data):
            if len(data) > 4000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real_write(descriptor, data)

        monkeypatch.setattr(os, "write", refuse_big)
        go.set()
        with pytest.raises(StoreError):
            big.result(timeout=60)
        assert names(small.result(timeout=60)) == ["m2"]
        assert names(open_journal().load()) == ["m0", "m1", "m2"]

    def test_a_segment_that_could_not_be_begun_leaves_nothing(self, store, open_journal, monkeypatch):
        store.mkdir()
        (store / ".gitignore").write_text("*\n")
        journal = open_journal()
        self.fail_after(monkeypatch, 5)
        with pytest.raises(StoreError):
            write(journal, "m0")
        assert list((store / "journal").iterdir()) == []
        monkeypatch.undo()
        write(journal, "m1")
        assert names(open_journal().load()) == ["m1"]

    def test_a_folder_that_cannot_be_made_is_one_clear_error(self, tmp_path, open_journal):
        (tmp_path / "file").write_text("")
        journal = open_journal(tmp_path / "file" / ".mnemolens")
        assert journal.load() == []
        with pytest.raises(StoreError, match=r"can't write to .*journal: .*; nothing was stored"):
            write(journal, "m1")

    @pytest.mark.skipif(os.name == "nt", reason="RLIMIT_FSIZE")
    def test_a_real_limit_keeps_what_was_acknowledged(self, store, open_journal):
        program = """
import resource, sys
from pathlib import Path
from mnemolens.core.clock import SystemClock
from mnemolens.core.errors import StoreError
from mnemolens.core.events import MemoryForget
from mnemolens.store.journal import Journal
journal = Journal(Path(sys.argv[1]), "", SystemClock())
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
for number in range(100):
    try:
        journal.append([MemoryForget(memory=f"m{number}")]).result(timeout=60)
    except StoreError:
        break
    print(f"m{number}", flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append([MemoryForget(memory="last")]).result(timeout=60)
print("last", flush=True)
"""
        done = subprocess.run(
            [sys.executable, "-c", program, str(store)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        acknowledged = done.stdout.split()
        assert 10 < len(acknowledged) < 100
        journal = open_journal()
        assert names(journal.load()) == acknowledged
        assert journal.stats.skipped == ()


WRITER = """
import sys, time
from pathlib import Path
from mnemolens.core.clock import SystemClock
from mnemolens.core.events import MemoryForget
from mnemolens.store.journal import Journal
name, count = sys.argv[2], int(sys.argv[3])
journal = Journal(Path(sys.argv[1]), "", SystemClock())
heard = [event.data.memory for event in journal.load()]
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    journal.append([MemoryForget(memory=f"{name}{number}")]).result(timeout=60)
    heard += [event.data.memory for event in journal.refresh()]
deadline = time.monotonic() + 60
while len(heard) < count and time.monotonic() < deadline:
    heard += [event.data.memory for event in journal.refresh()]
    time.sleep(0.01)
print(" ".join(heard), flush=True)
journal.close()
"""

HOLDER = """
import os, sys, threading
from pathlib import Path
from mnemolens.core.clock import SystemClock
from mnemolens.core.events import MemoryForget
from mnemolens.store.journal import Journal
journal = Journal(Path(sys.argv[1]), "", SystemClock())
journal.append([MemoryForget(memory="acknowledged")]).result(timeout=60)
real_write = os.write
def hang(descriptor):
    print("written", flush=True)
    threading.Event().wait()
def half(descriptor, data):
    if descriptor == 1:
        return real_write(descriptor, data)
    real_write(descriptor, bytes(data)[: len(data) // 2])
    hang(descriptor)
if sys.argv[2] == "fsync":
    os.fsync = hang
else:
    os.write = half
journal.append([MemoryForget(memory="pending")]).result(timeout=60)
"""


steps = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["append", "append", "access", "refresh", "restart", "load"])
    ),
    max_size=20,
)


@given(steps)
@settings(max_examples=25, deadline=None)
def test_whatever_three_processes_do_each_hears_everything_once(plan):
    """Journals in one process exclude each other as those of three processes do."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / ".mnemolens"
        journals = [Journal(store, "", SystemClock()) for _ in range(3)]
        heard = [journal.load() for journal in journals]
        acknowledged = []
        accesses = 0
        for number, (slot, action) in enumerate([*plan, (0, "refresh"), (1, "refresh"), (2, "refresh")]):
            journal = journals[slot]
            if action == "append":
                events = journal.append([forget(f"m{number}"), forget(f"n{number}")]).result(timeout=60)
                acknowledged += events
                heard[slot] += events
            elif action == "access":
                events = journal.access(["m1"], NOW).result(timeout=60)
                accesses += 1
                acknowledged += events
                heard[slot] += events
            elif action == "refresh":
                heard[slot] += journal.refresh()
            elif action == "load":
                heard[slot] = journal.load()
            else:
                journal.close()
                journals[slot] = Journal(store, "", SystemClock())
                heard[slot] = journals[slot].load()
        expected = sorted(event.id for event in acknowledged)
        for events in heard:
            assert sorted(event.id for event in events) == expected
        state = MergedState()
        state.apply(heard[0])
        state.apply(put_memory_event(journals[0]))
        assert state.memory("m1").access_count == accesses
        for journal in journals:
            assert journal.stats.skipped == ()
            journal.close()
        assert len(segments(store)) <= 3


class TestProcesses:
    def test_two_processes_writing_at_once_lose_nothing_and_hear_each_other(self, store, open_journal):
        count = 60
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(store), name, str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in ("a", "b")
        ]
        try:
            for process in processes:
                assert process.stdout.readline() == "ready\n"
            for process in processes:
                process.stdin.write("go\n")
                process.stdin.flush()
            outputs = [process.communicate(timeout=90)[0] for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.communicate()
        assert [process.returncode for process in processes] == [0, 0]
        for output, other in zip(outputs, ("b", "a"), strict=True):
            assert output.split() == [f"{other}{number}" for number in range(count)]
        journal = open_journal()
        found = journal.load()
        assert sorted(names(found)) == sorted(f"{name}{number}" for name in "ab" for number in range(count))
        assert len({event.clock for event in found}) == len({event.id for event in found}) == 2 * count
        assert journal.stats.skipped == ()
        assert len(segments(store)) == 2

    @pytest.mark.skipif(os.name == "nt", reason="kill -9")
    @pytest.mark.parametrize(
        ("moment", "kept"), [("fsync", ["acknowledged", "pending"]), ("write", ["acknowledged"])]
    )
    def test_a_killed_process_leaves_what_it_acknowledged_and_its_segment_to_the_next(
        self, store, open_journal, moment, kept
    ):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(store), moment], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout.readline() == "written\n"
            other = open_journal()
            other.load()
            write(other, "beside")
            assert len(segments(store)) == 2
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        other.close()
        held = next(path for path in segments(store) if b"acknowledged" in path.read_bytes())
        # Make the killed one's segment the only unlocked one.
        with FileLock.try_acquire(held.parent / f"{other_name(store, held)}.lock"):
            following = open_journal()
            following.load()
            write(following, "next")
            assert following.writer == held.stem
        assert sorted(names(open_journal().load())) == sorted([*kept, "beside", "next"])

    def test_an_idle_refresh_stays_idle(self, open_journal):
        journal, other = open_journal(), open_journal()
        write(journal, "m1")
        other.load()
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline:
            assert other.refresh() == []


def other_name(store, held):
    return next(path.stem for path in segments(store) if path != held)


class TestWhatTheSystemRefuses:
    def test_a_segment_that_cannot_be_read_is_named(self, store, open_journal):
        write(open_journal(), "a")
        refused = store / "journal" / "aaaaaaaaaa.jsonl"
        refused.mkdir()  # root may read any file, but nobody can read a folder as one
        journal = open_journal()
        assert names(journal.load()) == ["a"]
        [(path, reason)] = journal.unreadable
        assert path == refused
        assert "can't be read" in reason
        refused.rmdir()
        journal.refresh()
        assert journal.unreadable == []

    def test_a_folder_that_cannot_be_listed_is_named(self, store, open_journal):
        store.mkdir()
        (store / "journal").symlink_to("journal")
        journal = open_journal()
        assert journal.load() == []
        [(path, reason)] = journal.unreadable
        assert path == store / "journal"
        assert "can't be listed" in reason

    def test_lines_that_say_nothing_are_no_such_thing(self, store, open_journal):
        write(open_journal(), "a")
        segment = next((store / "journal").glob("*.jsonl"))
        segment.write_bytes(segment.read_bytes() + b"nothing\n")
        journal = open_journal()
        journal.load()
        assert len(journal.stats.skipped) == 1
        assert journal.unreadable == []


class TestAFolderThatIsGone:
    def test_it_does_not_come_back_by_a_write(self, tmp_path, open_journal):
        project = tmp_path / "project"
        project.mkdir()
        journal = open_journal(project / ".mnemolens", owner=project)
        write(journal, "a")
        project.rename(tmp_path / "elsewhere")
        with pytest.raises(StoreError, match="project does not exist any more; nothing was stored"):
            write(journal, "b")
        with pytest.raises(StoreError, match="does not exist any more"):
            journal.access(["a"], NOW).result()
        assert not project.exists()
        (tmp_path / "elsewhere").rename(project)
        assert names(write(journal, "c")) == ["c"]
        assert sorted(names(open_journal(project / ".mnemolens").load())) == ["a", "c"]

    def test_a_store_that_alone_is_gone_is_made_anew(self, tmp_path, open_journal):
        journal = open_journal(tmp_path / ".mnemolens", owner=tmp_path)
        write(journal, "a")
        (tmp_path / ".mnemolens").rename(tmp_path / "aside")
        assert names(write(journal, "b")) == ["b"]

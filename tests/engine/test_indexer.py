"""Indexing a folder: what is found, what is read again, what a bad file costs, what changed on disk."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from itertools import cycle, pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from mnemolens.core.clock import ManualClock
from mnemolens.engine import indexer as indexer_module
from mnemolens.engine import loading, parsing
from mnemolens.engine.indexer import Indexer, IndexOptions, Refreshed
from mnemolens.engine.loading import Sources
from mnemolens.engine.parsing import Job, ParserPool, worker_count
from mnemolens.store.files import Skipped
from mnemolens.store.symbols import SymbolCache, decode

FAKE = dedent(
    """
    import os, time
    from mnemolens.core.symbols import FileSymbols

    def extract(source, language):
        words = source.decode().split()
        print("a stray print", flush=True)
        if "DIE" in words:
            os._exit(3)
        if "NAP" in words:
            time.sleep(0.6)
        while "SPIN" in words:
            pass
        if "HANG" in words:
            time.sleep(60)
        if "RAISE" in words:
            raise RecursionError("too deep")
        return FileSymbols(language, module_names=frozenset(words))
    """
)


ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="there only the clock limits a worker")


@pytest.fixture
def clock() -> ManualClock:
    """An hour after everything that the test writes: no file is too young to be trusted."""
    return ManualClock(datetime.now(UTC) + timedelta(hours=1))


@pytest.fixture
def cache_file(tmp_path) -> Path:
    return tmp_path / "cache" / "symbols.sqlite"


@pytest.fixture
def open_indexer(tmp_path, cache_file, clock):
    """Makes indexers of `tmp_path / "project"`, each with a connection of its own to the one cache."""
    caches = []

    def make(folder: Path | None = None, top: Path | None = None, **options) -> Indexer:
        caches.append(SymbolCache(cache_file, clock))
        top = top or tmp_path / "project"
        return Indexer(folder or top, top, caches[-1], clock, options=IndexOptions(**options))

    yield make
    for cache in caches:
        cache.close()


@pytest.fixture
def project(tmp_path):
    """Writes files of the project, and says where it is."""
    top = tmp_path / "project"
    top.mkdir()

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = top / name.replace("__", "/").replace("_py", ".py").replace("_ts", ".ts")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return top

    return write


@pytest.fixture
def fake(tmp_path, monkeypatch) -> str:
    """The name of an extractor that knows bad files, for workers too."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "fake_extractor.py").write_text(FAKE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    return "fake_extractor:extract"


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The files that were read."""
    read: list[str] = []
    really_read = Sources.read

    def note(self, path):
        read.append(path)
        return really_read(self, path)

    monkeypatch.setattr(Sources, "read", note)
    return read


def index(indexer: Indexer, **options):
    """(path -> symbols, report)."""
    found: dict = {}
    return found, indexer.run_blocking(found.update, **options)


def names(symbols) -> list[str]:
    return [symbol.qualname for symbol in symbols.symbols]


def many(count: int) -> dict[str, str]:
    return {f"pkg__m{n:04}_py": f"def f{n}():\n    return {n}\n" for n in range(count)}


class TestRun:
    def test_a_few_files_without_any_process(self, project, open_indexer, monkeypatch):
        monkeypatch.setattr(parsing.subprocess, "Popen", None)
        project(a_py="def f():\n    pass\n", sub__b_py="class C:\n    def m(self): ...\n", notes="no code")
        found, report = index(open_indexer())
        assert {path: names(symbols) for path, symbols in found.items()} == {
            "a.py": ["f"],
            "sub/b.py": ["C", "C.m"],
        }
        assert (report.files, report.symbols, report.parsed, report.skipped) == (2, 3, 2, ())

    def test_many_files_in_worker_processes(self, project, open_indexer):
        project(**many(60))
        found, report = index(open_indexer())
        assert {path: names(symbols) for path, symbols in found.items()} == {
            f"pkg/m{n:04}.py": [f"f{n}"] for n in range(60)
        }
        assert (report.files, report.symbols, report.parsed) == (60, 60, 60)

    def test_where_no_worker_starts_it_is_done_here(self, project, open_indexer, monkeypatch):
        monkeypatch.setattr(sys, "executable", os.devnull)
        project(**many(20))
        found, report = index(open_indexer())
        assert len(found) == report.parsed == 20
        assert report.skipped == ()

    def test_ranges_survive_the_way_through_a_worker(self, project, open_indexer):
        project(**many(20))
        found, _ = index(open_indexer())
        symbols = found["pkg/m0007.py"]
        assert symbols.ranges[0].name.start == (0, 4)
        assert symbols.ranges[0].name.end == (0, 6)

    def test_equal_texts_are_parsed_once(self, project, open_indexer):
        project(**{f"p{n}_py": "def same(): ...\n" for n in range(30)})
        found, report = index(open_indexer())
        assert {tuple(names(symbols)) for symbols in found.values()} == {("same",)}
        assert (len(found), report.parsed) == (30, 1)

    def test_progress_begins_at_none_and_ends_at_all(self, project, open_indexer):
        project(**many(30))
        steps: list[tuple[int, int]] = []
        open_indexer().run_blocking(lambda _: None, lambda done, total: steps.append((done, total)))
        assert steps[0] == (0, 30)
        assert steps[-1] == (30, 30)
        assert steps == sorted(steps)

    def test_settings_limit_what_is_indexed(self, project, open_indexer):
        project(a_py="x = 1", gen__b_py="x = 1", large_py="x = 1 # " + "x" * 100, c_ts="let x = 1")
        found, report = index(open_indexer(exclude=("gen/",), max_file_bytes=100, languages=("python",)))
        assert set(found) == {"a.py"}
        assert report.skipped == (Skipped("large.py", "108 bytes, more than index.maxFileBytes (100)"),)

    @pytest.mark.parametrize(
        ("choice", "files"),
        [
            ("typescript", {"a.ts", "b.tsx"}),
            ("javascript", {"c.jsx"}),
            ("go", {"d.go", "go.mod"}),
            ("rust", {"e.rs"}),
        ],
    )
    def test_a_choice_of_languages_brings_all_its_files(self, project, open_indexer, choice, files):
        top = project()
        for name in ("a.ts", "b.tsx", "c.jsx", "d.go", "go.mod", "e.rs"):
            (top / name).write_text("")
        assert set(index(open_indexer(languages=(choice,)))[0]) == files

    def test_gitignore_is_honoured(self, project, open_indexer):
        top = project(a_py="x = 1", gen__b_py="x = 1")
        (top / ".gitignore").write_text("gen/\n")
        assert set(index(open_indexer())[0]) == {"a.py"}

    def test_an_empty_folder(self, project, open_indexer):
        project()
        found, report = index(open_indexer())
        assert (found, report.files, report.symbols) == ({}, 0, 0)

    def test_the_collector_runs_again_afterwards(self, project, open_indexer):
        project(**many(3))
        index(open_indexer())
        assert gc.isenabled()


class TestBadFiles:
    def test_binary_and_undecodable_texts(self, project, open_indexer):
        top = project(good_py="def f(): ...\n")
        (top / "binary.py").write_bytes(b"\x7fELF\0\0\0")
        (top / "utf16.py").write_bytes("def f(): ...".encode("utf-16"))
        (top / "latin.py").write_bytes(b"# caf\xe9\ndef g(): ...\n")
        (top / "bom.py").write_bytes(b"\xef\xbb\xbfdef h(): ...\n")
        found, report = index(open_indexer())
        assert {path: names(symbols) for path, symbols in found.items()} == {
            "good.py": ["f"],
            "latin.py": ["g"],
            "bom.py": ["h"],
        }
        reason = "binary, or not UTF-8"
        assert set(report.skipped) == {Skipped("binary.py", reason), Skipped("utf16.py", reason)}

    def test_a_file_that_is_gone_when_it_is_read(self, project, open_indexer, monkeypatch):
        top = project(a_py="x = 1", b_py="y = 1")
        indexer = open_indexer()
        scan = indexer._finder.scan

        def scan_then_remove():
            found = scan()
            (top / "b.py").unlink()
            return found

        monkeypatch.setattr(indexer._finder, "scan", scan_then_remove)
        found, report = index(indexer)
        assert set(found) == {"a.py"}
        assert report.skipped == (Skipped("b.py", "cannot be read: No such file or directory"),)

    @pytest.mark.parametrize("count", [2, 30])
    def test_a_file_on_which_extraction_fails_is_skipped(self, project, open_indexer, fake, count):
        project(bad_py="RAISE", **many(count - 1))
        found, report = index(open_indexer(extractor=fake))
        assert len(found) == count - 1
        assert report.skipped == (Skipped("bad.py", "cannot be parsed: RecursionError: too deep"),)

    def test_a_file_that_kills_the_worker_is_skipped_and_the_rest_goes_on(self, project, open_indexer, fake):
        project(bad_py="DIE", pkg__worse_py="DIE twice", **many(40))
        found, report = index(open_indexer(extractor=fake))
        assert len(found) == 40
        reason = "the parser stopped on it (exit code 3)"
        assert set(report.skipped) == {Skipped("bad.py", reason), Skipped("pkg/worse.py", reason)}

    @pytest.mark.parametrize("way", ["HANG", pytest.param("SPIN", marks=ON_POSIX)])
    def test_a_file_that_takes_too_long_is_skipped_and_the_rest_goes_on(
        self, project, open_indexer, fake, way
    ):
        project(bad_py=way, **many(40))
        found, report = index(open_indexer(extractor=fake, time_limit=0.2))
        assert len(found) == 40
        assert report.skipped == (Skipped("bad.py", "parsing it took longer than 0.2 s"),)

    @ON_POSIX
    def test_the_limit_is_of_processor_time_not_of_the_clock(self, fake):
        with ParserPool(1, extractor=fake, time_limit=0.3) as pool:
            pool.submit(Job(0, b"NAP", "python"))
            answer = pool.next_answer(10)
        assert answer.reason is None

    def test_a_bad_file_that_is_mended_is_indexed(self, project, open_indexer, fake):
        top = project(bad_py="RAISE", **many(2))
        indexer = open_indexer(extractor=fake)
        index(indexer)
        (top / "bad.py").write_text("fine")
        changed = indexer.refresh_blocking(["bad.py"])
        assert [path for path, _ in changed.changed] == ["bad.py"]
        assert indexer.skipped == ()


class TestSecondStart:
    def test_nothing_is_read_or_parsed_when_nothing_changed(self, project, open_indexer, reads):
        project(**many(30))
        first, _ = index(open_indexer())
        reads.clear()
        second, report = index(open_indexer())
        assert second == first
        assert [symbols.ranges for symbols in second.values()] == [first[path].ranges for path in second]
        assert (reads, report.parsed, report.files) == ([], 0, 30)

    def test_only_what_changed_is_parsed(self, project, open_indexer, reads):
        top = project(**many(30))
        index(open_indexer())
        reads.clear()
        (top / "pkg/m0003.py").write_text("def changed(): ...\n")
        (top / "pkg/m0004.py").unlink()
        (top / "new.py").write_text("def new(): ...\n")
        found, report = index(open_indexer())
        assert sorted(reads) == ["new.py", "pkg/m0003.py"]
        assert report.parsed == 2
        assert names(found["pkg/m0003.py"]) == ["changed"]
        assert "pkg/m0004.py" not in found
        assert names(found["new.py"]) == ["new"]

    def test_a_change_of_the_same_length_under_the_old_time_is_seen(self, project, open_indexer):
        top = project(a_py="def f(): ...\n")
        before = (top / "a.py").stat()
        index(open_indexer())
        (top / "a.py").write_text("def g(): ...\n")
        os.utime(top / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert names(index(open_indexer())[0]["a.py"]) == ["g"]

    def test_a_file_that_was_just_written_is_read_again(self, project, open_indexer, reads, clock):
        """It might change once more within the file system's granularity, under the same time and length."""
        project(a_py="def f(): ...\n")
        clock.set(datetime.now(UTC))
        index(open_indexer())
        reads.clear()
        _, report = index(open_indexer())
        assert (reads, report.parsed) == (["a.py"], 0)

    def test_content_seen_in_another_folder_is_not_parsed_again(self, tmp_path, project, open_indexer):
        project(**many(20))
        index(open_indexer())
        (tmp_path / "project").rename(tmp_path / "elsewhere")
        found, report = index(open_indexer(top=tmp_path / "elsewhere"))
        assert (len(found), report.parsed) == (20, 0)

    def test_a_fresh_run_parses_everything(self, project, open_indexer):
        project(**many(5))
        index(open_indexer())
        _, report = index(open_indexer(), fresh=True)
        assert report.parsed == 5

    def test_another_extractor_version_parses_everything(self, project, open_indexer, monkeypatch):
        project(**many(5))
        index(open_indexer())
        monkeypatch.setattr(loading, "EXTRACTOR_VERSION", -1)
        assert index(open_indexer())[1].parsed == 5

    def test_the_stamps_of_files_outside_the_opened_folder_stay(self, tmp_path, project, open_indexer, reads):
        project(sub__a_py="def a(): ...", b_py="def b(): ...")
        index(open_indexer())
        index(open_indexer(folder=tmp_path / "project" / "sub", top=tmp_path / "project"))
        reads.clear()
        index(open_indexer())
        assert reads == []

    def test_without_a_usable_cache(self, project, open_indexer, cache_file):
        project(**many(5))
        cache_file.parent.mkdir()
        cache_file.mkdir()
        found, report = index(open_indexer())
        assert (len(found), report.parsed) == (5, 5)


class TestRefresh:
    def test_made_changed_and_removed_files(self, project, open_indexer):
        top = project(a_py="def a(): ...", b_py="def b(): ...", c_py="def c(): ...", d_py="def d(): ...")
        indexer = open_indexer()
        index(indexer)
        (top / "a.py").write_text("def a2(): ...")
        (top / "b.py").unlink()
        (top / "new.py").write_text("def new(): ...")
        (top / "d.py").write_text("def d(): ...  ")
        (top / "d.py").write_text("def d(): ...")
        result = indexer.refresh_blocking(["a.py", "b.py", "c.py", "d.py", "new.py", "never.py", "readme.md"])
        assert {path: names(symbols) for path, symbols in result.changed} == {
            "a.py": ["a2"],
            "new.py": ["new"],
        }
        assert result.removed == ("b.py",)
        assert indexer.refresh_blocking(["a.py", "b.py", "new.py"]) == Refreshed()

    def test_what_was_refreshed_is_known_at_the_next_start(self, project, open_indexer, reads):
        top = project(a_py="def a(): ...", b_py="def b(): ...")
        indexer = open_indexer()
        index(indexer)
        (top / "a.py").write_text("def a2(): ...")
        (top / "b.py").unlink()
        indexer.refresh_blocking(["a.py", "b.py"])
        reads.clear()
        found, report = index(open_indexer())
        assert (list(found), reads, report.parsed) == (["a.py"], [], 0)

    def test_ignored_files_are_not_reported(self, project, open_indexer):
        top = project(a_py="def a(): ...")
        (top / ".gitignore").write_text("gen/\n")
        indexer = open_indexer()
        index(indexer)
        project(gen__b_py="def b(): ...", node_modules__c_ts="let c = 1")
        assert indexer.refresh_blocking(["gen/b.py", "node_modules/c.ts"]) == Refreshed()

    def test_a_changed_ignore_file_looks_at_everything(self, project, open_indexer):
        top = project(a_py="def a(): ...", gen__b_py="def b(): ...", sub__c_py="def c(): ...")
        (top / ".gitignore").write_text("gen/\n")
        indexer = open_indexer()
        index(indexer)
        (top / ".gitignore").write_text("sub/\n")
        result = indexer.refresh_blocking([".gitignore"])
        assert [path for path, _ in result.changed] == ["gen/b.py"]
        assert result.removed == ("sub/c.py",)

    def test_a_folder_alone_is_named(self, project, open_indexer):
        top = project(old__a_py="def a(): ...", old__deep__b_py="def b(): ...", older__c_py="def c(): ...")
        indexer = open_indexer()
        index(indexer)
        (top / "old").rename(top / "new")
        result = indexer.refresh_blocking(["old", "new"])
        assert {path: names(symbols) for path, symbols in result.changed} == {
            "new/a.py": ["a"],
            "new/deep/b.py": ["b"],
        }
        assert result.removed == ("old/a.py", "old/deep/b.py")

    def test_without_paths_the_whole_folder(self, project, open_indexer):
        top = project(**many(30))
        indexer = open_indexer()
        index(indexer)
        (top / "pkg/m0001.py").write_text("def changed(): ...")
        (top / "pkg/m0002.py").unlink()
        result = indexer.refresh_blocking()
        assert {path: names(symbols) for path, symbols in result.changed} == {"pkg/m0001.py": ["changed"]}
        assert result.removed == ("pkg/m0002.py",)

    def test_a_file_that_became_unreadable_is_removed_with_the_reason(self, project, open_indexer):
        top = project(a_py="def a(): ...", b_py="def b(): ...", c_py="def c(): ...")
        indexer = open_indexer(max_file_bytes=100)
        index(indexer)
        (top / "a.py").write_bytes(b"\0\0")
        (top / "b.py").write_text("#" * 101)
        assert indexer.refresh_blocking(["a.py", "b.py"]) == Refreshed((), ("a.py", "b.py"))
        assert {item.file for item in indexer.skipped} == {"a.py", "b.py"}
        (top / "b.py").write_text("def b(): ...")
        assert [path for path, _ in indexer.refresh_blocking(["b.py"]).changed] == ["b.py"]
        assert [item.file for item in indexer.skipped] == ["a.py"]

    def test_anew_reports_what_did_not_change_too(self, project, open_indexer):
        project(a_py="def a(): ...", b_py="def b(): ...")
        indexer = open_indexer()
        index(indexer)
        result = indexer.refresh_blocking(["a.py", "gone.py"], anew=True)
        assert {path: names(symbols) for path, symbols in result.changed} == {"a.py": ["a"]}
        assert result.removed == ()

    def test_before_any_run_everything_is_new(self, project, open_indexer):
        project(a_py="def a(): ...")
        assert [path for path, _ in open_indexer().refresh_blocking(["a.py"]).changed] == ["a.py"]

    def test_a_thousand_files_at_once(self, project, open_indexer):
        """A checkout: everything changes, and changes back to what is known."""
        top = project(**many(1000))
        indexer = open_indexer()
        index(indexer)
        files = sorted(top.rglob("*.py"))
        before = {file: file.read_text() for file in files}
        for file in files:
            file.write_text(before[file].replace("def f", "def g"))
        paths = [file.relative_to(top).as_posix() for file in files]
        there = indexer.refresh_blocking(paths)
        assert len(there.changed) == 1000
        assert dict(there.changed)["pkg/m0999.py"].symbols[0].name == "g999"
        for file in files:
            file.write_text(before[file])
        back = indexer.refresh_blocking(paths + paths)
        assert {names(symbols)[0] for _, symbols in back.changed} == {f"f{n}" for n in range(1000)}
        assert indexer.refresh_blocking(paths) == Refreshed()


class TestOnTheLoop:
    async def test_callbacks_run_on_the_loop_and_one_at_a_time(self, project, open_indexer):
        project(**many(50))
        here = threading.get_ident()
        found: dict = {}
        threads: set[int] = set()

        def take(batch):
            threads.add(threading.get_ident())
            found.update(batch)

        report = await open_indexer().run(take, lambda *_: threads.add(threading.get_ident()))
        assert (len(found), report.files, threads) == (50, 50, {here})

    async def test_the_loop_goes_on_between_batches(self, project, open_indexer, monkeypatch):
        monkeypatch.setattr(indexer_module._Pace, "time", lambda _, on_batch, batch: on_batch(batch))
        project(**{f"p{n}_py": "\n".join(f"def f{n}_{k}(): ..." for k in range(60)) for n in range(20)})
        events: list[str] = []

        async def beat():
            while True:
                events.append("beat")
                await asyncio.sleep(0)

        beating = asyncio.create_task(beat())
        await open_indexer().run(lambda _: events.append("batch"))
        beating.cancel()
        batches = [at for at, event in enumerate(events) if event == "batch"]
        assert len(batches) >= 5
        assert all("beat" in events[a:b] for a, b in pairwise(batches))

    async def test_an_error_of_a_callback_comes_out(self, project, open_indexer):
        project(**many(3))

        def refuse(_):
            raise LookupError("no room")

        indexer = open_indexer()
        with pytest.raises(LookupError, match="no room"):
            await indexer.run(refuse)
        assert (await indexer.run(lambda _: None)).files == 3

    async def test_cancelling_stops_the_run_and_its_processes(self, project, open_indexer, fake):
        project(a_py="HANG", **many(40))
        indexer = open_indexer(extractor=fake)
        first = asyncio.Event()
        run = asyncio.create_task(indexer.run(lambda _: None, lambda *_: first.set()))
        await first.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await asyncio.wait_for(asyncio.to_thread(_until_no_threads, "mnemolens-"), 10)
        assert gc.isenabled()

    async def test_a_refresh_waits_for_the_run(self, project, open_indexer):
        top = project(**many(30))
        indexer = open_indexer()
        run = asyncio.create_task(indexer.run(lambda _: None))
        await asyncio.sleep(0)
        (top / "pkg/m0000.py").write_text("def changed_meanwhile(): ...")
        refreshed = await indexer.refresh(["pkg/m0000.py"])
        await run
        # whichever of the two read the new text, it is the last that is known
        assert all(names(symbols) == ["changed_meanwhile"] for _, symbols in refreshed.changed)
        assert await indexer.refresh() == Refreshed()


def _until_no_threads(prefix: str) -> None:
    while any(thread.name.startswith(prefix) for thread in threading.enumerate()):
        time.sleep(0.02)


class TestPace:
    def test_batches_follow_the_time_they_take(self, monkeypatch):
        seconds = cycle([0.0, 0.1])
        monkeypatch.setattr(indexer_module.time, "perf_counter", lambda: next(seconds))
        pace = indexer_module._Pace()
        file = decode(loading.extract_safely(loading.extract_named, b"def f(): ...", "python")[0])
        sizes = []
        for batch in pace.batches((f"{n}.py", file) for n in range(300)):
            sizes.append(len(batch))
            pace.time(lambda _: None, batch)
        assert sum(sizes) == 300
        assert sizes[0] > 10
        assert sizes[-2] <= 2  # each took 100 ms: they shrink as far as they can


class TestWorkers:
    def test_one_fewer_than_the_processors_but_at_least_one(self, monkeypatch):
        counts = {}
        for processors in (1, 2, 4, 64):
            monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=processors: set(range(n)), raising=False)
            counts[processors] = worker_count()
        assert counts == {1: 1, 2: 1, 4: 3, 64: 8}

    def test_jobs_are_answered_by_number(self, fake):
        with ParserPool(2, extractor=fake) as pool:
            for number in range(50):
                pool.submit(Job(number, f"w{number}".encode(), "python"))
            answers = [pool.next_answer(10) for _ in range(50)]
        assert {a.job.number: decode(a.data).module_names for a in answers} == {
            n: frozenset([f"w{n}"]) for n in range(50)
        }

    def test_a_module_of_the_same_name_in_the_folder_we_start_in_is_not_imported(self, tmp_path, monkeypatch):
        (tmp_path / "marshal.py").write_text("raise SystemExit(9)")
        (tmp_path / "json.py").write_text("raise SystemExit(9)")
        (tmp_path / "signal.py").write_text("raise SystemExit(9)")
        monkeypatch.chdir(tmp_path)
        with ParserPool(1) as pool:
            pool.submit(Job(0, b"def f(): ...", "python"))
            answer = pool.next_answer(20)
        assert answer.reason is None

    def test_each_death_has_its_own_reason_and_costs_no_more_than_it_must(self, fake, monkeypatch):
        starts = []
        start = parsing.subprocess.Popen

        def counted(*arguments, **options):
            starts.append(arguments)
            return start(*arguments, **options)

        monkeypatch.setattr(parsing.subprocess, "Popen", counted)
        with ParserPool(1, extractor=fake, time_limit=0.1) as pool:
            for number, text in enumerate([b"HANG", b"DIE", b"fine"]):
                pool.submit(Job(number, text, "python"))
            reasons = {}
            while len(reasons) < 3:
                if (answer := pool.next_answer(0.1)) is not None:
                    reasons[answer.job.source] = answer.reason
        assert reasons == {
            b"HANG": "parsing it took longer than 0.1 s",
            b"DIE": "the parser stopped on it (exit code 3)",
            b"fine": None,
        }
        # one for the file that hangs, two for the one that kills, one for the rest
        assert len(starts) == 4

    def test_a_worker_that_is_killed_from_outside_costs_no_file(self, fake):
        with ParserPool(1, extractor=fake) as pool:
            pool.submit(Job(0, b"first", "python"))
            assert pool.next_answer(20).reason is None
            process = pool._workers[0]._process
            process.kill()
            process.wait()
            for number in range(1, 20):
                pool.submit(Job(number, b"more", "python"))
            answers = [pool.next_answer(20) for _ in range(1, 20)]
        assert {answer.reason for answer in answers} == {None}

    def test_closing_ends_a_worker_that_hangs(self, fake):
        pool = ParserPool(1, extractor=fake)
        pool.submit(Job(0, b"HANG", "python"))
        assert pool.next_answer(0.3) is None
        pool.close()
        _until_no_threads("mnemolens-parser")

    @pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
    def test_workers_end_with_a_process_that_is_killed(self, fake):
        program = dedent(
            f"""
            import time
            from mnemolens.engine.parsing import Job, ParserPool
            pool = ParserPool(1, extractor={fake!r})
            pool.submit(Job(0, b"fine", "python"))
            pool.next_answer(20)
            print(pool._workers[0]._process.pid, flush=True)
            time.sleep(60)
            """
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as starter:
            worker = int(starter.stdout.readline())
            assert Path(f"/proc/{worker}").exists()
            nice = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[16])
            starter.send_signal(signal.SIGKILL)
            starter.wait()
        for _ in range(200):
            if not _alive(worker):
                break
            time.sleep(0.05)
        assert not _alive(worker)
        assert nice >= 5


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

"""The symbol cache: it gives back what was put in, and nothing that happens to it is ever fatal."""

import marshal
import sqlite3
import subprocess
import sys
import threading
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.clock import ManualClock
from mnemolens.core.memories import CodeState
from mnemolens.core.symbols import (
    Call,
    FileSymbols,
    Import,
    Position,
    Range,
    Symbol,
    SymbolKey,
    SymbolRange,
)
from mnemolens.store import symbols as module
from mnemolens.store.symbols import Stamp, SymbolCache, SymbolsKey, decode, encode

START = datetime(2026, 3, 1, tzinfo=UTC)
PAY = FileSymbols(
    "python",
    symbols=(
        Symbol(
            "Pay",
            "Pay",
            0,
            "class",
            -1,
            "class Pay(Base)",
            "Money.",
            False,
            ("Base",),
            "f" * 16,
            "b" * 16,
            40,
        ),
        Symbol("charge", "Pay.charge", 1, "method", 0, "async def charge(self)", None, True, (), "1", "2", 7),
    ),
    imports=(Import("a.b", "c", "d"), Import("..x", None, "x", 1, True)),
    calls=(Call(1, "post", "self.http", 3), Call(-1, "main", ""), Call(1, "go", None)),
    locals=(frozenset(), frozenset({"amount", "größe"})),
    module_names=frozenset({"LIMIT"}),
    partial=True,
    ranges=(
        SymbolRange(Range(Position(0, 0), Position(9, 4)), Range(Position(0, 6), Position(0, 9))),
        SymbolRange(Range(Position(3, 4), Position(9, 4)), Range(Position(3, 14), Position(3, 20))),
    ),
)
KEY = SymbolsKey("0" * 32, "python", 1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "cache" / "symbols.sqlite"


@pytest.fixture
def opened(file, clock):
    """Opens caches on the one file, and closes them at the end."""
    caches = []

    def open_cache(**options) -> SymbolCache:
        caches.append(SymbolCache(file, clock, **options))
        return caches[-1]

    yield open_cache
    for cache in caches:
        cache.close()


def numbered(number: int) -> SymbolsKey:
    return SymbolsKey(f"{number:032x}", "python", 1)


names = st.text(max_size=8)
positions = st.builds(Position, st.integers(0, 10**6), st.integers(0, 10**6))
ranges = st.builds(Range, positions, positions)
any_symbols = st.builds(
    FileSymbols,
    language=names,
    symbols=st.lists(
        st.builds(
            Symbol,
            name=names,
            qualname=names,
            ordinal=st.integers(0, 9),
            kind=st.sampled_from(["class", "function"]),
            parent=st.integers(-1, 9),
            docstring=st.none() | names,
            is_async=st.booleans(),
            bases=st.lists(names, max_size=2).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    imports=st.lists(
        st.builds(Import, names, st.none() | names, names, st.integers(-1, 9), st.booleans())
    ).map(tuple),
    calls=st.lists(st.builds(Call, st.integers(-1, 9), names, st.none() | names, st.integers(1, 99))).map(
        tuple
    ),
    locals=st.lists(st.frozensets(names, max_size=3), max_size=3).map(tuple),
    module_names=st.frozensets(names, max_size=3),
    partial=st.booleans(),
    ranges=st.lists(st.builds(SymbolRange, ranges, ranges), max_size=3).map(tuple),
)


class TestFormat:
    def test_gives_back_every_field(self):
        back = decode(encode(PAY))
        assert back == PAY
        assert back.ranges == PAY.ranges  # not part of equality
        assert isinstance(back.ranges[0].name.start, Position)
        assert isinstance(back.locals[1], frozenset)

    @settings(max_examples=60, deadline=None)
    @given(any_symbols)
    def test_gives_back_anything(self, symbols):
        back = decode(encode(symbols))
        assert (back, back.ranges) == (symbols, symbols.ranges)

    def test_the_same_value_gives_the_same_bytes(self):
        again = FileSymbols("python", locals=(frozenset(["x", "y", "z"]),))
        assert encode(again) == encode(FileSymbols("python", locals=(frozenset(["z", "x", "y"]),)))

    @pytest.mark.parametrize("at", range(0, len(encode(PAY)), 13))
    def test_a_flipped_byte_is_seen(self, at):
        data = bytearray(encode(PAY))
        data[at] ^= 0x40
        with pytest.raises(ValueError, match="damaged"):
            decode(bytes(data))

    @pytest.mark.parametrize("length", [0, 3, 4, 5, 100])
    def test_cut_bytes_are_seen(self, length):
        with pytest.raises(ValueError, match=r"damaged|not symbols"):
            decode(encode(PAY)[:length])

    @pytest.mark.parametrize("other", [5, (1, 2), ("python", False, [()], [], [], [], [], [])])
    def test_sound_bytes_that_are_no_symbols(self, other):
        body = marshal.dumps(other)
        with pytest.raises(ValueError, match=r"not symbols|values to unpack"):
            decode(zlib.crc32(body).to_bytes(4, "big") + body)


class TestSymbols:
    def test_what_was_put_is_found_after_reopening(self, opened):
        opened().put_many([(KEY, encode(PAY)), (numbered(7), encode(FileSymbols("python")))])
        cache = opened()
        assert cache.get_many([KEY, numbered(7), numbered(8)]) == {
            KEY: PAY,
            numbered(7): FileSymbols("python"),
        }
        assert cache.trouble is None

    @pytest.mark.parametrize(
        "other",
        [KEY._replace(hash="1" * 32), KEY._replace(language="tsx"), KEY._replace(extractor_version=2)],
    )
    def test_content_language_and_version_each_tell_entries_apart(self, opened, other):
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([other]) == {}

    def test_symbols_of_another_shape_are_not_found(self, opened, monkeypatch):
        opened().put_many([(KEY, encode(PAY))])
        monkeypatch.setattr(module, "_SHAPE", module._SHAPE ^ 1)
        assert opened().get_many([KEY]) == {}

    def test_a_damaged_entry_is_not_found_and_can_be_put_again(self, opened, file):
        cache = opened()
        cache.put_many([(KEY, encode(PAY)), (numbered(7), encode(PAY))])
        with sqlite3.connect(file) as db:
            db.execute("UPDATE symbols SET data = x'00112233445566' WHERE key LIKE '0000%0 python%'")
        db.close()
        assert set(cache.get_many([KEY, numbered(7)])) == {numbered(7)}
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}

    def test_without_a_file_nothing_is_kept(self, clock):
        cache = SymbolCache(None, clock)
        cache.put_many([(KEY, encode(PAY))])
        cache.put_stamps("/top", {"a.py": Stamp(1, 2, 3, "h")})
        assert cache.get_many([KEY]) == {}
        assert cache.get_stamps("/top") == {}
        assert cache.trouble is None

    def test_a_closed_cache_answers_as_an_empty_one(self, opened):
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        cache.close()
        assert cache.get_many([KEY]) == {}
        cache.put_many([(KEY, encode(PAY))])
        cache.close()


class TestStamps:
    def test_are_kept_for_each_worktree(self, opened):
        cache = opened()
        cache.put_stamps("/one", {"a.py": Stamp(1, 2, 3, "h"), "b.py": Stamp(4, -1, 6, "i")})
        cache.put_stamps("/two", {"a.py": Stamp(7, 8, 9, "j")})
        assert opened().get_stamps("/one") == {"a.py": Stamp(1, 2, 3, "h"), "b.py": Stamp(4, -1, 6, "i")}
        assert opened().get_stamps("/two") == {"a.py": Stamp(7, 8, 9, "j")}
        assert cache.get_stamps("/three") == {}

    def test_are_replaced_and_removed(self, opened):
        cache = opened()
        cache.put_stamps("/one", {"a.py": Stamp(1, 2, 3, "h"), "b.py": Stamp(4, 5, 6, "i")})
        cache.put_stamps("/one", {"a.py": Stamp(1, 9, 3, "k")}, removed=["b.py", "never.py"])
        assert cache.get_stamps("/one") == {"a.py": Stamp(1, 9, 3, "k")}

    def test_a_value_that_sqlite_cannot_hold_is_not_kept_and_nothing_is_raised(self, opened):
        cache = opened()
        cache.put_stamps("/one", {"\udcff.py": Stamp(1, 2, 3, "h")})
        cache.put_stamps("/one", {"a.py": Stamp(1, 2**64, 3, "h")})
        cache.put_stamps("/one", {"b.py": Stamp(1, 2, 3, "h")})
        assert cache.get_stamps("/one") == {"b.py": Stamp(1, 2, 3, "h")}


class TestAnchors:
    def test_last_places_are_kept_for_each_worktree(self, opened):
        charge = CodeState(SymbolKey("pay.py", "Pay.charge", 1), "f", "b", "p", "c0ffee")
        refund = CodeState(SymbolKey("pay.py", "refund"), "g", "c", "q")
        cache = opened()
        cache.put_anchors("/one", {"A1": charge, "A2": refund})
        cache.put_anchors("/two", {"A1": refund})
        cache.put_anchors("/one", {}, removed=["A2"])
        again = opened()
        assert again.get_anchors("/one") == {"A1": charge}
        assert isinstance(again.get_anchors("/one")["A1"].key, SymbolKey)
        assert again.get_anchors("/two") == {"A1": refund}


class TestPrune:
    def test_drops_what_was_not_used_longest_until_it_fits(self, opened, clock):
        big = [
            encode(FileSymbols("python", module_names=frozenset([f"{n}-" + "x" * 50_000]))) for n in range(10)
        ]
        cache = opened(max_bytes=400_000)
        for number, data in enumerate(big):
            cache.put_many([(numbered(number), data)])
            clock.advance(86_400)
        clock.advance(30 * 86_400)
        assert numbered(0) in cache.get_many([numbered(0)])  # used again: now the youngest
        cache.prune()
        left = {number for number in range(10) if cache.get_many([numbered(number)])}
        assert 0 in left
        assert {1, 2, 3} & left == set()
        assert 9 in left

    def test_leaves_all_that_fits(self, opened, clock):
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        clock.advance(1000 * 86_400)
        cache.prune()
        assert cache.get_many([KEY]) == {KEY: PAY}

    def test_forgets_worktrees_that_are_long_unused_with_their_stamps_and_anchors(self, opened, clock, file):
        cache = opened()
        cache.put_stamps("/old", {"a.py": Stamp(1, 2, 3, "h")})
        cache.put_anchors("/old", {"A": CodeState(SymbolKey("a.py", "f"), "f", "b", "p")})
        clock.advance(timedelta(days=91).total_seconds())
        cache.put_stamps("/new", {"a.py": Stamp(1, 2, 3, "h")})
        cache.prune()
        assert cache.get_stamps("/old") == {}
        assert cache.get_anchors("/old") == {}
        assert cache.get_stamps("/new") == {"a.py": Stamp(1, 2, 3, "h")}
        db = sqlite3.connect(file)
        assert db.execute("SELECT count(*) FROM stamps").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM anchors").fetchone() == (0,)
        db.close()


class TestTrouble:
    @pytest.mark.parametrize(
        "content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000]
    )
    def test_a_file_that_is_no_database_is_set_aside(self, opened, file, content):
        file.parent.mkdir()
        file.write_bytes(content)
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}
        assert cache.trouble is None
        assert (file.parent / "symbols.sqlite.damaged").read_bytes() == content

    def test_pages_overwritten_while_it_is_open(self, opened, file):
        cache = opened()
        cache.put_many([(numbered(n), encode(PAY)) for n in range(400)])
        cache.close()
        with file.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xa5" * (file.stat().st_size - 4096))
        cache = opened()
        cache.get_many([numbered(n) for n in range(400)])
        cache.put_many([(KEY, encode(PAY))])
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}
        assert cache.trouble is None

    def test_a_table_is_missing(self, opened, file):
        opened().prune()
        db = sqlite3.connect(file)
        db.execute("DROP TABLE symbols")
        db.commit()
        db.close()
        cache = opened()
        assert cache.get_many([KEY]) == {}
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}

    def test_the_damaged_file_was_replaced_by_another_process_already(self, opened, file):
        stale = opened()
        stale.put_many([(KEY, encode(PAY))])
        for ending in ("", "-wal", "-shm"):
            file.with_name(file.name + ending).rename(file.with_name(f"aside{ending}"))
        opened().put_many([(numbered(5), encode(PAY))])
        stale._replace()
        assert stale.get_many([numbered(5)]) == {numbered(5): PAY}
        assert not (file.parent / "symbols.sqlite.damaged").exists()

    def test_an_older_schema_is_begun_anew(self, opened, file):
        file.parent.mkdir()
        db = sqlite3.connect(file)
        db.execute("CREATE TABLE symbols (something_else)")
        db.commit()
        db.close()
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}

    def test_a_newer_schema_is_left_alone(self, opened, file):
        opened().prune()
        db = sqlite3.connect(file)
        db.execute("PRAGMA user_version = 999")
        db.close()
        cache = opened()
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {}
        assert cache.trouble is not None
        assert "newer version" in cache.trouble
        db = sqlite3.connect(file)
        assert db.execute("PRAGMA user_version").fetchone() == (999,)
        db.close()

    def test_a_folder_that_cannot_be_made(self, tmp_path, clock):
        (tmp_path / "file").write_text("")
        cache = SymbolCache(tmp_path / "file" / "symbols.sqlite", clock)
        assert cache.get_many([KEY]) == {}
        assert cache.trouble is not None
        assert cache.trouble.startswith("symbols are not cached: ")

    def test_a_lock_that_another_process_holds_costs_only_that_answer(self, opened, file):
        cache = opened(busy_seconds=0.05)
        cache.prune()
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        cache.put_many([(KEY, encode(PAY))])
        holder.execute("ROLLBACK")
        holder.close()
        assert cache.get_many([KEY]) == {}
        cache.put_many([(KEY, encode(PAY))])
        assert cache.get_many([KEY]) == {KEY: PAY}
        assert not (file.parent / "symbols.sqlite.damaged").exists()


class TestTogether:
    def test_nothing_is_made_before_the_first_use(self, opened, file):
        cache = opened()
        assert not file.parent.exists()
        cache.close()
        cache.put_many([(KEY, encode(PAY))])
        assert not file.parent.exists()

    def test_the_cache_is_the_users_own(self, opened, file):
        opened().put_many([(KEY, encode(PAY))])
        assert file.stat().st_mode & 0o077 == 0
        assert file.parent.stat().st_mode & 0o077 == 0

    def test_threads(self, opened):
        cache = opened()

        def work(base: int) -> None:
            for number in range(base, base + 20):
                cache.put_many([(numbered(number), encode(PAY))])
                cache.get_many([numbered(number - 1)])

        threads = [threading.Thread(target=work, args=(base,)) for base in (100, 200, 300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wanted = [numbered(base + n) for base in (100, 200, 300) for n in range(20)]
        assert set(cache.get_many(wanted)) == set(wanted)

    def test_processes_that_begin_at_once_lose_nothing(self, opened, file):
        program = (
            "import sys; from pathlib import Path; from mnemolens.core.clock import SystemClock\n"
            "from mnemolens.store.symbols import *; from mnemolens.core.symbols import FileSymbols\n"
            "sys.stdin.read(1); c = SymbolCache(Path(sys.argv[1]), SystemClock())\n"
            "for n in range(int(sys.argv[2]), int(sys.argv[2]) + 25):\n"
            "    c.put_many([(SymbolsKey(f'{n:032x}', 'python', 1), encode(FileSymbols('python')))])\n"
            "sys.exit(c.trouble)\n"
        )
        writers = [
            subprocess.Popen([sys.executable, "-c", program, str(file), str(base)], stdin=subprocess.PIPE)
            for base in (0, 1000, 2000)
        ]
        for writer in writers:
            writer.communicate(b"g")
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        wanted = [numbered(base + n) for base in (0, 1000, 2000) for n in range(25)]
        assert set(opened().get_many(wanted)) == set(wanted)

"""Slots: the lowest free one, by lock; a temporary one where the cache can't be used."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from mnemolens.store import graph_slots
from mnemolens.store.graph_slots import NoSlot, clear_free, sweep, take_slot, temporary_slot
from mnemolens.store.locks import LockUnavailable

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOLDER = """
import sys, time
from pathlib import Path
from mnemolens.store.graph_slots import take_slot
print(take_slot(Path(sys.argv[1])).number, flush=True)
time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(graph_slots.tempfile, "tempdir", str(place))
    return place


def age(path, **delta):
    at = (NOW - timedelta(**delta)).timestamp()
    os.utime(path, (at, at))


def test_the_lowest_free_slot(tmp_path):
    folder = tmp_path / "graphs" / "w"
    first, second, third = (take_slot(folder) for _ in range(3))
    assert [slot.number for slot in (first, second, third)] == [0, 1, 2]
    assert second.file == folder / "1.kuzu"
    second.release()
    assert take_slot(folder).number == 1
    assert take_slot(folder, above=4).number == 5


def test_another_process_holds_its_slot_until_it_dies(tmp_path):
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "0\n"
        mine = take_slot(tmp_path)
        assert mine.number == 1
        process.kill()
    assert take_slot(tmp_path).number == 0


def test_clear_leaves_the_lock_and_the_neighbours(tmp_path):
    slots = [take_slot(tmp_path) for _ in range(11)]
    for slot in slots:
        slot.file.write_text("x")
        slot.file.with_name(f"{slot.file.name}.wal").write_text("x")
        slot.file.with_name(f"{slot.file.stem}.load-1").mkdir()
    slots[1].clear()
    assert {path.name for path in tmp_path.glob("1.*")} == {"1.lock"}
    assert len(list(tmp_path.glob("10.*"))) == 4


def test_a_new_file_takes_its_place_and_nothing_stays_beside_it(tmp_path):
    slot = take_slot(tmp_path)
    slot.file.write_text("old")
    (tmp_path / "0.kuzu.wal").write_text("of the old")
    slot.new_file.write_text("new")
    slot.accept()
    assert slot.file.read_text() == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"0.kuzu", "0.lock"}


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), LockUnavailable("no locks")])
def test_a_temporary_slot_where_the_cache_can_not_be_used(tmp_path, temporary, monkeypatch, error):
    def fail(path):
        if temporary not in path.parents:
            raise error
        return real(path)

    real = graph_slots.FileLock.try_acquire
    monkeypatch.setattr(graph_slots.FileLock, "try_acquire", fail)
    slot = take_slot(tmp_path / "cache")
    assert slot.number is None
    assert temporary in slot.file.parents
    assert "cache folder can't be used" in slot.reason
    slot.file.write_text("x")
    slot.release()
    assert list(temporary.iterdir()) == []


def test_a_file_in_the_place_of_the_cache(tmp_path, temporary):
    (tmp_path / "cache").write_text("no folder")
    slot = take_slot(tmp_path / "cache" / "graphs" / "w")
    assert slot.number is None
    assert temporary in slot.file.parents
    slot.release()


@pytest.mark.usefixtures("temporary")
def test_locks_that_can_not_be_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_slots, "locks_trusted", lambda _: False)
    slot = take_slot(tmp_path / "cache")
    assert (slot.number, slot.reason) == (None, "locks can't be trusted in the cache folder")
    slot.release()


def test_no_slot_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_slots.tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(NoSlot, match="why, nor can the temporary folder"):
        temporary_slot("why")


class TestSweep:
    @pytest.mark.usefixtures("temporary")
    def test_slots_that_nobody_used_for_two_weeks_go(self, tmp_path):
        graphs = tmp_path / "graphs"
        old, held, young = (take_slot(graphs / name) for name in ("old", "held", "young"))
        for slot in (old, held, young):
            slot.file.write_text("x")
        old.release()
        young.release()
        age(graphs / "old" / "0.lock", days=15)
        age(graphs / "held" / "0.lock", days=15)
        age(graphs / "young" / "0.lock", days=13)
        sweep(graphs, NOW)
        assert sorted(path.parent.name for path in graphs.glob("*/*.kuzu")) == ["held", "young"]
        assert not (graphs / "old").exists()

    def test_taking_a_slot_is_using_it(self, tmp_path):
        slot = take_slot(tmp_path / "w")
        age(tmp_path / "w" / "0.lock", days=100)
        slot.release()
        take_slot(tmp_path / "w")
        sweep(tmp_path, datetime.now(UTC))
        assert (tmp_path / "w" / "0.lock").exists()

    @pytest.mark.usefixtures("temporary")
    def test_what_dead_processes_left_in_the_temporary_folder_goes(self, tmp_path):
        dead, alive = temporary_slot("x"), temporary_slot("x")
        dead.lock.release()
        for slot in (dead, alive):
            age(slot.file.with_suffix(".lock"), days=2)
        sweep(tmp_path / "graphs", NOW)
        assert not dead.file.parent.exists()
        assert alive.file.parent.exists()
        alive.release()

    @pytest.mark.usefixtures("temporary")
    def test_after_a_purge_no_dead_process_keeps_a_temporary_file(self, tmp_path):
        dead, alive = temporary_slot("x"), temporary_slot("x")
        dead.lock.release()
        clear_free(tmp_path / "graphs")
        assert (dead.file.parent.exists(), alive.file.parent.exists()) == (False, True)
        alive.release()

    def test_after_a_purge_no_free_slot_keeps_its_file(self, tmp_path):
        free, held = take_slot(tmp_path / "graphs" / "a"), take_slot(tmp_path / "graphs" / "b")
        for slot in (free, held):
            slot.file.write_text("secret")
        free.release()
        clear_free(tmp_path / "graphs")
        assert (free.file.exists(), held.file.exists()) == (False, True)

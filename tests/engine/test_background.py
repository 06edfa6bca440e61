"""What is done now and then: stored weights, and a look at the archive, never beside a keystroke."""

from datetime import timedelta

import pytest

from folders import Folder
from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.core.symbols import Position
from mnemolens.core.text import TextChange

FILES = {"pay.py": "def charge():\n    return 1\n"}


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path, FILES)
    yield folder
    folder.close()


def tick(folder):
    folder.run(folder.workspace.tick(folder.now))


def type_something(folder):
    here = Position(0, 0)
    folder.edit("pay.py", [TextChange("#", here, here)])


def written_again(folder, monkeypatch):
    """The ids that the graph was told to write again."""
    told = []
    monkeypatch.setattr(folder.workspace.background._kept, "memories_changed", told.extend)
    return told


def test_weights_are_written_hourly(folder, monkeypatch):
    one = folder.remember("Never retry")
    told = written_again(folder, monkeypatch)
    tick(folder)
    folder.clock.advance(3599)
    tick(folder)
    assert told == []
    folder.clock.advance(1)
    tick(folder)
    tick(folder)
    assert told == [one]
    folder.clock.advance(3600)
    tick(folder)
    assert told == [one, one]


def test_never_beside_a_keystroke(folder, monkeypatch):
    folder.open("pay.py")
    one = folder.remember("Never retry")
    told = written_again(folder, monkeypatch)
    tick(folder)
    folder.clock.advance(4000)
    type_something(folder)
    tick(folder)
    folder.clock.advance(1)
    tick(folder)
    assert told == []
    folder.clock.advance(1)
    tick(folder)  # two quiet seconds
    assert told == [one]


def test_typing_breaks_it_off_and_it_begins_again(folder, monkeypatch):
    monkeypatch.setattr("mnemolens.engine.background.SLICE", 2)
    ids = [folder.remember(f"Memory {number}") for number in range(5)]
    told = written_again(folder, monkeypatch)
    background = folder.workspace.background
    folder.run(background.look(folder.now, lambda: True))
    folder.clock.advance(3600)
    folder.run(background.look(folder.now, lambda: len(told) < 4))
    assert told == ids[:4]
    folder.run(background.look(folder.now, lambda: True))
    assert told[4:] == ids


def test_what_has_faded_is_offered_once_and_kept(folder):
    faded = folder.remember("An old plan", importance=0.001)
    pinned = folder.remember("Pinned", importance=0.001)
    folder.commit(folder.workspace.writing.update(pinned, {"pinned": True}, folder.now))
    forgotten = folder.remember("Forgotten", importance=0.001)
    folder.commit(folder.workspace.writing.forget(forgotten, folder.now))
    folder.remember("Over", importance=0.001, expires_at=folder.later(seconds=-1))
    folder.remember("Never retry", importance=0.5)
    background = folder.workspace.background
    tick(folder)
    assert background.take_offer() == (faded,)
    assert background.take_offer() == ()
    assert folder.workspace.show.detail(faded, folder.now).view.memory.status == "active"
    later = folder.remember("Another old plan", importance=0.001)
    folder.clock.advance(86_399)
    tick(folder)
    assert background.take_offer() == ()
    folder.clock.advance(1)
    tick(folder)
    assert background.take_offer() == (later,)


def test_a_day_is_a_day_for_all_sessions(folder):
    tick(folder)
    folder.remember("An old plan", importance=0.001)
    folder.clock.advance(3600)
    folder.restart()
    tick(folder)
    assert folder.workspace.background.take_offer() == ()
    folder.clock.advance(timedelta(days=1).total_seconds())
    tick(folder)
    assert len(folder.workspace.background.take_offer()) == 1


def test_what_was_used_meanwhile_has_not_faded(folder):
    one = folder.remember("An old plan", importance=0.009, type="semantic")
    background = folder.workspace.background
    folder.clock.advance(timedelta(days=30).total_seconds())
    assert background.faded(folder.now, [one, "nobody"]) == (one,)
    for _ in range(30):
        folder.workspace.journaling.access_sync([one], folder.now)
    assert background.faded(folder.now, [one]) == ()


def test_the_settings_say_how_often_and_below_what(tmp_path):
    given = {"background_tasks": {"archival_check_interval": 60, "cleanup_threshold": 0.7}}
    settings, notices = resolve_settings(SettingsSources(editor=given))
    assert notices == ()
    folder = Folder(tmp_path, FILES, settings)
    tick(folder)
    one = folder.remember("Never retry", importance=0.5)
    folder.clock.advance(60)
    tick(folder)
    assert folder.workspace.background.take_offer() == (one,)
    folder.close()

"""Watching by ourselves, on real folders."""

import asyncio
import contextlib
import shutil
import sys
import threading
from pathlib import Path

import pytest

from mnemolens.lsp import own_watch


@contextlib.asynccontextmanager
async def watching(root):
    """Tells of a path until it was told to have changed; it begins once that is promised."""
    told = asyncio.Queue()
    stands = asyncio.Event()

    async def listen():
        async for paths in own_watch.changes_below(root):
            assert stands.is_set() or paths == []
            stands.set()
            for path in paths:
                told.put_nowait(path)

    async def tells(path):
        while await told.get() != path:
            pass

    task = asyncio.ensure_future(listen())
    await asyncio.wait_for(stands.wait(), 30)
    try:
        yield lambda path: asyncio.wait_for(tells(path), 30)
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a watch follows no links")
async def test_what_a_link_leads_to_is_told_by_its_own_path(tmp_path):
    shop = tmp_path / "packages" / "shop"
    for folder in (shop / "src", tmp_path / "node_modules", tmp_path / "links"):
        folder.mkdir(parents=True)
    (tmp_path / "node_modules" / "shop").symlink_to(shop)
    (tmp_path / "links" / "all").symlink_to(tmp_path)
    async with watching(tmp_path) as told:
        (shop / "src" / "cart.ts").write_text("one")
        await told(shop / "src" / "cart.ts")
        shutil.rmtree(tmp_path / "links")
        await told(tmp_path / "links")
        (shop / "src" / "cart.ts").write_text("two")
        await told(shop / "src" / "cart.ts")
        (shop / "new" / "below").mkdir(parents=True)
        await told(shop / "new" / "below")  # and is watched from then on
        (shop / "new" / "below" / "pay.ts").write_text("one")
        await told(shop / "new" / "below" / "pay.ts")


async def test_a_tree_of_very_many_folders_is_watched_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(own_watch, "_MOST_FOLDERS", 1)
    (tmp_path / "a").mkdir()
    async with watching(tmp_path) as told:
        (tmp_path / "a" / "b").mkdir()
        await told(tmp_path / "a" / "b")
        (tmp_path / "a" / "b" / "c.py").write_text("one")
        await told(tmp_path / "a" / "b" / "c.py")


@pytest.fixture
def watches(monkeypatch):
    """Every watch that is made."""
    made = []
    begin = own_watch._Watch.__init__

    def noted(self, *arguments):
        made.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(own_watch._Watch, "__init__", noted)
    return made


async def test_a_tree_that_comes_to_have_very_many_folders_is_watched_as_a_whole(
    tmp_path, monkeypatch, watches
):
    monkeypatch.setattr(own_watch, "_MOST_FOLDERS", 2)
    (tmp_path / "a").mkdir()
    async with watching(tmp_path) as told:
        for name in ("b", "c", "d"):
            (tmp_path / name).mkdir()
            await told(tmp_path / name)
        (tmp_path / "b" / "pay.py").write_text("one")
        await told(tmp_path / "b" / "pay.py")
    assert not watches[-1].is_by_folder


async def test_a_folder_that_is_made_anew_is_watched_and_so_is_the_root(tmp_path, monkeypatch):
    monkeypatch.setattr(own_watch, "_GONE_SECONDS", 0.05)
    root = tmp_path / "project"
    (root / "a").mkdir(parents=True)
    async with watching(root) as told:
        shutil.rmtree(root / "a")
        (root / "a").mkdir()
        await told(root / "a")
        await changes_are_told(root / "a" / "pay.py", told)
        shutil.rmtree(root)
        await told(root)
        (root / "b").mkdir(parents=True)
        await told(root / "b")
        await changes_are_told(root / "b" / "pay.py", told)


async def changes_are_told(path, told):
    """Sooner or later; what changes before a watch stands is told by the folder's name."""
    for number in range(100):
        path.write_text(str(number))
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(told(path), 0.5)
    raise AssertionError("nobody watches")


async def test_no_watch_is_left_when_it_is_cancelled_while_another_takes_over(tmp_path, monkeypatch, watches):
    taking_over = asyncio.Event()

    async def last(_):
        taking_over.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(own_watch._Watch, "last", last)
    async with watching(tmp_path):
        (tmp_path / "new").mkdir()
        await asyncio.wait_for(taking_over.wait(), 30)
    assert len(watches) == 2
    for watch in watches:
        await asyncio.wait_for(asyncio.wait([watch._coming]), 30)


async def test_the_disk_is_not_asked_on_the_event_loop(tmp_path, monkeypatch):
    asked = set()
    is_dir = Path.is_dir

    def noted(path):
        asked.add(threading.current_thread())
        return is_dir(path)

    monkeypatch.setattr(Path, "is_dir", noted)
    async with watching(tmp_path) as told:
        (tmp_path / "pay.py").write_text("one")
        await told(tmp_path / "pay.py")
        (tmp_path / "new").mkdir()
        await told(tmp_path / "new")
    assert asked
    assert threading.main_thread() not in asked


async def test_a_watch_that_can_not_be_had_is_tried_for_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(own_watch, "_REFUSED_SECONDS", 0.05)
    real, refusals = own_watch.awatch, [OSError("no more watches"), RuntimeError("nor here")]

    async def awatch(*paths, **options):
        if refusals:
            raise refusals.pop()
        async for found in real(*paths, **options):
            yield found

    monkeypatch.setattr(own_watch, "awatch", awatch)
    async with watching(tmp_path) as told:
        await told(tmp_path)  # all that changed meanwhile
        await changes_are_told(tmp_path / "pay.py", told)
    assert "can't be watched" in caplog.text

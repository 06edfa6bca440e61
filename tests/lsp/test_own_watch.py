"""Watching by ourselves, on real folders."""

import asyncio
import contextlib
import shutil
import sys

import pytest

from mnemolens.lsp import own_watch


@contextlib.asynccontextmanager
async def watching(root):
    """Tells of a path until it was told to have changed."""
    told = asyncio.Queue()

    async def listen():
        async for paths in own_watch.changes_below(root):
            for path in paths:
                told.put_nowait(path)

    async def tells(path):
        while await told.get() != path:
            pass

    task = asyncio.ensure_future(listen())
    await asyncio.sleep(0.5)  # until the watch stands
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

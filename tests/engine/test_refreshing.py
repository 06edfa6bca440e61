"""Memories are derived in slices; while many files are put into the index only new ones are."""

import asyncio

import pytest

from folders import Folder
from mnemolens.engine import offload, refreshing
from mnemolens.engine.offload import Slices
from mnemolens.engine.requests import CaptureRequest
from waiting import until

PAY = "def charge(amount):\n    return amount * 100\n"
SHOP = "def checkout(cart):\n    return cart\n"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"pay.py": PAY, "shop.py": SHOP})
    yield made
    made.close()


def test_what_is_known_waits_for_the_index_to_be_whole_and_what_is_new_does_not(folder):
    memory = folder.remember("a note", "pay.py", "charge")
    folder.write("pay.py", PAY.replace("charge", "bill_the_customer").replace("100", "1000"))
    folder.write("other.py", "x = 1\n")
    work = folder.workspace

    async def storm():
        with work.refreshing.batch():
            following = asyncio.ensure_future(work.files_changed([folder.root / "pay.py"]))
            await asyncio.sleep(0.3)
            known = folder.verdict(memory)
            new = await work.journaling.commit(
                work.writing.capture(CaptureRequest("on `checkout()`", file="other.py"), folder.now)
            )
            links = [link.target.qualname for link in new.links]
            assert not following.done()
        await following
        return known, links

    known, links = folder.run(storm())
    assert known == "fresh"
    assert "checkout" in links
    assert folder.verdict(memory) != "fresh"


def test_what_does_not_fit_a_slice_is_derived_beside_requests(folder, monkeypatch):
    folder.open("pay.py")
    memories = [folder.remember(f"note {number}", "pay.py", "charge") for number in range(5)]
    monkeypatch.setattr(refreshing, "AT_ONCE_SECONDS", 0.0)

    async def save():
        folder.workspace.open_document("pay.py", "python", "x = 1\n")
        at_once = [folder.verdict(one) for one in memories]
        await until(lambda: all(folder.verdict(one) == "lost" for one in memories))
        return at_once

    assert folder.run(save()) == ["fresh"] * 5
    assert [folder.verdict(one) for one in memories] == ["lost"] * 5


def test_what_was_put_while_a_storm_is_taken_in_is_newer_and_stays(folder, monkeypatch):
    monkeypatch.setattr(offload, "SLICE_SECONDS", 0.0)
    work = folder.workspace
    old = {"pay.py": "def first():\n    pass\n", "shop.py": "def second():\n    pass\n"}

    async def storm():
        for name, text in old.items():
            folder.write(name, text)
        following = asyncio.ensure_future(work.files_changed([folder.root / name for name in old]))
        while work.code.index.symbol_count == 2 and not following.done():
            taken = {
                name for name in old if work.code.keys_named({"pay.py": "first", "shop.py": "second"}[name])
            }
            if taken:
                break
            await asyncio.sleep(0)
        left = next(iter(old.keys() - taken))
        work.open_document(left, "python", "def typed():\n    pass\n")
        await following
        return left

    left = folder.run(storm())
    assert [key.qualname for key in work.code.index.keys_of(left)] == ["typed"]


def test_a_slice_lets_others_in_only_once_it_is_used_up(monkeypatch):
    turns = []

    async def work():
        monkeypatch.setattr(offload, "SLICE_SECONDS", 1000.0)
        slices = Slices()
        asyncio.get_running_loop().call_soon(turns.append, "others")
        await slices.pause()
        assert turns == []
        monkeypatch.setattr(offload, "SLICE_SECONDS", 0.0)
        await Slices().pause()
        assert turns == ["others"]

    asyncio.run(work())


def test_one_that_can_not_be_derived_holds_up_no_other(folder, monkeypatch, caplog):
    memories = [folder.remember(f"note {number}", "pay.py", "charge") for number in range(3)]
    links = folder.workspace.links
    real = links.refresh

    def failing(memory_ids):
        ids = list(memory_ids)
        if memories[0] in ids:
            raise OSError("never")
        return real(ids)

    monkeypatch.setattr(links, "refresh", failing)
    folder.write_seen("pay.py", "x = 1\n")
    assert [folder.verdict(one) for one in memories] == ["fresh", "lost", "lost"]
    assert "never" in caplog.text


def test_nothing_is_derived_after_the_end(folder, monkeypatch, caplog):
    monkeypatch.setattr("mnemolens.engine.links.MANY_ANCHORS", 0)
    folder.open("pay.py")
    folder.open("shop.py")
    folder.remember("a note", "pay.py", "charge")
    monkeypatch.setattr(refreshing, "AT_ONCE_SECONDS", 0.0)
    refreshed = []

    async def end():
        folder.workspace.refreshing.refresh_soon(folder.workspace.state.memories())
        folder.workspace.open_document("pay.py", "python", "x = 1\n")
        monkeypatch.setattr(folder.workspace.links, "refresh", refreshed.append)
        folder.workspace.close()
        await asyncio.sleep(0.05)
        assert not folder.workspace.refreshing.is_busy

    folder.run(end())
    assert refreshed == []
    assert caplog.text == ""

"""What a cancelled run means to the user, of the index or of linking: it is said, and what to do."""

import asyncio
import json

import pytest

from mnemolens.core.clock import ManualClock
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings_model import Settings
from mnemolens.core.views import IndexReport
from mnemolens.engine import offload
from mnemolens.engine.relinking import Relinking
from mnemolens.engine.workspace import Workspace as RealWorkspace
from mnemolens.lsp.commands.call import Call
from mnemolens.lsp.commands.graph import query
from mnemolens.lsp.folders import Folder
from mnemolens.lsp.graph_params import QueryArguments
from mnemolens.lsp.indexing import code_read, index_folder, show_relinking, waits_no_longer
from mnemolens.lsp.language_server import MnemolensServer


class Workspace:
    """A folder whose index takes until it is let go."""

    def __init__(self, opened):
        self.refreshing = Refreshing()
        self.layout = type("Layout", (), {"opened": opened})
        self.go = asyncio.Event()

    async def build_index(self, on_progress, *, rebuild=False):
        on_progress(1, 10)
        await self.go.wait()
        return IndexReport(10, 20 if rebuild else 10, 0.1)


class Sent:
    """A client that keeps what it is sent."""

    def __init__(self):
        self.messages = []

    def write(self, data):
        self.messages.append(json.loads(data))

    def close(self):
        pass

    @property
    def shown(self):
        return [m["params"] for m in self.messages if m.get("method") == "window/showMessage"]

    @property
    def ends(self):
        values = [m["params"]["value"] for m in self.messages if m.get("method") == "$/progress"]
        return [value["message"] for value in values if value["kind"] == "end"]


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def ls(sent):
    server = MnemolensServer(ManualClock())
    server.protocol.set_writer(sent, include_headers=False)
    return server


async def cancelled(ls, workspace, token):
    run = asyncio.ensure_future(index_folder(ls, workspace, token=token))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    ls.work_done_progress.tokens[token].cancel()
    return await asyncio.wait_for(run, 60)


async def test_the_user_is_told_once_that_the_first_run_was_cancelled(ls, sent, tmp_path):
    workspace = Workspace(tmp_path / "shop")
    assert workspace not in ls.whole
    assert await cancelled(ls, workspace, "a") is None
    assert await cancelled(ls, workspace, "b") is None
    [message] = sent.shown
    assert "shop" in message["message"]
    assert "mnemolens.index.rebuild" in message["message"]
    assert ls.whole[workspace] is False
    assert all("mnemolens.index.rebuild" in end for end in sent.ends)
    assert len(sent.ends) == 2
    workspace.go.set()
    assert (await index_folder(ls, workspace, rebuild=True, token="c")).symbols == 20
    assert ls.whole[workspace] is True


async def test_a_later_run_that_is_cancelled_takes_nothing_away(ls, sent, tmp_path):
    workspace = Workspace(tmp_path)
    workspace.go.set()
    await index_folder(ls, workspace)
    workspace.go.clear()
    assert await cancelled(ls, workspace, "a") is None
    assert ls.whole[workspace] is True
    assert sent.shown == []


async def test_a_run_that_starts_over_is_not_stopped_by_the_user(ls, sent, tmp_path):
    workspace = Workspace(tmp_path)
    run = asyncio.ensure_future(index_folder(ls, workspace))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert workspace not in ls.whole
    assert sent.shown == []


async def test_who_needs_the_code_waits_until_it_was_read(ls, tmp_path):
    workspace = Workspace(tmp_path)
    waiting = asyncio.ensure_future(code_read(ls, workspace))
    first = asyncio.ensure_future(index_folder(ls, workspace))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()  # it starts over, as with other settings
    await asyncio.wait({first})
    second = asyncio.ensure_future(index_folder(ls, workspace))
    await asyncio.sleep(0)
    assert not waiting.done()
    workspace.go.set()
    await asyncio.wait_for(asyncio.gather(second, waiting), 60)
    await asyncio.wait_for(code_read(ls, workspace), 60)


async def test_nobody_waits_for_a_run_that_was_stopped_or_failed_or_for_a_closed_folder(ls, tmp_path):
    async def fail(_on_progress, *, rebuild=False):
        raise OSError(rebuild)

    stopped, failing, closed = (Workspace(tmp_path / name) for name in ("stopped", "failing", "closed"))
    failing.build_index = fail
    waiting = [asyncio.ensure_future(code_read(ls, one)) for one in (stopped, failing, closed)]
    await cancelled(ls, stopped, "a")
    with pytest.raises(OSError, match="False"):
        await index_folder(ls, failing)
    waits_no_longer(ls, closed)
    await asyncio.wait_for(asyncio.gather(*waiting), 60)


async def test_the_graph_says_what_it_waits_for_where_the_first_run_was_stopped(ls, tmp_path, monkeypatch):
    workspace = RealWorkspace.open(tmp_path, Settings())
    monkeypatch.setattr(workspace, "build_index", Workspace(tmp_path).build_index)
    ls.folders.add(Folder(tmp_path.as_uri(), tmp_path, tmp_path, workspace))
    asking = asyncio.ensure_future(query(Call(ls), QueryArguments(cypher="RETURN 1")))
    await asyncio.sleep(0)
    assert not asking.done()
    await cancelled(ls, workspace, "a")
    with pytest.raises(InvalidArgument, match=r"^cypher: .* mnemolens\.index\.rebuild"):
        await asyncio.wait_for(asking, 60)
    workspace.close()


class Refreshing:
    """Keeps what was derived."""

    generation = 0

    def __init__(self):
        self.derived = []
        self.began = asyncio.Event()

    def refresh(self, memory_ids):
        self.derived += memory_ids
        self.began.set()


@pytest.fixture
def linking(tmp_path, monkeypatch):
    """A folder of ten memories, one in each slice."""
    monkeypatch.setattr(offload, "SLICE_SECONDS", 0.0)
    workspace = Workspace(tmp_path / "shop")
    workspace.relinking = Relinking(Refreshing(), lambda: map(str, range(10)))
    return workspace


def progress_of(sent):
    return [m["params"]["value"] for m in sent.messages if m.get("method") == "$/progress"]


async def test_linking_anew_shows_how_far_it_is(ls, sent, linking):
    linking.relinking.begin()
    await asyncio.wait_for(show_relinking(ls, linking, token="a"), 60)
    begin, *reports, end = progress_of(sent)
    assert begin["cancellable"] is True
    told = [report["message"] for report in reports]
    assert told == [f"{n} of 10 memories" for n in range(11 - len(told), 11)]
    assert len(told) > 5
    assert end == {"kind": "end", "message": "all memories are linked"}
    assert sent.shown == []


async def test_linking_that_was_cancelled_goes_on(ls, sent, linking):
    relinking = linking.relinking
    relinking.begin()
    run = asyncio.ensure_future(show_relinking(ls, linking, token="a"))
    await relinking._refreshing.began.wait()
    ls.work_done_progress.tokens["a"].cancel()
    await asyncio.wait_for(run, 60)
    left = relinking.left
    assert 0 < left < 10
    [message] = sent.shown
    assert f"{left} memories of shop" in message["message"]
    assert "mnemolens.linking.resume" in message["message"]
    assert sent.ends == ["stopped; mnemolens.linking.resume goes on"]
    relinking.resume()
    await asyncio.wait_for(show_relinking(ls, linking, token="b"), 60)
    assert relinking._refreshing.derived == [str(number) for number in range(10)]


async def test_linking_has_one_bar_at_a_time(ls, sent, linking):
    linking.relinking.begin()
    both = [show_relinking(ls, linking, token=token) for token in ("a", "b")]
    await asyncio.wait_for(asyncio.gather(*both), 60)
    assert len(sent.ends) == 1
    await asyncio.wait_for(show_relinking(ls, linking, token="c"), 60)
    assert len(sent.ends) == 1

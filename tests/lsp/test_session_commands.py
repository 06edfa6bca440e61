"""Sessions, agents and expiry over the wire."""

import pytest

from editors import uri

BOTH = {"sessionId": "monday", "agentId": "claude"}


@pytest.fixture
async def ready(neovim, repository):
    await neovim.start(repository)
    await neovim.indexed(files=2)
    return neovim


async def titles(editor, **asked):
    return [memory["title"] for memory in (await editor.run("memory.list", asked))["memories"]]


async def test_lists_of_a_session_and_of_an_agent(ready, repository):
    await ready.capture("One", repository / "billing.py", 3, 5, **BOTH)
    await ready.capture("Two", sessionId="monday", agentId="codex")
    await ready.capture("Three", **{**BOTH, "sessionId": "tuesday"})
    await ready.capture("Four")
    assert await titles(ready, sessionId="monday") == ["Two", "One"]
    assert await titles(ready, agentId="claude") == ["Three", "One"]
    assert await titles(ready, sessionId="tuesday", agentId="codex") == []
    assert await titles(ready, uri=uri(repository / "billing.py"), sessionId="monday") == ["One"]

    sessions = (await ready.run("sessions"))["sessions"]
    assert [(one["id"], one["memories"], one["agents"]) for one in sessions] == [
        ("tuesday", 1, ["claude"]),
        ("monday", 2, ["claude", "codex"]),
    ]
    agents = (await ready.run("agents"))["agents"]
    assert [(one["id"], one["memories"], one["sessions"]) for one in agents] == [
        ("claude", 2, ["monday", "tuesday"]),
        ("codex", 1, ["monday"]),
    ]
    assert sessions[1]["first"] < sessions[1]["last"] < sessions[0]["first"]


async def test_forgetting_a_session(ready, repository):
    here = repository / "billing.py"
    one = (await ready.capture("One", here, 3, 5, **BOTH))["memory"]["id"]
    await ready.capture("Two", **BOTH)
    await ready.capture("Three")
    ready.open(here)
    assert await ready.run("session.forget", {"sessionId": "monday"}) == {"forgotten": 2}
    assert await ready.run("session.forget", {"sessionId": "monday"}) == {"forgotten": 0}
    assert (await ready.run("sessions"), await ready.run("agents")) == ({"sessions": []}, {"agents": []})
    assert await titles(ready) == ["Three"]
    assert await ready.hover_text(here, 3, 5) is None
    await ready.run("memory.restore", {"id": one})
    assert await titles(ready, sessionId="monday") == ["One"]
    assert "One" in await ready.hover_text(here, 3, 5)
    assert await ready.run("session.restore", {"sessionId": "monday"}) == {"restored": 1}
    assert await titles(ready) == ["Three", "Two", "One"]
    assert await ready.run("session.restore", {"sessionId": "monday"}) == {"restored": 0}
    assert await ready.refusal("session.forget", {}) == "sessionId: is missing"


async def test_what_has_expired_is_left_out_and_can_be_restored(ready, repository):
    here = repository / "billing.py"
    place = {"uri": uri(here), "position": {"line": 3, "character": 5}}
    ready.open(here)
    past = {"expiresAt": "2020-01-01T00:00:00Z", **BOTH}
    one = (await ready.capture("Charges twice", here, 3, 5, **past))["memory"]["id"]

    async def seen():
        (folder,) = (await ready.run("status"))["folders"]
        return {
            "hover": await ready.hover_text(here, 3, 5) is not None,
            "lens": await ready.lenses(here) != {},
            "list": await titles(ready) != [],
            "list here": await titles(ready, **place) != [],
            "recall": (await ready.run("recall", {"query": "charges twice"}))["memories"] != [],
            "recall here": (await ready.run("recall", place))["memories"] != [],
            "neighbours": "memory" in {
                node["kind"] for node in (await ready.run("graph.neighbors", place))["nodes"]
            },
            "sessions": (await ready.run("sessions"))["sessions"] != [],
            "agents": (await ready.run("agents"))["agents"] != [],
            "status": folder["memories"] == 1,
        }  # fmt: skip

    assert set((await seen()).values()) == {False}, await seen()
    assert await titles(ready, includeForgotten=True) == ["Charges twice"]
    restored = (await ready.run("memory.restore", {"id": one}))["memory"]
    assert restored["expiresAt"] is None
    assert set((await seen()).values()) == {True}, await seen()

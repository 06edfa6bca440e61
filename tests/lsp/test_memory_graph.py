"""Contradictions, clusters, and what counts as use, over the wire."""

import math

import pytest
from lsprotocol import types

from editors import uri

NAN, INF = math.nan, math.inf


@pytest.fixture
async def ready(neovim, repository):
    await neovim.start(repository)
    await neovim.indexed(files=2)
    neovim.open(repository / "billing.py")
    return neovim


async def remember(ready, *texts, **more):
    return [(await ready.run("memory.capture", {"content": text, **more}))["memory"]["id"] for text in texts]


async def test_conflicts_and_clusters(ready):
    a, b, c = await remember(ready, "Never retry", "Retry three times", "Ask Ana")
    assert await ready.run("conflicts", {}) == {"edges": []}
    await ready.run("memory.link", {"id": a, "targetId": b, "edgeType": "CONTRADICTS", "weight": 0.5})
    await ready.run("memory.link", {"id": a, "targetId": c, "edgeType": "SAME_TOPIC"})
    (edge,) = (await ready.run("conflicts", {}))["edges"]
    assert set(edge) == {"sourceId", "targetId", "type", "weight", "createdAt"}
    assert (edge["sourceId"], edge["targetId"], edge["type"], edge["weight"]) == (a, b, "CONTRADICTS", 0.5)
    assert await ready.run("conflicts", {"id": b}) == {"edges": [edge]}
    assert await ready.run("conflicts", {"id": c}) == {"edges": []}
    assert "id: no memory 'nobody'" in await ready.refusal("conflicts", {"id": "nobody"})
    (found,) = (await ready.run("clusters", {}))["clusters"]
    assert found == {
        "clusterId": a,
        "centroidId": a,
        "memberIds": [a, b, c],
        "density": pytest.approx(2 / 6),
    }
    assert await ready.run("clusters", {"minSize": 4}) == {"clusters": []}
    await ready.run("memory.forget", {"id": b})
    assert await ready.run("conflicts", {}) == {"edges": []}
    await ready.run("memory.unlink", {"id": a, "targetId": c})
    assert await ready.run("clusters", {}) == {"clusters": []}
    alone = (await ready.run("clusters", {"minSize": 1}))["clusters"][1]
    assert alone == {"clusterId": c, "centroidId": c, "memberIds": [c], "density": 0}
    for wrong in (0, -1, 1.5, "2", None):
        assert "minSize" in await ready.refusal("clusters", {"minSize": wrong})


async def test_a_hover_says_that_a_memory_is_superseded(ready, repository):
    old = (await ready.capture("Never retry, it double-charges", repository / "billing.py", 3, 5))["memory"]
    title = "Retries are [safe](command:x) now"
    new = (await ready.run("memory.capture", {"content": "It was fixed", "title": title}))["memory"]
    await ready.run("memory.link", {"id": new["id"], "targetId": old["id"], "edgeType": "SUPERSEDES"})
    shown = await ready.hover_text(repository / "billing.py", 3, 5)
    assert "superseded by" in shown
    assert "[safe](" not in shown
    (listed,) = [one for one in (await ready.run("memory.list", {}))["memories"] if one["id"] == old["id"]]
    assert listed["relations"] == [{"kind": "supersededBy", "id": new["id"], "title": title}]
    message = await ready.refusal(
        "memory.link", {"id": old["id"], "targetId": new["id"], "edgeType": "SUPERSEDES"}
    )
    assert "targetId: that memory supersedes this one already" in message


async def test_what_counts_as_use(ready, repository):
    a = (await ready.capture("Never retry", repository / "billing.py", 3, 5))["memory"]["id"]
    b, c, d = await remember(ready, "Retry three times", "Ask Ana", "Ask Bo")
    assert (await ready.run("memory.confirm", {"id": a}))["memory"]["accessCount"] == 1
    await ready.run("memory.open", {"id": a})  # within the same minute, as all that follows
    await ready.until(lambda: ready.client.shown_documents)
    ready.client.shown_documents.clear()
    assert (await ready.run("memory.confirm", {"id": a}))["memory"]["accessCount"] == 1
    assert "on no code" in await ready.refusal("memory.confirm", {"id": d})
    assert (await ready.run("memory.get", {"id": d}))["memory"]["accessCount"] == 0

    await ready.run("memory.access", {"ids": [b, c]})
    (edge,) = (await ready.run("memory.get", {"id": b}))["edges"]
    assert (edge["type"], edge["weight"]) == ("CO_ACTIVATED", 0.1)
    await ready.run("memory.access", {"ids": [b, c]})
    assert (await ready.run("memory.get", {"id": c}))["edges"] == [edge]
    assert (await ready.run("memory.get", {"id": d}))["edges"] == []


async def test_what_is_wrong_is_named_and_nothing_is_written(ready, repository):
    a, b = await remember(ready, "Never retry", "word " * 300)
    place = {"uri": uri(repository / "billing.py"), "position": {"line": 3, "character": 5}}
    before = sorted((path, path.read_bytes()) for path in repository.glob(".git/mnemolens/journal/*.jsonl"))
    assert before
    pair = {"id": a, "targetId": b}
    wrong = [
        *(("memory.link", {**pair, "weight": one}, "weight: ") for one in (-0.1, 1.1, "1", True, NAN, INF)),
        ("memory.link", {**pair, "edgeType": "LIKES"}, "edgeType: "),
        ("memory.link", {"id": a, "targetId": a}, "targetId: "),
        ("memory.link", {"id": a, "targetId": "nobody"}, "targetId: "),
        ("memory.link", {"id": "nobody", "targetId": b}, "id: "),
        ("memory.unlink", {"id": a, "targetId": "nobody"}, "targetId: "),
        ("memory.update", {"id": a, "importance": -0.1}, "importance: "),
        ("memory.update", {"id": a, "importance": NAN}, "importance: "),
        ("memory.capture", {"content": "x", "importance": INF}, "importance: "),
        ("memory.capture", {"content": "x", "dueAt": "the day after"}, "dueAt: "),
        ("memory.access", {"ids": [a, "nobody"]}, "nobody"),
        ("recall", {"query": "retry", "tokenBudget": -1, "record": True}, "tokenBudget: "),
        ("recall", {"query": "retry", "tokenBudget": 1.5}, "tokenBudget: "),
        ("recall", {"query": "retry", "layers": ["deep"]}, "layers"),
        ("recall", {"query": "retry", "limit": 0}, "limit: "),
        ("context", {**place, "tokenBudget": -1, "record": True}, "tokenBudget: "),
        ("conflicts", {"id": "nobody"}, "id: "),
    ]
    for command, arguments, says in wrong:
        assert says in await ready.refusal(command, arguments), (command, arguments)
    # A budget of nothing, and a memory that is larger than the budget, are no mistakes.
    nothing = await ready.run("recall", {"query": "retry", "tokenBudget": 0, "record": True})
    assert (nothing["memories"], nothing["stats"]["tokensUsed"]) == ([], 0)
    assert (await ready.run("recall", {"query": "word", "tokenBudget": 50, "record": True}))["memories"] == []
    assert (await ready.run("context", {**place, "tokenBudget": 0, "record": True}))["markdown"] == ""
    assert before == sorted((path, path.read_bytes()) for path, _ in before)


@pytest.mark.parametrize("answer", ["Forget", "Keep"])
async def test_what_has_faded_is_offered_and_nothing_is_forgotten_unasked(neovim, repository, answer):
    questions = []

    @neovim.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def asked(ls, params):  # noqa: ARG001 - pygls knows the client by that name
        questions.append(params)
        return types.MessageActionItem(answer)

    often = {"background_tasks": {"archival_check_interval": 1, "cleanup_threshold": 0.05}}
    await neovim.start(repository, settings=often)
    await neovim.indexed(files=2)
    (old,) = await remember(neovim, "An old plan, [gone](command:x)", importance=0.01)
    (new,) = await remember(neovim, "Never retry")
    await neovim.until(lambda: questions)

    async def status(memory_id):
        return (await neovim.run("memory.get", {"id": memory_id}))["memory"]["status"]

    async def is_forgotten():
        return await status(old) == "forgotten"

    if answer == "Forget":
        await neovim.until(is_forgotten)
    assert await status(old) == ("forgotten" if answer == "Forget" else "active")
    assert await status(new) == "active"
    (question,) = questions
    assert question.message.startswith("1 memory has faded")
    assert "command:" not in question.message
    assert [action.title for action in question.actions] == ["Forget", "Keep"]

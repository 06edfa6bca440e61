"""Searching over the protocol: lists, recall, what is said of finds, offers, and what is known already."""

import pytest

PROSE = '''\
def charge(card, amount):
    """Take money from a customer's credit card through the payment provider."""
    return card.provider.take(amount)


def refund(card, amount):
    """Give the whole amount back to the bank account."""
    return card.bank.give(amount)
'''
NOTE = "The credit card of a customer may be declined by the provider of payment at night"


@pytest.fixture
async def ready(neovim, repository):
    (repository / "cards.py").write_text(PROSE)
    await neovim.start(repository)
    await neovim.indexed(files=3)
    return neovim


async def test_a_search_says_what_it_found_and_may_put_the_best_first(ready):
    await ready.run("memory.capture", {"content": "retry, and much else that has to do with other things"})
    await ready.run("memory.capture", {"content": "retry"})
    answer = await ready.run("memory.list", {"text": "retries", "best": True})
    assert [memory["content"][:6] for memory in answer["memories"]] == ["retry", "retry,"]
    assert answer["matches"][0] == {
        "fields": [
            {"field": "title", "words": ["retry"], "spans": [[0, 5]]},
            {"field": "content", "words": ["retry"], "spans": []},
        ],
        "snippet": {"text": "retry", "spans": [[0, 5]]},
    }
    assert "matches" not in await ready.run("memory.list")


async def test_filters_as_fields(ready, repository):
    await ready.capture("one on a function", repository / "cards.py", 0, 5)
    await ready.run("memory.capture", {"content": "one elsewhere", "type": "procedural", "tags": ["money"]})

    async def titles(**given):
        answer = await ready.run("memory.list", given)
        return [memory["title"] for memory in answer["memories"]]

    assert await titles(files=["cards.py"]) == ["one on a function"]
    assert await titles(text="one", type="procedural") == ["one elsewhere"]
    assert await titles(text="one tag:money") == ["one elsewhere"]
    assert await titles(after="2000-01-01", before="2001-01-01") == []


async def test_recall_by_a_question(ready):
    await ready.run("memory.capture", {"content": "The provider double-charges on retries"})
    await ready.run("memory.capture", {"content": "Stock is counted in spring"})
    answer = await ready.run("recall", {"query": "why is a customer charged twice by retrying?"})
    (found,) = answer["memories"]
    assert found["why"] == ["mentions charged and retrying"]
    assert answer["stats"]["query"] == "why is a customer charged twice by retrying?"
    assert found["memory"]["accessCount"] == 0


async def test_status_says_what_search_by_meaning_is_at(ready):
    [folder] = (await ready.run("status"))["folders"]
    assert folder["meaning"] == {"state": "off", "model": None, "made": 0, "due": 0, "reason": None}


async def test_code_is_offered_linked_or_refused(ready, repository):
    async def offered():  # the code is read beside requests
        preview = await ready.run("memory.preview", {"content": NOTE})
        return preview if "suggestion" in preview else None

    preview = await ready.until(offered)
    assert preview["suggestion"]["text"] == "This may be about charge()."
    assert preview["suggestion"]["target"]["qualname"] == "charge"
    assert preview["links"] == []
    memory = (await ready.run("memory.capture", {"content": NOTE}))["memory"]["id"]
    place = {"uri": (repository / "cards.py").as_uri(), "position": {"line": 0, "character": 5}}
    assert await ready.run("suggestion.refuse", {"id": memory, **place}) == {"refused": "cards.py::charge"}


async def test_almost_the_same_note_shows_the_earlier_one(ready):
    text = "The payment provider charges twice when the first answer is slow so carry a key"
    earlier = (await ready.run("memory.capture", {"content": text}))["memory"]["id"]
    (found,) = (await ready.run("memory.preview", {"content": text + "!!"}))["similar"]
    assert (found["id"], found["likeness"]) == (earlier, 1.0)


async def test_a_hover_pasted_back_stores_nothing(ready, repository):
    captured = await ready.capture("It charges twice", repository / "cards.py", 0, 5)
    hover = "It charges twice · fresh\non charge() · just now"
    answer = await ready.run("memory.capture", {"content": hover})
    assert answer["duplicateOf"] == answer["memory"]["id"] == captured["memory"]["id"]
    assert (await ready.run("memory.list"))["total"] == 1

"""Searching memories in a folder: lists, filters, what is said of a find, how the index keeps in step."""

import pytest

from folders import Folder
from mnemolens.engine.requests import ListRequest, RecallRequest
from mnemolens.search.query import Filters

FILES = {
    "billing.py": '''\
class Payment:
    def charge(self, amount):
        """Take money from the customer's card."""
        return amount


def resolve_redirects(request):
    return request
''',
    "src/stock.py": "def reserve(count):\n    return count + 1\n",
}


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES)
    yield made
    made.close()


def listed(folder, query, **fields):
    page = folder.workspace.listing.page(ListRequest(query=query, **fields), folder.now)
    assert page.total == len(page.memories)
    return [view.memory.title for view in page.memories]


def test_every_word_in_any_form_newest_first(folder):
    folder.remember("it charges twice", title="old")
    folder.clock.advance(3600)
    folder.remember("charging twice, again: charge, charge", title="new")
    folder.remember("a charge", title="other")
    assert listed(folder, "charge twice") == ["new", "old"]
    assert listed(folder, "charge twice nowhere") == []


def test_best_first_and_then_what_holds_at_least_half(folder):
    folder.remember("charge, and many more words about all that a shop does in a day", title="long")
    folder.remember("charge", title="short")
    assert listed(folder, "charge", best=True) == ["short", "long"]
    assert listed(folder, "charge nowhere", best=True) == ["short", "long"]
    assert listed(folder, "charge", best=False)[0] in {"short", "long"}
    assert listed(folder, "charge nowhere at all else", best=True) == []


def test_best_first_of_what_fits(folder):
    folder.remember("charge twice, and many more words about a day in a shop", title="long", tags=("x",))
    folder.remember("charge twice", title="short", tags=("x",))
    folder.remember("charge", title="one word", tags=("x",))
    folder.remember("twice the charge", title="turned", tags=("x",))
    gone = folder.remember("charge twice twice", title="gone", tags=("x",))
    folder.remember("charge twice twice", title="of another tag")
    folder.commit(folder.workspace.writing.forget(gone, folder.now))
    assert listed(folder, '"charge twice" tag:x', best=True) == ["short", "long"]
    assert listed(folder, "charge twice tag:x", best=True) == ["short", "turned", "long"]
    assert listed(folder, '"charge twice" tag:y', best=True) == []
    assert listed(folder, '"charge twice" nowhere tag:x', best=True) == ["short", "long"]  # half of them
    page = folder.workspace.listing.page(
        ListRequest(query="charge twice tag:x", best=True, limit=1, offset=1), folder.now
    )
    assert ([view.memory.title for view in page.memories], page.total) == (["turned"], 3)


def test_by_the_name_and_the_docstring_of_the_code_it_is_on(folder):
    folder.remember("careful here", "billing.py", "resolve_redirects", title="redirects")
    folder.remember("careful there", "billing.py", "charge(self", title="money")
    assert listed(folder, "redirect") == ["redirects"]
    assert listed(folder, "resolveRedirects") == ["redirects"]
    assert listed(folder, "customer card") == ["money"]
    assert listed(folder, "payment") == ["money"]


def test_a_typo_in_a_name(folder):
    folder.remember("careful here", "billing.py", "resolve_redirects", title="redirects")
    assert listed(folder, "reslove_redirects") == ["redirects"]
    assert listed(folder, "resolve_redircets") == ["redirects"]


def test_a_word_as_far_as_it_is_typed(folder):
    folder.remember("idempotency keys", title="keys")
    assert listed(folder, "idemp") == ["keys"]


def test_scripts_without_spaces(folder):
    folder.remember("支付服务会重复扣款", title="pay")
    folder.remember("库存最终一致", title="stock")
    for query in ("重复扣款", "支付", "款", "服务会"):
        assert listed(folder, query) == ["pay"]
    assert listed(folder, "扣存") == []


def test_a_phrase_without_a_word(folder):
    folder.remember("who wrote this (!) here", title="one")
    folder.remember("nobody did", title="other")
    for best in (True, False):
        page = folder.workspace.listing.page(ListRequest(query='"(!)"', best=best), folder.now)
        assert [view.memory.title for view in page.memories] == ["one"]
    (found,) = folder.workspace.recall.recall(RecallRequest('"(!)"'), folder.now).memories
    assert (found.view.memory.title, found.why) == ("one", ("mentions (!)",))


def test_of_a_long_question_the_rarest_words_are_looked_for(folder):
    folder.remember("zebra", title="rare")
    for number in range(30):
        folder.remember(" ".join(f"word{one}" for one in range(40)) + f" {number}", title=f"common {number}")
    question = " ".join(f"word{one}" for one in range(40)) + " zebra"
    found = folder.workspace.recall.recall(RecallRequest(question, limit=100, token_budget=10**6), folder.now)
    assert "rare" in {one.view.memory.title for one in found.memories}


def test_an_emoji_alone(folder):
    folder.remember("🔥")
    folder.remember("cold")
    assert listed(folder, "🔥") == ["🔥"]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("note type:procedural", ["b"]),
        ("type:procedural", ["b"]),
        ("note tag:Pay", ["a"]),
        ("note file:stock.py", ["b"]),
        ("note file:src", ["b"]),
        ("note file:*.py", ["a", "b"]),
        ("note file:tock.py", []),
        ("note verdict:unanchored", ["c"]),
        ("note after:2026-03-02", ["c"]),
        ("note before:2026-03-02", ["a", "b"]),
        ("note layer:archive", []),
        ("note type:procedural tag:pay", []),
        ('"note number c"', ["c"]),
        ('"note c"', []),
    ],
)
def test_filters(folder, query, titles):
    folder.remember("note number a", "billing.py", "class Payment", title="a", tags=("pay", "urgent"))
    folder.remember("note number b", "src/stock.py", "reserve", title="b", type="procedural")
    folder.clock.advance(2 * 86_400)
    folder.remember("note number c", title="c")
    assert sorted(listed(folder, query)) == titles


def test_filters_as_fields(folder):
    folder.remember("one", "billing.py", "class Payment", title="a", tags=("pay",))
    folder.remember("one", "src/stock.py", "reserve", title="b")
    assert listed(folder, "one", filters=Filters(tags=frozenset({"pay"}))) == ["a"]
    assert listed(folder, None, filters=Filters(files=frozenset({"src/stock.py"}))) == ["b"]


@pytest.mark.parametrize("query", ['"', "*", "NEAR(", "a OR", "^", ":", "type:", "(((", "\x00", "-- ' ;"])
def test_signs_are_text(folder, query):
    folder.remember("plain words")
    assert listed(folder, query) in ([], ["plain words"])


def test_an_empty_query_lists_all(folder):
    folder.remember("one")
    folder.remember("two")
    assert len(listed(folder, "")) == len(listed(folder, "   ")) == 2


def test_in_a_file_or_at_a_place_only_what_is_there(folder):
    folder.remember("charge one", "billing.py", "class Payment", title="a")
    folder.remember("charge two", "src/stock.py", "reserve", title="b")
    assert listed(folder, "charge", file="billing.py") == ["a"]
    at = folder.find("src/stock.py", "reserve")
    assert listed(folder, "charge", file="src/stock.py", position=at) == ["b"]


def test_what_changes_is_found_as_it_is_now(folder):
    made = folder.remember("first words", title="note")
    assert listed(folder, "first") == ["note"]
    folder.run(
        folder.workspace.journaling.commit(
            folder.workspace.writing.update(made, {"content": "second"}, folder.now)
        )
    )
    assert (listed(folder, "first"), listed(folder, "second")) == ([], ["note"])
    folder.run(folder.workspace.journaling.commit(folder.workspace.writing.forget(made, folder.now)))
    assert listed(folder, "second") == []
    assert listed(folder, "second", include_forgotten=True) == ["note"]


def test_a_function_renamed_is_found_by_its_new_name(folder):
    text = "def reserve(a, b):\n    left = a.count - b\n    a.take(b)\n    return max(left, 0)\n"
    folder.write_seen("src/stock.py", text)
    folder.remember("careful", "src/stock.py", "reserve", title="note")
    assert listed(folder, "reserve") == ["note"]
    folder.write_seen("src/stock.py", text.replace("reserve", "set_aside"))
    assert listed(folder, "aside") == ["note"]


def test_says_what_was_found_where(folder):
    folder.remember(
        "Before. " + "Other words. " * 30 + "The card is charged twice.",
        "billing.py",
        "charge(self",
        title="Charges are doubled",
        tags=("charge",),
    )
    page = folder.workspace.listing.page(ListRequest(query="charge card"), folder.now)
    (match,) = page.matches
    words = {one.field: one.words for one in match.fields}
    assert words["title"] == ("Charges",)
    assert words["tags"] == ("charge",)
    assert words["content"] == ("card", "charged")
    assert words["docs"] == ("card",)
    assert "names" in words
    (title,) = [one for one in match.fields if one.field == "title"]
    assert title.spans == ((0, 7),)
    assert [match.snippet[start:end] for start, end in match.spans] == ["card", "charged"]


def test_without_a_text_nothing_is_said(folder):
    folder.remember("one")
    assert folder.workspace.listing.page(ListRequest(query="type:semantic"), folder.now).matches == ()


def test_a_megabyte_is_searched(folder):
    folder.remember("needle " + "hay stack " * 99_000, title="big")
    assert listed(folder, "needle") == ["big"]


def test_a_start_reads_nothing_for_search(folder):
    folder.remember("one")
    folder.restart()
    assert len(folder.workspace.searching._index) == 0
    assert listed(folder, "one") == ["one"]

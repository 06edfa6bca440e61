"""Recall: what comes to mind for a place and for words, in which order, why, and within which budget."""

from datetime import timedelta

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings import SettingsSources, resolve_settings
from mnemolens.engine.requests import RecallRequest

FILES = {
    "billing.py": """\
class Payment:
    def charge(self, amount):
        for attempt in range(3):
            if self.send(amount, attempt):
                return True
        return False

    def send(self, amount, attempt):
        return amount > attempt


def refund(payment):
    return -payment.amount
""",
    "stock.py": "def reserve(count):\n    return count + 1\n",
}


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES)
    yield made
    made.close()


def recalled(folder, query=None, at=None, file="billing.py", **fields):
    """At the first place of `at` in the file; `at=""` is the file itself."""
    place = {} if at is None else {"file": file, "position": folder.find(file, at) if at else None}
    return folder.workspace.recall.recall(RecallRequest(query, **place, **fields), folder.now)


def titles(view):
    return [found.view.memory.title for found in view.memories]


def why(view):
    return {found.view.memory.title: found.why for found in view.memories}


@pytest.fixture
def notes(folder):
    """A memory on each thing that can hold another, and one elsewhere."""
    folder.remember("about the file", "billing.py")
    folder.remember("about the class", "billing.py", "Payment")
    folder.remember("about charging", "billing.py", "charge")
    folder.remember("about sending", "billing.py", "send(self, amount")
    folder.remember("about refunds", "billing.py", "refund")
    folder.remember("about reserving", "stock.py", "reserve")
    return folder


# At a place


def test_own_first_then_what_it_calls_its_class_and_its_file(notes):
    view = recalled(notes, at="for attempt")
    assert titles(view) == ["about charging", "about sending", "about the class", "about the file"]
    assert [found.own for found in view.memories] == [True, False, False, False]
    assert why(view) == {
        "about charging": ("on `Payment.charge()`",),
        "about sending": ("on `Payment.send()`, called here",),
        "about the class": ("on its class `Payment`",),
        "about the file": ("in billing.py",),
    }


def test_own_first_even_where_the_files_weighs_more(folder):
    folder.remember("small", "billing.py", "refund", importance=0.1)
    folder.remember("great", "billing.py", importance=1.0)
    view = recalled(folder, at="return -payment")
    assert titles(view) == ["small", "great"]
    assert view.memories[0].score < view.memories[1].score


def test_at_a_class_its_members_come_after_its_own(notes):
    view = recalled(notes, at="class Payment")
    assert titles(view)[0] == "about the class"
    assert set(titles(view)[1:]) == {"about charging", "about sending", "about the file"}
    assert why(view)["about sending"] == ("on `Payment.send()`, inside this",)


def test_at_a_file_all_that_is_in_it(notes):
    view = recalled(notes, at="")
    assert titles(view)[0] == "about the file"
    assert set(titles(view)[1:]) == {"about the class", "about charging", "about sending", "about refunds"}
    assert why(view)["about refunds"] == ("on `refund()`, inside this",)


def test_a_function_in_a_function_hears_of_the_outer_one(folder):
    folder.write("deep.py", "def outer(x):\n    def inner(y):\n        return y * 2\n    return inner(x)\n")
    folder.restart()
    folder.remember("on the outer", "deep.py", "outer")
    assert why(recalled(folder, at="return y", file="deep.py")) == {
        "on the outer": ("on `outer()`, which holds it",)
    }


def test_path_leads_from_the_memory_to_the_place(notes):
    view = recalled(notes, at="for attempt")
    paths = [[place.label for place in found.path] for found in view.memories]
    assert paths == [
        ["Payment.charge()"],
        ["Payment.send()", "Payment.charge()"],
        ["Payment", "Payment.charge()"],
        ["billing.py", "Payment.charge()"],
    ]


def test_a_place_without_memories(folder):
    folder.remember("about reserving", "stock.py", "reserve")
    assert titles(recalled(folder, at="refund")) == []


def test_no_such_file(folder):
    with pytest.raises(InvalidArgument, match=r"nope\.py"):
        folder.workspace.recall.recall(RecallRequest(file="nope.py"), folder.now)


# By words


def test_words_find_text_title_and_tags_whatever_their_form(folder):
    folder.remember("Retries double-charge the customer", title="Provider")
    folder.remember("nothing", title="retry policy")
    folder.remember("something", tags=("retry",))
    folder.remember("retryPayment() is old", title="Camels")
    folder.remember("elsewhere", title="Other")
    view = recalled(folder, "retry")
    assert set(titles(view)) == {"Provider", "retry policy", "something", "Camels"}
    assert why(view)["Provider"] == ("mentions retry",)


def test_what_holds_more_of_the_words_is_more_relevant(folder):
    folder.remember("the provider charges twice")
    folder.remember("the provider is slow")
    view = recalled(folder, "provider charges twice daily")
    assert titles(view) == ["the provider charges twice", "the provider is slow"]
    best, other = (found.activation for found in view.memories)
    assert 0 < other < best == 1.0
    assert why(view) == {
        "the provider charges twice": ("mentions provider, charges and twice",),
        "the provider is slow": ("mentions provider",),
    }


def test_a_word_that_only_begins_alike_is_said_to_be_so(folder):
    folder.remember("the configuration is read once")
    assert why(recalled(folder, "config")) == {
        "the configuration is read once": ("mentions something like config",)
    }


def test_a_query_may_filter(folder):
    folder.remember("retry by hand", type="procedural")
    folder.remember("retry is automatic")
    assert titles(recalled(folder, "retry type:procedural")) == ["retry by hand"]
    assert titles(recalled(folder, "type:procedural")) == ["retry by hand"]


def test_a_phrase_is_asked_for_as_it_stands(folder):
    folder.remember("the double charge of march")
    folder.remember("charge the double")
    view = recalled(folder, '"double charge"')
    assert titles(view) == ["the double charge of march"]
    assert titles(recalled(folder, '"(!)"')) == []


def test_own_memories_stay_before_what_the_words_find(notes):
    notes.remember("charge charge charge", importance=1.0)
    view = recalled(notes, "charge", at="for attempt")
    around = ["about sending", "about the class", "about the file"]
    assert titles(view) == ["about charging", *around, "charge charge charge"]
    assert why(view)["about charging"] == ("on `Payment.charge()`", "mentions charge")


def test_where_a_found_memory_stands_is_said(notes):
    notes.restart()  # nobody was there before
    assert why(recalled(notes, "reserving"))["about reserving"] == (
        "mentions reserving",
        "on `reserve()` in `stock.py`",
    )


def test_scripts_without_spaces(folder):
    folder.remember("支付服务会重复扣款")
    folder.remember("库存最终一致")
    assert titles(recalled(folder, "重复扣款")) == ["支付服务会重复扣款"]


def test_a_query_of_signs_finds_nothing(notes):
    assert titles(recalled(notes, "?!")) == []


# Without either


def test_without_place_and_words_all_by_rank(folder):
    folder.remember("low", importance=0.2)
    folder.remember("high", importance=0.6)
    folder.remember("true", "billing.py", "refund", importance=0.5)
    assert titles(recalled(folder)) == ["true", "high", "low"]  # .6 times a truth of .6: it is unanchored


# Rank, filters


def test_rank_is_weight_times_relevance_times_truth(folder):
    one = folder.remember("note", "billing.py", "refund")
    folder.write_seen(
        "billing.py", FILES["billing.py"].replace("return -payment.amount", "import os\n    os.abort()")
    )
    assert folder.verdict(one) == "drifted"
    [found] = recalled(folder, at="os.abort").memories
    assert found.truth == 0.8
    assert found.activation == 1.0
    assert found.score == pytest.approx(found.view.weight * 0.8)


def test_forgotten_and_expired_ones_are_left_out(folder):
    forgotten = folder.remember("forgotten", "billing.py", "refund")
    folder.commit(folder.workspace.writing.forget(forgotten, folder.now))
    folder.remember("expired", "billing.py", "refund", expires_at=folder.now)
    folder.remember("expires tomorrow", "billing.py", "refund", expires_at=folder.now + timedelta(days=1))
    view = recalled(folder, at="refund")
    assert titles(view) == ["expires tomorrow"]
    assert view.stats.total_memories == 1
    assert titles(recalled(folder, "forgotten")) == []


def test_what_has_faded_below_the_least_weight_is_left_out(tmp_path):
    settings, _ = resolve_settings(SettingsSources(editor={"memory.decay.min_weight": 0.3}))
    folder = Folder(tmp_path, FILES, settings)
    folder.remember("faint", "billing.py", "refund", importance=0.2)  # .2 times 1.2: it was just written
    folder.remember("clear", "billing.py", "refund", importance=0.3)
    assert titles(recalled(folder, at="refund")) == ["clear"]
    folder.close()


def test_layers(folder):
    folder.remember("core", importance=1.0)
    folder.remember("active", importance=0.5)
    assert titles(recalled(folder, layers=("core",))) == ["core"]
    assert set(titles(recalled(folder, layers=("core", "active")))) == {"core", "active"}


def test_sessions_and_agents(folder):
    folder.remember("a", session_id="s1", agent_id="claude")
    folder.remember("b", session_id="s1", agent_id="ana")
    folder.remember("c")
    assert set(titles(recalled(folder, session_id="s1"))) == {"a", "b"}
    assert titles(recalled(folder, session_id="s1", agent_id="ana")) == ["b"]
    assert titles(recalled(folder, agent_id="nobody")) == []


def test_equal_ranks_stand_in_the_order_of_ids(folder):
    for name in ("m3", "m1", "m2"):
        folder.remember(f"same {name}", id=name)
    assert [found.view.memory.id for found in recalled(folder, "same").memories] == ["m1", "m2", "m3"]


# Budget, statistics


def test_what_does_not_fit_the_budget_is_passed_over(folder):
    folder.remember("word " * 50, title="long", importance=0.9)
    folder.remember("word one", title="short", importance=0.5)
    view = recalled(folder, "word", token_budget=20)
    assert titles(view) == ["short"]
    assert view.stats.tokens_used == 2
    assert titles(recalled(folder, "word", token_budget=0)) == []


def test_without_a_budget_the_setting_counts(tmp_path):
    settings, _ = resolve_settings(SettingsSources(editor={"memory.budget.total": 5}))
    folder = Folder(tmp_path, {}, settings)
    folder.remember("word one", title="first", importance=0.9)
    folder.remember("word two three", title="second")
    folder.remember("word two", title="third", importance=0.3)
    # Of 5 tokens core has 2, active 1, long-term 1; what a layer leaves goes on to the next.
    assert titles(recalled(folder, "word")) == ["first", "third"]
    folder.close()


def test_limit(notes):
    assert len(recalled(notes, limit=2).memories) == 2


def test_statistics(folder):
    folder.remember("word one", importance=1.0)
    folder.remember("word two", importance=0.5)
    folder.remember("word two three", importance=0.5)
    folder.remember("other")
    stats = recalled(folder, " word ").stats
    assert stats.query == "word"
    assert stats.total_memories == 4
    assert stats.layers == {"core": {"count": 1, "tokens": 2}, "active": {"count": 2, "tokens": 5}}
    assert stats.tokens_used == 7
    assert stats.retrieval_time_ms >= 0


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"token_budget": -1}, "tokenBudget"),
        ({"layers": ("deep",)}, "layers"),
    ],
)
def test_arguments_that_mean_nothing(folder, fields, named):
    with pytest.raises(InvalidArgument) as caught:
        recalled(folder, **fields)
    assert caught.value.field == named


def test_reading_never_writes(notes):
    store = notes.workspace.layout.store
    before = {path: path.read_bytes() for path in store.rglob("*.jsonl")}
    recalled(notes, "about", at="for attempt")
    assert {path: path.read_bytes() for path in store.rglob("*.jsonl")} == before


def test_what_is_recorded_counts_as_used(notes):
    [found] = recalled(notes, "refunds").memories
    notes.workspace.journaling.access_sync([found.view.memory.id], notes.now)
    [again] = recalled(notes, "refunds").memories
    assert again.view.memory.access_count == 1


def test_what_is_not_looked_at_could_not_have_been_among_the_best(folder, monkeypatch):
    for number in range(12):
        # The more often a note holds the word, the more relevant it is, and the less it weighs.
        folder.remember(f"note {number} " + "retry " * (number + 1), importance=1 - number / 12)
    request = RecallRequest("retry", limit=3)
    everything = folder.workspace.recall.recall(request, folder.now)
    monkeypatch.setattr("mnemolens.engine.recall._ENOUGH", 1)
    first = folder.workspace.recall.recall(request, folder.now)
    assert [one.view.memory.id for one in first.memories] == [
        one.view.memory.id for one in everything.memories
    ]
    assert len(first.memories) == 3


def test_the_total_follows_what_is_stored_forgotten_and_expired(folder):
    def total(now=None):
        return folder.workspace.recall.recall(RecallRequest("x"), now or folder.now).stats.total_memories

    assert total() == 0
    one = folder.remember("one")
    folder.remember("two", expires_at=folder.later(hours=1))
    assert (total(), total(folder.later(hours=2))) == (2, 1)
    folder.commit(folder.workspace.writing.forget(one, folder.now))
    assert total() == 1
    folder.commit(folder.workspace.writing.restore(one, folder.now))
    assert total() == 2

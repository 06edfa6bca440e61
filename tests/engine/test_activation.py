"""What lights up where somebody stands: by which way, how strongly beside others, and in which words."""

import pytest

from folders import Folder
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.activation import Factors, JointActivation, words
from mnemolens.engine.requests import RecallRequest
from mnemolens.engine.status import journal_status_of

PAY = """\
from shop.net import retry
from shop.base import Base


class Payment(Base):
    def charge(self, order):
        return retry(self.total(order))

    def total(self, order):
        return sum(order)

    def close(self):
        pass


def checkout(order):
    return Payment().charge(order)


def quiet():
    return 1
"""
NET = """\
def retry(call):
    return backoff(call)


def backoff(call):
    return call
"""
BASE = """\
class Base:
    def close(self):
        pass
"""

TWO = """\
def left():
    return 1


def right():
    return 2


def both():
    return left() + right()
"""


@pytest.fixture
def shop(tmp_path):
    folder = Folder(
        tmp_path,
        {"shop/__init__.py": "", "shop/pay.py": PAY, "shop/net.py": NET, "shop/base.py": BASE},
    )
    yield folder
    folder.close()


def key(name):
    file, qualname = name.split("::")
    return SymbolKey(file, qualname)


def lit(shop, name, visited=()):
    workspace = shop.workspace
    joint = JointActivation(workspace.state, workspace.links, workspace.code)
    return joint.around(key(name), [key(one) for one in visited])


def said(shop, name, memory_id, visited=()):
    return spoken(shop, lit(shop, name, visited)[memory_id])


def spoken(shop, found):
    return words(
        found,
        lambda one: f"`{shop.workspace.show.place(one).label}`",
        lambda one: shop.workspace.state.memory(one).title,
    )


def test_a_memory_on_what_is_called_lights_up_at_the_caller_and_says_so(shop):
    memory = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    found = lit(shop, "shop/pay.py::Payment.charge")[memory]
    assert not found.own
    assert said(shop, "shop/pay.py::Payment.charge", memory) == "on `retry()`, called here"


def test_a_quiet_function_stays_quiet(shop):
    shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    shop.remember("Amounts in cents.", "shop/pay.py", "total")
    assert lit(shop, "shop/pay.py::quiet") == {}


def test_the_own_memory_is_the_strongest(shop):
    own = shop.remember("Never twice.", "shop/pay.py", "charge")
    other = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    found = lit(shop, "shop/pay.py::Payment.charge")
    assert found[own].own
    assert found[own].activation == 1.0
    assert 0 < found[other].activation < 1.0


@pytest.mark.parametrize(
    ("file", "on", "focus", "expected"),
    [
        ("shop/pay.py", "charge", "shop/pay.py::Payment.charge", "on `Payment.charge()`"),
        (
            "shop/net.py",
            "backoff(call):",
            "shop/pay.py::Payment.charge",
            "on `backoff()`, called by `retry()`, called here",
        ),
        ("shop/pay.py", "checkout", "shop/pay.py::Payment.charge", "on `checkout()`, which calls this"),
        ("shop/pay.py", "Payment", "shop/pay.py::Payment.charge", "on its class `Payment`"),
        ("shop/pay.py", "charge", "shop/pay.py::Payment", "on `Payment.charge()`, inside this"),
        ("shop/base.py", "close", "shop/pay.py::Payment.close", "on `Base.close()`, which this derives from"),
        ("shop/base.py", "Base", "shop/pay.py::Payment", "on `Base`, which this derives from"),
        ("shop/base.py", "Base", "shop/pay.py::Payment.total", "on `Base`, which its class derives from"),
        ("shop/pay.py", "total", "shop/pay.py::Payment.close", None),
    ],
)
def test_ways_and_their_words(shop, file, on, focus, expected):
    memory = shop.remember("Mind this.", file, on)
    assert (said(shop, focus, memory) if memory in lit(shop, focus) else None) == expected


def test_each_call_further_away_is_weaker(shop):
    near = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    far = shop.remember("Sleeps for up to a minute.", "shop/net.py", "backoff(call):")
    found = lit(shop, "shop/pay.py::Payment.charge")
    assert found[far].activation < found[near].activation < 1


def test_memories_lead_to_memories(shop):
    first = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    second = shop.remember("The provider repeats its calls.")
    shop.commit(
        shop.workspace.attaching.link(
            first, target_id=second, edge_type="SAME_TOPIC", weight=1.0, now=shop.now
        )
    )
    assert (
        lit(shop, "shop/net.py::retry")[second].activation < lit(shop, "shop/net.py::retry")[first].activation
    )
    assert said(shop, "shop/net.py::retry", second) == "same topic as “Keep it idempotent.”"


@pytest.mark.parametrize(
    ("edge_type", "of_target", "of_source"),
    [
        ("CAUSED_BY", "the cause of “{}”", "caused by “{}”"),
        ("SUPERSEDES", "superseded by “{}”", "supersedes “{}”"),
        ("CONTRADICTS", "contradicts “{}”", "contradicts “{}”"),
        ("SHARED_ENTITY", "about the same thing as “{}”", "about the same thing as “{}”"),
        ("TEMPORAL_SEQUENCE", "comes after “{}”", "comes before “{}”"),
        ("SCHEMA_INSTANCE", "the pattern of “{}”", "an example of “{}”"),
    ],
)
def test_an_edge_says_what_it_is_from_both_ends(shop, edge_type, of_target, of_source):
    source = shop.remember("Calls twice.", "shop/net.py", "retry")
    target = shop.remember("The provider charged twice.", "shop/net.py", "backoff(call):")
    shop.commit(
        shop.workspace.attaching.link(source, target_id=target, edge_type=edge_type, weight=1.0, now=shop.now)
    )
    joint = JointActivation(shop.workspace.state, shop.workspace.links, shop.workspace.code)
    joint.factors = Factors(calls=0.0, caller=0.0, file=0.0)  # only the edge is left
    assert spoken(shop, joint.around(key("shop/net.py::retry"))[target]) == of_target.format("Calls twice.")
    lit_there = joint.around(key("shop/net.py::backoff"))
    assert spoken(shop, lit_there[source]) == of_source.format("The provider charged twice.")


def test_memories_recalled_together_say_how_often_and_with_which(shop):
    first = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    second = shop.remember("The provider repeats its calls.")
    at = "shop/net.py::retry"
    for _ in range(3):
        shop.run(shop.workspace.journaling.access([first, second], shop.now))
    assert said(shop, at, second) == "recalled together 3 times with “Keep it idempotent.”"
    shop.restart()
    assert said(shop, at, second) == "recalled together 3 times with “Keep it idempotent.”"


def test_a_memory_that_is_gone_leads_nowhere(shop):
    first = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    middle, last = shop.remember("The provider repeats."), shop.remember("Ask the provider.")
    for one, other in ((first, middle), (middle, last)):
        shop.commit(
            shop.workspace.attaching.link(
                one, target_id=other, edge_type="SAME_TOPIC", weight=1.0, now=shop.now
            )
        )
    assert last in lit(shop, "shop/net.py::retry")
    shop.commit(shop.workspace.writing.forget(middle, shop.now))
    assert set(lit(shop, "shop/net.py::retry")) == {first}


def test_a_hub_lights_nothing(tmp_path):
    callers = "".join(f"def f{n}():\n    return log()\n\n\n" for n in range(60))
    folder = Folder(tmp_path, {"hub.py": f"def log():\n    return 1\n\n\n{callers}"})
    memory = folder.remember("Sends mail.", "hub.py", "f7():")
    assert memory not in lit(folder, "hub.py::log")
    folder.close()


def test_what_everybody_calls_is_shown_at_none_of_its_callers(tmp_path):
    callers = "".join(f"def f{n}():\n    return log()\n\n\n" for n in range(60))
    folder = Folder(tmp_path, {"hub.py": f"def log():\n    return 1\n\n\n{callers}"})
    memory = folder.remember("Never log names.", "hub.py", "log():", importance=1.0)
    assert memory in lit(folder, "hub.py::log")
    assert memory not in lit(folder, "hub.py::f7")
    folder.close()


def test_what_was_visited_before_strengthens_weakly_and_lights_nothing(shop):
    memory = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    assert lit(shop, "shop/pay.py::quiet", ["shop/net.py::retry"]) == {}
    unprimed = lit(shop, "shop/pay.py::Payment.charge")[memory]
    last = lit(shop, "shop/pay.py::Payment.charge", ["shop/net.py::retry"])[memory]
    before = lit(shop, "shop/pay.py::Payment.charge", ["shop/pay.py::quiet", "shop/net.py::retry"])[memory]
    assert unprimed.strength == unprimed.activation
    assert unprimed.strength < before.strength < last.strength <= 1.25 * unprimed.strength
    assert last.activation == unprimed.activation


def test_a_visit_decides_between_equals(shop):
    """Of two functions that are called here, the one that somebody comes from matters more."""
    shop.write_seen("shop/two.py", TWO)
    shop.open("shop/two.py")
    for name in ("left", "right"):
        shop.remember(f"Mind the {name}.", "shop/two.py", f"{name}():", importance=1.0)
    assert sorted(shop.titles("shop/two.py", "both")) == ["Mind the left.", "Mind the right."]
    for name in ("left", "right", "left"):
        shop.titles("shop/two.py", f"{name}():")
        assert shop.titles("shop/two.py", "both")[0] == f"Mind the {name}."


def test_capture_recall_and_open_are_visits_too(shop):
    shop.write_seen("shop/two.py", TWO)
    shop.open("shop/two.py")
    left = shop.remember("Mind the left.", "shop/two.py", "left():", importance=1.0)
    shop.remember("Mind the right.", "shop/two.py", "right():", importance=1.0)

    def first():
        return shop.titles("shop/two.py", "both")[0]

    assert first() == "Mind the right."  # it was captured last
    shop.run(shop.workspace.opened.open([left], shop.now, used=()))
    assert first() == "Mind the left."
    at = shop.find("shop/two.py", "right():")
    shop.workspace.recall.recall(RecallRequest(file="shop/two.py", position=at), shop.now)
    assert first() == "Mind the right."


def test_visits_show_nothing_in_a_hover(shop):
    shop.open("shop/pay.py")
    shop.open("shop/net.py")
    for number in range(5):
        shop.remember(f"Never {number}.", "shop/net.py", "retry", importance=1.0)
    shop.hover("shop/net.py", "retry")
    assert shop.hover("shop/pay.py", "quiet") is None


def test_what_the_words_find_is_first_where_somebody_was_before(shop):
    shop.open("shop/net.py")
    shop.remember("Sleeps between attempts.", "shop/net.py", "retry")
    shop.remember("Sleeps between attempts, too.", "shop/net.py", "backoff(call):")

    def found():
        view = shop.workspace.recall.recall(RecallRequest("sleeps attempts"), shop.now)
        return [one.view.memory.content for one in view.memories], view.memories[0].why

    for name, first in (
        ("retry", "Sleeps between attempts."),
        ("backoff(call):", "Sleeps between attempts, too."),
    ):
        shop.hover("shop/net.py", name)
        contents, why = found()
        assert contents[0] == first
        assert "near where you were before" in why
    assert shop.workspace.recall.recall(RecallRequest("zebra"), shop.now).memories == ()


def test_a_forgotten_memory_is_not_lit(shop):
    memory = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    shop.commit(shop.workspace.writing.forget(memory, shop.now))
    assert lit(shop, "shop/pay.py::Payment.charge") == {}


def test_a_hover_shows_what_is_on_a_called_function_and_says_so(shop):
    shop.open("shop/pay.py")
    shop.remember("Keep it idempotent.", "shop/net.py", "retry", importance=1.0)
    view = shop.hover("shop/pay.py", "charge(self")
    assert [(item.title, item.own, item.why) for item in view.items] == [
        ("Keep it idempotent.", False, "on `retry()`, called here")
    ]
    assert shop.hover("shop/pay.py", "quiet") is None


def test_own_memories_come_first_and_fill_the_hover(shop):
    shop.open("shop/pay.py")
    shop.remember("Keep it idempotent.", "shop/net.py", "retry", importance=1.0)
    for number in range(3):
        shop.remember(f"Own {number}", "shop/pay.py", "charge(self", importance=0.2)
    view = shop.hover("shop/pay.py", "charge(self")
    assert [item.own for item in view.items] == [True, True, True]
    assert view.hidden == 1


def test_the_threshold_keeps_weak_neighbours_out(shop):
    shop.open("shop/pay.py")
    shop.remember("Hardly matters.", "shop/net.py", "retry", importance=0.1)
    assert shop.hover("shop/pay.py", "charge(self") is None


def test_hovering_writes_nothing(shop):
    shop.open("shop/pay.py")
    shop.remember("Keep it idempotent.", "shop/net.py", "retry", importance=1.0)
    before = journal_status_of(shop.workspace).events
    for needle in ("charge(self", "checkout", "quiet"):
        shop.hover("shop/pay.py", needle)
    shop.pass_time(3)
    assert journal_status_of(shop.workspace).events == before

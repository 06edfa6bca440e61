"""What lights up where somebody stands: by which way, how strongly beside others, and in which words."""

import pytest

from folders import Folder
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.activation import JointActivation, words

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
    joint = JointActivation(workspace._state, workspace._links, workspace._code)
    return joint.around(key(name), [key(one) for one in visited])


def said(shop, name, memory_id, visited=()):
    found = lit(shop, name, visited)[memory_id]
    return words(
        found,
        lambda one: f"`{shop.workspace._show.place(one).label}`",
        lambda one: shop.workspace._state.memory(one).title,
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
        shop.workspace.link(first, target_id=second, edge_type="SAME_TOPIC", weight=1.0, now=shop.now)
    )
    assert (
        lit(shop, "shop/net.py::retry")[second].activation < lit(shop, "shop/net.py::retry")[first].activation
    )
    assert said(shop, "shop/net.py::retry", second) == "linked to “Keep it idempotent.”"


def test_a_hub_lights_nothing(tmp_path):
    callers = "".join(f"def f{n}():\n    return log()\n\n\n" for n in range(60))
    folder = Folder(tmp_path, {"hub.py": f"def log():\n    return 1\n\n\n{callers}"})
    memory = folder.remember("Sends mail.", "hub.py", "f7():")
    assert memory not in lit(folder, "hub.py::log")
    folder.close()


def test_what_was_visited_before_primes_weakly_the_last_most(shop):
    last = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    before = shop.remember("Sleeps.", "shop/net.py", "backoff(call):")
    assert lit(shop, "shop/pay.py::quiet") == {}
    found = lit(shop, "shop/pay.py::quiet", ["shop/net.py::retry", "shop/net.py::backoff"])
    assert found[before].activation < found[last].activation <= 0.25
    words_ = said(shop, "shop/pay.py::quiet", last, ["shop/net.py::retry"])
    assert words_ == "on `retry()`, where you were before"


def test_a_forgotten_memory_is_not_lit(shop):
    memory = shop.remember("Keep it idempotent.", "shop/net.py", "retry")
    shop.commit(shop.workspace.forget(memory, shop.now))
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
    before = shop.workspace.journal_status().events
    for needle in ("charge(self", "checkout", "quiet"):
        shop.hover("shop/pay.py", needle)
    shop.pass_time(3)
    assert shop.workspace.journal_status().events == before

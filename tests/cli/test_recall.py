"""`mnemolens recall`: what is printed, for people and for programs; what it imports; what it writes."""

import json
import subprocess
import sys

import pytest

from mnemolens.core.errors import StoreError
from mnemolens.store.journal import Journal

RECALL = {"memory", "score", "weight", "activation", "truth", "layer", "verdict", "own", "why", "path"}
MEMORY = {
    "id", "type", "title", "content", "tags", "metadata", "importance", "pinned", "status", "weight", "layer",
    "verdict", "accessCount", "createdAt", "accessedAt", "sessionId", "agentId", "author", "parentId",
    "expiresAt", "dueAt", "trigger", "born", "tokenCount", "contentHash",
}  # fmt: skip
STATS = {"query", "totalMemories", "layers", "tokensUsed", "retrievalTimeMs"}


@pytest.fixture
def noted(shell):
    shell.remember("The provider double-charges.\nSee the incident.", "--title", "Retry must stay idempotent",
                   "--at", "shop/pay.py::charge", "--session", "s1")  # fmt: skip
    shell.remember("Ask Ana first", "--at", "shop/pay.py::Payment", "--agent", "claude")
    shell.remember("All of it is legacy", "--at", "shop/pay.py")
    shell.remember("Counts are eventually consistent", "--at", "shop/stock.py::reserve")
    return shell


def titles(ran):
    return [found["memory"]["title"] for found in ran.json["memories"]]


@pytest.mark.parametrize("query", ["verdict:fresh", "file:stock.py", "type:semantic file:stock.py"])
def test_filters_know_the_code_that_memories_are_on(noted, query):
    found = {
        one["memory"]["title"]: one["verdict"] for one in noted("recall", query, "--json").json["memories"]
    }
    assert found["Counts are eventually consistent"] == "fresh"
    assert len(found) == (4 if query == "verdict:fresh" else 1)


def test_what_the_code_says_of_itself_is_searched_too(noted):
    path = noted.folder / "shop" / "stock.py"
    path.write_text(path.read_text().replace("count):\n", 'count):\n    """Puts articles aside."""\n'))
    assert titles(noted("recall", "articles", "--json")) == ["Counts are eventually consistent"]


def test_at_a_line_for_people(noted):
    ran = noted("recall", "--at", "shop/pay.py:6")
    assert ran.code == 0
    blocks = [block.splitlines() for block in ran.out.strip().split("\n\n")]
    assert [block[0].rsplit("  ", 1)[0] for block in blocks] == [
        "Retry must stay idempotent · fresh",
        "Ask Ana first · fresh",
        "All of it is legacy · fresh",
    ]
    assert blocks[0][1:] == [
        "  The provider double-charges.",
        "  See the incident.",
        "  on `Payment.charge()` · by Ana, just now",
    ]
    assert blocks[1][1] == "  on its class `Payment` · by Ana, just now"
    assert ran.err == ""


def test_for_programs(noted):
    ran = noted("recall", "--at", "shop/pay.py:6", "--json")
    assert set(ran.json) == {"memories", "stats"}
    assert set(ran.json["stats"]) == STATS
    assert ran.json["stats"]["totalMemories"] == 4
    first = ran.json["memories"][0]
    assert set(first) == RECALL
    assert set(first["memory"]) == MEMORY
    assert first["own"] is True
    assert first["why"] == ["on `Payment.charge()`"]
    assert first["path"][0]["id"] == "shop/pay.py::Payment.charge"
    assert first["path"][0]["range"] == {
        "start": {"line": 4, "character": 4},
        "end": {"line": 9, "character": 20},
    }
    assert first["score"] == pytest.approx(first["weight"])


def test_by_words(noted):
    assert titles(noted("recall", "double", "charges", "--json")) == ["Retry must stay idempotent"]
    assert titles(noted("recall", "double charges", "--json")) == ["Retry must stay idempotent"]


def test_by_both(noted):
    ran = noted("recall", "--at", "shop/pay.py::refund", "eventually", "--json")
    assert titles(ran) == ["All of it is legacy", "Counts are eventually consistent"]


def test_by_neither(noted):
    assert len(titles(noted("recall", "--json"))) == 4
    assert len(titles(noted("recall", "--json", "--limit", "2"))) == 2


def test_budget(noted):
    ran = noted("recall", "--json", "--budget", "4")
    assert titles(ran) == ["Ask Ana first"]
    assert ran.json["stats"]["tokensUsed"] <= 4


def test_a_budget_that_holds_nothing_says_so(noted):
    ran = noted("recall", "--at", "shop/stock.py::reserve", "--budget", "0", "--explain")
    assert ran.code == 1
    assert ran.out == ""
    assert "nothing recalled within 0 tokens" in ran.err


def test_says_once_how_often_something_was_recalled(noted):
    for _ in range(2):
        noted("recall", "--at", "shop/stock.py::reserve")
    assert noted("recall", "--at", "shop/stock.py::reserve").out.count("recalled 2 times") == 1


def test_session_agent_layer(noted):
    assert titles(noted("recall", "--json", "--session", "s1")) == ["Retry must stay idempotent"]
    assert titles(noted("recall", "--json", "--agent", "claude")) == ["Ask Ana first"]
    assert titles(noted("recall", "--json", "--layer", "archive")) == []


def test_explain(noted):
    ran = noted("recall", "--at", "shop/stock.py::reserve", "--explain")
    [line] = [line.strip() for line in ran.out.splitlines() if "rank" in line]
    rank, rest = line.removeprefix("rank ").split(" = ")
    assert rest.startswith(f"weight {rank} (active) × relevance 1.00 × truth 1.00 (fresh) · ")


def test_counts_as_used_unless_told_not_to(noted):
    def used(*arguments):
        ran = noted("recall", "--json", "reserve counts", "--limit", "1", *arguments)
        return ran.json["memories"][0]["memory"]["accessCount"]

    assert used("--no-record") == 0
    assert used() == 0
    assert used("--no-record") == 1
    assert used("--no-record") == 1


@pytest.mark.parametrize("arguments", [("nowhere",), ("--at", "notes.txt"), ("--session", "none")])
def test_nothing_is_known(noted, arguments):
    ran = noted("recall", *arguments)
    assert (ran.code, ran.out) == (1, "")
    assert "4" in ran.error
    ran = noted("recall", "--json", *arguments)
    assert (ran.code, ran.json["memories"], ran.err) == (1, [], "")


def test_nothing_is_stored_yet(shell):
    ran = shell("recall", "--at", "shop/pay.py:6")
    assert (ran.code, ran.out) == (1, "")
    assert "remember" in ran.error
    assert not (shell.folder / ".git" / "mnemolens").exists()


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (("--limit", "0"), "--limit"),
        (("--budget", "-1"), "--budget"),
        (("--layer", "deep"), "--layer"),
        (("--at", "nope.py"), "--at"),
    ],
)
def test_arguments_that_mean_nothing(noted, arguments, flag):
    ran = noted("recall", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.error.startswith(f"mnemolens: {flag}: ")


def test_drift_is_told(noted):
    path = noted.folder / "shop" / "stock.py"
    path.write_text(
        "def reserve(sku, count):\n    for one in sku:\n        one.take(count)\n    return None\n"
    )
    ran = noted("recall", "--at", "shop/stock.py:2")
    assert ran.out.startswith("Counts are eventually consistent · drifted")


def test_moved_code_is_found_and_remembered_so(noted):
    source = noted.folder / "shop" / "pay.py"
    text = source.read_text()
    (noted.folder / "shop" / "billing.py").write_text(text)
    source.write_text("")
    ran = noted("recall", "--at", "shop/billing.py::charge", "--json")
    assert titles(ran) == ["Retry must stay idempotent", "Ask Ana first"]


@pytest.mark.parametrize(
    "command", [["recall", "--at", "shop/pay.py:6"], ["recall", "idempotent"], ["list", "--text", "ana"]]
)
@pytest.mark.usefixtures("noted")
def test_needs_neither_graph_nor_protocol(command):
    script = f"""
import sys
from mnemolens.cli.main import main
assert main({command!r}) == 0
heavy = {{"kuzu", "pygls", "lsprotocol", "multiprocessing", "watchfiles", "numpy"}}
print(sorted(heavy & {{name.partition(".")[0] for name in sys.modules}}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.usefixtures("noted")
def test_rich_is_for_terminals():
    script = """
import sys
from mnemolens.cli.main import main
assert main(["recall", "--at", "shop/pay.py:6"]) == 0
print("rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_the_answer_is_one_line_of_utf8(noted):
    noted.remember("支付 ü", "--at", "shop/stock.py")
    ran = noted.process("recall", "--json", "支付", env={"LC_ALL": "C", "PYTHONIOENCODING": ""})
    [line] = ran.out.splitlines()
    assert json.loads(line)["memories"][0]["memory"]["title"] == "支付 ü"


def test_a_wrong_setting_is_told_and_does_no_harm(noted, monkeypatch):
    monkeypatch.setenv("MNEMOLENS_MEMORY__DECAY__MIN_WEIGHT", "much")
    ran = noted("recall", "idempotent")
    assert ran.code == 0
    assert "min_weight" in ran.error


def test_a_place_brings_what_is_known_of_what_it_calls_in_other_files(shell):
    (shell.folder / "shop" / "order.py").write_text(
        "from shop import stock\nfrom shop.pay import Payment, refund\n\n\n"
        "def place(payment: Payment):\n    stock.reserve('a', 1)\n    return refund(payment)\n"
    )
    shell.remember("Refunds take a week", "--at", "shop/pay.py::refund")
    shell.remember("Counts are eventually consistent", "--at", "shop/stock.py::reserve")
    answer = shell("recall", "--at", "shop/order.py::place", "--json").json
    assert {one["memory"]["title"] for one in answer["memories"]} == {
        "Refunds take a week", "Counts are eventually consistent",
    }  # fmt: skip


def test_what_can_not_be_counted_as_used_is_an_answer_all_the_same(noted, monkeypatch):
    def refused(*_):
        raise StoreError("can't write to the journal")

    monkeypatch.setattr(Journal, "access", refused)
    ran = noted("recall", "double-charges", "--json")
    assert titles(ran) == ["Retry must stay idempotent"]
    assert ran.code == 0
    assert "can't write to the journal" in ran.error

"""Old memories find new code that they name, and all find theirs anew when the rules of linking change."""

import asyncio

import pytest

from folders import Folder
from mnemolens.core.settings import Settings
from mnemolens.engine import offload
from mnemolens.engine.status import status_of

TICKETS = {f"shop/step{number}.py": f"def step_{number}():\n    return {number}\n" for number in range(12)}
RULES = {"rules": [{"pattern": r"\bstep #([0-9a-z_]+)", "kind": "function", "score": 0.9}]}


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, TICKETS)
    yield made
    made.close()


@pytest.fixture
def ids(folder):
    """Twelve memories that only the project's own rule links, in the order of their making."""
    return [folder.remember(f"see step #step_{number}, it is slow") for number in range(12)]


@pytest.fixture(autouse=True)
def one_a_slice(monkeypatch):
    """A slice ends after each memory, as it does where there are very many."""
    monkeypatch.setattr(offload, "SLICE_SECONDS", 0.0)


def with_rules(**linking):
    return Settings.model_validate({"linking": linking})


def linked(folder, memory_id):
    return {link.target.key.id for link in folder.workspace.show.links_of(memory_id) if not link.candidate}


def linked_by_rule(folder, ids):
    """How many memories the rule has linked."""
    return sum(
        any(
            link.evidence is not None and link.evidence.rule == "custom"
            for link in folder.workspace.show.links_of(one)
        )
        for one in ids
    )


def test_all_are_linked_by_new_rules_beside_requests(folder, ids):
    relinking = folder.workspace.relinking
    seen = []

    async def change():
        folder.workspace.apply_settings(with_rules(**RULES))
        assert relinking.left == 12
        relinking.on_progress = lambda done, total: seen.append((done, total))
        await asyncio.wait_for(relinking.task, 30)

    folder.run(change())
    assert linked_by_rule(folder, ids) == 12
    assert seen == [(number, 12) for number in range(1, 13)]
    assert (relinking.left, relinking.task) == (0, None)


def cancel_after(folder, many):
    """Changes the rules, and cancels when so many memories are done."""

    async def change():
        folder.workspace.apply_settings(with_rules(**RULES))
        relinking = folder.workspace.relinking
        task = relinking.task
        relinking.on_progress = lambda done, _: task.cancel() if done == many else None
        await asyncio.wait({task}, timeout=30)
        assert task.cancelled()
        relinking.on_progress = None

    folder.run(change())


def test_what_a_cancel_left_keeps_its_links_until_it_goes_on(folder, ids):
    cancel_after(folder, 5)
    workspace = folder.workspace
    assert linked_by_rule(folder, ids) == 5
    assert status_of(workspace).links_due == 7

    async def go_on():
        workspace.relinking.resume()
        await asyncio.wait_for(workspace.relinking.task, 30)

    folder.run(go_on())
    assert linked_by_rule(folder, ids) == 12
    assert status_of(workspace).links_due == 0


def test_a_restart_links_all(folder, ids):
    cancel_after(folder, 3)
    folder.settings = with_rules(**RULES)
    folder.restart()
    assert linked_by_rule(folder, ids) == 12
    assert status_of(folder.workspace).links_due == 0


def test_a_new_index_links_what_a_cancel_left(folder, ids):
    cancel_after(folder, 3)
    folder.run(folder.workspace.build_index())
    assert linked_by_rule(folder, ids) == 12
    assert status_of(folder.workspace).links_due == 0


def test_a_second_change_starts_over(folder, ids):
    relinking = folder.workspace.relinking

    async def change_twice():
        folder.workspace.apply_settings(with_rules(**RULES))
        await asyncio.sleep(0.02)
        folder.workspace.apply_settings(Settings())
        assert relinking.left == 12
        await asyncio.wait_for(relinking.task, 30)

    folder.run(change_twice())
    assert linked_by_rule(folder, ids) == 0


def test_a_change_in_the_turn_in_which_a_run_ends(folder, ids):
    relinking = folder.workspace.relinking

    async def change_twice():
        folder.workspace.apply_settings(with_rules(**RULES))
        changed = asyncio.get_running_loop().create_future()

        def change(_run):
            folder.workspace.apply_settings(Settings())
            changed.set_result(None)

        relinking.task.remove_done_callback(relinking._ended)
        relinking.task.add_done_callback(change)
        relinking.task.add_done_callback(relinking._ended)
        await asyncio.wait_for(changed, 30)
        await asyncio.wait_for(relinking.task, 30)

    folder.run(change_twice())
    assert linked_by_rule(folder, ids) == 0


def test_a_change_right_after_a_cancel_is_not_cancelled(folder, ids):
    relinking = folder.workspace.relinking

    async def change_cancel_change():
        folder.workspace.apply_settings(Settings.model_validate({"linking": {"enabled": False}}))
        relinking.task.cancel()
        folder.workspace.apply_settings(with_rules(**RULES))
        await asyncio.wait_for(relinking.task, 30)

    folder.run(change_cancel_change())
    assert linked_by_rule(folder, ids) == 12


def test_where_nothing_runs_beside_all_are_linked_at_once(folder, ids):
    folder.workspace.apply_settings(with_rules(**RULES))
    assert linked_by_rule(folder, ids) == 12
    folder.workspace.apply_settings(with_rules(kinds=["content_file_match"], **RULES))
    assert linked_by_rule(folder, ids) == 0


def test_going_on_where_nothing_is_left_does_nothing(folder):
    async def go_on():
        folder.workspace.relinking.resume()

    folder.run(go_on())
    assert folder.workspace.relinking.task is None


def test_a_purged_memory_that_was_due_is_passed_over(folder, ids):
    cancel_after(folder, 3)
    folder.run(folder.workspace.exchange.purge(ids[-1]))

    async def go_on():
        folder.workspace.relinking.resume()
        await asyncio.wait_for(folder.workspace.relinking.task, 30)

    folder.run(go_on())
    assert linked_by_rule(folder, ids[:-1]) == 11


# New code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "file", "text", "wanted"),
    [
        (
            "refund_all() must wait",
            "shop/refund.py",
            "def refund_all():\n    pass\n",
            "shop/refund.py::refund_all",
        ),
        ("see shop/refund.py", "shop/refund.py", "X = 1\n", "shop/refund.py"),
        ("see refund.py:12", "shop/refund.py", "X = 1\n", "shop/refund.py"),
        (
            "`Ledger.close` twice",
            "a/l.py",
            "class Ledger:\n    def close(self): ...\n",
            "a/l.py::Ledger.close",
        ),
        (
            "(*Ledger).Close twice",
            "a/l.go",
            "package a\n\ntype Ledger struct{}\n\nfunc (l *Ledger) Close() {}\n",
            "a/l.go::Ledger.Close",
        ),
        ("`useBasket` re-renders", "web/b.ts", "export const useBasket = () => 1;\n", "web/b.ts::useBasket"),
    ],
)
def test_an_old_memory_finds_new_code_that_it_names(folder, note, file, text, wanted):
    memory_id = folder.remember(note)
    other = folder.remember("a note on nothing")
    assert linked(folder, memory_id) == set()
    folder.write_seen(file, text)
    assert wanted in linked(folder, memory_id)
    assert linked(folder, other) == set()


def test_a_class_that_is_renamed_to_what_an_old_memory_names(folder):
    folder.write_seen("shop/book.py", "class Book:\n    def close(self):\n        return 1\n")
    memory_id = folder.remember("`Ledger.close` must flush first")
    assert linked(folder, memory_id) <= {"shop/book.py"}
    folder.write_seen("shop/book.py", "class Ledger:\n    def close(self):\n        return 1\n")
    assert "shop/book.py::Ledger.close" in linked(folder, memory_id)


def test_a_name_that_gets_a_second_place_is_only_offered(folder):
    memory_id = folder.remember("`step_1` is slow")
    assert linked(folder, memory_id) == {"shop/step1.py::step_1"}
    other = folder.remember("`audit_all` is slow")
    folder.write_seen("shop/a.py", "def audit_all(): ...\n")
    folder.write_seen("shop/b.py", "def audit_all(): ...\n")
    assert "shop/b.py::audit_all" not in linked(folder, other)

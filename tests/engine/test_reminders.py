"""When a memory is due, how that is put off, and which hints stand in the code."""

from datetime import timedelta

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.settings import Settings
from mnemolens.core.text import TextChange
from mnemolens.engine.requests import ListRequest
from repositories import commit, git, init

PAY = '''def pay(order, customer):
    """Takes the money."""
    total = sum(line.price for line in order.lines)
    receipt = provider.post("/pay", total=total, customer=customer)
    return receipt


class Shop:
    def open(self):
        return self.door
'''


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"a.py": PAY, "b.py": "def other():\n    return 2\n"})
    yield made
    made.close()


def due(folder):
    return {one.memory.title: one.why for one in folder.workspace.reminders.due(folder.now)}


def waiting(folder, trigger, at="total", title="later", **fields):
    return folder.remember(
        f"{title} text", "a.py", at, title=title, type="prospective", trigger=trigger, **fields
    )


def test_a_time_that_has_come(folder):
    folder.remember("call", title="soon", type="prospective", due_at=folder.later(hours=1))
    folder.remember("call", title="much later", type="prospective", due_at=folder.later(days=9))
    assert due(folder) == {}
    folder.pass_time(3600)
    assert due(folder) == {"soon": "its time has come"}


def test_done_and_forgotten_ones_are_not_due(folder):
    one = folder.remember("call", title="a", type="prospective", due_at=folder.later(hours=1))
    two = folder.remember("write", title="b", type="prospective", due_at=folder.later(hours=1))
    folder.pass_time(3600)
    folder.commit(folder.workspace.writing.done(one, folder.now))
    folder.commit(folder.workspace.writing.forget(two, folder.now))
    assert due(folder) == {}
    folder.commit(folder.workspace.writing.restore(one, folder.now))
    assert due(folder) == {"a": "its time has come"}


def test_snooze_is_written_down_and_not_now_is_not(folder):
    one = folder.remember("call", title="a", type="prospective", due_at=folder.later(hours=1))
    two = folder.remember("write", title="b", type="prospective", due_at=folder.later(hours=1))
    folder.pass_time(3600)
    folder.commit(folder.workspace.reminders.snooze(one, folder.later(days=1), folder.now))
    folder.workspace.reminders.not_now(two, folder.now)
    assert due(folder) == {}
    folder.restart()
    assert due(folder) == {"b": "its time has come"}
    folder.clock.advance(timedelta(days=1).total_seconds())
    assert due(folder) == {"a": "its time has come", "b": "its time has come"}


def test_a_message_comes_once_a_day_from_one_of_all_windows(folder):
    def told(window):
        reminders = window.workspace.reminders
        return [one.memory.title for one in reminders.take_untold(reminders.due(window.now), window.now)]

    one = folder.remember("call", title="a", type="prospective", due_at=folder.later(hours=1))
    other = Folder(folder.root)
    folder.pass_time(3600)
    other.pass_time(3600)
    assert (told(folder), told(other), told(folder)) == (["a"], [], [])
    other.restart()
    assert told(other) == []
    folder.commit(folder.workspace.reminders.snooze(one, folder.later(hours=1), folder.now))
    folder.pass_time(3600)
    other.pass_time(3600)
    assert (told(other), told(folder)) == (["a"], [])
    folder.pass_time(timedelta(days=1).total_seconds())
    assert told(folder) == ["a"]
    other.close()


def test_what_cannot_be_snoozed(folder):
    one = folder.remember("call", title="a", type="prospective", due_at=folder.later(hours=1))
    with pytest.raises(InvalidArgument, match="dueAt"):
        folder.workspace.reminders.snooze(one, folder.now, folder.now)
    folder.commit(folder.workspace.writing.done(one, folder.now))
    with pytest.raises(InvalidArgument, match="done"):
        folder.workspace.reminders.snooze(one, folder.later(days=1), folder.now)


def test_a_change_of_the_code_once_it_has_settled(folder):
    waiting(folder, {"on": "change"})
    folder.open("a.py")
    folder.edit("a.py", [TextChange("fsum", (2, 12), (2, 15))])
    assert due(folder) == {}
    folder.pass_time(1)
    assert due(folder) == {}
    folder.pass_time(2)
    assert due(folder) == {"later": "its code has changed"}


@pytest.mark.parametrize(
    "text",
    [
        "# on top\n" + PAY.replace("    receipt", "    # said so\n    receipt"),
        PAY.replace("return self.door", "return self.doors"),
        PAY.replace('"/pay"', "'/pay'").replace("receipt.id))", "receipt.id,),)"),
    ],
)
def test_comments_layout_and_other_code_are_no_change_of_it(folder, text):
    waiting(folder, {"on": "change"})
    folder.write_seen("a.py", text)
    assert due(folder) == {}


def test_a_change_while_no_server_ran(folder):
    waiting(folder, {"on": "change"})
    folder.pass_time(1)
    folder.write("a.py", PAY.replace("sum(", "fsum("))
    folder.restart()
    assert due(folder) == {"later": "its code has changed"}


def test_a_change_of_a_class_or_file_is_one_of_anything_in_it(folder):
    waiting(folder, {"on": "change"}, "class Shop", title="class")
    waiting(folder, {"on": "change"}, "\n\nclass", title="file")
    folder.write_seen("a.py", PAY.replace("return self.door", "return self.doors"))
    assert due(folder) == {"class": "its code has changed", "file": "its code has changed"}


def test_still_true_ends_the_waiting_for_this_change(folder):
    one = waiting(folder, {"on": "change"})
    folder.write_seen("a.py", PAY.replace("sum(", "fsum("))
    folder.commit(folder.workspace.attaching.confirm(one, None, folder.now))
    assert due(folder) == {}
    folder.write_seen("a.py", PAY.replace("sum(", "gsum("))
    assert due(folder) == {"later": "its code has changed"}


def test_opening_its_file(folder):
    waiting(folder, {"on": "open"})
    folder.open("b.py")
    assert due(folder) == {}
    folder.open("a.py")
    assert due(folder) == {"later": "its file was opened"}


def test_merging_its_branch(tmp_path):
    (tmp_path / "a.py").write_text(PAY)
    init(tmp_path, at="2026-03-01T00:00:00Z")
    folder = Folder(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "side")
    commit(tmp_path, "on the side")
    folder.pass_time(1)
    waiting(folder, {"on": "merge"})
    folder.pass_time(1)
    git(tmp_path, "checkout", "-q", "main")
    folder.pass_time(1)
    assert due(folder) == {}
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "m", "side")
    folder.pass_time(1)
    assert due(folder) == {"later": "branch side was merged"}
    folder.close()


def test_a_snoozed_trigger_waits_for_its_time(folder):
    one = waiting(folder, {"on": "change"})
    folder.write_seen("a.py", PAY.replace("sum(", "fsum("))
    folder.commit(folder.workspace.reminders.snooze(one, folder.later(days=1), folder.now))
    assert due(folder) == {}
    folder.pass_time(timedelta(days=1).total_seconds())
    assert due(folder) == {"later": "its time has come"}


def test_a_time_given_with_the_trigger_is_the_latest(folder):
    waiting(folder, {"on": "change"}, due_at=folder.later(days=1))
    folder.write_seen("a.py", PAY.replace("sum(", "fsum("))
    assert due(folder) == {"later": "its code has changed"}


def test_a_prospective_memory_keeps_its_weight_until_it_is_done(folder):
    one = folder.remember("call", title="a", type="prospective", importance=0.5)
    folder.clock.advance(timedelta(days=3000).total_seconds())

    def weight():
        return folder.workspace.show.detail(one, folder.now).view.weight

    assert weight() == pytest.approx(0.5)
    folder.commit(folder.workspace.writing.done(one, folder.now))
    assert weight() < 0.01


# Hints and actions


def hints(folder):
    found = folder.workspace.hints.hints(folder.now)
    return {
        file: [(hint.code, hint.range.start.line, hint.message) for hint in some]
        for file, some in found.items()
    }


def acts(folder, needle, hinted=()):
    found = folder.workspace.actions.at("a.py", folder.find("a.py", needle), folder.now, hinted)
    return [action.act for action in found if action.repairs]


def test_a_hint_for_what_is_due(folder):
    one = folder.remember("x", "a.py", "total", title="soon", due_at=folder.later(hours=1))
    folder.pass_time(3600)
    assert hints(folder) == {"a.py": [("due", 0, "Due, as its time has come: soon")]}
    assert acts(folder, "total") == ["done", "snooze", "notNow"]
    assert acts(folder, "class Shop") == []
    assert acts(folder, "class Shop", [one]) == ["done", "snooze", "notNow"]
    folder.workspace.reminders.not_now(one, folder.now)
    assert hints(folder) == {}


def test_a_hint_for_contradictions(folder):
    one = folder.remember("x", "a.py", "total", title="Retry")
    two = folder.remember("y", "b.py", "return", title="Never retry")
    link = folder.workspace.attaching.link(
        one, target_id=two, edge_type="CONTRADICTS", weight=1.0, now=folder.now
    )
    folder.commit(link)
    assert hints(folder) == {
        "a.py": [("contradiction", 0, "Contradicted by “Never retry”: Retry")],
        "b.py": [("contradiction", 0, "Contradicted by “Retry”: Never retry")],
    }
    folder.commit(folder.workspace.writing.forget(two, folder.now))
    assert hints(folder) == {}


def test_drifted_notes_are_hinted_at_where_that_is_asked_for(folder):
    folder.remember("x", "a.py", "total", title="Money")
    folder.write_seen("a.py", PAY.replace("sum(line.price for line in order.lines)", "order.total()"))
    assert hints(folder) == {}
    folder.workspace.apply_settings(Settings(diagnostics={"drifted": True}))
    assert hints(folder) == {"a.py": [("drifted", 0, "May no longer be true: Money")]}
    assert folder.workspace.listing.page(ListRequest(verdict="drifted"), folder.now).total == 1


def test_hints_that_are_switched_off(folder):
    folder.remember("x", "a.py", "total", title="soon", due_at=folder.later(hours=1))
    folder.pass_time(3600)
    folder.workspace.apply_settings(Settings(diagnostics={"due": False}))
    assert hints(folder) == {}

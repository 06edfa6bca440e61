"""A name in several places: what is only offered can be pinned or refused, and stays so."""

import pytest

from folders import Folder

CODE = {
    "pay.py": "class Payment:\n    def retry(self):\n        return 1\n",
    "bank.py": "class Account:\n    def retry(self):\n        return 2\n",
}
PAY, BANK = "pay.py::Payment.retry", "bank.py::Account.retry"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, CODE)
    yield made
    made.close()


@pytest.fixture
def memory_id(folder):
    return folder.remember("`retry` must not be called twice", title="Once")


def links(folder, memory_id):
    """{symbol: whether it is only offered}"""
    return {link.target.key.id: link.candidate for link in folder.workspace.show.links_of(memory_id)}


def link(folder, memory_id, file):
    position = folder.find(file, "retry")
    folder.commit(folder.workspace.attaching.link(memory_id, file=file, position=position, now=folder.now))


def unlink(folder, memory_id, file):
    folder.commit(
        folder.workspace.attaching.unlink(memory_id, file=file, position=folder.find(file, "retry"))
    )


def titles(folder, file, name):
    """What a hover on the name shows."""
    folder.open(file)
    found = folder.titles(file, name)
    folder.run(folder.workspace.sources.close_document(file))
    return found


def acts(folder, file):
    found = folder.workspace.actions.at(file, folder.find(file, "retry"), folder.now)
    return {(act.act, act.title) for act in found if act.act in {"link", "unlink"}}


def test_a_name_in_two_places_is_offered_at_both_and_shown_at_none(folder, memory_id):
    assert links(folder, memory_id) == {PAY: True, BANK: True}
    assert titles(folder, "pay.py", "retry") == []
    assert acts(folder, "pay.py") == {
        ("link", "Link to Payment.retry(): Once"),
        ("unlink", "Not about Payment.retry(): Once"),
    }
    assert len(acts(folder, "bank.py")) == 2


def test_nothing_is_offered_on_other_code_nor_of_what_was_forgotten(folder, memory_id):
    folder.write_seen("shop.py", "def other():\n    return 3\n")
    assert folder.workspace.actions.at("shop.py", folder.find("shop.py", "other"), folder.now) == ()
    folder.commit(folder.workspace.writing.forget(memory_id, folder.now))
    assert acts(folder, "pay.py") == set()


def test_what_is_pinned_is_sure_and_stays_so(folder, memory_id):
    link(folder, memory_id, "pay.py")
    assert links(folder, memory_id)[PAY] is False
    assert titles(folder, "pay.py", "retry") == ["Once"]
    assert titles(folder, "bank.py", "retry") == []
    assert acts(folder, "pay.py") == set()
    folder.restart()
    assert links(folder, memory_id)[PAY] is False
    assert titles(folder, "pay.py", "retry") == ["Once"]


def test_what_is_refused_is_not_offered_again(folder, memory_id):
    unlink(folder, memory_id, "bank.py")
    assert BANK not in links(folder, memory_id)
    assert acts(folder, "bank.py") == set()
    folder.write_seen("bank.py", CODE["bank.py"] + "\n\ndef more():\n    return 3\n")
    assert BANK not in links(folder, memory_id)
    folder.restart()
    assert BANK not in links(folder, memory_id)


def test_a_sure_link_that_was_refused_stays_refused_until_it_is_made_by_hand(folder):
    folder.write_seen("ledger.py", "def close_ledger():\n    return 1\n")
    memory_id = folder.remember("close_ledger() flushes", title="Flush")
    place = {"file": "ledger.py", "position": folder.find("ledger.py", "close_ledger")}
    assert titles(folder, "ledger.py", "close_ledger") == ["Flush"]
    folder.commit(folder.workspace.attaching.unlink(memory_id, **place))
    folder.write_seen("ledger.py", "def close_ledger():\n    return 2\n")
    folder.restart()
    folder.run(folder.workspace.build_index(rebuild=True))
    assert titles(folder, "ledger.py", "close_ledger") == []
    folder.commit(folder.workspace.attaching.link(memory_id, **place, now=folder.now))
    assert titles(folder, "ledger.py", "close_ledger") == ["Flush"]

"""Code that is offered for a note that names none, and a note for code; never linked by itself."""

import asyncio

import pytest

from folders import Folder
from mnemolens.core.symbols import SymbolKey
from mnemolens.engine.requests import CaptureRequest

FILES = {
    "billing.py": '''\
def charge(card, amount):
    """Take money from a customer's credit card through the payment provider."""
    return card.provider.take(amount)


def refund(card, amount):
    """Give the whole amount back to the bank account."""
    return card.bank.give(amount)
''',
    "stock.py": '''\
def reserve(shelf, count):
    """Put articles aside for an order until it is paid."""
    return shelf.put_aside(count)
''',
}
NOTE = "The credit card of a customer may be declined by the provider of payment at night"
CHARGE = SymbolKey("billing.py", "charge")


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES)
    made.workspace.suggestions.catch_up()
    yield made
    made.close()


def offered(folder, content, **fields):
    view = folder.workspace.writing.preview(CaptureRequest(content, **fields), folder.now)
    found = folder.workspace.suggestions.offered(view, fields.get("title"), content).suggestion
    return None if found is None else found.target.id


def test_code_is_offered_where_it_is_far_ahead(folder):
    assert offered(folder, NOTE) == "billing.py::charge"
    view = folder.workspace.writing.preview(CaptureRequest(NOTE), folder.now)
    found = folder.workspace.suggestions.offered(view, None, NOTE).suggestion
    assert found.words == "This may be about charge()."


def test_nothing_is_linked_by_an_offer(folder):
    memory = folder.remember(NOTE)
    assert folder.workspace.show.links_of(memory) == ()


def test_nothing_where_two_are_as_likely_or_too_little_is_shared(folder):
    assert offered(folder, "card and amount") is None
    assert offered(folder, "something else entirely") is None
    assert offered(folder, "🔥") is None


def test_nothing_for_what_is_on_a_function_already(folder):
    at = folder.find("stock.py", "reserve")
    assert offered(folder, NOTE, file="stock.py", position=at) is None
    assert offered(folder, f"{NOTE}; see `reserve()`") is None


def test_before_the_code_is_read_nothing_is_offered(tmp_path):
    folder = Folder(tmp_path, FILES)
    assert offered(folder, NOTE) is None
    folder.close()


def test_what_changed_is_offered_as_it_is_now(folder):
    folder.write_seen("billing.py", FILES["billing.py"].replace("def charge", "def collect"))
    folder.workspace.suggestions.catch_up()
    assert offered(folder, NOTE) == "billing.py::collect"
    (folder.root / "billing.py").unlink()
    folder.run(folder.workspace.files_changed([folder.root / "billing.py"]))
    folder.workspace.suggestions.catch_up()
    assert offered(folder, NOTE) is None


def test_a_note_on_no_code_is_offered_for_code(folder):
    memory = folder.remember(NOTE, title="declined")
    folder.remember("Articles are counted by hand in spring", title="counting")
    found = folder.workspace.suggestions.for_code(CHARGE, folder.now)
    assert found is not None
    assert found.id == memory
    assert folder.workspace.suggestions.for_code(SymbolKey("nope.py", "x"), folder.now) is None


def test_a_note_that_is_on_code_is_offered_nowhere_else(folder):
    folder.remember(NOTE, "stock.py", "reserve")
    assert folder.workspace.suggestions.for_code(CHARGE, folder.now) is None


def test_a_refusal_is_remembered(folder):
    memory = folder.remember(NOTE)
    folder.run(folder.workspace.journaling.commit(folder.workspace.suggestions.refuse(memory, CHARGE)))
    assert folder.workspace.suggestions.for_code(CHARGE, folder.now) is None
    folder.restart()
    assert folder.workspace.suggestions.for_code(CHARGE, folder.now) is None


def by_meaning(folder, content, cosines):
    """What is offered where a model says how near functions, told by their names, are to the note."""
    asked = []

    async def likeness(note, texts):
        asked.append((note, texts))
        return cosines and [cosines[text.partition(" ")[0]] for text in texts]

    suggestions = folder.workspace.suggestions
    view = folder.workspace.writing.preview(CaptureRequest(content), folder.now)
    found = folder.run(suggestions.offered_by_meaning(view, None, content, likeness)).suggestion
    return (None if found is None else found.target.id), asked


BOTH = "Nobody can take or give more than the whole amount of the card at once"


def test_meaning_tells_apart_what_words_alone_do_not(folder):
    assert offered(folder, BOTH) is None
    found, ((note, texts),) = by_meaning(folder, BOTH, {"charge": 0.1, "refund": 0.9, "reserve": 0.0})
    assert found == "billing.py::refund"
    assert note == BOTH
    assert sorted(text.partition(" in ")[0] for text in texts) == ["charge", "refund"]
    assert by_meaning(folder, BOTH, {"charge": 0.9, "refund": 0.9, "reserve": 0.0})[0] is None


def test_words_decide_where_meaning_cannot_be_told(folder):
    assert by_meaning(folder, NOTE, None)[0] == "billing.py::charge"
    assert by_meaning(folder, BOTH, None)[0] is None
    assert by_meaning(folder, "something else entirely", None) == (None, [])


def test_only_a_note_on_no_code_has_the_code_read(tmp_path):
    folder = Folder(tmp_path, FILES)
    suggestions = folder.workspace.suggestions

    async def captured(content):
        view = folder.workspace.writing.preview(CaptureRequest(content), folder.now)
        suggestions.warm_up(view)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    folder.run(captured(f"{NOTE}; see `reserve()`"))
    assert offered(folder, NOTE) is None
    folder.run(captured(NOTE))
    assert offered(folder, NOTE) == "billing.py::charge"
    folder.close()

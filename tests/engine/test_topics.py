"""Notes on no code come to mind where the code says that it is about the same, and nowhere else."""

import pytest

from folders import Folder
from mnemolens.engine.requests import RecallRequest

FILES = {
    "pay/steps.py": """\
def total(rows):
    \"\"\"Adds amounts up, minding rounding.\"\"\"
    return sum(rows)


def rounded(row):
    return round(row)


def split(rows):
    \"\"\"Takes rows apart.\"\"\"
    return rows[::2], rows[1::2]


def rounding(rows):
    \"\"\"Does the rounding.\"\"\"
    return rows
""",
    "mail/send.py": 'def send(letter):\n    """Sends, minding rounding."""\n    return letter\n',
}
NOTE = "In pay, rounding: cents stay whole numbers."
OTHERS = ("The auditors come in May.", "Ana knows the printer.", "Tests need a real clock.", "Half is tea.")


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES)
    for text in OTHERS:
        made.remember(text)
    yield made
    made.close()


def why(folder, name, file="pay/steps.py", **fields):
    """{content: why} of what comes to mind at a function."""
    request = RecallRequest(file=file, position=folder.find(file, f"def {name}("), **fields)
    view = folder.workspace.recall.recall(request, folder.now)
    assert not any(found.only_together for found in view.memories)
    return {found.view.memory.content: found.why for found in view.memories}


def test_where_documentation_and_path_speak_of_it(folder):
    folder.remember(NOTE)
    assert why(folder, "total") == {NOTE: ("speaks of rounding and pay, as this does",)}
    assert folder.hover("pay/steps.py", "total") is None  # a hover is for what is on code


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("rounded", "pay/steps.py"),  # says nothing of itself
        ("split", "pay/steps.py"),  # has but the path in common
        ("rounding", "pay/steps.py"),  # only repeats its name
        ("send", "mail/send.py"),  # has but the documentation in common
    ],
)
def test_nowhere_else(folder, name, file):
    folder.remember(NOTE)
    assert why(folder, name, file) == {}


def test_tags_are_words_too(folder):
    note = "Cents stay whole numbers."
    folder.remember(note, tags=("pay", "rounding"))
    assert why(folder, "total") == {note: ("speaks of rounding and pay, as this does",)}


def test_a_note_on_code_stays_there(folder):
    folder.remember(NOTE, "mail/send.py", "def send(")
    assert why(folder, "total") == {}


def test_own_notes_stand_before_it(folder):
    folder.remember(NOTE, importance=1.0)
    folder.remember("Takes a list.", "pay/steps.py", "def total(", importance=0.1)
    assert list(why(folder, "total")) == ["Takes a list.", NOTE]


def test_words_that_are_asked_for_decide_alone(folder):
    folder.remember(NOTE)
    assert why(folder, "total", query="printer") == {OTHERS[1]: ("mentions printer",)}


def test_forgotten_ones_stay_away(folder):
    one = folder.remember(NOTE)
    folder.commit(folder.workspace.writing.forget(one, folder.now))
    assert why(folder, "total") == {}

"""Which of the texts of one file a workspace is shown, when the file is open under several URIs."""

from datetime import UTC, datetime

import pytest

from mnemolens.core.text import Text, TextChange
from mnemolens.lsp.folders import Place
from mnemolens.lsp.open_texts import OpenTexts

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LINK, REAL = "file:///link/a.py", "file:///real/a.py"


class Shown:
    """A workspace that only keeps the texts it is shown."""

    def __init__(self):
        self.texts = {}
        self.sources = self

    def open_document(self, file, _language_id, text):
        self.texts[file] = Text(text)

    def change_document(self, file, changes, _now, *, later):  # noqa: ARG002  fakes the real one
        for change in changes:
            self.texts[file], _ = self.texts[file].apply(change)

    def __getitem__(self, file):
        return str(self.texts[file])


class NoFolders:
    """Every folder was closed, or one is open that holds everything."""

    def __init__(self, place=None):
        self.place = place

    def __iter__(self):
        return iter(())

    def locate(self, _uri):
        return self.place


@pytest.fixture
def shown():
    return Shown()


@pytest.fixture
def place(shown):
    return Place(shown, "a.py")


@pytest.fixture
def texts():
    return OpenTexts()


def test_the_text_that_was_opened_last_is_shown(texts, shown, place):
    texts.open(LINK, "python", "link", place)
    texts.open(REAL, "python", "real", place)
    assert shown["a.py"] == "real"


def test_a_change_means_the_text_of_its_own_document(texts, shown, place):
    texts.open(LINK, "python", "link", place)
    texts.open(REAL, "python", "# a line above\nreal", place)
    assert texts.change(LINK, [TextChange("L", (0, 0), (0, 1))], NOW) == place
    assert shown["a.py"] == "Link"
    texts.change(LINK, [TextChange("s", (0, 4))], NOW)
    assert shown["a.py"] == "Links"
    texts.change(REAL, [TextChange("R", (1, 0), (1, 1))], NOW)
    assert shown["a.py"] == "# a line above\nReal"


def test_only_the_last_close_lets_the_file_go(texts, shown, place):
    texts.open(LINK, "python", "link", place)
    texts.open(REAL, "python", "real", place)
    assert texts.close(REAL) is None
    assert shown["a.py"] == "link"
    assert texts.change(REAL, [TextChange("never")], NOW) is None
    assert texts.close(REAL) is None
    assert texts.close(LINK) == place
    assert texts.close(LINK) is None


def test_closing_the_one_that_is_not_shown_changes_nothing(texts, shown, place):
    texts.open(LINK, "python", "link", place)
    texts.open(REAL, "python", "real", place)
    assert texts.close(LINK) is None
    assert shown["a.py"] == "real"
    assert texts.close(REAL) == place


def test_what_is_saved_is_shown(texts, shown, place):
    texts.open(LINK, "python", "link", place)
    texts.open(REAL, "python", "real", place)
    texts.save(LINK)
    assert shown["a.py"] == "link"
    texts.save("file:///never/opened.py")


def test_a_document_that_is_opened_again_is_one_document(texts, shown, place):
    texts.open(LINK, "python", "one", place)
    texts.open(LINK, "python", "two", place)
    assert shown["a.py"] == "two"
    assert texts.close(LINK) == place


def test_another_folder_is_shown_the_same_one(texts, place):
    texts.open(REAL, "python", "real", place)
    texts.open(LINK, "python", "link", place)
    texts.change(REAL, [TextChange("real, changed last")], NOW)
    assert texts.hand_over(NoFolders()) == ()
    elsewhere = Place(Shown(), "a.py")
    assert texts.hand_over(NoFolders(elsewhere)) == ()
    assert texts.close(LINK) is None
    assert texts.close(REAL) == elsewhere


def test_a_folder_that_takes_the_place_of_another_is_shown_the_same_one(texts, place):
    texts.open(REAL, "python", "real", place)
    texts.open(LINK, "python", "link", place)
    texts.change(REAL, [TextChange("real, changed last")], NOW)
    elsewhere = Place(Shown(), "a.py")
    texts.hand_over(NoFolders(elsewhere))
    assert elsewhere.workspace["a.py"] == "real, changed last"

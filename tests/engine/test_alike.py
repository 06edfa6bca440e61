"""What is known already: in almost the same words, or as Mnemolens itself shows it."""

import pytest

from folders import Folder
from mnemolens.core.markdown import escape
from mnemolens.engine.requests import CaptureRequest
from mnemolens.lsp.hover_text import markdown_hover, plain_hover

LONG = (
    "The payment provider charges twice when the first answer is slow, so every call of it carries an"
    " idempotency key that is made from the order and never from the time"
)


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"billing.py": "def charge(amount):\n    return amount\n"})
    made.open("billing.py")
    yield made
    made.close()


def similar(folder, content):
    view = folder.workspace.writing.preview(CaptureRequest(content), folder.now)
    compared = folder.workspace.alike.compared(view, content, folder.now)
    return [one.title for one in compared.similar]


def shown_before(folder, text):
    view = folder.workspace.alike.shown_before(text, folder.now)
    return None if view is None else view.duplicate_of


def test_almost_the_same_words_show_the_earlier_one(folder):
    folder.remember(LONG, title="earlier")
    folder.remember("The payment provider is slow when it charges twice", title="other")
    assert similar(folder, LONG.replace("so every call", "so each call")) == ["earlier"]
    assert similar(folder, f"{LONG.upper()}!!!") == ["earlier"]
    assert similar(folder, "an idempotency key is made from the order") == []
    assert similar(folder, "🔥") == []


def test_scripts_without_spaces(folder):
    text = "支付服务在第一次回答很慢的时候会重复扣款所以每次调用都带有幂等键而且绝不使用时间来生成"
    folder.remember(text, title="earlier")
    assert similar(folder, text.replace("绝不", "不会")) == ["earlier"]


def test_a_forgotten_one_is_not_shown(folder):
    memory = folder.remember(LONG, title="earlier")
    folder.run(folder.workspace.journaling.commit(folder.workspace.writing.forget(memory, folder.now)))
    assert similar(folder, f"{LONG}.") == []


@pytest.fixture
def hovered(folder):
    memory = folder.remember(
        "It *charges* twice_over [see](http://x)\nand more", "billing.py", "charge", title="A_title *so* — 1."
    )
    view = folder.workspace.hovers.at("billing.py", folder.find("billing.py", "charge"), folder.now)
    return memory, view


def test_our_own_hover_pasted_back(folder, hovered):
    memory, view = hovered
    assert shown_before(folder, markdown_hover(view, "/root", folder.now)) == memory
    assert shown_before(folder, markdown_hover(view, None, folder.now)) == memory
    assert shown_before(folder, plain_hover(view, folder.now)) == memory
    assert shown_before(folder, f"\n  {plain_hover(view, folder.now)}\n\n") == memory


@pytest.mark.usefixtures("hovered")
def test_what_only_looks_like_one_is_a_note(folder):
    assert shown_before(folder, "A title nobody has · fresh\non charge() · 2 days ago") is None
    assert shown_before(folder, "A_title *so* — 1. · fresh") is None
    assert shown_before(folder, "A_title *so* — 1.\nsome text about it, 2 days ago") is None
    assert (
        shown_before(folder, "[Open](command:mnemolens.memory.open?%5B%7B%22id%22%3A%22none%22%7D%5D)")
        is None
    )
    assert shown_before(folder, "[Open](command:mnemolens.memory.open?garbage)") is None
    assert shown_before(folder, "") is None


OWN = "Since the migration of March the bank answers within a second; ask Ana before you remove this."


def test_who_wrote_more_around_it_has_a_note_of_their_own(folder, hovered):
    memory, view = hovered
    for hover in (markdown_hover(view, "/root", folder.now), plain_hover(view, folder.now)):
        assert shown_before(folder, f"{hover}\n\n{OWN}") is None
        assert shown_before(folder, f"{hover}\n\n(function) charge(card)") == memory  # copied along


def test_a_hover_of_several_memories(folder, hovered):
    memory, _ = hovered
    folder.remember(f"Another one. {OWN}", "billing.py", "charge", title="Other")
    view = folder.workspace.hovers.at("billing.py", folder.find("billing.py", "charge"), folder.now)
    shown = [item.memory_id for item in view.items]
    assert memory in shown
    assert len(shown) == 2
    for hover in (markdown_hover(view, "/root", folder.now), plain_hover(view, folder.now)):
        assert shown_before(folder, hover) == shown[0]


def test_of_two_with_one_title_none_is_meant(folder):
    folder.remember("one", title="same title")
    folder.remember("two", title="same title")
    assert shown_before(folder, "same title · fresh\none\non no code · just now") is None


def test_a_forgotten_one_with_the_same_title_does_not_count(folder):
    old = folder.remember("one", title="same title")
    folder.commit(folder.workspace.writing.forget(old, folder.now))
    new = folder.remember("two", title="same title")
    assert shown_before(folder, "same title · fresh\ntwo\non no code · just now") == new


def test_one_of_many_that_begin_alike(folder):
    for number in range(30):
        folder.remember(f"charge the card {number}", title=f"charge {number}")
    memory = folder.remember("charge the card", title="charge")
    assert shown_before(folder, "charge · fresh\ncharge the card\non no code · just now") == memory


@pytest.mark.parametrize(
    "title",
    [
        r"C:\_build is cut",
        r"a \* stays",
        "it was · lost in March",
        "**bold** at both **ends**",
        "left \u202eto\u202c right",
        "tabs\tand\nlines",
    ],
)
def test_titles_of_any_signs(folder, title):
    memory = folder.remember("x y z", "billing.py", "charge", title=title)
    view = folder.workspace.hovers.at("billing.py", folder.find("billing.py", "charge"), folder.now)
    assert shown_before(folder, plain_hover(view, folder.now)) == memory
    assert shown_before(folder, markdown_hover(view, None, folder.now)) == memory


def test_markdown_escapes_are_taken_back(folder):
    memory = folder.remember("x", title="a*b_c [d] <e> #f")
    text = f"**{escape('a*b_c [d] <e> #f', one_line=True)}** · fresh  \nx  \n*on no code · just now*"
    assert shown_before(folder, text) == memory


def test_a_megabyte_is_compared_by_its_beginning(folder):
    big = " ".join(f"word{n}" for n in range(90_000))
    folder.remember(big, title="big")
    assert similar(folder, big + " more") == ["big"]

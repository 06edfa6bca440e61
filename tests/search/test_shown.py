"""What is marked, and the piece that is shown."""

from mnemolens.search.shown import Mark, holds_phrase, marks_in, snippet
from mnemolens.search.words import stem


def shown(piece):
    return [piece.text[mark.start : mark.end] for mark in piece.marks]


def test_forms_of_a_word_and_parts_of_a_name_are_marked():
    text = "It charges twice: see chargeCard()."
    marks = marks_in(text, {stem("charge")})
    assert [text[mark.start : mark.end] for mark in marks] == ["charges", "charge"]


def test_a_phrase_is_marked_whatever_its_case():
    text = "The Double Charge of march"
    assert marks_in(text, (), ["double charge"]) == (Mark(4, 17),)


def test_marks_do_not_overlap():
    assert marks_in("支付服务", {"支付", "付服", "服务"}) == (Mark(0, 4),)
    assert marks_in("retry_payment", {"retrypayment", stem("retry")}) == (Mark(0, 13),)


def test_a_short_text_is_shown_whole():
    piece = snippet("a\ncharge", [Mark(2, 8)])
    assert (piece.text, shown(piece)) == ("a charge", ["charge"])


def test_the_piece_with_the_most_marks_is_shown():
    text = (
        "charge once. " + "words between " * 40 + "here the charge is a double charge, yes. " + "more " * 60
    )
    piece = snippet(text, marks_in(text, {stem("charge"), stem("double")}), 80)
    assert shown(piece) == ["charge", "double", "charge"]
    assert piece.text.startswith("…")
    assert piece.text.endswith("…")
    assert len(piece.text) <= 82


def test_without_marks_the_beginning():
    assert snippet("word " * 100, (), 20).text == "word word word word…"


def test_a_text_of_one_endless_word():
    piece = snippet("x" * 1_000_000, (), 100)
    assert piece.text == "x" * 100 + "…"


def test_a_phrase_in_a_text():
    assert holds_phrase("the double\n   charge of", "Double charge")
    assert holds_phrase("Größe", "grosse")
    assert not holds_phrase("double a charge", "double charge")

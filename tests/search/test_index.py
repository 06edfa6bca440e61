"""The index of words: what is found, in which order, and what a slip of a finger costs."""

import itertools
import math
import random

import pytest

from mnemolens.search.index import Wanted, WordIndex
from mnemolens.search.words import stem, terms_of


def index(**documents) -> WordIndex:
    made = WordIndex({"title": 3.0, "text": 1.0}, 10)
    for key, fields in documents.items():
        made.put(key, {"text": fields} if isinstance(fields, str) else fields)
    return made


def keys(found):
    return [one.key for one in found]


def words(text, **options):
    return [Wanted(stem(word), **options) for word in text.split()]


def test_a_rare_word_counts_more_than_a_common_one():
    made = index(a="payment retry", b="payment refund", c="payment", d="retry loop", e="payment payment")
    assert keys(made.search(words("payment refund")))[0] == "b"


def test_more_of_the_words_before_fewer_and_short_before_long():
    made = index(both="charge twice", one="charge once", long="charge twice " + "and so on " * 4)
    assert keys(made.search(words("charge twice"))) == ["both", "long", "one"]


def test_a_field_counts_by_its_weight():
    made = index(text={"title": "other", "text": "charge"}, title={"title": "charge", "text": "other"})
    assert keys(made.search(words("charge"))) == ["title", "text"]


def test_every_word_or_any():
    made = index(a="charge twice", b="charge", c="twice")
    assert keys(made.search(words("charge twice"), every=True)) == ["a"]
    assert set(keys(made.search(words("charge twice")))) == {"a", "b", "c"}
    assert made.search(words("charge unknownword"), every=True) == []


def test_a_whole_name_is_not_needed_but_counts():
    made = index(parts="retry the payment", name="retry_payment")
    wanted = [*words("retry payment"), Wanted("retrypayment", needed=False)]
    assert keys(made.search(wanted, every=True)) == ["name", "parts"]


def test_says_which_words_were_found():
    made = index(a="charge twice", b="twice")
    found = {one.key: one.matched for one in made.search(words("charge provider twice"))}
    assert found == {"a": 0b101, "b": 0b100}


def test_the_beginning_of_a_word():
    made = index(a="idempotent", b="idem", c="provider")
    assert keys(made.search([Wanted("idem", "idem")])) == ["b", "a"]
    assert keys(made.search([Wanted("idem")])) == ["b"]


def test_of_many_words_that_begin_so_the_most_frequent_count():
    once = ("re" + "".join(letters) for letters in itertools.product("abcdefghijkl", repeat=3))
    made = index(**{f"once{n}": word for n, word in enumerate(once)})  # 1,728 of them, all before the other
    for n in range(3):
        made.put(f"often{n}", {"text": "rezzz"})
    found = keys(made.search([Wanted("re", "re")]))
    assert {"often0", "often1", "often2"} <= set(found)
    assert len(found) < 100


@pytest.mark.parametrize("typo", ["redirct", "rediirect", "redirecz", "rediretc", "redrect", "eredirect"])
def test_one_slip_of_a_finger(typo):
    made = index(a="redirect", b="reading")
    assert keys(made.search(words(typo))) == ["a"]


def test_two_slips_in_a_long_name():
    made = index(a="resolveredirects", b="resolver")
    assert keys(made.search(words("resolvredirekts"))) == ["a"]


def test_a_word_that_is_known_is_no_slip():
    made = index(a="charge", b="change")
    assert keys(made.search(words("charge"))) == ["a"]


def test_short_words_are_taken_as_they_are():
    assert index(a="cat").search(words("bat")) == []


def test_loosely_words_with_the_same_beginning_count_less():
    made = index(a="config", b="configuration", c="conf", d="concert")
    assert keys(made.search([Wanted("config")], loose=True))[0] == "a"
    assert set(keys(made.search([Wanted("config")], loose=True))) == {"a", "b", "c"}
    assert keys(made.search([Wanted("config")])) == ["a"]


def test_loosely_a_word_in_place_of_another_counts_less():
    made = index(a="erase a folder", b="delete a folder", c="delta folder")
    wanted = [Wanted(stem("erase"), synonyms=(stem("delete"), stem("drop"))), Wanted(stem("folder"))]
    assert keys(made.search(wanted, loose=True)) == ["a", "b", "c"]
    found = {one.key: one.matched for one in made.search(wanted)}
    assert found == {"a": 0b11, "b": 0b10, "c": 0b10}


def test_limit_and_filter():
    made = index(**{f"k{n:03}": "charge " * (1 + n % 3) for n in range(300)})
    assert len(made.search(words("charge"), limit=7)) == 7
    assert made.search(words("charge"), limit=0) == []
    found = keys(made.search(words("charge"), limit=3, accept=lambda key: key in {"k000", "k150", "k299"}))
    assert set(found) == {"k000", "k150", "k299"}


def test_changed_and_removed_documents():
    made = index(a="charge", b="charge")
    made.put("a", {"text": "refund"})
    made.remove("b")
    made.remove("never there")
    assert made.search(words("charge")) == []
    assert keys(made.search(words("refund"))) == ["a"]
    assert (len(made), "a" in made, "b" in made) == (1, True, False)


def test_tells_when_it_is_mostly_about_what_is_gone():
    made = index(a="charge")
    for _ in range(1_500):
        made.put("a", {"text": "charge"})
    assert made.wasted
    assert keys(made.search(words("charge"))) == ["a"]


def test_nothing_breaks_it():
    made = index(empty="", emoji="🔥", control="\x00\x07\x1b[0m", long="x" * 300_000)
    assert keys(made.search([Wanted("🔥")])) == ["emoji"]
    assert made.search([]) == []
    assert made.search([Wanted("")]) == []


def test_agrees_with_a_plain_look_through_many_texts():
    """The short cuts for very common words leave out nothing that holds every word."""
    rng = random.Random(5)
    vocabulary = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(60)]
    texts = {str(n): " ".join(rng.choices(vocabulary, weights=range(60, 0, -1), k=8)) for n in range(3_000)}
    made = index(**texts)
    for _ in range(10):
        wanted = rng.sample(vocabulary, 3)
        expected = {key for key, text in texts.items() if set(map(stem, wanted)) <= set(terms_of(text))}
        found = made.search(words(" ".join(wanted)), every=True)
        assert set(keys(found)) == expected
        assert set(made.holding_all(words(" ".join(wanted)))) == expected
        some = {key for key in texts if int(key) % 3}
        assert made.search(words(" ".join(wanted)), every=True, among=some) == [
            one for one in found if one.key in some
        ]


def test_the_best_few_are_the_first_of_all():
    """A search for few ends early where what is left to look at is common; what is gone is not missed."""
    rng = random.Random(7)
    vocabulary = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(300)]
    weights = [1 / (n + 1) for n in range(300)]
    texts = {str(n): " ".join(rng.choices(vocabulary, weights=weights, k=12)) for n in range(3_000)}
    made = index(**texts)
    for _ in range(2):
        for _ in range(15):
            wanted = words(" ".join(rng.choices(vocabulary, weights=weights, k=6)))
            everything = made.search(wanted, loose=True)
            assert made.search(wanted, limit=2, loose=True) == everything[:2]
            assert made.search(wanted, limit=20) == made.search(wanted)[:20]
            made.remove(everything[0].key)
        for n in range(0, 3_000, 3):
            made.remove(str(n))


def test_the_whole_of_a_query_is_what_its_words_would_score_alone():
    made = index(a="alpha beta", b="alpha", c="alpha")
    alpha, beta = math.log(1 + 0.5 / 3.5), math.log(1 + 2.5 / 1.5)
    assert made.whole([Wanted("alpha"), Wanted("beta")]) == pytest.approx(alpha + beta)
    unknown = math.log(1 + 3.5 / 0.5)
    assert made.whole([Wanted("gamma", weight=0.5), Wanted("name", needed=False)]) == pytest.approx(
        unknown / 2
    )


def test_the_rarest_terms_are_those_of_fewest_documents_but_of_any():
    made = index(a="alpha beta gamma", b="alpha beta", c="alpha")
    assert made.rarest(["alpha", "beta", "gamma", "delta"], 2) == ["gamma", "beta"]
    assert made.rarest(["alpha", "gamma"], 5) == ["gamma", "alpha"]

"""Code as words: what is looked for among notes, and what a model is told that a function is about."""

from mnemolens.search.functions import summary, wanted_by

FIELDS = {
    "name": "Payment.chargeCard",
    "head": "def chargeCard(self, amount)",
    "docs": "",
    "path": "shop/pay_ment.py",
    "body": (
        "def chargeCard(self, amount):\n"
        "    # the provider charges twice\n"
        "    log_call('charged again')\n"
        "    return self.provider.send(amount, send(1))\n"
    ),
}


def test_a_summary_is_name_file_what_is_said_and_what_is_called():
    assert summary(FIELDS) == (
        "payment charge card in shop pay ment. the provider charges twice charged again."
        " calls charge card, log call, send"
    )


def test_what_a_function_says_of_itself_stands_in_it():
    fields = {**FIELDS, "docs": "Takes the money.", "body": "return 1"}
    assert summary(fields) == "payment charge card in shop pay ment. Takes the money."


def test_a_summary_stays_short():
    calls = " ".join(f"step_{number}()" for number in range(1_000))
    assert len(summary({**FIELDS, "docs": "x" * 5_000, "body": f"'{'y' * 5_000}' {calls}"})) < 1_100


def test_what_languages_are_made_of_is_not_looked_for():
    fields = {**FIELDS, "name": "f", "head": "", "body": "if self is None: return ledger"}
    assert {one.term for one in wanted_by(fields)} == {"f", "ledg"}

"""Reports for the tax office."""

from ledger import balance


def monthly(entries):
    # FIXME: February has no 30th
    return {"days": 30, "balance": balance(entries)}

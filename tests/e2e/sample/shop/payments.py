"""Charging cards through the payment provider."""

import secrets
from dataclasses import dataclass
from typing import Protocol

from shop.money import Money

ATTEMPTS = 3


class Provider(Protocol):
    """What we need of a payment provider."""

    def send(self, path: str, body: dict[str, object]) -> dict[str, object]:
        """Send one request and return the answer; `TimeoutError` when none came."""
        ...


class PaymentRefusedError(Exception):
    """The provider said no."""


@dataclass(frozen=True)
class Receipt:
    """What a successful charge leaves behind."""

    charge_id: str
    amount: Money


def charge(provider: Provider, card: str, amount: Money) -> Receipt:
    """Charge a card, trying again when the provider does not answer."""
    key = secrets.token_hex(16)
    body: dict[str, object] = {"card": card, "cents": amount.cents, "currency": amount.currency, "key": key}
    for attempt in range(ATTEMPTS):
        try:
            answer = provider.send("/charges", body)
        except TimeoutError:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        if answer["status"] != "paid":
            raise PaymentRefusedError(str(answer.get("reason", "no reason given")))
        return Receipt(str(answer["id"]), amount)
    raise AssertionError("unreachable")


def refund(provider: Provider, receipt: Receipt) -> None:
    """Give the whole amount of a receipt back."""
    answer = provider.send("/refunds", {"charge": receipt.charge_id, "cents": receipt.amount.cents})
    if answer["status"] != "refunded":
        raise PaymentRefusedError(str(answer.get("reason", "no reason given")))

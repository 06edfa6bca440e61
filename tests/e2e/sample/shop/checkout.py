"""From a cart to a paid order."""

from dataclasses import dataclass
from decimal import Decimal

from shop.money import Money
from shop.payments import PaymentRefusedError, Provider, Receipt, charge
from shop.stock import Stock

FREE_SHIPPING_FROM = Money(50_00)
SHIPPING = Money(4_90)


@dataclass(frozen=True)
class Line:
    """So many pieces of one article."""

    article: str
    pieces: int
    price: Money


def order_total(lines: list[Line]) -> Money:
    """The sum of all lines and, for small orders, shipping."""
    total = Money(0)
    for line in lines:
        total = total.plus(line.price.times(Decimal(line.pieces)))
    if total.cents < FREE_SHIPPING_FROM.cents:
        total = total.plus(SHIPPING)
    return total


def place_order(provider: Provider, stock: Stock, card: str, lines: list[Line]) -> Receipt:
    """Reserve the goods, charge the card, and let the goods go when that fails."""
    for line in lines:
        stock.reserve(line.article, line.pieces)
    try:
        return charge(provider, card, order_total(lines))
    except PaymentRefusedError:
        for line in lines:
            stock.release(line.article, line.pieces)
        raise

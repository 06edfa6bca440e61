"""Amounts of money, always in whole cents."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal


@dataclass(frozen=True)
class Money:
    """An amount in cents of one currency."""

    cents: int
    currency: str = "EUR"

    def plus(self, other: "Money") -> "Money":
        """The sum of two amounts of the same currency."""
        if other.currency != self.currency:
            raise ValueError(f"{self.currency} and {other.currency} can't be added")
        return Money(self.cents + other.cents, self.currency)

    def times(self, factor: Decimal) -> "Money":
        """This amount `factor` times, rounded to a whole cent."""
        return Money(round_cents(Decimal(self.cents) * factor), self.currency)


def round_cents(value: Decimal) -> int:
    """The nearest whole cent; halves go to the even one."""
    return int(value.quantize(Decimal(1), rounding=ROUND_HALF_EVEN))

"""What is on the shelves, and what is promised to whom."""


class OutOfStockError(Exception):
    """Fewer pieces are left than were asked for."""


class Stock:
    """Pieces on hand for each article, and reservations against them."""

    def __init__(self, on_hand: dict[str, int]) -> None:
        self._on_hand = dict(on_hand)
        self._reserved: dict[str, int] = {}

    def available(self, article: str) -> int:
        """How many pieces can still be promised."""
        return self._on_hand.get(article, 0) - self._reserved.get(article, 0)

    def reserve(self, article: str, pieces: int) -> None:
        """Promise pieces to an order that is not paid yet."""
        if self.available(article) < pieces:
            raise OutOfStockError(article)
        self._reserved[article] = self._reserved.get(article, 0) + pieces

    def release(self, article: str, pieces: int) -> None:
        """Take a promise back."""
        self._reserved[article] = self._reserved.get(article, 0) - pieces

    def ship(self, article: str, pieces: int) -> None:
        """Promised pieces leave the house."""
        self.release(article, pieces)
        self._on_hand[article] -= pieces

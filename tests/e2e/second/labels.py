"""Labels for the parcels."""


def print_label(order: str, copies: int = 1) -> list[str]:
    """The lines that go to the label printer."""
    return [f"ORDER {order}"] * copies

"""Which code a text speaks of. Pure functions over core values."""

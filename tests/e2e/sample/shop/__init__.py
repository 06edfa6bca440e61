"""Orders, stock and payments of a corner shop."""

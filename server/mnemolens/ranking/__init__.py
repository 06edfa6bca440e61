"""How much a memory matters now. Pure functions over core values; `now` is always an argument."""

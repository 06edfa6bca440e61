"""Finding memories by words and by meaning: pure functions and indexes in memory."""

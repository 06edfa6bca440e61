"""One file a protocol method (or a pair that belongs together): convert, ask the engine, convert."""

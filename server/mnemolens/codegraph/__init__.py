"""Source text to symbols, imports, calls and references. Pure: no I/O but the text it is given."""

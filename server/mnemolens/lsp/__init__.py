"""The language server: converts, asks the engine, converts. Alone in importing pygls and lsprotocol."""

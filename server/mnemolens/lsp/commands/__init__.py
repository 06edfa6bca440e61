"""The `workspace/executeCommand` surface: one table of commands, each an arguments model and a function."""

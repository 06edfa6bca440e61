"""The commands with their arguments, help and examples: a module for each group that the help shows."""

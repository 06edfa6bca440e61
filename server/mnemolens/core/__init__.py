"""Values, ids, text positions, clock, settings and errors: the floor that every other package stands on.

Imports pydantic, a safe YAML loader and the standard library; nothing of Mnemolens above it.
"""

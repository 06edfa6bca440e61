"""Mnemolens keeps what is learned about code on the code it is about, and shows it where people work."""

__version__ = "0.1.0"

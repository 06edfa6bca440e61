"""The `mnemolens` command line."""

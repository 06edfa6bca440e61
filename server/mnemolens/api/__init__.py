"""The Python API: plain synchronous classes over the engine. Import its names from `mnemolens` itself."""

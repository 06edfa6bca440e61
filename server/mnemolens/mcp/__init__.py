"""The Model Context Protocol: memories for coding agents, as tools on stdio."""

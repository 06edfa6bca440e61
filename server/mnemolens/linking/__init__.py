"""Which code a text speaks of. Pure functions over core values."""

from mnemolens.linking.evidence import evidence_holds, names_in, names_in_metadata, names_of_file
from mnemolens.linking.match import ALL_KINDS, match
from mnemolens.linking.mentions import mentions
from mnemolens.linking.values import Match, Mention, Rule, SymbolLookup

__all__ = [
    "ALL_KINDS",
    "Match",
    "Mention",
    "Rule",
    "SymbolLookup",
    "evidence_holds",
    "match",
    "mentions",
    "names_in",
    "names_in_metadata",
    "names_of_file",
]

"""How many tokens a text costs: by a real tokenizer where one is installed, else estimated; and which it was.

Budgets of stored memories always use the estimate (`core/memory_text.py`), which is the same everywhere.
"""

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from mnemolens.core.memory_text import count_tokens

VOCABULARY: Final = "o200k_base"


class Tokenizer(NamedTuple):
    """A way of counting.

    Attributes:
        name: as an answer says it: a vocabulary's name, or "estimate".
    """

    name: str
    count: Callable[[str], int]


@cache
def tokenizer() -> Tokenizer:
    """The real one of the extra `tokens` if that is installed, else the estimate. Nothing is downloaded."""
    try:
        import bpe_openai
    except ImportError:
        return Tokenizer("estimate", count_tokens)
    encoding = bpe_openai.get_encoding(VOCABULARY)
    return Tokenizer(VOCABULARY, lambda text: len(encoding.encode_ordinary(text)))

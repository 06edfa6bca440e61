"""A page of a list ends where its contents are too much for one answer, and never before its first memory."""

from datetime import UTC, datetime

import pytest

from mnemolens.core.memories import Memory
from mnemolens.core.views import MemoryView
from mnemolens.lsp.commands import memories

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [([], 0), ([4, 3, 3], 3), ([4, 3, 4, 1], 2), ([11, 1], 1), ([10, 1], 1), ([1, 11], 1)],
)
def test_a_page_is_bounded(monkeypatch, sizes, kept):
    monkeypatch.setattr(memories, "MAX_PAGE_CHARACTERS", 10)
    views = tuple(
        MemoryView(Memory(f"m{at}", "semantic", "t", "x" * size, MOMENT, MOMENT), 1.0, "core", "fresh")
        for at, size in enumerate(sizes)
    )
    assert memories._within_bounds(views) == views[:kept]

"""Which values the garbage collector is spared: looks at many of them would hold the event loop."""

import gc

from mnemolens.engine.loading import bulk_load
from mnemolens.engine.offload import FREEZE_AFTER_SECONDS, Slices

MANY = 30_000


def frozen_since(before):
    return gc.get_freeze_count() - before


async def sliced(keep):
    """Work of two slices that makes many values."""
    slices = Slices(FREEZE_AFTER_SECONDS)
    for _ in range(2):
        keep.extend([] for _ in range(MANY // 2))
        while not slices.used_up:
            pass
        await slices.pause()


async def test_what_slices_of_bulk_work_made_is_left_out_while_it_goes_on():
    keep = []
    before = gc.get_freeze_count()
    with bulk_load():
        await sliced(keep)
        assert frozen_since(before) >= MANY
    assert gc.isenabled()


async def test_other_slices_leave_the_collector_its_values():
    before = gc.get_freeze_count()
    await sliced([])
    assert frozen_since(before) == 0


def test_values_that_take_the_place_of_others_count():
    keep = [[] for _ in range(MANY)]
    gc.collect()
    before = gc.get_freeze_count()
    with bulk_load() as made:
        for number in range(MANY):
            keep[number] = []  # the collector counts one more and one less
        made(MANY)
    assert frozen_since(before) >= MANY


def test_a_few_values_stay_to_be_looked_at():
    gc.collect()
    before = gc.get_freeze_count()
    with bulk_load() as made:
        keep = [[] for _ in range(10)]
        made(len(keep))
    assert frozen_since(before) == 0

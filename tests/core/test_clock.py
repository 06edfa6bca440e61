"""The hybrid clock: CONTRACT §3's `<13-digit ms>-<4 hex>-<writer>`, compared as text."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.clock import (
    HybridClock,
    ManualClock,
    SystemClock,
    is_reading,
    reading_time,
    reading_writer,
)

START = datetime(2026, 9, 21, 14, 13, 20, 123000, tzinfo=UTC)  # 1_790_000_000.123 s after the epoch
A, B = "aaaaaaaaaa", "bbbbbbbbbb"


def clock_at(moment: datetime = START) -> tuple[HybridClock, ManualClock]:
    manual = ManualClock(moment)
    return HybridClock(manual), manual


def test_a_reading_is_wall_time_counter_and_writer():
    clock, _ = clock_at()
    assert clock.tick(A) == "1790000000123-0000-aaaaaaaaaa"
    assert clock.tick(A) == "1790000000123-0001-aaaaaaaaaa"


def test_a_later_wall_time_starts_the_counter_anew():
    clock, manual = clock_at()
    clock.tick(A)
    clock.tick(A)
    manual.advance(0.002)
    assert clock.tick(A) == "1790000000125-0000-aaaaaaaaaa"


def test_a_wall_clock_set_back_does_not_take_the_reading_back():
    clock, manual = clock_at()
    clock.tick(A)
    manual.advance(-3600)
    assert clock.tick(A) == "1790000000123-0001-aaaaaaaaaa"


def test_a_full_counter_takes_the_next_millisecond():
    clock, _ = clock_at()
    clock.observe([f"1790000000123-fffe-{B}"])
    assert clock.tick(A) == "1790000000123-ffff-aaaaaaaaaa"
    assert clock.tick(A) == "1790000000124-0000-aaaaaaaaaa"


def test_ticks_come_after_what_was_observed():
    clock, _ = clock_at()
    clock.observe([f"1790000050000-0007-{B}", f"1790000000000-0000-{B}"])
    assert clock.tick(A) == "1790000050000-0008-aaaaaaaaaa"


def test_exactly_a_day_ahead_still_moves_our_clock():
    clock, _ = clock_at()
    clock.observe([f"1790086400123-0000-{B}"])
    assert clock.tick(A) == "1790086400123-0001-aaaaaaaaaa"


def test_more_than_a_day_ahead_does_not_move_our_clock_and_hides_no_other():
    clock, _ = clock_at()
    clock.observe([f"1790086400124-0000-{B}", f"1790000000500-0001-{B}"])
    assert clock.tick(A) == "1790000000500-0002-aaaaaaaaaa"


def test_what_is_no_reading_is_not_observed():
    clock, _ = clock_at()
    clock.observe(["", "1790000000500", "17900000005xx-0000-bbbbbbbbbb"])
    assert clock.tick(A) == "1790000000123-0000-aaaaaaaaaa"


def test_times_outside_of_thirteen_digits_still_give_readings():
    for moment in (datetime(1960, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)):
        clock, _ = clock_at(moment)
        first, second = clock.tick(A), clock.tick(A)
        assert is_reading(first)
        assert first < second


@given(st.lists(st.tuples(st.sampled_from(["tick", "back", "on", "observe"]), st.integers(0, 90_000_000))))
@settings(max_examples=100, deadline=None)
def test_readings_only_ever_grow(steps):
    clock, manual = clock_at()
    last = clock.tick(A)
    for what, number in steps:
        if what == "back":
            manual.advance(-number / 1000)
        elif what == "on":
            manual.advance(number / 1000)
        elif what == "observe":
            clock.observe([f"{1790000000123 + number:013d}-{number % 65536:04x}-{B}"])
        else:
            reading = clock.tick(A)
            assert is_reading(reading)
            assert reading > last
            last = reading


def test_the_parts_of_a_reading():
    reading = "1790000000123-00ff-ab12cd34ef"
    assert reading_writer(reading) == "ab12cd34ef"
    assert reading_time(reading) == START


def test_what_a_reading_looks_like():
    assert is_reading("1790000000123-00ff-ab12cd34ef")
    for wrong in (
        "1790000000123-00ff-ab12cd34e",
        "1790000000123-00FF-ab12cd34ef",
        "179000000012-00ff-ab12cd34ef",
        "1790000000123-00ff-AB12cd34ef",
        "1790000000123-00ff-ab12cd34ef\n",
        "١٧٩٠٠٠٠٠٠٠١٢٣-00ff-ab12cd34ef",
    ):
        assert not is_reading(wrong)


def test_clocks_tell_aware_utc():
    assert SystemClock().now().utcoffset() == timedelta(0)
    manual = ManualClock(datetime.fromisoformat("2026-01-01T02:00:00+02:00"))
    assert manual.now().isoformat() == "2026-01-01T00:00:00+00:00"
    manual.set(START)
    manual.advance(1.5)
    assert manual.now() - START == timedelta(seconds=1.5)

"""The language server counts a memory as accessed at most once a minute."""

from datetime import UTC, datetime, timedelta

from mnemolens.lsp.recalls import RecentAccesses

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_once_a_minute_for_each_memory_and_folder():
    recent = RecentAccesses()
    assert recent.due("one", ["a", "b", "a"], NOW) == ("a", "b")
    recent.count("one", ["a"], NOW)
    later = NOW + timedelta(seconds=59)
    assert recent.due("one", ["a", "b"], later) == ("b",)
    assert recent.due("two", ["a"], later) == ("a",)
    assert recent.due("one", ["a"], NOW + timedelta(seconds=60)) == ("a",)


def test_asking_does_not_count():
    recent = RecentAccesses()
    assert recent.due("one", ["a"], NOW) == ("a",)
    assert recent.due("one", ["a"], NOW) == ("a",)


def test_what_is_over_is_let_go():
    recent = RecentAccesses()
    recent.count("one", [str(number) for number in range(1000)], NOW)
    recent.count("one", ["last"], NOW + timedelta(minutes=1))
    assert list(recent._counted) == [("one", "last")]

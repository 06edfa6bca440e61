"""When a file changes, the memories that this may touch are derived anew, and no others."""

import asyncio

import pytest

from folders import Folder
from mnemolens.core.text import TextChange

CHARGE = (
    "def charge(amount, times):\n    total = amount * times + 1\n    return max(total, 0) - min(total, 5)\n"
)
REFUND = "def refund(amount):\n    return -amount\n"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, {"pay.py": f"{CHARGE}\n\n\n{REFUND}", "shop.py": "x = 1\n"})
    yield made
    made.close()


def derived(folder, monkeypatch):
    """The ids of memories that are derived from now on, in order."""
    links, seen = folder.workspace.links, []
    refresh = links.refresh

    def noted(memory_ids):
        ids = list(memory_ids)
        seen.extend(ids)
        return refresh(ids)

    monkeypatch.setattr(links, "refresh", noted)
    return seen


def test_only_notes_on_what_changed_are_derived(folder, monkeypatch):
    on_charge = folder.remember("a note", "pay.py", "charge")
    on_refund = folder.remember("another", "pay.py", "refund")
    seen = derived(folder, monkeypatch)
    folder.write_seen("pay.py", f"{CHARGE}\n\n\ndef added():\n    return 1\n\n\n{REFUND}")
    assert seen == []
    folder.write_seen("pay.py", f"{CHARGE}\n\n\n{REFUND.replace('-amount', 'amount - 1')}")
    assert set(seen) == {on_refund}
    assert folder.verdict(on_charge) == "fresh"


def test_a_note_that_names_what_is_new_is_derived(folder, monkeypatch):
    named = folder.remember("see `settle_invoice()`", "shop.py")
    seen = derived(folder, monkeypatch)
    folder.write_seen("pay.py", f"{CHARGE}\n\n\n{REFUND}\n\ndef settle_invoice():\n    return 1\n")
    assert named in seen


def test_an_import_that_changes_has_all_notes_on_the_file_derived(folder, monkeypatch):
    on_charge = folder.remember("a note", "pay.py", "charge")
    seen = derived(folder, monkeypatch)
    folder.write_seen("pay.py", f"import shop\n\n\n{CHARGE}\n\n\n{REFUND}")
    assert on_charge in seen


def test_a_copy_made_below_does_not_take_the_note_when_the_original_goes(folder):
    memory = folder.remember("a note", "pay.py", "charge")
    copy = CHARGE.replace("def charge", "def charge_again")
    folder.write_seen("pay.py", f"{CHARGE}\n\n\n{copy}")
    folder.write_seen("pay.py", copy)
    assert folder.verdict(memory) == "lost"


def test_a_note_confirmed_while_its_file_is_half_typed_is_judged_once_that_is_quiet(folder):
    memory = folder.remember("a note", "pay.py", "charge")
    changed = f"def charge(rows):\n    return [row for row in rows if row.ready]\n\n\n{REFUND}"
    folder.write_seen("pay.py", changed)
    assert folder.verdict(memory) != "fresh"
    folder.open("pay.py")
    folder.pass_time(3)
    folder.edit("pay.py", [TextChange(changed.replace("-amount", "0"))])
    now = folder.now
    folder.commit(folder.workspace.attaching.confirm(memory, None, now))
    folder.pass_time(3)
    assert folder.verdict(memory) == "fresh"


class TestManyNotesOnOneFile:
    """They are judged beside requests: as few would be, but not before the handler of a save returns."""

    @pytest.fixture
    def notes(self, folder, monkeypatch):
        monkeypatch.setattr("mnemolens.engine.links.MANY_ANCHORS", 1)
        found = [folder.remember("a note", "pay.py", name) for name in ("charge", "refund")]
        folder.open("pay.py")
        return found

    def save(self, folder, *texts):
        """Types a text and saves it, another and saves it …; what is told at once of the notes."""

        async def type_and_save():
            for text in texts:
                folder.edit("pay.py", [TextChange(text)])
                folder.workspace.sources.save_document("pay.py")

        folder.run(type_and_save())

    def wait(self, folder):
        async def until_judged():
            async with asyncio.timeout(30):
                while folder.workspace.refreshing.is_busy:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.002)

        folder.run(until_judged())

    def test_what_was_edited_has_drifted(self, folder, notes):
        self.save(folder, f"{CHARGE}\n\n\n{REFUND.replace('-amount', 'max(amount, 5) // 2 - 1')}")
        assert [folder.verdict(one) for one in notes] == ["fresh", "fresh"]
        self.wait(folder)
        assert [folder.verdict(one) for one in notes] == ["fresh", "drifted"]

    def test_a_name_that_was_typed_over_keeps_its_note(self, folder, notes):
        self.save(folder, f"{CHARGE}\n\n\n{REFUND.replace('refund', 'pay_back')}")
        self.wait(folder)
        assert [folder.verdict(one) for one in notes] == ["fresh", "fresh"]
        (link,) = folder.workspace.links.links_of(notes[1])
        assert link.target.qualname == "pay_back"

    def test_the_last_of_two_saves_counts(self, folder, notes):
        other = f"{CHARGE}\n\n\n{REFUND.replace('-amount', 'max(amount, 5) // 2 - 1')}"
        self.save(
            folder, other, f"{CHARGE}\n\n\n{REFUND}", other.replace("* times + 1", "+ times * 3 - amount")
        )
        self.wait(folder)
        assert folder.verdict(notes[1]) == "drifted"

    def test_what_is_typed_before_they_are_judged_is_judged_when_it_is_quiet(self, folder, notes):
        other = f"{CHARGE}\n\n\n{REFUND.replace('-amount', 'max(amount, 5) // 2 - 1')}"
        self.save(folder, other)
        folder.edit("pay.py", [TextChange(f"{other}\n\ndef half(")])
        self.wait(folder)
        assert folder.verdict(notes[1]) == "fresh"
        folder.edit("pay.py", [TextChange(other)])
        folder.pass_time(3)
        self.wait(folder)
        assert folder.verdict(notes[1]) == "drifted"


class TestWhatCouldNotBeJudged:
    """It is judged at the next tick, though the code changes no more."""

    DRIFTED = f"{CHARGE}\n\n\n{REFUND.replace('-amount', 'max(amount, 5) // 2 - 1')}"

    @pytest.fixture
    def fails(self, folder, monkeypatch):
        """The next follow fails, once."""
        links, real = folder.workspace.links, {}

        def failing(name):
            real[name] = getattr(links, name)

            def follow(*_, **__):
                monkeypatch.setattr(links, name, real[name])
                raise OSError("once")

            monkeypatch.setattr(links, name, follow)

        return failing

    def test_after_a_save(self, folder, fails):
        note = folder.remember("a note", "pay.py", "refund")
        folder.open("pay.py")
        folder.edit("pay.py", [TextChange(self.DRIFTED)])
        fails("follow")
        with pytest.raises(OSError, match="once"):
            folder.workspace.sources.save_document("pay.py")
        assert folder.verdict(note) == "fresh"
        folder.pass_time(1)
        assert folder.verdict(note) == "drifted"

    def test_after_a_save_that_is_judged_beside_requests(self, folder, fails, monkeypatch, caplog):
        monkeypatch.setattr("mnemolens.engine.links.MANY_ANCHORS", 0)
        note = folder.remember("a note", "pay.py", "refund")
        folder.open("pay.py")
        folder.edit("pay.py", [TextChange(self.DRIFTED)])
        fails("follow_slowly")

        async def save():
            folder.workspace.sources.save_document("pay.py")
            while folder.workspace.refreshing.is_busy:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.002)

        folder.run(save())
        assert "once" in caplog.text
        assert folder.verdict(note) == "fresh"
        folder.pass_time(1)
        assert folder.verdict(note) == "drifted"

    def test_after_a_change_on_disk(self, folder, fails):
        note = folder.remember("a note", "pay.py", "refund")
        fails("follow_slowly")
        with pytest.raises(OSError, match="once"):
            folder.write_seen("pay.py", self.DRIFTED)
        assert folder.verdict(note) == "fresh"
        folder.pass_time(1)
        assert folder.verdict(note) == "drifted"

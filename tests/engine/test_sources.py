"""When a file changes, the memories that this may touch are derived anew, and no others."""

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

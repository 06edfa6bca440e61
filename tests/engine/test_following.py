"""Notes that follow their code through what developers do to it, and what must never happen to them."""

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import Position
from mnemolens.core.text import TextChange
from mnemolens.engine.requests import CaptureRequest, ListRequest
from mnemolens.store.layout import find_layout
from repositories import commit, git, init

PAY = '''def pay(order, customer):
    """Takes the money."""
    total = sum(line.price for line in order.lines)
    receipt = provider.post("/pay", total=total, customer=customer)
    ledger.append((customer, total, receipt.id))
    return receipt
'''
SHOP = """class Shop:
    def open(self, door, key):
        door.unlock(key)
        self.lights.on()
        self.sign.turn("open")
        return self

    def close(self, door, key):
        self.lights.off()
        self.sign.turn("closed")
        door.lock(key)
        return self
"""
REFUND = """def refund(order, customer):
    for line in order.lines:
        stock.put(line.item, line.count)
    provider.refund(customer, order.total)
    return order.with_state("refunded")
"""
NOTE = "Retry must stay idempotent"


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path / "code", {"a.py": f"{PAY}\n\n{SHOP}", "b.py": REFUND})
    yield made
    made.close()


def note(folder, file="a.py", at="total", text=NOTE):
    memory_id = folder.remember(text, file, at)
    folder.pass_time(1)
    return memory_id


def note_on_file(folder, file="a.py"):
    write = folder.workspace.writing.capture(CaptureRequest(f"About {file}", file=file), folder.now)
    memory_id = folder.commit(write).view.memory.id
    folder.pass_time(1)
    return memory_id


def anchor(folder, memory_id):
    return folder.workspace.show.detail(memory_id, folder.now).anchors[0]


def at(folder, memory_id):
    """(place or None, verdict)."""
    found = anchor(folder, memory_id)
    return found.at.id if found.at else None, found.verdict


def aliases(folder, memory_id):
    return [
        entry.op
        for entry in folder.workspace.show.detail(memory_id, folder.now).history
        if "alias" in entry.op
    ]


def rewrite(folder, name, *replacements, source=None):
    """Another program changes the file."""
    text = (folder.root / (source or name)).read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    folder.write_seen(name, text)


def moved(folder, *names):
    folder.run(folder.workspace.files_changed([folder.root / name for name in names]))


EDIT = (("def pay", "def charge"), ("total = sum(", "total = fsum("))
REWRITE = (
    ("def pay", "def settle_invoice"),
    ("total = sum(line.price for line in order.lines)", "amount = order.amount()"),
    ("total=total", "amount=amount"),
    ("(customer, total, receipt.id)", "(receipt.id, amount)"),
)


class TestMoves:
    def test_renamed_and_edited_it_is_followed_silently(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", *EDIT)
        assert at(folder, one) == ("a.py::charge", "fresh")
        assert aliases(folder, one) == ["anchor.alias"]
        assert anchor(folder, one).stage == "alias"
        folder.restart()
        assert at(folder, one) == ("a.py::charge", "fresh")

    def test_a_class_renamed_takes_its_members_along(self, folder):
        one, two = note(folder, at="def open"), note(folder, at="class Shop", text="Opens late")
        rewrite(folder, "a.py", ("class Shop", "class Store"), ("self.lights.on()", "self.lights.dim()"))
        assert at(folder, one) == ("a.py::Store.open", "fresh")
        assert at(folder, two) == ("a.py::Store", "fresh")

    def test_a_file_moved_by_git_takes_everything_along(self, folder):
        one, two, three = note(folder), note(folder, at="def open"), note_on_file(folder)
        (folder.root / "pkg").mkdir()
        (folder.root / "a.py").rename(folder.root / "pkg" / "money.py")
        moved(folder, "a.py", "pkg/money.py")
        assert at(folder, one) == ("pkg/money.py::pay", "fresh")
        assert at(folder, two) == ("pkg/money.py::Shop.open", "fresh")
        assert at(folder, three) == ("pkg/money.py", "fresh")

    def test_a_rename_in_the_editor_takes_back_an_earlier_refusal_of_that_place(self, folder):
        one = note(folder)
        old, new = folder.root / "a.py", folder.root / "b.py"
        old.rename(new)
        moved(folder, "a.py", "b.py")
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        new.rename(old)
        moved(folder, "a.py", "b.py")
        assert at(folder, one) == ("a.py::pay", "fresh")
        old.rename(new)
        folder.run(folder.workspace.files_renamed([(old, new)]))
        assert at(folder, one) == ("b.py::pay", "fresh")

    def test_moved_renamed_and_edited_at_once(self, folder):
        one, two = note(folder), note_on_file(folder)
        text = (folder.root / "a.py").read_text()
        (folder.root / "a.py").unlink()
        for old, new in EDIT:
            text = text.replace(old, new)
        folder.write("money.py", text)
        moved(folder, "a.py", "money.py")
        assert at(folder, one) == ("money.py::charge", "fresh")
        assert at(folder, two) == ("money.py", "fresh")

    def test_what_became_a_shell_is_followed_into_what_it_calls(self, folder):
        one = note(folder)
        before = (folder.root / "a.py").read_text()
        shell = "def pay(order, customer):\n    return _pay(order, customer)\n\n\n"
        folder.write_seen("a.py", shell + before.replace("def pay", "def _pay"))
        assert at(folder, one) == ("a.py::_pay", "fresh")
        folder.write_seen("a.py", before)
        assert at(folder, one) == ("a.py::pay", "fresh")
        folder.write_seen("a.py", shell + before.replace("def pay", "def _pay"))
        assert at(folder, one) == ("a.py::_pay", "fresh")
        folder.restart()
        assert at(folder, one) == ("a.py::_pay", "fresh")
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        assert at(folder, one) == ("a.py::pay", "drifted")

    def test_what_was_edited_on_that_way_is_asked_about(self, folder):
        one = note(folder)
        before = (folder.root / "a.py").read_text()
        shell = """def pay(order, customer):
    if order.date < today():
        customer.warn(order.number, order.date, today(), limit=Days(14))
    return settle(customer, order.total())


"""
        for old, new in (
            ("def pay(order, customer)", "def settle(customer, total)"),
            ("    total = sum(line.price for line in order.lines)\n", ""),
        ):
            before = before.replace(old, new)
        folder.write_seen("a.py", shell + before)
        assert at(folder, one) == ("a.py::settle", "moved")
        folder.restart()
        assert at(folder, one) == ("a.py::settle", "moved")
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        assert at(folder, one) == (None, "lost")  # what has its name now is quite unlike it: it is offered
        assert [key.id for key, _ in anchor(folder, one).candidates] == ["a.py::pay"]

    def test_a_body_that_is_cut_and_put_into_another_function_later(self, folder):
        one = note(folder)
        text = (folder.root / "a.py").read_text()
        body = PAY[PAY.index("    total") :]
        folder.open("a.py")
        cut = text.replace(body, "    return\n")
        folder.edit("a.py", [TextChange(cut)])
        folder.pass_time(3)
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::pay", "drifted")
        call = cut.replace("    return\n", "    return settle(order, customer)\n", 1)
        pasted = f"{call}\n\ndef settle(order, customer):\n{body}"
        folder.edit("a.py", [TextChange(pasted)])
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::settle", "fresh")
        folder.edit("a.py", [TextChange(text)])
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::pay", "fresh")

    def test_a_body_that_was_cut_is_not_taken_for_any_new_function(self, folder):
        one = note(folder)
        text = (folder.root / "a.py").read_text()
        folder.write_seen("a.py", text.replace(PAY[PAY.index("    total") :], "    return\n"))
        for name in ("x.py", "a.py"):
            before = (folder.root / name).read_text() if name == "a.py" else ""
            folder.write_seen(name, f"{before}\n\n{REFUND.replace('def refund', 'def settle')}")
        assert at(folder, one) == ("a.py::pay", "drifted")

    def test_in_two_bursts_the_deletion_first(self, folder):
        one = note(folder)
        text = (folder.root / "a.py").read_text()
        (folder.root / "a.py").unlink()
        moved(folder, "a.py")
        assert at(folder, one) == (None, "lost")
        folder.write_seen("money.py", text.replace(*EDIT[0]).replace(*EDIT[1]))
        assert at(folder, one) == ("money.py::charge", "moved")  # what stood beside it is forgotten

    def test_a_folder_moved_without_an_editor(self, tmp_path):
        folder = Folder(tmp_path, {"old/deep/a.py": PAY, "old/b.py": REFUND})
        one, two = note(folder, "old/deep/a.py"), note_on_file(folder, "old/b.py")
        (tmp_path / "old").rename(tmp_path / "new")
        moved(folder, "old", "new")
        assert at(folder, one) == ("new/deep/a.py::pay", "fresh")
        assert at(folder, two) == ("new/b.py", "fresh")
        folder.close()

    def test_a_name_that_changes_only_in_case(self, folder):
        one, two = note(folder), note_on_file(folder)
        (folder.root / "a.py").rename(folder.root / "A.py")
        moved(folder, "a.py", "A.py")
        assert at(folder, one) == ("A.py::pay", "fresh")
        assert at(folder, two) == ("A.py", "fresh")

    def test_a_copy_never_takes_the_note(self, folder):
        one, two = note(folder), note_on_file(folder)
        rewrite(folder, "copy.py", ("def pay", "def pay"), source="a.py")
        rewrite(folder, "a.py", ("sum(", "fsum("))
        assert at(folder, one) == ("a.py::pay", "fresh")
        assert at(folder, two) == ("a.py", "fresh")

    def test_one_place_is_not_taken_twice(self, folder):
        twin = PAY.replace("def pay", "def pay_again").replace("ledger", "journal")
        folder.write_seen("a.py", f"{PAY}\n\n{twin}")
        one, two = note(folder), note(folder, at="pay_again", text="The second")
        folder.write_seen("a.py", PAY.replace("def pay", "def charge"))
        assert at(folder, one) == ("a.py::charge", "fresh")
        assert at(folder, two)[0] is None

    def test_two_functions_that_change_names_change_notes_too(self, folder):
        one, two = note(folder), note(folder, "b.py", "provider", "Stock first")
        folder.write_seen("a.py", f"{PAY}\n\n{REFUND}")
        both = f"{PAY}\n\n{REFUND}".replace("def pay", "def x").replace("def refund", "def pay")
        folder.write_seen("a.py", both.replace("def x", "def refund"))
        assert at(folder, one) == ("a.py::refund", "fresh")
        assert at(folder, two) == ("b.py::refund", "fresh")


class TestDoubt:
    def test_a_doubtful_place_waits_for_the_user(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", *REWRITE)
        assert at(folder, one) == ("a.py::settle_invoice", "moved")
        assert 0.5 <= anchor(folder, one).score < 0.75
        folder.pass_time(1)
        assert aliases(folder, one) == []
        folder.restart()
        assert at(folder, one) == ("a.py::settle_invoice", "moved")
        folder.commit(folder.workspace.attaching.confirm(one, None, folder.now))
        assert at(folder, one) == ("a.py::settle_invoice", "fresh")
        assert aliases(folder, one) == ["anchor.alias"]

    def test_a_lens_counts_what_is_to_be_confirmed(self, folder):
        note(folder)
        rewrite(folder, "a.py", *REWRITE)
        assert folder.lenses("a.py") == {0: "1 memory · 1 moved"}

    def test_a_refused_place_is_never_taken_again(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", *REWRITE)
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        assert at(folder, one)[0] is None
        for _ in range(2):
            rewrite(folder, "a.py", ("amount()", "amounts()"))
            rewrite(folder, "a.py", ("amounts()", "amount()"))
            folder.restart()
        assert at(folder, one)[0] is None

    def test_an_accepted_move_can_be_undone_too(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", *EDIT)
        folder.pass_time(1)
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        assert at(folder, one)[0] is None
        rewrite(folder, "a.py", ("def charge", "def pay"))
        assert at(folder, one) == ("a.py::pay", "fresh")

    def test_a_window_that_has_not_heard_of_a_refusal_does_not_take_it_back(self, folder):
        one = note(folder)
        other = Folder(folder.root)
        rewrite(folder, "a.py", *EDIT)
        folder.commit(folder.workspace.attaching.undo_move(one, None, folder.now))
        other.clock.advance(60)
        moved(other, "a.py")
        assert at(other, one) == ("a.py::charge", "fresh")  # it follows on its own, and writes that down
        for _ in range(2):
            other.pass_time(1)
            folder.pass_time(100)
        assert aliases(folder, one) == ["anchor.alias", "anchor.unalias", "anchor.alias"]
        assert at(folder, one)[0] is None
        assert at(other, one)[0] is None
        other.close()
        folder.restart()
        assert at(folder, one)[0] is None

    def test_nothing_to_undo(self, folder):
        one = note(folder)
        with pytest.raises(InvalidArgument, match="no move to undo"):
            folder.workspace.attaching.undo_move(one, None, folder.now)

    def test_what_was_rewritten_stays_drifted_after_the_move_was_accepted(self, folder):
        one = note(folder, at="def open")
        rewrite(
            folder,
            "a.py",
            ("class Shop", "class Store"),
            ('self.lights.on()\n        self.sign.turn("open")\n', "self.greet(door)\n        bell.ring()\n"),
        )
        assert at(folder, one) == ("a.py::Store.open", "drifted")
        folder.pass_time(1)
        assert aliases(folder, one) == ["anchor.alias"]
        assert at(folder, one) == ("a.py::Store.open", "drifted")
        folder.restart()
        assert at(folder, one) == ("a.py::Store.open", "drifted")
        folder.commit(folder.workspace.attaching.confirm(one, None, folder.now))
        assert at(folder, one) == ("a.py::Store.open", "fresh")


class TestLost:
    def test_a_deleted_function_is_lost_and_stays_listed(self, folder):
        one = note(folder)
        folder.write_seen("a.py", SHOP)
        assert at(folder, one) == (None, "lost")
        for request in (ListRequest(), ListRequest(text="idempotent"), ListRequest(verdict="lost")):
            assert [
                view.memory.id for view in folder.workspace.listing.page(request, folder.now).memories
            ] == [one]
        folder.restart()
        assert at(folder, one) == (None, "lost")

    @pytest.mark.parametrize("file", ["a.py", "elsewhere.py"])
    def test_it_takes_its_function_back(self, folder, file):
        one = note(folder)
        folder.write_seen("a.py", SHOP)
        folder.restart()
        folder.write_seen(file, f"{SHOP if file == 'a.py' else ''}\n\n{PAY}")
        assert at(folder, one) == (f"{file}::pay", "fresh")

    def test_an_unrelated_new_function_is_not_taken(self, folder):
        one = note(folder)
        folder.write_seen("a.py", f"{REFUND.replace('def refund', 'def store_all')}\n\n{SHOP}")
        assert at(folder, one)[0] is None

    def test_another_function_under_the_old_name_is_not_taken(self, folder):
        one = note(folder)
        folder.write_seen("a.py", REFUND.replace("def refund", "def pay"))
        assert at(folder, one)[0] is None

    def test_the_function_that_took_up_its_text_is_offered_first(self, folder):
        one = note(folder)
        folder.write("a.py", SHOP)
        body = PAY[PAY.index("    total") : PAY.index("    return")]
        folder.write("b.py", REFUND.replace("    for line", f"{body}    for line"))
        moved(folder, "a.py", "b.py")
        assert at(folder, one) == (None, "lost")
        assert anchor(folder, one).candidates[0][0].id == "b.py::refund"

    def test_what_was_a_wrapper_of_it_took_its_place(self, folder):
        one = note(folder)
        wrapper = "def settle(order, customer):\n    return pay(order, customer)\n"
        folder.write_seen("b.py", f"{wrapper}\n\n{REFUND}")
        note(folder, "b.py", "stock")
        folder.write("a.py", SHOP)
        settle = PAY.replace("def pay", "def settle").replace("= sum(", "= fsum(")
        refund = REFUND.replace("line in", "one in")
        folder.write("b.py", f"{settle}\n\n{refund}")
        moved(folder, "a.py", "b.py")
        assert at(folder, one)[0] == "b.py::settle"

    def test_a_candidate_is_picked(self, folder):
        folder.write_seen("c.py", PAY)
        one = note(folder)
        folder.write_seen("a.py", SHOP)
        assert at(folder, one) == (None, "lost")
        (candidate,) = anchor(folder, one).candidates
        assert candidate.place.id == "c.py::pay"
        acts = folder.workspace.actions.at("a.py", Position(0, 0), folder.now)
        assert [(act.act, act.candidate and act.candidate.id) for act in acts if act.repairs] == [
            ("reanchor", None),
            ("reanchor", "c.py::pay"),
        ]
        write = folder.workspace.attaching.reanchor(one, candidate=candidate.place.key, now=folder.now)
        folder.commit(write)
        assert at(folder, one) == ("c.py::pay", "fresh")
        (folder.root / "c.py").unlink()
        moved(folder, "c.py")
        rewrite(folder, "a.py", (SHOP, f"{PAY}\n\n{SHOP}"))
        assert at(folder, one) == ("a.py::pay", "fresh")  # its first place is still known


TYPED_PY = """def kinds(u = u'x'):
    found = {'card': 'visa', 'bill': b'post',
        'cash': f'{u}'}
    return pick(found, ('a', 'b'))
"""
BLACK_PY = """def kinds(
    u="x",
):
    found = {
        "card": "visa",
        "bill": b"post",
        "cash": f"{u}",
    }
    return pick(
        found,
        ("a", "b"),
    )
"""
TYPED_TS = """export function kinds(a: A, b = 'b') {
  const c = ask({kind: 'card', b}, [a])
  log('done')
  return c
}
"""
PRETTIER_TS = """export function kinds(
  a: A,
  b = "b",
) {
  const c = ask(
    { kind: "card", b },
    [a],
  );
  log("done");
  return c;
}
"""
TYPED_GO = """package a

func kinds() []string {
found := []string{"card", "bill"}
return pick(found, 3)
}
"""
GOFMT_GO = """package a

func kinds() []string {
\tfound := []string{
\t\t"card",
\t\t"bill",
\t}
\treturn pick(
\t\tfound,
\t\t3,
\t)
}
"""


class TestSettledText:
    @pytest.mark.parametrize(
        "text",
        [
            PAY.replace("    total", "    # the sum\n    total"),
            PAY.replace("\n", "\r\n"),
            PAY.replace(
                "total=total, customer=customer", "\n        total=total,\n        customer=customer"
            ),
            f"import os\n\n\n{PAY}",
        ],
    )
    def test_layout_and_comments_are_no_drift(self, folder, text):
        one = note(folder)
        folder.write_seen("a.py", text)
        assert at(folder, one) == ("a.py::pay", "fresh")
        assert anchor(folder, one).edited is False

    @pytest.mark.parametrize(
        ("file", "before", "after"),
        [("a.py", TYPED_PY, BLACK_PY), ("a.ts", TYPED_TS, PRETTIER_TS), ("a.go", TYPED_GO, GOFMT_GO)],
    )
    def test_what_a_formatter_does_is_no_drift(self, tmp_path, file, before, after):
        folder = Folder(tmp_path / "code", {file: before})
        one = note(folder, file, "=")
        folder.write_seen(file, after)
        assert at(folder, one) == (f"{file}::kinds", "fresh")
        assert anchor(folder, one).edited is False
        folder.write_seen(file, after.replace("card", "cash"))
        assert anchor(folder, one).edited is True
        folder.close()

    def test_a_string_for_a_name_is_an_edit(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", ("return receipt", 'return "receipt"'))
        assert anchor(folder, one).edited is True

    def test_a_small_edit_shows_in_the_hover_only(self, folder):
        one = note(folder)
        rewrite(folder, "a.py", ("sum(", "fsum("))
        assert at(folder, one) == ("a.py::pay", "fresh")
        assert anchor(folder, one).edited is True
        assert folder.lenses("a.py") == {0: "1 memory"}

    @pytest.mark.parametrize("opened", [True, False])
    def test_syntax_errors_change_no_verdict(self, folder, opened):
        one = note(folder)
        whole = (folder.root / "a.py").read_text()
        broken = whole.replace("def pay(order, customer):", "def pay(order, customer:\n<<<<<<< ours")
        if opened:
            folder.open("a.py")
            folder.open("a.py", broken)
            folder.pass_time(3)
        else:
            folder.write_seen("a.py", broken)
        assert at(folder, one) == ("a.py::pay", "fresh")
        mended = whole.replace(*EDIT[0]).replace(*EDIT[1])
        folder.open("a.py", mended) if opened else folder.write_seen("a.py", mended)
        assert at(folder, one) == ("a.py::charge", "fresh")

    def test_a_start_with_syntax_errors_loses_nothing(self, folder):
        one = note(folder)
        whole = (folder.root / "a.py").read_text()
        folder.close()
        folder.write("a.py", "def (:\n")
        folder.workspace = folder.start()
        assert at(folder, one) == ("a.py::pay", "fresh")
        folder.write_seen("a.py", whole)
        assert at(folder, one) == ("a.py::pay", "fresh")

    @pytest.mark.parametrize(
        ("new", "where"),
        [
            ("def pay(order):\n    return bank.debit(order.owner, order.sum)", ("a.py::pay", "drifted")),
            (REWRITE, ("a.py::settle_invoice", "moved")),
        ],
    )
    def test_a_start_with_syntax_errors_changes_no_verdict(self, folder, new, where):
        one = note(folder)
        pairs = [(PAY[PAY.index("def pay") :].rstrip(), new)] if isinstance(new, str) else new
        rewrite(folder, "a.py", *pairs)
        assert at(folder, one) == where
        folder.close()
        folder.write("a.py", "def (:\n")
        folder.workspace = folder.start()
        assert at(folder, one) == where

    def test_while_a_name_is_typed_its_memories_stay(self, folder):
        one = note(folder)
        folder.open("a.py")
        for place, letter in enumerate("ment"):
            folder.edit("a.py", [TextChange(letter, (0, 7 + place), (0, 7 + place))])
            assert folder.lenses("a.py") == {0: "1 memory"}
            shown = folder.workspace.hovers.at("a.py", Position(0, 5), folder.now).items
            assert [item.memory_id for item in shown] == [one]
        body = "    with till.lock():\n        return till.take_in(order.id, of=customer)\n"
        folder.edit("a.py", [TextChange(body, (1, 0), (6, 0))])
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::payment", "drifted")

    def test_a_name_typed_and_taken_back(self, folder):
        one = note(folder)
        folder.open("a.py")
        folder.edit("a.py", [TextChange("x", (0, 7), (0, 7))])
        folder.edit("a.py", [TextChange("", (0, 7), (0, 8))])
        assert folder.lenses("a.py") == {0: "1 memory"}
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::pay", "fresh")
        assert aliases(folder, one) == []

    def test_cut_and_pasted_between_unsaved_documents(self, folder):
        one = note(folder)
        folder.open("a.py")
        folder.open("b.py")
        lines = PAY.count("\n")
        folder.edit("a.py", [TextChange("", (0, 0), (lines, 0))])
        folder.edit("b.py", [TextChange(PAY.replace("sum(", "fsum("), (0, 0), (0, 0))])
        folder.pass_time(3)
        assert at(folder, one) == ("b.py::pay", "fresh")

    def test_deleted_and_undone(self, folder):
        one = note(folder)
        folder.open("a.py")
        lines = PAY.count("\n")
        folder.edit("a.py", [TextChange("", (0, 0), (lines, 0))])
        folder.pass_time(3)
        assert at(folder, one) == (None, "lost")
        folder.edit("a.py", [TextChange(PAY, (0, 0), (0, 0))])
        folder.pass_time(3)
        assert at(folder, one) == ("a.py::pay", "fresh")

    def test_saved_under_another_name_the_original_keeps_its_note(self, folder):
        one = note(folder)
        folder.open("a.py")
        folder.write("c.py", (folder.root / "a.py").read_text())
        folder.open("c.py")
        folder.run(folder.workspace.sources.close_document("a.py"))
        moved(folder, "c.py")
        assert at(folder, one) == ("a.py::pay", "fresh")


class TestWithoutAServer:
    def test_a_move_with_edits_is_found_at_the_next_start(self, folder):
        one, two = note(folder), note_on_file(folder)
        text = (folder.root / "a.py").read_text()
        folder.close()
        (folder.root / "a.py").unlink()
        folder.write("lib/money.py", text.replace(*EDIT[0]).replace(*EDIT[1]))
        folder.workspace = folder.start()
        assert at(folder, one) == ("lib/money.py::charge", "fresh")
        assert at(folder, two) == ("lib/money.py", "fresh")

    def test_a_near_twin_that_stood_there_is_not_taken(self, folder):
        folder.write_seen("twin.py", PAY.replace("ledger", "journal"))
        one = note(folder)
        folder.close()
        folder.write("a.py", SHOP)
        folder.workspace = folder.start()
        assert at(folder, one)[0] is None

    def test_a_first_look_moves_nothing_without_asking(self, folder):
        one = note(folder)
        folder.close()
        folder.write("a.py", SHOP)
        folder.write("money.py", PAY.replace("sum(", "fsum("))
        cache = find_layout(folder.root).cache_dir
        for found in cache.glob("symbols.sqlite*"):
            found.unlink()
        folder.workspace = folder.start()
        place, verdict = at(folder, one)
        assert (place, verdict) in {("money.py::pay", "moved"), (None, "lost")}


class TestBranches:
    @pytest.fixture
    def repo(self, tmp_path):
        root = tmp_path / "repo"
        root.mkdir()
        (root / "a.py").write_text(f"{PAY}\n\n{SHOP}")
        (root / "b.py").write_text(REFUND)
        init(root, at="2026-03-01T00:00:00Z")
        folder = Folder(root)
        yield folder
        folder.close()

    def switch(self, folder, *arguments):
        before = {path: path.read_bytes() for path in folder.root.glob("**/*.py")}
        git(folder.root, "checkout", "-q", *arguments)
        after = {path: path.read_bytes() for path in folder.root.glob("**/*.py")}
        changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
        folder.run(folder.workspace.files_changed(sorted(changed)))
        folder.pass_time(1)

    def test_there_and_back_everything_is_as_it_was(self, repo):
        notes = [
            note(repo),
            note(repo, at="def open"),
            note(repo, at="class Shop", text="Opens late"),
            note(repo, "b.py", "provider", "Stock first"),
            note_on_file(repo),
            note_on_file(repo, "b.py"),
        ]

        def everything():
            views = [repo.workspace.show.detail(one, repo.now) for one in notes]
            return [
                (view.view.verdict, [(a.at, a.verdict, a.edited) for a in view.anchors]) for view in views
            ]

        first = everything()
        self.switch(repo, "-b", "side")
        (repo.root / "lib").mkdir()
        git(repo.root, "mv", "a.py", "lib/money.py")
        text = (repo.root / "lib" / "money.py").read_text()
        (repo.root / "lib" / "money.py").write_text(
            text.replace(*EDIT[0]).replace("class Shop", "class Store")
        )
        (repo.root / "b.py").unlink()
        commit(repo.root, "all over")
        moved(repo, "a.py", "lib/money.py", "b.py")
        repo.pass_time(1)
        there = everything()
        assert [at(repo, one)[0] for one in notes] == [
            "lib/money.py::charge",
            "lib/money.py::Store.open",
            "lib/money.py::Store",
            None,
            "lib/money.py",
            None,
        ]
        for _ in range(2):
            self.switch(repo, "main")
            assert everything() == first
            self.switch(repo, "side")
            assert [one[1][0][:2] for one in everything()] == [one[1][0][:2] for one in there]
        self.switch(repo, "main")
        repo.restart()
        assert everything() == first

    def test_two_worktrees_do_not_fight(self, repo, tmp_path):
        one = note(repo)
        git(repo.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        side = Folder(tmp_path / "side")
        side.write_seen("a.py", (side.root / "a.py").read_text().replace(*EDIT[0]).replace(*EDIT[1]))
        for _ in range(3):
            side.pass_time(1)
            repo.pass_time(1)
            assert at(side, one) == ("a.py::charge", "fresh")
            assert at(repo, one) == ("a.py::pay", "fresh")
        rewrite(repo, "a.py", ("def pay", "def settle"))
        for _ in range(3):
            side.pass_time(1)
            repo.pass_time(1)
            assert at(side, one) == ("a.py::charge", "fresh")
            assert at(repo, one) == ("a.py::settle", "fresh")
        assert len(aliases(repo, one)) == 2
        side.close()

    @pytest.mark.parametrize("restarted", [(), ("side",), ("main",), ("side", "main")])
    def test_a_copy_that_comes_back_with_its_branch_is_not_taken(self, repo, restarted):
        one = note(repo)
        git(repo.root, "branch", "side")
        rewrite(repo, "copy.py", ("def pay", "def pay_later"), source="a.py")
        (repo.root / "a.py").write_text(SHOP)
        moved(repo, "a.py")
        place = at(repo, one)
        commit(repo.root, "without pay")
        for branch in ("side", "main", "side", "main"):
            self.switch(repo, branch)
            if branch in restarted:
                repo.restart()
            assert at(repo, one) == (("a.py::pay", "fresh") if branch == "side" else place)

    def test_a_note_of_another_worktree_finds_its_code_here(self, repo, tmp_path):
        git(repo.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
        side = Folder(tmp_path / "side")
        side.write_seen("a.py", (side.root / "a.py").read_text().replace(*EDIT[0]).replace(*EDIT[1]))
        side.pass_time(1)
        one = note(repo)
        side.pass_time(1)
        side.pass_time(1)
        assert at(side, one) == ("a.py::charge", "moved")  # what else changed with it is not known here
        assert at(repo, one) == ("a.py::pay", "fresh")
        side.commit(side.workspace.attaching.confirm(one, None, side.now))
        repo.pass_time(1)
        assert at(side, one) == ("a.py::charge", "fresh")
        assert at(repo, one) == ("a.py::pay", "fresh")
        side.close()


class TestWholeFiles:
    @pytest.mark.parametrize("name", ["README.md", "settings.py"])
    def test_a_file_without_definitions_is_followed_by_its_content(self, tmp_path, name):
        folder = Folder(tmp_path, {name: "LIMIT = 3\n", "other.py": "LIMIT = 4\n"})
        one = note_on_file(folder, name)
        (tmp_path / "docs").mkdir()
        (tmp_path / name).rename(tmp_path / "docs" / f"new_{name}")
        moved(folder, name, f"docs/new_{name}")
        assert at(folder, one) == (f"docs/new_{name}", "fresh")
        folder.restart()
        assert at(folder, one) == (f"docs/new_{name}", "fresh")
        folder.close()

    def test_also_while_no_server_ran(self, tmp_path):
        folder = Folder(tmp_path, {"settings.py": "LIMIT = 3\n"})
        one = note_on_file(folder, "settings.py")
        folder.close()
        (tmp_path / "settings.py").rename(tmp_path / "config.py")
        folder.workspace = folder.start()
        assert at(folder, one) == ("config.py", "fresh")
        folder.close()

    def test_a_copy_does_not_take_it(self, tmp_path):
        folder = Folder(tmp_path, {"README.md": "How to\n"})
        one = note_on_file(folder, "README.md")
        folder.write_seen("copy.md", "How to\n")
        assert at(folder, one) == ("README.md", "fresh")
        (tmp_path / "README.md").unlink()
        moved(folder, "README.md")
        assert at(folder, one) == (None, "lost")
        folder.close()

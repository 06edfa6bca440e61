"""The main job on real files and a real journal: capture, see, edit, close, find again."""

from datetime import timedelta

import pytest

from folders import Folder
from mnemolens.core.errors import InvalidArgument, NotFound, StoreError
from mnemolens.core.symbols import Position, SymbolKey
from mnemolens.core.text import TextChange
from mnemolens.engine.requests import CaptureRequest, ListRequest
from mnemolens.engine.status import journal_status_of, status_of

NOTE = "Retry must stay idempotent"
HERE = ("billing.py", "receipt = provider")
"""Inside charge()."""

BILLING = '''"""Charges customers."""


def charge(amount, customer):
    """Takes the money."""
    receipt = provider.post("/charge", amount=amount, customer=customer)
    if receipt.failed:
        raise PaymentFailed(receipt.reason, customer)
    ledger.append((customer, amount, receipt.id))
    return receipt


def refund(receipt):
    provider.post("/refund", receipt=receipt.id)
    ledger.remove(receipt.id)
    return None
'''

CHECKOUT = """from billing import charge


def checkout(cart):
    total = cart.total()
    return charge(total, cart.customer)
"""


@pytest.fixture
def shop(tmp_path):
    folder = Folder(tmp_path, {"billing.py": BILLING, "checkout.py": CHECKOUT})
    yield folder
    folder.close()


def retitled(text, old, new):
    assert old in text
    return text.replace(old, new)


class TestTheMainJob:
    def test_capture_shows_on_the_definition_and_on_a_call_in_another_file(self, shop):
        shop.open("billing.py")
        shop.open("checkout.py")
        shop.capture(NOTE, *HERE)
        assert shop.titles("billing.py", "charge(amount") == [NOTE]
        assert shop.titles("checkout.py", "charge(total") == [NOTE]
        assert shop.titles("checkout.py", "charge", nth=1) == [NOTE], "the import"

    def test_a_hover_elsewhere_is_nothing(self, shop):
        shop.open("billing.py")
        shop.capture(NOTE, *HERE)
        assert shop.hover("billing.py", "provider.post") is None
        assert shop.hover("billing.py", "refund(receipt") is None
        assert shop.hover("billing.py", "Charges customers") is None

    def test_lens_counts_the_symbols_own_memories(self, shop):
        shop.open("billing.py")
        assert shop.lenses("billing.py") == {}
        shop.capture(NOTE, *HERE)
        assert shop.lenses("billing.py") == {3: "1 memory"}
        shop.capture("The provider rounds half up", "billing.py", "receipt = provider")
        assert shop.lenses("billing.py") == {3: "2 memories"}
        assert shop.lenses("checkout.py") == {}

    def test_everything_is_found_again_after_a_restart(self, shop):
        shop.open("billing.py")
        captured = shop.capture(NOTE, *HERE, tags=("pay",))
        shop.restart()
        shop.open("billing.py")
        assert shop.titles("billing.py", "charge(amount") == [NOTE]
        assert shop.lenses("billing.py") == {3: "1 memory"}
        found = shop.workspace.show.detail(captured.view.memory.id, shop.now).view.memory
        assert (found.content, found.tags) == (NOTE, ("pay",))

    def test_nothing_is_written_into_the_folder_before_the_first_capture(self, tmp_path):
        folder = Folder(tmp_path, {"billing.py": BILLING})
        before = sorted(tmp_path.rglob("*"))
        folder.open("billing.py")
        folder.hover("billing.py", "charge(")
        folder.workspace.writing.preview(CaptureRequest("a note", file="billing.py"), folder.now)
        folder.workspace.listing.page(ListRequest(), folder.now)
        folder.pass_time(3)
        folder.close()
        assert sorted(tmp_path.rglob("*")) == before

    def test_typing_above_moves_lens_and_hover_at_once(self, shop):
        shop.open("billing.py")
        shop.capture(NOTE, *HERE)
        shop.workspace.open_document("billing.py", "python", "import os\n\n\n" + BILLING)
        assert shop.lenses("billing.py") == {6: "1 memory"}

    def test_two_windows_see_each_others_captures(self, shop):
        other = Folder(shop.root)
        captured = other.capture(NOTE, *HERE)
        shop.pass_time(1)
        assert shop.lenses("billing.py") == {3: "1 memory"}
        assert shop.workspace.show.detail(captured.view.memory.id, shop.now).view.verdict == "fresh"
        other.close()


class TestVerdicts:
    @pytest.fixture
    def noted(self, shop):
        shop.open("billing.py")
        self.id = shop.remember(NOTE, *HERE)
        return shop

    def rewrite(self, folder, text):
        folder.write("billing.py", text)
        folder.workspace.open_document("billing.py", "python", text)
        folder.workspace.sources.save_document("billing.py")

    def test_formatting_and_comments_are_no_drift(self, noted):
        text = retitled(
            BILLING, "    if receipt.failed:\n", "    # ask the provider\n    if   receipt.failed :\n"
        )
        self.rewrite(noted, text.replace("\n", "\r\n"))
        assert noted.verdict(self.id) == "fresh"
        assert not noted.workspace.show.detail(self.id, noted.now).anchors[0].edited

    def test_a_small_edit_is_fresh_edited_since(self, noted):
        self.rewrite(noted, retitled(BILLING, "receipt.id))", "receipt.number))"))
        anchor = noted.workspace.show.detail(self.id, noted.now).anchors[0]
        assert (anchor.verdict, anchor.edited) == ("fresh", True)

    def test_a_rewrite_is_drifted_and_a_confirmation_makes_it_fresh(self, noted):
        body = BILLING[BILLING.index("    receipt =") : BILLING.index("def refund")]
        self.rewrite(noted, BILLING.replace(body, "    with queue() as q:\n        q.put(Job(amount))\n\n\n"))
        assert noted.verdict(self.id) == "drifted"
        assert noted.lenses("billing.py") == {3: "1 memory · 1 drifted"}
        noted.run(
            noted.workspace.journaling.commit(noted.workspace.attaching.confirm(self.id, None, noted.now))
        )
        assert noted.verdict(self.id) == "fresh"
        noted.restart()
        assert noted.verdict(self.id) == "fresh"

    def test_an_identifier_that_the_memory_names_is_gone(self, shop):
        shop.open("billing.py")
        self.id = shop.remember("`ledger` must be appended last", "billing.py", "receipt = provider")
        self.rewrite(shop, retitled(BILLING, "    ledger.append((customer, amount, receipt.id))\n", ""))
        assert shop.verdict(self.id) == "drifted"

    def test_judged_on_saved_or_quiet_text_only(self, noted):
        body = BILLING[BILLING.index("    receipt =") : BILLING.index("def refund")]
        text = BILLING.replace(body, "    return None\n\n\n")
        from mnemolens.codegraph.document import TextChange

        noted.edit("billing.py", [TextChange(text=text)])
        assert noted.verdict(self.id) == "fresh"
        noted.pass_time(1)
        assert noted.verdict(self.id) == "fresh"
        noted.pass_time(1.5)
        assert noted.verdict(self.id) == "drifted"

    def test_a_deleted_function_leaves_its_memory_lost_but_listed(self, noted):
        self.rewrite(noted, BILLING[BILLING.index("def refund") :])
        assert noted.verdict(self.id) == "lost"
        page = noted.workspace.listing.page(ListRequest(), noted.now)
        assert [view.memory.id for view in page.memories] == [self.id]
        assert noted.lenses("billing.py") == {}
        self.rewrite(noted, BILLING)
        assert noted.verdict(self.id) == "fresh"
        assert noted.lenses("billing.py") == {3: "1 memory"}

    def test_syntax_errors_change_no_verdict(self, noted):
        self.rewrite(noted, retitled(BILLING, "def charge(amount, customer):", "def charge(amount, customer"))
        assert noted.verdict(self.id) == "fresh"

    def test_class_and_file_anchors_do_not_drift_with_a_members_body(self, tmp_path):
        text = "class Till:\n    def open(self):\n        return self.key.turn()\n"
        folder = Folder(tmp_path, {"till.py": text})
        on_class = folder.remember("Tills are singletons", "till.py", "class Till")
        on_file = folder.run(
            folder.workspace.journaling.commit(
                folder.workspace.writing.capture(
                    CaptureRequest("Ported from Perl", file="till.py"), folder.now
                )
            )
        ).view.memory.id
        folder.write_seen(
            "till.py", text.replace("self.key.turn()", "[print(x) for x in range(30) if x % 7]")
        )
        assert [folder.verdict(on_class), folder.verdict(on_file)] == ["fresh", "fresh"]
        folder.close()


class TestFollowing:
    def test_a_rename_is_followed_by_the_body_and_remembered(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.write_seen("billing.py", retitled(BILLING, "def charge(", "def take_payment("))
        assert shop.lenses("billing.py") == {3: "1 memory"}
        shop.pass_time(1)
        text = retitled(BILLING, "def charge(", "def take_payment(").replace("receipt.id))", "receipt.no))")
        shop.write_seen("billing.py", text)
        anchor = shop.workspace.show.detail(memory_id, shop.now).anchors[0]
        assert anchor.at.qualname == "take_payment", "the alias holds although the body changed too"
        assert (anchor.verdict, anchor.edited) == ("fresh", True)

    def test_there_and_back_again_is_exact(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.write_seen("billing.py", retitled(BILLING, "def charge(", "def take_payment("))
        shop.pass_time(1)
        shop.write_seen("billing.py", BILLING)
        anchor = shop.workspace.show.detail(memory_id, shop.now).anchors[0]
        assert (anchor.at.qualname, anchor.stage, anchor.verdict) == ("charge", "place", "fresh")

    def test_a_move_to_another_file_is_followed(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        head, _, rest = BILLING.partition("def refund")
        shop.write("payments.py", head)
        shop.write("billing.py", "def refund" + rest)
        shop.run(
            shop.workspace.files_changed([shop.root / "billing.py", shop.root / "payments.py"]),
        )
        assert shop.workspace.show.detail(memory_id, shop.now).anchors[0].at.id == "payments.py::charge"

    def test_a_move_while_no_server_ran_is_followed(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.close()
        shop.write("payments.py", BILLING)
        (shop.root / "billing.py").unlink()
        shop.workspace = shop.start()
        assert shop.workspace.show.detail(memory_id, shop.now).anchors[0].at.id == "payments.py::charge"

    def test_of_two_equal_bodies_neither_is_taken(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.write("a.py", retitled(BILLING, "def charge(", "def pay("))
        shop.write("b.py", retitled(BILLING, "def charge(", "def bill("))
        (shop.root / "billing.py").unlink()
        shop.run(shop.workspace.files_changed([shop.root / n for n in ("a.py", "b.py", "billing.py")]))
        anchor = shop.workspace.show.detail(memory_id, shop.now).anchors[0]
        assert (anchor.verdict, anchor.at) == ("ambiguous", None)
        assert {c.place.id for c in anchor.candidates} == {"a.py::pay", "b.py::bill"}

    def test_a_short_body_alone_is_no_proof(self, tmp_path):
        folder = Folder(tmp_path, {"a.py": "def first(self):\n    return self.x\n"})
        memory_id = folder.remember("x is cached", "a.py", "return")
        folder.write_seen("a.py", "import os\n")
        folder.write_seen("b.py", "def other(self):\n    return self.x\n")
        assert folder.verdict(memory_id) == "lost"
        folder.close()

    def test_a_copy_never_takes_the_memory(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.write_seen("aaa.py", BILLING)
        assert shop.workspace.show.detail(memory_id, shop.now).anchors[0].at.id == "billing.py::charge"
        assert shop.lenses("aaa.py") == {}


class TestLinking:
    def test_names_in_the_text_are_linked(self, shop):
        view = shop.capture("checkout.py: `refund()` needs the receipt of charge()")
        assert {(link.target.id, link.context, link.relevance) for link in view.links} == {
            ("checkout.py", "content_file_match", 0.8),
            ("billing.py::refund", "content_name_match", 0.8),
            ("billing.py::charge", "content_name_match", 0.8),
        }
        assert shop.lenses("billing.py") == {3: "1 memory", 12: "1 memory"}

    def test_metadata_file_is_linked_with_full_relevance(self, shop):
        view = shop.capture("Ask Ana before touching this", metadata={"file": "billing.py"})
        assert [(link.target.id, link.context, link.relevance) for link in view.links] == [
            ("billing.py", "metadata_file_match", 1.0)
        ]

    def test_a_substring_is_no_mention(self, shop):
        assert shop.capture("recharge_account() and refunds_total are elsewhere").links == ()

    def test_a_function_that_appears_later_finds_the_old_memory(self, shop):
        shop.capture("settle_batch() must run after midnight UTC")
        assert shop.lenses("billing.py") == {}
        shop.write_seen("billing.py", BILLING + "\n\ndef settle_batch():\n    pass\n")
        assert list(shop.lenses("billing.py").values()) == ["1 memory"]

    def test_a_memory_that_only_names_a_function_follows_its_rename(self, shop):
        shop.capture("charge() may be called twice")
        shop.write_seen("billing.py", retitled(BILLING, "def charge(", "def take_payment("))
        assert shop.lenses("billing.py") == {3: "1 memory"}
        shop.pass_time(1)
        shop.restart()
        assert shop.lenses("billing.py") == {3: "1 memory"}

    def test_a_derived_anchor_counts_only_while_the_text_holds_its_evidence(self, shop):
        memory_id = shop.remember("charge() may be called twice")
        shop.commit(
            shop.workspace.writing.update(memory_id, {"content": "refund() may be called twice"}, shop.now)
        )
        assert shop.lenses("billing.py") == {12: "1 memory"}

    def test_off_by_setting(self, shop):
        shop.capture("charge() may be called twice")
        off = shop.settings.model_copy(
            update={"linking": shop.settings.linking.model_copy(update={"enabled": False})}
        )
        shop.workspace.apply_settings(off)
        assert shop.lenses("billing.py") == {}
        assert shop.capture("refund() is slow").links == ()
        explicit = shop.capture("noted here", "billing.py", "def charge")
        assert [link.target.id for link in explicit.links] == ["billing.py::charge"]
        shop.workspace.apply_settings(shop.settings)
        assert shop.lenses("billing.py") == {3: "2 memories", 12: "1 memory"}

    def test_a_failing_linker_never_fails_a_capture(self, shop, monkeypatch, caplog):
        def explode(*_args, **_kwargs):
            raise RuntimeError("planted")

        monkeypatch.setattr("mnemolens.engine.naming.match", explode)
        view = shop.capture("charge() may be called twice", "billing.py", "def refund")
        assert [link.target.id for link in view.links] == ["billing.py::refund"]
        assert "planted" in caplog.text

    def test_a_name_in_two_places_is_a_candidate_and_a_user_can_pin_it(self, shop):
        shop.write_seen("other.py", "def charge():\n    pass\n")
        view = shop.capture("charge() may be called twice")
        assert {link.target.id for link in view.links if link.candidate} == {
            "billing.py::charge",
            "other.py::charge",
        }
        assert shop.lenses("billing.py") == {}
        change = shop.commit(
            shop.workspace.attaching.link(
                view.view.memory.id,
                file="other.py",
                position=shop.find("other.py", "charge"),
                now=shop.now,
            )
        )
        assert change.links[0].target.id == "other.py::charge"
        assert shop.lenses("other.py") == {0: "1 memory"}


class TestRepair:
    def test_unlink_is_a_standing_refusal_and_link_takes_it_back(self, shop):
        memory_id = shop.remember("charge() may be called twice")
        at = shop.find("billing.py", "charge(")
        shop.commit(shop.workspace.attaching.unlink(memory_id, file="billing.py", position=at))
        assert shop.lenses("billing.py") == {}
        shop.restart()
        assert shop.lenses("billing.py") == {}
        shop.commit(shop.workspace.attaching.link(memory_id, file="billing.py", position=at, now=shop.now))
        assert shop.lenses("billing.py") == {3: "1 memory"}

    def test_unlink_of_what_is_not_linked_is_an_error(self, shop):
        memory_id = shop.remember("a note about nothing")
        with pytest.raises(InvalidArgument, match="not linked"):
            shop.workspace.attaching.unlink(
                memory_id, file="billing.py", position=shop.find("billing.py", "charge(")
            )

    def test_reanchor_replaces_the_lost_anchor(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        shop.write_seen("billing.py", BILLING[BILLING.index("def refund") :])
        assert shop.verdict(memory_id) == "lost"
        write = shop.workspace.attaching.reanchor(
            memory_id, file="billing.py", position=shop.find("billing.py", "refund"), now=shop.now
        )
        shop.commit(write)
        detail = shop.workspace.show.detail(memory_id, shop.now)
        assert [anchor.at.id for anchor in detail.anchors] == ["billing.py::refund"]
        assert detail.view.verdict == "fresh"

    def test_reanchor_on_a_candidate(self, shop):
        memory_id = shop.remember(NOTE, *HERE)
        write = shop.workspace.attaching.reanchor(
            memory_id, candidate=SymbolKey("checkout.py", "checkout"), now=shop.now
        )
        assert shop.commit(write).links[0].target.id == "checkout.py::checkout"
        with pytest.raises(InvalidArgument, match="candidate"):
            shop.workspace.attaching.reanchor(
                memory_id, candidate=SymbolKey("checkout.py", "nowhere"), now=shop.now
            )

    def test_confirm_without_code_is_an_error(self, shop):
        memory_id = shop.remember("a note about nothing")
        with pytest.raises(InvalidArgument, match="re-anchor"):
            shop.workspace.attaching.confirm(memory_id, None, shop.now)

    def test_actions_offer_repair_where_it_is_needed(self, shop):
        shop.open("billing.py")
        shop.capture(NOTE, *HERE)
        at = shop.find("billing.py", "charge(")
        assert {a.act for a in shop.workspace.actions.at("billing.py", at, shop.now)} == {"open", "forget"}
        text = BILLING[BILLING.index("def refund") :]
        shop.write("billing.py", text)
        shop.workspace.open_document("billing.py", "python", text)
        at = shop.find("billing.py", "refund(")
        assert {a.act for a in shop.workspace.actions.at("billing.py", at, shop.now)} == {"reanchor"}


class TestChanging:
    def test_forget_and_restore(self, shop):
        memory_id = shop.remember(NOTE, "billing.py", "def charge")
        shop.commit(shop.workspace.writing.forget(memory_id, shop.now))
        assert shop.lenses("billing.py") == {}
        assert shop.workspace.listing.page(ListRequest(), shop.now).total == 0
        assert shop.workspace.listing.page(ListRequest(include_forgotten=True), shop.now).total == 1
        shop.commit(shop.workspace.writing.restore(memory_id, shop.now))
        assert shop.lenses("billing.py") == {3: "1 memory"}

    def test_update_changes_only_what_is_given(self, shop):
        made = shop.capture(
            "first line\nsecond", "billing.py", "def charge", tags=("a", "b"), metadata={"x": 1}
        )
        change = shop.commit(
            shop.workspace.writing.update(
                made.view.memory.id,
                {"content": "other words", "tags": ["b", "c"], "metadata": {"y": 2, "x": None}},
                shop.now,
            )
        )
        memory = change.view.memory
        assert (memory.content, memory.title) == ("other words", "other words"), "a derived title follows"
        assert (set(memory.tags), memory.metadata) == ({"b", "c"}, {"y": 2})
        assert [link.target.id for link in change.links] == ["billing.py::charge"]

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"importance": 2}, "importance"),
            ({"importance": float("nan")}, "importance"),
            ({"importance": True}, "importance"),
            ({"content": "  \n"}, "content"),
            ({"content": "x" * 1_000_001}, "content"),
            ({"content": "\ud800"}, "content"),
            ({"type": "vague"}, "type"),
            ({"tags": "one"}, "tags"),
            ({"tags": [""]}, "tags"),
            ({"metadata": {"a": object()}}, "metadata"),
            ({"trigger": {"on": "never"}}, "trigger"),
            ({"id": "other"}, "id"),
            ({"parent_id": "nobody"}, "parentId"),
        ],
    )
    def test_a_wrong_value_is_an_error_that_names_the_field(self, shop, changes, field):
        memory_id = shop.remember("a note")
        with pytest.raises(InvalidArgument) as caught:
            shop.workspace.writing.update(memory_id, changes, shop.now)
        assert caught.value.field == field

    def test_an_unknown_id_is_not_found(self, shop):
        for act in (
            shop.workspace.writing.forget,
            shop.workspace.writing.restore,
            shop.workspace.writing.done,
            shop.workspace.show.detail,
        ):
            with pytest.raises(NotFound, match="nope"):
                act("nope", shop.now)

    def test_an_access_counts_and_survives(self, shop):
        memory_id = shop.remember("a note")
        for _ in range(3):
            shop.run(shop.workspace.journaling.access([memory_id], shop.now))
        shop.restart()
        assert shop.workspace.show.detail(memory_id, shop.now).view.memory.access_count == 3

    def test_an_expired_memory_is_left_out_of_what_is_shown(self, shop):
        shop.capture("until Friday", "billing.py", "def charge", expires_at=shop.later(hours=1))
        assert shop.lenses("billing.py") == {3: "1 memory"}
        shop.clock.advance(7200)
        assert shop.lenses("billing.py") == {}


class TestDuplicates:
    def test_the_same_words_on_the_same_symbol_are_stored_once(self, shop):
        first = shop.capture("Retry must  stay\nidempotent", "billing.py", "receipt = provider")
        again = shop.capture(" Retry must stay idempotent\r\n", "billing.py", "def charge")
        assert again.duplicate_of == first.view.memory.id == again.view.memory.id
        assert again.warnings
        assert shop.workspace.listing.page(ListRequest(), shop.now).total == 1

    def test_the_same_words_elsewhere_are_stored_with_a_warning(self, shop):
        shop.capture(NOTE, "billing.py", "def charge")
        other = shop.capture(NOTE, "billing.py", "def refund")
        assert (other.duplicate_of, len(other.warnings)) == (None, 1)
        assert shop.workspace.listing.page(ListRequest(), shop.now).total == 2

    def test_an_explicit_id_is_always_stored_with_a_warning(self, shop):
        shop.capture(NOTE, "billing.py", "def charge")
        other = shop.capture(NOTE, "billing.py", "def charge", id="mine")
        assert other.view.memory.id == "mine"
        assert other.warnings

    def test_two_captures_at_the_same_time_store_one(self, shop):
        request = CaptureRequest(
            "Retry twice", file="billing.py", position=shop.find("billing.py", "def charge")
        )
        plans = [shop.workspace.writing.capture(request, shop.now) for _ in range(2)]

        async def both():
            return [await shop.workspace.journaling.commit(plan) for plan in plans]

        first, second = shop.run(both())
        assert first.view.memory.id == second.view.memory.id
        assert shop.workspace.listing.page(ListRequest(), shop.now).total == 1


class TestListing:
    def test_newest_first_and_pages(self, shop):
        for at in range(5):
            shop.capture(f"note number {at}")
            shop.clock.advance(60)
        page = shop.workspace.listing.page(ListRequest(limit=2, offset=1), shop.now)
        assert [view.memory.content for view in page.memories] == ["note number 3", "note number 2"]
        assert page.total == 5

    def test_filters(self, shop):
        shop.capture("about Charging", "billing.py", "def charge", tags=("pay", "prod"), type="procedural")
        shop.capture("about nothing", tags=("pay",))
        total = lambda **filters: shop.workspace.listing.page(ListRequest(**filters), shop.now).total  # noqa: E731
        assert [total(tags=("pay",)), total(tags=("pay", "prod")), total(type="procedural")] == [2, 1, 1]
        assert [total(text="charging ABOUT"), total(verdict="fresh"), total(verdict="unanchored")] == [
            1,
            1,
            1,
        ]
        assert [total(file="billing.py"), total(file="checkout.py")] == [1, 0]
        for wrong in ({"type": "odd"}, {"verdict": "odd"}, {"layer": "odd"}, {"limit": 0}, {"offset": -1}):
            with pytest.raises(InvalidArgument):
                total(**wrong)

    def test_at_a_position_by_rank(self, shop):
        shop.capture("minor", "billing.py", "def charge", importance=0.2)
        shop.capture("major", "billing.py", "def charge", importance=0.6)
        shop.capture("elsewhere", "billing.py", "def refund", importance=0.9)
        request = ListRequest(file="billing.py", position=shop.find("billing.py", "receipt ="))
        assert [v.memory.content for v in shop.workspace.listing.page(request, shop.now).memories] == [
            "major",
            "minor",
        ]


class TestOpenedDocuments:
    def test_saving_the_document_stores_what_was_changed(self, shop):
        memory_id = shop.remember(NOTE, "billing.py", "def charge")
        (opened,) = shop.run(shop.workspace.opened.open([memory_id], shop.now))
        path = shop.root.__class__(opened.path)
        text = path.read_text("utf-8")
        assert "on charge() in billing.py" in text
        assert shop.workspace.opened.id_of(path) == memory_id
        shop.run(shop.workspace.opened.save(path, text.replace("must stay", "has to stay"), shop.now))
        memory = shop.workspace.show.detail(memory_id, shop.now).view.memory
        assert memory.content.strip() == "Retry has to stay idempotent"
        shop.run(shop.workspace.opened.close(path, shop.now))
        assert not path.exists()

    def test_saving_unchanged_stores_nothing(self, shop):
        memory_id = shop.remember("  odd   layout\n\n\nkept \n", "billing.py", "def charge")
        (opened,) = shop.run(shop.workspace.opened.open([memory_id], shop.now))
        path = shop.root.__class__(opened.path)
        before = journal_status_of(shop.workspace).events
        shop.run(shop.workspace.opened.save(path, path.read_text("utf-8"), shop.now))
        assert journal_status_of(shop.workspace).events == before

    @pytest.mark.parametrize(
        "text",
        ["no head at all", "---\ntitle: [unclosed\n---\nx", "---\n- a list\n---\nx", "---\ntitle: x\nbody"],
    )
    def test_a_broken_head_is_one_clear_error_and_nothing_is_lost(self, shop, text):
        memory_id = shop.remember(NOTE)
        (opened,) = shop.run(shop.workspace.opened.open([memory_id], shop.now))
        path = shop.root.__class__(opened.path)
        with pytest.raises(InvalidArgument):
            shop.run(shop.workspace.opened.save(path, text, shop.now))
        assert shop.workspace.show.detail(memory_id, shop.now).view.memory.content == NOTE

    def test_any_id_makes_a_file_name(self, shop):
        for memory_id in ("../../etc/passwd", "a/b\\c:d", ".", "é" * 200, "CON"):
            shop.capture(f"note {memory_id}", id=memory_id)
            (opened,) = shop.run(shop.workspace.opened.open([memory_id], shop.now))
            path = shop.root.__class__(opened.path)
            assert path.parent.name == "open"
            assert path.parent.parent == shop.workspace.layout.store
            assert shop.workspace.opened.id_of(path) == memory_id


def test_status_counts(shop):
    shop.capture(NOTE, "billing.py", "def charge")
    shop.capture("about nothing")
    status = status_of(shop.workspace)
    assert (status.files, status.symbols, status.memories) == (2, 3, 2)
    assert status.verdicts == {"fresh": 1, "unanchored": 1}
    assert status.indexing is None
    assert status.graph.reason


def test_times_are_kept_to_the_moment(shop):
    due = shop.now + timedelta(days=3)
    made = shop.capture("look again", due_at=due, type="prospective")
    assert made.view.memory.due_at == due


class TestBeforeTheIndexIsBuilt:
    def test_a_capture_in_a_file_not_read_yet_is_on_its_function(self, tmp_path):
        folder = Folder(tmp_path, {"billing.py": BILLING}, indexed=False)
        view = folder.capture(NOTE, *HERE)
        assert [link.target.id for link in view.links] == ["billing.py::charge"]
        folder.close()

    def test_nothing_is_lost_or_moved_before_everything_was_read(self, tmp_path):
        folder = Folder(tmp_path, {"billing.py": BILLING})
        memory_id = folder.remember(NOTE, *HERE)
        folder.close()
        folder = Folder(tmp_path, {"copy.py": BILLING}, indexed=False)
        folder.open("copy.py")
        folder.commit(folder.workspace.writing.update(memory_id, {"tags": ["pay"]}, folder.now))
        folder.pass_time(3)
        assert folder.verdict(memory_id) == "unanchored"
        folder.run(folder.workspace.build_index())
        assert folder.workspace.show.detail(memory_id, folder.now).anchors[0].at.id == "billing.py::charge"
        assert folder.lenses("copy.py") == {}
        folder.close()


def test_opening_a_huge_file_forgets_nothing_while_it_is_parsed(tmp_path):
    body = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(6000))
    folder = Folder(tmp_path, {"huge.py": body})
    folder.capture("noted", "huge.py", "return 3000")
    folder.open("huge.py")
    assert list(folder.lenses("huge.py").values()) == ["1 memory"]
    while not folder.workspace.sources.parse_pending(50):
        pass
    assert folder.titles("huge.py", "f3000(") == ["noted"]
    folder.close()


def test_every_change_that_a_lens_shows_grows_the_generation(shop):
    def grows(act):
        before = shop.workspace.refreshing.generation
        act()
        return shop.workspace.refreshing.generation > before

    ids = []
    assert grows(lambda: ids.append(shop.remember(NOTE, *HERE)))
    for write in (shop.workspace.writing.forget, shop.workspace.writing.restore):
        assert grows(lambda write=write: shop.commit(write(ids[0], shop.now)))
    assert grows(lambda: shop.write_seen("billing.py", BILLING[BILLING.index("def refund") :]))
    assert not grows(lambda: shop.write_seen("unrelated.py", "def other(): ...\n"))
    assert not grows(lambda: shop.run(shop.workspace.journaling.access(ids, shop.now)))


class TestAnIdThatIsThere:
    def test_is_stored_over_with_a_warning(self, shop):
        shop.capture("first words", *HERE, id="K1", tags=("old",))
        again = shop.capture("other words", *HERE, id="K1")
        assert again.view.memory.content == "other words"
        assert "K1" in " ".join(again.warnings)
        assert len(shop.workspace.show.detail("K1", shop.now).anchors) == 1
        assert shop.workspace.listing.page(ListRequest(), shop.now).total == 1

    def test_is_brought_back_where_it_was_forgotten(self, shop):
        shop.capture("first words", *HERE, id="K1")
        shop.commit(shop.workspace.writing.forget("K1", shop.now))
        assert shop.capture("first words", *HERE, id="K1").view.memory.status == "active"
        assert shop.lenses("billing.py") == {3: "1 memory"}


class TestSecrets:
    TOKEN = "ghp_" + "a8Kx92LmQp0Zt7Yw" + "B4Nc6Vd1Rs3Ue5HjGf2i"

    def test_nothing_of_a_refused_text_reaches_the_disk(self, shop):
        for act in (shop.workspace.writing.capture, shop.workspace.writing.preview):
            with pytest.raises(InvalidArgument) as caught:
                act(CaptureRequest(f"deploy with {self.TOKEN}", file="billing.py"), shop.now)
            assert caught.value.field == "content"
            assert self.TOKEN not in str(caught.value)
        memory_id = shop.remember("deploy by hand")
        with pytest.raises(InvalidArgument):
            shop.workspace.writing.update(memory_id, {"metadata": {"key": self.TOKEN}}, shop.now)
        with pytest.raises(InvalidArgument) as caught:
            shop.workspace.writing.update(memory_id, {"parent_id": self.TOKEN}, shop.now)
        assert caught.value.field == "parentId"
        shop.close()
        written = b"".join(path.read_bytes() for path in shop.root.rglob("*") if path.is_file())
        assert self.TOKEN.encode() not in written
        shop.workspace = shop.start()

    def test_is_stored_where_that_is_wanted(self, shop):
        view = shop.capture(f"a revoked one: {self.TOKEN}", allow_secret=True)
        assert self.TOKEN in view.view.memory.content

    def test_a_text_that_is_too_long_is_refused_unread(self, shop, monkeypatch):
        memory_id = shop.remember("deploy by hand")
        read = []
        monkeypatch.setattr("mnemolens.engine.secrets.secrets_in", read.append)
        long = "x" * 1_000_001
        for act in (
            lambda: shop.workspace.writing.capture(CaptureRequest(long), shop.now),
            lambda: shop.workspace.writing.preview(CaptureRequest(long), shop.now),
            lambda: shop.workspace.writing.update(memory_id, {"content": long}, shop.now),
            lambda: shop.workspace.writing.overwrite(CaptureRequest(long, id=memory_id), shop.now),
        ):
            with pytest.raises(InvalidArgument, match="1,000,001"):
                act()
        assert read == []


def test_an_edit_that_a_wrong_clock_outlives_is_said(shop):
    memory_id = shop.remember(NOTE)
    shop.clock.advance(3 * 86_400)
    shop.commit(shop.workspace.writing.update(memory_id, {"content": "from the future"}, shop.now))
    shop.clock.advance(-3 * 86_400)
    shop.restart()
    with pytest.raises(StoreError, match="clock"):
        shop.commit(shop.workspace.writing.update(memory_id, {"content": "corrected"}, shop.now))


def test_what_is_typed_is_read_when_it_is_asked_for(tmp_path):
    folder = Folder(tmp_path, {"a.py": "def first():\n    pass\n", "b.py": "def other():\n    pass\n"})
    folder.capture("On first.", "a.py", "first")
    folder.open("a.py")
    folder.open("b.py")
    sources = folder.workspace.sources
    new = TextChange("\n\ndef new(): pass\n\n", (0, 0), (0, 0))
    for file in ("a.py", "b.py"):
        sources.change_document(file, [new], folder.now, later=True)
    sources.finish_parses("b.py")
    assert {s.name for s in folder.workspace.code.index.get("b.py").symbols} == {"other", "new"}
    assert sources.is_parsing
    assert (
        folder.workspace.hovers.at("a.py", Position(4, 5), folder.now) is not None
    )  # ranges went along at once
    sources.finish_parses("a.py")
    assert not sources.is_parsing
    assert {s.name for s in folder.workspace.code.index.get("a.py").symbols} == {"first", "new"}
    sources.change_document("a.py", [TextChange("", (0, 0), (4, 0))], folder.now, later=True)
    sources.finish_parses("b.py")  # one document more: whoever asks elsewhere sees what was typed last
    assert {s.name for s in folder.workspace.code.index.get("a.py").symbols} == {"first"}
    folder.close()

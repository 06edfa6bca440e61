"""What becomes of definitions, told by small sources before and after."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import parse_fixture
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.tokens import birth_of, definitions_of
from mnemolens.codegraph.track import (
    SURE,
    Indexed,
    Known,
    Listed,
    known_anchor,
    known_file,
    known_symbol,
    track,
)
from mnemolens.core.memories import Anchor, CodeState
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.text import Text

CHARGE = """
def charge(order, provider):
    for attempt in range(3):
        answer = provider.send(order.amount, order.currency)
        if answer.accepted:
            order.paid = answer.when
            return answer.receipt
        provider.wait(attempt * 2)
    raise RuntimeError(order.number)
"""
INVOICE = """
def invoice(customer, lines):
    total = sum(line.price * line.count for line in lines)
    text = [customer.name, customer.street, customer.town]
    for line in lines:
        text.append(f"{line.count} x {line.title}: {line.price}")
    return "\\n".join(text), total
"""
STOCK = """
def reserve(sku, count, shelves):
    with shelves.lock:
        shelf = shelves.find(sku) or shelves.add(sku)
        while shelf.free < count:
            shelf.order(count - shelf.free)
        shelf.free -= count
    return shelf
"""
EDITED = CHARGE.replace("range(3)", "range(limit)").replace(
    "    raise", "    log.warning(order.number)\n    raise"
)


REWRITTEN = CHARGE[: CHARGE.index("        if")] + INVOICE[INVOICE.index("    text =") :]


def indented(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.strip().split("\n"))


def definitions(text):
    """Every definition of a fixture, as the tracker takes it."""
    files, _ = parse_fixture(text)
    known = []
    for path, source in files.items():
        found = definitions_of(source.encode(), language_of(path))
        known += known_file(path, found.symbols, found.grams_at)
    return known


def followed(before, after, **options):
    """{old id or None: its match}; several added ones are a list under None."""
    matches = track(definitions(before), definitions(after), **options)
    found = {match.old.id: match for match in matches if match.old}
    found[None] = [match.new.id for match in matches if match.fate == "added"]
    return found


def files(**sources):
    return "".join(f"#- /{name}.py\n{source}" for name, source in sources.items())


def told(match):
    return match.fate, match.new and match.new.id


def test_what_stays_is_kept():
    found = followed(CHARGE + INVOICE, INVOICE + CHARGE)
    assert told(found["main.py::charge"]) == ("kept", "main.py::charge")
    assert told(found["main.py::invoice"]) == ("kept", "main.py::invoice")
    assert found[None] == []


def test_comments_layout_and_line_ends_are_no_change():
    spaced = CHARGE.replace("(order, provider)", "(\n    order,  # whose\n    provider\n)").replace(
        "\n", "\r\n"
    )
    match = followed(CHARGE, spaced)["main.py::charge"]
    assert (told(match), match.changed, match.score) == (("kept", "main.py::charge"), False, 1.0)


def test_an_edited_body_is_kept_and_said_to_be_changed():
    match = followed(CHARGE, EDITED)["main.py::charge"]
    assert (told(match), match.changed) == (("kept", "main.py::charge"), True)


def test_a_rename_is_followed():
    found = followed(CHARGE + INVOICE, CHARGE.replace("charge", "collect") + INVOICE)
    match = found["main.py::charge"]
    assert (told(match), match.changed) == (("renamed", "main.py::collect"), False)
    assert match.sure
    assert found[None] == []


def test_a_rename_with_an_edit_is_followed():
    match = followed(INVOICE + CHARGE + STOCK, INVOICE + EDITED.replace("charge", "collect") + STOCK)[
        "main.py::charge"
    ]
    assert (told(match), match.changed) == (("renamed", "main.py::collect"), True)


def test_a_move_to_another_file_is_followed():
    found = followed(files(pay=CHARGE + INVOICE), files(pay=INVOICE, provider=STOCK + CHARGE))
    assert told(found["pay.py::charge"]) == ("moved", "provider.py::charge")
    assert found[None] == ["provider.py::reserve"]


def test_both_renamed_and_moved_is_moved():
    after = files(pay=INVOICE, provider=EDITED.replace("charge", "collect"))
    assert told(followed(files(pay=CHARGE + INVOICE), after)["pay.py::charge"]) == (
        "moved",
        "provider.py::collect",
    )


def test_a_function_that_became_a_method_is_moved():
    method = "class Provider:\n" + "\n".join(f"    {line}" for line in CHARGE.split("\n"))
    assert told(followed(CHARGE, method)["main.py::charge"]) == ("moved", "main.py::Provider.charge")


def test_what_is_gone_is_lost():
    match = followed(CHARGE + INVOICE, INVOICE)["main.py::charge"]
    assert (told(match), match.candidates) == (("lost", None), ())


def test_an_unrelated_function_in_its_place_is_not_it():
    found = followed(INVOICE + CHARGE, INVOICE + STOCK)
    assert told(found["main.py::charge"]) == ("lost", None)
    assert found[None] == ["main.py::reserve"]


def test_an_unrelated_function_of_its_name_in_its_place_is_offered_only():
    match = followed(INVOICE + CHARGE, INVOICE + STOCK.replace("reserve", "charge"))["main.py::charge"]
    assert told(match) == ("lost", None)
    assert [one.key.id for one in match.candidates] == ["main.py::charge"]
    assert match.candidates[0].score < 0.5


def test_a_copy_does_not_take_the_place_of_its_original():
    found = followed(files(pay=CHARGE), files(pay=EDITED, archive=CHARGE))
    assert told(found["pay.py::charge"]) == ("kept", "pay.py::charge")
    assert found[None] == ["archive.py::charge"]


def test_a_copy_that_was_there_before_is_offered_when_the_original_goes():
    found = followed(files(pay=CHARGE, archive=CHARGE), files(pay=INVOICE, archive=CHARGE))
    assert told(found["archive.py::charge"]) == ("kept", "archive.py::charge")
    match = found["pay.py::charge"]
    assert told(match) == ("lost", None)
    assert [one.key.id for one in match.candidates] == ["archive.py::charge"]


def test_of_several_equal_places_none_is_chosen():
    after = files(one=CHARGE, two=CHARGE)
    match = followed(files(pay=CHARGE), after)["pay.py::charge"]
    assert told(match) == ("ambiguous", None)
    assert {one.key.id for one in match.candidates} == {"one.py::charge", "two.py::charge"}


def test_equal_functions_of_two_files_go_each_with_its_file():
    ends = ("a/apps/shop/admin/view", "b/apps/shop/admin/view")
    before = files(**{f"old/{end}": CHARGE for end in ends})
    after = files(**{f"new/{end}": CHARGE for end in ends})
    found = followed(before, after)
    for end in ends:
        assert told(found[f"old/{end}.py::charge"]) == ("moved", f"new/{end}.py::charge")


SHOP = """
class Shop:
    def name(self):
        return self._name

    def close(self):
        self._open = False

    def open(self, key):
        self._open = key.turns
        self._log.append(key)
        for lamp in self._lamps:
            lamp.on()
"""


def test_members_go_with_their_class():
    found = followed(SHOP, SHOP.replace("class Shop", "class Store"))
    assert told(found["main.py::Shop"]) == ("renamed", "main.py::Store")
    for member in ("name", "close", "open"):
        assert told(found[f"main.py::Shop.{member}"]) == ("renamed", f"main.py::Store.{member}")


def test_members_go_with_their_file_even_when_they_were_edited():
    after = SHOP.replace("return self._name", "return self._title").replace("lamp.on()", "lamp.off()")
    found = followed(files(shop=SHOP + STOCK), files(market=after + STOCK))
    for name in ("Shop", "Shop.name", "Shop.close", "Shop.open", "reserve"):
        assert told(found[f"shop.py::{name}"]) == ("moved", f"market.py::{name}")


def test_a_function_is_more_than_what_is_inside_it():
    inside = """
    def index():
        return render("index.html", title=site.title, pages=list(site.pages))
"""
    old = CHARGE.replace("provider):", "provider):" + inside, 1)
    new = INVOICE.replace("lines):", "lines):" + inside, 1)
    found = followed(files(pay=old, book=STOCK), files(book=STOCK + new))
    assert told(found["pay.py::charge"]) == ("lost", None)


@pytest.mark.parametrize("copy", ["build/lib", "zone/lib"])
def test_of_two_trees_with_the_same_code_the_one_whose_path_has_more_in_common_has_moved(copy):
    def tree(folder):
        return f"#- /{folder}/a.py\n{CHARGE}{INVOICE}"

    found = followed(tree("src/lib") + tree(copy), tree("packages/src/v3/pay/lib"))
    assert told(found["src/lib/a.py::charge"]) == ("moved", "packages/src/v3/pay/lib/a.py::charge")
    assert told(found[f"{copy}/a.py::charge"]) == ("lost", None)


def test_what_is_in_an_unnamed_place_goes_with_what_is_around_it():
    """Between what is put on `this` and the function around it no definition stands; here are two alike."""

    def box(extra):
        return f"function Box() {{\n  this.inc = () => {{\n    this.count++\n  }}\n  {extra}\n}}\n"

    both = box("this.rows = new Map([[1, 2]])") + box("this.names = names.filter(name => name.size > 3)")
    found = followed(f"#- /old/a.ts\n{both}", f"#- /new/deep/a.ts\n{both}")
    for ordinal in ("", "#1"):
        match = found[f"old/a.ts::Box.this.inc{ordinal}"]
        assert told(match) == ("moved", f"new/deep/a.ts::Box.this.inc{ordinal}")


def test_a_name_that_was_given_to_another_class_does_not_keep_its_members():
    old = f"class Order:\n{indented(CHARGE)}"
    new = f"class OldOrder:\n{indented(EDITED)}class Order:\n{indented(REWRITTEN)}"
    match = followed(old, new)["main.py::Order.charge"]
    assert (match.new.id, match.sure) == ("main.py::OldOrder.charge", False)


def test_what_a_function_did_is_followed_into_another_file_too():
    shell = """
def charge(order, provider):
    for attempt in range(3):
        answer = collect(order, provider)
        log.info("charged", attempt, order.number, answer.receipt, provider.name)
    return report(order.number, answer)
"""
    after = f"#- /new/pay.py\n{shell}{EDITED.replace('def charge', 'def collect')}{INVOICE}{STOCK}"
    match = followed(f"#- /old/pay.py\n{CHARGE}{INVOICE}{STOCK}", after)["old/pay.py::charge"]
    assert (told(match), match.sure) == (("moved", "new/pay.py::collect"), False)


def test_of_equal_definitions_of_one_name_each_goes_to_the_nearest():
    same = "def setup():\n    store = use_store()\n    return store\n"
    other = "def setup():\n    return {number}\n"
    before = "".join([other.format(number=1), other.format(number=2), same])
    after = "".join([same, other.format(number=1), other.format(number=2), same])
    found = followed(before, after)
    assert told(found["main.py::setup#2"]) == ("kept", "main.py::setup#3")
    found = followed(before + same, same + same)
    assert told(found["main.py::setup#2"]) == ("kept", "main.py::setup")
    assert told(found["main.py::setup#3"]) == ("kept", "main.py::setup#1")


def test_a_short_body_alone_says_nothing():
    found = followed(files(a="def on(self): return self.x\n"), files(b="def lit(self): return self.x\n"))
    assert told(found["a.py::on"]) == ("lost", None)


PROPERTY = """
class Shop:
    @property
    def name(self):
        return self._names[self._language]

    @name.setter
    def name(self, name):
        self._names[self._language] = name.strip()
        self._changed = True
"""


def test_a_declaration_is_known_by_its_head_in_its_place():
    before = """#- /api.ts
interface Orders {
    load(id: string, options: { retry: number; timeout: number }, signal?: AbortSignal): Promise<Order>;
}
"""
    found = followed(before, before.replace("load", "fetchOne"))
    assert told(found["api.ts::Orders.load"]) == ("renamed", "api.ts::Orders.fetchOne")


def test_definitions_of_one_name_are_told_apart_by_their_text():
    getter = PROPERTY.replace(
        PROPERTY[PROPERTY.index("    @property") : PROPERTY.index("    @name.setter")], ""
    )
    found = followed(PROPERTY, getter)
    assert told(found["main.py::Shop.name#1"]) == ("kept", "main.py::Shop.name")
    assert told(found["main.py::Shop.name"]) == ("lost", None)


def test_what_a_function_did_is_followed_into_the_one_that_it_calls_now():
    shell = "\ndef charge(order, provider):\n    return _charge(order, provider)\n"
    found = followed(CHARGE, shell + CHARGE.replace("def charge", "def _charge"))
    assert told(found["main.py::charge"]) == ("renamed", "main.py::_charge")


def test_what_was_edited_on_that_way_is_asked_about():
    shell = """
def charge(order, provider):
    with provider.session() as session:
        session.begin(order.number)
        receipt = _charge(order, session)
        session.end(order.number, receipt, provider.name)
    return receipt
"""
    match = followed(CHARGE, shell + EDITED.replace("def charge", "def _charge"))["main.py::charge"]
    assert (told(match), match.sure) == (("renamed", "main.py::_charge"), False)


def test_what_took_up_a_text_is_offered_first():
    body = CHARGE[CHARGE.index("    for") :]
    host = INVOICE.replace("    for line in lines:", f"{body}    for line in lines:", 1)
    match = followed(f"{CHARGE}{INVOICE}{STOCK}", f"{host}{STOCK}")["main.py::charge"]
    assert told(match) == ("lost", None)
    assert [candidate.key.id for candidate in match.candidates] == ["main.py::invoice"]
    match = followed(f"{CHARGE}{INVOICE}{STOCK}", f"{INVOICE}{STOCK}")["main.py::charge"]
    assert match.candidates == ()


def test_a_shell_that_kept_some_of_it_is_one_still():
    shell = """
def charge(order, provider):
    for attempt in range(3):
        answer = ask(order, provider)
        if answer.accepted:
            return answer.receipt
    raise RuntimeError(order.number)
"""
    match = followed(CHARGE, shell + EDITED.replace("def charge", "def ask"))["main.py::charge"]
    assert (told(match), match.sure) == (("renamed", "main.py::ask"), False)


def test_where_little_of_it_went_the_name_keeps_it():
    part = "\ndef accept(order, answer):\n    order.paid = answer.when\n    return answer.receipt\n"
    rest = CHARGE.replace(
        "order.paid = answer.when\n            return answer.receipt", "return accept(order, answer)"
    )
    assert "accept(" in rest
    assert told(followed(CHARGE, rest + part)["main.py::charge"]) == ("kept", "main.py::charge")


def test_what_stood_inside_goes_where_its_own_text_went():
    inner = CHARGE.replace("def charge(order, provider)", "def attempts(order, provider)")
    outer = f"def charge(order, provider):\n{indented(inner)}    return attempts(order, provider)\n"
    after = f"def charge(order, provider):\n    return attempts(order, provider)\n{inner}"
    found = followed(outer, after)
    assert told(found["main.py::charge"]) == ("kept", "main.py::charge")
    assert told(found["main.py::charge.attempts"]) == ("moved", "main.py::attempts")


def test_a_name_that_another_text_took_over_keeps_only_that():
    slow = EDITED.replace("def charge", "async def charge").replace("provider.send", "await provider.send")
    before = files(pay=CHARGE, slow=slow)
    after = files(pay=slow + CHARGE.replace("def charge", "def sync_charge"))
    found = followed(before, after)
    assert told(found["slow.py::charge"]) == ("moved", "pay.py::charge")
    assert told(found["pay.py::charge"]) == ("renamed", "pay.py::sync_charge")
    assert not found["pay.py::charge"].sure  # its name still stands


def test_what_calls_itself_does_not_go_to_a_copy_elsewhere():
    walk = CHARGE.replace("provider.wait(attempt * 2)", "charge(order, provider.next)")
    changed = REWRITTEN.replace("    text = [", "    charge(order, provider.next)\n    text = [")
    found = followed(files(main=walk), files(main=changed, copy=walk))
    assert told(found["main.py::charge"]) == ("kept", "main.py::charge")


@pytest.mark.parametrize("changed", [EDITED, REWRITTEN])
@pytest.mark.parametrize("name", ["fast_charge", "charge"])
def test_a_copy_beside_an_edited_original_takes_nothing(changed, name):
    copy = CHARGE.replace("def charge", f"def {name}")
    found = followed(files(main=CHARGE), files(main=changed, copy=copy))
    assert told(found["main.py::charge"]) == ("kept", "main.py::charge")


def test_equal_ones_of_a_name_that_move_together_keep_their_order():
    same = "".join(f"def test_{name}():\n{indented(CHARGE)}\n" for name in ("a", "b"))
    twice = same.replace("def test_b", "def test_a")
    found = followed(files(old=twice), files(new=twice.replace("    ", "     ")))
    assert told(found["old.py::test_a.charge"]) == ("moved", "new.py::test_a.charge")
    assert told(found["old.py::test_a#1"]) == ("moved", "new.py::test_a#1")


DIVIDED = files(one=CHARGE * 4 + INVOICE, two=STOCK + CHARGE * 3)


@pytest.mark.parametrize("pool", [lambda: definitions(DIVIDED), lambda: Indexed(*index_of(DIVIDED)[:2])])
def test_equal_ones_of_a_file_that_was_divided_go_with_what_stood_beside_them(pool):
    matches = track(definitions(files(all=CHARGE * 4 + INVOICE + STOCK + CHARGE * 3)), pool())
    there = [match.new and match.new.id for match in matches if match.old and match.old.name == "charge"]
    one, two = "one.py::charge", "two.py::charge"
    assert there == [one, f"{one}#1", f"{one}#2", f"{one}#3", two, f"{two}#1", f"{two}#2"]


def test_of_equal_ones_the_one_that_stood_beside_nothing_known_is_not_guessed():
    found = followed(files(all=CHARGE + STOCK + INVOICE), files(one=INVOICE + CHARGE, two=CHARGE + INVOICE))
    assert told(found["all.py::charge"]) == ("ambiguous", None)


def test_a_method_that_became_an_object_is_what_it_holds():
    before = """#- /slice.ts
const slice = {
  remove(draft: Draft, { payload }: Action<Key>) { delete draft[payload.key] },
}
"""
    after = """#- /slice.ts
const slice = {
  remove: { reducer(draft: Draft, { payload }: Action<Key>) { delete draft[payload.key] }, prepare },
}
"""
    old, new = (definitions(text)[-1].key for text in (before, after))
    assert new.qualname == f"{old.qualname}.reducer"
    assert told(followed(before, after)[old.id])[1] == new.id
    assert told(followed(after, before)[new.id])[1] == old.id


def test_a_declaration_does_not_keep_the_body_that_came_under_its_name():
    body = """{
    if code < 300 || code > 308 {
        return ErrInvalidRedirectCode
    }
    c.response.Header().Set(HeaderLocation, url)
    c.response.WriteHeader(code)
    return nil
}
"""
    method = f"func (c *{{}}) Redirect(code int, url string) error {body}"
    declared = "type Context interface {\n    Redirect(code int, url string) error\n}\n"
    before = (
        f"#- /context.go\npackage echo\n{declared}type context struct {{}}\n{method.replace('{}', 'context')}"
    )
    after = f"#- /context.go\npackage echo\ntype Context struct {{}}\n{method.replace('{}', 'Context')}"
    found = followed(before, after)
    assert told(found["context.go::context.Redirect"])[1] == "context.go::Context.Redirect"


def test_a_swap_of_names_is_followed():
    swapped = CHARGE.replace("charge", "invoice") + INVOICE.replace("invoice", "charge")
    found = followed(CHARGE + INVOICE, swapped)
    assert told(found["main.py::charge"]) == ("renamed", "main.py::invoice")
    assert told(found["main.py::invoice"]) == ("renamed", "main.py::charge")


@pytest.mark.parametrize("name", ["shop.ts", "shop.tsx", "shop.js"])
def test_it_knows_no_language(name):
    before = """
export function charge(order, provider) {
  for (let attempt = 0; attempt < 3; attempt++) {
    const answer = provider.send(order.amount, order.currency);
    if (answer.accepted) return answer.receipt;
  }
  throw new Error(order.number);
}
"""
    after = f"#- /new/{name}\n" + before.replace("charge", "collect").replace("order.number", "String(order)")
    match = followed(f"#- /{name}\n" + before, after)[f"{name}::charge"]
    assert told(match) == ("moved", f"new/{name}::collect")


def test_a_refused_place_is_not_taken():
    [old] = definitions(files(pay=CHARGE))
    refusing = Known(
        **{name: getattr(old, name) for name in old.__slots__}
        | {"refused": frozenset({SymbolKey("b.py", "charge")})}
    )
    [match] = [one for one in track([refusing], definitions(files(b=CHARGE))) if one.old]
    assert told(match) == ("lost", None)
    assert match.candidates == ()


def test_an_occupied_place_is_offered_only():
    match = followed(files(pay=CHARGE), files(b=CHARGE), occupied={SymbolKey("b.py", "charge")})[
        "pay.py::charge"
    ]
    assert told(match) == ("lost", None)
    assert [one.key.id for one in match.candidates] == ["b.py::charge"]


def test_two_records_of_one_key_are_refused():
    known = definitions(CHARGE)
    with pytest.raises(ValueError, match="twice"):
        track([*known, *known], known)


# An index as the new side, records as the old one -----------------------------------------------------------


def index_of(text):
    """An index, and a function that gives grams and notes who was asked for."""
    index, asked = CodeIndex(), []
    sources, _ = parse_fixture(text)
    found = {path: definitions_of(source.encode(), language_of(path)) for path, source in sources.items()}
    for path, one in found.items():
        index.put(path, one.symbols)

    def grams(key):
        asked.append(key)
        return found[key.file].grams_at(index.position_of(key))

    return index, grams, asked


def anchor_on(source, qualname, file="pay.py", **more):
    language = language_of(file)
    symbols = extract(source.encode(), language)
    at = next(at for at, one in enumerate(symbols.symbols) if one.qualname == qualname)
    return Anchor("a", "m", birth_of(Text(source), language, symbols, file, at), **more)


def test_an_anchor_whose_file_is_gone_is_found_in_an_index():
    index, grams, asked = index_of(files(provider=INVOICE + CHARGE.replace("charge", "collect")))
    [match] = track([known_anchor(anchor_on(CHARGE, "charge"))], Indexed(index, grams))
    assert told(match) == ("moved", "provider.py::collect")
    assert asked == []


def test_an_edited_one_is_found_in_what_changed():
    index, grams, _ = index_of(files(provider=INVOICE + STOCK + EDITED.replace("charge", "collect")))
    old = known_anchor(anchor_on(CHARGE, "charge"))
    assert told(track([old], Indexed(index, grams, changed=["provider.py"]))[0]) == (
        "moved",
        "provider.py::collect",
    )


def test_an_edited_one_is_found_under_its_name_anywhere():
    index, grams, _ = index_of(files(provider=INVOICE + STOCK + EDITED))
    old = known_anchor(anchor_on(CHARGE, "charge"))
    assert told(track([old], Indexed(index, grams))[0]) == ("moved", "provider.py::charge")


def test_only_what_may_be_it_is_looked_at():
    others = {f"m{n}": f"def f{n}(x):\n    return x + {n}\n" for n in range(30)}
    index, grams, asked = index_of(files(**others, provider=EDITED))
    [match] = track([known_anchor(anchor_on(CHARGE, "charge"))], Indexed(index, grams))
    assert told(match) == ("moved", "provider.py::charge")
    assert set(asked) == {SymbolKey("provider.py", "charge")}


def test_confirmed_text_counts_as_its_own():
    confirmed = extract(STOCK.encode(), language_of("a.py")).symbols[0]
    state = CodeState(SymbolKey("pay.py", "charge"), confirmed.full_hash, confirmed.body_hash, "")
    old = known_anchor(anchor_on(CHARGE, "charge", confirmations=(state,)))
    match = track([old], definitions(files(b=STOCK)))[0]
    assert told(match) == ("moved", "b.py::reserve")


def test_a_place_known_without_its_look_has_that_of_the_birth():
    anchor = anchor_on(CHARGE, "charge")
    old = known_anchor(anchor, CodeState(SymbolKey("later.py", "charge"), "", "", ""))
    assert old.key == SymbolKey("later.py", "charge")
    assert old.grams() == known_anchor(anchor).grams() != frozenset()


def test_a_short_body_under_a_name_that_is_merely_alike_says_nothing():
    found = followed(
        files(a="def is_on(self): return self.x\n"), files(b="def is_off(self): return self.x\n")
    )
    assert not found["a.py::is_on"].sure


def test_a_file_goes_with_what_is_in_it():
    old = [Known(SymbolKey("pay.py", ""), "file"), *definitions(files(pay=CHARGE + INVOICE))]
    new = [Known(SymbolKey("shop/pay.py", ""), "file"), *definitions(files(**{"shop/pay": CHARGE + INVOICE}))]
    assert told(track(old, new)[0]) == ("moved", "shop/pay.py")


def test_one_symbol_is_taken_as_the_whole_file_takes_it():
    symbols = extract(SHOP.encode(), language_of("a.py"))
    whole = known_file("a.py", symbols)
    assert [known_symbol("a.py", symbols, at) for at in range(len(whole))] == whole


# Whatever comes ---------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["f", "g", "A.f", "A.g", "B.f", "A", "B"])


@st.composite
def sides(draw):
    """Definitions of a few files, hashes and grams; often the same on both sides."""

    def one(key):
        text = draw(st.integers(0, 5))
        kind = "class" if key.qualname in {"A", "B"} else "function"
        grams = frozenset(range(text * 7, text * 7 + 10))
        return Known(
            key, kind, f"full{text}", f"body{text}", draw(st.sampled_from([8, 20, 60])), grams=lambda: grams
        )

    def side():
        keys = draw(
            st.sets(st.builds(SymbolKey, st.sampled_from(["a.py", "b.py"]), NAMES, st.integers(0, 1)))
        )
        return [one(key) for key in sorted(keys)]

    return side(), side()


@settings(max_examples=60, deadline=None)
@given(sides(), st.randoms())
def test_one_to_one_whatever_comes_in_any_order(both, rng):
    old, new = both
    matches = track(old, new)
    news = [match.new for match in matches if match.new is not None]
    assert len(news) == len(set(news))
    assert set(news) == {known.key for known in new}
    assert [match.old for match in matches if match.old] == [known.key for known in old]
    assert all(0 <= match.score <= 1 and len(match.candidates) <= 3 for match in matches)
    assert all((match.new is None) == (match.fate in {"lost", "ambiguous"}) for match in matches)
    shuffled = [rng.sample(one, len(one)) for one in both]
    assert set(track(*shuffled)) == set(matches)


@settings(max_examples=40, deadline=None)
@given(sides())
def test_nothing_happens_to_what_is_the_same(both):
    known, _ = both
    assert [(m.fate, m.new, m.changed) for m in track(known, known)] == [
        ("kept", k.key, False) for k in known
    ]


@settings(max_examples=40, deadline=None)
@given(sides(), st.data())
def test_a_copy_never_takes_the_place(both, data):
    known, _ = both
    if not known:
        return
    one = data.draw(st.sampled_from(known))
    copy = Known(
        SymbolKey("copy.py", one.key.qualname),
        one.kind,
        one.full_hash,
        one.body_hash,
        one.token_count,
        grams=one.grams,
    )
    matches = track(known, [*known, copy])
    assert {match.old: match.new for match in matches if match.old} == {k.key: k.key for k in known}
    assert [match.new for match in matches if match.fate == "added"] == [copy.key]


def test_a_pool_can_be_used_again():
    pool = Listed(definitions(files(provider=INVOICE + EDITED)))
    old = definitions(files(pay=CHARGE))
    first = track(old, pool)
    assert first[0].score >= SURE
    assert track(old, pool) == first

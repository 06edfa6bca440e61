"""A look at only what some memories can be on says of them what a look at everything says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from folders import Folder
from mnemolens.core.errors import InvalidArgument
from mnemolens.core.symbols import Position
from mnemolens.engine import glance
from mnemolens.engine.requests import CaptureRequest, ListRequest, RecallRequest

LONG = "    total = 0\n    for item in items:\n        total += item.price * item.count\n    return total\n"
FILES = {
    "shop/cart.py": f"class Cart:\n    def total_of(self, items):\n{LONG.replace('    ', '        ')}\n"
    "    def clear(self):\n        pass\n",
    "shop/pay.py": "def charge_card(card):\n    return card.pay()\n\n"
    "def refund(card):\n    return card.undo()\n",
    "shop/other.py": "def charge_card(card, amount):\n    return card.take(amount)\n",
    "shop/empty.py": "",
    "web/view.ts": "export function render(x: number) {\n  return String(x);\n}\n",
    "ignored/gone.py": "def hidden():\n    return 'hidden' + str(1) + 'is' + str(2) + 'what it is'\n",
    ".gitignore": "ignored/\n",
}


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path, FILES)
    yield made
    made.close()


def told(workspace, memory_id, now):
    """All that depends on the code, of one memory."""
    detail = workspace.show.detail(memory_id, now)
    return (
        detail.view.verdict,
        [(link.target, link.relevance, link.candidate) for link in detail.links],
        [(anchor.id, anchor.at, anchor.verdict, anchor.stage) for anchor in detail.anchors],
    )


def glanced(folder, *memory_ids, **how):
    """A workspace of a process that has only glanced."""
    folder.close()
    folder.indexed = False
    workspace = folder.workspace = folder.start()
    workspace.glance.look(memory_ids, **how)
    return workspace


def test_a_memory_on_its_place(folder):
    one = folder.remember("Sums prices", "shop/cart.py", "total_of")
    workspace = glanced(folder, one)
    verdict, links, _ = told(workspace, one, folder.now)
    assert verdict == "fresh"
    assert [link[0].id for link in links] == ["shop/cart.py::Cart.total_of"]


def test_a_function_that_moved_to_a_file_nobody_asked_for_is_found(folder):
    one = folder.remember("Sums prices", "shop/cart.py", "total_of")
    folder.write("shop/cart.py", "class Cart:\n    pass\n")
    folder.write("lib/sums.py", f"def total_of(items):\n{LONG}")
    folder.restart()
    workspace = glanced(folder, one)
    verdict, links, _ = told(workspace, one, folder.now)
    assert verdict == "fresh"
    assert [link[0].id for link in links] == ["lib/sums.py::total_of"]


def test_a_memory_whose_code_moved_into_the_file_is_near_it(folder):
    one = folder.remember("Sums prices", "shop/cart.py", "total_of")
    other = folder.remember("Takes money", "shop/pay.py", "refund")
    folder.write("shop/cart.py", "class Cart:\n    pass\n")
    folder.write("lib/sums.py", f"def total_of(items):\n{LONG}")
    workspace = glanced(folder, near=["lib/sums.py"])
    assert workspace.show.detail(one, folder.now).view.verdict == "fresh"
    page = workspace.listing.page(ListRequest(file="lib/sums.py"), folder.now)
    assert [view.memory.id for view in page.memories] == [one]
    assert workspace.show.links_of(other) == ()  # nobody asked for it


def test_lost_is_said_only_of_what_was_looked_for_everywhere(folder):
    one = folder.remember("Sums prices", "shop/cart.py", "total_of")
    folder.write("shop/cart.py", "class Cart:\n    pass\n")
    workspace = glanced(folder, near=["shop/pay.py"])
    assert workspace.show.detail(one, folder.now).view.verdict == "unanchored"
    workspace = glanced(folder, near=["shop/cart.py"])
    assert workspace.show.detail(one, folder.now).view.verdict == "lost"


def test_a_name_in_two_files_is_not_taken_for_the_one_that_was_read(folder):
    one = folder.remember("`charge_card` is slow")
    full = told(folder.workspace, one, folder.now)
    assert {link[2] for link in full[1]} == {True}  # only offered: it may be either
    workspace = glanced(folder, near=["shop/pay.py"])
    assert told(workspace, one, folder.now) == full


def test_what_a_draft_names_is_linked_as_with_everything_read(folder):
    request = CaptureRequest("Cart.total_of is used by render(), see shop/pay.py", file="shop/empty.py")
    full = folder.workspace.writing.preview(request, folder.now)
    assert {link.target.id for link in full.links} == {
        "shop/empty.py", "shop/cart.py::Cart.total_of", "web/view.ts::render", "shop/pay.py",
    }  # fmt: skip
    workspace = glanced(folder, near=["shop/empty.py"], draft=request)
    assert workspace.writing.preview(request, folder.now) == full


def test_by_words(folder):
    one = folder.remember("Prices are net", "shop/cart.py", "total_of")
    workspace = glanced(folder, words="net")
    assert workspace.show.detail(one, folder.now).view.verdict == "fresh"


CALLER = "from shop.pay import refund\n\n\ndef give_back(order):\n    return refund(order.card)\n"


def recalled(workspace, file, position, now):
    found = workspace.recall.recall(RecallRequest(file=file, position=position), now)
    return [one.view.memory.id for one in found.memories]


def test_near_what_is_called_is_who_calls_it_from_another_file(folder, monkeypatch):
    folder.write("shop/desk.py", CALLER)
    folder.restart()
    one = folder.remember("Ask for the receipt", "shop/desk.py", "give_back")
    folder.remember("Sums prices", "shop/cart.py", "total_of")
    refund = folder.find("shop/pay.py", "refund")
    full = recalled(folder.workspace, "shop/pay.py", refund, folder.now)
    assert full == [one]
    assert recalled(glanced(folder, near=["shop/pay.py"]), "shop/pay.py", refund, folder.now) == full
    monkeypatch.setattr(glance, "MAX_CALLERS", 1)  # two files have memories: to look at many takes long
    assert recalled(glanced(folder, near=["shop/pay.py"]), "shop/pay.py", refund, folder.now) == []


def test_an_ignored_file_can_be_asked_for_but_is_not_looked_into_otherwise(folder):
    workspace = glanced(folder, near=["ignored/gone.py"])
    assert workspace.show.target("ignored/gone.py", Position(1, 4)).key.qualname == "hidden"
    write = workspace.writing.capture(CaptureRequest("Secret", file="ignored/gone.py"), folder.now)
    workspace.journaling.commit_sync(write)
    on = workspace.journaling.commit_sync(
        workspace.writing.capture(
            CaptureRequest("Deep", file="ignored/gone.py", position=Position(1, 4)), folder.now
        )
    )
    workspace = glanced(folder, on.view.memory.id)
    alone = told(workspace, on.view.memory.id, folder.now)
    folder.indexed = True
    full = folder.restart()
    assert told(full, on.view.memory.id, folder.now) == alone


def test_new_and_changed_files_are_read(folder):
    one = folder.remember("Sums prices", "shop/cart.py", "total_of")
    folder.write("shop/cart.py", FILES["shop/cart.py"].replace("item.price * item.count", "0"))
    full = folder.restart()
    before = told(full, one, folder.now)
    folder.write("shop/new.py", "def fresh_one():\n    return 1\n")
    workspace = glanced(folder, one, near=["shop/new.py"])
    assert told(workspace, one, folder.now) == before
    assert workspace.show.target("shop/new.py", Position(1, 4)).key.qualname == "fresh_one"


def test_a_file_that_is_not_there(folder):
    with pytest.raises(InvalidArgument, match=r"nope\.py"):
        folder.workspace.glance.look(near=["nope.py"])


@pytest.mark.parametrize(
    ("name", "line"),
    [("Cart.total_of", 1), ("total_of", 1), ("Cart", 0), ("clear", 7), ("Cart.clear#0", 7)],
)
def test_names(folder, name, line):
    assert folder.workspace.glance.find("shop/cart.py", name).line == line


@pytest.mark.parametrize(
    ("name", "said"), [("total", "Cart.total_of"), ("clear#1", "clear#1"), ("clear#x", "number")]
)
def test_names_that_are_none(folder, name, said):
    with pytest.raises(InvalidArgument, match=said):
        folder.workspace.glance.find("shop/cart.py", name)


def test_a_name_that_two_symbols_end_with(folder):
    folder.write("two.py", "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n")
    with pytest.raises(InvalidArgument, match=r"A\.go or B\.go"):
        glanced(folder).glance.find("two.py", "go")


# Any folder, any memories

NAMES = ("load_rows", "Store", "save_rows", "parse", "close")
BODIES = (
    "return 1",
    "total = 0\n    for row in rows:\n        total += row.value\n    return total",
    "try:\n        return open(rows).read()\n    except OSError:\n        return None",
)
functions = st.tuples(st.sampled_from(NAMES), st.sampled_from(BODIES))
sources = st.lists(functions, max_size=3).map(
    lambda found: "".join(f"def {name}(rows):\n    {body}\n\n" for name, body in found)
)
folders = st.fixed_dictionaries(dict.fromkeys(("a.py", "b.py", "lib/a.py", "lib/c.py"), sources))
texts = st.lists(
    st.sampled_from(
        [
            "load_rows",
            "`parse`",
            "Store.save_rows",
            "close()",
            "lib/a.py",
            "a.py",
            "it is slow",
            "save_rows()",
        ]
    ),
    min_size=1,
    max_size=3,
).map(" and ".join)
memories = st.lists(
    st.tuples(texts, st.sampled_from([None, "a.py", "b.py", "lib/a.py"]), st.integers(0, 9)), max_size=4
)


@given(folders, memories, folders, st.sampled_from(["a.py", "b.py", "lib/a.py", "lib/c.py"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_glance_agrees_with_a_full_look(tmp_path_factory, before, told_of, after, file):
    folder = Folder(tmp_path_factory.mktemp("any"), before)
    try:
        ids = []
        for number, (text, on, line) in enumerate(told_of):
            request = CaptureRequest(f"{number} {text}", file=on, position=on and Position(line, 4))
            write = folder.workspace.writing.capture(request, folder.now)
            ids.append(folder.run(folder.workspace.journaling.commit(write)).view.memory.id)
        folder.pass_time(1)  # the session before knows where its anchors were
        for name, text in after.items():
            folder.write(name, text)
        alone = {one: told(glanced(folder, one), one, folder.now) for one in ids}
        workspace = glanced(folder, near=[file])
        page = workspace.listing.page(ListRequest(file=file), folder.now)
        on_file = {view.memory.id: told(workspace, view.memory.id, folder.now) for view in page.memories}
        folder.indexed = True
        full = folder.restart()
        page = full.listing.page(ListRequest(file=file), folder.now)
        expected = {one: told(full, one, folder.now) for one in ids}
        assert alone == expected
        assert on_file == {view.memory.id: expected[view.memory.id] for view in page.memories}
    finally:
        folder.close()

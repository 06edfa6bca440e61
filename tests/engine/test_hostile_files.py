"""Folders and files that nobody should make, and that are there: each is read, or left out with a reason."""

import os
from random import Random

import pytest

from folders import Folder
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.languages import language_named
from mnemolens.core.symbols import Position
from mnemolens.core.text import TextChange
from mnemolens.engine.doctor import read_in_part
from mnemolens.engine.status import status_of
from mnemolens.store.files import FileFinder
from mutations import Typing

GOOD = b"def good():\n    pass\n"


@pytest.fixture
def indexed(tmp_path):
    """Makes a workspace on a folder with these files, good.py among them."""
    made = []

    def index(files):
        for name, content in {"good.py": GOOD, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        made.append(Folder(tmp_path))
        return made[-1]

    yield index
    for folder in made:
        folder.close()


def names(folder, file):
    return [key.qualname for key in folder.workspace.code.symbols() if key.file == file]


CASES = {
    "empty": (b"", []),
    "no final newline": (b"def f():\n    pass", ["f"]),
    "latin-1": ("# café\ndef f():\n    pass\n".encode("latin-1"), ["f"]),
    "invalid UTF-8": (b"x = '\xff\xfe\xc0'\ndef f():\n    pass\n", ["f"]),
    "a byte order mark": (b"\xef\xbb\xbfdef f():\n    pass\n", ["f"]),
    "minified": (b";".join(b"x%d=1" % n for n in range(5000)) + b"\nf=lambda:0\n", ["f"]),
}


@pytest.mark.parametrize("case", CASES)
def test_odd_files_are_read(indexed, case):
    content, expected = CASES[case]
    folder = indexed({"odd.py": content})
    assert names(folder, "odd.py") == expected
    assert names(folder, "good.py") == ["good"]


def test_one_line_of_ten_megabytes_and_binary_files_are_left_out_with_a_reason(indexed):
    folder = indexed({"long.py": b"x=1;" * 2_500_000, "binary.py": b"\x7fELF\0\0" * 100})
    assert names(folder, "good.py") == ["good"]
    skipped = {one.file: one.reason for one in status_of(folder.workspace).skipped}
    assert "maxFileBytes" in skipped["long.py"]
    assert "binary" in skipped["binary.py"]
    assert names(folder, "long.py") == []


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_a_circle_of_links_ends(tmp_path, indexed):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a")
    (tmp_path / "self.py").symlink_to("self.py")
    folder = indexed({"a/b/c.py": GOOD})
    assert names(folder, "a/b/c.py") == ["good"]
    assert names(folder, "a/b/up/b/c.py") == []


def test_a_rename_of_case_only_leaves_one_of_the_two(tmp_path, indexed):
    folder = indexed({"shop.py": GOOD})
    (tmp_path / "shop.py").rename(tmp_path / "Shop.py")
    folder.run(folder.workspace.files_changed([tmp_path / "shop.py", tmp_path / "Shop.py"]))
    assert names(folder, "Shop.py") == ["good"]
    assert names(folder, "shop.py") == []


def test_a_stub_beside_its_module_is_a_file_of_its_own_and_calls_mean_the_module(indexed):
    stub, module = b"def pay(amount: int) -> bool: ...\n", b"def pay(amount):\n    return amount > 0\n"
    user = b"from shop import pay\n\ndef buy():\n    return pay(3)\n"
    folder = indexed({"shop.pyi": stub, "shop.py": module, "user.py": user})
    assert names(folder, "shop.py") == names(folder, "shop.pyi") == ["pay"]
    folder.remember("Takes no cents.", "shop.py", "pay")
    folder.remember("Typed by hand.", "shop.pyi", "pay")
    for name in ("shop.py", "shop.pyi", "user.py"):
        folder.open(name)
    assert folder.titles("shop.py", "pay") == ["Takes no cents."]
    assert folder.titles("shop.pyi", "pay") == ["Typed by hand."]
    assert folder.titles("user.py", "pay", nth=2) == ["Takes no cents."]


def between_the_look_and_the_reading(monkeypatch, change):
    """Has something happen once the files of the folder are listed and none of them is read."""
    scan = FileFinder.scan

    def scan_and_change(finder):
        found = scan(finder)
        change()
        return found

    monkeypatch.setattr(FileFinder, "scan", scan_and_change)


def test_files_that_vanish_while_they_are_read_are_left_out_with_a_reason(tmp_path, indexed, monkeypatch):
    between_the_look_and_the_reading(monkeypatch, (tmp_path / "gone.py").unlink)
    folder = indexed({"gone.py": b"def gone():\n    pass\n"})
    assert names(folder, "good.py") == ["good"]
    assert names(folder, "gone.py") == []
    [(file, reason)] = [(one.file, one.reason) for one in status_of(folder.workspace).skipped]
    assert file == "gone.py"
    assert reason.startswith("cannot be read")
    folder.run(folder.workspace.files_changed([tmp_path / "gone.py"]))
    assert status_of(folder.workspace).skipped == ()


def test_a_checkout_in_the_middle_of_reading_ends_as_a_rebuild_does(tmp_path, indexed, monkeypatch):
    before = {f"f{at}.py": b"def old%d():\n    pass\n" % at for at in range(30)}
    after = {f"f{at}.py": b"\n\ndef new%d():\n    pass\n" % at for at in range(20, 40)}

    def checkout():
        for name in list(before)[10:20]:
            (tmp_path / name).unlink(missing_ok=True)
        for name, content in after.items():
            (tmp_path / name).write_bytes(content)

    between_the_look_and_the_reading(monkeypatch, checkout)
    folder = indexed(before)
    monkeypatch.undo()
    folder.run(folder.workspace.files_changed([tmp_path / name for name in {**before, **after}]))
    expected = sorted([f"old{at}" for at in range(10)] + [f"new{at}" for at in range(20, 40)] + ["good"])
    assert sorted(key.qualname for key in folder.workspace.code.symbols()) == expected
    folder.restart()
    assert sorted(key.qualname for key in folder.workspace.code.symbols()) == expected


def test_a_generated_file_of_many_lines_is_read_in_slices_and_exactly(indexed):
    table = "".join(f"    ({at}, 'x{at:05}'),\n" for at in range(5_000))
    text = f"def first():\n    pass\n\nTABLE = [\n{table}]\n\n{'x' * 60} = 1\ndef last():\n    return TABLE\n"
    text = "# generated by a tool\n" * 45_000 + text
    assert text.count("\n") > 50_000
    assert len(text) > 700_000
    folder = indexed({"big.py": text.encode()})
    assert names(folder, "big.py") == ["first", "last"]
    document = Document(text, language_named("python"))
    assert document.pending
    slices = 1
    while not document.parse_slice(0.008):
        slices += 1
    assert slices > 5
    assert [one.qualname for one in document.symbols.symbols] == ["first", "last"]
    assert document.symbols.ranges[1].name.start == Position(text[: text.index("def last")].count("\n"), 4)


@pytest.mark.parametrize("language", ["python", "typescript", "go"])
def test_typing_below_twenty_thousand_brackets(language):
    body = {"python": "def f(): pass\n", "go": "func f() {}\n"}.get(language, "function f() {}\n")
    head = {"python": "x = ", "go": "package a\nvar x = "}.get(language, "x = ")
    text = f"{head}{'(' * 20_000}1{')' * 20_000}\n{body}"
    line = text.count("\n") - 1
    document = Document(text, language_named(language))
    document.apply([TextChange("\n\n", (line, 0), (line, 0))])
    while document.pending:
        document.parse_slice()
    assert [one.qualname for one in document.symbols.symbols] == ["f"]
    assert document.symbols.ranges[0].definition.start == Position(line + 2, 0)
    document.apply([TextChange("(", (line - 1, 4), (line - 1, 4))])  # one bracket too many
    while document.pending:
        document.parse_slice()
    assert [one.qualname for one in document.symbols.symbols] == ["f"]


def test_one_line_of_ten_megabytes_in_the_editor_holds_nothing_up(indexed):
    folder = indexed({})
    folder.open("long.py", "x=1;" * 2_500_000)
    folder.edit("long.py", [TextChange("y", (0, 5_000_000), (0, 5_000_000))])
    assert folder.workspace.hovers.at("long.py", Position(0, 5_000_000), folder.now) is None
    assert names(folder, "good.py") == ["good"]


def test_doctor_names_files_that_are_read_only_in_part(indexed):
    folder = indexed({f"half{at}.py": b"def f():\n    pass\ndef half%d(:\n" % at for at in range(7)})
    [told] = read_in_part(status_of(folder.workspace))
    named = "half0.py, half1.py, half2.py, half3.py, half4.py"
    assert (told.level, told.text) == ("note", f"7 files could be read only in part: {named} and 2 more")
    assert told.part == "code"


BROKEN = """\
class Cart:
    def add(self, item):
        return item

    def drop(self, item:
        return None

def check(item):
    return item

def check(item, more):
    return more
"""


def test_a_file_that_is_broken_when_it_is_opened_says_nothing_wrong():
    document = Document(BROKEN, language_named("python"))
    assert document.symbols.partial
    lines = BROKEN.split("\n")
    for symbol, (_, name) in zip(document.symbols.symbols, document.symbols.ranges, strict=True):
        assert lines[name.start.line][name.start.column : name.end.column] == symbol.name
        assert f"{symbol.name}(" in lines[name.start.line] or symbol.kind == "class"
    below = [document.name_at(Position(line, 4)) for line in (7, 10)]
    found = [document.symbols.symbols[at] for at in below if at is not None]
    assert [(one.qualname, one.ordinal) for one in found if one.qualname == "check"] == [
        ("check", at) for at in range(len(found))
    ]
    document.apply([TextChange("item)", (4, 19), (4, 23))])
    assert not document.symbols.partial
    assert [(one.qualname, one.ordinal) for one in document.symbols.symbols] == [
        ("Cart", 0), ("Cart.add", 0), ("Cart.drop", 0), ("check", 0), ("check", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_typing_in_a_file_that_was_never_whole(seed):
    typing = Typing(BROKEN, language_named("python"), Random(seed))
    assert not typing.was_whole
    for _ in range(6):
        typing.edit()
    typing.make_whole()


C_HEADER = """\
#ifndef SHOP_H
/* Shops. */
typedef struct shop {
    struct shop *next;
    int (*pay)(struct shop *self);
} shop_type;
typedef enum {
    OPEN = 1,
} state;
static inline int pay(shop_type *shop) { return shop->pay(shop); }
#endif
"""


@pytest.mark.parametrize("name", ["c", "cpp"])
def test_typing_in_a_header(name):
    for seed in range(6):
        typing = Typing(C_HEADER, language_named(name), Random(seed))
        for _ in range(6):
            typing.edit()
        typing.make_whole()

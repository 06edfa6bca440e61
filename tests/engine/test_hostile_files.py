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

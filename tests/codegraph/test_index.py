from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_named
from mnemolens.core.symbols import SymbolKey

PYTHON = language_named("python")


def symbols(source):
    return extract(source.encode(), PYTHON)


SHOP = (
    "class Shop:\n    def pay(self): return charge(1)\n    def close(self): pass\ndef charge(a): return a\n"
)


def test_lookups():
    index = CodeIndex()
    index.put("src/shop.py", symbols(SHOP))
    pay = SymbolKey("src/shop.py", "Shop.pay")
    assert (len(index), index.symbol_count) == (1, 4)
    assert list(index.files()) == ["src/shop.py"]
    assert index.symbol(pay).kind == "method"
    assert index.range_of(pay).name.start == (1, 8)
    assert index.keys_named("pay") == (pay,)
    assert index.keys_with_body(index.symbol(pay).body_hash) == (pay,)
    assert index.keys_with_full(index.symbol(pay).full_hash) == (pay,)
    assert index.parent(pay) == SymbolKey("src/shop.py", "Shop")
    assert index.parent(SymbolKey("src/shop.py", "Shop")) == SymbolKey("src/shop.py", "")
    assert index.children(SymbolKey("src/shop.py", "Shop")) == (pay, SymbolKey("src/shop.py", "Shop.close"))
    assert index.children(SymbolKey("src/shop.py", "")) == (
        SymbolKey("src/shop.py", "Shop"),
        SymbolKey("src/shop.py", "charge"),
    )
    assert index.users_of("charge") == ("src/shop.py",)


def test_what_is_not_there():
    index = CodeIndex()
    index.remove("a.py")
    key = SymbolKey("a.py", "f")
    assert index.symbol(key) is None
    assert index.range_of(key) is None
    assert index.parent(key) is None
    assert index.children(key) == ()
    assert index.get("a.py") is None
    assert index.keys_named("f") == ()
    assert index.view("a.py") is None


def test_files_by_the_end_of_their_path():
    index = CodeIndex()
    for file in ("a/b/shop.py", "b/shop.py", "bookshop.py", "shop.py"):
        index.put(file, symbols("x = 1"))
    assert index.files_ending("shop.py") == ("a/b/shop.py", "b/shop.py", "shop.py")
    assert index.files_ending("b/shop.py") == ("a/b/shop.py", "b/shop.py")
    assert index.files_ending("a/b/shop.py") == ("a/b/shop.py",)
    assert index.files_ending("z/b/shop.py") == ()


SOURCES = [
    SHOP,
    "",
    "def charge(a): return a + 1\n",
    "class Shop:\n    def close(self): pass\n",
    "from m import charge as c\nif x:\n    def f(): pass\nelse:\n    def f(): c()\n",
    SHOP.replace("return a", "return b"),
    "def first(): pass\n" + SHOP,
    SHOP.replace("    def close", "    def open(self): pass\n    def close"),
    SHOP + "def charge(a): return 2\n",
    "def charge(a): return 2\n" + SHOP,
]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["a.py", "b/c.py", "d/c.py"]), st.none() | st.sampled_from(SOURCES)))
)
def test_after_any_puts_and_removes_it_is_as_if_built_anew(steps):
    index, last = CodeIndex(), {}
    for file, source in steps:
        if source is None:
            index.remove(file)
            last.pop(file, None)
        else:
            index.put(file, symbols(source))
            last[file] = source
    anew = CodeIndex()
    for file, source in last.items():
        anew.put(file, symbols(source))
    for name in ("_files", "_at", "_by_tail", "_used", "_by_name", "_by_body", "_by_full", "_users"):
        assert getattr(index, name) == getattr(anew, name)

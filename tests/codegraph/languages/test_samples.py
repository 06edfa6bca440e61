"""The samples' definitions, calls and documentation, read and written down by hand."""

from pathlib import Path

import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import LANGUAGES, language_of

SAMPLES = Path(__file__).parent / "samples"

EXPECTED = {
    "shop.go": """
        interface   Named 10-13
        method_sig  Named.Name 12-12
        struct      Cart 18-22
        type        Cents 26-26
        type        number 27-27
        lambda      hook 30-30
        method      Cart.Add 33-40
        lambda      Cart.Add.check 34-34
        struct      Cart.Add.local 35-35
        method      Cents.String 42-42
        function    New 44-44
        function    extern 45-45
        """,
    "shop.rs": """
        struct      Cart 6-8
        enum        State 10-10
        type        Cents 11-11
        interface   Named 13-16
        method_sig  Named.name 14-14
        method      Named.short 15-15
        method      Cart.add 19-23
        function    Cart.add.check 20-20
        method      Cart.total 25-25
        method      Cart.name 29-29
        namespace   money 32-34
        function    money.parse 33-33
        function    twice 36-36
        function    helper 38-38
        """,
    "Shop.java": """
        class       Shop 4-34
        method      Shop.Shop 7-9
        method      Shop.add 14-18
        method      Shop.size 20-20
        method      Shop.helper 22-22
        enum        Shop.State 24-24
        method      Shop.State.go 24-24
        method      Shop.State.go 24-24
        class       Shop.Price 26-29
        method      Shop.Price.Price 27-27
        method      Shop.Price.check 28-28
        interface   Shop.Named 31-31
        method_sig  Shop.Named.name 31-31
        method      Shop.Named.n 31-31
        interface   Shop.Mark 33-33
        method_sig  Shop.Mark.value 33-33
        """,
    "shop.c": """
        struct      cart 7-10
        struct      price_t 12-12
        type        cart_t 13-13
        type        check_fn 14-14
        enum        state 15-15
        function    add 18-28
        function    total 30-30
        function    pick 32-32
        overload    API_EXPORT_later 35-35
        """,
    "shop.cpp": """
        namespace   shop.money 3-27
        class       shop.money.Cart 9-21
        method      shop.money.Cart.Cart 11-11
        method_sig  shop.money.Cart.~Cart 12-12
        method      shop.money.Cart.add 13-13
        method_sig  shop.money.Cart.pay 14-14
        method      shop.money.Cart.operator== 15-15
        enum        shop.money.Cart.State 16-16
        method_sig  shop.money.Cart.size 19-19
        struct      shop.money.Price 23-25
        type        Cents 29-29
        method      Shop.total 31-34
        method      Shop.~Shop 36-36
        method      Shop.operator bool 38-38
        function    helper 41-41
        function    start 44-44
        """,
    "Shop.cs": """
        namespace   Shop.Money 3-35
        class       Shop.Money.Cart 6-26
        method      Shop.Money.Cart.Cart 9-9
        method      Shop.Money.Cart.Count 11-11
        method      Shop.Money.Cart.Add 13-17
        function    Shop.Money.Cart.Add.Twice 15-15
        method      Shop.Money.Cart.Size 19-19
        method      Shop.Money.Cart.Helper 21-21
        method      Shop.Money.Cart.operator == 23-23
        type        Shop.Money.Cart.Check 25-25
        interface   Shop.Money.INamed 28-28
        method_sig  Shop.Money.INamed.Name 28-28
        struct      Shop.Money.Price 30-30
        enum        Shop.Money.State 32-32
        class       Shop.Money.Line 34-34
        """,
    "shop.rb": """
        class       Shop 3-32
        class       Shop.Cart 5-29
        method      Shop.Cart.add 9-12
        method      Shop.Cart.total 14-14
        method      Shop.Cart.open 16-18
        method      Shop.Cart.== 20-20
        method      Shop.Cart.close 23-23
        method      Shop.Cart.check 26-28
        class       Shop.Money.Cents 31-31
        function    helper 34-36
        """,
    "shop.php": """
        class       Cart 6-24
        method      Cart.add 13-17
        method      Cart.total 19-19
        method      Cart.limit 21-21
        method_sig  Cart.pay 23-23
        interface   Named 26-26
        method_sig  Named.name 26-26
        class       Prices 28-28
        method      Prices.price 28-28
        enum        State 30-30
        method      State.label 30-30
        function    helper 32-32
        """,
    "shop.kt": """
        class       Cart 4-20
        method      Cart.constructor 7-7
        method      Cart.add 10-13
        function    Cart.add.twice 11-11
        method      Cart.total 15-15
        class       Cart.Companion 17-19
        method      Cart.Companion.open 18-18
        interface   Named 22-24
        method_sig  Named.total 23-23
        enum        State 26-30
        method      State.label 29-29
        class       Registry 32-34
        method      Registry.find 33-33
        type        Cents 36-36
        function    helper 38-38
        function    shout 40-40
        """,
}

BASES = {
    "shop.go": {"Named": ("fmt.Stringer",), "Cart": ("Base",)},
    "shop.rs": {"Cart": ("Named",), "Named": ("fmt.Debug", "Sized")},
    "Shop.java": {"Shop": ("Base", "Named", "util.Closeable"), "Shop.Price": ("Named",)},
    "shop.c": {},
    "shop.cpp": {"shop.money.Cart": ("Base", "util.Closeable")},
    "Shop.cs": {"Shop.Money.Cart": ("Base", "INamed")},
    "shop.rb": {"Shop.Cart": ("Base.Thing",)},
    "shop.php": {"Cart": ("Base", "Named", "Countable")},
    "shop.kt": {"Cart": ("Base", "Named")},
}

DOCUMENTED = {
    "shop.go": {
        "Named": "Named is what has a name.",
        "Cart": "Cart holds what is bought. 🛒",
        "Cents": "Cents are small.",
        "Cart.Add": "Add puts an item in.",
    },
    "shop.rs": {"Cart": "What is bought."},
    "Shop.java": {"Shop": "What is bought.", "Shop.add": "Adds."},
    "shop.c": {"cart": "What is bought.", "add": "Adds."},
    "shop.cpp": {"shop.money.Cart": "What is bought."},
    "Shop.cs": {"Shop.Money.Cart": "<summary>What is bought.</summary>"},
    "shop.rb": {"Shop.Cart": "What is bought.", "Shop.Cart.add": "Adds."},
    "shop.php": {"Cart": "What is bought.", "Cart.add": "Adds."},
    "shop.kt": {"Cart": "What is bought.", "Cart.add": "Adds."},
}


def read(name):
    symbols = extract((SAMPLES / name).read_bytes(), language_of(name))
    assert not symbols.partial
    return symbols


def test_every_language_of_these_has_a_sample():
    languages = {language_of(path.name).name for path in SAMPLES.iterdir()}
    deep = {"python", "typescript", "tsx", "javascript", "gomod"}  # tested elsewhere
    assert languages == {language.name for language in LANGUAGES} - deep
    assert set(EXPECTED) == set(BASES) == set(DOCUMENTED) == {path.name for path in SAMPLES.iterdir()}


@pytest.mark.parametrize("name", EXPECTED)
def test_definitions(name):
    symbols = read(name)
    found = [
        [symbol.kind, *f"{symbol.qualname} {place.start.line + 1}-{place.end.line + 1}".split()]
        for symbol, (place, _) in zip(symbols.symbols, symbols.ranges, strict=True)
    ]
    assert found == [line.split() for line in EXPECTED[name].strip().splitlines()]


@pytest.mark.parametrize("name", EXPECTED)
def test_names_stand_where_they_are_written(name):
    lines = (SAMPLES / name).read_bytes().splitlines()
    symbols = read(name)
    for symbol, (_, (start, end)) in zip(symbols.symbols, symbols.ranges, strict=True):
        written = lines[start.line][start.column : end.column].decode()
        assert written.replace("::", ".") in {symbol.name, "bool", "=="} or symbol.name in {
            "Companion",  # these have no name in the text
            "constructor",
        }


@pytest.mark.parametrize("name", EXPECTED)
def test_bases_and_documentation(name):
    symbols = read(name).symbols
    assert {symbol.qualname: symbol.bases for symbol in symbols if symbol.bases} == BASES[name]
    documented = {symbol.qualname: symbol.docstring for symbol in symbols if symbol.docstring}
    assert documented == DOCUMENTED[name]


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("shop.go", {("hook", "c", "Add"), ("Cart.Add", "", "check")}),
        (
            "shop.rs",
            {("Named.short", "self", "name"), ("Cart.add", "Self", "total"), ("Cart.total", "", "helper")},
        ),
        ("Shop.java", {("Shop.add", "", "helper"), ("Shop.add", "this", "size")}),
        ("shop.c", {("add", "", "total"), ("add", "", "printf")}),
        ("shop.cpp", {("shop.money.Cart.add", "", "size"), ("Shop.total", "", "helper")}),
        ("Shop.cs", {("Shop.Money.Cart.Add", "this", "Size"), ("Shop.Money.Cart.Add", "", "Helper")}),
        ("shop.rb", {("Shop.Cart.add", "", "check"), ("Shop.Cart.add", "self", "total")}),
        (
            "shop.php",
            {("Cart.add", "$this", "total"), ("Cart.add", "self", "limit"), ("Cart.add", "", "helper")},
        ),
        ("shop.kt", {("Cart.add", "this", "total"), ("Cart.add", "", "helper")}),
    ],
)
def test_calls(name, calls):
    symbols = read(name)
    found = {
        (symbols.symbols[call.caller].qualname if call.caller >= 0 else "", call.receiver, call.name)
        for call in symbols.calls
    }
    assert calls <= found

import pytest

from fixtures import parse_fixture
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import bases_of, callers_of, calls_of, imports_of, resolve
from mnemolens.core.symbols import SymbolKey

LINUX = "#- /f_linux.go\npackage a\nfunc f() {}\n"
MODULE = "#- /go.mod\nmodule example.com/shop\n\ngo 1.22\n"


def read(fixture):
    files, cursor = parse_fixture(fixture, "main.go")
    index = CodeIndex()
    for file, text in files.items():
        index.put(file, extract(text.encode(), language_of(file)))
    return index, files, cursor


def check(fixture, expected):
    """The reference at the cursor resolves to `expected` ("rule path::qualname"), or to nothing."""
    index, files, (file, position) = read(fixture)
    document = Document(files[file], language_of(file))
    assert not document.symbols.partial
    reference = document.reference_at(position)
    found = resolve(index, file, reference) if reference else None
    assert (f"{found.confidence} {found.key.id}" if found else None) == expected


CART = """
type Base struct{}

func (b *Base) Close() {}

type Item struct{ Price Money }
type Money int

func (m Money) Round() Money { return m }

type Cart struct {
    Base
    items []Item
    byName map[string]*Item
    named Named
}

type Named interface{ Name() string }

func (c *Cart) Add(i Item) *Cart { return c }
func (c *Cart) First() (Item, error) { return c.items[0], nil }
func New() *Cart { return &Cart{} }

var shared = New()
"""

ONE_FILE = {
    "a function": ("func f() {}\nfunc g() { f$0() }", "scope main.go::f"),
    "a parameter hides it": ("func f() {}\nfunc g(f func()) { f$0() }", None),
    "a variable hides it": ("func f() {}\nfunc g() { f := h(); f$0() }", None),
    "a closure by its name": ("func g() { f := func() {}; f$0() }", "scope main.go::g.f"),
    "a closure of the package": ("var f = func() {}\nfunc g() { f$0() }", "scope main.go::f"),
    "from the function around": (
        "func g() { h := func() {}; k := func() { h$0() }; k() }",
        "scope main.go::g.h",
    ),
    "a type": ("func g() { var c Ca$0rt }", "scope main.go::Cart"),
    "a type in the function": ("func g() { type local struct{}; _ = loc$0al{} }", "scope main.go::g.local"),
    "a conversion": ("func g() { Mon$0ey(1) }", "scope main.go::Money"),
    "the receiver": ("func (c *Cart) g() { c.Ad$0d(Item{}) }", "self main.go::Cart.Add"),
    "a parameter": ("func g(c *Cart) { c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "one of several": ("func g(a, c Cart) { c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "variadic": ("func g(c ...Cart) { c[0].Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a declared variable": ("func g() { var c Cart; c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a struct literal": ("func g() { c := Cart{}; c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "its address": ("func g() { c := &Cart{}; c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "made by new": ("func g() { c := new(Cart); c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a result": ("func g() { c := New(); c.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a named result": ("func g() (c *Cart) { c.Ad$0d(Item{}); return }", "class main.go::Cart.Add"),
    "the first of two results": ("func g(c Cart) { i, _ := c.First(); i.Pri$0ce.Round() }", None),
    "a field's method": (
        "func g(c Cart) { i, _ := c.First(); i.Price.Rou$0nd() }",
        "class main.go::Money.Round",
    ),
    "the second of two results": ("func g(c Cart) { _, e := c.First(); e.Rou$0nd() }", None),
    "a chain": ("func g() { New().Add(Item{}).Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "an element": ("func g(c Cart) { c.items[0].Price.Rou$0nd() }", "class main.go::Money.Round"),
    "an element of a map": ('func g(c Cart) { c.byName["a"].Price.Rou$0nd() }', "class main.go::Money.Round"),
    "a range's value": (
        "func g(c Cart) { for _, i := range c.items { i.Price.Rou$0nd() } }",
        "class main.go::Money.Round",
    ),
    "a range's key": ("func g(c Cart) { for i := range c.byName { i.Rou$0nd() } }", None),
    "a type assertion": ("func g(x any) { x.(*Cart).Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "of an embedded type": ("func g(c Cart) { c.Clo$0se() }", "class main.go::Base.Close"),
    "of a field that is an interface": ("func g(c Cart) { c.named.Nam$0e() }", "class main.go::Named.Name"),
    "a variable of the package": ("func g() { shared.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a method expression": ("func g() { f := Cart.Clo$0se; f() }", "scope main.go::Base.Close"),
    "two variables of one name": ("func g() { c := Cart{}; { c := Money(1); c.Ad$0d(1) } }", None),
    "of an unknown type": ("func g(c other.Cart) { c.Ad$0d(1) }", None),
    "in a closure": ("func g(c *Cart) { f := func() { c.Ad$0d(Item{}) }; f() }", "class main.go::Cart.Add"),
    "an alias": ("type Bag = Cart\nfunc g(b Bag) { b.Ad$0d(Item{}) }", "class main.go::Cart.Add"),
    "a type that is only defined alike": ("type Bag Cart\nfunc g(b Bag) { b.Ad$0d(Item{}) }", None),
    "its fields": (
        "type Bag Cart\nfunc g(b Bag) { b.items[0].Price.Rou$0nd() }",
        "class main.go::Money.Round",
    ),
    "a type whose name is a local value's, too": (
        "func (Cart *Cart) twice() { Cart.items[0].Pri$0ce.Round(); Cart := 1 }",
        None,
    ),
    "in a method of it": (
        "func (c *Cart) each() { c.Ad$0d(Item{}); for _, Cart := range c.items { Cart.x() } }",
        "self main.go::Cart.Add",
    ),
    "a value that has its type's name": (
        "func g(Cart *Cart) { Cart.Ad$0d(Item{}) }",
        "class main.go::Cart.Add",
    ),
    "a constant's type": (
        "const (\n\tOne Money = iota\n\tTwo\n)\nfunc g() { Two.Roun$0d() }",
        "class main.go::Money.Round",
    ),
    "that of a constant without one": (
        "const (\n\tOne Money = iota\n\tTwo = 2\n\tThree\n)\nfunc g() { Three.Roun$0d() }",
        None,
    ),
    "a type parameter's name is no function": (
        "func T() {}\nfunc g[T Named](t T) { T$0(t) }",
        None,
    ),
    "a type parameter": ("func g[T Named](t T) { t.Nam$0e() }", "class main.go::Named.Name"),
    "a generic type": (
        (
            "type List[T any] struct{}\nfunc (l *List[T]) Len() int { return 0 }\n"
            "func g(l List[int]) { l.Le$0n() }"
        ),
        "class main.go::List.Len",
    ),
    "a generic function": ("func m[T any](t T) {}\nfunc g() { m$0[int](1) }", "scope main.go::m"),
    "a field's name in a literal": ("func Price() {}\nfunc g() { _ = Item{Pri$0ce: 1} }", None),
    "types in a circle": ("type A struct{ B }\ntype B struct{ A }\nfunc g(a A) { a.Clo$0se() }", None),
    "variables in a circle": ("func g() { a := b; b := a; a.Clo$0se() }", None),
}


@pytest.mark.parametrize("case", ONE_FILE)
def test_one_file(case):
    source, expected = ONE_FILE[case]
    check("package shop\n" + CART + source, expected)


FILES = {
    "another file of the package": (
        "#- /a.go\npackage a\nfunc g() { f$0() }\n#- /b.go\npackage a\nfunc f() {}\n",
        "scope b.go::f",
    ),
    "another package in the folder": (
        "#- /a.go\npackage a\nfunc g() { f$0() }\n#- /b.go\npackage b\nfunc f() {}\n",
        None,
    ),
    "another folder": (
        "#- /a/a.go\npackage a\nfunc g() { f$0() }\n#- /b/b.go\npackage a\nfunc f() {}\n",
        None,
    ),
    "a test of the package": (
        "#- /a_test.go\npackage a\nfunc g() { f$0() }\n#- /b.go\npackage a\nfunc f() {}\n",
        "scope b.go::f",
    ),
    "a test's function is not the package's": (
        "#- /a.go\npackage a\nfunc g() { f$0() }\n#- /b_test.go\npackage a\nfunc f() {}\n",
        None,
    ),
    "a test from outside": (
        MODULE
        + '#- /a_test.go\npackage a_test\nimport "example.com/shop"\nfunc g() { a.F$0() }\n'
        + "#- /a.go\npackage a\nfunc F() {}\n",
        "import a.go::F",
    ),
    "a method in another file": (
        (
            "#- /a.go\npackage a\nfunc g(c *C) { c.f$0() }\ntype C struct{}\n"
            "#- /b.go\npackage a\nfunc (c *C) f() {}\n"
        ),
        "class b.go::C.f",
    ),
    "an imported package": (
        MODULE
        + '#- /main.go\npackage main\nimport "example.com/shop/cart"\nfunc g() { cart.Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        "import cart/any.go::New",
    ),
    "under another name": (
        MODULE
        + '#- /main.go\npackage main\nimport c "example.com/shop/cart"\nfunc g() { c.Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        "import cart/any.go::New",
    ),
    "a package that is not named as its folder": (
        MODULE
        + '#- /main.go\npackage main\nimport "example.com/shop/go-cart"\nfunc g() { cart.Ne$0w() }\n'
        + "#- /go-cart/any.go\npackage cart\nfunc New() {}\n",
        "import go-cart/any.go::New",
    ),
    "everything": (
        MODULE
        + '#- /main.go\npackage main\nimport . "example.com/shop/cart"\nfunc g() { Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        "import cart/any.go::New",
    ),
    "nothing": (
        MODULE
        + '#- /main.go\npackage main\nimport _ "example.com/shop/cart"\nfunc g() { cart.Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        None,
    ),
    "a package of another module with the same end": (
        MODULE
        + '#- /main.go\npackage main\nimport "github.com/other/cart"\nfunc g() { cart.Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        None,
    ),
    "without a go.mod": (
        (
            '#- /main.go\npackage main\nimport "example.com/shop/cart"\nfunc g() { cart.Ne$0w() }\n'
            "#- /cart/any.go\npackage cart\nfunc New() {}\n"
        ),
        None,
    ),
    "a module in a folder": (
        (
            "#- /back/go.mod\nmodule shop // ours\n"
            '#- /back/main.go\npackage main\nimport "shop/cart"\nfunc g() { cart.Ne$0w() }\n'
            "#- /back/cart/any.go\npackage cart\nfunc New() {}\n"
        ),
        "import back/cart/any.go::New",
    ),
    "another module of the repository": (
        (
            "#- /a/go.mod\nmodule example.com/a\n#- /b/go.mod\nmodule example.com/b\n"
            '#- /a/main.go\npackage main\nimport "example.com/b/cart"\nfunc g() { cart.Ne$0w() }\n'
            "#- /b/cart/any.go\npackage cart\nfunc New() {}\n"
        ),
        "import b/cart/any.go::New",
    ),
    "vendored": (
        MODULE
        + '#- /main.go\npackage main\nimport "github.com/x/cart"\nfunc g() { cart.Ne$0w() }\n'
        + "#- /vendor/github.com/x/cart/any.go\npackage cart\nfunc New() {}\n",
        "import vendor/github.com/x/cart/any.go::New",
    ),
    "a method of an imported type": (
        MODULE
        + '#- /main.go\npackage main\nimport "example.com/shop/cart"\nfunc g(c *cart.Cart) { c.Ad$0d() }\n'
        + "#- /cart/a.go\npackage cart\nfunc New() *Cart { return nil }\n"
        + "#- /cart/b.go\npackage cart\ntype Cart struct{}\nfunc (c *Cart) Add() {}\n",
        "class cart/b.go::Cart.Add",
    ),
    "a type of an import, embedded": (
        MODULE
        + '#- /main.go\npackage main\nimport "example.com/shop/cart"\ntype Mine struct{ *cart.Cart }\n'
        + "func g(m Mine) { m.Ad$0d() }\n"
        + "#- /cart/b.go\npackage cart\ntype Cart struct{}\nfunc (c *Cart) Add() {}\n",
        "class cart/b.go::Cart.Add",
    ),
    "a package's own name hidden": (
        MODULE
        + '#- /main.go\npackage main\nimport "example.com/shop/cart"\nfunc g(cart other) { cart.Ne$0w() }\n'
        + "#- /cart/any.go\npackage cart\nfunc New() {}\n",
        None,
    ),
    "one for each system": (
        (
            "#- /a.go\npackage a\nfunc g() { f$0() }\n#- /f_windows.go\npackage a\nfunc f() {}\n"
            "#- /f_linux.go\npackage a\nfunc f() {}\n"
        ),
        "scope f_linux.go::f",
    ),
    "the own file's first": (
        "#- /f_windows.go\npackage a\nfunc f() {}\nfunc g() { f$0() }\n" + LINUX,
        "scope f_windows.go::f",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_files(case):
    check(*FILES[case])


SHOP = (
    MODULE
    + """
#- /main.go
package main

import (
    "fmt"

    "example.com/shop/cart"
    _ "example.com/shop/plugin"
)

type Mine struct {
    cart.Cart
    Local
}
type Local interface{ Other }
type Other interface{}

func main() {
    c := cart.New()
    c.Add()
    c.Add()
    fmt.Println(c)
}
#- /cart/cart.go
package cart

type Cart struct{}
#- /cart/new.go
package cart

func New() *Cart { return &Cart{} }

func (c *Cart) Add() { c.check() }

func (c *Cart) check() {}
#- /plugin/a.go
package plugin
"""
)


def test_calls_and_callers():
    index, _, _ = read(SHOP)
    add = SymbolKey("cart/new.go", "Cart.Add")
    assert [(r.key.id, r.confidence, n) for r, n in calls_of(index, SymbolKey("main.go", "main"))] == [
        ("cart/new.go::Cart.Add", "class", 2),
        ("cart/new.go::New", "import", 1),
    ]
    assert [(r.key.id, n) for r, n in callers_of(index, add)] == [("main.go::main", 2)]
    assert [(r.key.id, r.confidence) for r, _ in calls_of(index, add)] == [
        ("cart/new.go::Cart.check", "self")
    ]


def test_bases():
    index, _, _ = read(SHOP)
    assert [(r.key.id, r.confidence) for r in bases_of(index, SymbolKey("main.go", "Mine"))] == [
        ("cart/cart.go::Cart", "import"),
        ("main.go::Local", "scope"),
    ]
    assert [r.key.id for r in bases_of(index, SymbolKey("main.go", "Local"))] == ["main.go::Other"]


def test_imports_lead_to_the_files_that_are_used():
    index, _, _ = read(SHOP)
    assert imports_of(index, "main.go") == [("cart/new.go", "cart"), ("plugin/a.go", "_")]

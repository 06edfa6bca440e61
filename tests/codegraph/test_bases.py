"""What a class derives from or implements; Go's is in `test_resolve_go.py`."""

import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import bases_of
from mnemolens.core.symbols import SymbolKey

FILES = {
    "a.ts": """
        export interface I {}
        export interface J<T> {}
        export class A {}
        export abstract class B<T> extends A {}
        export namespace N { export class C {} export interface K {} }
        export type T = {};
        export default class D {}
        """,
    "again.ts": 'export { B as Again } from "./a"; export * from "./a";',
    "b.ts": """
        import D, { I, J as JJ, B, N, T } from "./a";
        import * as all from "./a";
        import { Again, A } from "./again";
        class X extends B<string> implements I, JJ<number>, N.K, T {}
        interface Y extends I, JJ<X>, all.I {}
        class Z extends N.C {}
        class W extends D {}
        const V = class extends all.B<string> {};
        class M extends mixin(B) {}
        class R extends Again<string> implements Elsewhere {}
        class S extends A {}
        """,
    "c.js": """
        import D, { A } from "./a";
        const r = require("./a");
        class X extends A {}
        class Y extends D {}
        class Z extends r.A {}
        X.Inner = class extends X {};
        """,
    "a.rs": """
        pub trait Named: Show {}
        trait Show {}
        trait Any {}
        pub struct Cart<T> { items: Vec<T> }
        enum State { Open }
        impl<T> Named for Cart<T> {}
        impl<T> std::fmt::Debug for Cart<T> {}
        impl<T> Cart<T> { fn new() {} }
        impl<T> Any for T {}
        impl !Show for State {}
        impl m::Inner for State {}
        impl Show for m::Price {}
        mod m {
            pub trait Inner {}
            pub struct Price;
            impl Inner for Price {}
        }
        fn f() { struct Cart; impl Show for Cart {} impl Show for State {} }
        """,
    "b.rs": """
        trait Named {}
        trait Show: self::m::Deep {}
        pub struct Cart;
        pub struct Price;
        impl<T: Into<Cart>> Named for Cart {}
        impl<Price> Show for Price {}
        mod m {
            pub trait Deep {}
            pub trait Named: super::Named {}
            use other::{Till, cart::Cart};
            use super::Price;
            impl Named for super::Cart {}
            impl super::Show for super::Cart {}
            impl Named for Cart {}
            impl super::Show for Price {}
            impl super::super::Show for super::Price {}
            impl Named for super::super::Price {}
            pub struct Till;
            mod n {
                use other::Named as Till;
                impl super::super::Show for super::Till {}
                impl self::Own for super::super::Cart {}
                impl Deep for Till {}
                trait Own {}
            }
            fn f() { impl Deep for self::Till {} }
        }
        """,
    "a.py": "class A: pass\nclass B(A): pass\n",
    "p/__init__.py": "from .c import C\n",
    "p/c.py": "class C: pass\n",
    "b.py": (
        "import a\nimport p.c\nfrom a import B as BB\nfrom p import C\nfrom typing import Generic\n"
        "class X(BB, a.A): pass\n"
        "class Y(C, Generic[T], metaclass=M): pass\n"
        "class Z(p.c.C, list[int]): pass\n"
        "class W(f(a.A)): pass\n"
        "class V:\n    class In(X): pass\n    class Out(In): pass\n"
    ),
}

EXPECTED = {
    "b.ts::X": ["a.ts::B", "a.ts::I", "a.ts::J", "a.ts::N.K", "a.ts::T"],
    "b.ts::Y": ["a.ts::I", "a.ts::J", "a.ts::I"],
    "b.ts::Z": ["a.ts::N.C"],
    "b.ts::W": ["a.ts::D"],
    "b.ts::V": ["a.ts::B"],
    "b.ts::M": [],
    "b.ts::R": ["a.ts::B"],
    "b.ts::S": ["a.ts::A"],
    "a.ts::B": ["a.ts::A"],
    "a.rs::Named": ["a.rs::Show"],
    "a.rs::Cart": ["a.rs::Named"],
    "a.rs::State": ["a.rs::Show", "a.rs::m.Inner"],
    "a.rs::m.Price": ["a.rs::m.Inner", "a.rs::Show"],
    "a.rs::f.Cart": ["a.rs::Show"],
    # what stands deeper comes first
    "b.rs::Cart": ["b.rs::m.Named", "b.rs::Show", "b.rs::m.n.Own", "b.rs::Named"],
    "b.rs::Price": ["b.rs::Show"],
    "b.rs::Show": ["b.rs::m.Deep"],
    "b.rs::m.Named": ["b.rs::Named"],
    "b.rs::m.Till": ["b.rs::Show", "b.rs::m.Deep"],
    "c.js::X": ["a.ts::A"],
    "c.js::Y": ["a.ts::D"],
    "c.js::Z": ["a.ts::A"],
    "c.js::X.Inner": ["c.js::X"],
    "b.py::X": ["a.py::B", "a.py::A"],
    "b.py::Y": ["p/c.py::C"],
    "b.py::Z": ["p/c.py::C"],
    "b.py::W": [],
    "b.py::V.In": ["b.py::X"],
    "b.py::V.Out": ["b.py::V.In"],
}


@pytest.fixture(scope="module")
def index():
    index = CodeIndex()
    for file, text in FILES.items():
        index.put(file, extract(text.encode(), language_of(file)))
    return index


@pytest.mark.parametrize("key", EXPECTED)
def test_bases(index, key):
    file, _, name = key.partition("::")
    assert [found.key.id for found in bases_of(index, SymbolKey(file, name))] == EXPECTED[key]

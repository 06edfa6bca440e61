import pytest

from fixtures import parse_fixture
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import bases_of, callers_of, calls_of, imported_files, resolve
from mnemolens.core.symbols import SymbolKey


def read(fixture, default):
    files, cursor = parse_fixture(fixture, default)
    index = CodeIndex()
    for file, text in files.items():
        index.put(file, extract(text.encode(), language_of(file)))
    return index, files, cursor


def check(fixture, expected, default="main.py", **options):
    """The reference at the cursor resolves to `expected` ("rule path::qualname"), or to nothing."""
    index, files, (file, position) = read(fixture, default)
    document = Document(files[file], language_of(file))
    assert not document.symbols.partial
    reference = document.reference_at(position)
    found = resolve(index, file, reference, **options) if reference else None
    assert (f"{found.confidence} {found.key.id}" if found else None) == expected


def key(text):
    file, _, name = text.partition("::")
    return SymbolKey(file, name)


PYTHON = {
    "a function of the module": ("def f(): pass\nf$0()", "scope main.py::f"),
    "used before it is defined": ("def g():\n    f$0()\ndef f(): pass", "scope main.py::f"),
    "a class": ("class Shop: pass\nSh$0op()", "scope main.py::Shop"),
    "a nested function": ("def f():\n    def g(): pass\n    g$0()", "scope main.py::f.g"),
    "from the function around": (
        "def f():\n    def g(): pass\n    def h():\n        g$0()",
        "scope main.py::f.g",
    ),
    "not from a sibling's inside": ("def f():\n    def g(): pass\ndef h():\n    g$0()", None),
    "a parameter shadows": ("def f(): pass\ndef g(f):\n    f$0()", None),
    "an assignment shadows": ("def f(): pass\ndef g():\n    f = h()\n    f$0()", None),
    "a loop variable shadows": ("def f(): pass\ndef g():\n    for f in x:\n        f$0()", None),
    "a with target shadows": ("def f(): pass\ndef g():\n    with x as f:\n        f$0()", None),
    "a local of the function around shadows": (
        "def f(): pass\ndef g(f):\n    def h():\n        f$0()",
        None,
    ),
    "global is no local": ("def f(): pass\ndef g():\n    global f\n    f = f$0()", "scope main.py::f"),
    "a module variable is no function": ("def f(): pass\nf = wrap(f)\nf$0()", None),
    "methods are not seen without self": (
        "class A:\n    def f(self): pass\n    def g(self):\n        f$0()",
        None,
    ),
    "in the class body they are": ("class A:\n    def f(self): pass\n    x = f$0(1)", "scope main.py::A.f"),
    "self": ("class A:\n    def f(self): pass\n    def g(self):\n        self.f$0()", "self main.py::A.f"),
    "self in a nested function": (
        "class A:\n    def f(self): pass\n    def g(self):\n        def h():\n            self.f$0()",
        "self main.py::A.f",
    ),
    "cls": ("class A:\n    def f(cls): pass\n    def g(cls):\n        cls.f$0()", "self main.py::A.f"),
    "self outside a method is any name": (
        "class A:\n    def f(self): pass\ndef g(self):\n    self.f$0()",
        None,
    ),
    "an attribute of self": ("class A:\n    def f(self): pass\n    def g(self):\n        self.x.f$0()", None),
    "an inherited method": (
        "class A:\n    def f(self): pass\nclass B(A):\n    def g(self):\n        self.f$0()",
        "self main.py::A.f",
    ),
    "overridden": (
        "class A:\n    def f(self): pass\nclass B(A):\n    def f(self): pass\n    def g(self): self.f$0()",
        "self main.py::B.f",
    ),
    "super": (
        "class A:\n    def f(self): pass\nclass B(A):\n    def f(self):\n        super().f$0()",
        "super main.py::A.f",
    ),
    "super with an unknown base before": (
        "class A:\n    def f(self): pass\nclass B(Unknown, A):\n    def f(self):\n        super().f$0()",
        None,
    ),
    "a namespace folder": (
        "#- /p/q/m.py\ndef f(): pass\n#- /main.py\nimport p.q.m\np.q.m.f$0()",
        "import p/q/m.py::f",
    ),
    "a class's member": ("class A:\n    def f(self): pass\nA.f$0(1)", "class main.py::A.f"),
    "a new object's member": ("class A:\n    def f(self): pass\nA().f$0()", "class main.py::A.f"),
    "a function's result's member": ("def a(): pass\nclass A:\n    def f(self): pass\na().f$0()", None),
    "some object's member": ("class A:\n    def f(self): pass\nx.f$0()", None),
    "a property's getter": (
        (
            "class A:\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, v): pass\n"
            "    def g(self):\n        self.p$0()"
        ),
        "self main.py::A.p",
    ),
    "past typing overloads": (
        "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): return a\nf$0(1)",
        "scope main.py::f#2",
    ),
    "a base class": ("class A: pass\nclass B(A$0): pass", "scope main.py::A"),
    "a decorator": ("def d(f): return f\n@d$0\ndef g(): pass", "scope main.py::d"),
    "recursion": ("def f():\n    f$0()", "scope main.py::f"),
    "cyclic bases end": ("class A(B):\n    def g(self):\n        self.f$0()\nclass B(A): pass", None),
    "a method like the class's name": (
        "class A:\n    def A(self): pass\n    def g(self):\n        A$0()",
        "scope main.py::A",
    ),
}


@pytest.mark.parametrize("case", PYTHON)
def test_python_in_one_file(case):
    check(*PYTHON[case])


IMPORTS = {
    "from": ("#- /m.py\ndef f(): pass\n#- /main.py\nfrom m import f\nf$0()", "import m.py::f"),
    "on the import itself": ("#- /m.py\ndef f(): pass\n#- /main.py\nfrom m import f$0", "import m.py::f"),
    "aliased": ("#- /m.py\ndef f(): pass\n#- /main.py\nfrom m import f as g\ng$0()", "import m.py::f"),
    "module": ("#- /m.py\ndef f(): pass\n#- /main.py\nimport m\nm.f$0()", "import m.py::f"),
    "dotted module": ("#- /p/m.py\ndef f(): pass\n#- /main.py\nimport p.m\np.m.f$0()", "import p/m.py::f"),
    "aliased module": (
        "#- /p/m.py\ndef f(): pass\n#- /main.py\nimport p.m as q\nq.f$0()",
        "import p/m.py::f",
    ),
    "submodule": ("#- /p/m.py\ndef f(): pass\n#- /main.py\nfrom p import m\nm.f$0()", "import p/m.py::f"),
    "class of a module": (
        "#- /m.py\nclass A:\n    def f(self): pass\n#- /main.py\nimport m\nm.A.f$0(1)",
        "class m.py::A.f",
    ),
    "relative": ("#- /p/m.py\ndef f(): pass\n#- /p/n.py\nfrom .m import f\nf$0()", "import p/m.py::f"),
    "relative package": (
        "#- /p/m.py\ndef f(): pass\n#- /p/n.py\nfrom . import m\nm.f$0()",
        "import p/m.py::f",
    ),
    "relative upward": (
        "#- /p/m.py\ndef f(): pass\n#- /p/q/n.py\nfrom ..m import f\nf$0()",
        "import p/m.py::f",
    ),
    "relative beyond the top": ("#- /m.py\ndef f(): pass\n#- /n.py\nfrom ...m import f\nf$0()", None),
    "in a function": (
        "#- /m.py\ndef f(): pass\n#- /main.py\ndef g():\n    from m import f\n    f$0()",
        "import m.py::f",
    ),
    "only in that function": (
        "#- /m.py\ndef f(): pass\n#- /main.py\ndef g():\n    from m import f\ndef h():\n    f$0()",
        None,
    ),
    "through a package": (
        "#- /p/__init__.py\nfrom .m import f\n#- /p/m.py\ndef f(): pass\n#- /main.py\nfrom p import f\nf$0()",
        "import p/m.py::f",
    ),
    "through a package renamed": (
        "#- /p/__init__.py\nfrom .m import f as g\n#- /p/m.py\ndef f(): pass\n#- /main.py\nimport p\np.g$0()",
        "import p/m.py::f",
    ),
    "star": ("#- /m.py\ndef f(): pass\n#- /main.py\nfrom m import *\nf$0()", "import m.py::f"),
    "star leaves out private names": ("#- /m.py\ndef _f(): pass\n#- /main.py\nfrom m import *\n_f$0()", None),
    "stars that differ": (
        "#- /m.py\ndef f(): 1\n#- /n.py\ndef f(): 2\n#- /main.py\nfrom m import *\nfrom n import *\nf$0()",
        None,
    ),
    "cyclic stars end": ("#- /m.py\nfrom n import *\n#- /n.py\nfrom m import *\nx$0()", None),
    "a src folder": (
        "#- /src/p/__init__.py\n\n#- /src/p/m.py\ndef f(): pass\n#- /tests/t.py\nfrom p.m import f\nf$0()",
        "import src/p/m.py::f",
    ),
    "the nearest root": (
        "#- /a/m.py\ndef f(): pass\n#- /b/m.py\ndef f(): pass\n#- /b/n.py\nfrom m import f\nf$0()",
        "import b/m.py::f",
    ),
    "two roots as near": (
        "#- /a/m.py\ndef f(): pass\n#- /b/m.py\ndef f(): pass\n#- /c/n.py\nfrom m import f\nf$0()",
        None,
    ),
    "a package's module is not the standard library's": (
        "#- /p/__init__.py\n\n#- /p/json.py\ndef loads(): pass\n#- /p/n.py\nimport json\njson.loads$0()",
        None,
    ),
    "a module elsewhere is not the standard library's": (
        "#- /tools/json.py\ndef loads(): pass\n#- /p/n.py\nimport json\njson.loads$0()",
        None,
    ),
    "inherited from another file": (
        (
            "#- /m.py\nclass A:\n    def f(self): pass\n#- /main.py\nfrom m import A\nclass B(A):\n"
            "    def g(self):\n        self.f$0()"
        ),
        "self m.py::A.f",
    ),
    "not in the project": ("#- /main.py\nfrom elsewhere import f\nf$0()", None),
    "not in the module": ("#- /m.py\nx = 1\n#- /main.py\nfrom m import f\nf$0()", None),
    "never by mere name": ("#- /m.py\ndef only_here(): pass\n#- /main.py\nonly_here$0()", None),
    "an import shadows what stands elsewhere": (
        "#- /m.py\ndef f(): pass\n#- /main.py\ndef f(): pass\ndef g():\n    from m import f\n    f$0()",
        "import m.py::f",
    ),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_python_imports(case):
    check(*IMPORTS[case])


def test_a_mere_name_only_on_request():
    fixture = "#- /m.py\ndef only_here(): pass\n#- /main.py\nx.only_here$0()"
    check(fixture, "name m.py::only_here", allow_name=True)
    twice = "#- /m.py\ndef f(): pass\n#- /n.py\ndef f(): pass\n#- /main.py\nx.f$0()"
    check(twice, None, allow_name=True)


TYPESCRIPT = {
    "named": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nimport { f } from './m';\nf$0();",
        "import m.ts::f",
    ),
    "aliased": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nimport { f as g } from './m';\ng$0();",
        "import m.ts::f",
    ),
    "namespace": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nimport * as m from './m';\nm.f$0();",
        "import m.ts::f",
    ),
    "default function": (
        "#- /m.ts\nexport default function f() {}\n#- /main.ts\nimport g from './m';\ng$0();",
        "import m.ts::f",
    ),
    "default nameless": (
        "#- /m.ts\nexport default () => 1;\n#- /main.ts\nimport g from './m';\ng$0();",
        "import m.ts::default",
    ),
    "default by name": (
        "#- /m.ts\nconst f = () => 1;\nexport default f;\n#- /main.ts\nimport g from './m';\ng$0();",
        "import m.ts::f",
    ),
    "js means ts": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nimport { f } from './m.js';\nf$0();",
        "import m.ts::f",
    ),
    "tsx": (
        "#- /v.tsx\nexport const V = () => <a/>;\n#- /main.tsx\nimport { V } from './v';\nconst x = <V$0/>;",
        "import v.tsx::V",
    ),
    "index": (
        "#- /lib/index.ts\nexport function f() {}\n#- /main.ts\nimport { f } from './lib';\nf$0();",
        "import lib/index.ts::f",
    ),
    "upward": (
        "#- /m.ts\nexport function f() {}\n#- /a/main.ts\nimport { f } from '../m';\nf$0();",
        "import m.ts::f",
    ),
    "re-export": (
        (
            "#- /m.ts\nexport function f() {}\n#- /lib.ts\nexport { f as g } from './m';\n"
            "#- /main.ts\nimport { g } from './lib';\ng$0();"
        ),
        "import m.ts::f",
    ),
    "re-export of all": (
        (
            "#- /m.ts\nexport function f() {}\n#- /lib.ts\nexport * from './m';\n"
            "#- /main.ts\nimport { f } from './lib';\nf$0();"
        ),
        "import m.ts::f",
    ),
    "a re-export binds nothing here": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nexport { f } from './m';\nf$0();",
        None,
    ),
    "a star re-export binds nothing here": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nexport * from './m';\nf$0();",
        None,
    ),
    "a package": (
        "#- /react.ts\nexport function f() {}\n#- /main.ts\nimport { f } from 'react';\nf$0();",
        None,
    ),
    "require": (
        (
            "#- /m.js\nexports.f = function () {};\nfunction g() {}\nmodule.exports.g = g;\n"
            "#- /main.js\nconst m = require('./m');\nm.g$0();"
        ),
        "import m.js::g",
    ),
    "exports.f": (
        "#- /m.js\nexports.f = function () {};\n#- /main.js\nconst { f } = require('./m');\nf$0();",
        "import m.js::exports.f",
    ),
    "type import": (
        "#- /m.ts\nexport interface I {}\n#- /main.ts\nimport type { I } from './m';\nlet x: I$0;",
        "import m.ts::I",
    ),
    "this": ("#- /main.ts\nclass A { f() {} g() { this.f$0(); } }", "self main.ts::A.f"),
    "this in an arrow": (
        "#- /main.ts\nclass A { f() {} g = () => { [1].map(() => this.f$0()); } }",
        "self main.ts::A.f",
    ),
    "this of an object": ("#- /main.ts\nconst api = { f() {}, g() { this.f$0(); } };", "self main.ts::api.f"),
    "super": (
        "#- /main.ts\nclass A { f() {} }\nclass B extends A { f() { super.f$0(); } }",
        "super main.ts::A.f",
    ),
    "static": ("#- /main.ts\nclass A { static f() {} }\nA.f$0();", "class main.ts::A.f"),
    "a new object": ("#- /main.ts\nclass A { f() {} }\nnew A().f$0();", "class main.ts::A.f"),
    "new": ("#- /main.ts\nclass A {}\nnew A$0();", "scope main.ts::A"),
    "class members are no bare names": ("#- /main.ts\nclass A { f() {} g() { f$0(); } }", None),
    "object members are no bare names": ("#- /main.ts\nconst api = { f() {} };\nf$0();", None),
    "a member of an object literal": (
        "#- /main.ts\nconst api = { f() {} };\napi.f$0();",
        "scope main.ts::api.f",
    ),
    "a member of an imported object literal": (
        "#- /m.ts\nexport const api = { v: { f() {} } };\n#- /n.ts\nimport { api } from './m';\napi.v.f$0();",
        "import m.ts::api.v.f",
    ),
    "an object literal itself": ("#- /main.ts\nconst api = { f() {} };\nuse(api$0);", None),
    "a parameter shadows": ("#- /main.ts\nfunction f() {}\nfunction g({ f }) { f$0(); }", None),
    "a catch variable shadows": (
        "#- /main.ts\nfunction f() {}\nfunction g() { try {} catch (f) { f$0(); } }",
        None,
    ),
    "a namespace's member": (
        "#- /main.ts\nnamespace N { export function f() {} }\nN.f$0();",
        "scope main.ts::N.f",
    ),
    "overloads are their implementation": (
        "#- /main.ts\nfunction f(a: string): void;\nfunction f(a: any) {}\nf$0(1);",
        "scope main.ts::f",
    ),
    "on an overload signature": (
        "#- /main.ts\nfunction f$0(a: string): void;\nfunction f(a: any) {}",
        "scope main.ts::f",
    ),
}


@pytest.mark.parametrize("case", TYPESCRIPT)
def test_typescript(case):
    check(*TYPESCRIPT[case])


PROJECT = """
#- /shop.py
from pay import charge as debit, Card

class Shop(Base):
    def buy(self):
        debit(1)
        debit(2)
        self.close()
        Card()

    def close(self):
        missing()

debit(0)
#- /base.py
class Base: pass
#- /pay.py
class Card: pass
def charge(amount):
    return charge(amount - 1)
"""


def test_calls_and_callers():
    index, _, _ = read(PROJECT, "main.py")
    assert [(r.key.id, r.confidence, n) for r, n in calls_of(index, key("shop.py::Shop.buy"))] == [
        ("pay.py::Card", "import", 1),
        ("pay.py::charge", "import", 2),
        ("shop.py::Shop.close", "self", 1),
    ]
    assert [(r.key.id, n) for r, n in calls_of(index, SymbolKey("shop.py", ""))] == [("pay.py::charge", 1)]
    assert [(r.key.id, r.confidence, n) for r, n in callers_of(index, key("pay.py::charge"))] == [
        ("pay.py::charge", "scope", 1),
        ("shop.py", "import", 1),
        ("shop.py::Shop.buy", "import", 2),
    ]
    assert [r.key.id for r, _ in callers_of(index, key("pay.py::Card"))] == ["shop.py::Shop.buy"]
    assert callers_of(index, key("pay.py::nothing")) == []


def test_bases_and_imported_files():
    fixture = "#- /a.py\nclass A: pass\n#- /b.py\nimport os, a\nclass B(a.A, Unknown): pass\n"
    index, _, _ = read(fixture, "main.py")
    assert [r.key.id for r in bases_of(index, key("b.py::B"))] == ["a.py::A"]
    assert imported_files(index, "b.py") == ["a.py"]


def test_many_stars_in_a_circle_are_quick():
    names = [f"m{n}" for n in range(12)]
    files = "".join(
        f"#- /{name}.py\n" + "".join(f"from {other} import *\n" for other in names if other != name)
        for name in names
    )
    check(f"{files}#- /main.py\nfrom m0 import *\nx$0()", None)

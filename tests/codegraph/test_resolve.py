from textwrap import dedent

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
    "global is no local": ("def f(): pass\ndef g():\n    global f\n    f$0()", "scope main.py::f"),
    "bound anew under global": ("def f(): pass\ndef g():\n    global f\n    f = h(f)\nf$0()", None),
    "bound anew under nonlocal": (
        "def a():\n    def f(): pass\n    def g():\n        nonlocal f\n        f = 1\n    f$0()",
        None,
    ),
    "a nonlocal of another function": (
        (
            "def a():\n    f = 1\n    def g():\n        nonlocal f\n        f = 2\n"
            "def b():\n    def f(): pass\n    f$0()"
        ),
        "scope main.py::b.f",
    ),
    "deleted": ("def f(): pass\ndel f\nf$0()", None),
    "an item deleted": ("def f(): pass\ndel f.x, f[1]\nf$0()", "scope main.py::f"),
    "an attribute of the instance hides an inherited method": (
        (
            "class A:\n    def f(self): pass\nclass B(A):\n    def __init__(self):\n        self.f = 3\n"
            "    def g(self):\n        self.f$0()"
        ),
        None,
    ),
    "set in a nested function": (
        (
            "class A:\n    def f(self): pass\nclass B(A):\n    def a(self):\n        def b():\n"
            "            self.f, x = 3, 4\n    def g(self):\n        self.f$0()"
        ),
        None,
    ),
    "set by the base class": (
        (
            "class A:\n    def __init__(self): self.f: int = 1\n    def f(self): pass\nclass B(A):\n"
            "    def g(self):\n        self.f$0()"
        ),
        None,
    ),
    "super passes the instance by": (
        (
            "class A:\n    def f(self): pass\nclass B(A):\n    def __init__(self):\n"
            "        self.f = 3\n    def g(self):\n        super().f$0()"
        ),
        "super main.py::A.f",
    ),
    "another object's attribute hides nothing": (
        "class A:\n    def f(self): pass\n    def g(self, o):\n        o.f = 3\n        self.f$0()",
        "self main.py::A.f",
    ),
    "a method wrapped where it stands": (
        (
            "class A:\n    def __init__(self): self.f = cache(self.f)\n    def f(self): pass\n"
            "    def g(self): self.f$0()"
        ),
        "self main.py::A.f",
    ),
    "another attribute with a longer name": (
        (
            "class A:\n    def __init__(self): self.f = self.f2\n    def f(self): pass\n"
            "    def g(self): self.f$0()"
        ),
        None,
    ),
    "an attribute is no name of the class's body": (
        "def f(): pass\nclass A:\n    def __init__(self): self.f = 1\n    x = f$0()",
        "scope main.py::f",
    ),
    "what a property's setter sets": (
        (
            "class A:\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, v): pass\n"
            "    def __init__(self):\n        self.p = 1\n    def g(self):\n        self.p$0"
        ),
        "self main.py::A.p",
    ),
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


PAY = "#- /pay.py\ndef charge(): pass\n#- /fast.py\ndef charge(): pass\n#- /main.py\n"

BOUND_AGAIN = {
    "by an import from elsewhere": ("from pay import charge\nfrom stripe import charge\ncharge$0()", None),
    "by an alias from elsewhere": ("from pay import charge\nimport foo as charge\ncharge$0()", None),
    "a module by an alias": ("import pay\nimport stripe as pay\npay.charge$0()", None),
    "by an import from here": (
        "from stripe import charge\nfrom pay import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "by the other": ("from pay import charge\nfrom fast import charge\ncharge$0()", "import fast.py::charge"),
    "to the same": ("from pay import charge\nfrom pay import charge\ncharge$0()", "import pay.py::charge"),
    "in a function": (
        "def f():\n    from pay import charge\n    from stripe import charge\n    charge$0()",
        None,
    ),
    "in another scope": (
        "from pay import charge\ndef f():\n    from stripe import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "under global": (
        "from pay import charge\ndef f():\n    global charge\n    charge = 3\ncharge$0()",
        None,
    ),
    "by an import under global": (
        "from pay import charge\ndef f():\n    global charge\n    from stripe import charge\ncharge$0()",
        None,
    ),
    "by a definition": (
        "from pay import charge\ndef charge(): pass\ncharge$0()",
        "scope main.py::charge",
    ),
    "in place of a definition": (
        "def charge(): pass\nfrom pay import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "in place of a definition, from elsewhere": (
        "def charge(): pass\nfrom stripe import charge\ncharge$0()",
        None,
    ),
    "fallback from here": (
        "try:\n    from stripe import charge\nexcept ImportError:\n    from pay import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "fallback from elsewhere": (
        "try:\n    from pay import charge\nexcept ImportError:\n    from stripe import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "fallback, both here": (
        "try:\n    from fast import charge\nexcept ImportError:\n    from pay import charge\ncharge$0()",
        "import fast.py::charge",
    ),
    "fallback defined here": (
        (
            "try:\n    from stripe import charge\nexcept ImportError:\n    def charge(): pass\n"
            "def f(): pass\ncharge$0()"
        ),
        "scope main.py::charge",
    ),
    "fallback to nothing": (
        "try:\n    from pay import charge\nexcept ImportError:\n    charge = None\ncharge$0()",
        None,
    ),
    "a faster one, if there is one": (
        (
            "def charge(): pass\ntry:\n    from _speed import charge\nexcept ImportError:\n    pass\n"
            "charge$0()"
        ),
        "scope main.py::charge",
    ),
    "a faster one that is here": (
        ("def charge(): pass\ntry:\n    from fast import charge\nexcept ImportError:\n    pass\ncharge$0()"),
        None,
    ),
    "a fallback, then bound for good": (
        (
            "try:\n    from pay import charge\nexcept ImportError:\n    pass\n"
            "from stripe import charge\ncharge$0()"
        ),
        None,
    ),
    "with suppress": (
        "from pay import charge\nwith suppress(ImportError):\n    from _speed import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "with anything else": (
        "from pay import charge\nwith catch_warnings():\n    from stripe import charge\ncharge$0()",
        None,
    ),
    "on a condition": (
        "from pay import charge\nif x:\n    from stripe import charge\ncharge$0()",
        None,
    ),
    "on a condition, to the same": (
        "if x:\n    from pay import charge\nelse:\n    from pay import charge\ncharge$0()",
        "import pay.py::charge",
    ),
    "only on a condition": ("if x:\n    from pay import charge\ncharge$0()", "import pay.py::charge"),
    "a condition in a try": (
        (
            "try:\n    if x:\n        from stripe import charge\n    else:\n        from pay import charge\n"
            "except E: pass\ncharge$0()"
        ),
        None,
    ),
    "not by a condition around the function": (
        (
            "if x:\n    def f():\n        from pay import charge\n        from stripe import charge\n"
            "        charge$0()"
        ),
        None,
    ),
    "two modules of one package": (
        "import p.m\nimport p.gone\np.m.f$0()\n#- /p/__init__.py\n#- /p/m.py\ndef f(): pass",
        "import p/m.py::f",
    ),
    "the import itself, from elsewhere": ("from other import cha$0rge\ndef charge(): pass", None),
    "the import itself, from here": (
        "from pay import cha$0rge\ndef charge(): pass",
        "import pay.py::charge",
    ),
    "the import itself, of several": (
        "from pay import cha$0rge\nfrom stripe import charge",
        "import pay.py::charge",
    ),
    "the import's alias": (
        "from pay import charge as de$0bit\ndef debit(): pass",
        "import pay.py::charge",
    ),
    "the name of the alias": (
        "from pay import cha$0rge as debit\ndef debit(): pass",
        "import pay.py::charge",
    ),
    "a module's alias": ("import pay as de$0bit\ndef debit(): pass", None),
    "what another file gets": (
        "from lib import charge\ncharge$0()\n#- /lib.py\nfrom pay import charge\nfrom stripe import charge",
        None,
    ),
    "what another file gets, defined": (
        "from lib import charge\ncharge$0()\n#- /lib.py\nfrom pay import charge\ndef charge(): pass",
        "import lib.py::charge",
    ),
}


@pytest.mark.parametrize("case", BOUND_AGAIN)
def test_a_name_bound_again(case):
    source, expected = BOUND_AGAIN[case]
    check(PAY + source, expected)


ROOTS = {
    "a path that ends so is no root": ("deploy/redis.py", "svc/cache.py", "redis", False),
    "nor is a package that lies deep": ("docs/ext/flask/__init__.py", "svc/cache.py", "flask", False),
    "nor the same file of a folder beside": ("a/m.py", "b/n.py", "m", False),
    "nor what lies below": ("a/b/m.py", "a/n.py", "m", False),
    "nor a vendored one": ("vendor/requests.py", "main.py", "requests", False),
    "the top": ("redis.py", "svc/cache.py", "redis", True),
    "beside": ("svc/redis.py", "svc/cache.py", "redis", True),
    "a folder above": ("svc/redis.py", "svc/a/b/cache.py", "redis", True),
    "src of the project": ("src/p.py", "tests/unit/t.py", "p", True),
    "lib of a part": ("parts/one/lib/p.py", "parts/one/tests/t.py", "p", True),
    "src of another part": ("parts/one/src/p.py", "parts/two/t.py", "p", False),
    "a folder below src": ("src/tools/p.py", "tests/t.py", "p", False),
    "the standard library's name in src": ("src/logging.py", "tests/t.py", "logging", False),
}


@pytest.mark.parametrize("case", ROOTS)
def test_where_a_module_may_lie(case):
    file, importer, module, found = ROOTS[case]
    source = f"#- /{file}\ndef f(): pass\n#- /{importer}\nfrom {module} import f\nf$0()"
    check(source, f"import {file}::f" if found else None)


def test_a_project_with_a_setup_file_can_be_imported_from_anywhere():
    two = "#- /parts/two/t.py\nfrom p import f\nf$0()\n"
    setup = "#- /parts/one/setup.py\nsetup()\n"
    check(f"{two}{setup}#- /parts/one/p.py\ndef f(): pass", "import parts/one/p.py::f")
    check(f"{two}{setup}#- /parts/one/src/p.py\ndef f(): pass", "import parts/one/src/p.py::f")
    check(f"{two}{setup}#- /parts/one/docs/p.py\ndef f(): pass", None)


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
    "tsx: HTML": ("#- /main.tsx\nfunction b() {}\nconst x = <b$0/>;", None),
    "tsx: HTML ends": ("#- /main.tsx\nfunction b() {}\nconst x = <b></b$0>;", None),
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
    "a field hides an inherited method": (
        "#- /main.ts\nclass A { f() {} }\nclass B extends A { f = null; g() { this.f$0(); } }",
        None,
    ),
    "a field with a function": (
        "#- /main.ts\nclass A { f() {} }\nclass B extends A { f = () => 1; g() { this.f$0(); } }",
        "self main.ts::B.f",
    ),
    "a field of an object of functions": (
        "#- /main.ts\nclass A { o = { f() {} }; g() { this.o$0; } }",
        None,
    ),
    "set on the instance": (
        "#- /main.ts\nclass A { f() {} }\nclass B extends A { h() { this.f = 3; } g() { this.f$0(); } }",
        None,
    ),
    "a function set on the instance": (
        (
            "#- /main.js\nclass A { f() {} }\n"
            "class B extends A { constructor() { this.f = () => 1; } g() { this.f$0(); } }"
        ),
        None,
    ),
    "set by a parameter": (
        (
            "#- /main.ts\nclass A { f() {} }\n"
            "class B extends A { constructor(private f: F) { super(); } g() { this.f$0(); } }"
        ),
        None,
    ),
    "a method bound to its object": (
        (
            "#- /main.ts\nclass A { constructor() { this.f = this.f.bind(this); }\n"
            "f() {} g() { this.f$0(); } }"
        ),
        "self main.ts::A.f",
    ),
    "bound again": (
        (
            "#- /m.js\nexports.f = function () {};\n"
            "#- /main.js\nvar { f } = require('./m');\nvar f = require('n').f;\nf$0();"
        ),
        None,
    ),
    "a fallback": (
        (
            "#- /m.js\nexports.f = function () {};\n"
            "#- /main.js\ntry { var { f } = require('n'); } catch { var { f } = require('./m'); }\nf$0();"
        ),
        "import m.js::exports.f",
    ),
    "on the import itself": (
        "#- /m.ts\nexport interface F {}\n#- /main.ts\nimport { F$0 } from './m';\ninterface F { x: 1 }",
        "import m.ts::F",
    ),
    "on an import from elsewhere": (
        "#- /main.ts\nimport { F$0 } from 'm';\ninterface F { x: 1 }",
        None,
    ),
    "on an import's name and alias": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nimport { f$0 as g } from './m';\nfunction f() {}",
        "import m.ts::f",
    ),
    "on a default import": (
        "#- /m.ts\nexport default function f() {}\n#- /main.ts\nimport g$0 from './m';",
        "import m.ts::f",
    ),
    "on a re-export": (
        "#- /m.ts\nexport function f() {}\n#- /main.ts\nexport { f$0 as g } from './m';",
        "import m.ts::f",
    ),
    "on an export": (
        "#- /main.ts\nfunction f() {}\nexport { f$0 as g };",
        "scope main.ts::f",
    ),
    "a path that ends so is no package": (
        "#- /lib/react.ts\nexport function f() {}\n#- /src/main.ts\nimport { f } from 'lib/react';\nf$0();",
        None,
    ),
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


@pytest.mark.parametrize("ending", ["tsx", "jsx"])
def test_elements_call_their_components(ending):
    parts = "export const Button = () => <b/>;\nexport function small() { return <i/>; }"
    view = """\
        import { Button, small } from "./parts";
        import * as parts from "./parts";
        function b() {}
        function Local() { return <b>text</b>; }
        class Shop {
          render() {
            return <Local><Button on={1}/><parts.small></parts.small><small/><Other/><Button/></Local>;
          }
        }
        """
    fixture = f"#- /parts.{ending}\n{parts}\n#- /main.{ending}\n{dedent(view)}$0"
    index, _, _ = read(fixture, "")
    assert [(r.key.id, n) for r, n in calls_of(index, key(f"main.{ending}::Shop.render"))] == [
        (f"main.{ending}::Local", 1),
        (f"parts.{ending}::Button", 2),
        (f"parts.{ending}::small", 1),
    ]
    assert calls_of(index, key(f"main.{ending}::Local")) == []
    assert [r.key.id for r, _ in callers_of(index, key(f"main.{ending}::Local"))] == [
        f"main.{ending}::Shop.render"
    ]


IN_OBJECTS = {
    "a method of a nameless object is no name": (
        "function refine() {}\nfunction methods() { return { refine(c) { return refi$0ne(c); } }; }",
        "scope main.ts::refine",
    ),
    "nor is it one at the top": (
        "setup({ render() {}, run() { rend$0er(); } });",
        None,
    ),
    "nor does it replace an import": (
        (
            "import { run } from './m';\nexport default { run() { return ru$0n(); } };\n"
            "#- /m.ts\nexport function run() {}"
        ),
        "import m.ts::run",
    ),
    "a function of that name does": (
        "var run = require('./m').run;\nfunction run() {}\nru$0n();\n#- /m.ts\nexport function run() {}",
        "scope main.ts::run",
    ),
    "what is exported by the object is seen from elsewhere": (
        "import { run } from './m';\nru$0n();\n#- /m.js\nmodule.exports = { run() {} };",
        "import m.js::run",
    ),
    "nothing is set on the object yet": (
        (
            "init((it) => { it.par$0se(); });\ninit((it) => { it.parse = () => 1; });\n"
            "init((it) => { it.parse = () => 2; });"
        ),
        None,
    ),
    "the last that was set": (
        (
            "init((it) => { it.parse = () => 1; });\ninit((it) => { it.parse = () => 2; it.par$0se(); });\n"
            "init((it) => { it.parse = () => 3; });"
        ),
        "scope main.ts::it.parse#1",
    ),
    "the object of its own closure": (
        (
            "test(() => { const fake = { send() {} }; });\n"
            "test(() => { const fake = { send() {} }; fake.sen$0d(); });"
        ),
        "scope main.ts::fake.send#1",
    ),
    "a getter, not the setter behind it": (
        "const fake = { get sent() { return f; }, set sent(value) {} };\nfake.sen$0t();",
        "scope main.ts::fake.sent",
    ),
    "of several, from elsewhere": (
        (
            "import { api } from './m';\napi.ge$0t();\n"
            "#- /m.ts\nexport const api = {} as any;\n"
            "a(() => { api.get = () => 1; });\nb(() => { api.get = () => 2; });"
        ),
        None,
    ),
    "an import, before a function of its name in a closure": (
        (
            "import { run } from './m';\ntest(() => { ru$0n(); });\ntest(() => { const run = () => 1; });\n"
            "#- /m.ts\nexport function run() {}"
        ),
        "import m.ts::run",
    ),
    "an import or that function, in or behind the closure": (
        (
            "import { run } from './m';\ntest(() => { const run = () => 1; run(); });\n"
            "test(() => { ru$0n(); });\n"
            "#- /m.ts\nexport function run() {}"
        ),
        None,
    ),
    "an import from elsewhere, not a function of its name in a closure": (
        "import { run } from 'm';\ntest(() => { ru$0n(); });\ntest(function () { const run = () => 1; });",
        None,
    ),
    "each closure has an import of its own": (
        (
            "test(() => { const run = require('./m').run; ru$0n(); });\n"
            "test(() => { const run = require('./n').run; });\n"
            "#- /m.ts\nexport function run() {}\n#- /n.ts\nexport function run() {}"
        ),
        None,
    ),
    "a class of its own closure": (
        "test(() => { class Set {} });\ntest(() => { class Set {} new Se$0t(); });",
        "scope main.ts::Set#1",
    ),
    "new this.constructor()": (
        "class Cart { constructor() {} copy() { return new this.construc$0tor(); } }",
        None,
    ),
    "this.constructor.of()": (
        "class Cart { constructor() {} static of() {} copy() { return this.constructor.o$0f(); } }",
        None,
    ),
}


@pytest.mark.parametrize("case", IN_OBJECTS)
def test_what_stands_in_objects_and_closures(case):
    source, expected = IN_OBJECTS[case]
    check(source, expected, default="main.ts")


def test_a_constructor_is_called_by_its_class():
    source = "class Cart { constructor() {} copy() { new this.constructor(); return new Cart(); } }"
    index, _, _ = read(source, "main.ts")
    called = calls_of(index, key("main.ts::Cart.copy"), allow_name=True)
    assert [(r.key.id, n) for r, n in called] == [("main.ts::Cart", 1)]


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


SHOP = """\
class Base:
    def open(self): pass
class Shop(Base):
    def pay(self) -> 'Till': pass
class Till:
    def ring(self): pass
"""
OTHER = "class Other:\n    def pay(self): pass\n"

TYPED = {
    "a declared parameter": ("def f(shop: Shop):\n    shop.pa$0y()", "class main.py::Shop.pay"),
    "an optional one": ("def f(shop: 'Shop | None' = None):\n    shop.pa$0y()", "class main.py::Shop.pay"),
    "Optional": ("def f(shop: Optional[Shop]):\n    shop.pa$0y()", "class main.py::Shop.pay"),
    "one of two types": ("def f(shop: Shop | Till):\n    shop.pa$0y()", None),
    "a list of them": ("def f(shop: list[Shop]):\n    shop.pa$0y()", None),
    "a made value": ("def f():\n    shop = Shop(1)\n    shop.pa$0y()", "class main.py::Shop.pay"),
    "a base class's member": ("def f(shop: Shop):\n    shop.op$0en()", "class main.py::Base.open"),
    "what a method returns": ("def f(shop: Shop):\n    shop.pay().ri$0ng()", "class main.py::Till.ring"),
    "through a variable": (
        "def f(shop: Shop):\n    till = shop.pay()\n    till.ri$0ng()",
        "class main.py::Till.ring",
    ),
    "two values of one name": (OTHER + "def f():\n    s = Shop()\n    s = Other()\n    s.pa$0y()", None),
    "an unknown second value": ("def f(x):\n    s = Shop()\n    s = x\n    s.pa$0y()", None),
    "an attribute": (
        "class A:\n  def __init__(self, shop: Shop):\n    self.shop = shop\n  def f(self): self.shop.pa$0y()",
        "class main.py::Shop.pay",
    ),
    "an attribute that a base class declares": (
        "class A:\n    shop: Shop\nclass B(A):\n    def f(self):\n        self.shop.pa$0y()",
        "class main.py::Shop.pay",
    ),
    "an attribute set to something else too": (
        "class A:\n def g(self): self.shop = Shop()\n def f(self, x):\n  self.shop = x; self.shop.pa$0y()",
        None,
    ),
    "a with target": (
        "class Lock:\n    def __enter__(self) -> Shop: pass\nwith Lock() as shop:\n    shop.pa$0y()",
        "class main.py::Shop.pay",
    ),
    "the type of a function's result": (
        "def make() -> Shop: pass\ndef f():\n    make().pa$0y()",
        "class main.py::Shop.pay",
    ),
    "a type parameter": ("def f[Shop](shop: Shop):\n    shop.pa$0y()", None),
    "a value that is made of itself": ("def f():\n    s = s.s\n    s.pa$0y()", None),
}


@pytest.mark.parametrize("name", TYPED)
def test_python_types_that_the_text_tells(name):
    source, expected = TYPED[name]
    check(SHOP + source, expected)


TS_SHOP = """\
class Base { open() {} }
class Shop extends Base { pay(): Till { return new Till(); } later(): Promise<Till> { return wait(); } }
class Till { ring() {} }
interface Open { till: Till; shut(): Shop }
"""

TS_TYPED = {
    "a declared parameter": ("function f(shop: Shop) { shop.pa$0y(); }", "class main.ts::Shop.pay"),
    "null besides": ("function f(shop: Shop | null) { shop.pa$0y(); }", "class main.ts::Shop.pay"),
    "one of two types": ("function f(shop: Shop | Till) { shop.pa$0y(); }", None),
    "an array of them": ("function f(shop: Shop[]) { shop.pa$0y(); }", None),
    "made by new": ("const shop = new Shop(); shop.pa$0y();", "class main.ts::Shop.pay"),
    "made and called at once": ("new Shop().pa$0y();", "class main.ts::Shop.pay"),
    "a base class's member": ("function f(shop: Shop) { shop.op$0en(); }", "class main.ts::Base.open"),
    "what a method returns": ("function f(shop: Shop) { shop.pay().ri$0ng(); }", "class main.ts::Till.ring"),
    "what a promise brings": (
        "async function f(shop: Shop) { const t = await shop.later(); t.ri$0ng(); }",
        "class main.ts::Till.ring",
    ),
    "an interface's property": ("function f(o: Open) { o.till.ri$0ng(); }", "class main.ts::Till.ring"),
    "what an interface's method returns": (
        "function f(o: Open) { o.shut().pa$0y(); }",
        "class main.ts::Shop.pay",
    ),
    "a field of this": ("class A { shop: Shop; f() { this.shop.pa$0y(); } }", "class main.ts::Shop.pay"),
    "a made field of this": (
        "class A { s = new Shop(); f() { this.s.pa$0y(); } }",
        "class main.ts::Shop.pay",
    ),
    "a parameter that is a field": (
        "class A { constructor(private shop: Shop) {} f() { this.shop.pa$0y(); } }",
        "class main.ts::Shop.pay",
    ),
    "a field that a base class has": (
        "class A { shop: Shop; } class B extends A { f() { this.shop.pa$0y(); } }",
        "class main.ts::Shop.pay",
    ),
    "a base class's method through this": (
        "class A extends Shop { f() { this.op$0en(); } }",
        "self main.ts::Base.open",
    ),
    "a type parameter with a bound": (
        "function f<T extends Shop>(shop: T) { shop.pa$0y(); }",
        "class main.ts::Shop.pay",
    ),
    "a type parameter of that name": ("function f<Shop>(shop: Shop) { shop.pa$0y(); }", None),
    # To the compiler a variable is of its first value's type, whatever is assigned to it later.
    "a second value": (
        "class Other { pay() {} } function f(a) { let s = new Shop(); s = new Other(); s.pa$0y(); }",
        "class main.ts::Shop.pay",
    ),
}


@pytest.mark.parametrize("name", TS_TYPED)
def test_typescript_types_that_the_text_tells(name):
    source, expected = TS_TYPED[name]
    check(TS_SHOP + source, expected, default="main.ts")


BARREL = """\
#- /shop/till.ts
export class Base { open() {} }
export class Till extends Base { ring() {} }
export default function pay() {}
#- /shop/index.ts
export * from './till';
export { Till as Desk, default as payNow } from './till';
export * as all from './till';
#- /main.ts
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import { Till } from './shop'; new Ti$0ll();", "import shop/till.ts::Till"),
        ("import { Desk } from './shop'; new De$0sk();", "import shop/till.ts::Till"),
        ("import { Desk as D } from './shop'; new D$0();", "import shop/till.ts::Till"),
        ("import { payNow } from './shop'; pay$0Now();", "import shop/till.ts::pay"),
        ("import * as shop from './shop'; shop.Ti$0ll;", "import shop/till.ts::Till"),
        ("import { Desk } from './shop'; (d: Desk) => d.ri$0ng();", "class shop/till.ts::Till.ring"),
        ("import { Desk } from './shop'; class A extends Desk { f() { this.op$0en(); } }",
         "self shop/till.ts::Base.open"),
        ("import { none } from './shop'; no$0ne();", None),
    ],
)  # fmt: skip
def test_typescript_through_a_barrel(source, expected):
    check(BARREL + source, expected)


BLOCKS = """\
describe("one", () => {{
  const make = () => 1;
  it("makes", () => {{ {one} }});
}});
describe("two", () => {{
  const make = () => 2;
  it("makes", () => {{ {two} }});
}});
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BLOCKS.format(one="ma$0ke()", two="make()"), "scope main.ts::make"),
        (BLOCKS.format(one="make()", two="ma$0ke()"), "scope main.ts::make#1"),
        # The inner one's block may have ended or not: nothing is said rather than what may be wrong.
        ("const make = () => 0;\n" + BLOCKS.format(one="make()", two="ma$0ke()"), None),
        ("const make = () => 0;\nma$0ke();\n" + BLOCKS.format(one="", two=""), "scope main.ts::make"),
    ],
)
def test_typescript_functions_of_one_name_in_blocks_of_their_own(source, expected):
    check(source, expected, default="main.ts")


def test_which_function_of_one_name_a_call_outside_every_function_means_is_not_known():
    index, *_ = read(BLOCKS.format(one="make()", two="make()$0"), "main.ts")
    assert callers_of(index, key("main.ts::make")) == []
    assert calls_of(index, key("main.ts")) == []


def test_which_function_of_one_name_the_function_around_them_calls_is_not_known():
    blocks = "function f() {}\n  } else {\n    function f() {}\n    f();$0"
    source = "function g(x) {\n  if (x) {\n    " + blocks + "\n  }\n}\n"
    index, *_ = read(source, "main.ts")
    assert calls_of(index, key("main.ts::g")) == []

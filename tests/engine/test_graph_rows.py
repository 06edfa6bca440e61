import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.engine.graph_rows import FileFacts, file_rows

CASES = {
    "a.py": (
        "class A:\n    def f(self): pass\n    class B:\n        def g(self): pass\ndef h(): pass\n",
        {("a.py::A.f", "a.py::A"), ("a.py::A.B.g", "a.py::A.B")},
    ),
    "a.go": (
        "package a\ntype A struct{}\nfunc (a *A) F() {}\nfunc (b B) G() {}\nfunc H() {}\n",
        {("a.go::A.F", "a.go::A")},  # B is declared in another file
    ),
    "a.rs": ("struct A;\nimpl A { fn f() {} }\nmod m { fn g() {} }\n", {("a.rs::A.f", "a.rs::A")}),
    "a.cpp": (
        "namespace n { struct A { void f(); }; }\nvoid n::A::f() {}\nvoid n::g() {}\n",
        {("a.cpp::n.A.f", "a.cpp::n.A"), ("a.cpp::n.A.f#1", "a.cpp::n.A")},
    ),
}


@pytest.mark.parametrize("file", CASES)
def test_methods_belong_to_their_class_even_beside_it(file):
    source, expected = CASES[file]
    steps = file_rows(file, extract(source.encode(), language_of(file)), FileFacts())
    with pytest.raises(StopIteration) as done:
        next(steps)  # a short file takes one
    rows = done.value.value
    assert {row[1:3] for row in rows.rels if row[0].startswith("METHOD_OF")} == expected

"""Shallow languages: names are followed within their file."""

import pytest

from fixtures import parse_fixture
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.index import CodeIndex
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.resolve import bases_of, resolve
from mnemolens.core.symbols import SymbolKey

CASES = {
    "java: a method of the class": ("a.java", "class A { void f() {} void g() { f$0(); } }", "self A.f"),
    "java: this": ("a.java", "class A { void f() {} void g() { this.f$0(); } }", "self A.f"),
    "java: of the class around": (
        "a.java",
        "class A { void f() {} class B { void g() { f$0(); } } }",
        "self A.f",
    ),
    "java: of a base in the file": (
        "a.java",
        "class A { void f() {} }\nclass B extends A { void g() { f$0(); super.f(); } }",
        "super A.f",
    ),
    "java: super": (
        "a.java",
        "class A { void f() {} }\nclass B extends A { void f() { super.f$0(); } }",
        "super A.f",
    ),
    "java: by the class": (
        "a.java",
        "class A { static void f() {} }\nclass B { int x = A.f$0(); }",
        "class A.f",
    ),
    "java: a made object": ("a.java", "class A {}\nclass B { Object x = new A$0(); }", "scope A"),
    "java: overloads": ("a.java", "class A { void f(int a) {} void f() {} void g() { f$0(); } }", None),
    "java: of another object": ("a.java", "class A { void f() {} void g(A a) { a.f$0(); } }", None),
    "java: a base elsewhere": ("a.java", "class B extends A { void g() { f$0(); } }", None),
    "rust: a function": ("a.rs", "fn f() {}\nfn g() { f$0() }", "scope f"),
    "rust: self": ("a.rs", "struct A;\nimpl A { fn f(&self) {} fn g(&self) { self.f$0() } }", "self A.f"),
    "rust: Self": ("a.rs", "struct A;\nimpl A { fn f() {} fn g() { Self::f$0() } }", "self A.f"),
    "rust: by the type": ("a.rs", "struct A;\nimpl A { fn f() {} }\nfn g() { A::f$0() }", "class A.f"),
    "rust: a module": ("a.rs", "mod m { pub fn f() {} }\nfn g() { m::f$0() }", "class m.f"),
    "rust: a method is not a function": ("a.rs", "struct A;\nimpl A { fn f() {} fn g() { f$0() } }", None),
    "rust: a closure hides it": ("a.rs", "fn f() {}\nfn g() { let f = |x| x; f$0(1) }", None),
    "rust: a macro": ("a.rs", "macro_rules! m { () => {} }\nfn g() { m$0!() }", "scope m"),
    "c: a function": (
        "a.c",
        "static int f(int);\nint g(void) { return f$0(1); }\nint f(int a) { return a; }",
        "scope f",
    ),
    "c: a declaration": ("a.h", "int f(int);\nstatic int g(void) { return f$0(1); }", "scope f"),
    "c: a parameter hides it": (
        "a.c",
        "int f(void) { return 1; }\nint g(int (*f)(void)) { return f$0(); }",
        None,
    ),
    "cpp: in the class": (
        "a.cpp",
        "class A { int f() { return 1; } int g() { return f$0(); } };",
        "self A.f",
    ),
    "cpp: declared and defined": (
        "a.cpp",
        "class A { int f(); int g(); };\nint A::f() { return 1; }\nint A::g() { return f$0(); }",
        "self A.f#1",
    ),
    "cpp: this": ("a.cpp", "struct A { int f() { return 1; } int g() { return this->f$0(); } };", "self A.f"),
    "rust: the module around": ("a.rs", "fn f() {}\nmod m { fn f() {} fn g() { super::f$0(); } }", "scope f"),
    "rust: the module around, not a trait": (
        "a.rs",
        "trait T { fn f() {} }\nstruct A;\nimpl T for A {}\nimpl A { fn g() { super::f$0(); } }",
        None,
    ),
    "rust: imported there": (
        "a.rs",
        "fn f() {}\nmod m { use other::f; fn g() { f$0(); } }",
        None,
    ),
    "rust: imported from around": (
        "a.rs",
        "fn f() {}\nmod m { use super::{self, f}; fn g() { f$0(); } }",
        "scope f",
    ),
    "rust: imported from this crate": (
        "a.rs",
        "fn f() {}\nmod tests { use crate::a::f; fn g() { f$0(); } }",
        "scope f",
    ),
    "cpp: a namespace": (
        "a.cpp",
        "namespace n { int f() { return 1; } }\nint g() { return n::f$0(); }",
        "class n.f",
    ),
    "csharp: a method": ("a.cs", "class A { void F() {} void G() { F$0(); } }", "self A.F"),
    "csharp: base": (
        "a.cs",
        "class A { public void F() {} }\nclass B : A { void G() { base.F$0(); } }",
        "super A.F",
    ),
    "csharp: a function in it": ("a.cs", "class A { void G() { void F() {} F$0(); } }", "scope A.G.F"),
    "ruby: a method": ("a.rb", "class A\n  def f(x); x; end\n  def g; f$0(1); end\nend", "self A.f"),
    "ruby: self": ("a.rb", "class A\n  def f; 1; end\n  def g; self.f$0; end\nend", "self A.f"),
    "ruby: of the file": ("a.rb", "def f(x); x; end\nclass A\n  def g; f$0(1); end\nend", "scope f"),
    "php: $this": ("a.php", "<?php class A { function f() {} function g() { $this->f$0(); } }", "self A.f"),
    "php: self": (
        "a.php",
        "<?php class A { static function f() {} function g() { self::f$0(); } }",
        "self A.f",
    ),
    "php: parent": (
        "a.php",
        "<?php class A { function f() {} } class B extends A { function f() { parent::f$0(); } }",
        "super A.f",
    ),
    "php: a function, not a method": (
        "a.php",
        "<?php function f() {} class A { function f() {} function g() { f$0(); } }",
        "scope f",
    ),
    "kotlin: a method": ("a.kt", "class A {\n  fun f() {}\n  fun g() { f$0() }\n}", "self A.f"),
    "kotlin: this": ("a.kt", "class A {\n  fun f() {}\n  fun g() { this.f$0() }\n}", "self A.f"),
    "kotlin: an object": ("a.kt", "object A {\n  fun f() {}\n}\nfun g() { A.f$0() }", "class A.f"),
}


@pytest.mark.parametrize("case", CASES)
def test_names(case):
    file, source, expected = CASES[case]
    files, (_, position) = parse_fixture(source, file)
    index, language = CodeIndex(), language_of(file)
    index.put(file, extract(files[file].encode(), language))
    document = Document(files[file], language)
    assert not document.symbols.partial
    found = resolve(index, file, document.reference_at(position))
    shown = f"{found.confidence} {found.key.id.partition('::')[2]}" if found else None
    assert shown == expected


def test_bases_of_the_same_file():
    index = CodeIndex()
    source = b"interface I {}\nclass A {}\nclass B extends A implements I, Other {}"
    index.put("a.java", extract(source, language_of("a.java")))
    assert [r.key.qualname for r in bases_of(index, SymbolKey("a.java", "B"))] == ["A", "I"]

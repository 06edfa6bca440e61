import pytest

from mnemolens.codegraph.extract import MAX_DEPTH, Walk, extract
from mnemolens.codegraph.heads import MAX_SIGNATURE
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.layout import assembling
from mnemolens.core.symbols import Call, Import, Position, Range


def read(source, language="python"):
    return extract(source.encode(), language_named(language))


def named(symbols, qualname, ordinal=0):
    return next(s for s in symbols.symbols if (s.qualname, s.ordinal) == (qualname, ordinal))


def imports(source, language="python"):
    return [
        tuple(i)[0:3] if isinstance(i, tuple) else (i.module, i.name, i.alias)
        for i in read(source, language).imports
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a", [("a", None, "a")]),
        ("import a.b", [("a.b", None, "a")]),
        ("import a.b as c, d", [("a.b", None, "c"), ("d", None, "d")]),
        ("from a import b", [("a", "b", "b")]),
        ("from a.b import (c as d,\n  e,)", [("a.b", "c", "d"), ("a.b", "e", "e")]),
        ("from . import a", [(".", "a", "a")]),
        ("from ..a.b import c", [("..a.b", "c", "c")]),
        ("from a import *", [("a", "*", "*")]),
        ("from __future__ import annotations", []),
    ],
)
def test_python_imports(source, expected):
    assert imports(source) == expected


def test_an_import_belongs_to_the_scope_that_holds_it():
    found = read("import a\ndef f():\n    def g():\n        from b import c\n    import d\n").imports
    assert set(found) == {
        Import("a", None, "a", -1),
        Import("d", None, "d", 0),
        Import("b", "c", "c", 1),
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import 'a';", []),
        ("import a from './a';", [("./a", "default", "a", False)]),
        ("import a, { b, c as d } from 'x';", [
            ("x", "default", "a", False), ("x", "b", "b", False), ("x", "c", "d", False),
        ]),
        ("import * as ns from 'x';", [("x", "*", "ns", False)]),
        ("import type { T } from 'x';", [("x", "T", "T", False)]),
        ("import { type T } from 'x';", [("x", "T", "T", False)]),
        ("import a = require('x');", [("x", "*", "a", False)]),
        ("const a = require('x');", [("x", "*", "a", False)]),
        ("const { a, b: c } = require('x');", [("x", "a", "a", False), ("x", "b", "c", False)]),
        ("const a = require('x').b;", [("x", "b", "a", False)]),
        ("export * from 'x';", [("x", "*", "*", True)]),
        ("export * as ns from 'x';", [("x", "*", "ns", True)]),
        ("export { a as b, c } from 'x';", [("x", "a", "b", True), ("x", "c", "c", True)]),
        ("export { a as b };", [("", "a", "b", True)]),
        ("export default a;", [("", "a", "default", True)]),
        ("export default function a() {}", [("", "a", "default", True)]),
    ],
)  # fmt: skip
def test_typescript_imports(source, expected):
    symbols = read(source, "typescript")
    assert not symbols.partial
    assert [(i.module, i.name, i.alias, i.exported) for i in symbols.imports] == expected


def test_python_calls_by_caller():
    source = """
import os
@deco(1)
class A(make()):
    x = field()

    def f(self, a=default()):
        self.g(1); self.g(2)
        os.path.join("a", b()[0].strip())
        super().f()
        A().f()

        def inner():
            return h(lambda: i())

main()
"""
    assert set(read(source).calls) == {
        Call(-1, "deco", ""),
        Call(-1, "main", ""),
        Call(0, "make", ""),
        Call(0, "field", ""),
        Call(1, "default", ""),
        Call(1, "g", "self", 2),
        Call(1, "join", "os.path"),
        Call(1, "b", ""),
        Call(1, "strip", None),
        Call(1, "f", "super()"),
        Call(1, "super", ""),
        Call(1, "f", "A()"),
        Call(1, "A", ""),
        Call(2, "h", ""),
        Call(2, "i", ""),
    }


def test_typescript_calls():
    source = (
        "function f() { a(); new B(); this.c(); x.y?.z(); new D().e(); (q as any).r(); super.s(); t()(); }"
    )
    assert set(read(source, "typescript").calls) == {
        Call(0, "a", ""),
        Call(0, "B", ""),
        Call(0, "c", "this"),
        Call(0, "z", "x.y"),
        Call(0, "D", ""),
        Call(0, "e", "D()"),
        Call(0, "r", "q"),
        Call(0, "s", "super"),
        Call(0, "t", ""),
    }


def test_python_local_names():
    source = """
top: int = 1
def f(a, b=1, *c, d: int, e: int = 2, **g):
    h = i, (j, *k) = 1
    self.attribute = 2
    for l in m: pass
    with n as o, p as (q, r): pass
    try: pass
    except E as s: pass
    if (t := 1): pass
    [u for v in w]
    global y, z
    y = 3
    x += 1
    def inner(hidden): other = 1
    match a:
        case [aa, *bb] | {"k": cc} as dd: pass
        case Point(x=ee): pass
    lambda ff: 1
"""
    symbols = read(source)
    assert symbols.module_names == {"top", "y"}  # y is bound in the function, under `global`
    names = set("abcdeghijkloqrstvx") | {"aa", "bb", "cc", "dd", "ee", "ff"}
    assert symbols.locals[0] == names | {"o =n.__enter__()"}  # and of what type it is, where that is told
    assert symbols.locals[1] == {"hidden", "other"}


def test_typescript_local_names():
    source = """
const top = 1;
function f(a, { b, c: d, ...e }, [g, h = 1], ...i) {
  let j = 1, { k } = l;
  for (const m of n) {}
  try {} catch (o) {}
  const inner = (hidden) => 1;
  x.map((p) => p);
}
"""
    symbols = read(source, "javascript")
    assert symbols.module_names == {"top"}
    assert symbols.locals[0] == set("abdeghijkmop")


@pytest.mark.parametrize(
    ("source", "language", "bases"),
    [
        ("class A(b.C, D[int], metaclass=M, *rest): pass", "python", ("b.C", "D")),
        ("class A(make()): pass", "python", ()),
        ("class A<T> extends b.C<T> implements D, e.F<G> {}", "typescript", ("b.C", "D", "e.F")),
        ("interface A extends B, C<D> {}", "typescript", ("B", "C")),
        ("class A extends B {}", "javascript", ("B",)),
        ("class A extends mixin(B) {}", "javascript", ()),
    ],
)
def test_bases(source, language, bases):
    assert read(source, language).symbols[0].bases == bases


def test_python_docstrings():
    source = '''
def a():
    """One.

        Two.
    """
def b():
    # a comment first
    r'raw'
    return 1
def c(): "joined " 'pieces'
def d(): f"no {1}"
def e(): b"no"
def f():
    x = 1
    "no"
class G:
    """Of a class."""
'''
    symbols = read(source)
    assert [s.docstring for s in symbols.symbols] == [
        "One.\n\nTwo.", "raw", "joined pieces", None, None, None, "Of a class.",
    ]  # fmt: skip


def test_doc_comments():
    source = """
/** Of a function. */
export async function a() {}

/**
 * Of a variable,
 * on two lines.
 */
export const b = () => 1;
// no
function c() {}
/** Not this one. */
const other = 1;
function d() {}
/** Behind a decorator. */
@dec()
export class E {
  /** Of a method. */
  @dec public async f() {}
  g() {}
}
"""
    symbols = read(source, "typescript")
    assert {s.qualname: s.docstring for s in symbols.symbols} == {
        "a": "Of a function.",
        "b": "Of a variable,\non two lines.",
        "c": None,
        "d": None,
        "E": "Behind a decorator.",
        "E.f": "Of a method.",
        "E.g": None,
    }


@pytest.mark.parametrize(
    ("source", "language", "signature"),
    [
        ("async def f(a,\n      b = 1) -> int:\n    pass", "python", "async def f(a, b = 1) -> int"),
        ("class A(B): x = 1", "python", "class A(B)"),
        ("def f(a):  # key = abc\n    # and b\n    pass", "python", "def f(a)"),
        ("def f(\n    a,  # first, (of two)\n    # é\n    b='#',\n): pass", "python", "def f( a, b='#', )"),
        ("function f(a /* in cents */, b) { // c\n}", "javascript", "function f(a, b)"),
        ("function f(/* in cents */ a /* b */) {\n}", "javascript", "function f(a)"),
        ("function f(/* none */) {\n}", "javascript", "function f()"),
        (
            "function f(a /* of it */: string /* c */ | null, b /* = */ = 1) {}",
            "typescript",
            "function f(a: string | null, b = 1)",
        ),
        (
            "def f(  # all\n    a: list[  # of it\n        int\n    ],\n): pass",
            "python",
            "def f(a: list[int ], )",
        ),
        ("class A { #b() { return 1; } }", "javascript", "class A"),
        (
            "@Dec({ // of it\n  tag: 'x', // long\n})\n// lists\nclass A extends B /* y */ {}",
            "typescript",
            "class A extends B",
        ),
        ("func f(a int, // first\n\tb int) error {\n}", "go", "func f(a int, b int) error"),
        ("k = lambda a: a", "python", "k = lambda a"),
        ("export function f(a: string): void {}", "typescript", "function f(a: string): void"),
        ("const f = async (a: string) => a;", "typescript", "f = async (a: string)"),
        ("interface A { b(c: D): E }", "typescript", "interface A"),
        ("declare function f(a: B): C;", "typescript", "function f(a: B): C;"),
    ],
)
def test_signatures(source, language, signature):
    assert read(source, language).symbols[0].signature == signature


def test_a_signature_is_bounded():
    source = "def f(" + ", ".join(f"argument_{n}" for n in range(500)) + "): pass"
    signature = read(source).symbols[0].signature
    assert len(signature) == MAX_SIGNATURE
    assert signature.endswith("…")


def test_ranges_leave_out_decorators_and_trailing_comments():
    source = "@deco\n@other(1)\nasync def größe():\n    pass\n    # trailing\n# more\n\nx = 1\n"
    (only,) = read(source).ranges
    assert only.definition == Range(Position(2, 0), Position(3, 8))
    assert only.name == Range(Position(2, 10), Position(2, 17))  # "größe" is 7 bytes long


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts(end):
    source = end.join(
        ["", "class A:", "    def f(self):", "        return '\f\v\u2028'", "", "def g(): pass", ""]
    )
    symbols = read(source)
    assert [s.qualname for s in symbols.symbols] == ["A", "A.f", "g"]
    assert [r.definition.start.line for r in symbols.ranges] == [1, 2, 5]
    assert [r.definition.end.line for r in symbols.ranges] == [3, 3, 5]


def test_text_that_moves_leaves_the_symbols_equal():
    source = "def f(a):\n    return a\n"
    moved = read("# a comment\n\n" + source)
    assert moved == read(source)
    assert moved.ranges[0].definition.start == Position(2, 0)


def test_a_syntax_error_is_told():
    assert read("def f(:\n    pass\n").partial
    assert not read("def f(): pass\n").partial


@pytest.mark.parametrize("source", ["", "\n\n", "# only a comment", "x", "\ufeff"])
def test_texts_without_definitions(source):
    assert read(source).symbols == ()


DEEP = 20_000


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("x = " + "(" * DEEP + ")" * DEEP + "\ndef f(): pass\n", "python"),
        ("x = " + "[" * DEEP + "]" * DEEP + "\ndef f(): pass\n", "python"),
        ("a" + ".b()" * DEEP + "\ndef f(): pass\n", "python"),
        ("x = " + "(" * DEEP + "1" + ")" * DEEP + ";\nfunction f() {}\n", "typescript"),
        ("{" * DEEP + "}" * DEEP + "\nfunction f() {}\n", "javascript"),
    ],
    ids=["brackets", "lists", "chain", "parentheses", "blocks"],
)
def test_deep_nesting(source, language):
    symbols = read(source, language)
    assert [s.qualname for s in symbols.symbols] == ["f"]


def test_definitions_nested_too_deep_are_left_out():
    depth = 3 * MAX_DEPTH
    source = "".join(f"const a{n} = () => {{" for n in range(depth)) + "}" * depth
    assert len(read(source, "typescript").symbols) == MAX_DEPTH


HASHED = "def charge(amount):\n    total = amount + 1\n    return total\n"


def state(source, qualname="charge", language="python"):
    symbol = named(read(source, language), qualname)
    return symbol.full_hash, symbol.body_hash, symbol.token_count


def test_hashes_are_of_tokens_not_of_layout_comments_and_docstrings():
    again = (
        'def charge( amount ) :\n\n    """Says."""\n    # why\n    total=amount+1 # this\n    return total'
    )
    assert state(again) == state(HASHED)
    assert [len(h) for h in state(HASHED)[:2]] == [16, 16]
    # def charge ( amount ) : total = amount + 1 return total
    assert state(HASHED)[2] == 13


def test_the_own_name_is_masked_in_the_full_hash():
    renamed = HASHED.replace("charge", "debit")
    assert state(renamed, "debit") == state(HASHED)
    recursive = HASHED.replace("+ 1", "+ charge(0)")
    assert state(recursive.replace("charge", "debit"), "debit")[0] == state(recursive)[0]


def test_a_changed_head_changes_the_full_hash_only():
    full, body, _ = state(HASHED)
    other_full, other_body, _ = state(HASHED.replace("(amount)", "(amount, currency)"))
    assert (other_full != full, other_body == body) == (True, True)


def test_a_changed_body_changes_both():
    full, body, _ = state(HASHED)
    changed = state(HASHED.replace("+ 1", "+ 2"))
    assert changed[0] != full
    assert changed[1] != body


def test_strings_count():
    assert state("def charge(): return 'a'") != state("def charge(): return 'b'")
    assert state("def charge(): return 'a\\n'") != state("def charge(): return 'b\\n'")
    assert state("def charge(): return ''") != state("def charge(): return 'b'")


def test_a_class_holds_its_methods_tokens():
    source = "class A:\n    def f(self):\n        return 1\n"
    assert state(source, "A") != state(source.replace("1", "2"), "A")
    assert state(source.replace("        return 1", '        """Doc."""\n        return 1'), "A") == state(
        source, "A"
    )


def test_moving_into_another_scope_keeps_the_hashes():
    inside = "class A:\n    " + HASHED.replace("\n", "\n    ")
    assert state(inside, "A.charge") == state(HASHED)


def test_typescript_hashes():
    source = "/** Doc. */\nexport const f = (a: string) => {\n  return `x${a}`; // why\n};"
    assert state(source, "f", "typescript") == state(
        "const f=(a:string)=>{return `x${a}`;}", "f", "typescript"
    )
    assert state(source, "f", "typescript")[1] != state(source.replace("x$", "y$"), "f", "typescript")[1]


def test_a_wide_node_is_read_whole_and_in_many_steps():
    count = 3500
    items = ", ".join(f"f{n % 7}()" for n in range(count))
    body = "    # first\n" * 20 + "".join(f"    g{n % 5}(1)\n    def h{n}(): pass\n" for n in range(count))
    source = f"x = [{items}]\ndef wide():\n{body}".encode()
    symbols = extract(source, language_named("python"))
    assert [s.name for s in symbols.symbols] == ["wide", *(f"h{n}" for n in range(count))]
    assert set(symbols.calls) == {Call(-1, f"f{n}", "", count // 7) for n in range(7)} | {
        Call(0, f"g{n}", "", count // 5) for n in range(5)
    }
    language = language_named("python")
    steps = Walk(language, source).steps(language.parse(source).root_node)
    assert sum(1 for _ in steps) > 100
    unit = Walk(language, source).module(language.parse(source).root_node)
    assert sum(1 for _ in assembling(unit, language, partial=False)) > 5


def test_what_is_in_an_impl_of_a_reference_is_named_under_its_type():
    text = b"impl<'a> Named for &'a mut Cart { fn name() {} }\nimpl Named for [u8] { fn size() {} }\n"
    symbols = extract(text, language_named("rust")).symbols
    assert [(one.qualname, one.kind) for one in symbols] == [("Cart.name", "method"), ("size", "function")]

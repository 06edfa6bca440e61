"""Kotlin that its grammar can't read by itself; what it means is known from the language's reference."""

import pytest

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.languages.kotlin_gaps import mended
from mnemolens.core.text import TextChange

KOTLIN = language_of("a.kt")

CASES = {
    "a data class below an annotation": (
        "@Serializable\ndata class Cart(val items: Int) {\n  fun total() = items\n}\n",
        ["class Cart 1", "method Cart.total 3"],
    ),
    "an enum below an annotation": (
        '@Keep("x")\nenum class State {\n  OPEN, PAID;\n  fun next() = PAID\n}\n',
        ["enum State 1", "method State.next 4"],
    ),
    "an annotation class below annotations": (
        "@Target(CLASS)\n@Retention(SOURCE)\nannotation class Slow\n\nfun f() {}\n",
        ["class Slow 1", "function f 5"],
    ),
    "a public annotation class below annotations": (
        "@A\n@B(c)\npublic annotation class Slow\n\nfun f() {}\n",
        ["class Slow 1", "function f 5"],
    ),
    "a value class on its annotation's line": (
        "@JvmInline value class Cents(val n: Int)\n",
        ["class Cents 1"],
    ),
    "an actual class and an operator": (
        "@OptIn(U::class)\nactual class Crc {\n  fun f() {}\n}\n\n@A\noperator fun Crc.plus(o: Crc) = o\n",
        ["class Crc 1", "method Crc.f 3", "function plus 6"],
    ),
    "modifiers of a constructor on its own line": (
        "actual open class Bytes\ninternal actual constructor(\n  val n: Int,\n) : Base {\n  fun f() {}\n}\n",
        ["class Bytes 1", "method Bytes.f 5"],
    ),
    "a variable named final": (
        "class A {\n  fun f() {\n    while (!final) {\n      final = true\n    }\n  }\n  fun g() {}\n}\n",
        ["class A 1", "method A.f 2", "method A.g 7"],
    ),
    "a function named open": (
        "fun f() {\n  g()\n  open(1)\n}\n\nfun open(n: Int) = n\n",
        ["function f 1", "function open 6"],
    ),
    "a suspending lambda": (
        "class A {\n  fun f() {\n    val later = suspend { g() }\n    later()\n  }\n}\n",
        ["class A 1", "method A.f 2"],
    ),
    "a parameter named suspend": (
        "fun f() {\n  g(\n    suspend = true\n  )\n}\nfun g(suspend: Boolean) {}\n",
        ["function f 1", "function g 6"],
    ),
    "types of one line": (
        "interface I { fun m() }\nclass B : I { override fun m() {} }\nfun f() {}\n",
        ["interface I 1", "method_sig I.m 1", "class B 2", "method B.m 2", "function f 3"],
    ),
    "a data class of one line": (
        "data class D(val x: Int) { fun m() = x }\n",
        ["class D 1", "method D.m 1"],
    ),
    "an enum of one line": (
        "enum class E { A, B; fun m() = 1 }\nobject O { val x = 1 }\n",
        ["enum E 1", "method E.m 1", "class O 2"],
    ),
    "types of one line in others": (
        "class A { companion object { fun m() = 1 } }\n@K class B { fun m() = 1 }\n",
        ["class A 1", "class A.Companion 1", "method A.Companion.m 1", "class B 2", "method B.m 2"],
    ),
    "something behind a type of one line": (
        "class C { val x = 1 } // said\nclass D { val x = 1 }; class E\n",
        ["class C 1", "class D 2", "class E 2"],
    ),
    "an object of one line": (
        "fun f() {\n  val r = object : R { override fun m() = 1 }\n  run(object : R { val x = 1 })\n}\n",
        ["function f 1", "function f.m 2"],
    ),
    "a variable named by": ("fun f() {\n  az.write(1)\n  by.write(2)\n}\n", ["function f 1"]),
}  # fmt: skip


def found_in(text):
    symbols = extract(text.encode(), KOTLIN)
    return symbols, [
        f"{symbol.kind} {symbol.qualname} {place.definition.start.line + 1}"
        for symbol, place in zip(symbols.symbols, symbols.ranges, strict=True)
    ]


@pytest.mark.parametrize("name", CASES)
def test_it_is_read_as_it_is_meant(name):
    text, expected = CASES[name]
    symbols, found = found_in(text)
    assert found == expected
    assert not symbols.partial


@pytest.mark.parametrize("name", CASES)
def test_no_byte_and_no_line_end_moves(name):
    source = CASES[name][0].replace("\n", "\r\n").encode()
    text = mended(source)
    assert len(text) == len(source)
    assert [at for at, byte in enumerate(text) if byte in b"\r\n"] == [
        at for at, byte in enumerate(source) if byte in b"\r\n"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "class A {\n  companion object {\n    fun f() {}\n  }\n}\n",
        "fun f() = g(A::class) { it }\nval objects = list { it }\n",
        "fun g(f: suspend (Int) -> Unit, h: suspend () -> Unit) {}\n",
        "private class A internal constructor(val n: Int)\n",
        "val a by lazy { 1 }\n",
        "fun f() {\n  x.open(1)\n  `final` = 2\n}\n",
        "class A {\n  var n = 1\n    private set\n}\n",
    ],
)
def test_what_can_be_read_stays_as_it_is(text):
    assert mended(text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("head", "body", "is_mended"),
    [(1, 900, True), (250, 1, True), (1, 1100, False), (400, 1, False)],
)
def test_from_each_class_on_a_line_only_so_much_of_it_is_looked_at(head, body, is_mended):
    """What is looked at at each of thousands in one line must not be the rest of the line."""
    line = f"run(object : {'B' * head} {{ override fun f() = {'b' * body} }})"
    for start in ("", "class A "):
        source = f"val x = {start}{line}\n"
        assert mended(source.encode()) == source.replace(" }", ";}" if is_mended else " }").encode()


def test_calls_keep_the_names_that_are_written():
    symbols, _ = found_in("fun f() {\n  g()\n  open(1)\n}\n")
    assert {(call.receiver, call.name) for call in symbols.calls} == {("", "g"), ("", "open")}


@pytest.mark.parametrize("name", [*[*CASES][:3], "types of one line"])
def test_typed_one_character_at_a_time_it_is_the_same(name):
    text = CASES[name][0]
    document = Document("", KOTLIN)
    line = column = 0
    for character in text:
        document.apply([TextChange(character, (line, column), (line, column), "utf-32")])
        line, column = (line + 1, 0) if character == "\n" else (line, column + 1)
        while document.pending:
            document.parse_slice()
    assert document.symbols == extract(text.encode(), KOTLIN)
    assert document.symbols.ranges == extract(text.encode(), KOTLIN).ranges


@pytest.mark.parametrize("typed", ["`", "#", "`" * 51, "\\"])
def test_what_is_typed_into_a_broken_text_takes_no_memory_without_end(typed):
    """Found by random edits: 9 GB and more, for a text of 30 lines."""
    text = (
        "open class Cart<T>(val limit: Int) : Base<T>(limit), Named {\n    private val items = list()\n\n"
        "    constructor() : this(10)\n:\n    /** Adds. */\n    fun add(item: T): Int {\n"
        f"{typed}        fun twice(x: Int) = x * 2\n        return this.total() + helper(1)\n    }}\n\n"
        "    companion object {\n        fun open() = Cart<Int>(1)\n    }\n}\n\nenum class State {\n"
        '    O    OPEN, PAID;\n) = "x"\n}\n\nobject Registry {\n    fun find() = 1\n}\n'
    )
    assert extract(text.encode(), KOTLIN).partial
    assert b"`" not in mended(text.encode())
    assert b"#" not in mended(text.encode())

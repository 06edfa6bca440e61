"""A grammar's error recovery may come to no end: such a parse is given up, and what stood there stays.

The text was found by damaging a sample of Kotlin at random and cut down: its parse takes memory without end.
"""

import pytest

from mnemolens.codegraph.comments import Reading
from mnemolens.codegraph.document import Document
from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_of
from mnemolens.codegraph.tokens import definitions_of
from mnemolens.core.text import TextChange

KOTLIN = language_of("a.kt")
SOUND = "fun before() = 1\n\nclass Cart {\n    fun total() = 2\n}\n"
ENDLESS = (
    "{(0)\nn d:\n$  total(): Int = items.size\n        fun _pen() = Cart<Int>(1)\n}\n\ninterface Named {\n"
    "    fun total(): Int\n}\n\n     class State {\n    OPEN, PAID;\n\n"
    '    un label() = "g}röße"\n}\n\nobject Regist() = 1\n}\n\ntypealfu\\n helper(x: Int) = x\n\n'
    "fun S{tring.shout(): String { return uppercase() }\n"
)


def test_a_file_that_the_parser_is_stuck_in_is_partial():
    for source in (ENDLESS, SOUND + ENDLESS):
        found = extract(source.encode(), KOTLIN)
        assert found.partial
        assert definitions_of(source.encode(), KOTLIN).symbols == found
    assert not extract(SOUND.encode(), KOTLIN).partial


@pytest.mark.parametrize("later", [False, True])
def test_what_stood_in_a_document_stays(later):
    document = Document(SOUND, KOTLIN)
    names = [symbol.qualname for symbol in document.symbols.symbols]
    document.apply([TextChange(ENDLESS, (5, 0), (5, 0))], later=later)
    while document.pending:
        document.parse_slice(5)
    assert document.symbols.partial
    assert (
        [symbol.qualname for symbol in document.symbols.symbols] == names == ["before", "Cart", "Cart.total"]
    )
    document.apply([TextChange("fun first() = 0\n", (0, 0), (0, 0))], later=later)
    while document.pending:
        document.parse_slice(5)
    assert [found.name.start.line for found in document.symbols.ranges] == [1, 3, 4]
    document.apply([TextChange(SOUND)], later=later)
    while document.pending:
        document.parse_slice(5)
    assert document.symbols == extract(SOUND.encode(), KOTLIN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "def f(x):\n    return [x, 1, 'a']\n" * 3000),
        ("a.ts", "x = [" + "1," * 60_000 + "]"),
        ("a.kt", "val x = listOf(1, 2)\n" * 5000),
        ("a.c", "{([" * 10_000),
        ("a.java", "]]}}" * 20_000),
    ],
)
def test_no_parser_is_called_stuck_in_what_is_only_long_or_broken(name, text):
    language, source = language_of(name), text.encode()
    reading = Reading(source, source)
    tree = language.parser().parse(reading, progress_callback=lambda at, _broken: reading.is_stuck(at))
    assert tree.root_node.end_byte

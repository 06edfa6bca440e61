"""C that its grammar can't read by itself, or only at a price."""

import pytest

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.languages.c_gaps import mended

TESTS = b"""\
TEST_IMPL(open) {
  return pay(1);
}

HELPER_IMPL(echo)
{
  pay(2);
}

int (number);
static int pay(int n) { return n; }
"""


@pytest.mark.parametrize("name", ["c", "cpp"])
def test_functions_that_a_macro_names_are_found_under_the_macro_s_name(name):
    symbols = extract(TESTS, language_named(name))
    assert [(one.kind, one.qualname) for one in symbols.symbols] == [
        ("function", "TEST_IMPL"), ("function", "HELPER_IMPL"), ("function", "pay"),
    ]  # fmt: skip
    assert [place.definition.start.line for place in symbols.ranges] == [0, 4, 10]
    assert {(call.caller, call.name) for call in symbols.calls} >= {(0, "pay"), (1, "pay")}


def test_arrows_of_another_language_are_an_error_of_the_same_length():
    source = b"int a = 1; const f = x => x => x;\n"
    assert mended(source) == source.replace(b"=>", b"@@")
    assert extract(b"x => " * 4000 + b";\nint pay(void) { return 1; }\n", language_named("c")).partial


def test_a_comparison_in_three_ways_stays():
    source = b"auto operator<=>(const Cart& other) const { return n <=> other.n; }\n"
    assert mended(source) == source

import base64
import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.codegraph.extract import extract
from mnemolens.codegraph.languages import language_named
from mnemolens.codegraph.tokens import (
    ALGO,
    FINGERPRINT_SIZE,
    MAX_SNIPPET,
    birth_look,
    birth_of,
    fingerprint_of,
    fingerprint_of_tokens,
    identifiers_of,
    likeness,
    same_but_for_layout,
    snippet_of,
    state_from_snippet,
    state_of,
)
from mnemolens.core.memories import Origin
from mnemolens.core.symbols import SymbolKey
from mnemolens.core.text import Text

PYTHON = language_named("python")
TYPESCRIPT = language_named("typescript")

SHOP = '''\
class Shop:
    """A shop."""

    @property
    def name(self):
        # größe
        return "🙂"

    async def charge(self, amount=1):
        """Charges."""
        if amount > 1:
            raise ValueError(f"too much: {self.limit}")
        return await provider.charge(amount)

    close = lambda self: self.name


def last(x): return x
'''


def read(source, language=PYTHON):
    return Text(source), extract(source.encode(), language)


def at(symbols, qualname):
    return next(i for i, s in enumerate(symbols.symbols) if s.qualname == qualname)


def test_a_fingerprint_is_the_smallest_hashes_sorted():
    tokens = [b"t%d" % n for n in range(2000)]
    raw = base64.b64decode(fingerprint_of_tokens(tokens))
    hashes = struct.unpack(f">{len(raw) // 4}I", raw)
    assert len(hashes) == FINGERPRINT_SIZE == 512
    assert list(hashes) == sorted(set(hashes))
    # Half as many 3-grams give at most as small hashes: the kept ones are the smallest of all.
    some = struct.unpack(">512I", base64.b64decode(fingerprint_of_tokens(tokens[:1000])))
    assert hashes[-1] < some[-1]


def test_repeated_grams_count_once_and_order_matters():
    assert fingerprint_of_tokens([b"a"] * 3) == fingerprint_of_tokens([b"a"] * 9)
    assert fingerprint_of_tokens([b"a", b"b", b"c"]) != fingerprint_of_tokens([b"c", b"b", b"a"])
    assert fingerprint_of_tokens([b"ab", b"c", b"d"]) != fingerprint_of_tokens([b"a", b"bc", b"d"])
    assert fingerprint_of_tokens([]) == ""
    assert len(base64.b64decode(fingerprint_of_tokens([b"a", b"b"]))) == 4


def test_likeness_is_dice():
    # abcd has the grams abc bcd; abce has abc bce: one in common of two each.
    first, second = (fingerprint_of_tokens([c.encode() for c in text]) for text in ("abcd", "abce"))
    assert likeness(first, second) == pytest.approx(0.5)
    assert likeness(first, first) == 1.0
    assert likeness(first, fingerprint_of_tokens([b"x", b"y", b"z"])) == 0.0
    assert likeness("", "") == 1.0
    assert likeness(first, "") == 0.0
    assert likeness(first, "not base64!") == 0.0


@settings(max_examples=100, deadline=None)
@given(*[st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=30).map(fingerprint_of_tokens)] * 2)
def test_likeness_is_symmetric_and_within_bounds(first, second):
    assert likeness(first, second) == likeness(second, first)
    assert 0.0 <= likeness(first, second) <= 1.0


def test_a_birth_record():
    text, symbols = read(SHOP)
    birth = birth_of(text, PYTHON, symbols, "a/shop.py", at(symbols, "Shop.charge"), Origin("c0ffee", "main"))
    symbol = symbols.symbols[at(symbols, "Shop.charge")]
    assert birth.state.key == SymbolKey("a/shop.py", "Shop.charge", 0)
    assert (birth.state.full_hash, birth.state.body_hash) == (symbol.full_hash, symbol.body_hash)
    assert (birth.state.commit, birth.branch, birth.algo) == ("c0ffee", "main", ALGO)
    assert (birth.kind, birth.signature) == ("method", "async def charge(self, amount=1)")
    assert birth.token_count == symbol.token_count
    assert birth.neighbours == ("Shop.name", "Shop.close")
    assert birth.snippet.startswith('async def charge(self, amount=1):\n        """Charges.')
    assert birth.snippet.endswith("return await provider.charge(amount)")


def test_neighbours_at_the_ends():
    text, symbols = read(SHOP)
    assert birth_of(text, PYTHON, symbols, "a.py", at(symbols, "Shop")).neighbours == ("", "last")
    assert birth_of(text, PYTHON, symbols, "a.py", at(symbols, "last")).neighbours == ("Shop", "")


def test_a_files_birth_has_nothing_that_could_drift():
    text, symbols = read(SHOP)
    birth = birth_of(text, PYTHON, symbols, "a.py", -1)
    assert (birth.state.key, birth.kind) == (SymbolKey("a.py", ""), "file")
    assert (birth.state.body_hash, birth.state.fingerprint, birth.snippet) == ("", "", "")
    assert birth_of(Text("# hello"), None, None, "README.md", -1).state.key.file == "README.md"


def test_a_snippet_is_cut_between_characters():
    source = "def f():\n    return '" + "🙂" * 6000 + "'\n"
    text, symbols = read(source)
    birth = birth_of(text, PYTHON, symbols, "a.py", 0)
    assert MAX_SNIPPET - 4 < len(birth.snippet.encode()) <= MAX_SNIPPET
    assert source.startswith(birth.snippet)


@pytest.mark.parametrize("qualname", ["Shop", "Shop.name", "Shop.charge", "Shop.close", "last"])
def test_a_python_snippet_alone_gives_the_same_state(qualname):
    text, symbols = read(SHOP)
    index = at(symbols, qualname)
    symbol = symbols.symbols[index]
    state = state_from_snippet(snippet_of(text, symbols, index), PYTHON, symbol.kind)
    assert state[:2] == (symbol.full_hash, symbol.body_hash)
    assert state.token_count == symbol.token_count
    assert state.fingerprint == fingerprint_of(text, PYTHON, symbols, index) != ""


TS = """
@dec()
export class Shop<T> extends Base {
  static limit: Handler<T> = (a) => a;
  @dec() private async charge(amount = 1): Promise<void> { await pay(amount); }
  get size() { return 1; }
  "quoted"() {}
  constructor(private x: number) { super(); }
  abstract open(): void;
}
interface Openable { open(how: string): void; close?(): void }
enum Color { Red }
type Handler<T> = (event: T) => void;
namespace N { export function inner() {} }
declare function external(a: number): string;
export const typed: Handler<string> = (event) => { log(event); };
export const plain = async () => 1, Made = class { run() {} };
const api = { get: () => 1, put(a) { return a; }, "x-y": function () {} };
api.get = function () { return 2; };
export default function () { return 1; }
"""


def test_a_typescript_snippet_alone_gives_the_same_state():
    text, symbols = read(TS, TYPESCRIPT)
    assert not symbols.partial
    assert len(symbols.symbols) > 20
    for index, symbol in enumerate(symbols.symbols):
        state = state_from_snippet(snippet_of(text, symbols, index), TYPESCRIPT, symbol.kind)
        assert state is not None, symbol.qualname
        assert (state.full_hash, state.body_hash) == (symbol.full_hash, symbol.body_hash), symbol.qualname


def test_text_without_a_definition_has_no_state():
    assert state_from_snippet("x + 1", PYTHON) is None
    assert state_from_snippet("", PYTHON) is None


def test_state_of_a_place():
    text, symbols = read(SHOP)
    key = SymbolKey("a.py", "last")
    state = state_of(text, PYTHON, symbols, key, at(symbols, "last"), "c0ffee")
    assert (state.key, state.commit) == (key, "c0ffee")
    assert state.fingerprint == fingerprint_of(text, PYTHON, symbols, at(symbols, "last"))


def test_small_edits_are_alike_and_other_code_is_not():
    def fingerprint(source):
        return fingerprint_of(*read(source)[:1], PYTHON, read(source)[1], 0)

    body = "\n".join(f"    total_{n} = amount * {n} + fees[{n}]" for n in range(12))
    one = fingerprint(f"def f(amount):\n{body}\n    return total_1\n")
    two = fingerprint(f"def f(amount):\n{body}\n    return total_2\n")
    other = fingerprint("class Other:\n    def g(self):\n        raise NotImplementedError\n")
    assert likeness(one, two) > 0.9
    assert likeness(one, other) < 0.1


def test_what_formatters_change_is_no_part_of_a_fingerprint():
    def fingerprint(source, language=PYTHON):
        return state_from_snippet(source, language).fingerprint

    one = fingerprint("def f(a):\n    return g(['x', b'y', f'{a}'], (a, 1)); \n")
    assert one == fingerprint('def f(\n    a,\n):\n    return g(["x", b"y", f"{a}",], (a, 1,),)\n')
    assert one != fingerprint('def f(a):\n    return g(["x", "y", f"{a}"], (a, 1))\n')
    assert one != fingerprint('def f(a):\n    return g([x, b"y", f"{a}"], (a, 1))\n')
    two = fingerprint("function f(a) { return g(['x', `${a}`], a) }", TYPESCRIPT)
    assert two == fingerprint('function f(a,) {\n  return g(["x", `${a}`,], a,);\n}', TYPESCRIPT)


def test_only_a_fingerprint_that_holds_all_tells_equal_texts():
    def fingerprint(count):
        return fingerprint_of_tokens([b"t%d" % n for n in range(count)])

    assert same_but_for_layout(fingerprint(500), fingerprint(500))
    assert not same_but_for_layout(fingerprint(500), fingerprint(501))
    assert not same_but_for_layout(fingerprint(600), fingerprint(600))
    assert not same_but_for_layout("", "")


def test_an_older_record_s_fingerprint_is_made_anew_from_its_snippet():
    text, symbols = read(SHOP)
    birth = birth_of(text, PYTHON, symbols, "shop.py", at(symbols, "last"))
    assert birth_look(birth) == birth.state.fingerprint
    older = replace(birth, algo=1, state=replace(birth.state, fingerprint="AAAA"))
    assert birth_look(older) == birth.state.fingerprint
    assert birth_look(replace(older, snippet="")) == "AAAA"


def test_identifiers_of_a_snippet():
    source = "def f(a):\n    # hidden\n    return b.c(f'{d}', \"e\")\n"
    assert identifiers_of(source, PYTHON) >= {"f", "a", "b", "c", "d", "e"}
    assert "hidden" not in identifiers_of(source, PYTHON)
    assert identifiers_of("hidden größe $x", None) >= {"hidden", "$x"}

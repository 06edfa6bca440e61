"""Half-typed code in all languages that are read deeply; `bench/fuzz.py` does the same with real sources."""

from random import Random

import pytest

from mnemolens.codegraph.document import Document
from mnemolens.codegraph.languages import language_named
from mnemolens.core.symbols import Position
from mnemolens.core.text import TextChange
from mutations import Typing

SOURCES = {
    "python": '''\
"""A shop 🛒."""
from a import b


class Cart(Base):
    """What is bought."""

    @property
    def total(self):
        return sum(self.items)

    @total.setter
    def total(self, value):
        self.items = [f"{value!r} €"]

    async def pay(self):
        def inner(größe):
            return größe

        return await inner(self.total)
    # behind


if b:
    def check(item):
        return item
else:
    def check(item):
        return None

key = lambda value: value.key
''',
    "typescript": """\
import { pay } from "./pay";
/** A 🛒. */
export class Cart<T> extends Base implements Open {
  private items: T[] = [];
  add(item: T, ...more: T[]): void { this.items.push(item); }
  handler = async () => { await pay(`${this.total()} €`); };
  get total(): number { return 1; }
  set total(value: number) { this.items = []; }
}
function over(a: string): void;
function over(a: any) { return a; }
const api = { get: () => 1, put() { return over(2); } };
export const first: {
  <A>(self: A[]): A
  <A>(self: A[], other: A): A
} = (self) => self[0];
namespace Größe { export function of() {} }
interface Open { open(): void }
export default api;
""",
    "typescriptreact": """\
import React from "react";
export function Row({ item }: Props) {
  const price = (value: number) => `${value} €`;
  return (
    <li onClick={() => buy(item)}>
      🛒 {price(item.price)} <b>{item.name}</b>
    </li>
  );
}
export const List = ({ items }: { items: Item[] }) => <ul>{items.map((i) => <Row item={i} />)}</ul>;
class Old extends React.Component<Props> {
  render() { return <List items={this.props.items} />; }
}
export default Old;
""",
    "javascript": """\
const { pay } = require("./pay");
// größer
function check(item) {
  const inner = (x) => x / 2;
  return /[/"]/.test(item) ? inner(item) : null;
}
class Cart {
  #items = [];
  static of(...items) { return new Cart(); }
  *[Symbol.iterator]() { yield* this.#items; }
  async pay() { await pay(`🛒 ${this.total}`); }
}
exports.check = function (item) { return check(item); };
module.exports = { Cart, run() { return check(1); } };
""",
    "go": """\
package shop

import "fmt"

// Cart 🛒 holds what is bought.
type Cart struct {
	Items []string
}

type Payer interface {
	Pay(amount int) error
}

func (c *Cart) Add(item string) {
	c.Items = append(c.Items, item)
}

func New[T any](größe T) *Cart {
	check := func(x T) T { return x }
	fmt.Println(`a
b`, check(größe))
	return &Cart{}
}
""",
}


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", SOURCES)
def test_what_nobody_typed_in_stays_and_a_whole_text_is_read_exactly(name, end, sliced):
    text = SOURCES[name].replace("\n", end)
    for seed in range(5):
        typing = Typing(text, language_named(name), Random(seed), sliced=sliced)
        assert typing.was_whole
        for _ in range(8):
            typing.edit()
        typing.make_whole()


@pytest.mark.parametrize("name", SOURCES)
def test_a_text_typed_one_character_at_a_time_is_read_exactly(name):
    text = SOURCES[name]
    middle = text.index("\n", len(text) // 2) + 1
    line, rest = text[:middle].count("\n"), text[middle : middle + 120]
    document = Document(text[:middle] + text[middle + 120 :], language_named(name))
    column = 0
    for character in rest:
        document.apply([TextChange(character, (line, column), (line, column), "utf-32")])
        line, column = (line + 1, 0) if character == "\n" else (line, column + 1)
        while document.pending:
            document.parse_slice()
    whole = Document(text, language_named(name))
    assert str(document.text) == text
    assert document.symbols == whole.symbols
    assert document.symbols.ranges == whole.symbols.ranges


@pytest.mark.parametrize("name", SOURCES)
def test_a_byte_order_mark_that_a_client_sends_hides_nothing(name):
    marked = Document("\ufeff" + SOURCES[name], language_named(name))
    plain = Document(SOURCES[name], language_named(name))
    assert marked.symbols == plain.symbols
    assert marked.symbols.ranges[-1].name == plain.symbols.ranges[-1].name
    marked.apply([TextChange("", (0, 0), (0, 1))])
    assert marked.symbols == plain.symbols


TWICE = """\
if a:
    def f():
        return 1
else:
    def f():
        return 2

def g():
    return f()
"""


@pytest.mark.parametrize("typed", ["(", '"""', "'", "def ", "class", "{", "x = (\n", "if\n"])
@pytest.mark.parametrize("line", [0, 1, 2])
def test_an_error_gives_no_other_ordinal_to_what_nobody_typed_in(typed, line):
    document = Document(TWICE, language_named("python"))
    document.apply([TextChange(typed, (line, 0), (line, 0))])
    while document.pending:
        document.parse_slice()
    assert document.symbols.partial
    down = typed.count("\n")
    second = document.symbols.symbols[document.name_at(Position(4 + down, 8))]
    assert (second.qualname, second.ordinal) == ("f", 1)
    third = document.symbols.symbols[document.name_at(Position(7 + down, 4))]
    assert (third.qualname, third.ordinal) == ("g", 0)
